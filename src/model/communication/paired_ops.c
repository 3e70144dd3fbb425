/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paired_ops.c - see paired_ops.h.
 */
#include "model/communication/paired_ops.h"

#include "model/communication/comm_ops.h"
#include "model/numbers/interval.h"
#include "table/optional.h"

#include <stdlib.h>
#include <string.h>

const struct ht_call_place *ht_paired_place(
        const struct ht_paired_ops *pairs, size_t i_part, const struct ht_paired_range *range)
{
	size_t i_rank = ht_roster_find(pairs->run->rosters[0], pairs->parts->list[i_part].rank);
	if (!pairs->run->clocks[0] || i_rank == SIZE_MAX)
		return NULL;
	return ht_matches_find(pairs->run->matches[0], i_rank, range->row);
}

static void read_part(struct ht_paired_ops *pairs, size_t p, size_t *n_ranges)
{
	const ht_table *facts = pairs->parts->list[p].facts[pairs->i_facts];
	bool all = !pairs->run->step, starts = true;
	int64_t last = 0;
	for (size_t i = 0; i < ht_table_n_rows(facts); i++) {
		int64_t step = ht_table_i64_or(facts, i, HT_COMM_OP_STEP, HT_NO_I64);
		if (!all && step == HT_NO_I64)
			continue;
		starts |= ht_table_i64(facts, i, HT_COMM_OP) != last;
		last = ht_table_i64(facts, i, HT_COMM_OP);
		if (starts)
			pairs->ops[pairs->n_ops++] = (struct ht_paired_op){ .i_part = p,
				.first = *n_ranges,
				.name = ht_table_str(facts, i, HT_COMM_OP_NAME),
				.bytes = ht_table_i64_or(facts, i, HT_COMM_OP_BYTES, HT_NO_I64),
				.step = step };
		struct ht_paired_op *op = &pairs->ops[pairs->n_ops - 1];
		struct ht_paired_range *range = &pairs->ranges[(*n_ranges)++];
		*range = (struct ht_paired_range){ ht_table_i64(facts, i, HT_COMM_OP_START),
			ht_table_i64(facts, i, HT_COMM_OP_END), HT_NO_I64,
			ht_table_i64(facts, i, HT_COMM_OP_ROW) };
		op->n++;
		starts = false;
		const struct ht_call_place *place = ht_paired_place(pairs, p, range);
		if (place && !op->collective && place->collective->complete &&
		        ht_collective_is_matched(place->collective))
			op->collective = place->collective;
	}
}

static enum ht_status read_ops(struct ht_paired_ops *pairs)
{
	size_t n = ht_parts_n_rows(pairs->parts, pairs->i_facts), n_ranges = 0;
	pairs->ops = ht_arena_alloc(pairs->run->scratch, (n + 1) * sizeof *pairs->ops);
	pairs->ranges = ht_arena_alloc(pairs->run->scratch, (n + 1) * sizeof *pairs->ranges);
	pairs->room = ht_arena_alloc(pairs->run->scratch, (2 * n + 2) * sizeof *pairs->room);
	if (!pairs->ops || !pairs->ranges || !pairs->room)
		return ht_fail_nomem(pairs->run->ctx);
	for (size_t p = 0; p < pairs->parts->n; p++)
		read_part(pairs, p, &n_ranges);
	return HT_OK;
}

static int by_name_and_part(const void *left, const void *right)
{
	const struct ht_paired_op *a = *(const struct ht_paired_op *const *)left,
	                          *b = *(const struct ht_paired_op *const *)right;
	int by = strcmp(a->name, b->name);
	if (by)
		return by;
	if (a->i_part != b->i_part)
		return a->i_part < b->i_part ? -1 : 1;
	return (a > b) - (a < b);
}

static int by_pair(const void *left, const void *right)
{
	const struct ht_paired_op *a = *(const struct ht_paired_op *const *)left,
	                          *b = *(const struct ht_paired_op *const *)right;
	if (a->collective != b->collective)
		return a->collective < b->collective ? -1 : 1;
	if (!a->collective) {
		int by = strcmp(a->name, b->name);
		if (by)
			return by;
		if (a->nth != b->nth)
			return a->nth < b->nth ? -1 : 1;
	}
	return (a > b) - (a < b);
}

