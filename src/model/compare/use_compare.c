/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_compare.c - see use_compare.h.
 */
#include "model/compare/use_compare.h"

#include "base/search.h"

#include <math.h>
#include <string.h>

enum ht_status ht_use_change_note(
        struct ht_run *run, const struct ht_parts *parts, size_t k, ht_table *table)
{
	struct ht_use_sum sides[2] = { ht_use_sum(parts, 0, k), ht_use_sum(parts, 1, k) };
	struct ht_finding f = ht_finding("efficiency-change", HT_STATE_FOUND);
	if (isnan(sides[0].near_roof) || isnan(sides[1].near_roof))
		return HT_OK;
	ht_finding_ratio(&f, "mfu", sides[0].mfu);
	ht_finding_ratio(&f, "test_mfu", sides[1].mfu);
	/* of other peaks the figures do not compare */
	if (sides[0].dtype && sides[1].dtype && strcmp(sides[0].dtype, sides[1].dtype) != 0) {
		ht_finding_text(&f, "base_dtype", sides[0].dtype);
		ht_finding_text(&f, "test_dtype", sides[1].dtype);
	}
	if ((ht_use_is_mixed(&sides[0]) || ht_use_is_mixed(&sides[1])) && sides[0].dtype &&
	        sides[1].dtype && !strcmp(sides[0].dtype, sides[1].dtype)) {
		ht_finding_ratio(&f, "one_peak", sides[0].one_peak);
		ht_finding_ratio(&f, "test_one_peak", sides[1].one_peak);
		ht_finding_text(&f, "dtype", sides[1].dtype);
	}
	if (ht_use_recomputes(&sides[0]) || ht_use_recomputes(&sides[1])) {
		ht_finding_ratio(&f, "recomputed", sides[0].recomputed);
		ht_finding_ratio(&f, "test_recomputed", sides[1].recomputed);
	}
	ht_finding_ratio(&f, "near_roof", sides[0].near_roof);
	ht_finding_ratio(&f, "test_near_roof", sides[1].near_roof);
	ht_finding_ratio(&f, "copy", sides[0].copy);
	ht_finding_ratio(&f, "test_copy", sides[1].copy);
	ht_finding_next(&f, "efficiency");
	return ht_finding_note(run->scratch, &f, table);
}

/* Sums of a sample. */
struct use {
	double roofed_ns, ideal_ns, n_ranks;
};

static void add_part(const struct ht_set_samples *set, const ht_table *t, struct use *uses)
{
	size_t n = ht_table_n_rows(t);
	/* the first row is all of a rank: where there are steps those count */
	for (size_t row = n > 1; row < n; row++) {
		int64_t number = ht_table_is_null(t, row, HT_USE_STEP)
		                         ? HT_NO_I64
		                         : ht_table_i64(t, row, HT_USE_STEP);
		size_t at = ht_lower_bound_i64(set->numbers, set->n, number);
		if (at == set->n || set->numbers[at] != number)
			continue;
		struct use *use = &uses[set->first + at];
		use->roofed_ns += (double)ht_table_i64(t, row, HT_USE_ROOFED);
		use->ideal_ns += (double)ht_table_i64(t, row, HT_USE_IDEAL);
		use->n_ranks++;
	}
}

enum ht_status ht_use_samples_make(const struct ht_step_samples *samples,
        const struct ht_parts *parts, size_t k, size_t n_base, double **ret_values)
{
	struct ht_arena *scratch = samples->run->scratch;
	size_t n = samples->n_values, n_known = 0;
	struct use *uses = ht_arena_alloc(scratch, (n + 1) * sizeof *uses);
	double *values = ht_arena_alloc(scratch, (n + 1) * sizeof *values), ideal_ns = 0;
	if (!uses || !values)
		return ht_fail_nomem(samples->run->ctx);
	for (size_t p = 0; p < parts->n; p++)
		add_part(&samples->sets[parts->list[p].side], parts->list[p].facts[k], uses);
	for (size_t side = 0; side < n_base; side++)
		for (size_t i = 0; i < samples->sets[side].n; i++) {
			const struct use *use = &uses[samples->sets[side].first + i];
			ideal_ns += use->n_ranks > 0 ? use->ideal_ns / use->n_ranks : 0;
			n_known += use->n_ranks > 0;
		}
	for (size_t i = 0; i < n; i++)
		values[i] = n_known && uses[i].ideal_ns > 0 ? uses[i].roofed_ns / uses[i].ideal_ns *
		                                                      ideal_ns / (double)n_known
		                                            : NAN;
	*ret_values = values;
	return HT_OK;
}
