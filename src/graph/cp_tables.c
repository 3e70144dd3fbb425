/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_tables.c - the views of the critical path. See cp_tables.h.
 */
#include "graph/cp_tables.h"

#include "base/search.h"
#include "graph/cp_links.h"
#include "graph/cp_rows.h"
#include "model/device/launch.h"
#include "model/origin/find_origins.h"
#include "model/rows/work_names.h"
#include "model/steps/timed_steps.h"
#include "store/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct ht_column ht_cp_path_columns[] = HT_COLUMN_ENTRIES(HT_CP_PATH_COLUMNS);
const struct ht_column ht_cp_what_if_columns[] = HT_COLUMN_ENTRIES(HT_CP_WHAT_IF_COLUMNS);

enum ht_cp_view_kind ht_cp_view_find(const char *name)
{
	static const char *const names[HT_CP_N_VIEWS] = {
		[HT_CP_VIEW_SUMMARY] = "summary",
		[HT_CP_VIEW_GRAPH] = "graph",
		[HT_CP_VIEW_PATH] = "path",
		[HT_CP_VIEW_EDGES] = "edges",
		[HT_CP_VIEW_EVENTS] = "events",
		[HT_CP_VIEW_WHAT_IF] = "what-if",
		[HT_CP_VIEW_COLLECTIVES] = "collectives",
	};
	for (int k = 0; k < HT_CP_N_VIEWS; k++) {
		if (!strcmp(names[k], name))
			return k;
	}
	return HT_CP_VIEW_SUMMARY;
}

/* ---- cells ---- */

void ht_cp_put_key(ht_table *table, const struct ht_run *run, const struct ht_cp_window *window)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_CP_KEY_RANK, run->rank);
	ht_table_put_i64(table, HT_CP_KEY_INSTANCE, window->instance);
	ht_table_put_known(table, HT_CP_KEY_STEP, window->step, HT_NO_I64);
}

void ht_cp_put_text(ht_table *table, size_t column, const char *text)
{
	ht_table_put_str(table, column, text && *text ? text : NULL);
}

void ht_cp_put_event(ht_table *table, size_t column, const struct ht_run *run, uint32_t row)
{
	const struct ht_trace *t = run->trace;
	if (row == HT_NONE) {
		ht_table_put_nulls(table, column, column + HT_CP_N_EVENT_CELLS);
		return;
	}
	const char *name = ht_str(t, t->name[row]);
	ht_table_put_str(table, column + HT_CP_NAMED_NAME, name);
	ht_table_put_str(table, column + HT_CP_NAMED_SHORT_NAME, ht_name_shorten(run, name));
	ht_cp_put_text(table, column + HT_CP_NAMED_CAT, ht_cat(t, row));
	ht_put_track(table, column + HT_CP_NAMED_PID, t, row);
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	ht_table_put_known(
	        table, column + HT_CP_NAMED_STREAM, gpu ? gpu->stream : HT_NO_I64, HT_NO_I64);
}

/* ---- one window ---- */

struct shown {
	struct ht_run *run;
	const char *scale;
	struct ht_cp_model *m;
	struct ht_cp_clock *clock; /* views that need it */
	struct ht_cp_rules rules;  /* of what-if */
	struct ht_cp_rows *rows;   /* of events */
	const struct ht_cp_window *window;
	struct ht_cp_piece *pieces;
	size_t n;
	const struct ht_timed_step *steps; /* of summary, in time */
	size_t n_steps;
	const struct ht_origins *origins; /* NULL: of no view that has them */
	ht_table *table;
};

struct total {
	const char *name;
	int64_t ns, inferred_ns, n;
};

