/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - the events themselves, with any column: what every other number can be walked back to.
 *
 * One row per event in file order (rank, index); index is the position in the file's traceEvents. ts_ns
 * is the file's ts exactly, in nanoseconds, without base time; dur_ns is null where the file has none.
 * Further columns on request by name: those below, args.KEY for any argument, type.KEY for what it is in the
 * file (string, json, int, ...), event.KEY for any further key of the event. All events are shown, whatever
 * the step, unless --step or --annotation say otherwise.
 *
 * The policy may list the rows of the frame instead, in its order, and has derived columns of its own.
 *
 * With --et, et.KEY names what the execution trace of the same window says about an event (et_cells.h).
 *
 * ancestors-of, descendants-of and kernels-under walk the call tree of one event (by index); with several
 * ranks give --rank as well. kernels-under also takes an operator's name and then means all its calls.
 */
#include "analysis/analysis.h"
#include "model/origin/find_origins.h"
#include "model/policy.h"
#include "store/args.h"
#include "store/columns.h"

#include "model/events/event_value.h"
#include "base/glob.h"
#include "et/et_cells.h"
#include "model/events/event_filter.h"

#include <string.h>

static bool wants_facts(const struct ht_run *run);
static enum ht_status list_events(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_INDEX, "index", HT_I64, HT_KEY, "position in the file's traceEvents, from 0",   \
	        NULL)                                                                              \
	COLUMN(COL_TS_NS, "ts_ns", HT_TIME, HT_MEASURE,                                            \
	        "start as in the file, base time not added", NULL)                                 \
	COLUMN(COL_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE,                                      \
	        "duration as in the file; absent when the file has none", NULL)                    \
	COLUMN(COL_PH, "ph", HT_STR, HT_MEASURE,                                                   \
	        "phase: X span, i instant, C counter, M metadata, s t f flow, B E b n e", NULL)    \
	COLUMN(COL_CAT, "cat", HT_STR, HT_MEASURE, "category as in the file", NULL)                \
	COLUMN(COL_NAME, "name", HT_STR, HT_MEASURE, "name", NULL)                                 \
	COLUMN(COL_PID, "pid", HT_STR, HT_MEASURE,                                                 \
	        "process id or name; device index for GPU activity", NULL)                         \
	COLUMN(COL_TID, "tid", HT_STR, HT_MEASURE, "thread id or name; stream for GPU activity",   \
	        NULL)                                                                              \
	COLUMN(COL_DEVICE, "device", HT_I64, HT_DETAIL, "device of GPU activity", NULL)            \
	COLUMN(COL_STREAM, "stream", HT_I64, HT_DETAIL, "stream argument", NULL)                   \
	COLUMN(COL_CORRELATION, "correlation", HT_I64, HT_DETAIL,                                  \
	        "correlation id that launch and GPU activity share", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "ancestors-of", HT_I64, NULL, "only the events around this index on the call tree",
	        NULL },
	{ "descendants-of", HT_I64, NULL, "only the events inside this index on the call tree",
	        NULL },
	{ "kernels-under", HT_STR, NULL,
	        "only GPU activity launched inside this index, or operator name", NULL },
	{ "et", HT_STR, NULL,
	        "execution traces for columns et.node, et.op_schema, ...: files, folders or RANK=FILE, one per line",
	        NULL },
	{ "leaves", HT_BOOL, "false", "only spans that enclose no other span", NULL },
	{ "from", HT_TIME, NULL, "only events that end at this time of the file's clock or later",
	        NULL },
	{ "only", HT_STR, "all", "only rows of the GPU's timelines, or only those of the host",
	        "all|gpu|host" },
	{ "to", HT_TIME, NULL, "only events that start at this time of the file's clock or earlier",
	        NULL },
};

const struct ht_analysis ht_analysis_events = {
	.info = {
		.name = "events",
		.group = "engine",
		.title = "Events",
		.question = "Which events are behind a number?",
		.method = "The events as read, one per row, in file order unless sorted.",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
		.lists_events = true,
		.more_columns = true,
		.further = ht_event_fields,
		.n_further = HT_N_EVENT_FIELDS,
	},
	.wants_facts = wants_facts,
	.per_rank = list_events,
	.finish = finish,
};

/* What is shown of an event: something the file has, or a derived column. */
struct shown {
	struct ht_event_column event;
	int derived; /* -1: not derived */
	int et;      /* -1: not the execution trace's */
	bool wanted; /* false: left out by the view, so its cells need no work */
};

struct request {
	struct shown *columns;
	size_t n;
	bool with_derived, with_graph, with_et;
	unsigned attributes; /* what columns need of the trace's attribution */
	bool with_origins, with_costs;
};

