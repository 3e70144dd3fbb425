/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.c - see causes.h.
 */
#include "model/compare/causes.h"

#include "model/compare/rank_gaps.h"
#include "model/compare/work_lines.h"
#include "model/device/launch.h"
#include "model/finding/hint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Chance that a change is noise, from which on it is not told. */
#define NOISE 0.05
/* A rank stands out that changed by so many times what the median of all did. */
#define STANDS_OUT 2
/* Ranks that stand out and changed by less than this part of the most are not named with it. */
#define MUCH_OF_MOST 0.5
/* Least change worth a row: of that of the step, and of the step itself. */
#define LEAST_OF_CHANGE 0.01
#define LEAST_OF_STEP   0.001
/* Below this part of a step, what runs on the GPU is not what the step lasts for. */
#define MOSTLY 0.5
/* Beyond this part of a step a change is too large to be called noise. */
#define LARGE 0.1
/* No reader looks at more. */
#define MOST_CAUSES 200

struct search {
	struct ht_step_samples *samples;
	struct ht_rank_gaps gaps;
	struct ht_causes *found;
	double least_ns; /* smallest change worth a row */
	double *sorted;  /* changes of the ranks */
	int64_t *ranks;  /* those that stand out */
	size_t n_ranks;
	bool no_memory;
};

bool ht_gap_may_be_noise(const struct ht_gap *gap)
{
	return gap->df > 0 && ht_gap_chance(gap) > NOISE;
}

double ht_known_change(const struct ht_sample *sides)
{
	struct ht_gap gap = ht_sample_gap(&sides[0], &sides[1], (struct ht_noise){ 0 });
	return gap.mean == 0 || ht_gap_may_be_noise(&gap) ? NAN : gap.mean;
}

bool ht_is_large_change(double change, double of)
{
	return of > 0 && fabs(change) > LARGE * of;
}

bool ht_cpu_comes_first(
        const struct ht_step_samples *samples, double step_ns, double cpu_ns, double gpu_ns)
{
	double busy = ht_step_samples_of(samples, samples->gpu_ns, 1).mean;
	return gpu_ns < HT_WORTH_A_HINT * step_ns ||
	       (busy < MOSTLY * samples->step_time[1].mean && gpu_ns < cpu_ns);
}

/* Keeps the largest when there are too many. */
static void add(struct search *s, const struct ht_cause *cause)
{
	struct ht_causes *found = s->found;
	size_t at = found->n;
	if (fabs(cause->gap.mean) < s->least_ns || ht_gap_may_be_noise(&cause->gap))
		return;
	if (found->n == MOST_CAUSES) {
		at = 0;
		for (size_t i = 1; i < found->n; i++)
			if (fabs(found->list[i].gap.mean) < fabs(found->list[at].gap.mean))
				at = i;
		if (fabs(found->list[at].gap.mean) >= fabs(cause->gap.mean))
			return;
	} else {
		found->n++;
	}
	found->list[at] = *cause;
}

/* ---- ranks that stand out ---- */

/* Puts the ranks whose own change is far from that of most into s->ranks; answers whether there are such. */
static bool find_ranks(struct search *s, const struct ht_rank_gap *gaps, size_t n)
{
	double most = 0;
	s->n_ranks = 0;
	for (size_t r = 0; r < n; r++)
		if (fabs(gaps[r].gap.gap.mean) > fabs(most))
			most = gaps[r].gap.gap.mean;
	double sign = most < 0 ? -1 : 1;
	for (size_t r = 0; r < n; r++)
		s->sorted[r] = gaps[r].gap.gap.mean * sign;
	ht_values_sort(s->sorted, n);
	double median = n ? fmax(s->sorted[(n - 1) / 2], 0) : 0;
	for (size_t r = 0; r < n; r++) {
		double own = gaps[r].gap.gap.mean * sign;
		if (own > STANDS_OUT * median && own >= MUCH_OF_MOST * fabs(most) &&
		        !ht_gap_may_be_noise(&gaps[r].gap.gap))
			s->ranks[s->n_ranks++] = gaps[r].rank;
	}
	return s->n_ranks > 0 && 2 * s->n_ranks <= n;
}

