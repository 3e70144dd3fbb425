/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.c - see shape.h.
 */
#include "store/shape.h"

#include "base/mem.h"

enum ht_status ht_row_walk_init(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_row_walk *ret_walk)
{
	uint64_t *at = ht_mem_zalloc(ctx->mem, trace->n_arg_columns * sizeof *at);
	if (!at)
		return ht_fail_nomem(ctx);
	*ret_walk = (struct ht_row_walk){ .trace = trace, .at = at };
	return HT_OK;
}

void ht_row_walk_done(ht_ctx *ctx, struct ht_row_walk *walk)
{
	ht_mem_free(ctx->mem, walk->at, walk->trace->n_arg_columns * sizeof *walk->at);
	walk->at = NULL;
}
