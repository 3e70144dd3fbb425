/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_columns.c - the columns of events, gpu, ops, launches and args, and how a cell is read.
 *
 * Links to other events are events, too: `JOIN events p ON p.id = e.parent` needs no rank. Cells that most queries
 * read come straight from the columns of the trace; the others by way of event_value.h, which every other table
 * of events uses as well.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/event_table.h"
#include "store/args.h"

#include "sql/column_names.h"

#include <string.h>

enum {
	EVENTS = 1 << HT_SQL_EVENTS,
	GPU = 1 << HT_SQL_GPU,
	OPS = 1 << HT_SQL_OPS,
	LAUNCHES = 1 << HT_SQL_LAUNCHES,
	ARGS = 1 << HT_SQL_ARGS,
	HOST = EVENTS | OPS | LAUNCHES,
	ALL = EVENTS | GPU | OPS | LAUNCHES
};

/* Of a column of `events` that is the same here: type, unit and sentence are those of ht_event_fields. */
#define AS_EVENT(its_name, its_role)                                                               \
	{                                                                                          \
		.name = (its_name), .role = (its_role)                                             \
	}

static const struct {
	struct ht_column column;
	struct ht_event_cell cell;
	unsigned in;
} known[] = {
	{ { "id", HT_EVENT, HT_KEY, "the event: rank * 2^32 + row; shown as rank:row", NULL },
	        { HT_HOW_ID, NULL }, ALL | ARGS },
	{ AS_EVENT("rank", HT_KEY), { HT_HOW_RANK, NULL }, ALL | ARGS },
	{ { "row", HT_I64, HT_KEY,
	          "position in the file's traceEvents, from 0: index of other tables", NULL },
	        { HT_HOW_ROW, NULL }, ALL | ARGS },
	{ AS_EVENT("name", HT_MEASURE), { HT_HOW_NAME, NULL }, ALL },
	{ AS_EVENT("ts_ns", HT_MEASURE), { HT_HOW_TS, NULL }, ALL },
	{ { "dur_ns", HT_DURATION, HT_MEASURE, "duration as in the file; null when it has none",
	          NULL },
	        { HT_HOW_DUR, NULL }, ALL },
	{ { "end_ns", HT_TIME, HT_MEASURE,
	          "end of the span in the file's clock, of B and E pairs too", NULL },
	        { HT_HOW_END, NULL }, ALL },
	{ AS_EVENT("time_ns", HT_MEASURE), { HT_HOW_TIME, NULL }, ALL },
	{ AS_EVENT("kind", HT_MEASURE), { HT_HOW_KIND, NULL }, ALL },
	{ AS_EVENT("cat", HT_MEASURE), { HT_HOW_CAT, NULL }, EVENTS },
	{ { "ph", HT_STR, HT_MEASURE,
	          "phase: X span, i instant, C counter, M metadata, s t f flow, B E b n e", NULL },
	        { HT_HOW_FIELD, "ph" }, EVENTS },
	{ AS_EVENT("class", HT_MEASURE), { HT_HOW_CLASS, NULL }, EVENTS | GPU },
	{ AS_EVENT("device", HT_MEASURE), { HT_HOW_DEVICE, "device" }, EVENTS | GPU },
	{ AS_EVENT("stream", HT_MEASURE), { HT_HOW_STREAM, "stream" }, EVENTS | GPU },
	{ { "correlation", HT_I64, HT_DETAIL, "correlation id that launch and GPU activity share",
	          NULL },
	        { HT_HOW_CORRELATION, "correlation" }, EVENTS | GPU | LAUNCHES },
	{ AS_EVENT("step", HT_MEASURE), { HT_HOW_STEP, NULL }, ALL },
	{ { "launch", HT_EVENT, HT_DETAIL, "the call that launched the GPU activity", NULL },
	        { HT_HOW_LAUNCH, NULL }, EVENTS | GPU },
	{ { "op", HT_EVENT, HT_DETAIL, "the operator behind the GPU activity", NULL },
	        { HT_HOW_OP, NULL }, EVENTS | GPU },
	{ { "n_work", HT_I64, HT_MEASURE, "GPU activities that the call launched", NULL },
	        { HT_HOW_N_WORK, NULL }, LAUNCHES },
	{ { "work", HT_EVENT, HT_DETAIL, "the first of them", NULL }, { HT_HOW_WORK, NULL },
	        LAUNCHES },
	{ { "parent", HT_EVENT, HT_DETAIL, "the enclosing span of the thread", NULL },
	        { HT_HOW_PARENT, NULL }, HOST },
	{ { "python_parent", HT_EVENT, HT_DETAIL, "the calling Python function", NULL },
	        { HT_HOW_LINK, "python_parent" }, EVENTS },
	{ { "forward_op", HT_EVENT, HT_DETAIL, "the forward operator whose gradient it computes",
	          NULL },
	        { HT_HOW_LINK, "forward_op" }, EVENTS | GPU | OPS },
	{ { "track", HT_I64, HT_DETAIL, "thread or stream, as in the table tracks", NULL },
	        { HT_HOW_TRACK, NULL }, ALL },
	{ { "pid", HT_SQL_ANY, HT_DETAIL, "process id or name; device index for GPU activity",
	          NULL },
	        { HT_HOW_PID, NULL }, ALL },
	{ { "tid", HT_SQL_ANY, HT_DETAIL, "thread id or name; stream for GPU activity", NULL },
	        { HT_HOW_TID, NULL }, ALL },
	{ AS_EVENT("thread_name", HT_DETAIL), { HT_HOW_FIELD, "thread_name" }, HOST },
	{ AS_EVENT("process_name", HT_DETAIL), { HT_HOW_FIELD, "process_name" }, EVENTS },
	{ AS_EVENT("annotation", HT_DETAIL), { HT_HOW_FIELD, "annotation" }, ALL },
	{ AS_EVENT("annotation_stack", HT_DETAIL), { HT_HOW_FIELD, "annotation_stack" },
	        EVENTS | GPU },
	{ AS_EVENT("module", HT_DETAIL), { HT_HOW_FIELD, "module" }, EVENTS | GPU | OPS },
	{ AS_EVENT("origin_op", HT_DETAIL), { HT_HOW_FIELD, "origin_op" }, EVENTS | GPU },
	{ AS_EVENT("origin_module", HT_DETAIL), { HT_HOW_FIELD, "origin_module" }, EVENTS | GPU },
	{ AS_EVENT("origin_source", HT_DETAIL), { HT_HOW_FIELD, "origin_source" }, EVENTS | GPU },
	{ AS_EVENT("origin_shapes", HT_DETAIL), { HT_HOW_FIELD, "origin_shapes" }, EVENTS | GPU },
	{ AS_EVENT("origin_method", HT_DETAIL), { HT_HOW_FIELD, "origin_method" }, EVENTS | GPU },
	{ AS_EVENT("origin_confidence", HT_DETAIL), { HT_HOW_FIELD, "origin_confidence" },
	        EVENTS | GPU },
	{ AS_EVENT("flops", HT_DETAIL), { HT_HOW_FIELD, "flops" }, EVENTS | GPU | OPS },
	{ AS_EVENT("bytes", HT_DETAIL), { HT_HOW_FIELD, "bytes" }, EVENTS | GPU | OPS },
	{ AS_EVENT("bound", HT_DETAIL), { HT_HOW_FIELD, "bound" }, EVENTS | GPU | OPS },
	{ AS_EVENT("span_ns", HT_DETAIL), { HT_HOW_FIELD, "span_ns" }, EVENTS },
	{ AS_EVENT("unix_ns", HT_DETAIL), { HT_HOW_FIELD, "unix_ns" }, EVENTS },
	{ AS_EVENT("document", HT_DETAIL), { HT_HOW_FIELD, "document" }, EVENTS },
};

