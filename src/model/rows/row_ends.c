/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_ends.c - see row_ends.h.
 */
#include "model/rows/row_ends.h"

#include "model/run_memo.h"
#include "store/tree.h"

static enum ht_status make(struct ht_run *run, const void *of, void *ret_value)
{
	int64_t *ends = NULL;
	HT_TRY(ht_tree_ends(run->ctx, of, run->scratch, &ends));
	*(const int64_t **)ret_value = ends;
	return HT_OK;
}

enum ht_status ht_ends_find(
        struct ht_run *run, const struct ht_trace *trace, const int64_t **ret_ends)
{
	static const char kind;
	const struct ht_memoized how = { &kind, 0, make, sizeof *ret_ends };
	return ht_run_memoize(run, &how, trace, ret_ends);
}
