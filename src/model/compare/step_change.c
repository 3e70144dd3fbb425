/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_change.c - see step_change.h.
 */
#include "model/compare/step_change.h"

#include "base/checked.h"
#include "base/text_compare.h"
#include "model/compare/work_lines.h"
#include "model/device/launch.h"
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
	ht_finding_ns(f, "cost", ht_round_sat(fabs(cause->gap.mean)));
	if (!cause->count[0] != !cause->count[1])
		ht_finding_text(f, "side", cause->count[0] ? "removed" : "added");
	if (cause->n_ranks == 1)
		ht_finding_count(f, "rank", cause->ranks[0]);
	if (ranks)
		ht_finding_text(f, "ranks", ranks);
	if (cause->source)
		ht_finding_text(f,
		        ht_text_starts(cause->source, HT_BACKWARD_OF) ? "backward" : "source",
		        cause->source);
	ht_finding_next(f, next_of(cause));
	return HT_OK;
}

static void name_line(const struct ht_line_change *line, struct ht_finding *f)
{
	ht_finding_subject(f, "line", line->line);
	ht_finding_text(f, "line", line->line);
	ht_finding_ns(f, "cost", ht_round_sat(fabs(line->ns)));
	ht_finding_text(f, "place", line->on_gpu ? "GPU" : "CPU");
	ht_finding_next(f, "diff");
	ht_finding_arg(f, "by", "line");
}

/* Calls that launch are made by operators: of the causes on the CPU, the one to name that explains enough. */
static const struct ht_cause *find_launcher(
        const struct ht_causes *causes, const struct ht_cause *launch)
{
	for (size_t i = 0; i < causes->n; i++) {
		const struct ht_cause *cause = &causes->list[i];
		if (cause->kind == HT_CAUSE_CPU && !ht_is_kernel_launch_name(cause->name) &&
		        cause->n_ranks == launch->n_ranks &&
		        cause->gap.mean / causes->step.mean >= HT_WORTH_A_HINT)
			return cause;
	}
	return NULL;
}

/* The cause to name; NULL: the line says more. */
static const struct ht_cause *find_named(
        const struct ht_causes *causes, const struct ht_line_change *line)
{
	const struct ht_cause *first = causes->n ? &causes->list[0] : NULL;
	bool is_nameless = first && first->name && !strcmp(first->name, HT_OUTSIDE_NAME);
	if (first && first->kind == HT_CAUSE_CPU && ht_is_kernel_launch_name(first->name)) {
		const struct ht_cause *launcher = find_launcher(causes, first);
		if (launcher || line->line)
			return launcher;
	}
	return is_nameless && line->line ? NULL : first;
}

/* GPU time that changes by less of itself, or of a step, is not told beside a step time that did not. */
#define MUCH_OF_GPU  0.02
#define MUCH_OF_STEP 0.01

/* The GPU may have more or less to do while steps take as long as before: what it is shows when the CPU no longer bounds them. */
static enum ht_status tell_gpu(struct ht_step_samples *samples, const struct ht_causes *causes,
        struct ht_finding *f, bool *ret_told)
{
	const struct ht_sample sides[] = { ht_step_samples_of(samples, samples->gpu_ns, 0),
		ht_step_samples_of(samples, samples->gpu_ns, 1) };
	const struct ht_cause *most = NULL;
	double ns = ht_known_change(sides);
	if (!(fabs(ns) >= MUCH_OF_GPU * sides[0].mean) ||
	        !(fabs(ns) >= MUCH_OF_STEP * samples->step_time[0].mean))
		return HT_OK;
	*ret_told = true;
	ht_finding_ns(f, ns < 0 ? "gpu_less" : "gpu_more", ht_round_sat(fabs(ns)));
	ht_finding_text(f, "way", ns < 0 ? "less" : "more");
	if (sides[0].mean > 0)
		ht_finding_ratio(f, "gpu_change", fabs(ns) / sides[0].mean);
	for (size_t i = 0; i < causes->n; i++) {
		const struct ht_cause *cause = &causes->list[i];
		if ((cause->kind == HT_CAUSE_KERNEL || cause->kind == HT_CAUSE_COPY) &&
		        cause->gap.mean / ns >= HT_WORTH_A_HINT &&
		        (!most || fabs(cause->gap.mean) > fabs(most->gap.mean)))
			most = cause;
	}
	return most ? name_cause(samples->run, most, f) : HT_OK;
}

enum ht_status ht_step_change_note(struct ht_step_samples *samples, const struct ht_causes *causes,
        const struct ht_line_change *line, ht_table *table)
{
	const struct ht_sample *control = &samples->step_time[0], *test = &samples->step_time[1];
	const struct ht_gap *gap = &causes->step;
	const struct ht_cause *first = find_named(causes, line);
	bool is_noise = gap->mean == 0 || ht_gap_may_be_noise(gap), tells = gap->mean != 0;
	if (!(control->mean > 0) || !(test->mean > 0))
		return HT_OK;
	struct ht_finding f = ht_finding("step-change", HT_STATE_FOUND);
	f.variant = is_noise ? "noise" : gap->mean < 0 ? "faster" : "slower";
	ht_finding_value(&f, fabs(gap->mean), "ns");
	ht_finding_ratio(&f, "change", fabs(gap->mean) / control->mean);
	ht_finding_ns(&f, "control", ht_round_sat(control->mean));
	ht_finding_ns(&f, "test", ht_round_sat(test->mean));
	bool is_large = ht_is_large_change(gap->mean, control->mean);
	ht_finding_text(&f, is_large ? "large" : "small", "");
	if (is_noise)
		HT_TRY(tell_gpu(samples, causes, &f, &tells));
	else if (first && !ht_cause_is_consequence(first) &&
	         first->gap.mean / gap->mean >= HT_WORTH_A_HINT)
		HT_TRY(name_cause(samples->run, first, &f));
	else if (line->line)
		name_line(line, &f);
	return tells ? ht_finding_note(samples->run->scratch, &f, table) : HT_OK;
}
