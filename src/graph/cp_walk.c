/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_walk.c - see cp_walk.h.
 *
 * The walk ends: work leads to work that comes before it in the order of starts; a wait leads to work that
 * was launched before the call began; a handover leads to an earlier operator. Should clocks contradict
 * each other, a bound on the number of steps ends it, and what is left is the host's.
 */
#include "graph/cp_walk.h"

#include "graph/cp_look.h"
#include "model/numbers/interval.h"
#include "base/search.h"

struct walk {
	struct ht_cp_model *m;
	int64_t since_ns;
	const struct ht_cp_sink *sink;
	bool no_memory;
};

static void put(struct walk *w, struct ht_cp_piece piece)
{
	if (piece.start_ns < w->since_ns)
		piece.start_ns = w->since_ns;
	if (piece.end_ns <= piece.start_ns)
		return;
	w->no_memory |= !w->sink->put(w->sink->user, &piece);
}

static void put_work(struct walk *w, uint32_t work, int64_t start, int64_t end, bool inferred)
{
	const struct ht_cp_work *k = &w->m->works[work];
	put(w, (struct ht_cp_piece){ .start_ns = start,
	               .end_ns = end,
	               .row = k->row,
	               .from_row = HT_NONE,
	               .type = HT_CP_OPERATOR,
	               .bound = k->bound,
	               .inferred = inferred });
}

/* A host thread between two times, latest first. */
static void put_host(struct walk *w, uint32_t track, int64_t start, int64_t end, bool inferred)
{
	if (start < w->since_ns)
		start = w->since_ns;
	uint32_t at = track == HT_NONE ? HT_NONE : ht_cp_span_at(w->m, track, end - 1);
	while (end > start) {
		const struct ht_cp_span *span = at == HT_NONE ? NULL : &w->m->spans[at];
		uint32_t row = span ? span->row : HT_NONE;
		int64_t from = span && span->start_ns > start ? span->start_ns : start;
		put(w, (struct ht_cp_piece){ .start_ns = from,
		               .end_ns = end,
		               .row = row,
		               .from_row = HT_NONE,
		               .type = row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
		               .bound = (uint8_t)ht_cp_host_bound(w->m, row),
		               .inferred = inferred });
		end = from;
		at = !span || at == w->m->first_span[track] ? HT_NONE : at - 1;
	}
}

/* A stretch of a delay in which the device idles, of a long launch call the call's own part apart. */
static void put_idle(struct walk *w, struct ht_cp_piece piece, int64_t start, int64_t end)
{
	int64_t call_ns = ht_cp_call_part_ns(w->m, piece.from_row, piece.bound, start, end);
	piece.start_ns = start + call_ns;
	piece.end_ns = end;
	put(w, piece);
	if (!call_ns)
		return;
	put(w, (struct ht_cp_piece){ .start_ns = start,
	               .end_ns = start + call_ns,
	               .row = piece.from_row,
	               .from_row = HT_NONE,
	               .type = HT_CP_OPERATOR,
	               .bound = (uint8_t)ht_cp_host_bound(w->m, piece.from_row),
	               .inferred = piece.inferred });
}

/* The delay before work: what ran on the device meanwhile, when it is long. */
static void put_delay(struct walk *w, uint32_t work)
{
	const struct ht_cp_work *k = &w->m->works[work];
	struct ht_cp_delay delay = ht_cp_delay_of(w->m, work);
	struct ht_cp_piece piece = { .row = k->row,
		.from_row = delay.from_row,
		.type = delay.type,
		.bound = delay.bound,
		.inferred = k->inferred };
	int64_t end = k->start_ns, from = delay.from_ns > w->since_ns ? delay.from_ns : w->since_ns;
	uint32_t at = HT_NONE;
	if (end - delay.from_ns > w->m->options.tolerance_ns)
		at = ht_cp_busy_before(w->m, w->m->device_of_lane[k->lane], end);
	while (at != HT_NONE && end > from && w->m->busy[at].end_ns > from) {
		const struct ht_cp_busy *busy = &w->m->busy[at];
		int64_t busy_end = busy->end_ns < end ? busy->end_ns : end;
		put_idle(w, piece, busy_end, end);
		end = busy->start_ns > from ? busy->start_ns : from;
		put_work(w, busy->work, end, busy_end, true);
		at = at == w->m->first_busy[w->m->device_of_lane[k->lane]] ? HT_NONE : at - 1;
	}
	put_idle(w, piece, from, end);
}

