/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_runtime.c - the lines of what a run did beside its steps (found_runtime.h).
 */
#include "verdict/report_text.h"

#include "base/checked.h"
#include "model/numbers/stats.h"

#include <string.h>

/* ---- serving ---- */

/* The row of a phase: of several ranks the one whose median is longest, because an answer waits for all of them. */
struct phase_row {
	const ht_table *table;
	size_t row;
	int64_t rank;
};

static struct phase_row find_phase(const struct ht_parts *parts, const char *phase)
{
	struct phase_row best = { 0 };
	int64_t longest = -1;
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *t = parts->list[i].facts[HT_FOUND_SERVING];
		for (size_t row = 0; row < ht_table_n_rows(t); row++) {
			int64_t ns = ht_table_i64(t, row, HT_SERVING_P50_NS);
			if (strcmp(ht_table_str(t, row, HT_SERVING_PHASE), phase) != 0 ||
			        ns <= longest)
				continue;
			longest = ns;
			best = (struct phase_row){ t, row, parts->list[i].rank };
		}
	}
	return best;
}

static int64_t number(const struct phase_row *p, size_t column)
{
	return ht_table_is_null(p->table, p->row, column) ? HT_NO_I64
	                                                  : ht_table_i64(p->table, p->row, column);
}

static void say_phase(struct ht_report *s, const char *phase, const struct phase_row *p)
{
	int64_t n = number(p, HT_SERVING_N), wall = number(p, HT_SERVING_WALL_NS);
	int64_t requests = number(p, HT_SERVING_REQUESTS), tokens = number(p, HT_SERVING_TOKENS);
	struct ht_finding f = ht_finding("serving", HT_STATE_FOUND);
	f.variant = phase;
	ht_finding_subject(&f, "phase", phase);
	ht_finding_value(&f, (double)number(p, HT_SERVING_P50_NS), "ns");
	ht_finding_ns(&f, "p99", number(p, HT_SERVING_P99_NS));
	ht_finding_count(&f, "n", n);
	if (tokens != HT_NO_I64 && wall > 0)
		ht_finding_count(&f, "rate", ht_cut_sat((double)tokens * 1e9 / (double)wall + 0.5));
	if (requests != HT_NO_I64)
		ht_finding_count(&f, "requests", (requests + n / 2) / n);
	if (wall > 0 && n > 1)
		ht_finding_share(&f, ht_ratio(number(p, HT_SERVING_GAP_NS), wall), "of.wall_time",
		        HT_NO_I64);
	ht_finding_event(&f, p->rank, number(p, HT_SERVING_ROW));
	ht_finding_next(&f, "iterations");
	ht_report_line(s, phase, &f);
}

void ht_report_serving(struct ht_report *s)
{
	static const char *const phases[] = { "decode", "prefill", "mixed" };
	for (size_t i = 0; i < HT_COUNT(phases); i++) {
		struct phase_row p = find_phase(s->f.parts, phases[i]);
		if (p.table)
			say_phase(s, phases[i], &p);
	}
}

/* ---- compilations ---- */

void ht_report_recompilations(struct ht_report *s)
{
	struct ht_finding f = ht_finding("recompilation", HT_STATE_FOUND);
	const char *id = NULL, *reason = NULL;
	int64_t n = 0, longest = -1;
	for (size_t i = 0; i < s->f.parts->n; i++) {
		const struct ht_part *part = &s->f.parts->list[i];
		const ht_table *t = part->facts[HT_FOUND_COMPILE];
		for (size_t row = 0; row < ht_table_n_rows(t); row++) {
			int64_t time = ht_table_i64(t, row, HT_COMPILE_NS);
			ht_sum(&n, ht_table_i64(t, row, HT_COMPILE_N));
			ht_finding_event(&f, part->rank, ht_table_i64(t, row, HT_COMPILE_ROW));
			if (time <= longest)
				continue;
			longest = time;
			id = ht_table_str(t, row, HT_COMPILE_ID);
			reason = ht_table_is_null(t, row, HT_COMPILE_REASON)
			                 ? NULL
			                 : ht_table_str(t, row, HT_COMPILE_REASON);
		}
	}
	if (!n)
		return;
	ht_finding_subject(&f, "compilation", id);
	ht_finding_value(&f, (double)ht_found_compile_ns(&s->f), "ns");
	ht_finding_count(&f, "n", n);
	ht_finding_text(&f, "guard", reason);
	ht_finding_next(&f, "attribution");
	ht_finding_arg(&f, "view", "compile");
	ht_report_line(s, "recompilation", &f);
}