static struct ht_column lists[HT_SQL_N_EVENT_TABLES][HT_COUNT(known)];
static struct ht_event_cell cells[HT_SQL_N_EVENT_TABLES][HT_COUNT(known)];
static struct ht_sql_table tables[HT_SQL_N_EVENT_TABLES] = {
	[HT_SQL_EVENTS] = { "events", "every event of every rank, as read", lists[HT_SQL_EVENTS],
	        0 },
	[HT_SQL_GPU] = { "gpu", "GPU activity: kernels, memcpy and memset", lists[HT_SQL_GPU], 0 },
	[HT_SQL_OPS] = { "ops", "operators and autograd nodes of the host", lists[HT_SQL_OPS], 0 },
	[HT_SQL_LAUNCHES] = { "launches", "host calls that started GPU activity",
	        lists[HT_SQL_LAUNCHES], 0 },
	[HT_SQL_ARGS] = { "args",
	        "events with arguments, and a column for each argument, named as in the file",
	        lists[HT_SQL_ARGS], 0 },
};

static struct ht_column full(struct ht_column column)
{
	for (size_t i = 0; !column.sentence && i < HT_N_EVENT_FIELDS; i++)
		if (!strcmp(ht_event_fields[i].name, column.name)) {
			column.type = ht_event_fields[i].type;
			column.sentence = ht_event_fields[i].sentence;
			column.unit = ht_event_fields[i].unit;
		}
	return column;
}