static struct ht_cp_place behind(struct walk *w, uint32_t work)
{
	const struct ht_cp_work *k = &w->m->works[work];
	put_delay(w, work);
	bool launched = k->by == HT_CP_BY_LAUNCH;
	/* a launch may have been the last although it began before the GPU was idle */
	if (k->by == HT_CP_BY_WORK ||
	        (launched && k->floor != HT_NONE && k->floor_ns >= k->launch_ns))
		return (struct ht_cp_place){
			.time_ns = k->floor_ns, .work = k->floor, .inferred = k->inferred
		};
	/* what was launched before the recording waited for nothing in it */
	if (k->by == HT_CP_BY_BEFORE)
		return (struct ht_cp_place){
			.time_ns = w->since_ns, .work = HT_NONE, .track = HT_NONE
		};
	return (struct ht_cp_place){ .time_ns = launched ? k->launch_ns : k->start_ns,
		.work = HT_NONE,
		.track = launched ? ht_cp_thread(w->m, k->launch) : w->m->main_track,
		.floor_ns = k->floor_ns,
		.floor = k->floor,
		.inferred = !launched };
}

/* The host went on while the GPU had nothing to do; below that, the GPU. */
static struct ht_cp_place to_floor(struct walk *w, const struct ht_cp_place *place)
{
	int64_t floor = place->floor == HT_NONE ? w->since_ns : place->floor_ns;
	put_host(w, place->track, floor, place->time_ns, place->inferred);
	return (struct ht_cp_place){ .time_ns = floor, .work = place->floor };
}

static struct ht_cp_place on_host(struct walk *w, const struct ht_cp_place *place)
{
	const struct ht_cp_model *m = w->m;
	int64_t low = place->floor != HT_NONE && place->floor_ns > w->since_ns ? place->floor_ns
	                                                                       : w->since_ns;
	if (place->time_ns <= low || place->track == HT_NONE)
		return to_floor(w, place);
	struct ht_cp_anchor anchor =
	        ht_cp_anchor_before(m, place->track, place->time_ns, place->handed);
	if (anchor.time_ns <= low)
		return to_floor(w, place);
	struct ht_cp_place next = *place;
	if (anchor.handover != HT_NONE) {
		const struct ht_cp_handover *h = &m->handovers[anchor.handover];
		put_host(w, place->track, h->time_ns, place->time_ns, place->inferred);
		int64_t from = h->from_ns > low ? h->from_ns : low;
		put_host(w, m->main_track, from, h->time_ns, place->inferred);
		next.time_ns = from;
		next.track = h->from_track;
		next.handed = true;
		return next;
	}
	const struct ht_cp_held *h = &m->held[anchor.held];
	if (h->from_ns <= low)
		return to_floor(w, place);
	put_host(w, place->track, h->from_ns, place->time_ns, place->inferred);
	return (struct ht_cp_place){
		.time_ns = h->from_ns, .work = h->work, .inferred = h->inferred
	};
}

bool ht_cp_walk_behind(struct ht_cp_model *model, uint32_t work, int64_t since_ns,
        const struct ht_cp_sink *sink, struct ht_cp_place *ret_place)
{
	struct walk w = { .m = model, .since_ns = since_ns, .sink = sink };
	*ret_place = behind(&w, work);
	return !w.no_memory;
}

bool ht_cp_walk_step(struct ht_cp_model *model, int64_t since_ns, const struct ht_cp_sink *sink,
        struct ht_cp_place *place)
{
	struct walk w = { .m = model, .since_ns = since_ns, .sink = sink };
	if (place->work == HT_NONE) {
		*place = on_host(&w, place);
		return !w.no_memory;
	}
	const struct ht_cp_work *k = &model->works[place->work];
	put_work(&w, place->work, k->start_ns, place->time_ns, place->inferred);
	if (k->start_ns <= since_ns)
		place->time_ns = since_ns;
	else
		*place = behind(&w, place->work);
	return !w.no_memory;
}

