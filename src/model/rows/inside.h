/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - which rows are inside what, over threads: of a call, an operator, a module, an annotation.
 *
 * Inside a span   on the call tree (seal_tracks.c), continued from an autograd thread to the span that is
 *                 open on the thread that waits for it (autograd.h).
 * Inside an annotation  by time, since annotations may overlap without nesting: a host row that starts
 *                 in [start, end) of an annotation of its own thread, or of the thread that waits for it.
 *                 An annotation that outlives the operator it started in ends with it.
 * GPU work is inside what its launch is inside; work whose launch is not in the file is inside the GPU
 * annotations of its stream that it starts in.
 */
#ifndef HT_MODEL_ROWS_INSIDE_H
#define HT_MODEL_ROWS_INSIDE_H

#include "model/rows/autograd.h"
#include "model/numbers/interval.h"
#include "store/tree.h"

/* ret_nearest[row]: the innermost matching row around it, over threads; HT_NONE: none. */
enum ht_status ht_inside_nearest(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_autograd *autograd, ht_tree_match *match, const void *user,
        uint32_t **ret_nearest) HT_MUST_USE;

/* The time that chosen annotations cover, by thread; or chosen GPU annotations, by stream. */
struct ht_inside {
	const struct ht_trace *trace;
	const struct ht_autograd *autograd;
	struct ht_interval *windows; /* of each track merged */
	uint32_t *first, *n;         /* by track */
};

/* kind is HT_KIND_ANNOTATION or HT_KIND_GPU_ANNOTATION. */
enum ht_status ht_inside_make(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_autograd *autograd, enum ht_kind kind, ht_tree_match *match,
        const void *user, struct ht_inside *ret_inside) HT_MUST_USE;
/* Does the row start inside one? */
bool ht_inside_has(const struct ht_inside *inside, uint32_t row);

#endif
