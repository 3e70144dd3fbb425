/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill_origin.c - see fill_origin.h.
 *
 * The hash of an input is over what its reading found and every process knows: bytes of JSON, events, first and last
 * time, steps and their times, counters of reading. So it needs no further look at the file, is that of a compressed
 * copy, too, and travels with parts. Two recordings never agree in all of that; a file that somebody edits without
 * changing its size, times or steps keeps its hash.
 */
#include "registry/fill_origin.h"

#include "base/hash.h"
#include "model/rows/selection.h"
#include "store/import_stats.h"
#include "store/columns.h"
#include "table/table_origin.h"

static uint64_t hash_rank(const struct ht_rank *rank)
{
	uint64_t hash = ht_hash_mix(rank->json_bytes, rank->n_events);
	hash = ht_hash_mix(hash, (uint64_t)rank->base_ns);
	hash = ht_hash_mix(hash, (uint64_t)rank->min_ts_ns);
	hash = ht_hash_mix(hash, (uint64_t)rank->max_end_ns);
	for (size_t i = 0; i < rank->n_steps; i++) {
		hash = ht_hash_mix(hash, (uint64_t)rank->steps[i].number);
		hash = ht_hash_mix(hash, (uint64_t)rank->steps[i].ts_ns);
		hash = ht_hash_mix(hash, (uint64_t)rank->steps[i].end_ns);
	}
	for (size_t i = 0; i < rank->n_stats; i++) {
		hash = ht_hash_mix(hash, rank->stats[i].code);
		hash = ht_hash_mix(hash, rank->stats[i].count);
	}
	return hash;
}

static struct ht_table_origin_input input_of(const struct ht_rank *rank, size_t side)
{
	return (struct ht_table_origin_input){ side, rank->number, rank->path, rank->n_events,
		hash_rank(rank) };
}

/* The ranks of a side that are looked at, and their files. */
static bool add_side(struct ht_run *run, size_t side, struct ht_table_origin_side *ret_side,
        struct ht_table_origin_input *inputs)
{
	size_t n = run->chosen[side].n;
	int64_t *ranks = ht_arena_alloc(run->scratch, (n + 1) * sizeof *ranks);
	for (size_t i = 0; ranks && i < n; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, side, i);
		ranks[i] = rank->number;
		inputs[i] = input_of(rank, side);
	}
	*ret_side = (struct ht_table_origin_side){ ht_selection_text(run, side), ranks, n };
	return ranks && ret_side->steps;
}

/* Parameters of the analysis, then those that all take, each with its value. */
static struct ht_arg *list_params(const struct ht_run *run, size_t *ret_n)
{
	const struct ht_analysis_info *info = &run->analysis->info;
	size_t n = info->n_params + ht_n_common_params();
	struct ht_arg *params = ht_arena_alloc(run->scratch, (n + 1) * sizeof *params);
	for (size_t i = 0; params && i < info->n_params; i++)
		params[i] = (struct ht_arg){ info->params[i].name, run->values[i] };
	for (size_t i = 0; params && i < ht_n_common_params(); i++)
		params[info->n_params + i] =
		        (struct ht_arg){ ht_common_param(i)->name, ht_run_common_value(run, i) };
	*ret_n = n;
	return params;
}

enum ht_status ht_run_tell_origin(struct ht_run *run, ht_table *table)
{
	struct ht_table_origin_side sides[HT_MAX_SETS];
	struct ht_table_origin origin = {
		.verb = run->analysis->info.name, .sides = sides, .n_sides = run->n_sets
	};
	for (size_t side = 0; side < run->n_sets; side++)
		origin.n_inputs += run->chosen[side].n;
	struct ht_table_origin_input *inputs =
	        ht_arena_alloc(run->scratch, (origin.n_inputs + 1) * sizeof *inputs);
	origin.params = list_params(run, &origin.n_params);
	bool ok = inputs && origin.params;
	for (size_t side = 0, n = 0; ok && side < run->n_sets; n += run->chosen[side++].n)
		ok = add_side(run, side, &sides[side], inputs + n);
	origin.inputs = inputs;
	return ok ? ht_table_set_origin(table, &origin) : ht_fail_nomem(run->ctx);
}

enum ht_status ht_question_tell_origin(ht_ctx *ctx, const char *verb, const struct ht_arg *params,
        size_t n_params, const struct ht_roster *roster, struct ht_arena *arena, ht_table *table)
{
	size_t n = roster ? roster->n : 0;
	struct ht_table_origin_input *inputs = ht_arena_alloc(arena, (n + 1) * sizeof *inputs);
	int64_t *ranks = ht_arena_alloc(arena, (n + 1) * sizeof *ranks);
	if (!inputs || !ranks)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		inputs[i] = input_of(&roster->ranks[i], 0);
		ranks[i] = roster->ranks[i].number;
	}
	const struct ht_table_origin_side all = { NULL, ranks, n };
	const struct ht_table_origin origin = { verb, params, n_params, &all, roster != NULL,
		inputs, n };
	enum ht_status status = ht_table_set_origin(table, &origin);
	/* a finished table has no context at hand: give its failure its text here */
	return status == HT_NOMEM ? ht_fail_nomem(ctx) : status;
}
