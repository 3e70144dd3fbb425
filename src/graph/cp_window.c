/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_window.c - the windows whose time is asked for: steps, annotations or everything. See cp_model.h.
 *
 * A window begins with a step (or annotation) on the host and ends with the step or with the last GPU work
 * launched in it, whichever is later. Work without a known launch belongs where it begins, unless it
 * was launched before the recording. Windows of steps overlap when the GPU is behind the host.
 */
#include "graph/cp_model.h"

#include "base/list.h"
#include "model/numbers/interval.h"
#include "model/rows/selection.h"
#include "model/steps/step_roles.h"
#include "base/sort.h"
#include "base/search.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

#define STEPS "ProfilerStep"

/* ---- which ---- */

/* Host rows whose name contains the text; rows may be NULL to count. match: by string id, 1 no, 2 yes. */
static size_t collect_rows(const struct ht_trace *t, const char *text, bool annotations,
        uint8_t *match, uint32_t *rows)
{
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		uint32_t name = t->name[row];
		bool fits = annotations ? t->kind[row] == HT_KIND_ANNOTATION
		                        : ht_cp_kind_is_host(t->kind[row]);
		if (!fits || name == HT_NO_STR || !ht_is_span(t, row))
			continue;
		if (!match[name])
			match[name] = strstr(ht_str(t, name), text) ? 2 : 1;
		if (match[name] == 1)
			continue;
		if (rows)
			rows[n] = row;
		n++;
	}
	return n;
}

/* Annotations so named in time order, or other host rows when there are none. */
static enum ht_status find_named(struct ht_run *run, const struct ht_trace *t, const char *text,
        uint32_t **ret_rows, size_t *ret_n)
{
	uint8_t *match = ht_arena_alloc(run->scratch, t->n_string_offsets + 1);
	if (!match)
		return ht_fail_nomem(run->ctx);
	bool annotations = true;
	size_t n = collect_rows(t, text, annotations, match, NULL);
	if (!n) {
		annotations = false;
		n = collect_rows(t, text, annotations, match, NULL);
	}
	uint32_t *rows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *rows);
	uint64_t *keys = ht_arena_alloc(run->scratch, (n + 1) * sizeof *keys);
	if (!rows || !keys)
		return ht_fail_nomem(run->ctx);
	collect_rows(t, text, annotations, match, rows);
	for (size_t i = 0; i < n; i++)
		keys[i] = ht_sort_key_i64(t->ts_ns[rows[i]]);
	if (!ht_sort_keys(run->ctx->mem, keys, rows, n))
		return ht_fail_nomem(run->ctx);
	*ret_rows = rows;
	*ret_n = n;
	return HT_OK;
}

static enum ht_status find_steps(
        struct ht_run *run, const struct ht_trace *t, uint32_t **ret_rows, size_t *ret_n)
{
	uint32_t *rows = ht_arena_alloc(run->scratch, (t->n_steps + 1) * sizeof *rows);
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_steps; k++)
		rows[k] = t->steps[k].row;
	*ret_rows = rows;
	*ret_n = t->n_steps;
	return HT_OK;
}

/* ---- windows ---- */

static void add_whole(struct ht_cp_model *m, int64_t start_ns, int64_t host_end_ns, int64_t end_ns)
{
	m->windows[m->n_windows++] = (struct ht_cp_window){ .step = HT_NO_I64,
		.start_ns = start_ns,
		.host_end_ns = host_end_ns,
		.owns_until_ns = end_ns,
		.end_ns = end_ns,
		.track = HT_NONE,
		.row = HT_NONE,
		.by_start = true };
}

/* All that was asked for; or what a trace without steps has in place of one, as every verb has it: how long the profiler
 * took to begin and to end is no time of the job. */
