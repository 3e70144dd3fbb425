/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_change.c - see step_change.h.
 */
#include "model/compare/step_change.h"

#include "model/compare/rank_gaps.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"

#include <math.h>

/* Chance that a change is noise, from which on it is not told. */
#define NOISE 0.05
/* A rank stands out that changed by so many times what the others did. */
#define STANDS_OUT 2

struct cause {
	size_t line;
	int64_t rank; /* HT_NO_I64: all ranks */
	double ns;    /* per step, test minus control */
	int64_t count[2];
};

struct search {
	struct ht_step_samples *samples;
	struct ht_rank_gaps gaps;
	double sign; /* of the change of the step */
	struct cause cause;
};

/* Noise is not known of one step on each side: then nothing is doubted. */
static bool is_noise(const struct ht_gap *gap)
{
	return gap->df > 0 && ht_gap_chance(gap) > NOISE;
}

static void consider(struct search *s, int64_t rank, const struct ht_gap *gap)
{
	if (gap->mean * s->sign <= s->cause.ns * s->sign || is_noise(gap))
		return;
	s->cause = (struct cause){ s->samples->first, rank, gap->mean,
		{ s->samples->count[0], s->samples->count[1] } };
}

/* The largest change of the name in hand: of one rank, or of all of them. */
static void look(struct search *s)
{
	struct ht_sample side[2];
	for (size_t i = 0; i < 2; i++)
		side[i] = ht_step_samples_own(s->samples, i);
	struct ht_gap all = ht_sample_gap(&side[0], &side[1], (struct ht_noise){ 0 });
	consider(s, HT_NO_I64, &all);
	if (!s->gaps.n)
		return;
	ht_rank_gaps_own(&s->gaps, (struct ht_run_noise){ 0 });
	double sum = 0, others;
	for (size_t r = 0; r < s->gaps.n; r++)
		sum += s->gaps.gaps[r].gap.gap.mean * s->sign;
	for (size_t r = 0; r < s->gaps.n; r++) {
		const struct ht_gap *own = &s->gaps.gaps[r].gap.gap;
		others = (sum - own->mean * s->sign) / (double)(s->gaps.n - 1);
		if (own->mean * s->sign > STANDS_OUT * fmax(others, 0))
			consider(s, s->gaps.gaps[r].rank, own);
	}
}

static enum ht_status name_cause(struct search *s, struct ht_finding *f)
{
	const struct cause *cause = &s->cause;
	struct ht_arena *scratch = s->samples->run->scratch;
	ht_step_samples_seek(s->samples, cause->line);
	(void)ht_step_samples_next(s->samples);
	const char *name = ht_step_samples_name(s->samples);
	const char *brief = name ? ht_hint_name(scratch, name) : NULL;
	if (!brief)
		return ht_fail_nomem(s->samples->run->ctx);
	ht_finding_subject(f, "kernel", name);
	ht_finding_text(f, "name", brief);
	ht_finding_ns(f, "cost", (int64_t)llround(fabs(cause->ns)));
	if (!cause->count[0] != !cause->count[1])
		ht_finding_text(f, "side", cause->count[0] ? "removed" : "added");
	if (cause->rank != HT_NO_I64)
		ht_finding_count(f, "rank", cause->rank);
	ht_finding_next(f, cause->rank != HT_NO_I64 ? "stragglers" : "kernels");
	return HT_OK;
}

enum ht_status ht_step_change_note(struct ht_step_samples *samples, ht_table *table)
{
	const struct ht_sample *control = &samples->step_time[0], *test = &samples->step_time[1];
	struct search s = { .samples = samples };
	struct ht_gap gap = ht_sample_gap(control, test, (struct ht_noise){ 0 });
	if (!(control->mean > 0) || !(test->mean > 0) || gap.mean == 0)
		return HT_OK;
	s.sign = gap.mean < 0 ? -1 : 1;
	HT_TRY(ht_rank_gaps_init(samples, 1, &s.gaps));
	ht_step_samples_seek(samples, 0);
	while (ht_step_samples_next(samples))
		if (samples->place == HT_PLACE_KERNEL)
			look(&s);
	struct ht_finding f = ht_finding("step-change", HT_STATE_FOUND);
	f.variant = is_noise(&gap) ? "noise" : gap.mean < 0 ? "faster" : "slower";
	ht_finding_value(&f, fabs(gap.mean), "ns");
	ht_finding_ratio(&f, "change", fabs(gap.mean) / control->mean);
	ht_finding_ns(&f, "control", (int64_t)llround(control->mean));
	ht_finding_ns(&f, "test", (int64_t)llround(test->mean));
	if (fabs(s.cause.ns) >= HT_WORTH_A_HINT * fabs(gap.mean) && !is_noise(&gap))
		HT_TRY(name_cause(&s, &f));
	return ht_finding_note(samples->run->scratch, &f, table);
}
