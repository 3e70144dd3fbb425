/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h - what a kind of attachment is: how its files are told, what is read of them, what they are good for.
 *
 * Add one: write x.c in the room that knows such files, with `const struct ht_attach_kind ht_attach_kind_x`, and add
 * ATTACH(x) to attach.def. Finding, ranks, loading once for all ranks, `info`, every front end and every analysis
 * (ht_attached_next) follow. The files themselves are read here (ht_attachment_trace, ht_attachment_text), so that rooms
 * which read no files can have kinds.
 */
#ifndef HT_ATTACH_KIND_H
#define HT_ATTACH_KIND_H

#include "attach/attach.h"

struct ht_run;

/* The start of a file. */
struct ht_attach_head {
	const char *path;
	const char *text; /* the first decompressed bytes */
	size_t n;
	bool is_all; /* there are no further bytes */
};

/* What an attachment was good for, for one rank. */
struct ht_attach_use {
	const char *text; /* what it holds, or why it is of no use; NULL: nothing to say */
	uint64_t matched,
	        n; /* so many of so many things of the trace found their partner; n 0: not counted */
	const char *things; /* what they are: "GPU activities of graphs" */
	bool is_refused;    /* too little fits: nothing of it is used */
};

struct ht_attach_kind {
	const char *name; /* "execution-trace" */
	const char *what; /* "an execution trace" */
	const char *use;  /* what analyses make of it, a sentence without a full stop */
	/* names beside a trace that are worth a look, "capture_traces|../kernel_annotations_rank*.json"; NULL: none */
	const char *patterns;
	bool gathers; /* all such files of one source are one attachment */
	bool (*sniff)(const struct ht_attach_head *head);
	/* Read it into what analyses ask for. NULL: those who use it read it themselves. */
	enum ht_status (*load)(
	        ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data);
	void (*free)(void *data);
	/* What it is good for, with the rank of the run in hand. Texts are static or in run->scratch. NULL: unknown. */
	enum ht_status (*judge)(struct ht_run *run, const struct ht_attachment *attachment,
	        struct ht_attach_use *ret_use);
};

/* Whether the first bytes are those of a trace that ht_open reads. */
bool ht_attach_is_trace(const struct ht_attach_head *head);
/* Whether they are those of a memory snapshot. */
bool ht_attach_is_snapshot(const struct ht_attach_head *head);
/* For load: the first file as a trace, read as the set was; the caller ends with ht_trace_release. */
enum ht_status ht_attachment_trace(ht_ctx *ctx, const struct ht_attachment *attachment,
        struct ht_trace **ret_trace) HT_MUST_USE;
/* load and free of kinds whose files are traces. */
enum ht_status ht_attach_load_trace(
        ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data) HT_MUST_USE;
void ht_attach_free_trace(void *data);
/* For load: the i-th file as text, with a byte of 0 behind it that is not counted; the caller frees the vector of char. More than
 * max_bytes is HT_LIMIT. */
enum ht_status ht_attachment_text(ht_ctx *ctx, const struct ht_attachment *attachment, size_t i,
        size_t max_bytes, struct ht_vec *ret_text) HT_MUST_USE;

#define ATTACH(x) extern const struct ht_attach_kind ht_attach_kind_##x;
#include "attach/attach.def"
#undef ATTACH

#endif
