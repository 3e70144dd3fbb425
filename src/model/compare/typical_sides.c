/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typical_sides.c - see typical_sides.h.
 */
#include "model/compare/typical_sides.h"

#include "model/device/typical_time.h"
#include "table/optional.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of one name on one rank of one run. */
struct typical_call {
	const char *name;
	size_t side; /* 0: base */
	double ns[2];
};

static int compare_typical(const void *left, const void *right)
{
	const struct typical_call *a = left, *b = right;
	int names = strcmp(a->name, b->name);
	return names ? names : (a->side > b->side) - (a->side < b->side);
}

/* Each name once: the lower quartile over the ranks of a side's runs, in proportion to those that have it. */
static void unite_typical(struct ht_typical_sides *sides, const struct typical_call *calls,
        size_t n, const size_t *n_ranks, double *values)
{
	for (size_t first = 0, end; first < n; first = end) {
		struct ht_typical_name typical = { .name = calls[first].name };
		size_t n_calls[2] = { 0, 0 };
		for (end = first; end < n && !strcmp(calls[end].name, calls[first].name); end++)
			n_calls[calls[end].side]++;
		for (size_t k = 0; k < 4; k++) {
			size_t way = k / 2, side = k % 2, at = first + side * n_calls[0],
			       n_known = 0;
			for (size_t i = 0; i < n_calls[side]; i++)
				if (!isnan(calls[at + i].ns[way]))
					values[n_known++] = calls[at + i].ns[way];
			double share = (double)n_calls[side] / (double)n_ranks[side];
			if (n_calls[side])
				typical.ns[way][side] =
				        n_known ? share * ht_lower_quartile(values, n_known) : NAN;
		}
		sides->list[sides->n++] = typical;
	}
}

enum ht_status ht_typical_sides_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        size_t n_base, struct ht_typical_sides *ret_sides)
{
	struct ht_arena *scratch = run->scratch;
	size_t n_rows = ht_parts_n_rows(parts, k), n = 0, n_ranks[2] = { 0, 0 };
	struct typical_call *calls = ht_arena_alloc(scratch, (n_rows + 1) * sizeof *calls);
	double *values = ht_arena_alloc(scratch, (parts->n + 1) * sizeof *values);
	*ret_sides = (struct ht_typical_sides){ .list = ht_arena_alloc(scratch,
		                                        (n_rows + 1) * sizeof *ret_sides->list) };
	if (!calls || !values || !ret_sides->list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *facts = parts->list[i].facts[k];
		size_t side = parts->list[i].side >= n_base;
		n_ranks[side]++;
		for (size_t row = 0; row < ht_table_n_rows(facts); row++)
			calls[n++] = (struct typical_call){
				ht_table_str(facts, row, HT_TYPICAL_NAME), side,
				{ ht_table_f64_or_nan(facts, row, HT_TYPICAL_BY_PLACE),
				        ht_table_f64_or_nan(facts, row, HT_TYPICAL_BY_HALF) }
			};
	}
	qsort(calls, n, sizeof *calls, compare_typical);
	unite_typical(ret_sides, calls, n, n_ranks, values);
	return HT_OK;
}

static int compare_typical_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct ht_typical_name *)item)->name);
}

double ht_typical_sides_growth_of(const struct ht_typical_sides *sides, const char *name)
{
	const struct ht_typical_name *found =
	        bsearch(name, sides->list, sides->n, sizeof *sides->list, compare_typical_name);
	return found ? ht_typical_growth(found->ns) : NAN;
}

double ht_typical_sides_growth(const struct ht_typical_sides *sides)
{
	double ns[2][2] = { { 0 } };
	for (size_t i = 0; i < sides->n; i++)
		for (size_t k = 0; k < 4; k++)
			ns[k / 2][k % 2] += sides->list[i].ns[k / 2][k % 2];
	return ht_typical_growth(ns);
}
