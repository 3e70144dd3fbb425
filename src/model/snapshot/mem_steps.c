/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_steps.c - see mem_steps.h.
 */
#include "model/snapshot/mem_steps.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <stdlib.h>
#include <string.h>

#define MIN_STEPS       4
#define MIN_GROWTH      ((int64_t)1 << 20)
#define MAX_PAIRS_STEPS 256 /* of more steps some are looked at, evenly */
#define MAX_STEPS       100000
#define MAX_EMPTY_STEPS ((size_t)1 << 22) /* of all devices together */

static const char no_steps[] = "none: no annotation names steps";

/* ---- steps ---- */

/* A name without its one number: where that stands. False when there is none, or several. */
static bool find_number(const char *name, size_t *ret_at, size_t *ret_n, int64_t *ret_number)
{
	size_t n_found = 0;
	for (const char *at = name; *at;) {
		if (*at < '0' || *at > '9') {
			at++;
			continue;
		}
		size_t n = strspn(at, "0123456789");
		if (n > 15)
			return false;
		*ret_at = (size_t)(at - name);
		*ret_n = n;
		*ret_number = strtoll(at, NULL, 10);
		n_found++;
		at += n;
	}
	return n_found == 1;
}

struct candidate {
	uint32_t scope;
	size_t at, n;
	int64_t number;
	uint64_t key; /* hash of the rest of the name */
};

static int by_key(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

/* Of one key, in order of time: do numbers rise? */
static bool is_rising(const struct candidate *list, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (list[i].number <= list[i - 1].number)
			return false;
	return n >= 2;
}

static size_t list_candidates(struct ht_run *run, const struct ht_mem_scopes *scopes,
        struct candidate *list, bool *is_profiler)
{
	size_t n = 0;
	*is_profiler = false;
	for (uint32_t i = 0; i < scopes->n; i++) {
		const char *name = ht_str(run->trace, scopes->list[i].name);
		struct candidate c = { .scope = i };
		if (scopes->list[i].end_ns == INT64_MAX ||
		        !find_number(name, &c.at, &c.n, &c.number))
			continue;
		bool is_step = ht_text_starts(name, "ProfilerStep#");
		if (is_step && !*is_profiler)
			n = 0;
		*is_profiler |= is_step;
		if (*is_profiler && !is_step)
			continue;
		c.key = ht_hash_mix(
		        ht_hash(name, c.at), ht_hash(name + c.at + c.n, strlen(name + c.at + c.n)));
		list[n++] = c;
	}
	return n;
}

enum ht_status ht_mem_steps_list(
        struct ht_run *run, const struct ht_mem_scopes *scopes, struct ht_mem_steps *ret_steps)
{
	struct candidate *list = ht_arena_room(run->scratch, (scopes->n + 1) * sizeof *list);
	struct ht_mem_step *steps = ht_arena_room(run->scratch, (scopes->n + 1) * sizeof *steps);
	bool is_profiler;
	if (!list || !steps)
		return ht_fail_nomem(run->ctx);
	size_t n = list_candidates(run, scopes, list, &is_profiler), best = 0, n_best = 0;
	qsort(list, n, sizeof *list, by_key);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].key == list[i].key;)
			end++;
		if (end - i > n_best && is_rising(list + i, end - i)) {
			best = i;
			n_best = end - i;
		}
	}
	*ret_steps = (struct ht_mem_steps){ steps, n_best,
		is_profiler ? "ProfilerStep" : "annotations with a rising number" };
	for (size_t i = 0; i < n_best; i++)
		steps[i] = (struct ht_mem_step){ .number = list[best + i].number,
			.end_ns = scopes->list[list[best + i].scope].end_ns };
	if (n_best)
		return HT_OK;
	for (uint32_t i = 0; i < scopes->n; i++)
		if (ht_text_starts(ht_str(run->trace, scopes->list[i].name), "Optimizer.step#") &&
		        scopes->list[i].end_ns != INT64_MAX) {
			steps[ret_steps->n] = (struct ht_mem_step){ .number = (int64_t)ret_steps->n,
				.end_ns = scopes->list[i].end_ns };
			ret_steps->n++;
		}
	ret_steps->what = ret_steps->n ? "ends of Optimizer.step" : no_steps;
	return HT_OK;
}