/* Calls without a matched kernel: their position among those of the name. */
static void number_alike(struct ht_paired_op **list, size_t n)
{
	qsort(list, n, sizeof *list, by_name_and_part);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n; end++)
			if (strcmp(list[end]->name, list[first]->name) != 0 ||
			        list[end]->i_part != list[first]->i_part)
				break;
		for (size_t i = first, nth = 0; i < end; i++) {
			list[i]->nth = list[i]->collective ? 0 : nth++;
			list[i]->n_alike = end - first;
		}
	}
}

/* One collective: as long as the fastest needs is transfer, range by range. */
static bool pair_up(struct ht_paired_ops *pairs, struct ht_paired_op **list, size_t n)
{
	bool alike = n > 1;
	for (size_t i = 1; i < n; i++)
		alike &= list[i]->n == list[0]->n && list[i]->i_part != list[i - 1]->i_part &&
		         (list[0]->collective || list[i]->n_alike == list[0]->n_alike);
	for (size_t k = 0; alike && k < list[0]->n; k++) {
		int64_t shortest = INT64_MAX;
		for (size_t i = 0; i < n; i++) {
			const struct ht_paired_range *range = &pairs->ranges[list[i]->first + k];
			if (range->end - range->start < shortest)
				shortest = range->end - range->start;
		}
		for (size_t i = 0; i < n; i++) {
			struct ht_paired_range *range = &pairs->ranges[list[i]->first + k];
			range->transfer = range->end - shortest;
			list[i]->is_paired = true;
		}
	}
	return alike;
}

static enum ht_status pair_ops(struct ht_paired_ops *pairs)
{
	struct ht_paired_op **list =
	        ht_arena_alloc(pairs->run->scratch, (pairs->n_ops + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(pairs->run->ctx);
	for (size_t i = 0; i < pairs->n_ops; i++)
		list[i] = &pairs->ops[i];
	number_alike(list, pairs->n_ops);
	qsort(list, pairs->n_ops, sizeof *list, by_pair);
	for (size_t first = 0, end; first < pairs->n_ops; first = end) {
		for (end = first + 1; end < pairs->n_ops; end++) {
			const struct ht_paired_op *a = list[first], *b = list[end];
			if (a->collective != b->collective ||
			        (!a->collective && (strcmp(a->name, b->name) || a->nth != b->nth)))
				break;
		}
		if (!pair_up(pairs, list + first, end - first))
			pairs->n_unpaired += end - first;
	}
	return HT_OK;
}

enum ht_status ht_paired_ops_make(struct ht_run *run, const struct ht_parts *parts, size_t i_facts,
        struct ht_paired_ops *ret_pairs)
{
	*ret_pairs = (struct ht_paired_ops){ .run = run, .parts = parts, .i_facts = i_facts };
	HT_TRY(read_ops(ret_pairs));
	return pair_ops(ret_pairs);
}

struct ht_paired_time ht_paired_measure(
        const struct ht_paired_ops *pairs, struct ht_paired_op *const *list, size_t n)
{
	struct ht_interval *all = pairs->room, *transfer;
	size_t n_all = 0, n_transfer = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = list[i]->first; k < list[i]->first + list[i]->n; k++)
			all[n_all++] = (struct ht_interval){ pairs->ranges[k].start,
				pairs->ranges[k].end };
	transfer = all + n_all;
	for (size_t i = 0; i < n; i++)
		for (size_t k = list[i]->first; k < list[i]->first + list[i]->n; k++)
			if (pairs->ranges[k].transfer != HT_NO_I64)
				transfer[n_transfer++] =
				        (struct ht_interval){ pairs->ranges[k].transfer,
					        pairs->ranges[k].end };
	size_t n_merged = ht_interval_merge(pairs->run->ctx->mem, all, n_all);
	struct ht_paired_time ret = { .all = ht_interval_length(all, n_merged) };
	n_merged = ht_interval_merge(pairs->run->ctx->mem, transfer, n_transfer);
	ret.transfer = ht_interval_length(transfer, n_merged);
	return ret;
}
