/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_text.c - see metric_text.h.
 */
#include "model/compare/metric_text.h"

#include "model/compare/causes.h"
#include "table/format.h"

#include <math.h>

/* "25.9 ms ± 1.2 %" of one side; the text lives in scratch. */
static const char *say_side(struct ht_run *run, const struct ht_sample *side)
{
	char mean[HT_FORMAT_BYTES], spread[HT_FORMAT_BYTES];
	double std = ht_sample_std(side);
	ht_format_double(mean, HT_DURATION_F64, side->mean);
	if (isnan(std) || side->mean <= 0)
		return ht_arena_printf(run->scratch, "%s", mean);
	ht_format_double(spread, HT_RATIO, std / side->mean);
	return ht_arena_printf(run->scratch, "%s ± %s", mean, spread);
}

/* Of control and test. */
static const char *say_metric(struct ht_run *run, const char *what, const struct ht_sample *sides)
{
	char change[HT_FORMAT_BYTES] = "0";
	const char *control = say_side(run, &sides[0]), *test = say_side(run, &sides[1]);
	if (sides[0].mean > 0)
		ht_format_double(change, HT_RATIO, sides[1].mean / sides[0].mean - 1);
	if (!control || !test)
		return NULL;
	bool is_noise = sides[0].mean != sides[1].mean && isnan(ht_known_change(sides));
	bool is_large = ht_is_large_change(sides[1].mean - sides[0].mean, sides[0].mean);
	return ht_arena_printf(run->scratch, "%s %s → %s, %s%s%s", what, control, test,
	        sides[1].mean > sides[0].mean ? "+" : "", change,
	        !is_noise  ? ""
	        : is_large ? ", more steps needed to tell this from noise"
	                   : ", within noise");
}

const char *ht_metrics_text(struct ht_run *run, const char *what, const struct ht_sample *step,
        const struct ht_sample *gpu, const size_t *n_steps)
{
	bool has_gpu = gpu[0].mean > 0 || gpu[1].mean > 0;
	const char *step_text = say_metric(run, what, step);
	const char *gpu_text = has_gpu ? say_metric(run, "GPU time", gpu) : "";
	if (!step_text || !gpu_text)
		return NULL;
	return ht_arena_printf(run->scratch, "%s%s%s; per step and rank, %zu and %zu step%s",
	        step_text, has_gpu ? " · " : "", gpu_text, n_steps[0], n_steps[1],
	        n_steps[0] + n_steps[1] == 2 ? "" : "s");
}
