/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_replay_test.c - replay of small random jobs against the definition: the longest way to every node, by looking at all of them.
 */
#include "job/event_repeat.h"

#include "model/communication/collective_match.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MAX_NODES 50
#define MAX_EDGES (3 * MAX_NODES)

static uint32_t before[MAX_NODES], launch[MAX_NODES], unit[MAX_NODES], i_rank[MAX_NODES],
        step[MAX_NODES], first_edge[MAX_NODES + 2], edge_from[MAX_EDGES], members[MAX_NODES],
        order[2 * MAX_NODES + 1];
static uint8_t flags[MAX_NODES], edge_kind[MAX_EDGES];
static bool is_free[MAX_NODES], is_apart[MAX_NODES], is_fused[MAX_NODES];
static uint32_t copies[MAX_NODES], event[MAX_NODES], after[MAX_NODES];
static double recorded[MAX_NODES], dur[MAX_NODES], before_lag[MAX_NODES], launch_lag[MAX_NODES],
        edge_lag[MAX_EDGES], start[MAX_NODES], end[MAX_NODES], ends[2], begins[2], recorded_ends[2],
        other[MAX_NODES];
static float scale[MAX_NODES];
static struct ht_event_unit units[MAX_NODES];
static const struct ht_collective collective = { .name = "allreduce", .group = "" };

static unsigned draw(unsigned n)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

/* Two to four ranks, each a few threads or streams whose nodes lead back; the k-th collectives of all ranks belong together. */
static void make_job(struct ht_event_job *job)
{
	uint32_t n_ranks = 2 + draw(3), per_rank = MAX_NODES / n_ranks, n_edges = 0,
	         n_units = draw(4);
	job->n_nodes = n_ranks * per_rank;
	job->n_units = job->n_order = 0;
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		uint32_t first = i / per_rank * per_rank, own = i - first;
		before[i] = own && draw(4) ? first + draw(own) : HT_NONE;
		launch[i] = own && draw(2) ? first + draw(own) : HT_NONE;
		recorded[i] = draw(100);
		dur[i] = draw(1000);
		before_lag[i] = draw(10);
		launch_lag[i] = draw(10);
		i_rank[i] = i / per_rank;
		unit[i] = HT_NONE;
		is_free[i] = is_apart[i] = is_fused[i] = false;
		scale[i] = 1;
		step[i] = 0;
		flags[i] = HT_EVENT_ENDS;
		first_edge[i] = n_edges;
		for (unsigned k = draw(3); own && k--; n_edges++) {
			edge_from[n_edges] = first + draw(own);
			edge_lag[n_edges] = draw(20);
			edge_kind[n_edges] = draw(8) ? HT_EDGE_RECORDED : HT_EDGE_OVERLAP;
		}
	}
	first_edge[job->n_nodes] = n_edges;
	for (uint32_t u = 0; u < n_units; u++) {
		units[u] = (struct ht_event_unit){ u * n_ranks, n_ranks, 0, &collective };
		for (uint32_t r = 0; r < n_ranks; r++) {
			members[u * n_ranks + r] =
			        r * per_rank + (u + 1) * per_rank / (n_units + 1);
			unit[members[u * n_ranks + r]] = u;
		}
	}
	job->n_units = n_units;
}

/* ---- the definition ---- */

static double ends_at(const struct ht_event_job *job, const double *durs, uint32_t node, double c);

static double starts_at(const struct ht_event_job *job, const double *durs, uint32_t node, double c)
{
	double latest = -INFINITY;
	if (before[node] != HT_NONE)
		latest = ends_at(job, durs, before[node], c) + c * before_lag[node];
	if (launch[node] != HT_NONE)
		latest = fmax(latest, ends_at(job, durs, launch[node], c) + c * launch_lag[node]);
	for (uint32_t e = first_edge[node]; e < first_edge[node + 1]; e++)
		latest = fmax(
		        latest, edge_kind[e] == HT_EDGE_OVERLAP
		                        ? starts_at(job, durs, edge_from[e], c) + c * edge_lag[e]
		                        : ends_at(job, durs, edge_from[e], c) + c * edge_lag[e]);
	return latest == -INFINITY ? c * recorded[node] : latest;
}

