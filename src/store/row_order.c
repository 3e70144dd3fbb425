/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.c - see row_order.h.
 *
 * A thread of a large export is one long run of ranges and one of calls, so keys beside the rows would be the peak of the
 * memory that reading needs. Merging compares the times where they are: within a run they follow each other.
 */
#include "store/row_order.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "store/columns.h"

#include <string.h>

/* Merging gives way to sorting after so many moves per row. */
#define MAX_MOVES 4

static bool comes_before(const struct ht_trace *t, uint32_t a, uint32_t b)
{
	if (t->ts_ns[a] != t->ts_ns[b])
		return t->ts_ns[a] < t->ts_ns[b];
	return t->dur_ns[a] != t->dur_ns[b] ? t->dur_ns[a] > t->dur_ns[b] : a < b;
}

static size_t end_of_run(const struct ht_trace *t, const uint32_t *rows, size_t at, size_t n)
{
	while (++at < n && comes_before(t, rows[at - 1], rows[at]))
		;
	return at;
}

/* First of n rows in order that comes after a row, from the end by doubling steps. */
static size_t place_of(const struct ht_trace *t, const uint32_t *rows, size_t n, uint32_t row)
{
	size_t low = 0, high = n, step = 1;
	while (step <= high && comes_before(t, row, rows[high - step])) {
		high -= step;
		step *= 2;
	}
	if (step <= high)
		low = high - step;
	return low + HT_LOWER_BOUND(at, high - low, comes_before(t, rows[low + at], row));
}

/* The longest run behind the first one; 0 when merging all of them would move too much. */
static size_t longest_run(const struct ht_trace *t, const uint32_t *rows, size_t first, size_t n)
{
	size_t longest = 0, n_runs = 0;
	for (size_t at = first, end; at < n; at = end, n_runs++) {
		end = end_of_run(t, rows, at, n);
		longest = longest > end - at ? longest : end - at;
	}
	return n_runs <= n / 2 ? longest : 0;
}

/* Take each run into what is in order before it, from the end. False when that moves too much. */
static bool merge_runs(const struct ht_trace *t, uint32_t *rows, uint32_t *spare, size_t n)
{
	size_t n_moved = 0;
	for (size_t at = end_of_run(t, rows, 0, n), end; at < n; at = end) {
		end = end_of_run(t, rows, at, n);
		size_t first = place_of(t, rows, at, rows[at]), left = at, run = end - at, to = end;
		n_moved += end - first;
		if (n_moved / MAX_MOVES > n)
			return false;
		memcpy(spare, rows + at, run * sizeof *rows);
		while (run) {
			bool older =
			        left > first && comes_before(t, spare[run - 1], rows[left - 1]);
			rows[--to] = older ? rows[left - 1] : spare[run - 1];
			left -= older;
			run -= !older;
		}
	}
	return true;
}

/* By start; those that start together by length, and equal ones by row: the sort is stable, so rows must ascend. */
static bool sort_by_keys(
        struct ht_mem *mem, const struct ht_trace *t, uint32_t *rows, uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = ht_sort_key_i64(t->ts_ns[rows[i]]);
	bool ok = ht_sort_keys(mem, keys, rows, n);
	for (size_t i = 0, end; ok && i < n; i = end) {
		end = i + 1;
		while (end < n && keys[end] == keys[i])
			end++;
		for (size_t k = i; end - i > 1 && k < end; k++)
			keys[k] = ~ht_sort_key_i64(t->dur_ns[rows[k]]);
		ok = end - i == 1 || ht_sort_keys(mem, keys + i, rows + i, end - i);
	}
	return ok;
}

bool ht_rows_order(struct ht_mem *mem, const struct ht_trace *t, uint32_t *rows, size_t n)
{
	size_t first = n ? end_of_run(t, rows, 0, n) : 0;
	if (first >= n)
		return true;
	size_t n_spare = longest_run(t, rows, first, n);
	uint32_t *spare = n_spare ? ht_mem_alloc(mem, n_spare * sizeof *spare) : NULL;
	bool is_done = spare && merge_runs(t, rows, spare, n);
	ht_mem_free(mem, spare, n_spare * sizeof *spare);
	if (is_done || (n_spare && !spare))
		return is_done;
	uint64_t *keys = ht_mem_alloc(mem, n * sizeof *keys);
	/* as they were: merging may have stopped half-way */
	bool ok = keys != NULL;
	for (size_t i = 0; ok && i < n; i++)
		keys[i] = rows[i];
	ok = ok && ht_sort_keys(mem, keys, rows, n) && sort_by_keys(mem, t, rows, keys, n);
	ht_mem_free(mem, keys, n * sizeof *keys);
	return ok;
}
