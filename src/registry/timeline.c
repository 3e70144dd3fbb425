/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - one rank's tracks by time, for whoever draws them; see holotrace.h.
 *
 * Times are the set's, on the clock that the tables of all ranks are on; events are known by their ids, names by
 * their numbers in the trace. A clock that drifts moves starts; durations stay as they were measured.
 */
#include "base/mem.h"
#include "base/options.h"
#include "registry/timeline.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include "base/search.h"
#include "registry/run_steps.h"
#include "model/clocks/clocks.h"
#include "store/trace_meta.h"

#include <string.h>

/* ---- clock and collectives ---- */

static enum ht_status copy_call(ht_ctx *ctx, const struct ht_roster *roster,
        const struct ht_call_place *place, struct ht_arena *arena, struct ht_timeline_call *ret)
{
	const struct ht_collective *c = place->collective;
	int64_t *peers = ht_arena_alloc(arena, (c->n + 1) * sizeof *peers);
	const struct ht_comm_call *last = place->call;
	struct ht_timeline_call call = { .row = (uint32_t)place->row,
		.wait_ns = place->call->wait_ns,
		.bytes = c->bytes,
		.sequence = c->nth,
		.group = ht_arena_strndup(arena, c->group, strlen(c->group)),
		.peers = peers };
	if (!peers || !call.group)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < c->n; i++) {
		const struct ht_comm_call *other = &c->calls[i];
		last = other->start_ns > last->start_ns ? other : last;
		if (other != place->call)
			peers[call.n_peers++] = ht_event_id(
			        roster->ranks[other->i_rank].number, (uint32_t)other->row);
	}
	call.last_rank = roster->ranks[last->i_rank].number;
	*ret = call;
	return HT_OK;
}

static enum ht_status copy_calls(ht_ctx *ctx, const struct ht_roster *roster,
        const struct ht_matches *matches, size_t i_rank, struct ht_timeline *timeline)
{
	size_t n = matches->n_places[i_rank];
	timeline->calls = ht_arena_alloc(&timeline->arena, (n + 1) * sizeof *timeline->calls);
	if (!timeline->calls)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_call_place *place = &matches->places[i_rank][i];
		if (place->collective->n < 2)
			continue;
		HT_TRY(copy_call(ctx, roster, place, &timeline->arena,
		        &timeline->calls[timeline->n_calls++]));
	}
	return HT_OK;
}

const struct ht_timeline_call *ht_timeline_call(const ht_timeline *timeline, uint32_t row)
{
	size_t at = HT_LOWER_BOUND(i, timeline->n_calls, timeline->calls[i].row < row);
	return at < timeline->n_calls && timeline->calls[at].row == row ? &timeline->calls[at]
	                                                                : NULL;
}

/* Where a rank is on the clock, and the way there; clocks NULL: that of its file. */
static struct ht_timeline_info place_rank(const struct ht_roster *roster, size_t i,
        const struct ht_clocks *clocks, struct ht_time_move *ret_move)
{
	const struct ht_rank *rank = &roster->ranks[i];
	struct ht_timeline_info info = {
		.rank = rank->number, .aligned = roster->aligned, .uncertainty_ns = -1
	};
	*ret_move = (struct ht_time_move){ .shift_ns = rank->offset_ns };
	if (clocks) {
		const struct ht_clock *clock = &clocks->of[i];
		*ret_move = clocks->moves[i];
		info.aligned = clocks->aligned;
		info.moved_ns = clock->moved_ns;
		if (clock->uncertainty_ns != HT_NO_I64)
			info.uncertainty_ns = clock->uncertainty_ns;
	}
	if (rank->min_ts_ns != HT_NO_I64) {
		info.from_ns = ht_time_moved(ret_move, rank->min_ts_ns);
		info.to_ns = ht_time_moved(ret_move, rank->max_end_ns);
	}
	return info;
}

/* The clocks of several ranks; NULL of one. */
static enum ht_status find_clocks(
        ht_ctx *ctx, ht_set *set, struct ht_arena *scratch, const struct ht_clocks **ret_clocks)
{
	*ret_clocks = NULL;
	return set->roster.n < 2 ? HT_OK : ht_set_clocks(ctx, set, scratch, ret_clocks);
}

