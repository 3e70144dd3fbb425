/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - files that join the traces of a set: captures of graphs, logs of compilers, execution traces.
 *
 *     --attach PATH ─► sources, a line each ─► files ─► kind by content ─► attachment { kind, files, rank }
 *
 * Attachments belong to the way in which ranks are read (read/reload.h), so they go with a rank into every set that it
 * joins. They are found when the first analysis asks, and each is loaded once, when the first asks for it. What they add is
 * said with a method; they never change what the trace itself says, nor its cache.
 *
 * A source is a file, a folder (at any depth) or RANK=SOURCE. An attachment is for the rank that the source says, else the
 * one that its name says, else for all. A rank that no attachment of a kind names uses those that name none; when all of
 * them name one and the same other rank, as captures of a job's first rank do, it uses these.
 */
#ifndef HT_ATTACH_ATTACH_H
#define HT_ATTACH_ATTACH_H

#include "store/set.h"

struct ht_attach_kind;
struct ht_reload;
struct ht_attached;

struct ht_attachment {
	const struct ht_attach_kind *kind;
	const char *path;         /* as given; of one that was found in a folder, the file */
	const char *const *files; /* what it is made of */
	size_t n_files;
	int64_t rank;      /* HT_NO_I64: for all */
	bool is_only_rank; /* all of its kind that name a rank name this one */
	size_t i;          /* place in the list */
	struct ht_attached *of;
};

/* What joins rank i of a set; NULL when nothing does. It lives as long as the set. HT_IO for a source that is not there,
 * HT_FORMAT for a file of no kind. */
enum ht_status ht_attached_of(ht_ctx *ctx, const struct ht_set *set, size_t i,
        const struct ht_attached **ret_attached) HT_MUST_USE;
/* The same while the set is being opened, for a rank that is read from path. */
enum ht_status ht_attached_to(ht_ctx *ctx, struct ht_reload *reload, const char *path,
        const struct ht_attached **ret_attached) HT_MUST_USE;

/* Keep what joins rank i beyond the life of its set, until it is let go; NULL is fine there. */
struct ht_reload *ht_attached_hold(const struct ht_set *set, size_t i);
void ht_attached_let_go(struct ht_reload *held);

/* In the order of the sources; 0 of NULL. */
size_t ht_attached_n(const struct ht_attached *attached);
const struct ht_attachment *ht_attached_at(const struct ht_attached *attached, size_t i);
/* Whether a rank uses an attachment. */
bool ht_attachment_is_for(const struct ht_attachment *attachment, int64_t rank);
/* The next attachment of a kind that a rank uses, from *at on, which moves past it; NULL: no more. */
const struct ht_attachment *ht_attached_next(const struct ht_attached *attached,
        const struct ht_attach_kind *kind, int64_t rank, size_t *at);
/* What the kind read of it, once for all; it lives with the attachments. */
enum ht_status ht_attachment_load(
        ht_ctx *ctx, const struct ht_attachment *attachment, const void **ret_data) HT_MUST_USE;

#endif