static void fill_tables(void)
{
	for (size_t t = 0; t < HT_SQL_N_EVENT_TABLES; t++)
		for (size_t i = 0; i < HT_COUNT(known); i++) {
			if (!(known[i].in & 1u << t))
				continue;
			lists[t][tables[t].n_columns] = full(known[i].column);
			cells[t][tables[t].n_columns++] = known[i].cell;
		}
}

const struct ht_sql_table *ht_sql_event_table(size_t i)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_tables);
	return i < HT_SQL_N_EVENT_TABLES ? &tables[i] : NULL;
}

/* ---- arguments as columns ---- */

/* What SQLite takes in one table is at most this, unless it was built otherwise. */
#define MAX_COLUMNS 1990

/* One type for all that a key has in the file. */
static enum ht_type type_of(unsigned seen)
{
	const unsigned integer = 1u << HT_ARG_I64, real = 1u << HT_ARG_F64;
	const unsigned text = 1u << HT_ARG_STR | 1u << HT_ARG_JSON;
	seen &= ~(1u << HT_ARG_NULL);
	return seen == integer                                   ? HT_I64
	       : seen && !(seen & ~(integer | 1u << HT_ARG_U64)) ? HT_U64
	       : seen == 1u << HT_ARG_BOOL                       ? HT_BOOL
	       : seen && !(seen & ~(integer | real))             ? HT_F64
	       : !(seen & ~text)                                 ? HT_STR
	                                                         : HT_SQL_ANY;
}

struct arg_columns {
	struct ht_column *columns;
	struct ht_event_cell *cells;
	unsigned *seen; /* types, as bits */
	size_t n;
	struct ht_names names;
};

static bool add_key(struct ht_sql_session *s, const struct ht_trace *t,
        const struct ht_arg_column *arg, struct arg_columns *to)
{
	const char *key = ht_str(t, arg->key);
	size_t i = 0;
	while (i < to->n && (!to->cells[i].field || strcmp(to->cells[i].field + 5, key) != 0))
		i++;
	if (i == to->n) {
		const char *field = ht_arena_printf(&s->arena, "args.%s", key);
		const char *name = field ? ht_names_add(&to->names, key, field) : NULL;
		if (!name)
			return false;
		to->columns[to->n] = (struct ht_column){
			.name = name, .role = HT_MEASURE, .sentence = "argument of the event"
		};
		to->cells[to->n++] = (struct ht_event_cell){ HT_HOW_ARG, field };
	}
	to->seen[i] |= 1u << arg->type;
	to->columns[i].type = type_of(to->seen[i]);
	return true;
}

static int add_keys(struct ht_sql_session *s, size_t i, struct arg_columns *to)
{
	const struct ht_trace *t;
	int code = ht_sql_take(s, i, &t);
	for (size_t c = 0; code == SQLITE_OK && c < t->n_arg_columns && to->n < MAX_COLUMNS; c++)
		if (!t->arg_columns[c].top_level && !add_key(s, t, &t->arg_columns[c], to))
			code = SQLITE_NOMEM;
	return code;
}