static enum ht_status find_clock(ht_ctx *ctx, ht_set *set, size_t i, struct ht_timeline *timeline)
{
	const struct ht_clocks *clocks;
	struct ht_arena scratch;
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = find_clocks(ctx, set, &scratch, &clocks);
	if (status == HT_OK)
		timeline->info = place_rank(&set->roster, i, clocks, &timeline->move);
	if (status == HT_OK && clocks)
		status = copy_calls(ctx, &set->roster, &clocks->matches, i, timeline);
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_timeline_places(ht_ctx *ctx, ht_set *set, ht_place_fn fn, void *user)
{
	const struct ht_clocks *clocks;
	struct ht_arena scratch;
	ht_error_clear(ctx);
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = find_clocks(ctx, set, &scratch, &clocks);
	bool goes_on = status == HT_OK;
	for (size_t i = 0; goes_on && i < set->roster.n; i++) {
		struct ht_time_move move;
		struct ht_timeline_info place = place_rank(&set->roster, i, clocks, &move);
		goes_on = fn(user, &place);
	}
	ht_arena_done(&scratch);
	return status;
}

enum ht_status ht_timeline_open(ht_ctx *ctx, ht_set *set, size_t i, ht_timeline **ret_timeline)
{
	ht_error_clear(ctx);
	if (i >= set->roster.n)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, NULL, "the set has %zu ranks", set->roster.n);
	struct ht_timeline *timeline = ht_mem_zalloc(ctx->mem, sizeof *timeline);
	if (!timeline)
		return ht_fail_nomem(ctx);
	timeline->mem = ht_mem_retain(ctx->mem);
	pthread_mutex_init(&timeline->lock, NULL);
	ht_arena_init(&timeline->arena, timeline->mem);
	enum ht_status status = find_clock(ctx, set, i, timeline);
	timeline->held = ht_attached_hold(set, i);
	if (status == HT_OK)
		status = ht_attached_of(ctx, set, i, &timeline->attached);
	if (status == HT_OK)
		status = ht_set_acquire(ctx, set, i, &timeline->trace);
	if (status == HT_OK)
		status = ht_ranges_make(ctx, timeline->trace, &timeline->arena, &timeline->ranges);
	if (status != HT_OK) {
		ht_timeline_close(timeline);
		return status;
	}
	*ret_timeline = timeline;
	return HT_OK;
}

void ht_timeline_close(ht_timeline *timeline)
{
	if (!timeline)
		return;
	struct ht_mem *mem = timeline->mem;
	ht_attached_let_go(timeline->held);
	ht_trace_release(timeline->trace);
	ht_arena_done(&timeline->arena);
	pthread_mutex_destroy(&timeline->lock);
	ht_mem_free(mem, timeline, sizeof *timeline);
	ht_mem_release(mem);
}

const struct ht_timeline_info *ht_timeline_info(const ht_timeline *timeline)
{
	return &timeline->info;
}

int64_t ht_timeline_own_ns(const ht_timeline *timeline, int64_t set_ns)
{
	const struct ht_time_move *move = &timeline->move;
	int64_t own = ht_sub_sat(set_ns, move->shift_ns);
	/* beyond what traces hold nothing can be told apart, and nothing may overflow */
	if (!move->drift_ppt || own > HT_MAX_TIME_NS || own < -HT_MAX_TIME_NS)
		return own;
	const __int128 one = 1000000000000;
	__int128 since = (__int128)own - move->pivot_ns;
	own = (int64_t)(move->pivot_ns + since * one / (one + move->drift_ppt));
	/* rounding leaves it a nanosecond or two off, either way */
	while (ht_time_moved(move, own) >= set_ns)
		own--;
	while (ht_time_moved(move, own) < set_ns)
		own++;
	return own;
}

/* ---- tracks and steps ---- */

size_t ht_timeline_n_tracks(const ht_timeline *timeline)
{
	return timeline->ranges.n_tracks;
}

/* pid or tid: the number, or its text when it is none. */
static const char *id_text(const struct ht_trace *t, int64_t id, uint8_t type)
{
	return type == HT_ID_STR ? ht_str(t, (uint32_t)id) : "";
}

static const char *name_or_null(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? NULL : ht_str(t, id);
}

/* The layer of an NPU trace that a track is of; NULL for others. */
static const char *layer_of(const struct ht_trace *t, const struct ht_track *track)
{
	static const struct {
		const char *process, *layer;
	} layers[] = {
		{ "CANN", "CANN" },
		{ "Ascend Hardware", "hardware" },
		{ "NPU", "hardware" },
		{ "HCCL", "communication" },
		{ "Communication", "communication" },
		{ "Overlap Analysis", "overlap" },
	};
	if (t->meta->dialect != HT_DIALECT_ASCEND)
		return NULL;
	const char *process = ht_str(t, track->process_name);
	for (size_t i = 0; i < HT_COUNT(layers); i++)
		if (!strcmp(process, layers[i].process))
			return layers[i].layer;
	return "framework";
}