/* The mean over the ranks in s->ranks, which ascend as the gaps do. */
static void join_ranks(struct search *s, struct ht_cause *cause)
{
	const struct ht_rank_gaps *g = &s->gaps;
	double k = (double)s->n_ranks, errors = 0;
	int64_t *ranks = ht_arena_alloc(s->samples->run->scratch, (s->n_ranks + 1) * sizeof *ranks);
	if (!ranks) {
		s->no_memory = true;
		return;
	}
	memcpy(ranks, s->ranks, s->n_ranks * sizeof *ranks);
	cause->ranks = ranks;
	cause->n_ranks = s->n_ranks;
	cause->mean[0] = cause->mean[1] = cause->gap.mean = 0;
	for (size_t r = 0, i = 0; r < g->n && i < s->n_ranks; r++) {
		const struct ht_run_gap *own = &g->gaps[r].gap;
		if (g->gaps[r].rank != s->ranks[i])
			continue;
		cause->gap.df = i ? fmin(cause->gap.df, own->gap.df) : own->gap.df;
		cause->mean[0] += own->base / k;
		cause->mean[1] += own->test / k;
		cause->gap.mean += own->gap.mean / k;
		errors += own->gap.error * own->gap.error;
		i++;
	}
	cause->gap.error = sqrt(errors) / k;
}

/* ---- names ---- */

static enum ht_cause_kind kind_of(enum ht_place place, const char *name)
{
	switch (place) {
	case HT_PLACE_KERNEL: return HT_CAUSE_KERNEL;
	case HT_PLACE_COPY: return HT_CAUSE_COPY;
	default:
		return ht_may_wait_for_device(name) || !strcmp(name, HT_WAITING_NAME)
		               ? HT_CAUSE_DEVICE_WAIT
		               : HT_CAUSE_CPU;
	}
}

/* The line of the first rank that knows one, of those that the change is of. */
static const char *line_of(const struct search *s, size_t k_lines, const struct ht_cause *cause)
{
	const struct ht_parts *parts = s->samples->parts;
	const char *line = NULL;
	for (size_t side = 2; side-- > 0 && !line;)
		for (size_t i = 0; i < parts->n && !line; i++) {
			const struct ht_part *part = &parts->list[i];
			if (part->side == side &&
			        (!cause->n_ranks || part->rank == cause->ranks[0]))
				line = ht_work_line_find(part->facts[k_lines], cause->name);
		}
	return line;
}

/* Of every rank the change of the name in hand, with the noise of its steps: there is one run on each side. */
static void take_rank_gaps(struct ht_rank_gaps *g)
{
	ht_rank_gaps_own(g, (struct ht_run_noise){ 0 });
	for (size_t r = 0; r < g->n; r++)
		g->gaps[r].gap.gap =
		        ht_sample_gap(&g->of[r], &g->of[g->n + r], (struct ht_noise){ 0 });
}

/* The change of the name in hand: of some ranks, or of all of them. */
static void look(struct search *s)
{
	struct ht_sample side[2];
	struct ht_cause cause = { .name = ht_step_samples_name(s->samples) };
	if (!cause.name) {
		s->no_memory = true;
		return;
	}
	cause.kind = kind_of(s->samples->place, cause.name);
	for (size_t i = 0; i < 2; i++) {
		side[i] = ht_step_samples_own(s->samples, i);
		cause.mean[i] = side[i].mean;
		cause.count[i] = s->samples->count[i];
	}
	cause.gap = ht_sample_gap(&side[0], &side[1], (struct ht_noise){ 0 });
	if (s->gaps.n) {
		take_rank_gaps(&s->gaps);
		if (find_ranks(s, s->gaps.gaps, s->gaps.n))
			join_ranks(s, &cause);
	}
	add(s, &cause);
}

static void look_at_names(struct search *s)
{
	ht_step_samples_seek(s->samples, 0);
	while (!s->no_memory && ht_step_samples_next(s->samples)) {
		enum ht_place place = s->samples->place;
		if (place == HT_PLACE_KERNEL || place == HT_PLACE_COPY || place == HT_PLACE_CPU)
			look(s);
	}
	ht_step_samples_seek(s->samples, 0); /* as who comes next finds them */
}

/* ---- communication ---- */

static void look_at_transfer(struct search *s)
{
	struct ht_cause cause = { .kind = HT_CAUSE_TRANSFER };
	struct ht_sample side[2];
	for (size_t i = 0; i < 2; i++) {
		side[i] = ht_step_samples_of(s->samples, s->samples->transfer_ns, i);
		cause.mean[i] = side[i].mean;
	}
	cause.gap = ht_sample_gap(&side[0], &side[1], (struct ht_noise){ 0 });
	if (cause.mean[0] > 0 && cause.mean[1] > 0)
		add(s, &cause);
}

