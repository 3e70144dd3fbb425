/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.c - see findings.h.
 */
#include "verdict/findings.h"

#include "base/checked.h"

/* Beyond this part of the median the mean is another step time. */
#define APART 0.05

bool ht_findings_is_alone(const struct ht_run *run)
{
	return run->rosters[0]->n < 2 && !run->is_partial;
}

enum ht_status ht_findings_bounds(struct ht_run *run, struct ht_bounds *ret_bounds)
{
	HT_TRY(ht_bounds_make(run, ret_bounds));
	return ht_bounds_choose(run, ret_bounds);
}

int64_t ht_findings_of_rank(
        const struct ht_findings *f, size_t i_part, size_t column, int64_t *ret_n_devices)
{
	const ht_table *rows = f->parts->list[i_part].facts[HT_FOUND_BREAKDOWN];
	int64_t sum = 0, n = 0;
	for (size_t i = 0; i < ht_table_n_rows(rows); i++)
		if (!ht_table_is_null(rows, i, column)) {
			ht_sum(&sum, ht_table_i64(rows, i, column));
			n++;
		}
	*ret_n_devices = n;
	return n ? sum : HT_NO_I64;
}

/* Communication of a rank that nothing hides, of its devices the mean; HT_NO_I64: no GPU work. */
static int64_t exposed_of(const struct ht_findings *f, size_t p)
{
	int64_t n, sum = ht_findings_of_rank(f, p, HT_BREAKDOWN_COMM, &n);
	return n ? sum / n : HT_NO_I64;
}

int64_t ht_findings_late_cost(const struct ht_findings *f, size_t i_part, int64_t late_ns)
{
	const struct ht_verdict *late =
	        f->stragglers.verdicts ? &f->stragglers.verdicts[i_part] : NULL;
	int64_t own = exposed_of(f, i_part), least = INT64_MAX;
	for (size_t i = 0; late && i < late->n_members; i++) {
		size_t p = late->members[i];
		int64_t ns = p == i_part ? HT_NO_I64 : exposed_of(f, p);
		least = ns != HT_NO_I64 && ns < least ? ns : least;
	}
	if (own == HT_NO_I64 || least == INT64_MAX || !f->n_steps)
		return late_ns;
	int64_t more_ns = least > own ? (least - own) / (int64_t)f->n_steps : 0;
	return more_ns < late_ns ? more_ns : late_ns;
}

int64_t ht_findings_mean_step(const struct ht_findings *findings)
{
	const struct ht_step_times *steps = &findings->device;
	return steps->n_mean ? steps->sum_ns / (int64_t)steps->n_mean : 0;
}

int64_t ht_findings_mean_apart(const struct ht_findings *findings)
{
	int64_t mean_ns = ht_findings_mean_step(findings), median_ns = findings->device.median_ns;
	int64_t apart_ns = mean_ns < median_ns ? median_ns - mean_ns : mean_ns - median_ns;
	return findings->has_steps && mean_ns > 0 && apart_ns > APART * (double)median_ns
	               ? mean_ns
	               : HT_NO_I64;
}

int64_t ht_findings_per_step(const struct ht_findings *findings, int64_t path_ns)
{
	int64_t whole_ns = ht_add_sat(findings->path_ns, findings->between_ns);
	if (whole_ns <= 0)
		return 0;
	return (int64_t)((__int128)path_ns * ht_findings_mean_step(findings) / whole_ns);
}

enum ht_status ht_findings_note(struct ht_run *run, ht_table *table)
{
	const struct ht_roster *roster = run->rosters[0];
	if (!roster->n_notes)
		return HT_OK;
	if (roster->n_notes == 1)
		return ht_table_add_note(table, "%s: see health", roster->notes[0]);
	return ht_table_add_note(
	        table, "%s, and %zu more such: see health", roster->notes[0], roster->n_notes - 1);
}

int64_t ht_found_compile_ns(const struct ht_findings *f)
{
	int64_t ns = 0;
	for (size_t i = 0; i < f->parts->n; i++) {
		const ht_table *t = f->parts->list[i].facts[HT_FOUND_COMPILE];
		for (size_t row = 0; row < ht_table_n_rows(t); row++)
			ht_sum(&ns, ht_table_i64(t, row, HT_COMPILE_NS));
	}
	return ns;
}
