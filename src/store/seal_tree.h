/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_tree.h - the call tree of a track, made in one piece or in slices of time side by side. Only seal_tracks.c uses
 * this.
 *
 * What is open when a slice begins is known only when all before it is done. But most rows of a slice have their parent
 * in it, and the others come in runs that share one:
 *
 *     grow   each slice for itself, as if nothing were open: rows that found no parent are its roots
 *     join   slices of a track in order: what is open says the parents of roots, run after run, found by
 *            searching. A root that is cut, as it outlives what it started in, is walked again with what is open
 *     link   each slice for itself: write the parents of the runs
 *
 * So the tree is the same however tracks are cut.
 */
#ifndef HT_STORE_SEAL_TREE_H
#define HT_STORE_SEAL_TREE_H

#include "store/seal.h"

/* What a walk down a track knows of the rows behind it. */
struct ht_walk {
	struct ht_vec open;  /* struct open_span, the outermost first */
	uint32_t last;       /* the last span, HT_NONE before the first */
	int64_t work_end_ns; /* where the GPU work so far ends, INT64_MIN before the first */
};

struct ht_slice_tree {
	const uint32_t *rows; /* of the slice, in order */
	uint32_t n;
	uint64_t *roots; /* room for n, see root_at; NULL: nothing comes before the slice */
	uint32_t n_roots;
	uint32_t n_leading; /* of the roots: flows before the first span */
	struct ht_walk end; /* of the slice */
	struct ht_vec runs; /* struct root_run */
	/* what was seen */
	uint32_t n_spans, n_overlaps, n_work, n_work_overlaps;
	int64_t min_ts_ns, max_end_ns; /* of rows with a usable time; HT_NO_I64: none */
};

void ht_walk_init(struct ht_walk *walk);
void ht_walk_done(struct ht_walk *walk, struct ht_mem *mem);
/* rows and n are set, and roots; the rest is zero. */
enum ht_status ht_slice_grow(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_slice_tree *slice) HT_MUST_USE;
/* walk is at the end of the slices before, and then of this one. */
enum ht_status ht_slice_join(ht_ctx *ctx, struct ht_trace *trace, struct ht_slice_tree *slice,
        struct ht_walk *walk) HT_MUST_USE;
void ht_slice_link(struct ht_trace *trace, const struct ht_slice_tree *slice);
void ht_slice_done(struct ht_slice_tree *slice, struct ht_mem *mem);

#endif
