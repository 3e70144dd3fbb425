/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_replay.c - see ops.h: a job replayed, and how much of its slowdown each part explains.
 *
 *   ideal     of compute the mean over all lanes of the time from ready to end, of communication the median of it and of
 *             transfers (as a single-precision number)
 *   by part   T(ideal, but the part as recorded) / T(ideal)
 *   workers   the slowdown of a worker is the smaller of those of its data-parallel rank and its stage; the worst 3 % of them
 *             with ideal times instead of their own: how much of T - T(ideal) that takes away
 */
#include "base/arena.h"
#include "job/ops.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "job/batches.h"
#include "job/pairwise.h"
#include "model/numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of workers, at least one. */
#define WORST_PART 0.03
/* Less is not worth taking apart. */
#define MIN_SLOWDOWN 1.03

/* ---- replaying ---- */

/* As fmax of numbers that are never NAN, without its call. */
static double later(double a, double b)
{
	return a > b ? a : b;
}

static double ready_of(const struct ht_ops *job, const double *ends, uint32_t node)
{
	double ready = 0;
	for (uint32_t k = job->first_dep[node]; k < job->first_dep[node + 1]; k++)
		ready = later(ready, ends[job->deps[k]]);
	return ready;
}

/* Compute: most units are of one operation that waits for nobody else. */
static void replay_single(const struct ht_ops *job, size_t step, uint32_t node, const double *dur_s,
        double *ends, double *spans_s)
{
	for (size_t d = 0; d < job->n_data; d++) {
		double *lane = ends + d * job->n_nodes, ready = ready_of(job, lane, node);
		size_t at = ht_ops_at(job, step, d, node);
		lane[node] = ready + dur_s[at];
		if (spans_s)
			spans_s[at] = lane[node] - ready;
	}
}

/* The ends of a unit in one step; ends are by data rank and node. */
static void replay_unit(const struct ht_ops *job, size_t step, size_t unit, const double *dur_s,
        const double *transfer_s, double *ends, double *spans_s)
{
	const uint32_t *members = &job->members[job->first_member[unit]];
	size_t n = job->first_member[unit + 1] - job->first_member[unit];
	bool group = ht_ops_is_group(job, members[0]);
	bool across = ht_ops_is_across((enum ht_ops_type)job->nodes[members[0]].type);
	double latest = 0;
	if (n == 1 && !group) {
		replay_single(job, step, members[0], dur_s, ends, spans_s);
		return;
	}
	for (size_t d = 0; across && d < job->n_data; d++)
		for (size_t i = 0; i < n; i++)
			latest = later(latest, ready_of(job, ends + d * job->n_nodes, members[i]));
	for (size_t d = 0; d < job->n_data; d++) {
		double *lane = ends + d * job->n_nodes, begin = across ? latest : 0;
		for (size_t i = 0; i < n && !across; i++)
			begin = later(begin, ready_of(job, lane, members[i]));
		for (size_t i = 0; i < n; i++) {
			size_t at = ht_ops_at(job, step, d, members[i]);
			double ready = ready_of(job, lane, members[i]);
			double end = begin + (group ? transfer_s[at] : dur_s[at]);
			if (spans_s)
				spans_s[at] = end - ready;
			lane[members[i]] = end;
		}
	}
}

void ht_ops_replay(const struct ht_ops *job, const double *dur_s, const double *transfer_s,
        double *room, double *ret_steps_s, double *ret_spans_s)
{
	for (size_t s = 0; s < job->n_steps; s++) {
		double last = 0;
		for (size_t u = 0; u < job->n_units; u++)
			replay_unit(job, s, u, dur_s, transfer_s, room, ret_spans_s);
		for (size_t d = 0; d < job->n_data; d++)
			for (size_t i = 0; i < job->n_nodes; i++)
				if (job->nodes[i].type == HT_OPS_OPTIMIZER)
					last = fmax(last, room[d * job->n_nodes + i]);
		ret_steps_s[s] = last;
	}
}

/* ---- what explains it ---- */