/* Ranks that wait longer, or less long, for the one that comes last. */
static void look_at_waits(struct search *s)
{
	struct ht_rank_gaps *g = &s->gaps;
	double *room = ht_step_samples_room(s->samples), most = 0;
	struct ht_cause cause = { .kind = HT_CAUSE_RANK_WAIT };
	s->no_memory |= !room;
	for (size_t r = 0; r < g->n && room; r++) {
		struct ht_run_gap *own = &g->gaps[r].gap;
		struct ht_sample gpu, wait[2];
		for (size_t side = 0; side < 2; side++)
			ht_step_samples_part(s->samples, side * g->n + r, room, &gpu, &wait[side]);
		*own = (struct ht_run_gap){ .base = wait[0].mean, .test = wait[1].mean };
		own->gap = ht_sample_gap(&wait[0], &wait[1], (struct ht_noise){ 0 });
		g->gaps[r].rank = s->samples->parts->list[r].rank;
		if (fabs(own->gap.mean) > fabs(most))
			most = own->gap.mean;
	}
	s->n_ranks = 0;
	for (size_t r = 0; r < g->n && room; r++)
		if (g->gaps[r].gap.gap.mean * most > 0 &&
		        fabs(g->gaps[r].gap.gap.mean) >= MUCH_OF_MOST * fabs(most) &&
		        !ht_gap_may_be_noise(&g->gaps[r].gap.gap))
			s->ranks[s->n_ranks++] = g->gaps[r].rank;
	if (!s->n_ranks)
		return;
	join_ranks(s, &cause);
	add(s, &cause);
}

/* ---- order ---- */

struct ranked {
	struct ht_cause cause;
	int level; /* GPU activity, CPU, consequence */
	double size;
};

static int by_importance(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->level != b->level)
		return a->level - b->level;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	const char *x = a->cause.name ? a->cause.name : "", *y = b->cause.name ? b->cause.name : "";
	return strcmp(x, y);
}

/* CPU time is a cause where GPU activity does not explain the change: beside it, it may cost nothing. So it is where the GPU idles. What goes the way of the step
 * comes before what goes the other way. */
static enum ht_status order(struct search *s)
{
	struct ht_causes *found = s->found;
	double sign = found->step.mean < 0 ? -1 : 1, on_device = 0, on_cpu = 0;
	struct ranked *list =
	        ht_arena_alloc(s->samples->run->scratch, (found->n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(s->samples->run->ctx);
	for (size_t i = 0; i < found->n; i++)
		if (!ht_cause_is_consequence(&found->list[i])) {
			double *most = found->list[i].kind == HT_CAUSE_CPU ? &on_cpu : &on_device;
			*most = fmax(*most, found->list[i].gap.mean * sign);
		}
	bool cpu_first = ht_cpu_comes_first(s->samples, fabs(found->step.mean), on_cpu, on_device);
	for (size_t i = 0; i < found->n; i++) {
		const struct ht_cause *cause = &found->list[i];
		bool is_against = cause->gap.mean * sign < 0;
		int level = ht_cause_is_consequence(cause)               ? 2
		            : (cause->kind == HT_CAUSE_CPU) != cpu_first ? 1
		                                                         : 0;
		list[i] = (struct ranked){ *cause, 2 * level + is_against, fabs(cause->gap.mean) };
	}
	qsort(list, found->n, sizeof *list, by_importance);
	for (size_t i = 0; i < found->n; i++)
		found->list[i] = list[i].cause;
	return HT_OK;
}

enum ht_status ht_causes_find(
        struct ht_step_samples *samples, size_t k_lines, struct ht_causes *ret_causes)
{
	struct ht_arena *scratch = samples->run->scratch;
	const struct ht_sample *step = samples->step_time;
	struct search s = { .samples = samples, .found = ret_causes };
	*ret_causes = (struct ht_causes){ .step = ht_sample_gap(
		                                  &step[0], &step[1], (struct ht_noise){ 0 }),
		.known_ns = ht_known_change(step),
		.list = ht_arena_alloc(scratch, MOST_CAUSES * sizeof *ret_causes->list) };
	HT_TRY(ht_rank_gaps_init(samples, 1, &s.gaps));
	s.sorted = ht_arena_alloc(scratch, (s.gaps.n + 1) * sizeof *s.sorted);
	s.ranks = ht_arena_alloc(scratch, (s.gaps.n + 1) * sizeof *s.ranks);
	if (!ret_causes->list || !s.sorted || !s.ranks)
		return ht_fail_nomem(samples->run->ctx);
	s.least_ns =
	        fmax(LEAST_OF_CHANGE * fabs(ret_causes->step.mean), LEAST_OF_STEP * step[0].mean);
	look_at_names(&s);
	look_at_transfer(&s);
	look_at_waits(&s);
	if (s.no_memory)
		return ht_fail_nomem(samples->run->ctx);
	for (size_t i = 0; i < ret_causes->n; i++) {
		struct ht_cause *cause = &ret_causes->list[i];
		if (cause->kind == HT_CAUSE_KERNEL || cause->kind == HT_CAUSE_COPY)
			cause->source = line_of(&s, k_lines, cause);
	}
	return order(&s);
}
