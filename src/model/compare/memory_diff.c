/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_diff.c - see memory_diff.h.
 */
#include "model/compare/memory_diff.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/compare/diff_sides.h"
#include "model/finding/finding.h"
#include "model/snapshot/mem_view.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_held_columns[HT_N_HELD_COLUMNS] = HT_COLUMN_ENTRIES(HT_MEM_HELD_COLUMNS);
const struct ht_column ht_mem_diff_columns[HT_N_MEM_DIFF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_MEM_DIFF_COLUMNS);

/* What a line holds. */
struct held {
	const char *key;
	int64_t peak, end, allocations;
};

enum ht_status ht_mem_diff_choose(struct ht_run *run)
{
	uint64_t n_events = 0;
	for (size_t side = 0; side < run->n_sets; side++)
		for (size_t i = 0; i < run->rosters[side]->n; i++)
			n_events += run->rosters[side]->ranks[i].n_events;
	if (!n_events && ht_run_is(run, "view", "rows"))
		ht_run_set(run, "view", "memory");
	return ht_diff_choose(run);
}

/* ---- one rank ---- */

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct held *)x)->key, ((const struct held *)y)->key);
}

/* "train.py:62 step" without the number of the line. */
static const char *place_of(struct ht_arena *arena, const char *key)
{
	const char *colon = strrchr(key, ':'), *space = colon ? strchr(colon, ' ') : NULL;
	return space ? ht_arena_printf(arena, "%.*s%s", (int)(colon - key), key, space) : key;
}

static void put_held(ht_table *table, const struct held *held, const char *place)
{
	ht_table_row(table);
	ht_table_put_str(table, HT_HELD_KEY, held->key);
	ht_table_put_str(table, HT_HELD_PLACE, place);
	ht_table_put_i64(table, HT_HELD_PEAK, held->peak);
	ht_table_put_i64(table, HT_HELD_END, held->end);
	ht_table_put_i64(table, HT_HELD_ALLOCATIONS, held->allocations);
}

static void add_held(struct held *to, const struct held *more)
{
	ht_sum(&to->peak, more->peak);
	ht_sum(&to->end, more->end);
	ht_sum(&to->allocations, more->allocations);
}

/* Lives of all devices, one after the other. */
static enum ht_status list_lives(struct ht_mem_view *v, struct held **ret_list, size_t *ret_n)
{
	size_t n = 0;
	for (size_t i = 0; i < v->history->n_devices; i++)
		n += v->history->devices[i].n_lives;
	struct held *list = ht_arena_room(v->run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(v->run->ctx);
	*ret_list = list;
	*ret_n = n;
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		for (size_t k = 0; k < d->n_lives; k++, list++) {
			const struct ht_mem_life *life = &d->lives[k];
			*list = (struct held){ ht_mem_name_of(&v->names, life),
				ht_mem_life_allocated(life, d->peak_at) ? life->size : 0,
				life->free_requested == HT_MEM_NEVER ? life->size : 0,
				life->alloc != HT_MEM_BEFORE };
			if (!list->key)
				return ht_fail_nomem(v->run->ctx);
		}
	}
	return HT_OK;
}

enum ht_status ht_mem_held_put(struct ht_run *run, ht_table *table)
{
	struct ht_mem_view v;
	struct held *list = NULL;
	size_t n = 0;
	bool is_there;
	HT_TRY(ht_mem_view_make(run, HT_MEM_BY_FRAME, NULL, &v, &is_there));
	if (!is_there)
		return HT_OK;
	HT_TRY(list_lives(&v, &list, &n));
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_key);
	for (size_t i = 0, end; i < n; i = end) {
		struct held sum = list[i];
		for (end = i + 1; end < n && !by_key(&list[i], &list[end]); end++)
			add_held(&sum, &list[end]);
		const char *place = place_of(run->scratch, sum.key);
		if (!place)
			return ht_fail_nomem(run->ctx);
		put_held(table, &sum, place);
	}
	return HT_OK;
}

