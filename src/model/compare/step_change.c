/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_change.c - see step_change.h.
 */
#include "model/compare/step_change.h"

#include "model/finding/finding.h"
#include "model/finding/hint.h"
#include "model/stragglers/rank_names.h"

#include <math.h>
#include <string.h>

static const char *next_of(const struct ht_cause *cause)
{
	if (cause->n_ranks)
		return "stragglers";
	return cause->kind == HT_CAUSE_CPU        ? "operators"
	       : cause->kind == HT_CAUSE_TRANSFER ? "collectives"
	                                          : "kernels";
}

static enum ht_status name_cause(
        struct ht_run *run, const struct ht_cause *cause, struct ht_finding *f)
{
	static const char *const subjects[HT_N_CAUSE_KINDS] = { "kernel", "copy", "transfer", "cpu",
		"rank_wait", "device_wait" };
	const char *brief = cause->name ? ht_hint_name(run->scratch, cause->name) : "communication";
	const char *ranks = cause->n_ranks > 1
	                            ? ht_ranks_text(run->scratch, cause->ranks, cause->n_ranks)
	                            : NULL;
	if (!brief || (cause->n_ranks > 1 && !ranks))
		return ht_fail_nomem(run->ctx);
	ht_finding_subject(f, subjects[cause->kind], cause->name ? cause->name : "communication");
	ht_finding_text(f, subjects[cause->kind], brief);
	ht_finding_text(f, "name", brief);
	ht_finding_ns(f, "cost", (int64_t)llround(fabs(cause->gap.mean)));
	if (!cause->count[0] != !cause->count[1])
		ht_finding_text(f, "side", cause->count[0] ? "removed" : "added");
	if (cause->n_ranks == 1)
		ht_finding_count(f, "rank", cause->ranks[0]);
	if (ranks)
		ht_finding_text(f, "ranks", ranks);
	if (cause->source)
		ht_finding_text(f, "source", cause->source);
	ht_finding_next(f, next_of(cause));
	return HT_OK;
}

static void name_line(const struct ht_line_change *line, struct ht_finding *f)
{
	ht_finding_subject(f, "line", line->line);
	ht_finding_text(f, "line", line->line);
	ht_finding_ns(f, "cost", (int64_t)llround(fabs(line->ns)));
	ht_finding_text(f, "place", line->on_gpu ? "GPU" : "CPU");
	ht_finding_next(f, "diff");
	ht_finding_arg(f, "by", "line");
}

/* The cause to name; NULL: the line says more. */
static const struct ht_cause *find_named(
        const struct ht_causes *causes, const struct ht_line_change *line)
{
	const struct ht_cause *first = causes->n ? &causes->list[0] : NULL;
	bool is_nameless = first && first->name && !strcmp(first->name, HT_OUTSIDE_NAME);
	return is_nameless && line->line ? NULL : first;
}

enum ht_status ht_step_change_note(const struct ht_step_samples *samples,
        const struct ht_causes *causes, const struct ht_line_change *line, ht_table *table)
{
	const struct ht_sample *control = &samples->step_time[0], *test = &samples->step_time[1];
	const struct ht_gap *gap = &causes->step;
	const struct ht_cause *first = find_named(causes, line);
	bool is_noise = ht_gap_may_be_noise(gap);
	if (!(control->mean > 0) || !(test->mean > 0) || gap->mean == 0)
		return HT_OK;
	struct ht_finding f = ht_finding("step-change", HT_STATE_FOUND);
	f.variant = is_noise ? "noise" : gap->mean < 0 ? "faster" : "slower";
	ht_finding_value(&f, fabs(gap->mean), "ns");
	ht_finding_ratio(&f, "change", fabs(gap->mean) / control->mean);
	ht_finding_ns(&f, "control", (int64_t)llround(control->mean));
	ht_finding_ns(&f, "test", (int64_t)llround(test->mean));
	if (first && !is_noise && !ht_cause_is_consequence(first) &&
	        first->gap.mean / gap->mean >= HT_WORTH_A_HINT)
		HT_TRY(name_cause(samples->run, first, &f));
	else if (line->line)
		name_line(line, &f);
	return ht_finding_note(samples->run->scratch, &f, table);
}
