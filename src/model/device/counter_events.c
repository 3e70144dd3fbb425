/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_events.c - see counter_events.h.
 */
#include "model/device/counter_events.h"
#include "model/device/series.h"
#include "store/columns.h"

static int64_t pid_of(const struct ht_trace *trace, uint32_t row)
{
	const struct ht_track *track = &trace->tracks[trace->track[row]];
	return track->pid_type == HT_ID_INT ? track->pid : -1;
}

static struct ht_counter_event *add_queue(const struct ht_trace *trace,
        const struct ht_queue_series *series, struct ht_counter_event *at)
{
	for (size_t i = 0; i < series->n; i++) {
		const struct ht_queue_point *point = &series->points[i];
		*at++ = (struct ht_counter_event){ .ts_ns = point->ts_ns,
			.pid = pid_of(trace, trace->gpu[point->gpu].row),
			.id = series->stream,
			.name = "Queue Length",
			.key = "Queue Length",
			.value = (double)point->length };
	}
	return at;
}

static struct ht_counter_event *add_bandwidth(const struct ht_trace *trace,
        const struct ht_bandwidth_series *series, struct ht_counter_event *at)
{
	for (size_t i = 0; i < series->n; i++) {
		const struct ht_bandwidth_point *point = &series->points[i];
		*at++ = (struct ht_counter_event){ .ts_ns = point->ts_ns,
			.pid = pid_of(trace, point->row),
			.id = -1,
			.name = series->kind,
			.key = "Memcpy BW",
			.value = point->gbps };
	}
	return at;
}

enum ht_status ht_counter_events(ht_ctx *ctx, const struct ht_set *set, size_t i_trace,
        const struct ht_trace *trace, bool all_steps, struct ht_arena *arena,
        const struct ht_counter_event **ret_events, size_t *ret_n)
{
	struct ht_run run = { .ctx = ctx,
		.policy = &ht_own_policy,
		.scratch = arena,
		.rosters = { &set->roster },
		.n_sets = 1,
		.trace = trace,
		.i_rank = i_trace,
		.rank = set->roster.ranks[i_trace].number,
		.step = all_steps ? "all" : NULL };
	struct ht_frame frame;
	HT_TRY(ht_frame_make(&run, &frame));
	const struct ht_queue_series *queues = NULL;
	const struct ht_bandwidth_series *bandwidths = NULL;
	size_t n_queues = 0, n_bandwidths = 0, n = 0;
	HT_TRY(ht_queue_series_make(&run, &frame, &queues, &n_queues));
	HT_TRY(ht_bandwidth_series_make(&run, &frame, false, &bandwidths, &n_bandwidths));
	for (size_t i = 0; i < n_queues; i++)
		n += queues[i].n;
	for (size_t i = 0; i < n_bandwidths; i++)
		n += bandwidths[i].n;
	struct ht_counter_event *events = ht_arena_alloc(arena, (n + 1) * sizeof *events);
	if (!events)
		return ht_fail_nomem(ctx);
	struct ht_counter_event *at = events;
	for (size_t i = 0; i < n_queues; i++)
		at = add_queue(trace, &queues[i], at);
	for (size_t i = 0; i < n_bandwidths; i++)
		at = add_bandwidth(trace, &bandwidths[i], at);
	*ret_events = events;
	*ret_n = n;
	return HT_OK;
}