static bool find_column(struct ht_run *r, const char *name, struct shown *ret_shown)
{
	const struct ht_cell_source *cells = r->policy->cells;
	ret_shown->derived = cells ? cells->find(name, &ret_shown->event.column) : -1;
	ret_shown->et = ht_et_cell_find(name, &ret_shown->event.column);
	return ret_shown->derived >= 0 || ret_shown->et >= 0 ||
	       ht_event_column_find(r->trace, name, &ret_shown->event);
}

/* Names that the request mentions. */
static enum ht_status requested(struct ht_run *r, const char *const **ret_names, size_t *ret_n)
{
	*ret_n = 0;
	return r->view ? ht_view_columns(r->ctx, r->view, r->scratch, ret_names, ret_n) : HT_OK;
}

static bool is_derived(const struct ht_run *run, const char *name)
{
	const struct ht_cell_source *cells = run->policy->cells;
	return cells && !strncmp(name, cells->prefix, strlen(cells->prefix));
}

static bool wants_facts(const struct ht_run *run)
{
	const struct ht_cell_source *cells = run->policy->cells;
	const char *texts[] = { NULL, NULL, NULL };
	if (cells && run->view) {
		texts[0] = run->view->columns;
		texts[1] = run->view->where;
		texts[2] = run->view->sort;
	}
	for (size_t i = 0; i < HT_COUNT(texts); i++)
		if (texts[i] && strstr(texts[i], cells->prefix))
			return true;
	return false;
}

static enum ht_status add_column(
        struct ht_run *r, ht_table *table, const char *name, struct request *q)
{
	struct shown *shown = &q->columns[q->n];
	if (ht_table_find_column(table, name) != SIZE_MAX || !find_column(r, name, shown))
		return HT_OK;
	HT_TRY(ht_table_add_column(table, &shown->event.column));
	shown->wanted = true;
	if (shown->derived >= 0) {
		q->with_derived = true;
		q->with_graph |= r->policy->cells->needs_graph(shown->derived);
	} else if (shown->et >= 0) {
		q->with_et = true;
	} else {
		q->attributes |= ht_event_column_attribution(&shown->event);
		q->with_origins |= ht_event_column_needs_origins(&shown->event);
		q->with_costs |= ht_event_column_needs_costs(&shown->event);
	}
	q->n++;
	return HT_OK;
}

/* Arguments whose names match "args.*" or the like. */
static enum ht_status add_matching(
        struct ht_run *r, ht_table *table, const char *pattern, struct request *q)
{
	const struct ht_trace *t = r->trace;
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		const char *name = ht_arena_printf(r->scratch, "%s.%s",
		        t->arg_columns[i].top_level ? "event" : "args",
		        ht_str(t, t->arg_columns[i].key));
		if (!name)
			return ht_fail_nomem(r->ctx);
		if (ht_glob_matches(pattern, name))
			HT_TRY(add_column(r, table, name, q));
	}
	return HT_OK;
}

/* Columns that the request names and the table does not have yet. Of the times only the one in the clock of
 * all ranks moves with it. */
static enum ht_status add_columns(struct ht_run *r, ht_table *table, struct request *ret_request)
{
	const char *const *names = NULL;
	size_t n_names = 0;
	HT_TRY(requested(r, &names, &n_names));
	size_t n_room = HT_COUNT(columns) + n_names + r->trace->n_arg_columns + 1;
	struct request q = { .columns = ht_arena_alloc(r->scratch, n_room * sizeof *q.columns) };
	if (!q.columns)
		return ht_fail_nomem(r->ctx);
	for (size_t i = 0; i < HT_COUNT(columns); i++) {
		(void)find_column(r, columns[i].name, &q.columns[q.n]);
		q.columns[q.n].wanted = !r->view || !r->view->columns;
		for (size_t k = 0; k < n_names; k++)
			q.columns[q.n].wanted |= !strcmp(names[k], columns[i].name);
		q.n++;
	}
	for (size_t i = 0; i < n_names; i++) {
		HT_TRY(add_column(r, table, names[i], &q));
		if (strchr(names[i], '*'))
			HT_TRY(add_matching(r, table, names[i], &q));
	}
	for (size_t c = 0; c < ht_table_n_columns(table); c++)
		if (strncmp(ht_table_column(table, c)->name, "time_", 5) != 0)
			ht_table_keep_clock(table, c);
	*ret_request = q;
	return HT_OK;
}

static void put_value(struct ht_event_column *column, uint32_t row, ht_table *table, size_t k)
{
	struct ht_event_value value;
	ht_event_value(column, row, &value);
	ht_event_value_put(&value, column->column.type, table, k);
}

/* What cells are read from besides the trace. */
struct sources {
	const struct ht_cell_source *derived;
	const void *cells; /* what derived columns are read from */
	struct ht_et_cells et;
	struct ht_origins origins;
	struct ht_row_costs costs;
};