struct analysis {
	const struct ht_ops *job;
	struct ht_arena *arena;
	double *dur_s, *transfer_s;             /* as recorded */
	double *spans_s;                        /* from ready to end, when replayed */
	double *ideal_dur_s, *ideal_transfer_s; /* of everything */
	double *ideal_spans_s;
	double *mixed_dur_s, *mixed_transfer_s; /* for one replay */
	double *room, *steps_s;
	double ideal_mean_s;
};

/* Neumaier's sum: the order of values does not matter. */
static double sum_of(const double *values, size_t n)
{
	double sum = 0, lost = 0;
	for (size_t i = 0; i < n; i++) {
		double next = sum + values[i];
		lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i]
		                                     : (values[i] - next) + sum;
		sum = next;
	}
	return sum + lost;
}

/* The sum of step times is that of NumPy: the last digits are those of the published results. */
static double replay_mean(
        struct analysis *a, const double *dur_s, const double *transfer_s, double *spans_s)
{
	ht_ops_replay(a->job, dur_s, transfer_s, a->room, a->steps_s, spans_s);
	return ht_pairwise_sum(a->steps_s, a->job->n_steps) / (double)a->job->n_steps;
}

static bool is_communication(uint8_t type)
{
	return type >= HT_OPS_FORWARD_SEND && type <= HT_OPS_CLIP;
}

/* The values of one type into a list. */
static size_t collect(const struct ht_ops *job, uint8_t type, const double *from, double *to)
{
	size_t n = 0, lanes = job->n_steps * job->n_data;
	for (size_t lane = 0; lane < lanes; lane++)
		for (size_t i = 0; i < job->n_nodes; i++)
			if (job->nodes[i].type == type)
				to[n++] = from[lane * job->n_nodes + i];
	return n;
}

static void find_ideal(struct analysis *a)
{
	const struct ht_ops *job = a->job;
	double dur[HT_OPS_N_TYPES] = { 0 }, transfer[HT_OPS_N_TYPES] = { 0 };
	for (uint8_t type = 0; type < HT_OPS_N_TYPES; type++) {
		size_t n = collect(job, type, a->spans_s, a->mixed_dur_s);
		if (!n)
			continue;
		if (!is_communication(type)) {
			dur[type] = sum_of(a->mixed_dur_s, n) / (double)n;
			continue;
		}
		dur[type] = ht_middle_f64(a->mixed_dur_s, n, a->mixed_dur_s);
		collect(job, type, a->transfer_s, a->mixed_dur_s);
		transfer[type] = (float)ht_middle_f64(a->mixed_dur_s, n, a->mixed_dur_s);
	}
	for (size_t i = 0; i < ht_ops_n_values(job); i++) {
		uint8_t type = job->nodes[i % job->n_nodes].type;
		a->ideal_dur_s[i] = dur[type];
		a->ideal_transfer_s[i] = transfer[type];
	}
}

/* Everything ideal but some types (a bit each) and stages (-1: all). Ideal are the times as replayed: rounded where they stand,
 * which the last digits of the published results show. */
static double slowdown_of(struct analysis *a, uint32_t types, int64_t stage)
{
	const struct ht_ops *job = a->job;
	for (size_t first = 0; first < ht_ops_n_values(job); first += job->n_nodes) {
		for (size_t k = 0; k < job->n_nodes; k++) {
			const struct ht_ops_node *node = &job->nodes[k];
			bool own = (types >> node->type & 1) && (stage < 0 || node->stage == stage);
			size_t i = first + k;
			a->mixed_dur_s[i] = own ? a->dur_s[i] : a->ideal_spans_s[i];
			a->mixed_transfer_s[i] = own ? a->transfer_s[i] : a->ideal_transfer_s[i];
		}
	}
	return replay_mean(a, a->mixed_dur_s, a->mixed_transfer_s, NULL) / a->ideal_mean_s;
}