static int compare_totals(const void *left, const void *right)
{
	const struct total *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sum_up(const struct shown *s, struct total *totals)
{
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		totals[k].name = ht_cp_bound_name(k);
	for (size_t i = 0; i < s->n; i++) {
		const struct ht_cp_piece *piece = &s->pieces[i];
		struct total *total = &totals[piece->bound];
		int64_t ns = piece->end_ns - piece->start_ns;
		total->ns += ns;
		total->inferred_ns += piece->inferred ? ns : 0;
		total->n++;
	}
}

static int64_t window_ns(const struct shown *s)
{
	return s->window->end_ns - s->window->start_ns;
}

/* Of the step that is the window. */
static int64_t step_time_ns(const struct shown *s)
{
	if (s->window->step == HT_NO_I64)
		return HT_NO_I64;
	size_t at = HT_LOWER_BOUND(i, s->n_steps, s->steps[i].start_ns < s->window->start_ns);
	for (; at < s->n_steps && s->steps[at].start_ns == s->window->start_ns; at++)
		if (s->steps[at].number == s->window->step)
			return s->steps[at].time_ns;
	return HT_NO_I64;
}

static enum ht_status put_summary(struct shown *s)
{
	struct total totals[HT_CP_N_BOUNDS] = { 0 };
	int64_t idle_ns, length = window_ns(s);
	sum_up(s, totals);
	HT_TRY(ht_cp_idle_ns(s->run, s->m, s->window, &idle_ns));
	qsort(totals, HT_CP_N_BOUNDS, sizeof *totals, compare_totals);
	for (int k = 0; k < HT_CP_N_BOUNDS; k++) {
		if (!totals[k].n)
			continue;
		ht_cp_put_key(s->table, s->run, s->window);
		ht_table_put_str(s->table, HT_CP_SUMMARY_BOUND_BY, totals[k].name);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_DURATION_NS, totals[k].ns);
		ht_table_put_f64(
		        s->table, HT_CP_SUMMARY_SHARE, (double)totals[k].ns / (double)length);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_INFERRED_NS, totals[k].inferred_ns);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_WINDOW_NS, length);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_STEP_NS,
		        s->window->host_end_ns - s->window->start_ns);
		ht_table_put_known(s->table, HT_CP_SUMMARY_IDLE_NS, idle_ns, HT_NO_I64);
		ht_table_put_i64(s->table, HT_CP_SUMMARY_N_EDGES, totals[k].n);
		ht_table_put_known(
		        s->table, HT_CP_SUMMARY_STEP_TIME_NS, step_time_ns(s), HT_NO_I64);
	}
	return HT_OK;
}

static enum ht_status put_path(struct shown *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct ht_cp_piece *piece = &s->pieces[i];
		ht_cp_put_key(s->table, s->run, s->window);
		ht_table_put_known(s->table, HT_CP_PATH_INDEX, piece->row, HT_NONE);
		ht_table_put_i64(s->table, HT_CP_PATH_TS, piece->start_ns);
		ht_table_put_i64(s->table, HT_CP_PATH_DURATION, piece->end_ns - piece->start_ns);
		ht_table_put_str(s->table, HT_CP_PATH_TYPE, ht_cp_type_name(piece->type));
		ht_cp_put_event(s->table, HT_CP_PATH_NAME, s->run, piece->row);
		ht_table_put_str(s->table, HT_CP_PATH_BOUND, ht_cp_bound_name(piece->bound));
		ht_table_put_i64(s->table, HT_CP_PATH_INFERRED, piece->inferred);
		ht_origin_put(s->table, HT_CP_PATH_ORIGIN_OP, s->origins, piece->row);
	}
	return HT_OK;
}

static enum ht_status put_edges(struct shown *s)
{
	struct ht_cp_link *links;
	size_t n;
	HT_TRY(ht_cp_slack_find(s->clock, s->window));
	HT_TRY(ht_cp_links_make(s->clock, &links, &n));
	for (size_t i = 0; i < n; i++) {
		ht_cp_put_key(s->table, s->run, s->window);
		ht_table_put_i64(s->table, HT_CP_EDGE_FROM_INDEX, links[i].from);
		ht_table_put_str(
		        s->table, HT_CP_EDGE_FROM_POINT, links[i].from_end ? "end" : "start");
		ht_table_put_i64(s->table, HT_CP_EDGE_TO_INDEX, links[i].to);
		ht_table_put_str(s->table, HT_CP_EDGE_TO_POINT, links[i].to_end ? "end" : "start");
		ht_table_put_known(s->table, HT_CP_EDGE_INDEX, links[i].row, HT_NONE);
		ht_table_put_i64(s->table, HT_CP_EDGE_DURATION_NS, links[i].weight_ns);
		ht_table_put_str(s->table, HT_CP_EDGE_TYPE, ht_cp_type_name(links[i].type));
		ht_cp_put_text(s->table, HT_CP_EDGE_BOUND_BY, ht_cp_bound_name(links[i].bound));
		ht_table_put_known(s->table, HT_CP_EDGE_SLACK_NS, links[i].slack_ns, HT_CP_FREE);
		ht_table_put_i64(s->table, HT_CP_EDGE_CRITICAL, links[i].slack_ns == 0);
	}
	return HT_OK;
}

