/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_slowdown.c - whose slowdown it is: the step time when all but some of a job is ideal. See what_if_steps.h.
 *
 * The published method works on phases of workers; here a phase of a rank in a step is all of its CPU time, or all of its GPU activity,
 * that belongs to the forward pass, the backward pass or the optimizer. Ideal is its mean over ranks and steps: every piece of it takes
 * that much more or less. The ideal transfer of a collective is the median of its kind, size and bytes.
 */
#include "job/what_if_steps.h"

#include "base/hash.h"
#include "base/sort.h"
#include "job/batches.h"
#include "job/what_if_job.h"
#include "model/communication/collective_match.h"
#include "model/numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks whose slowdown is replayed, those with the most first, and the share that is the worst. */
#define N_RANKS_JUDGED 64
#define WORST_SHARE    0.03

enum { FORWARD, BACKWARD, OPTIMIZER, N_PHASES };
/* A kind of time: a phase on the CPU or on the GPU, or transfers. */
enum { OF_CPU, OF_GPU = N_PHASES, TRANSFERS = 2 * N_PHASES, N_KINDS };
#define ALL_KINDS ((1u << N_KINDS) - 1)

struct slowdown {
	struct ht_what_if_job *a;
	size_t n_cells;   /* ranks times windows */
	double *totals;   /* by kind of phase, rank and window */
	float *factors;   /* the same: what makes it ideal */
	double *transfer; /* by node of a collective: its ideal */
	double *excess;   /* by rank: over all ideals */
};

static unsigned kind_of(const struct ht_event_job *job, uint32_t node)
{
	unsigned flags = job->flags[node];
	if (job->unit[node] != HT_NONE)
		return TRANSFERS;
	unsigned phase = flags & HT_EVENT_OPTIMIZER  ? OPTIMIZER
	                 : flags & HT_EVENT_BACKWARD ? BACKWARD
	                                             : FORWARD;
	return (flags & HT_EVENT_WORK ? OF_GPU : OF_CPU) + phase;
}

static size_t cell_of(const struct slowdown *s, unsigned kind, uint32_t node)
{
	const struct ht_event_job *job = &s->a->job;
	return kind * s->n_cells + job->i_rank[node] * job->n_windows + job->step[node];
}

/* ---- ideals ---- */

static void find_factors(struct slowdown *s)
{
	const struct ht_event_job *job = &s->a->job;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		unsigned kind = kind_of(job, i);
		if (kind != TRANSFERS && job->step[i] != HT_NONE)
			s->totals[cell_of(s, kind, i)] += job->dur[i];
	}
	for (unsigned kind = 0; kind < TRANSFERS; kind++) {
		const double *totals = s->totals + kind * s->n_cells;
		double sum = 0, ideal;
		size_t n = 0;
		for (size_t i = 0; i < s->n_cells; i++)
			/* the first window stays as it was recorded */
			if (totals[i] > 0 && (job->n_windows == 1 || i % job->n_windows)) {
				sum += totals[i];
				n++;
			}
		ideal = n ? sum / (double)n : 0;
		for (size_t i = 0; i < s->n_cells; i++) {
			s->factors[kind * s->n_cells + i] =
			        totals[i] > 0 ? (float)(ideal / totals[i]) : 1;
			if (totals[i] > 0)
				s->excess[i / job->n_windows] += totals[i] - ideal;
		}
	}
}

static uint64_t key_of_kind(const struct ht_event_unit *unit)
{
	int64_t key[3] = { unit->of->kind, unit->n, unit->of->bytes };
	return ht_hash(key, sizeof key);
}

static uint64_t key_of_group(const struct ht_event_unit *unit)
{
	return ht_hash(unit->of->group, strlen(unit->of->group));
}