/* Everything ideal but one data-parallel rank. Ideal lanes are all the same: one of them stands for the others. */
static double slowdown_of_data(struct analysis *a, size_t data)
{
	const struct ht_ops *job = a->job;
	struct ht_ops two = *job;
	two.n_data = job->n_data > 1 ? 2 : 1;
	for (size_t s = 0; s < job->n_steps; s++) {
		size_t own = ht_ops_at(job, s, data, 0), to = ht_ops_at(&two, s, 0, 0);
		size_t n_bytes = job->n_nodes * sizeof(double);
		memcpy(a->mixed_dur_s + to, a->dur_s + own, n_bytes);
		memcpy(a->mixed_transfer_s + to, a->transfer_s + own, n_bytes);
		if (two.n_data == 1)
			continue;
		memcpy(a->mixed_dur_s + to + job->n_nodes, a->ideal_spans_s + own, n_bytes);
		memcpy(a->mixed_transfer_s + to + job->n_nodes, a->ideal_transfer_s + own, n_bytes);
	}
	ht_ops_replay(&two, a->mixed_dur_s, a->mixed_transfer_s, a->room, a->steps_s, NULL);
	return ht_pairwise_sum(a->steps_s, job->n_steps) / (double)job->n_steps / a->ideal_mean_s;
}

/* Step time with ideal times for some workers (by data rank and stage), or for all the others. */
static double with_ideal(struct analysis *a, const bool *workers, bool for_these)
{
	const struct ht_ops *job = a->job;
	for (size_t lane = 0; lane < job->n_steps * job->n_data; lane++) {
		const bool *own = workers + lane % job->n_data * (size_t)job->shape.n_stages;
		for (size_t k = 0; k < job->n_nodes; k++) {
			bool ideal = own[job->nodes[k].stage] == for_these;
			size_t i = lane * job->n_nodes + k;
			a->mixed_dur_s[i] = ideal ? a->ideal_spans_s[i] : a->spans_s[i];
			a->mixed_transfer_s[i] = ideal ? a->ideal_transfer_s[i] : a->transfer_s[i];
		}
	}
	return replay_mean(a, a->mixed_dur_s, a->mixed_transfer_s, NULL);
}

static struct ht_ops_share share_of(
        struct analysis *a, const struct ht_ops_slowdown *s, const bool *workers)
{
	double lost = s->time_s - s->ideal_s, left = with_ideal(a, workers, true);
	return (struct ht_ops_share){ (s->time_s - left) / lost, left,
		(with_ideal(a, workers, false) - s->ideal_s) / lost };
}

struct worker {
	double slowdown;
	int64_t rank;
	size_t at; /* data rank and stage */
};

static int compare_workers(const void *left, const void *right)
{
	const struct worker *a = left, *b = right;
	int order = (a->slowdown < b->slowdown) - (a->slowdown > b->slowdown);
	return order ? order : ht_order_i64(a->rank, b->rank);
}

double ht_ops_of_worker(const struct ht_ops_slowdown *s, size_t data, size_t stage)
{
	return fmin(s->by_data[data], s->by_stage[stage]);
}

static bool find_worst(struct analysis *a, struct ht_ops_slowdown *ret)
{
	const struct ht_ops *job = a->job;
	size_t n_stages = (size_t)job->shape.n_stages, n = job->n_data * n_stages;
	struct worker *list = ht_arena_alloc(a->arena, n * sizeof *list);
	bool *chosen = ht_arena_alloc(a->arena, n);
	ret->n_worst = (size_t)ceil(WORST_PART * (double)n);
	ret->worst_ranks = ht_arena_alloc(a->arena, ret->n_worst * sizeof(int64_t));
	ret->worst_slowdowns = ht_arena_alloc(a->arena, ret->n_worst * sizeof(double));
	if (!list || !chosen || !ret->worst_ranks || !ret->worst_slowdowns)
		return false;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct worker){ ht_ops_of_worker(ret, i / n_stages, i % n_stages),
			job->ranks[i], i };
	qsort(list, n, sizeof *list, compare_workers);
	for (size_t i = 0; i < ret->n_worst; i++) {
		chosen[list[i].at] = true;
		ret->worst_ranks[i] = list[i].rank;
		ret->worst_slowdowns[i] = list[i].slowdown;
	}
	ret->is_decomposed = ret->time_s >= MIN_SLOWDOWN * ret->ideal_s;
	if (!ret->is_decomposed)
		return true;
	ret->worst = share_of(a, ret, chosen);
	for (size_t i = 0; i < n; i++)
		chosen[i] = i % n_stages == n_stages - 1;
	ret->last = share_of(a, ret, chosen);
	return true;
}