/* Steps of a device that has fewer events are mostly empty: of a few devices they are shown all the same. */
static bool are_too_many(
        size_t n_steps, const struct ht_mem_history *h, const struct ht_mem_device *d)
{
	return n_steps > (size_t)(d->end - d->first) && n_steps > MAX_EMPTY_STEPS / h->n_devices;
}

/* How many pieces of a length there are; all but the last are steps. */
static size_t count_pieces(
        const struct ht_mem_event *events, const struct ht_mem_device *d, int64_t every_ns)
{
	int64_t first_ns = events[d->first].time_ns, last_ns = events[d->end - 1].time_ns;
	int64_t n =
	        first_ns == HT_NO_I64 || last_ns < first_ns ? 0 : (last_ns - first_ns) / every_ns;
	return (size_t)(n < MAX_STEPS ? n : MAX_STEPS);
}

enum ht_status ht_mem_steps_of(struct ht_run *run, const struct ht_mem_steps *all,
        const struct ht_mem_history *h, const struct ht_mem_device *d, int64_t every_ns,
        struct ht_mem_steps *ret_steps)
{
	const struct ht_mem_event *events = run->trace->more->mem_events;
	size_t n_events = (size_t)(d->end - d->first);
	*ret_steps = (struct ht_mem_steps){ .what = no_steps };
	if (!n_events)
		return HT_OK;
	size_t n = every_ns > 0 ? count_pieces(events, d, every_ns) : all->n;
	ret_steps->what = every_ns > 0 ? "pieces of equal length" : all->what;
	if (are_too_many(n, h, d)) {
		ret_steps->what = "none: fewer events than steps, of many devices";
		return HT_OK;
	}
	ret_steps->list = ht_arena_room(run->scratch, (n + 1) * sizeof *ret_steps->list);
	if (!ret_steps->list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		struct ht_mem_step step = every_ns > 0 ? (struct ht_mem_step){ .number = (int64_t)i,
			.end_ns = events[d->first].time_ns + ((int64_t)i + 1) * every_ns }
		                                       : all->list[i];
		size_t at = HT_LOWER_BOUND(
		        k, n_events, events[d->first + (int64_t)k].time_ns <= step.end_ns);
		step.last = d->first + (int64_t)at - 1;
		ret_steps->list[ret_steps->n++] = step;
	}
	const struct ht_mem_step *end = ret_steps->list + ret_steps->n;
	/* the profiler begins another step after the last, in which nothing happens */
	if (every_ns <= 0 && ret_steps->n > 1 && end[-1].last == end[-2].last)
		ret_steps->n--;
	return HT_OK;
}

/* ---- leaks ---- */

/* A life that is there at the end of some step: from step a on, before step b. Bytes are those that were asked for: by how much the
 * allocator rounds a block up depends on what was free. */
struct stay {
	uint32_t stack, a, b;
	uint32_t frame; /* the user's own, HT_NONE */
	int64_t size;
};