static double known[MAX_NODES];

static double ends_at(const struct ht_event_job *job, const double *durs, uint32_t node, double c)
{
	double begin = -INFINITY;
	if (!isnan(known[node]))
		return known[node];
	if (unit[node] == HT_NONE)
		return known[node] = starts_at(job, durs, node, c) + durs[node];
	const struct ht_event_unit *u = &units[unit[node]];
	for (uint32_t i = 0; i < u->n; i++)
		begin = fmax(begin, starts_at(job, durs, members[u->first + i], c));
	return known[node] = begin + durs[node];
}

static double longest(const struct ht_event_job *job, const double *durs, double c)
{
	double last = -INFINITY;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		known[i] = NAN;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		last = fmax(last, ends_at(job, durs, i, c));
	return last;
}

static double replay(struct ht_event_job *job, const double *durs)
{
	double steps_ns[2];
	struct ht_event_edit edit = { durs, scale, is_apart, is_fused };
	ht_event_job_replay(job, &edit, steps_ns);
	return steps_ns[0];
}

/* ---- what happens again ---- */

#define MAX_COPIES 3
static double known_again[MAX_NODES][MAX_COPIES];

static double ends_again(const struct ht_event_job *job, uint32_t node, uint32_t copy);

static bool is_together(uint32_t node, uint32_t to)
{
	return event[node] != HT_NONE && event[node] == event[to];
}

/* When something that a node waits for is over: with its event the same time, else the last. */
static double over_again(const struct ht_event_job *job, uint32_t node, uint32_t copy, uint32_t to)
{
	return ends_again(job, to, is_together(node, to) ? copy : copies[to] - 1);
}

static double starts_again(const struct ht_event_job *job, uint32_t node, uint32_t copy)
{
	double latest = -INFINITY;
	bool is_first = before[node] == HT_NONE || !is_together(node, before[node]);
	if (copy && is_first) {
		/* the last node of the event on this thread or stream, by going through all of them */
		uint32_t last = node;
		for (uint32_t i = 0; i < job->n_nodes; i++)
			if (before[i] == last && is_together(i, node)) {
				last = i;
				i = 0;
			}
		latest = ends_again(job, last, copy - 1) + before_lag[node];
	} else if (before[node] != HT_NONE) {
		latest = over_again(job, node, copy, before[node]) + before_lag[node];
	}
	if (launch[node] != HT_NONE)
		latest = fmax(latest, over_again(job, node, copy, launch[node]) + launch_lag[node]);
	for (uint32_t e = first_edge[node]; e < first_edge[node + 1]; e++)
		if (!copy || is_together(node, edge_from[e]))
			latest = fmax(
			        latest, over_again(job, node, copy, edge_from[e]) + edge_lag[e]);
	if (after[node] != HT_NONE && (!copy || is_together(node, after[node])))
		latest = fmax(latest, over_again(job, node, copy, after[node]));
	return latest == -INFINITY ? recorded[node] : latest;
}

static double ends_again(const struct ht_event_job *job, uint32_t node, uint32_t copy)
{
	double begin = -INFINITY;
	if (!isnan(known_again[node][copy]))
		return known_again[node][copy];
	if (unit[node] == HT_NONE)
		return known_again[node][copy] = starts_again(job, node, copy) + dur[node];
	const struct ht_event_unit *u = &units[unit[node]];
	for (uint32_t i = 0; i < u->n; i++)
		begin = fmax(begin, starts_again(job, members[u->first + i], copy));
	return known_again[node][copy] = begin + dur[node];
}

/* Threads and streams are chains here, so that an event has a first and a last node on each: the k-th tenth of every rank is an event,
 * and has those of the collectives that lie in it. */