/* ---- sizes ---- */

static int compare_ids(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

static int64_t count_distinct(uint64_t *ids, size_t n)
{
	int64_t distinct = 0;
	qsort(ids, n, sizeof *ids, compare_ids);
	for (size_t i = 0; i < n; i++)
		distinct += !i || ids[i] != ids[i - 1];
	return distinct;
}

static enum ht_status put_graph(struct shown *s)
{
	struct ht_cp_link *links;
	struct total totals[HT_CP_N_BOUNDS] = { 0 };
	size_t n_links, n_rows = 0;
	int64_t idle_ns, inferred_ns = 0;
	sum_up(s, totals);
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		inferred_ns += totals[k].inferred_ns;
	HT_TRY(ht_cp_idle_ns(s->run, s->m, s->window, &idle_ns));
	HT_TRY(ht_cp_slack_find(s->clock, s->window));
	HT_TRY(ht_cp_links_make(s->clock, &links, &n_links));
	size_t room = (s->n > n_links ? s->n : n_links) + 1;
	uint64_t *ids = ht_arena_alloc(s->run->scratch, 2 * room * sizeof *ids);
	if (!ids)
		return ht_fail_nomem(s->run->ctx);
	for (size_t i = 0; i < s->n; i++) {
		if (s->pieces[i].row != HT_NONE)
			ids[n_rows++] = s->pieces[i].row;
	}
	ht_cp_put_key(s->table, s->run, s->window);
	ht_table_put_i64(s->table, HT_CP_GRAPH_WINDOW_START_NS, s->window->start_ns);
	ht_table_put_i64(s->table, HT_CP_GRAPH_WINDOW_NS, window_ns(s));
	ht_table_put_i64(
	        s->table, HT_CP_GRAPH_STEP_NS, s->window->host_end_ns - s->window->start_ns);
	ht_table_put_known(s->table, HT_CP_GRAPH_IDLE_NS, idle_ns, HT_NO_I64);
	ht_table_put_i64(s->table, HT_CP_GRAPH_LENGTH_NS, window_ns(s));
	ht_table_put_i64(s->table, HT_CP_GRAPH_INFERRED_NS, inferred_ns);
	ht_table_put_i64(s->table, HT_CP_GRAPH_N_EVENTS, count_distinct(ids, n_rows));
	ht_table_put_i64(s->table, HT_CP_GRAPH_N_NODES, s->n ? (int64_t)s->n + 1 : 0);
	ht_table_put_i64(s->table, HT_CP_GRAPH_N_EDGES, (int64_t)s->n);
	for (size_t i = 0; i < n_links; i++) {
		ids[2 * i] = 2 * (uint64_t)links[i].from + links[i].from_end;
		ids[2 * i + 1] = 2 * (uint64_t)links[i].to + links[i].to_end;
	}
	ht_table_put_i64(s->table, HT_CP_GRAPH_GRAPH_NODES, count_distinct(ids, 2 * n_links));
	ht_table_put_i64(s->table, HT_CP_GRAPH_GRAPH_EDGES, (int64_t)n_links);
	return HT_OK;
}

/* ---- events ---- */

static void put_one_event(struct shown *s, uint32_t row, int64_t path_ns, int64_t slack)
{
	const struct ht_trace *t = s->m->trace;
	ht_cp_put_key(s->table, s->run, s->window);
	ht_table_put_i64(s->table, HT_CP_EVENT_INDEX, row);
	ht_table_put_i64(s->table, HT_CP_EVENT_TS_NS, t->ts_ns[row]);
	ht_cp_put_event(s->table, HT_CP_EVENT_NAME, s->run, row);
	ht_table_put_i64(s->table, HT_CP_EVENT_DUR_NS, t->dur_ns[row]);
	ht_table_put_i64(s->table, HT_CP_EVENT_PATH_NS, path_ns);
	ht_table_put_known(s->table, HT_CP_EVENT_SLACK_NS, slack, HT_CP_FREE);
	ht_table_put_i64(s->table, HT_CP_EVENT_CRITICAL, path_ns > 0 || slack == 0);
	ht_origin_put(s->table, HT_CP_EVENT_ORIGIN_OP, s->origins, row);
}

static enum ht_status put_events(struct shown *s)
{
	struct ht_cp_rows *rows = s->rows;
	HT_TRY(ht_cp_rows_find(rows, s->window, s->pieces, s->n));
	HT_TRY(ht_cp_slack_find(s->clock, s->window));
	const uint32_t *found = rows->found.data;
	for (size_t i = 0; i < rows->found.n; i++) {
		uint32_t work = ht_cp_rows_work(rows, found[i]);
		put_one_event(s, found[i], rows->path_ns[found[i]],
		        work == HT_NONE ? s->clock->row_slack[found[i]]
		                        : s->clock->work_slack[work]);
	}
	return HT_OK;
}

/* ---- what if ---- */

static void put_rules(struct shown *s, struct ht_cp_rules *rules, bool only_matching)
{
	struct ht_cp_retimed retimed;
	ht_cp_retime(s->clock, s->window, rules, &retimed);
	if (only_matching && !retimed.n_matched)
		return;
	int64_t length = window_ns(s), saved = length - retimed.length_ns;
	ht_cp_put_key(s->table, s->run, s->window);
	ht_table_put_str(s->table, HT_CP_WHAT_IF_SCALE, rules->text);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_LENGTH, length);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_NEW_LENGTH, retimed.length_ns);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_SAVED, saved);
	ht_table_put_f64(s->table, HT_CP_WHAT_IF_SAVED_SHARE,
	        length > 0 ? (double)saved / (double)length : NAN);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_MATCHED, retimed.matched_ns);
	ht_table_put_i64(s->table, HT_CP_WHAT_IF_N_EDGES, (int64_t)retimed.n_matched);
}

