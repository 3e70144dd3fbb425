/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_thread.c - host threads as a sequence of innermost rows, and how they hand over. See cp_model.h.
 *
 * A row that outlives the one around it ends with it. An operator of the top level on the main thread or an
 * autograd thread goes on where the last such operator ended, when that was on another of these threads:
 *
 *   main      [ A ]          [ C ]       B begins where A ended, C where B ended
 *   autograd         [ B ]
 *
 * Blind to other ways in which threads wait for each other.
 */
#include "graph/cp_model.h"
#include "graph/cp_look.h"
#include "store/args.h"

#include "base/sort.h"
#include "base/search.h"

bool ht_cp_kind_is_host(uint8_t kind)
{
	return kind == HT_KIND_CPU_OP || kind == HT_KIND_ANNOTATION || kind == HT_KIND_PYTHON ||
	       ht_kind_is_call(kind) || kind == HT_KIND_OTHER;
}

static bool is_operator(uint8_t kind)
{
	return kind == HT_KIND_CPU_OP || ht_kind_is_call(kind);
}

/* An operator that no other one is around. */
struct top {
	int64_t start_ns, end_ns;
	uint32_t track, pad;
};

struct open_row {
	int64_t end_ns;
	uint32_t row;
	uint32_t is_operator;
};

struct sweep {
	struct ht_cp_model *m;
	uint32_t n_spans;
	uint32_t first;        /* span of the track */
	struct open_row *open; /* innermost last */
	size_t depth, n_operators;
	struct top *tops;
	size_t n_tops;
};

static void begin_span(struct sweep *s, int64_t time_ns, uint32_t mark)
{
	struct ht_cp_span *spans = s->m->spans;
	uint32_t row = s->depth ? s->open[s->depth - 1].row : HT_NONE;
	if (s->n_spans > s->first && spans[s->n_spans - 1].start_ns == time_ns)
		s->n_spans--;
	spans[s->n_spans++] = (struct ht_cp_span){ time_ns, row, mark };
}

static void close_until(struct sweep *s, int64_t time_ns)
{
	while (s->depth && s->open[s->depth - 1].end_ns <= time_ns) {
		struct open_row closed = s->open[--s->depth];
		s->n_operators -= closed.is_operator;
		begin_span(s, closed.end_ns, closed.row);
	}
}

static void open(struct sweep *s, uint32_t row, uint32_t track)
{
	const struct ht_trace *t = s->m->trace;
	int64_t start = t->ts_ns[row], end = ht_end_ns(t, row);
	close_until(s, start);
	if (s->depth && end > s->open[s->depth - 1].end_ns)
		end = s->open[s->depth - 1].end_ns;
	bool operator_ = is_operator(t->kind[row]);
	if (operator_ && !s->n_operators)
		s->tops[s->n_tops++] = (struct top){ start, end, track, 0 };
	s->open[s->depth++] = (struct open_row){ end, row, operator_ };
	s->n_operators += operator_;
	begin_span(s, start, row);
}

static enum ht_status sweep_track(
        struct sweep *s, struct ht_run *run, struct ht_arena *own, uint32_t track)
{
	const struct ht_trace *t = s->m->trace;
	const uint32_t *rows = NULL;
	size_t n = 0;
	HT_TRY(ht_cp_track_rows(run, s->m, track, own, &rows, &n));
	s->first = s->n_spans;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = rows[i];
		if (ht_cp_kind_is_host(t->kind[row]) && ht_is_span(t, row) && t->dur_ns[row] > 0)
			open(s, row, track);
	}
	close_until(s, INT64_MAX);
	return HT_OK;
}

/* ---- handing over ---- */

static enum ht_status find_autograd(
        struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own, bool **ret_member)
{
	const struct ht_trace *t = m->trace;
	bool *member = ht_arena_alloc(own, t->n_tracks + 1);
	if (!member)
		return ht_fail_nomem(run->ctx);
	/* until 2021 the engine's own rows were not recorded, only what they run */
	struct ht_arg_cursor forward = ht_arg_cursor(t, "Fwd thread id");
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] == HT_KIND_CPU_OP && !member[t->track[row]] &&
		        ((ht_cp_names_bits(&m->names, row) & HT_CP_NAME_AUTOGRAD) ||
		                ht_arg_cursor_i64(&forward, row, 0) != 0))
			member[t->track[row]] = true;
	}
	*ret_member = member;
	return HT_OK;
}

