/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - questions about what is around every row, answered for all rows in one pass.
 *
 * A row's parent stands before it in its track, so one walk down the tracks carries any answer from
 * parents to children. To ask row by row would cost the depth of the tree each time, and a file may
 * nest as deep as it likes.
 */
#ifndef HT_STORE_TREE_H
#define HT_STORE_TREE_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

typedef bool ht_tree_match(const struct ht_trace *trace, uint32_t row, const void *user);

/* ret_nearest[row] is the innermost row around it that matches, HT_NONE when none does; a row is not
 * around itself. */
enum ht_status ht_tree_nearest(ht_ctx *ctx, const struct ht_trace *trace, ht_tree_match *match,
        const void *user, struct ht_arena *arena, uint32_t **ret_nearest) HT_MUST_USE;

/* ret_ends[row] is where a row ends for the tree: with its parent where it was cut (HT_EV_CUT). */
enum ht_status ht_tree_ends(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        int64_t **ret_ends) HT_MUST_USE;

#endif