/* ---- both sides ---- */

/* A line of both sides, or of one. */
struct pair {
	struct held of[2]; /* key NULL: not there */
	const char *place;
};

/* A row of a part. */
struct row {
	struct held held;
	const char *place;
	size_t side;
};

static int by_row_key(const void *x, const void *y)
{
	return by_key(&((const struct row *)x)->held, &((const struct row *)y)->held);
}

static int by_place(const void *x, const void *y)
{
	return strcmp(((const struct pair *)x)->place, ((const struct pair *)y)->place);
}

static bool is_whole(const struct pair *pair)
{
	return pair->of[0].key && pair->of[1].key;
}

static uint64_t change_of(const struct pair *pair)
{
	int64_t diff = ht_sub_sat(pair->of[1].peak, pair->of[0].peak);
	return diff < 0 ? 0 - (uint64_t)diff : (uint64_t)diff;
}

static const char *name_of(const struct pair *pair)
{
	return pair->of[1].key ? pair->of[1].key : pair->of[0].key;
}

static int by_change(const void *x, const void *y)
{
	uint64_t a = change_of(x), b = change_of(y);
	return a != b ? (a > b ? -1 : 1) : strcmp(name_of(x), name_of(y));
}

static enum ht_status list_rows(struct ht_run *run, const struct ht_parts *parts, size_t k,
        struct row **ret_rows, size_t *ret_n)
{
	size_t n = 0;
	struct row *rows =
	        ht_arena_room(run->scratch, (ht_parts_n_rows(parts, k) + 1) * sizeof *rows);
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *facts = parts->list[p].facts[k];
		for (size_t i = 0; i < ht_table_n_rows(facts); i++)
			rows[n++] =
			        (struct row){ { ht_table_str(facts, i, HT_HELD_KEY),
				                      ht_table_i64(facts, i, HT_HELD_PEAK),
				                      ht_table_i64(facts, i, HT_HELD_END),
				                      ht_table_i64(facts, i, HT_HELD_ALLOCATIONS) },
				        ht_table_str(facts, i, HT_HELD_PLACE),
				        parts->list[p].side };
	}
	*ret_rows = rows;
	*ret_n = n;
	return HT_OK;
}

/* By file, function and line. */
static size_t match_lines(struct row *rows, size_t n, struct pair *pairs)
{
	size_t n_pairs = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || by_row_key(&rows[i - 1], &rows[i]))
			pairs[n_pairs++] = (struct pair){ .place = rows[i].place };
		struct held *to = &pairs[n_pairs - 1].of[rows[i].side];
		if (to->key)
			add_held(to, &rows[i].held);
		else
			*to = rows[i].held;
	}
	return n_pairs;
}

/* Of one place: what is left of each side becomes one pair where there is one of each. */
static void match_place(struct pair *pairs, size_t n)
{
	struct pair *left[2] = { NULL, NULL };
	for (size_t i = 0; i < n; i++)
		for (size_t side = 0; side < 2; side++)
			if (!is_whole(&pairs[i]) && pairs[i].of[side].key) {
				if (left[side])
					return;
				left[side] = &pairs[i];
			}
	if (!left[0] || !left[1])
		return;
	left[1]->of[0] = left[0]->of[0];
	left[0]->of[0].key = NULL; /* an empty pair, which is not shown */
}

static const char *change_text(const struct pair *pair)
{
	int64_t diff = ht_sub_sat(pair->of[1].peak, pair->of[0].peak);
	return !pair->of[0].key   ? "added"
	       : !pair->of[1].key ? "removed"
	       : diff > 0         ? "more"
	       : diff < 0         ? "less"
	                          : "equal";
}