static int arg_columns(struct ht_sql_session *s, struct ht_event_vtab *v)
{
	const struct ht_sql_table *base = ht_sql_event_table(HT_SQL_ARGS);
	struct arg_columns to = { .names.arena = &s->arena };
	to.columns = ht_arena_alloc(&s->arena, (MAX_COLUMNS + 1) * sizeof *to.columns);
	to.cells = ht_arena_alloc(&s->arena, (MAX_COLUMNS + 1) * sizeof *to.cells);
	to.seen = ht_arena_alloc(&s->arena, (MAX_COLUMNS + 1) * sizeof *to.seen);
	int code = to.columns && to.cells && to.seen ? SQLITE_OK : SQLITE_NOMEM;
	for (size_t i = 0; code == SQLITE_OK && i < base->n_columns; i++) {
		to.columns[i] = base->columns[i];
		to.cells[i] = cells[HT_SQL_ARGS][i];
		if (!ht_names_add(&to.names, base->columns[i].name, base->columns[i].name))
			code = SQLITE_NOMEM;
	}
	to.n = base->n_columns;
	for (size_t i = 0; code == SQLITE_OK && i < s->n_ranks; i++)
		code = add_keys(s, i, &to);
	ht_names_done(&to.names);
	v->columns = to.columns;
	v->cells = to.cells;
	v->n_columns = to.n;
	return code;
}

int ht_event_columns(struct ht_sql_session *s, enum ht_event_table table, struct ht_event_vtab *v)
{
	const struct ht_sql_table *known_table = ht_sql_event_table(table);
	v->table = table;
	v->columns = known_table->columns;
	v->cells = cells[table];
	v->n_columns = known_table->n_columns;
	return table == HT_SQL_ARGS ? arg_columns(s, v) : SQLITE_OK;
}

/* ---- cells ---- */

static void put_number(sqlite3_context *result, int64_t value)
{
	if (value != HT_NO_I64)
		sqlite3_result_int64(result, value);
}

static void put_string(const struct ht_trace *t, uint32_t id, sqlite3_context *result)
{
	if (id != HT_NO_STR)
		ht_sql_result_text(result, ht_str(t, id), ht_str_len(t, id));
}

/* A pid or tid: whatever the file has. */
static void put_id(const struct ht_trace *t, int64_t id, uint8_t type, sqlite3_context *result)
{
	if (type == HT_ID_STR)
		put_string(t, (uint32_t)id, result);
	else if (type == HT_ID_INT)
		sqlite3_result_int64(result, id);
}

static void put_event(const struct ht_event_walk *w, int64_t row, sqlite3_context *result)
{
	if (row != HT_NONE && row != HT_NO_I64)
		sqlite3_result_int64(result,
		        ht_event_id(w->vtab->common.session->set->roster.ranks[w->i_rank].number,
		                (uint32_t)row));
}

/* The reader of a column for the rank in hand; NULL with an SQLite code. */
static int start_field(struct ht_event_walk *w, int column, struct ht_event_column **ret)
{
	struct ht_sql_session *s = w->vtab->common.session;
	struct ht_event_column *field = &w->fields[column];
	const struct ht_attribution *attribution = NULL;
	const struct ht_origins *origins = NULL;
	const struct ht_row_costs *costs = NULL;
	*ret = field;
	if (w->i_fields != w->i_rank) {
		memset(w->is_started, 0, w->vtab->n_columns);
		w->i_fields = w->i_rank;
	}
	if (w->is_started[column])
		return SQLITE_OK;
	if (!ht_event_column_find(w->trace, w->vtab->cells[column].field, field)) {
		/* another rank has the argument */
		field->field = -1;
		field->key = "";
	}
	unsigned parts = ht_event_column_attribution(field);
	int code = parts ? ht_sql_attribution(s, w->i_rank, parts, &attribution) : SQLITE_OK;
	if (code == SQLITE_OK && ht_event_column_needs_origins(field))
		code = ht_sql_origins(s, w->i_rank, &origins);
	if (code == SQLITE_OK && ht_event_column_needs_costs(field))
		code = ht_sql_costs(s, w->i_rank, &costs);
	if (code != SQLITE_OK)
		return code;
	struct ht_event_source source = { s->ctx, &w->arena, w->trace,
		s->set->roster.ranks[w->i_rank].number, attribution, origins, costs };
	ht_event_column_start(field, &source);
	w->is_started[column] = 1;
	return SQLITE_OK;
}

static int put_field(struct ht_event_walk *w, sqlite3_context *result, int column)
{
	struct ht_event_column *field;
	struct ht_event_value value;
	int code = start_field(w, column, &field);
	if (code != SQLITE_OK)
		return code;
	ht_event_value(field, w->row, &value);
	if (value.is_null)
		return SQLITE_OK;
	if (w->vtab->cells[column].how == HT_HOW_LINK)
		put_event(w, value.i64, result);
	else if (field->column.type == HT_STR)
		ht_sql_result_text(result, value.text, value.n);
	else if (field->column.type == HT_RATIO)
		sqlite3_result_double(result, value.f64);
	else
		sqlite3_result_int64(result, value.i64);
	return SQLITE_OK;
}