static int by_stack(const void *x, const void *y)
{
	const struct stay *a = x, *b = y;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static int by_frame(const void *x, const void *y)
{
	const struct stay *a = x, *b = y;
	return a->frame != b->frame ? (a->frame > b->frame) - (a->frame < b->frame)
	                            : by_stack(x, y);
}

static uint32_t step_from(const struct ht_mem_steps *steps, int64_t k)
{
	return (uint32_t)HT_LOWER_BOUND(i, steps->n, steps->list[i].last < k);
}

static int compare_doubles(const void *x, const void *y)
{
	return ht_compare_f64(x, y);
}

/* The median of the slopes between all pairs. slopes has room for them. */
static double median_slope(const int64_t *held, size_t n, double *slopes)
{
	size_t n_slopes = 0, stride = n / MAX_PAIRS_STEPS + 1;
	for (size_t i = 0; i < n; i += stride)
		for (size_t k = i + stride; k < n; k += stride)
			slopes[n_slopes++] = (double)(held[k] - held[i]) / (double)(k - i);
	if (!n_slopes)
		return 0;
	qsort(slopes, n_slopes, sizeof *slopes, compare_doubles);
	return n_slopes % 2 ? slopes[n_slopes / 2]
	                    : (slopes[n_slopes / 2 - 1] + slopes[n_slopes / 2]) / 2;
}

struct leaking {
	const struct ht_mem_device *d;
	const struct ht_mem_steps *steps;
	int64_t *held; /* by step */
	double *slopes;
};

/* Whether more than half of what had piled up since the first step is released again: a cache that is emptied now and then. */
static bool gives_back(const int64_t *held, size_t n)
{
	int64_t most = held[0];
	for (size_t i = 1; i < n; i++) {
		int64_t piled = most - held[0];
		if (piled >= MIN_GROWTH && held[i] - held[0] < piled / 2)
			return true;
		most = held[i] > most ? held[i] : most;
	}
	return false;
}

/* Each step that grows has a block of its own: with too few of them there is no need to go through the steps. */
static bool are_too_few(size_t n_stays, size_t n_steps)
{
	return 5 * n_stays < 4 * (n_steps - 1);
}

/* Stays of one stack, or of one line: do they pile up? */
static bool look_at(
        const struct leaking *l, const struct stay *stays, size_t n, struct ht_mem_leak *ret_leak)
{
	size_t n_steps = l->steps->n;
	int64_t n_growing = 0, limit = l->d->peak_allocated / 200;
	if (are_too_few(n, n_steps))
		return false;
	memset(l->held, 0, (n_steps + 1) * sizeof *l->held);
	*ret_leak = (struct ht_mem_leak){ .stack = stays[0].stack, .n_steps = (int64_t)n_steps };
	for (size_t i = 0; i < n; i++) {
		l->held[stays[i].a] += stays[i].size;
		l->held[stays[i].b] -= stays[i].size;
		ret_leak->blocks += stays[i].a > 0 && stays[i].b == n_steps;
	}
	for (size_t i = 1; i < n_steps; i++) {
		n_growing += l->held[i] > 0;
		l->held[i] += l->held[i - 1];
	}
	if (gives_back(l->held, n_steps))
		return false;
	ret_leak->first_bytes = l->held[0];
	ret_leak->last_bytes = l->held[n_steps - 1];
	ret_leak->n_growing = n_growing;
	int64_t growth = ret_leak->last_bytes - ret_leak->first_bytes;
	if (growth < MIN_GROWTH || growth < limit || 5 * n_growing < 4 * (int64_t)(n_steps - 1))
		return false;
	ret_leak->bytes_per_step = median_slope(l->held, n_steps, l->slopes);
	return ret_leak->bytes_per_step > 0;
}

static int by_slope(const void *x, const void *y)
{
	const struct ht_mem_leak *a = x, *b = y;
	int order = ht_compare_f64(&b->bytes_per_step, &a->bytes_per_step);
	return order ? order : (a->stack > b->stack) - (a->stack < b->stack);
}

/* The stack that holds most at the end, of stays that are by stack. */
static uint32_t main_stack(const struct stay *stays, size_t n, uint32_t n_steps)
{
	uint32_t stack = stays[0].stack;
	int64_t most = 0, held = 0;
	for (size_t i = 0; i < n; i++) {
		held = i && stays[i].stack == stays[i - 1].stack ? held : 0;
		held += stays[i].b == n_steps ? stays[i].size : 0;
		if (held > most) {
			most = held;
			stack = stays[i].stack;
		}
	}
	return stack;
}

/* By stack; what does not leak so moves to the front, and its number is left. */
static size_t find_stacks(
        const struct leaking *l, struct stay *stays, size_t *n, struct ht_mem_leak *leaks)
{
	size_t n_leaks = 0, n_left = 0;
	qsort(stays, *n, sizeof *stays, by_stack);
	for (size_t i = 0, end; i < *n; i = end) {
		for (end = i + 1; end < *n && stays[end].stack == stays[i].stack;)
			end++;
		if (look_at(l, stays + i, end - i, &leaks[n_leaks])) {
			n_leaks++;
			continue;
		}
		memmove(stays + n_left, stays + i, (end - i) * sizeof *stays);
		n_left += end - i;
	}
	*n = n_left;
	return n_leaks;
}

/* By the user's own line: what is around a call may differ from step to step, with a profiler that is on in some of them or code that is
 * compiled again. */
static size_t find_lines(const struct ht_trace *t, const struct leaking *l, struct stay *stays,
        size_t n, struct ht_mem_leak *leaks)
{
	size_t n_leaks = 0;
	/* they are by stack, and a stack takes a while to look through */
	for (size_t i = 0; i < n; i++)
		stays[i].frame = i && stays[i].stack == stays[i - 1].stack
		                         ? stays[i - 1].frame
		                         : ht_mem_user_frame(t, stays[i].stack);
	qsort(stays, n, sizeof *stays, by_frame);
	for (size_t i = 0, end; i < n && stays[i].frame != HT_NONE; i = end) {
		for (end = i + 1; end < n && stays[end].frame == stays[i].frame;)
			end++;
		if (!look_at(l, stays + i, end - i, &leaks[n_leaks]))
			continue;
		leaks[n_leaks++].stack = main_stack(stays + i, end - i, (uint32_t)l->steps->n);
	}
	return n_leaks;
}

enum ht_status ht_mem_leaks_find(struct ht_run *run, const struct ht_mem_device *d,
        const struct ht_mem_steps *steps, struct ht_mem_leak **ret_leaks, size_t *ret_n)
{
	struct leaking l = { .d = d, .steps = steps };
	size_t n_stays = 0, n_leaks = 0;
	size_t n_pairs = (size_t)MAX_PAIRS_STEPS * (MAX_PAIRS_STEPS + 2);
	*ret_n = 0;
	*ret_leaks = NULL;
	if (steps->n < MIN_STEPS)
		return HT_OK;
	struct stay *stays = ht_arena_room(run->scratch, (d->n_lives + 1) * sizeof *stays);
	if (!stays)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct ht_mem_life *life = &d->lives[i];
		struct stay stay = { life->stack, step_from(steps, life->alloc),
			step_from(steps, life->free_requested), HT_NONE, life->requested };
		if (stay.a < stay.b)
			stays[n_stays++] = stay;
	}
	if (are_too_few(n_stays, steps->n))
		return HT_OK;
	struct ht_mem_leak *leaks = ht_arena_room(run->scratch, (n_stays + 1) * sizeof *leaks);
	l.held = ht_arena_room(run->scratch, (steps->n + 1) * sizeof *l.held);
	l.slopes = ht_mem_alloc(run->ctx->mem, n_pairs * sizeof *l.slopes);
	if (leaks && l.held && l.slopes) {
		n_leaks = find_stacks(&l, stays, &n_stays, leaks);
		n_leaks += find_lines(run->trace, &l, stays, n_stays, leaks + n_leaks);
	}
	ht_mem_free(run->ctx->mem, l.slopes, n_pairs * sizeof *l.slopes);
	if (!leaks || !l.held || !l.slopes)
		return ht_fail_nomem(run->ctx);
	qsort(leaks, n_leaks, sizeof *leaks, by_slope);
	*ret_leaks = leaks;
	*ret_n = n_leaks;
	return HT_OK;
}
