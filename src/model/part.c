/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.c - see part.h.
 */
#include "model/part.h"

#include "base/checked.h"
#include "base/mem.h"
#include "model/policy.h"

void ht_parts_done(struct ht_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		for (size_t k = 0; k < HT_PART_TABLES; k++)
			ht_table_free(parts->list[i].facts[k]);
	if (parts->list)
		ht_mem_free(parts->mem, parts->list, parts->n * sizeof *parts->list);
	*parts = (struct ht_parts){ 0 };
}

struct ht_time_move ht_part_move(const struct ht_run *run, const struct ht_part *part)
{
	const struct ht_roster *roster = run->rosters[part->side];
	const struct ht_time_move *moves = run->moves[part->side];
	size_t i = ht_roster_find(roster, part->rank);
	if (i == SIZE_MAX)
		return (struct ht_time_move){ 0 };
	if (moves && !run->policy->file_clocks)
		return moves[i];
	return (struct ht_time_move){ .shift_ns = roster->ranks[i].offset_ns };
}

enum ht_status ht_parts_rows(struct ht_run *run, const struct ht_parts *parts, size_t k,
        int64_t zero_ns, ht_table *table)
{
	for (size_t i = 0; i < parts->n; i++) {
		struct ht_time_move move = ht_part_move(run, &parts->list[i]);
		move.shift_ns = ht_sub_sat(move.shift_ns, zero_ns);
		ht_table *facts = parts->list[i].facts[k];
		HT_TRY(parts->spent ? ht_table_take(table, facts, &move)
		                    : ht_table_append(table, facts, &move));
	}
	return HT_OK;
}

enum ht_status ht_parts_rows_or(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table, const char *note)
{
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	return ht_table_n_rows(table) ? HT_OK : ht_table_add_note(table, "%s", note);
}

size_t ht_parts_n_rows(const struct ht_parts *parts, size_t k)
{
	size_t n = 0;
	for (size_t i = 0; i < parts->n; i++)
		n += ht_table_n_rows(parts->list[i].facts[k]);
	return n;
}

bool ht_facts_below(const ht_table *facts, size_t column, size_t n)
{
	for (size_t row = 0; row < ht_table_n_rows(facts); row++)
		if (!ht_table_is_null(facts, row, column) && ht_table_u64(facts, row, column) >= n)
			return false;
	return true;
}

void ht_table_put_i128(ht_table *table, size_t column, __int128 value)
{
	ht_table_put_i64(table, column, (int64_t)(value >> 64));
	ht_table_put_i64(table, column + 1, (int64_t)(uint64_t)value);
}

__int128 ht_table_i128(const ht_table *table, size_t row, size_t column)
{
	__int128 high = ht_table_i64(table, row, column);
	return (__int128)((unsigned __int128)high << 64) |
	       (uint64_t)ht_table_i64(table, row, column + 1);
}