/* The thread of the windows; else the busiest one that does not run autograd, or that does. */
static void find_main(struct ht_cp_model *m, const bool *autograd)
{
	const struct ht_trace *t = m->trace;
	uint32_t most = 0;
	for (int any = 0; any < 2 && m->main_track == HT_NONE; any++) {
		for (uint32_t k = 0; k < t->n_tracks; k++) {
			uint32_t n = m->first_span[k + 1] - m->first_span[k];
			if (n > most && (any || !autograd[k])) {
				most = n;
				m->main_track = k;
			}
		}
	}
}

static enum ht_status sort_tops(struct ht_run *run, struct ht_arena *own, const struct top *tops,
        size_t n, bool by_end, uint32_t **ret_order)
{
	uint64_t *keys = ht_arena_room(own, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_room(own, (n + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(by_end ? tops[i].end_ns : tops[i].start_ns);
		order[i] = i;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, order, n))
		return ht_fail_nomem(run->ctx);
	*ret_order = order;
	return HT_OK;
}

/* tops stand by track and start, so the handovers do when they are made in that order. */
static enum ht_status hand_over(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own,
        const struct top *tops, size_t n)
{
	uint32_t *by_start, *by_end;
	HT_TRY(sort_tops(run, own, tops, n, false, &by_start));
	HT_TRY(sort_tops(run, own, tops, n, true, &by_end));
	uint32_t *source = ht_arena_room(own, (n + 1) * sizeof *source);
	m->handovers = ht_arena_room(run->scratch, (n + 1) * sizeof *m->handovers);
	m->first_handover =
	        ht_arena_alloc(run->scratch, (m->trace->n_tracks + 2) * sizeof(uint32_t));
	if (!source || !m->handovers || !m->first_handover)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0, ended = 0; i < n; i++) {
		while (ended < n && tops[by_end[ended]].end_ns <= tops[by_start[i]].start_ns)
			ended++;
		source[by_start[i]] = ended ? by_end[ended - 1] : HT_NONE;
	}
	uint32_t n_handovers = 0, track = 0;
	for (uint32_t i = 0; i < n; i++) {
		while (track < tops[i].track)
			m->first_handover[++track] = n_handovers;
		if (source[i] == HT_NONE || tops[source[i]].track == tops[i].track)
			continue;
		bool follows = i && tops[i - 1].track == tops[i].track;
		m->handovers[n_handovers++] = (struct ht_cp_handover){ .time_ns = tops[i].start_ns,
			.from_ns = tops[source[i]].end_ns,
			.own_ns = follows ? tops[i - 1].end_ns : HT_NO_I64,
			.track = tops[i].track,
			.from_track = tops[source[i]].track };
	}
	while (track < m->trace->n_tracks)
		m->first_handover[++track] = n_handovers;
	return HT_OK;
}

static bool same_process(const struct ht_track *a, const struct ht_track *b)
{
	return a->pid == b->pid && a->pid_type == b->pid_type && a->document == b->document;
}

/* What stays is in run->scratch, what goes in own. */
static enum ht_status make(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own)
{
	const struct ht_trace *t = m->trace;
	struct sweep s = { .m = m };
	size_t n_rows = 0;
	for (uint32_t row = 0; row < t->n_kind; row++)
		n_rows += ht_cp_kind_is_host(t->kind[row]);
	m->has_host = n_rows > 0;
	m->spans = ht_arena_room(run->scratch, (2 * n_rows + 1) * sizeof *m->spans);
	m->first_span = ht_arena_alloc(run->scratch, (t->n_tracks + 2) * sizeof(uint32_t));
	s.open = ht_arena_room(own, (n_rows + 1) * sizeof *s.open);
	s.tops = ht_arena_room(own, (n_rows + 1) * sizeof *s.tops);
	if (!m->spans || !m->first_span || !s.open || !s.tops)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < t->n_tracks; k++) {
		HT_TRY(sweep_track(&s, run, own, k));
		m->first_span[k + 1] = s.n_spans;
	}
	bool *member = NULL;
	m->bound_of_row = ht_arena_alloc(run->scratch, ht_n_events(t) + (size_t)1);
	if (!m->bound_of_row)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_autograd(run, m, own, &member));
	find_main(m, member);
	size_t n = 0;
	for (size_t i = 0; i < s.n_tops && m->main_track != HT_NONE; i++) {
		uint32_t track = s.tops[i].track;
		if ((member[track] || track == m->main_track) &&
		        same_process(&t->tracks[track], &t->tracks[m->main_track]))
			s.tops[n++] = s.tops[i];
	}
	return hand_over(run, m, own, s.tops, n);
}