/* Each value as what it is in the file. */
static int put_argument(struct ht_event_walk *w, sqlite3_context *result, int column)
{
	struct ht_event_column *field;
	const struct ht_trace *t = w->trace;
	int code = start_field(w, column, &field);
	const struct ht_event_cursor *at =
	        code == SQLITE_OK ? ht_event_argument(field, w->row) : NULL;
	if (at)
		ht_sql_result_argument(result, t, at->column, at->at);
	return code;
}

void ht_sql_result_argument(sqlite3_context *result, const struct ht_trace *t,
        const struct ht_arg_column *column, uint64_t i)
{
	switch ((enum ht_arg_type)column->type) {
	case HT_ARG_I64:
	case HT_ARG_BOOL: sqlite3_result_int64(result, ht_arg_i64_at(t, column, i)); break;
	case HT_ARG_U64: ht_sql_result_u64(result, (uint64_t)ht_arg_i64_at(t, column, i)); break;
	case HT_ARG_F64: sqlite3_result_double(result, ht_arg_f64_at(t, column, i)); break;
	case HT_ARG_STR:
	case HT_ARG_JSON: put_string(t, (uint32_t)ht_arg_i64_at(t, column, i), result); break;
	case HT_ARG_NULL: break;
	}
}

static void put_launched(
        const struct ht_event_walk *w, enum ht_event_how how, sqlite3_context *result)
{
	const uint32_t *gpus;
	size_t n;
	ht_launch_gpus(w->trace, w->row, &gpus, &n);
	if (how == HT_HOW_N_WORK)
		sqlite3_result_int64(result, (int64_t)n);
	else if (n)
		put_event(w, w->trace->gpu[gpus[0]].row, result);
}

int ht_event_cell(struct ht_event_walk *w, sqlite3_context *result, int column)
{
	const struct ht_trace *t = w->trace;
	enum ht_event_how how = w->vtab->cells[column].how;
	int64_t carried;
	if (ht_event_carried(w, how, &carried)) {
		put_number(result, carried);
		return SQLITE_OK;
	}
	switch (how) {
	case HT_HOW_NAME:
		if (w->group_name)
			ht_sql_result_text(result, w->group_name, w->n_group_name);
		else
			put_string(t, t->name[w->row], result);
		break;
	case HT_HOW_CAT: put_string(t, t->categories[t->cat[w->row]].name, result); break;
	case HT_HOW_KIND:
		sqlite3_result_text(
		        result, ht_kind_name((enum ht_kind)t->kind[w->row]), -1, SQLITE_STATIC);
		break;
	case HT_HOW_CLASS: {
		int64_t class_ = ht_event_number(w, how);
		if (class_ != HT_NO_I64)
			sqlite3_result_text(
			        result, ht_class_name((enum ht_class)class_), -1, SQLITE_STATIC);
		break;
	}
	case HT_HOW_PID:
	case HT_HOW_TID: {
		const struct ht_track *track = &t->tracks[t->track[w->row]];
		bool is_pid = how == HT_HOW_PID;
		put_id(t, is_pid ? track->pid : track->tid,
		        is_pid ? track->pid_type : track->tid_type, result);
		break;
	}
	case HT_HOW_DEVICE:
	case HT_HOW_STREAM:
	case HT_HOW_CORRELATION:
	case HT_HOW_FIELD:
	case HT_HOW_LINK: return put_field(w, result, column);
	case HT_HOW_ARG: return put_argument(w, result, column);
	case HT_HOW_N_WORK:
	case HT_HOW_WORK: put_launched(w, how, result); break;
	case HT_HOW_PARENT:
	case HT_HOW_LAUNCH:
	case HT_HOW_OP: put_event(w, ht_event_number(w, how), result); break;
	case HT_HOW_TIME:
		if (!w->has_move) {
			int code = ht_sql_move(w->vtab->common.session, w->i_rank, &w->move);
			if (code != SQLITE_OK)
				return code;
			w->has_move = true;
		}
		put_number(result, ht_event_number(w, how));
		break;
	default: put_number(result, ht_event_number(w, how)); break;
	}
	return SQLITE_OK;
}

#endif
