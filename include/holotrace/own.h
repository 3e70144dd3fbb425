/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.h - what the programs that come with the library need besides its public headers. Not
 * installed, not exported, and different in every version.
 */
#ifndef HOLOTRACE_OWN_H
#define HOLOTRACE_OWN_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of ht_open_options, and a pointer there: options travel as one, through sets that read again,
 * between processes and into ht_open, ht_open_for, ht_listing_make and ht_mcp_open, each of which
 * would need a twin here. */
struct ht_open_own {
	size_t chunk_bytes; /* how much text one task scans, 0: default; tests vary it */
	/* The sources are those of a listing, as for ht_open_listed. For several processes with one
	 * listing, each of which takes what it gets to: asked before the i-th source is read, once,
	 * by any thread. False: another has it, and it is not in this set. ht_claim_all takes every
	 * one. NULL: the sources are looked for. */
	bool (*claim)(void *user, size_t i_source);
	void *claim_user;
	/* what the cache knows of a file is enough, also where one is opened by itself: its trace
	 * is opened when it is asked for */
	bool describes;
};

bool ht_claim_all(void *user, size_t i_source);

/* Let go of traces that a set keeps beyond what it may, now that others which had them, too, are
 * closed: those of which a set is joined count as looked at until then. */
void ht_set_settle(ht_set *set);

/* Find out what questions need to know of each rank and keep it in the cache, for the set of
 * several ranks that this one is going to be joined into. The set lets go of its traces. Failure
 * leaves the set as it was: who asks finds out for himself. */
enum ht_status ht_prepare(ht_ctx *ctx, ht_set *set, const struct ht_query *queries, size_t n);

/* As ht_render; json and ndjson as the page reads them. Whole numbers of 2^53 and beyond, which
 * JavaScript would round, are texts; the end of json has "hidden", "bar" and "check_failed". */
enum ht_status ht_render_for_page(ht_ctx *ctx, const ht_table *table, const char *format,
        const struct ht_render_options *options, const struct ht_sink *sink) HT_MUST_USE;

/* Traces that were read through this context and not cached, as what it stored or used before fills
 * the cache. */
uint64_t ht_ctx_n_not_cached(const ht_ctx *ctx);
/* Write one text from a trace as it stands in text, json, md or html: quoted or escaped, with
 * controls and other tricks shown as \x1b. */
enum ht_status ht_escape(
        ht_ctx *ctx, const char *text, const char *format, const struct ht_sink *sink) HT_MUST_USE;
/* A size as people type it, in bytes: 500M, 8GiB, 1.5g; K, M, G and T are powers of 1024. False for
 * another text. */
bool ht_size_parse(const char *text, uint64_t *ret_bytes);
/* Edits from one word to another: insert, delete, replace, swap neighbours; SIZE_MAX when one has
 * more than 64 bytes. For "did you mean". */
size_t ht_edit_distance(const char *a, size_t n_a, const char *b, size_t n_b);

/* What a group of analyses is called as a heading: "Device" of "gpu". */
const char *ht_group_title(const char *group);

/* Bytes of the first statement in a text, with its semicolon; 0 when none is complete. For prompts
 * and scripts. */
size_t ht_sql_statement(const char *text);

/* Bytes in memory as "gzip" or "zstd" (of HTTP's content codings), as a whole. */
enum ht_status ht_compress(ht_ctx *ctx, const char *coding, const void *bytes, size_t n,
        const struct ht_sink *sink) HT_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
