/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_gaps.c - see rank_gaps.h.
 */
#include "model/compare/rank_gaps.h"

#include "base/search.h"
#include "model/device/typical_time.h"

#include <math.h>
#include <string.h>

/* Parts stand by set, then rank. */
static bool have_same_ranks(const struct ht_parts *parts, size_t n_sets, size_t n)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->list[i].side != i / n || parts->list[i].rank != parts->list[i % n].rank)
			return false;
	return parts->n == n * n_sets;
}

enum ht_status ht_rank_gaps_init(
        const struct ht_step_samples *samples, size_t n_base, struct ht_rank_gaps *ret)
{
	struct ht_run *run = samples->run;
	struct ht_arena *scratch = run->scratch;
	size_t n = run->n_sets ? samples->parts->n / run->n_sets : 0;
	*ret = (struct ht_rank_gaps){ .samples = samples,
		.n_base = n_base,
		.of = ht_arena_alloc(scratch, (samples->parts->n + 1) * sizeof *ret->of),
		.runs = ht_arena_alloc(scratch, (run->n_sets + 1) * sizeof *ret->runs),
		.gaps = ht_arena_alloc(scratch, (n + 1) * sizeof *ret->gaps),
		.sorted = ht_arena_alloc(scratch, (n + 1) * sizeof *ret->sorted) };
	if (!ret->of || !ret->runs || !ret->gaps || !ret->sorted)
		return ht_fail_nomem(run->ctx);
	ret->n = n > 1 && have_same_ranks(samples->parts, run->n_sets, n) ? n : 0;
	return HT_OK;
}

/* The median of sorted values without one of them. */
static double median_but(const double *sorted, size_t n, double but)
{
	size_t at = HT_LOWER_BOUND(i, n, sorted[i] < but), middle = (n - 1) / 2;
	return sorted[middle < at ? middle : middle + 1];
}

void ht_rank_gaps_own(struct ht_rank_gaps *g, struct ht_run_noise noise)
{
	const struct ht_parts *parts = g->samples->parts;
	size_t n_sets = g->samples->run->n_sets, n_known = 0;
	ht_step_samples_by_part(g->samples, g->of);
	for (size_t r = 0; r < g->n; r++) {
		for (size_t set = 0; set < n_sets; set++)
			g->runs[set] = g->of[set * g->n + r];
		struct ht_runs base = { g->runs, g->n_base },
		               test = { g->runs + g->n_base, n_sets - g->n_base };
		struct ht_rank_gap *own = &g->gaps[r];
		*own = (struct ht_rank_gap){ .rank = parts->list[r].rank,
			.gap = ht_runs_gap(base, test, noise),
			.change = NAN,
			.others = NAN };
		if (own->gap.base > 0 && own->gap.test > 0)
			own->change = own->gap.gap.mean / own->gap.base;
		if (!isnan(own->change))
			g->sorted[n_known++] = own->change;
	}
	ht_values_sort(g->sorted, n_known);
	for (size_t r = 0; r < g->n && n_known > 1; r++)
		if (!isnan(g->gaps[r].change))
			g->gaps[r].others = median_but(g->sorted, n_known, g->gaps[r].change);
}

double ht_rank_typical_growth(
        const struct ht_rank_gaps *g, size_t k, size_t i_rank, const char *name)
{
	const struct ht_parts *parts = g->samples->parts;
	double ns[2][2] = { { 0 } };
	for (size_t set = 0; set < g->samples->run->n_sets; set++) {
		const ht_table *typical = parts->list[set * g->n + i_rank].facts[k];
		size_t side = set >= g->n_base;
		for (size_t row = 0; row < ht_table_n_rows(typical); row++) {
			if (strcmp(ht_table_str(typical, row, HT_TYPICAL_NAME), name) != 0)
				continue;
			for (size_t way = 0; way < 2; way++)
				ns[way][side] +=
				        ht_table_is_null(typical, row, HT_TYPICAL_BY_PLACE + way)
				                ? NAN
				                : ht_table_f64(
				                          typical, row, HT_TYPICAL_BY_PLACE + way);
		}
	}
	for (size_t way = 0; way < 2; way++) {
		ns[way][0] /= (double)g->n_base;
		ns[way][1] /= (double)(g->samples->run->n_sets - g->n_base);
	}
	return ht_typical_growth(ns);
}