bool ht_timeline_track(const ht_timeline *timeline, size_t i, struct ht_track_info *ret_track)
{
	if (i >= timeline->ranges.n_tracks)
		return false;
	const struct ht_trace *t = timeline->trace;
	const struct ht_track *track = &t->tracks[i];
	const struct ht_track_ranges *r = &timeline->ranges.tracks[i];
	struct ht_track_info info = { .pid = track->pid_type == HT_ID_INT ? track->pid : -1,
		.tid = track->tid_type == HT_ID_INT ? track->tid : -1,
		.pid_text = id_text(t, track->pid, track->pid_type),
		.tid_text = id_text(t, track->tid, track->tid_type),
		.process = name_or_null(t, track->process_name),
		.thread = name_or_null(t, track->name),
		.device = track->device,
		.n_spans = r->n,
		.n_lanes = r->n_lanes,
		.layer = layer_of(t, track) };
	if (r->n) {
		info.first_ns = ht_time_moved(&timeline->move, r->first_ns);
		info.last_ns = ht_time_moved(&timeline->move, r->last_ns);
	}
	HT_OPTIONS_GIVE(ht_track_info, layer, &info, ret_track);
	return true;
}

bool ht_timeline_step(const ht_timeline *timeline, size_t i, struct ht_step_info *ret_step)
{
	const struct ht_trace *t = timeline->trace;
	if (i >= t->n_steps)
		return false;
	const struct ht_step *step = &t->steps[i];
	int64_t start_ns = ht_time_moved(&timeline->move, step->ts_ns);
	struct ht_step_info info = { .id = ht_event_id(timeline->info.rank, step->row),
		.number = step->number,
		.start_ns = start_ns,
		.end_ns = ht_add_sat(start_ns, ht_sub_sat(step->end_ns, step->ts_ns)) };
	HT_OPTIONS_GIVE(ht_step_info, end_ns, &info, ret_step);
	return true;
}

/* ---- spans ---- */

static struct ht_span span_of(const struct ht_timeline *timeline, const struct ht_range_hit *hit)
{
	const struct ht_trace *t = timeline->trace;
	const struct ht_gpu *gpu =
	        ht_kind_is_gpu_work(t->kind[hit->row]) ? ht_gpu_of_row(t, hit->row) : NULL;
	const struct ht_timeline_call *call =
	        gpu && hit->n == 1 ? ht_timeline_call(timeline, hit->row) : NULL;
	int64_t start_ns = ht_time_moved(&timeline->move, hit->start_ns);
	return (struct ht_span){ .struct_size = sizeof(struct ht_span),
		.id = ht_event_id(timeline->info.rank, hit->row),
		.start_ns = start_ns,
		.end_ns = ht_add_sat(start_ns, ht_sub_sat(hit->end_ns, hit->start_ns)),
		.sum_ns = hit->sum_ns,
		.name = t->name[hit->row],
		.n = hit->n,
		.lane = (uint16_t)(hit->lane < UINT16_MAX ? hit->lane : UINT16_MAX),
		.kind = t->kind[hit->row],
		.work = gpu ? gpu->class_ : UINT8_MAX,
		.wait_ns = call && call->wait_ns > 0 ? call->wait_ns : 0 };
}

struct telling {
	const struct ht_timeline *timeline;
	ht_span_fn fn;
	void *user;
};

static bool tell(void *user, const struct ht_range_hit *hit)
{
	const struct telling *to = user;
	struct ht_span span = span_of(to->timeline, hit);
	return to->fn(to->user, &span);
}

void ht_timeline_range(const ht_timeline *timeline, size_t track, int64_t from_ns, int64_t to_ns,
        int64_t resolution_ns, ht_span_fn fn, void *user)
{
	if (track >= timeline->ranges.n_tracks)
		return;
	struct telling telling = { timeline, fn, user };
	ht_track_range(&timeline->ranges, (uint32_t)track, ht_timeline_own_ns(timeline, from_ns),
	        ht_timeline_own_ns(timeline, to_ns), resolution_ns, tell, &telling);
}

bool ht_timeline_span(
        const ht_timeline *timeline, uint32_t row, size_t *ret_track, struct ht_span *ret_span)
{
	const struct ht_trace *t = timeline->trace;
	if (row >= ht_n_events(t) || !ht_is_span(t, row))
		return false;
	struct ht_range_hit hit = { .start_ns = t->ts_ns[row],
		.end_ns = ht_end_ns(t, row),
		.sum_ns = t->dur_ns[row],
		.row = row,
		.n = 1 };
	if (!ht_track_lane(&timeline->ranges, t->track[row], row, &hit.lane))
		return false;
	*ret_track = t->track[row];
	struct ht_span span = span_of(timeline, &hit);
	HT_OPTIONS_GIVE(ht_span, wait_ns, &span, ret_span);
	return true;
}

const char *ht_timeline_name(const ht_timeline *timeline, uint32_t name)
{
	const struct ht_trace *t = timeline->trace;
	return name + (size_t)1 < t->n_string_offsets ? ht_str(t, name) : "";
}

const char *ht_timeline_kind(uint8_t kind)
{
	return ht_kind_name((enum ht_kind)kind);
}

const char *ht_timeline_work(uint8_t work)
{
	return work < HT_N_CLASSES ? ht_class_name((enum ht_class)work) : NULL;
}