enum ht_status ht_cp_threads_make(struct ht_run *run, struct ht_cp_model *m)
{
	struct ht_arena own;
	ht_arena_init_like(&own, run->scratch);
	enum ht_status status = make(run, m, &own);
	ht_arena_done(&own);
	return status;
}

/* ---- asking ---- */

uint32_t ht_cp_span_at(const struct ht_cp_model *m, uint32_t track, int64_t time_ns)
{
	uint32_t first = m->first_span[track], end = m->first_span[track + 1];
	uint32_t low = first + (uint32_t)HT_LOWER_BOUND(
	                               at, end - first, m->spans[first + at].start_ns <= time_ns);
	return low > first ? low - 1 : HT_NONE;
}

enum ht_cp_bound ht_cp_host_bound(struct ht_cp_model *m, uint32_t row)
{
	if (!m->has_host)
		return HT_CP_BOUND_UNRECORDED;
	if (!m->options.data_load)
		return HT_CP_BOUND_CPU;
	/* up to where it is known, then down again: each row is looked at once, however deep the calls */
	const uint32_t *parent = m->trace->parent;
	uint8_t bound = HT_CP_BOUND_CPU;
	uint32_t top = row;
	for (; top != HT_NONE && bound == HT_CP_BOUND_CPU; top = parent[top]) {
		if (m->bound_of_row[top] != HT_CP_BOUND_NONE) {
			bound = m->bound_of_row[top];
			break;
		}
		if (ht_cp_names_bits(&m->names, top) & HT_CP_NAME_DATA_LOAD)
			bound = HT_CP_BOUND_DATA_LOADING;
	}
	for (; row != top; row = parent[row])
		m->bound_of_row[row] = bound;
	return (enum ht_cp_bound)bound;
}

/* The last entry of a slice whose time is before the limit; HT_NONE: none. */
static uint32_t last_held(const struct ht_cp_model *m, uint32_t track, int64_t limit_ns)
{
	uint32_t first = m->first_held[track], end = m->first_held[track + 1];
	uint32_t low = first + (uint32_t)HT_LOWER_BOUND(
	                               at, end - first, m->held[first + at].end_ns <= limit_ns);
	return low > first ? low - 1 : HT_NONE;
}

static uint32_t last_handover(const struct ht_cp_model *m, uint32_t track, int64_t limit_ns)
{
	uint32_t first = m->first_handover[track], end = m->first_handover[track + 1];
	uint32_t low = first + (uint32_t)HT_LOWER_BOUND(at, end - first,
	                               m->handovers[first + at].time_ns <= limit_ns);
	return low > first ? low - 1 : HT_NONE;
}

struct ht_cp_anchor ht_cp_anchor_before(
        const struct ht_cp_model *m, uint32_t track, int64_t time_ns, bool handed)
{
	struct ht_cp_anchor anchor = { HT_NO_I64, last_held(m, track, time_ns),
		last_handover(m, track, handed ? time_ns - 1 : time_ns) };
	int64_t held = anchor.held == HT_NONE ? HT_NO_I64 : m->held[anchor.held].end_ns;
	int64_t handover =
	        anchor.handover == HT_NONE ? HT_NO_I64 : m->handovers[anchor.handover].time_ns;
	anchor.time_ns = held > handover ? held : handover;
	if (held > handover)
		anchor.handover = HT_NONE;
	else
		anchor.held = HT_NONE;
	return anchor;
}