static void put_event(
        const struct request *q, const struct sources *from, uint32_t row, ht_table *table)
{
	ht_table_row(table);
	for (size_t k = 0; k < q->n; k++) {
		if (!q->columns[k].wanted)
			ht_table_put_null(table, k);
		else if (q->columns[k].derived >= 0)
			from->derived->put(from->cells, q->columns[k].derived, row, table, k);
		else if (q->columns[k].et >= 0)
			ht_et_cell_put(&from->et, q->columns[k].et, row, table, k);
		else
			put_value(&q->columns[k].event, row, table, k);
	}
}

static void start_columns(const struct request *q, struct ht_run *r,
        const struct ht_attribution *attribution, const struct sources *from)
{
	struct ht_event_source source = { r->ctx, r->scratch, r->trace, r->rank, attribution,
		q->with_origins ? &from->origins : NULL, q->with_costs ? &from->costs : NULL };
	for (size_t k = 0; k < q->n; k++)
		if (q->columns[k].derived < 0 && q->columns[k].et < 0)
			ht_event_column_start(&q->columns[k].event, &source);
}

/* Rows of the frame: GPU rows may stand before host rows, so reading starts over once. */
static enum ht_status put_frame(
        struct ht_run *r, const struct request *q, struct sources *from, ht_table *table)
{
	const char *only = ht_run_str(r, "only");
	struct ht_frame frame;
	const uint8_t *keep;
	struct ht_attribution attribution;
	HT_TRY(ht_event_filter_make(r, &keep));
	HT_TRY(ht_frame_make(r, &frame));
	HT_TRY(ht_attribution_make(r, r->trace, q->attributes, &attribution));
	HT_TRY(from->derived->start(r, &frame, q->with_graph, &from->cells));
	start_columns(q, r, &attribution, from);
	for (size_t k = 0; k < frame.n_rows; k++) {
		uint32_t row = frame.rows[k];
		if (k && row < frame.rows[k - 1])
			start_columns(q, r, &attribution, from);
		if (keep && !keep[row])
			continue;
		if (strcmp(only, "all") != 0 &&
		        from->derived->is_gpu(from->cells, row) != !strcmp(only, "gpu"))
			continue;
		put_event(q, from, row, table);
	}
	return HT_OK;
}

static enum ht_status put_rows(
        struct ht_run *r, const struct request *q, struct sources *from, ht_table *table)
{
	const struct ht_trace *t = r->trace;
	const char *only = ht_run_str(r, "only");
	const uint8_t *keep;
	struct ht_frame frame = { .trace = t };
	struct ht_attribution attribution;
	HT_TRY(ht_event_filter_make(r, &keep));
	HT_TRY(ht_attribution_make(r, t, q->attributes, &attribution));
	if (q->with_derived) {
		HT_TRY(ht_frame_make(r, &frame));
		HT_TRY(from->derived->start(r, &frame, q->with_graph, &from->cells));
	}
	start_columns(q, r, &attribution, from);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (keep && !keep[row])
			continue;
		if (strcmp(only, "all") != 0 &&
		        ht_kind_is_device(t->kind[row]) != !strcmp(only, "gpu"))
			continue;
		put_event(q, from, row, table);
	}
	return HT_OK;
}

static enum ht_status list_events(struct ht_run *run, struct ht_part *part)
{
	struct request q;
	struct sources from = { .derived = run->policy->cells };
	HT_TRY(add_columns(run, part->facts[0], &q));
	if (q.with_origins)
		HT_TRY(ht_origins_make(run, true, &from.origins));
	if (q.with_costs)
		HT_TRY(ht_row_costs_make(run, &from.costs));
	if (q.with_et)
		HT_TRY(ht_et_cells_start(run, &from.et));
	enum ht_status status = (run->policy->events_of_frame ? put_frame : put_rows)(
	        run, &q, &from, part->facts[0]);
	ht_et_cells_done(&from.et);
	return status;
}

/* The policy's table has a column for each argument it knows, whether or not the files do. */
static enum ht_status add_absent(struct ht_run *run, ht_table *table)
{
	const char *const *names = NULL;
	size_t n = 0;
	bool lenient = run->policy->events_of_frame;
	HT_TRY(requested(run, &names, &n));
	for (size_t i = 0; i < n; i++)
		lenient |= is_derived(run, names[i]);
	for (size_t i = 0; i < n && lenient; i++) {
		struct ht_column column = { .name = names[i],
			.type = HT_STR,
			.role = HT_DETAIL,
			.sentence = "argument of the event" };
		bool argument = !strncmp(names[i], "args.", 5) || !strncmp(names[i], "type.", 5);
		if (argument && ht_table_find_column(table, names[i]) == SIZE_MAX)
			HT_TRY(ht_table_add_null_column(table, &column));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	return add_absent(run, table);
}