static enum ht_status whole_window(struct ht_run *run, struct ht_cp_model *m)
{
	const struct ht_trace_meta *meta = m->trace->meta;
	struct ht_bounds bounds = { 0 };
	if (!m->options.annotation) {
		HT_TRY(ht_bounds_make(run, &bounds));
		m->note = "no " STEPS
		          " in this rank: from its first operator to the end of its last work";
	}
	if (bounds.n)
		add_whole(m, bounds.list[0].start, bounds.list[0].host_end, bounds.list[0].end);
	else if (meta->min_ts_ns != HT_NO_I64)
		add_whole(m, meta->min_ts_ns, meta->max_end_ns, meta->max_end_ns);
	return HT_OK;
}

static struct ht_cp_window window_of(
        const struct ht_cp_model *m, uint32_t row, size_t instance, uint32_t i_step)
{
	const struct ht_trace *t = m->trace;
	const struct ht_step *own = i_step != HT_NONE ? &t->steps[i_step] : NULL;
	bool on_gpu = ht_kind_is_device(t->kind[row]);
	uint32_t step = i_step != HT_NONE ? i_step : ht_step_of(t, row);
	int64_t end_ns = own ? own->end_ns : ht_end_ns(t, row);
	return (struct ht_cp_window){ .instance = (int64_t)instance,
		.step = step == HT_NONE ? HT_NO_I64 : t->steps[step].number,
		.start_ns = own ? own->ts_ns : t->ts_ns[row],
		.host_end_ns = end_ns,
		.owns_until_ns = end_ns,
		.end_ns = end_ns,
		.track = on_gpu ? HT_NONE : t->track[row],
		.row = row,
		.by_start = on_gpu };
}

static enum ht_status choose(
        struct ht_run *run, struct ht_cp_model *m, const uint32_t *rows, size_t n, bool are_steps)
{
	const struct ht_cp_options *o = &m->options;
	struct ht_selection chosen;
	struct ht_list instances;
	HT_TRY(ht_selection_of(run, &chosen));
	HT_TRY(ht_list_parse(run->ctx, "--instance", o->instance, &instances));
	for (size_t k = 0; k < n; k++) {
		uint32_t step = are_steps ? (uint32_t)k : ht_step_of(m->trace, rows[k]);
		if (ht_selection_has(&chosen, step) && ht_list_has(&instances, (int64_t)k))
			m->windows[m->n_windows++] =
			        window_of(m, rows[k], k, are_steps ? (uint32_t)k : HT_NONE);
	}
	ht_list_done(run->ctx, &instances);
	return HT_OK;
}

enum ht_status ht_cp_windows_find(struct ht_run *run, struct ht_cp_model *m)
{
	const struct ht_trace *t = m->trace;
	const struct ht_cp_options *o = &m->options;
	uint32_t *rows = NULL;
	size_t n = 0;
	bool named = o->annotation && *o->annotation;
	if (named)
		HT_TRY(find_named(run, t, o->annotation, &rows, &n));
	else if (!o->annotation)
		HT_TRY(find_steps(run, t, &rows, &n));
	m->main_track = HT_NONE;
	m->windows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *m->windows);
	if (!m->windows)
		return ht_fail_nomem(run->ctx);
	if (!n && named) {
		m->note = ht_arena_printf(
		        run->scratch, "nothing on the host is named '%s'", o->annotation);
		return m->note ? HT_OK : ht_fail_nomem(run->ctx);
	}
	if (!n && !o->step)
		HT_TRY(whole_window(run, m));
	HT_TRY(choose(run, m, rows, n, !named));
	if (m->n_windows && m->windows[0].track != HT_NONE)
		m->main_track = m->windows[0].track;
	if (m->n_windows || !n)
		return HT_OK;
	if (o->step) {
		m->note = ht_arena_printf(run->scratch, "no step %s in this rank", o->step);
		return m->note ? HT_OK : ht_fail_nomem(run->ctx);
	}
	return ht_fail(run->ctx, HT_USAGE, t->path, -1, "instances count from 0 in time order",
	        "instance %s of '%s' does not exist: rank %lld has %zu", o->instance,
	        named ? o->annotation : STEPS, (long long)run->rank, n);
}