enum ht_status ht_cp_scale_read(
        struct ht_run *run, const char *scale, struct ht_cp_rules *ret_rules)
{
	for (int k = HT_CP_BOUND_NONE + 1, given = scale != NULL; !given && k < HT_CP_N_BOUNDS;
	        k++) {
		/* nobody knows what there could be less of */
		if (k == HT_CP_BOUND_UNRECORDED || k == HT_CP_BOUND_QUEUED)
			continue;
		scale = ht_arena_printf(run->scratch, "%s%s%s=0", scale ? scale : "",
		        scale ? "," : "", ht_cp_bound_name(k));
		if (!scale)
			return ht_fail_nomem(run->ctx);
	}
	HT_TRY(ht_cp_rules_read(run, run->trace, scale, ret_rules));
	if (!ht_cp_rules_need_job(ret_rules))
		return HT_OK;
	ht_cp_rules_done(ret_rules);
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "use what-if, which replays all ranks of a job",
	        "scale '%s' is about several ranks", scale);
}

/* No window gets shorter by more than its path has of something. */
static bool is_on_path(const struct shown *s, const struct ht_cp_rule *rule)
{
	for (size_t i = 0; i < s->n; i++)
		if (rule->bounds >> s->pieces[i].bound & 1)
			return true;
	return false;
}

/* All that keeps a device from running kernels at once: parts that hide each other save more together than each alone. */
static void put_idle(struct shown *s)
{
	struct ht_cp_rule list[HT_CP_N_BOUNDS];
	struct ht_cp_rules idle = { HT_CP_SCALE_IDLE, list, 0, s->rules.parent };
	for (size_t k = 0; k < s->rules.n && idle.n < HT_COUNT(list); k++)
		if (!(s->rules.list[k].bounds & ~HT_CP_IDLE_BOUNDS))
			list[idle.n++] = s->rules.list[k];
	put_rules(s, &idle, true);
}