static void make_events(struct ht_event_job *job, uint32_t n_times)
{
	uint32_t per_rank = job->n_nodes / (i_rank[job->n_nodes - 1] + 1);
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		uint32_t own = i % per_rank, tenth = own * 10 / per_rank;
		before[i] = own >= 2 ? i - 2 : HT_NONE; /* two threads in turns */
		event[i] = tenth % 3 == 1 ? i_rank[i] * 10 + tenth : HT_NONE;
		copies[i] = event[i] == HT_NONE ? 1 : n_times;
		if (n_times == 1)
			after[i] = own && draw(5) == 0 ? i - 1 : HT_NONE;
	}
}

static double replay_again(struct ht_event_job *job)
{
	struct ht_event_editor editor = {
		.job = job, .copies = copies, .event = event, .after = after
	};
	struct ht_event_edit edit = { dur, scale, is_apart, is_fused };
	struct ht_event_unknown unknown = { 0 };
	double steps_ns[2] = { 0 };
	assert_int_equal(ht_event_job_replay_repeated(&editor, &edit, steps_ns, &unknown), HT_OK);
	assert_null(unknown.why);
	return steps_ns[0];
}

static void check_again(struct ht_event_job *job)
{
	double once = 0;
	for (uint32_t n_times = 1; n_times <= MAX_COPIES; n_times++) {
		double last = -INFINITY;
		make_events(job, n_times);
		for (uint32_t i = 0; i < job->n_nodes; i++)
			for (uint32_t c = 0; c < MAX_COPIES; c++)
				known_again[i][c] = NAN;
		for (uint32_t i = 0; i < job->n_nodes; i++)
			last = fmax(last, ends_again(job, i, copies[i] - 1));
		double got = replay_again(job);
		assert_true(fabs(got - last) <= 1e-9);
		/* who waits for more, or happens more often, never ends earlier */
		if (n_times == 1)
			assert_true(got >= longest(job, dur, 1));
		assert_true(got >= once);
		once = got;
	}
	/* a rank that does it twice while others do not */
	for (uint32_t u = 0; u < job->n_units; u++) {
		struct ht_event_editor editor = {
			.job = job, .copies = copies, .event = event, .after = after
		};
		struct ht_event_edit edit = { dur, scale, is_apart, is_fused };
		struct ht_event_unknown unknown = { 0 };
		double steps_ns[2];
		copies[members[units[u].first]] += 1;
		assert_int_equal(
		        ht_event_job_replay_repeated(&editor, &edit, steps_ns, &unknown), HT_OK);
		assert_string_equal(unknown.why, "uneven_repeat");
		copies[members[units[u].first]] -= 1;
	}
}

/* What is one with the node before it ends with it, and waits for nothing else. */
static void check_fused(struct ht_event_job *job)
{
	uint32_t at = draw(job->n_nodes);
	double whole = longest(job, dur, 1);
	if (before[at] == HT_NONE || unit[at] != HT_NONE)
		return;
	memcpy(other, dur, sizeof other);
	other[at] = 0;
	is_fused[at] = true;
	double got = replay(job, other);
	uint32_t n_launch = launch[at], n_edges = first_edge[at + 1] - first_edge[at];
	double lag = before_lag[at];
	double lags[MAX_EDGES];
	/* the same by the definition: an edge of nothing, a pause of nothing */
	launch[at] = HT_NONE;
	before_lag[at] = 0;
	for (uint32_t e = 0; e < n_edges; e++) {
		lags[e] = edge_lag[first_edge[at] + e];
		edge_lag[first_edge[at] + e] = -1e12;
	}
	assert_true(fabs(got - longest(job, other, 1)) <= 1e-9);
	assert_true(got <= whole);
	launch[at] = n_launch;
	before_lag[at] = lag;
	for (uint32_t e = 0; e < n_edges; e++)
		edge_lag[first_edge[at] + e] = lags[e];
	is_fused[at] = false;
}

/* All times three times as long: so is the job. */
static void check_scaled(struct ht_event_job *job)
{
	double once = longest(job, dur, 1);
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		other[i] = dur[i] *= 3;
		recorded[i] *= 3;
		before_lag[i] *= 3;
		launch_lag[i] *= 3;
	}
	for (uint32_t e = 0; e < first_edge[job->n_nodes]; e++)
		edge_lag[e] *= 3;
	assert_true(fabs(replay(job, other) - 3 * once) <= 1e-6);
}

