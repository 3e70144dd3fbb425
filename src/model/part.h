/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - what an analysis finds out about one rank, as plain data.
 *
 * A part is a few small tables. It can be written, read back and merged with others in any grouping and
 * order: parts stand side by side, ascending by side and rank, and nothing is added up before the end, so the
 * result is the same to the byte.
 *
 *     rank 0 ─► part { facts[0], facts[1] } ─┐
 *     rank 1 ─► part { facts[0], facts[1] } ─┼─► finish ─► table
 *     rank 2 ─► part { facts[0], facts[1] } ─┘
 *
 * Cells of type HT_TIME are on the rank's own clock in a part; ht_parts_rows moves them to the set's.
 */
#ifndef HT_MODEL_PART_H
#define HT_MODEL_PART_H

#include "model/run.h"
#include "table/table.h"

#define HT_PART_TABLES 20

struct ht_part {
	size_t side;
	int64_t rank;
	ht_table *facts[HT_PART_TABLES]; /* finished; NULL beyond what the analysis declares */
};

struct ht_parts {
	struct ht_part *list; /* ascending by side, then rank */
	size_t n;
	struct ht_mem *mem;
	bool spent; /* nobody looks at them after finishing: their rows may be taken instead of copied */
};

/* What several analyses find out about a rank in the same way: the first n tables of their parts. Filled once where they
 * run together. */
struct ht_common_facts {
	const char *name; /* under which they are kept */
	size_t n;
	enum ht_status (*per_rank)(struct ht_run *run, struct ht_part *part);
	bool (*is_sound)(const struct ht_part *part); /* as of an analysis, of these tables */
};

void ht_parts_done(struct ht_parts *parts);

/* Append the rows of facts[k] of every part of the run to a table of the same columns; times move to the set's
 * clock (the files' where the policy says so), less zero_ns. Parts that are spent have none of them afterwards. */
enum ht_status ht_parts_rows(struct ht_run *run, const struct ht_parts *parts, size_t k,
        int64_t zero_ns, ht_table *table) HT_MUST_USE;
/* The rows of facts[0] as ht_parts_rows does, or a note when there are none. */
enum ht_status ht_parts_rows_or(struct ht_run *run, const struct ht_parts *parts, ht_table *table,
        const char *note) HT_MUST_USE;
/* From the clock of the part's rank to the set's. */
struct ht_time_move ht_part_move(const struct ht_run *run, const struct ht_part *part);
/* Rows of facts[k] over all parts. */
size_t ht_parts_n_rows(const struct ht_parts *parts, size_t k);

/* Parts come from files, too, and who wrote those may lie. Is every number of a column below n, or null? */
bool ht_facts_below(const ht_table *facts, size_t column, size_t n);

/* A sum of squares of durations needs more than 64 bits: two cells, high in the column and low in the next. */
void ht_table_put_i128(ht_table *table, size_t column, __int128 value);
__int128 ht_table_i128(const ht_table *table, size_t row, size_t column);

#endif
