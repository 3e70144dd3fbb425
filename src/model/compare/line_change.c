/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_change.c - see line_change.h.
 */
#include "model/compare/line_change.h"

#include "model/compare/causes.h"
#include "model/finding/hint.h"
#include "store/columns.h"

#include <math.h>
#include <string.h>

enum ht_status ht_line_times_put(struct ht_run *run, ht_table *table)
{
	const struct ht_profile_options options = { .by = HT_BY_LINE, .cpu = true, .gpu = true };
	const struct ht_profile_tables tables = { .names = table };
	return ht_n_of_kind(run->trace, HT_KIND_PYTHON) ? ht_profile_put(run, &options, &tables)
	                                                : HT_OK;
}

static bool is_line(const char *text)
{
	return strcmp(text, HT_NO_LINE_NAME) != 0 && strcmp(text, HT_WAITING_NAME) != 0 &&
	       strcmp(text, HT_OUTSIDE_NAME) != 0;
}

/* The name in hand, when it changed more than the one so far. */
static enum ht_status look(
        struct ht_step_samples *samples, double step_ns, struct ht_line_change *most)
{
	const struct ht_sample sides[] = { ht_step_samples_own(samples, 0),
		ht_step_samples_own(samples, 1) };
	double ns = ht_known_change(sides);
	const char *name = ht_step_samples_name(samples);
	if (!name)
		return ht_fail_nomem(samples->run->ctx);
	if (!(ns * step_ns > 0) || fabs(ns) <= fabs(most->ns) || !is_line(name))
		return HT_OK;
	*most = (struct ht_line_change){ ht_arena_printf(samples->run->scratch, "%s", name),
		ht_place_is_gpu(samples->place), ns };
	return most->line ? HT_OK : ht_fail_nomem(samples->run->ctx);
}

static enum ht_status look_at_lines(
        struct ht_step_samples *samples, double step_ns, struct ht_line_change *ret_change)
{
	struct ht_line_change cpu = { 0 }, gpu = { 0 };
	while (ht_step_samples_next(samples)) {
		if (samples->place == HT_PLACE_KERNEL)
			HT_TRY(look(samples, step_ns, &gpu));
		else if (samples->place == HT_PLACE_CPU)
			HT_TRY(look(samples, step_ns, &cpu));
	}
	*ret_change =
	        ht_cpu_comes_first(samples, fabs(step_ns), fabs(cpu.ns), fabs(gpu.ns)) ? cpu : gpu;
	if (fabs(ret_change->ns) < HT_WORTH_A_HINT * fabs(step_ns))
		*ret_change = (struct ht_line_change){ 0 };
	return HT_OK;
}

enum ht_status ht_line_change_find(struct ht_run *run, const struct ht_parts *parts, size_t k,
        double step_ns, struct ht_line_change *ret_change)
{
	struct ht_line_pairs pairs;
	struct ht_step_samples samples;
	*ret_change = (struct ht_line_change){ 0 };
	if (!ht_parts_n_rows(parts, k) || isnan(step_ns))
		return HT_OK;
	HT_TRY(ht_line_pairs_make(run, parts, k, &pairs));
	const struct ht_sample_tables tables = { .names = k, .pairs = &pairs };
	enum ht_status status = ht_step_samples_init(run, parts, &tables, &samples);
	if (status == HT_OK)
		status = look_at_lines(&samples, step_ns, ret_change);
	ht_step_samples_done(&samples);
	return status;
}