/* The last work that began before a time, whosoever it is. */
static uint32_t last_before(const struct ht_cp_model *m, int64_t time_ns)
{
	size_t low = HT_LOWER_BOUND(at, m->n_works, m->works[at].start_ns < time_ns);
	return low ? m->latest[low - 1] : HT_NONE;
}

struct ht_cp_place ht_cp_place_of_end(
        const struct ht_cp_model *m, const struct ht_cp_window *window)
{
	if (window->last != HT_NONE && m->works[window->last].end_ns >= window->host_end_ns)
		return (struct ht_cp_place){ .time_ns = window->end_ns, .work = window->last };
	/* a window that launched nothing ends with what the GPU still had to do; one stream has one order */
	bool own = window->last != HT_NONE && m->n_lanes > 1;
	uint32_t floor = own ? window->last : last_before(m, window->end_ns);
	struct ht_cp_place place = {
		.time_ns = window->end_ns, .work = HT_NONE, .track = window->track, .floor = floor
	};
	if (floor != HT_NONE) {
		int64_t end = m->works[floor].end_ns;
		place.floor_ns = end < window->end_ns ? end : window->end_ns;
	}
	return place;
}

/* Pieces of a path, kept. */
struct kept {
	struct ht_mem *mem;
	struct ht_vec *pieces;
};

static bool keep(void *user, const struct ht_cp_piece *piece)
{
	const struct kept *kept = user;
	return HT_VEC_PUSH(kept->mem, kept->pieces, struct ht_cp_piece, *piece);
}

static void turn_round(struct ht_cp_piece *pieces, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct ht_cp_piece later = pieces[i];
		pieces[i] = pieces[n - 1 - i];
		pieces[n - 1 - i] = later;
	}
}

enum ht_status ht_cp_walk(struct ht_run *run, struct ht_cp_model *m,
        const struct ht_cp_window *window, struct ht_vec *pieces)
{
	struct kept kept = { run->ctx->mem, pieces };
	const struct ht_cp_sink sink = { keep, &kept };
	struct ht_cp_place place = ht_cp_place_of_end(m, window);
	size_t left = 4 * (m->n_works + m->first_held[m->trace->n_tracks] +
	                          m->first_handover[m->trace->n_tracks] + 4);
	bool stored = true;
	pieces->n = 0;
	while (stored && place.time_ns > window->start_ns && left--)
		stored = ht_cp_walk_step(m, window->start_ns, &sink, &place);
	struct walk rest = { .m = m, .since_ns = window->start_ns, .sink = &sink };
	if (stored)
		put_host(&rest, window->track, window->start_ns, place.time_ns, true);
	turn_round(pieces->data, pieces->n);
	return stored && !rest.no_memory ? HT_OK : ht_fail_nomem(run->ctx);
}

enum ht_status ht_cp_idle_ns(struct ht_run *run, const struct ht_cp_model *m,
        const struct ht_cp_window *window, int64_t *ret_idle_ns)
{
	struct ht_vec vec = { 0 };
	bool stored = true;
	for (uint32_t d = 0; d < m->n_devices; d++) {
		uint32_t last = ht_cp_busy_before(m, d, window->end_ns);
		for (uint32_t i = last + 1; i-- > m->first_busy[d] && stored;) {
			struct ht_interval busy = { m->busy[i].start_ns, m->busy[i].end_ns };
			if (busy.end <= window->start_ns)
				break;
			busy.start = busy.start > window->start_ns ? busy.start : window->start_ns;
			busy.end = busy.end < window->end_ns ? busy.end : window->end_ns;
			if (busy.end > busy.start)
				stored = HT_VEC_PUSH(run->ctx->mem, &vec, struct ht_interval, busy);
		}
	}
	size_t n = ht_interval_merge(run->ctx->mem, vec.data, vec.n);
	*ret_idle_ns =
	        !m->n_devices ? HT_NO_I64
	                      : window->end_ns - window->start_ns - ht_interval_length(vec.data, n);
	ht_vec_free(run->ctx->mem, &vec, sizeof(struct ht_interval));
	return stored ? HT_OK : ht_fail_nomem(run->ctx);
}