/* ---- their work ---- */

/* Is it when the window's work begins? */
static bool is_in_time(const struct ht_cp_window *window, const struct ht_cp_work *w)
{
	int64_t time = w->launch == HT_NONE || window->by_start ? w->start_ns : w->launch_ns;
	return time >= window->start_ns && time <= window->owns_until_ns &&
	       (!w->early || window->by_start);
}

bool ht_cp_window_owns(
        const struct ht_cp_model *m, const struct ht_cp_window *window, uint32_t work)
{
	const struct ht_trace *t = m->trace;
	const struct ht_cp_work *w = &m->works[work];
	/* Work is of the step that is open on the thread that launched it, or that it names: steps of two threads may overlap,
	 * and the next begins where this one ends. */
	uint32_t step = ht_step_of(t, w->row);
	bool is_others = window->step != HT_NO_I64 && step != HT_NONE &&
	                 (!window->by_start || t->steps[step].is_named) &&
	                 t->steps[step].number != window->step;
	return !is_others && is_in_time(window, w);
}

/* When the work could have begun, as far as its launch tells. */
static int64_t ready_ns(const struct ht_cp_work *work)
{
	return work->launch == HT_NONE ? work->start_ns : work->launch_ns;
}

/* The first place in by_launch (or in works, which stand by start) at or after a time. */
static size_t first_from(const struct ht_cp_model *m, bool by_start, int64_t time_ns)
{
	if (by_start)
		return HT_LOWER_BOUND(at, m->n_works, m->works[at].start_ns < time_ns);
	return HT_LOWER_BOUND(at, m->n_by_launch, ready_ns(&m->works[m->by_launch[at]]) < time_ns);
}

uint32_t ht_cp_first_running(const struct ht_cp_model *m, int64_t time_ns)
{
	size_t at = first_from(m, true, time_ns);
	while (at && m->works[m->latest[at - 1]].end_ns > time_ns)
		at--;
	return (uint32_t)at;
}

/* Windows stand by start. */
static bool join_deep(struct ht_cp_model *m)
{
	struct ht_depth depth = { 0 };
	for (size_t k = 0; k < m->n_windows; k++)
		ht_depth_add(&depth, m->windows[k].start_ns, m->windows[k].end_ns);
	if (ht_depth_is_steps(&depth))
		return false;
	struct ht_cp_window *all = &m->windows[0];
	for (size_t k = 1; k < m->n_windows; k++)
		if (m->windows[k].host_end_ns > all->host_end_ns)
			all->host_end_ns = all->owns_until_ns = m->windows[k].host_end_ns;
	all->step = HT_NO_I64;
	all->row = HT_NONE;
	m->n_windows = 1;
	m->note = "steps lie over one another: one critical path for all of them";
	return true;
}

static void close_all(struct ht_cp_model *m)
{
	for (size_t k = 0; k < m->n_windows; k++) {
		struct ht_cp_window *w = &m->windows[k];
		if (w->track == HT_NONE)
			w->track = m->main_track;
		w->last = HT_NONE;
		size_t at = first_from(m, w->by_start, w->start_ns);
		size_t n = w->by_start ? m->n_works : m->n_by_launch;
		for (; at < n; at++) {
			uint32_t work = w->by_start ? (uint32_t)at : m->by_launch[at];
			if (!is_in_time(w, &m->works[work]))
				break;
			if (!ht_cp_window_owns(m, w, work))
				continue;
			if (w->last == HT_NONE || m->works[work].end_ns > m->works[w->last].end_ns)
				w->last = work;
		}
		int64_t last_ns = w->last == HT_NONE ? w->host_end_ns : m->works[w->last].end_ns;
		w->end_ns = last_ns > w->host_end_ns ? last_ns : w->host_end_ns;
	}
}

void ht_cp_windows_close(struct ht_cp_model *m)
{
	join_deep(m);
	close_all(m);
	if (join_deep(m))
		close_all(m);
}