static enum ht_status put_what_if(struct shown *s)
{
	for (size_t k = 0; k < s->rules.n; k++) {
		if (s->m->options.only_on_path && !is_on_path(s, &s->rules.list[k]))
			continue;
		struct ht_cp_rules one = { s->rules.list[k].text, &s->rules.list[k], 1,
			s->rules.parent };
		put_rules(s, &one, !s->scale);
	}
	if (s->m->options.only_on_path)
		put_idle(s);
	if (s->scale && s->rules.n > 1)
		put_rules(s, &s->rules, false);
	return HT_OK;
}

/* ---- a rank ---- */

static enum ht_status put_windows(struct shown *s, enum ht_cp_view_kind view)
{
	static enum ht_status (*const fill[HT_CP_N_VIEWS])(struct shown *) = {
		[HT_CP_VIEW_SUMMARY] = put_summary,
		[HT_CP_VIEW_GRAPH] = put_graph,
		[HT_CP_VIEW_PATH] = put_path,
		[HT_CP_VIEW_EDGES] = put_edges,
		[HT_CP_VIEW_EVENTS] = put_events,
		[HT_CP_VIEW_WHAT_IF] = put_what_if,
	};
	struct ht_vec path = { 0 };
	enum ht_status status = HT_OK;
	for (size_t k = 0; k < s->m->n_windows && status == HT_OK; k++) {
		s->window = &s->m->windows[k];
		if (s->window->end_ns == s->window->start_ns)
			continue;
		status = ht_cp_walk(s->run, s->m, s->window, &path);
		s->pieces = path.data;
		s->n = path.n;
		if (status == HT_OK)
			status = fill[view](s);
	}
	ht_vec_free(s->run->ctx->mem, &path, sizeof *s->pieces);
	return status;
}

static enum ht_status put_clocked(struct shown *s, enum ht_cp_view_kind view)
{
	struct ht_cp_clock clock;
	HT_TRY(ht_cp_clock_make(
	        s->run, s->m, view == HT_CP_VIEW_WHAT_IF ? HT_CP_FORWARD : HT_CP_BACKWARD, &clock));
	s->clock = &clock;
	/* rules are about all windows of the rank: they are read once */
	enum ht_status status =
	        view == HT_CP_VIEW_WHAT_IF ? ht_cp_scale_read(s->run, s->scale, &s->rules) : HT_OK;
	struct ht_cp_rows rows = { .run = s->run };
	s->rows = &rows;
	if (status == HT_OK && view == HT_CP_VIEW_EVENTS)
		status = ht_cp_rows_init(s->run, s->m, &rows);
	if (status == HT_OK)
		status = put_windows(s, view);
	ht_cp_rows_done(&rows);
	ht_cp_rules_done(&s->rules);
	ht_cp_clock_done(&clock);
	return status;
}

enum ht_status ht_cp_put_model(struct ht_run *run, const struct ht_cp_options *options,
        enum ht_cp_view_kind view, const char *scale, ht_table *table)
{
	struct ht_cp_model m;
	HT_TRY(ht_cp_model_make(run, options, &m));
	struct ht_origins origins;
	struct shown s = { .run = run, .scale = scale, .m = &m, .table = table };
	bool clocked = view != HT_CP_VIEW_SUMMARY && view != HT_CP_VIEW_PATH;
	struct ht_timed_step *steps = NULL;
	enum ht_status status = ht_timed_steps_make(
	        run, run->trace->steps, run->trace->n_steps, &steps, &s.n_steps);
	s.steps = steps;
	if (status == HT_OK && (view == HT_CP_VIEW_PATH || view == HT_CP_VIEW_EVENTS)) {
		status = ht_origins_make(run, true, &origins);
		s.origins = &origins;
	}
	if (status == HT_OK && m.note)
		status = ht_table_add_note(table, "rank %lld: %s", (long long)run->rank, m.note);
	if (status == HT_OK && m.n_windows)
		status = clocked ? put_clocked(&s, view) : put_windows(&s, view);
	ht_cp_model_done(&m);
	return status;
}