/* Collectives with equal keys stand together. Memory in scratch. */
static enum ht_status order_units(const struct slowdown *s,
        uint64_t (*key_of)(const struct ht_event_unit *), uint64_t **ret_keys, uint32_t **ret_order)
{
	const struct ht_event_job *job = &s->a->job;
	struct ht_arena *scratch = s->a->run->scratch;
	uint64_t *keys = ht_arena_room(scratch, (job->n_units + (size_t)1) * sizeof *keys);
	uint32_t *order = ht_arena_room(scratch, (job->n_units + (size_t)1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(s->a->run->ctx);
	for (uint32_t u = 0; u < job->n_units; u++) {
		keys[u] = key_of(&job->units[u]);
		order[u] = u;
	}
	*ret_keys = keys;
	*ret_order = order;
	return ht_sort_keys(s->a->run->ctx->mem, keys, order, job->n_units)
	               ? HT_OK
	               : ht_fail_nomem(s->a->run->ctx);
}

/* A collective has the median of those of its kind, size and bytes. */
static enum ht_status find_transfers(struct slowdown *s)
{
	struct ht_event_job *job = &s->a->job;
	double *values =
	        ht_arena_room(s->a->run->scratch, 2 * (job->n_units + (size_t)1) * sizeof *values);
	uint64_t *keys;
	uint32_t *order;
	if (!values)
		return ht_fail_nomem(s->a->run->ctx);
	HT_TRY(order_units(s, key_of_kind, &keys, &order));
	for (size_t i = 0, end; i < job->n_units; i = end) {
		for (end = i; end < job->n_units && keys[end] == keys[i]; end++)
			values[end - i] = ht_event_unit_transfer(job, &job->units[order[end]]);
		double ideal = ht_middle_f64(values, end - i, values + (end - i));
		for (size_t k = i; k < end; k++) {
			const struct ht_event_unit *unit = &job->units[order[k]];
			for (uint32_t m = 0; m < unit->n; m++)
				s->transfer[job->members[unit->first + m]] = ideal;
		}
	}
	return HT_OK;
}

static enum ht_status make(struct ht_what_if_job *a, struct slowdown *ret)
{
	size_t n = a->job.n_ranks * a->job.n_windows;
	struct ht_arena *scratch = a->run->scratch;
	*ret = (struct slowdown){ .a = a,
		.n_cells = n,
		.totals = ht_arena_alloc(scratch, (TRANSFERS * n + 1) * sizeof(double)),
		.factors = ht_arena_alloc(scratch, (TRANSFERS * n + 1) * sizeof(float)),
		.transfer = ht_arena_alloc(scratch, (a->job.n_nodes + (size_t)1) * sizeof(double)),
		.excess = ht_arena_alloc(scratch, (a->job.n_ranks + 1) * sizeof(double)) };
	if (!ret->totals || !ret->factors || !ret->transfer || !ret->excess)
		return ht_fail_nomem(a->run->ctx);
	find_factors(ret);
	return find_transfers(ret);
}

/* ---- replays ---- */

/* Mean step time when time of these kinds on ranks of a set (NULL: all) is as recorded and all else is ideal, or the other way round. */
static double replay(struct slowdown *s, const bool *of_rank, unsigned kinds, bool is_ideal)
{
	struct ht_event_editor *e = &s->a->editor;
	const struct ht_event_job *job = &s->a->job;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		unsigned kind = kind_of(job, i);
		bool is_in = (!of_rank || of_rank[job->i_rank[i]]) && (kinds >> kind & 1);
		if (is_in != is_ideal || job->step[i] == HT_NONE)
			continue;
		if (kind == TRANSFERS)
			e->dur[i] = s->transfer[i];
		else
			ht_event_scale(e, i, s->factors[cell_of(s, kind, i)]);
	}
	return ht_what_if_replay(s->a);
}

/* How much of the slowdown goes when the ranks of a set are ideal, and comes when they alone are not. */
static struct ht_what_if_share find_share(
        struct slowdown *s, const struct ht_what_if_slowdown *of, const bool *of_rank)
{
	double lost = of->time_ns - of->ideal_ns, left = replay(s, of_rank, ALL_KINDS, true);
	return (struct ht_what_if_share){ (of->time_ns - left) / lost,
		(replay(s, of_rank, ALL_KINDS, false) - of->ideal_ns) / lost, left };
}

/* Slowdown of the ranks that can have one, and the share of the worst of them. */
static enum ht_status find_workers(struct slowdown *s, struct ht_what_if_slowdown *ret)
{
	size_t n = s->a->job.n_ranks;
	struct ht_what_if_excess *order =
	        ht_arena_alloc(s->a->run->scratch, (n + 1) * sizeof *order);
	bool *of = ht_arena_alloc(s->a->run->scratch, n + 1);
	ret->of_part = ht_arena_alloc(s->a->run->scratch, (n + 1) * sizeof *ret->of_part);
	ret->is_worst = ht_arena_alloc(s->a->run->scratch, n + 1);
	if (!order || !of || !ret->of_part || !ret->is_worst)
		return ht_fail_nomem(s->a->run->ctx);
	for (size_t i = 0; i < n; i++) {
		order[i] = (struct ht_what_if_excess){ s->excess[i], i };
		ret->of_part[i] = 1;
	}
	qsort(order, n, sizeof *order, ht_what_if_compare_excess);
	/* a rank that takes no longer than the ideal slows nobody down */
	for (size_t k = 0; k < n && k < N_RANKS_JUDGED && order[k].excess > 0; k++) {
		of[order[k].i_rank] = true;
		ret->of_part[order[k].i_rank] = replay(s, of, ALL_KINDS, false) / ret->ideal_ns;
		of[order[k].i_rank] = false;
	}
	for (size_t i = 0; i < n; i++)
		order[i].excess = ret->of_part[order[i].i_rank];
	qsort(order, n, sizeof *order, ht_what_if_compare_excess);
	size_t n_worst = (size_t)ceil(WORST_SHARE * (double)n);
	for (size_t k = 0; k < n_worst; k++)
		ret->is_worst[order[k].i_rank] = true;
	ret->worst = find_share(s, ret, ret->is_worst);
	return HT_OK;
}

/* The same for stages and replicas. */
static enum ht_status find_places(struct slowdown *s, struct ht_what_if_slowdown *ret)
{
	struct ht_event_job *job = &s->a->job;
	struct ht_arena *scratch = s->a->run->scratch;
	bool *of = ht_arena_alloc(scratch, job->n_ranks + 1);
	ret->n_stages = job->n_stages;
	ret->n_replicas = job->n_replicas;
	ret->of_stage = ht_arena_alloc(scratch, ((size_t)job->n_stages + 1) * sizeof(double));
	ret->of_replica = ht_arena_alloc(scratch, ((size_t)job->n_replicas + 1) * sizeof(double));
	if (!of || !ret->of_stage || !ret->of_replica)
		return ht_fail_nomem(s->a->run->ctx);
	for (int64_t k = 0; job->n_stages > 1 && k < job->n_stages + job->n_replicas; k++) {
		bool is_stage = k < job->n_stages;
		int64_t number = is_stage ? k : k - job->n_stages;
		if (!is_stage && job->n_replicas > N_RANKS_JUDGED)
			break;
		for (size_t i = 0; i < job->n_ranks; i++)
			of[i] = (is_stage ? job->ranks[i].stage : job->ranks[i].replica) == number;
		*(is_stage ? &ret->of_stage[number] : &ret->of_replica[number]) =
		        replay(s, of, ALL_KINDS, false) / ret->ideal_ns;
		if (number == job->n_stages - 1 && is_stage)
			ret->last = find_share(s, ret, of);
	}
	return HT_OK;
}

static void find_types(struct slowdown *s, struct ht_what_if_slowdown *ret)
{
	static const unsigned kinds[HT_WHAT_IF_N_TYPES] = {
		[HT_WHAT_IF_FORWARD] = 1u << (OF_CPU + FORWARD) | 1u << (OF_GPU + FORWARD),
		[HT_WHAT_IF_BACKWARD] = 1u << (OF_CPU + BACKWARD) | 1u << (OF_GPU + BACKWARD),
		[HT_WHAT_IF_OPTIMIZER] = 1u << (OF_CPU + OPTIMIZER) | 1u << (OF_GPU + OPTIMIZER),
		[HT_WHAT_IF_TRANSFERS] = 1u << TRANSFERS,
		[HT_WHAT_IF_CPU] = (1u << OF_GPU) - 1,
		[HT_WHAT_IF_GPU] = (1u << TRANSFERS) - (1u << OF_GPU)
	};
	for (size_t i = 0; i < HT_WHAT_IF_N_TYPES; i++)
		ret->of_type[i] = replay(s, NULL, kinds[i], false) / ret->ideal_ns;
}

/* ---- what else it may be ---- */

/* The group whose transfers take the most above the ideal. */
static enum ht_status find_link(const struct slowdown *s, const char **ret_group)
{
	const struct ht_event_job *job = &s->a->job;
	double most = 0, sum = 0;
	uint64_t *keys;
	uint32_t *order;
	HT_TRY(order_units(s, key_of_group, &keys, &order));
	for (size_t i = 0; i < job->n_units; i++) {
		const struct ht_event_unit *unit = &job->units[order[i]];
		sum = i && keys[i] == keys[i - 1] ? sum : 0;
		if (unit->n)
			sum += ht_event_unit_transfer(job, unit) -
			       s->transfer[job->members[unit->first]];
		if (sum > most) {
			most = sum;
			*ret_group = unit->of->group;
		}
	}
	return HT_OK;
}

/* Of every rank and step a pair: factors are what is usual over what it took. */
static bool has_uneven_batches(const struct slowdown *s)
{
	const struct ht_event_job *job = &s->a->job;
	const float *forward = s->factors + (OF_GPU + FORWARD) * s->n_cells;
	const float *backward = s->factors + (OF_GPU + BACKWARD) * s->n_cells;
	struct ht_batches batches = { 0 };
	for (size_t r = 0; r < job->n_ranks; r++) {
		double n = batches.n, x = batches.x;
		for (size_t w = job->n_windows > 1; w < job->n_windows; w++) {
			size_t i = r * job->n_windows + w;
			if (s->totals[(OF_GPU + FORWARD) * s->n_cells + i] > 0 &&
			        s->totals[(OF_GPU + BACKWARD) * s->n_cells + i] > 0)
				ht_batches_add(
				        &batches, 1 / (double)forward[i], 1 / (double)backward[i]);
		}
		ht_batches_add_worker(
		        &batches, batches.n > n ? (batches.x - x) / (batches.n - n) : 1);
	}
	return ht_batches_differ(&batches);
}

enum ht_status ht_what_if_slowdown_find(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_slowdown *ret)
{
	struct ht_what_if_job a;
	struct slowdown s;
	*ret = (struct ht_what_if_slowdown){ 0 };
	HT_TRY(ht_what_if_job_make(run, parts, table, &a));
	if (!a.is_trusted)
		return HT_OK;
	if (parts->n < 2 || !a.job.n_units)
		return ht_what_if_unknown(run, table, "job-slowdown", "single");
	HT_TRY(make(&a, &s));
	ret->time_ns = a.replayed_ns;
	ret->ideal_ns = replay(&s, NULL, ALL_KINDS, true);
	ret->is_known = true;
	find_types(&s, ret);
	HT_TRY(find_link(&s, &ret->slow_group));
	ret->has_uneven_batches = has_uneven_batches(&s);
	HT_TRY(find_workers(&s, ret));
	return find_places(&s, ret);
}
