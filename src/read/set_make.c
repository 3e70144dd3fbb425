/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_make.c - see set_make.h.
 */
#include "read/set_make.h"

#include "base/mem.h"

#include <string.h>

enum ht_status ht_set_new(ht_ctx *ctx, struct ht_set **ret_set)
{
	struct ht_set *set = ht_mem_zalloc(ctx->mem, sizeof *set);
	if (!set)
		return ht_fail_nomem(ctx);
	ht_arena_init(&set->arena, ht_mem_retain(ctx->mem));
	pthread_mutex_init(&set->lock, NULL);
	set->keep_bytes = HT_SET_KEEP_BYTES;
	*ret_set = set;
	return HT_OK;
}

enum ht_status ht_set_finish(ht_ctx *ctx, struct ht_set *set, struct ht_vec *notes)
{
	struct ht_roster *roster = &set->roster;
	if (ht_roster_complete(roster, &set->arena) != HT_OK)
		return ht_fail_nomem(ctx);
	struct ht_memo *memo = ht_arena_alloc(&set->arena, sizeof *memo);
	roster->notes = ht_arena_alloc(&set->arena, (notes->n + 1) * sizeof *roster->notes);
	if (!memo || !roster->notes)
		return ht_fail_nomem(ctx);
	ht_memo_init(memo, set->arena.mem);
	set->memo = memo;
	if (notes->n)
		memcpy(roster->notes, notes->data, notes->n * sizeof *roster->notes);
	roster->n_notes = notes->n;
	return HT_OK;
}
