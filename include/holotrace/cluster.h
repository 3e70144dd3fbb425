/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - one question over several processes or machines: parts that travel, sets that are
 * shared; include holotrace.h.
 */
#ifndef HOLOTRACE_CLUSTER_H
#define HOLOTRACE_CLUSTER_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- in pieces ------------------------------------------------------------------------------ */

/* What an analysis found out about some ranks: plain data that can be written, read elsewhere and
 * brought together with that of other ranks, in any grouping and order, to the same table. */
typedef struct ht_bundle ht_bundle;

/* Like ht_ask, for the ranks of these sets; the table comes later. */
HT_API enum ht_status ht_bundle_make(ht_ctx *ctx, ht_set *const *sets, size_t n_sets,
        const struct ht_query *query, ht_bundle **ret_bundle) HT_MUST_USE;
HT_API enum ht_status ht_bundle_write(
        ht_ctx *ctx, const ht_bundle *bundle, const struct ht_sink *sink) HT_MUST_USE;
/* HT_FORMAT when the bytes are none, or were written by another version. */
HT_API enum ht_status ht_bundle_read(
        ht_ctx *ctx, const void *bytes, size_t n_bytes, ht_bundle **ret_bundle) HT_MUST_USE;
HT_API void ht_bundle_free(ht_bundle *bundle);
/* The analysis that a bundle answers. */
HT_API const char *ht_bundle_name(const ht_bundle *bundle);
/* Add the ranks of another bundle of the same question, which is empty then. HT_USAGE when they do
 * not fit. */
HT_API enum ht_status ht_bundle_merge(ht_ctx *ctx, ht_bundle *into, ht_bundle *from) HT_MUST_USE;
/* Have every table of the bundle name what is missing: "name: why", a line each. Not for one of
 * joined sets. */
HT_API enum ht_status ht_bundle_add_missing(
        ht_ctx *ctx, ht_bundle *bundle, const char *const *lines, size_t n_lines) HT_MUST_USE;
/* The table over all ranks of the bundle. */
HT_API enum ht_status ht_bundle_table(
        ht_ctx *ctx, const ht_bundle *bundle, ht_table **ret_table) HT_MUST_USE;

/* ---- over several processes ----------------------------------------------------------------- */

/* Traces that are too many for one process, or lie on several machines, as one set: each process
 * opens some of them, all are told what the others have, and parts are made where the traces are.
 *
 *     ht_listing_make ─► ht_deal ─► each: ht_open_listed ─► ht_set_describe ─┐
 *              ┌─ each: ht_bundle_make ◄─ each: ht_shares_join ◄─────────────┘
 *              └► ht_bundle_merge ─► ht_bundle_finish ─► the table
 *
 * Ranks, clocks, notes and parts are then those of one process that opened all files, to the byte.
 * How the bytes travel is up to the caller. */
struct ht_description {
	const void *data;
	size_t n;
};

/* The files that ht_open would read, in its order. */
typedef struct ht_listing ht_listing;
HT_API enum ht_status ht_listing_make(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_listing **ret_listing) HT_MUST_USE;
HT_API void ht_listing_free(ht_listing *listing);
HT_API size_t ht_listing_n(const ht_listing *listing);
/* The i-th as a source for ht_open_listed, and its size. The text is the listing's. */
HT_API const char *ht_listing_source(const ht_listing *listing, size_t i);
HT_API uint64_t ht_listing_size_bytes(const ht_listing *listing, size_t i);
/* Open sources of a listing as they stand: nothing is looked for. The caller closes the set. */
HT_API enum ht_status ht_open_listed(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, ht_set **ret_set) HT_MUST_USE;
/* What finding the files has to say, as a description without ranks, for ht_shares_join. */
HT_API enum ht_status ht_listing_describe(
        ht_ctx *ctx, const ht_listing *listing, const struct ht_sink *sink) HT_MUST_USE;
/* Deal n things by size into so many shares, largest first, each to the share that has least:
 * ret_shares has the share of each. The same everywhere. */
HT_API enum ht_status ht_deal(ht_ctx *ctx, const uint64_t *sizes_bytes, size_t n, size_t n_shares,
        size_t *ret_shares) HT_MUST_USE;

/* What other processes have to know of the ranks of a set. with_facts: also what HTA's rules need
 * to know of all of them, for which every trace is looked at. */
HT_API enum ht_status ht_set_describe(
        ht_ctx *ctx, ht_set *set, bool with_facts, const struct ht_sink *sink) HT_MUST_USE;
/* A description without ranks that names traces which are missing: "name: why", a line each. */
HT_API enum ht_status ht_missing_describe(ht_ctx *ctx, const char *const *lines, size_t n_lines,
        const struct ht_sink *sink) HT_MUST_USE;
/* The set of all ranks that are described. own are the ranks of this process, and
 * descriptions[i_own] is what it said of them; own may be NULL. It must stay open longer than the
 * answer, which the caller closes. HT_FORMAT for descriptions that are damaged or of another
 * version. */
HT_API enum ht_status ht_shares_join(ht_ctx *ctx, const ht_set *own, size_t i_own,
        const struct ht_description *descriptions, size_t n_descriptions,
        ht_set **ret_set) HT_MUST_USE;
/* Whether parts of this question can only be made of sets whose descriptions were made with facts,
 * and these were not. */
HT_API enum ht_status ht_bundle_lacks_facts(ht_ctx *ctx, ht_set *const *sets, size_t n_sets,
        const struct ht_query *query, bool *ret_lacks) HT_MUST_USE;
/* The table of a bundle that was made of joined sets, with all parts merged: over these sets,
 * joined of the same descriptions. */
HT_API enum ht_status ht_bundle_finish(ht_ctx *ctx, const ht_bundle *bundle, ht_set *const *sets,
        size_t n_sets, ht_table **ret_table) HT_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