static bool find_parts(struct analysis *a, struct ht_ops_slowdown *ret)
{
	const struct ht_ops *job = a->job;
	uint32_t seen = 0;
	for (size_t i = 0; i < job->n_nodes; i++)
		seen |= 1u << job->nodes[i].type;
	for (int type = 0; type < HT_OPS_N_TYPES; type++) {
		uint32_t types = 1u << type;
		if (type == HT_OPS_FORWARD_SEND || type == HT_OPS_BACKWARD_SEND)
			types |= 2u << type;
		bool is_merged = type == HT_OPS_FORWARD_RECV || type == HT_OPS_BACKWARD_RECV;
		ret->by_type[type] = (seen & types) && !is_merged ? slowdown_of(a, types, -1) : NAN;
	}
	for (size_t d = 0; d < job->n_data; d++)
		ret->by_data[d] = slowdown_of_data(a, d);
	for (int64_t s = 0; s < job->shape.n_stages; s++)
		ret->by_stage[s] = slowdown_of(a, UINT32_MAX, s);
	return find_worst(a, ret);
}

/* A mean that grows. */
struct mean {
	double sum, n;
};

static void add(struct mean *mean, double value)
{
	mean->sum += value;
	mean->n++;
}

static double value_of(const struct mean *mean)
{
	return mean->n > 0 ? mean->sum / mean->n : 0;
}

static uint64_t place_of(const struct ht_ops_node *node)
{
	return ht_hash_mix((uint64_t)node->stage + 1, (uint64_t)node->seq);
}

/* By node: 1 + the backward pass of a batch, which has the place among those of its stage that the forward pass has; 0: none. */
static bool pair_passes(struct analysis *a, uint32_t *backward_1)
{
	const struct ht_ops *job = a->job;
	uint64_t *keys = ht_arena_room(a->arena, job->n_nodes * sizeof *keys);
	uint32_t *order = ht_arena_room(a->arena, job->n_nodes * sizeof *order);
	size_t n = 0;
	if (!keys || !order)
		return false;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		if (job->nodes[i].type != HT_OPS_BACKWARD)
			continue;
		keys[n] = place_of(&job->nodes[i]);
		order[n++] = i;
	}
	if (!ht_sort_keys(a->arena->mem, keys, order, n))
		return false;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		const struct ht_ops_node *node = &job->nodes[i];
		uint64_t key = place_of(node);
		size_t at = HT_LOWER_BOUND(k, n, keys[k] < key);
		if (node->type == HT_OPS_FORWARD && at < n &&
		        job->nodes[order[at]].stage == node->stage &&
		        job->nodes[order[at]].seq == node->seq)
			backward_1[i] = order[at] + 1;
	}
	return true;
}