static void check_job(struct ht_event_job *job)
{
	double whole = longest(job, dur, 1);
	/* as it was, and with the same durations again */
	assert_true(fabs(replay(job, NULL) - whole) <= 1e-9);
	memcpy(other, dur, sizeof other);
	assert_true(fabs(replay(job, other) - whole) <= 1e-9);
	/* slower never ends earlier, faster never later */
	uint32_t at = draw(job->n_nodes);
	other[at] += 500;
	assert_true(replay(job, other) >= whole);
	other[at] = 0;
	assert_true(replay(job, other) <= whole);
	/* other durations of everything */
	for (uint32_t e = 0; e < first_edge[job->n_nodes]; e++)
		edge_kind[e] = HT_EDGE_RECORDED;
	for (uint32_t i = 0; i < job->n_nodes; i++)
		other[i] = draw(1000);
	assert_true(fabs(replay(job, other) - longest(job, other, 1)) <= 1e-9);
	check_fused(job);
	check_again(job);
	assert_int_equal(ht_event_job_sort(job), HT_OK);
	check_scaled(job);
}

static void test_replay(void **state)
{
	(void)state;
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	struct ht_arena scratch;
	ht_arena_init(&scratch, ctx->mem);
	struct ht_run run = { .ctx = ctx, .policy = &ht_own_policy, .scratch = &scratch };
	struct ht_event_job job = { .run = &run,
		.before = before,
		.launch = launch,
		.unit = unit,
		.i_rank = i_rank,
		.step = step,
		.first_edge = first_edge,
		.flags = flags,
		.is_free = is_free,
		.recorded = recorded,
		.dur = dur,
		.before_lag = before_lag,
		.launch_lag = launch_lag,
		.edge_from = edge_from,
		.edge_lag = edge_lag,
		.edge_kind = edge_kind,
		.units = units,
		.members = members,
		.order = order,
		.n_windows = 1,
		.n_steps = 1,
		.ends = ends,
		.begins = begins,
		.recorded_ends = recorded_ends,
		.start = start,
		.end = end };
	for (int round = 0; round < 2000; round++) {
		make_job(&job);
		assert_int_equal(ht_event_job_sort(&job), HT_OK);
		assert_int_equal(job.n_broken, 0);
		check_job(&job);
	}
	ht_arena_done(&scratch);
	ht_ctx_free(ctx);
}

/* Two collectives that wait for each other are none. */
static void test_circle(void **state)
{
	(void)state;
	ht_ctx *ctx;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	struct ht_arena scratch;
	ht_arena_init(&scratch, ctx->mem);
	struct ht_run run = { .ctx = ctx, .policy = &ht_own_policy, .scratch = &scratch };
	struct ht_event_job job = { .run = &run,
		.n_nodes = 4,
		.n_units = 2,
		.before = before,
		.launch = launch,
		.unit = unit,
		.first_edge = first_edge,
		.is_free = is_free,
		.units = units,
		.members = members,
		.order = order };
	/* rank 0 does a, then b; rank 1 b, then a */
	const uint32_t befores[] = { HT_NONE, 0, HT_NONE, 2 }, of_unit[] = { 0, 1, 1, 0 };
	const uint32_t members_of[] = { 0, 3, 1, 2 };
	memcpy(before, befores, sizeof befores);
	memcpy(unit, of_unit, sizeof of_unit);
	memcpy(members, members_of, sizeof members_of);
	memset(launch, 0xff, sizeof launch);
	memset(first_edge, 0, sizeof first_edge);
	memset(is_free, 0, sizeof is_free);
	units[0] = (struct ht_event_unit){ 0, 2, 0, &collective };
	units[1] = (struct ht_event_unit){ 2, 2, 0, &collective };
	assert_int_equal(ht_event_job_sort(&job), HT_OK);
	assert_int_equal(job.n_broken, 2);
	assert_int_equal(job.n_order, 4);
	assert_string_equal(job.broken, "allreduce");
	ht_arena_done(&scratch);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_replay),
		cmocka_unit_test(test_circle) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