static void put_pair(ht_table *table, const struct pair *pair)
{
	const struct held *control = &pair->of[0], *test = &pair->of[1];
	bool is_moved = is_whole(pair) && strcmp(control->key, test->key) != 0;
	ht_table_row(table);
	ht_table_put_str(table, HT_MEM_DIFF_KEY, name_of(pair));
	ht_table_put_str(table, HT_MEM_DIFF_CONTROL_KEY, is_moved ? control->key : NULL);
	ht_table_put_i64(table, HT_MEM_DIFF_CONTROL_PEAK, control->peak);
	ht_table_put_i64(table, HT_MEM_DIFF_TEST_PEAK, test->peak);
	ht_table_put_i64(table, HT_MEM_DIFF_PEAK, ht_sub_sat(test->peak, control->peak));
	ht_table_put_i64(table, HT_MEM_DIFF_CONTROL_END, control->end);
	ht_table_put_i64(table, HT_MEM_DIFF_TEST_END, test->end);
	ht_table_put_i64(table, HT_MEM_DIFF_END, ht_sub_sat(test->end, control->end));
	ht_table_put_i64(table, HT_MEM_DIFF_CONTROL_ALLOCATIONS, control->allocations);
	ht_table_put_i64(table, HT_MEM_DIFF_TEST_ALLOCATIONS, test->allocations);
	ht_table_put_i64(table, HT_MEM_DIFF_ALLOCATIONS,
	        ht_sub_sat(test->allocations, control->allocations));
	ht_table_put_str(table, HT_MEM_DIFF_CHANGE, change_text(pair));
}

enum ht_status ht_mem_diff_rows(
        struct ht_run *run, const struct ht_parts *parts, size_t k, ht_table *table)
{
	struct row *rows = NULL;
	size_t n = 0;
	int64_t peaks[2] = { 0, 0 };
	HT_TRY(ht_table_set_method(
	        table, "who holds memory at the peak and at the end, sums over ranks and devices"));
	HT_TRY(list_rows(run, parts, k, &rows, &n));
	struct pair *pairs = ht_arena_room(run->scratch, (n + 1) * sizeof *pairs);
	if (!pairs)
		return ht_fail_nomem(run->ctx);
	ht_sort_items(run->ctx->mem, rows, n, sizeof *rows, by_row_key);
	size_t n_pairs = match_lines(rows, n, pairs);
	ht_sort_items(run->ctx->mem, pairs, n_pairs, sizeof *pairs, by_place);
	for (size_t i = 0, end; i < n_pairs; i = end) {
		for (end = i + 1; end < n_pairs && !by_place(&pairs[i], &pairs[end]);)
			end++;
		match_place(pairs + i, end - i);
	}
	size_t n_kept = 0;
	for (size_t i = 0; i < n_pairs; i++)
		if (name_of(&pairs[i]))
			pairs[n_kept++] = pairs[i];
	ht_sort_items(run->ctx->mem, pairs, n_kept, sizeof *pairs, by_change);
	for (size_t i = 0; i < n_kept; i++) {
		put_pair(table, &pairs[i]);
		ht_sum(&peaks[0], pairs[i].of[0].peak);
		ht_sum(&peaks[1], pairs[i].of[1].peak);
	}
	struct ht_finding f = ht_finding("memory-diff", n_kept ? HT_STATE_FOUND : HT_STATE_UNKNOWN);
	ht_finding_value(&f, (double)peaks[1], "bytes");
	ht_finding_bytes(&f, "control", peaks[0]);
	ht_finding_text(&f, "more", peaks[1] > peaks[0] ? "" : NULL);
	ht_finding_text(&f, "less", peaks[1] < peaks[0] ? "" : NULL);
	ht_finding_bytes(
	        &f, "change", peaks[1] > peaks[0] ? peaks[1] - peaks[0] : peaks[0] - peaks[1]);
	if (n_kept && change_of(&pairs[0])) {
		ht_finding_subject(&f, "line", name_of(&pairs[0]));
		ht_finding_bytes(&f, "most", (int64_t)change_of(&pairs[0]));
	}
	return ht_finding_note(run->scratch, &f, table);
}