/* What passes take on each stage, and then every batch of every worker over that. */
static bool find_batches(struct analysis *a, bool *ret_uneven)
{
	const struct ht_ops *job = a->job;
	size_t n_stages = (size_t)job->shape.n_stages, n_lanes = job->n_steps * job->n_data;
	struct ht_batches batches = { 0 };
	uint32_t *backward_1 = ht_arena_alloc(a->arena, job->n_nodes * sizeof *backward_1);
	struct mean *forward = ht_arena_alloc(a->arena, n_stages * sizeof *forward);
	struct mean *backward = ht_arena_alloc(a->arena, n_stages * sizeof *backward);
	struct mean *workers = ht_arena_alloc(a->arena, job->n_data * n_stages * sizeof *workers);
	if (!backward_1 || !forward || !backward || !workers || !pair_passes(a, backward_1))
		return false;
	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t lane = 0; lane < n_lanes; lane++) {
			const float *dur_s = job->dur_s + lane * job->n_nodes;
			struct mean *own = workers + lane % job->n_data * n_stages;
			for (uint32_t i = 0; i < job->n_nodes; i++) {
				size_t k = (size_t)job->nodes[i].stage;
				if (!backward_1[i])
					continue;
				double x = dur_s[i], y = dur_s[backward_1[i] - 1];
				if (!pass) {
					add(&forward[k], x);
					add(&backward[k], y);
				} else if (forward[k].sum > 0 && backward[k].sum > 0) {
					x /= value_of(&forward[k]);
					add(&own[k], x);
					ht_batches_add(&batches, x, y / value_of(&backward[k]));
				}
			}
		}
	}
	for (size_t i = 0; i < job->n_data * n_stages; i++)
		if (workers[i].n > 0)
			ht_batches_add_worker(&batches, value_of(&workers[i]));
	*ret_uneven = ht_batches_differ(&batches);
	return true;
}

/* As recorded a step ends with its last operation; starts count from its first. */
static double recorded_mean(struct analysis *a)
{
	const struct ht_ops *job = a->job;
	size_t per_step = job->n_data * job->n_nodes;
	for (size_t s = 0; s < job->n_steps; s++) {
		float last = 0;
		for (size_t i = s * per_step; i < (s + 1) * per_step; i++)
			last = fmaxf(last, job->start_s[i] + job->dur_s[i]);
		a->steps_s[s] = last;
	}
	return ht_pairwise_sum(a->steps_s, job->n_steps) / (double)job->n_steps;
}

static bool make_room(struct analysis *a)
{
	double **lists[] = { &a->dur_s, &a->transfer_s, &a->spans_s, &a->ideal_dur_s,
		&a->ideal_transfer_s, &a->ideal_spans_s, &a->mixed_dur_s, &a->mixed_transfer_s };
	for (size_t i = 0; i < HT_COUNT(lists); i++)
		if (!(*lists[i] = ht_arena_room(
		              a->arena, ht_ops_n_values(a->job) * sizeof(double))))
			return false;
	a->room = ht_arena_alloc(a->arena, a->job->n_data * a->job->n_nodes * sizeof(double));
	a->steps_s = ht_arena_alloc(a->arena, a->job->n_steps * sizeof(double));
	return a->room && a->steps_s;
}

enum ht_status ht_ops_slowdown_find(
        ht_ctx *ctx, const struct ht_ops *job, struct ht_arena *arena, struct ht_ops_slowdown *ret)
{
	struct analysis a = { .job = job, .arena = arena };
	*ret = (struct ht_ops_slowdown){ 0 };
	ret->by_data = ht_arena_alloc(arena, job->n_data * sizeof(double));
	ret->by_stage = ht_arena_alloc(arena, (size_t)job->shape.n_stages * sizeof(double));
	ret->steps_s = ht_arena_alloc(arena, job->n_steps * sizeof(double));
	if (!make_room(&a) || !ret->by_data || !ret->by_stage || !ret->steps_s)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < ht_ops_n_values(job); i++) {
		a.dur_s[i] = job->dur_s[i];
		a.transfer_s[i] = job->transfer_s[i];
	}
	ret->recorded_s = recorded_mean(&a);
	ret->time_s = replay_mean(&a, a.dur_s, a.transfer_s, a.spans_s);
	memcpy(ret->steps_s, a.steps_s, job->n_steps * sizeof(double));
	find_ideal(&a);
	ret->ideal_s = a.ideal_mean_s =
	        replay_mean(&a, a.ideal_dur_s, a.ideal_transfer_s, a.ideal_spans_s);
	if (!(ret->ideal_s > 0))
		return ht_fail(ctx, HT_FORMAT, NULL, -1,
		        "a step ends with its operations 'optimizer'",
		        "the steps have no length: no operation 'optimizer' takes time or waits for any");
	return find_parts(&a, ret) && find_batches(&a, &ret->has_uneven_batches)
	               ? HT_OK
	               : ht_fail_nomem(ctx);
}
