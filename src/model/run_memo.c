/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_memo.c - see run_memo.h.
 */
#include "model/run_memo.h"

#include "base/memo.h"

#include <string.h>

/* What cannot be kept stays this run's own. */
static void keep(struct ht_run *run, const struct ht_memoized *how, struct ht_arena *arena,
        const void *value, void *ret_value)
{
	struct ht_memo_key key = { run->i_rank, how->kind, how->variant };
	const void *kept = ht_memo_keep(run->memo, key, arena, value);
	memcpy(ret_value, kept ? kept : value, how->n_bytes);
	if (!kept)
		ht_arena_join(run->scratch, arena);
}

enum ht_status ht_run_memoize(
        struct ht_run *run, const struct ht_memoized *how, const void *of, void *ret_value)
{
	struct ht_run maker = *run;
	struct ht_arena arena;
	if (!run->shares_rank)
		return how->make(run, of, ret_value);
	const void *kept = ht_memo_find(
	        run->memo, (struct ht_memo_key){ run->i_rank, how->kind, how->variant });
	if (kept) {
		memcpy(ret_value, kept, how->n_bytes);
		return HT_OK;
	}
	if (run->arena_cache)
		ht_arena_init_cached(&arena, run->arena_cache);
	else
		ht_arena_init(&arena, run->memo->mem);
	arena.cancelled = run->scratch->cancelled;
	maker.scratch = &arena;
	void *value = ht_arena_alloc(&arena, how->n_bytes);
	enum ht_status status = value ? how->make(&maker, of, value) : ht_fail_nomem(run->ctx);
	if (status == HT_OK)
		keep(run, how, &arena, value, ret_value);
	else
		ht_arena_done(&arena);
	return status;
}
