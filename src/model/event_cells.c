/*
 * event_cells.c - see event_cells.h.
 */
#include "model/event_cells.h"

#include "json/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum field {
	RANK,
	INDEX,
	TS,
	DUR,
	PH,
	CAT,
	NAME,
	PID,
	TID,
	DEVICE,
	STREAM,
	CORRELATION,
	SPAN,
	END,
	SET_TIME,
	UNIX_TIME,
	KIND,
	CLASS,
	STEP,
	PARENT,
	LAUNCH,
	OP,
	PYTHON_PARENT,
	THREAD_NAME,
	PROCESS_NAME,
	ANNOTATION,
	ANNOTATION_STACK,
	MODULE,
	DOCUMENT,
	N_FIELDS
};

static const struct ht_column fields[N_FIELDS] = {
	[RANK] = { "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	[INDEX] = { "index", HT_I64, HT_KEY, "position in the file's traceEvents, from 0", NULL },
	[TS] = { "ts_ns", HT_TIME, HT_MEASURE, "start as in the file, base time not added", NULL },
	[DUR] = { "dur_ns", HT_DURATION, HT_MEASURE, "duration as in the file", NULL },
	[PH] = { "ph", HT_STR, HT_MEASURE, "phase", NULL },
	[CAT] = { "cat", HT_STR, HT_MEASURE, "category as in the file", NULL },
	[NAME] = { "name", HT_STR, HT_MEASURE, "name", NULL },
	[PID] = { "pid", HT_STR, HT_MEASURE, "process id or name", NULL },
	[TID] = { "tid", HT_STR, HT_MEASURE, "thread id or name", NULL },
	[DEVICE] = { "device", HT_I64, HT_DETAIL, "device of GPU work", NULL },
	[STREAM] = { "stream", HT_I64, HT_DETAIL, "stream argument", NULL },
	[CORRELATION] = { "correlation", HT_I64, HT_DETAIL, "correlation id", NULL },
	[SPAN] = { "span_ns", HT_DURATION, HT_MEASURE, "length of the span, of B and E pairs too",
	        NULL },
	[END] = { "end_ns", HT_TIME, HT_MEASURE, "end of the span in the file's clock", NULL },
	[SET_TIME] = { "time_ns", HT_TIME, HT_MEASURE, "start in the clock all ranks share, from 0",
	        NULL },
	[UNIX_TIME] = { "unix_ns", HT_TIME, HT_MEASURE,
	        "start as unix time, where the file has a base", NULL },
	[KIND] = { "kind", HT_STR, HT_DETAIL, "what the event is, whatever its category is called",
	        NULL },
	[CLASS] = { "class", HT_STR, HT_DETAIL, "compute, communication, memcpy, memset or sync",
	        NULL },
	[STEP] = { "step", HT_I64, HT_DETAIL, "profiler step; GPU work has that of its launch",
	        NULL },
	[PARENT] = { "parent", HT_I64, HT_DETAIL, "index of the enclosing span of the thread",
	        NULL },
	[LAUNCH] = { "launch", HT_I64, HT_DETAIL, "index of the call that launched the GPU work",
	        NULL },
	[OP] = { "op", HT_I64, HT_DETAIL, "index of the operator behind the GPU work", NULL },
	[PYTHON_PARENT] = { "python_parent", HT_I64, HT_DETAIL,
	        "index of the calling Python function", NULL },
	[THREAD_NAME] = { "thread_name", HT_STR, HT_DETAIL, "name of the thread or stream", NULL },
	[PROCESS_NAME] = { "process_name", HT_STR, HT_DETAIL, "name of the process", NULL },
	[ANNOTATION] = { "annotation", HT_STR, HT_DETAIL, "innermost user annotation around it",
	        NULL },
	[ANNOTATION_STACK] = { "annotation_stack", HT_STR, HT_DETAIL,
	        "user annotations around it, outermost first", NULL },
	[MODULE] = { "module", HT_STR, HT_DETAIL, "nn.Module path around it", NULL },
	[DOCUMENT] = { "document", HT_I64, HT_DETAIL, "which of several documents in the file",
	        NULL },
};

/* ---- finding ---- */

/* The type that can show every type the key has; false when no event has it. */
static bool argument_type(
        struct ht_run *run, const char *key, bool top_level, enum ht_type *ret_type)
{
	const struct ht_trace *t = run->trace;
	unsigned seen = 0;
	uint32_t id = ht_str_find(t, key);
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++)
		if (t->arg_columns[c].key == id && t->arg_columns[c].top_level == top_level)
			seen |= 1u << t->arg_columns[c].type;
	unsigned shown = seen & ~(1u << HT_ARG_NULL);
	if (shown == 1u << HT_ARG_I64)
		*ret_type = HT_I64;
	else if (shown == 1u << HT_ARG_U64)
		*ret_type = HT_U64;
	else if (shown == 1u << HT_ARG_BOOL)
		*ret_type = HT_BOOL;
	else if (shown && !(shown & ~(1u << HT_ARG_I64 | 1u << HT_ARG_F64)))
		*ret_type = HT_F64;
	else
		*ret_type = HT_STR;
	return seen != 0;
}

bool ht_event_column_find(struct ht_run *run, const char *name, struct ht_event_column *ret)
{
	*ret = (struct ht_event_column){ .field = -1 };
	for (int i = 0; i < N_FIELDS; i++)
		if (!strcmp(fields[i].name, name)) {
			ret->field = i;
			ret->column = fields[i];
			return true;
		}
	bool args = !strncmp(name, "args.", 5), top = !strncmp(name, "event.", 6);
	if (!args && !top)
		return false;
	ret->key = name + (args ? 5 : 6);
	ret->top_level = top;
	ret->column = (struct ht_column){ .name = name,
		.role = HT_DETAIL,
		.sentence = args ? "argument of the event" : "further key of the event" };
	return argument_type(run, ret->key, top, &ret->column.type);
}

static void add_cursors(struct ht_event_column *c, const char *key, bool top_level)
{
	const struct ht_trace *t = c->trace;
	uint32_t id = ht_str_find(t, key);
	for (size_t i = 0; id != HT_NO_STR && i < t->n_arg_columns; i++)
		if (t->arg_columns[i].key == id && t->arg_columns[i].top_level == top_level)
			c->cursors[c->n_cursors++] = (struct ht_event_cursor){ &t->arg_columns[i],
				ht_arg_rows(t, &t->arg_columns[i]), 0 };
}

void ht_event_column_start(struct ht_event_column *c, struct ht_run *run)
{
	c->run = run;
	c->trace = run->trace;
	c->rank = run->rank;
	c->base_ns = c->trace->meta->base_ns;
	c->n_cursors = 0;
	if (c->field == -1)
		add_cursors(c, c->key, c->top_level);
	else if (c->field == STREAM)
		add_cursors(c, "stream", false);
	else if (c->field == CORRELATION)
		add_cursors(c, "correlation", false);
	else if (c->field == DEVICE)
		add_cursors(c, "device", false);
}

/* ---- cells ---- */

static const struct ht_event_cursor *seek(struct ht_event_column *c, uint32_t row)
{
	for (size_t i = 0; i < c->n_cursors; i++) {
		struct ht_event_cursor *cursor = &c->cursors[i];
		while (cursor->at < cursor->column->n && cursor->rows[cursor->at] < row)
			cursor->at++;
		if (cursor->at < cursor->column->n && cursor->rows[cursor->at] == row)
			return cursor;
	}
	return NULL;
}

static void put_as_text(
        const struct ht_trace *t, const struct ht_event_cursor *cursor, ht_table *table)
{
	char text[40];
	int64_t value = ht_arg_i64_at(t, cursor->column, cursor->at);
	switch ((enum ht_arg_type)cursor->column->type) {
	case HT_ARG_STR:
	case HT_ARG_JSON:
		ht_table_put_strn(
		        table, ht_str(t, (uint32_t)value), ht_str_len(t, (uint32_t)value));
		return;
	case HT_ARG_I64: snprintf(text, sizeof text, "%" PRId64, value); break;
	case HT_ARG_U64: snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value); break;
	case HT_ARG_F64: ht_double_print(text, ht_arg_f64_at(t, cursor->column, cursor->at)); break;
	case HT_ARG_BOOL: snprintf(text, sizeof text, "%s", value ? "true" : "false"); break;
	case HT_ARG_NULL: ht_table_put_null(table); return;
	}
	ht_table_put_str(table, text);
}

static void put_argument(struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_event_cursor *cursor = seek(c, row);
	if (!cursor || cursor->column->type == HT_ARG_NULL)
		ht_table_put_null(table);
	else if (c->column.type == HT_STR)
		put_as_text(c->trace, cursor, table);
	else if (c->column.type == HT_F64)
		ht_table_put_f64(table, ht_arg_f64_at(c->trace, cursor->column, cursor->at));
	else
		ht_table_put_i64(table, ht_arg_i64_at(c->trace, cursor->column, cursor->at));
}

/* An integer argument in any spelling. */
static void put_integer(struct ht_event_column *c, const char *key, uint32_t row, ht_table *table)
{
	const struct ht_event_cursor *cursor = seek(c, row);
	int64_t value = cursor ? ht_arg_i64(c->trace, key, row, HT_NO_I64) : HT_NO_I64;
	if (value == HT_NO_I64)
		ht_table_put_null(table);
	else
		ht_table_put_i64(table, value);
}

static void put_id(const struct ht_trace *t, int64_t id, uint8_t type, ht_table *table)
{
	char text[32];
	if (type == HT_ID_STR) {
		ht_table_put_strn(table, ht_str(t, (uint32_t)id), ht_str_len(t, (uint32_t)id));
	} else if (type == HT_ID_INT) {
		snprintf(text, sizeof text, "%" PRId64, id);
		ht_table_put_str(table, text);
	} else {
		ht_table_put_null(table);
	}
}

static void put_string(const struct ht_trace *t, uint32_t id, ht_table *table)
{
	if (id == HT_NO_STR)
		ht_table_put_null(table);
	else
		ht_table_put_strn(table, ht_str(t, id), ht_str_len(t, id));
}

static void put_row(uint32_t row, ht_table *table)
{
	if (row == HT_NONE)
		ht_table_put_null(table);
	else
		ht_table_put_i64(table, row);
}

/* Names of the rows joined by " / ", or the last one only. */
static void put_stack(
        struct ht_event_column *c, uint32_t row, bool modules, bool whole, ht_table *table)
{
	const struct ht_trace *t = c->trace;
	const uint32_t *rows;
	size_t n, length = 1;
	enum ht_status status =
	        modules ? ht_module_path(c->run->ctx, t, row, c->run->scratch, &rows, &n)
	                : ht_annotation_stack(c->run->ctx, t, row, c->run->scratch, &rows, &n);
	if (status != HT_OK || !n) {
		ht_table_put_null(table);
		return;
	}
	for (size_t i = whole ? 0 : n - 1; i < n; i++)
		length += ht_str_len(t, t->name[rows[i]]) + 3;
	char *text = ht_arena_alloc(c->run->scratch, length), *p = text;
	for (size_t i = whole ? 0 : n - 1; text && i < n; i++) {
		if (p != text) {
			memcpy(p, " / ", 3);
			p += 3;
		}
		memcpy(p, ht_str(t, t->name[rows[i]]), ht_str_len(t, t->name[rows[i]]));
		p += ht_str_len(t, t->name[rows[i]]);
	}
	ht_table_put_str(table, text);
}

static void put_time(const struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_trace *t = c->trace;
	int64_t value = t->ts_ns[row];
	bool absent = t->flags[row] & HT_EV_NO_TS;
	if (c->field == END) {
		absent |= !(t->flags[row] & HT_EV_SPAN);
		value += t->dur_ns[row];
	}
	if (c->field == UNIX_TIME) {
		absent |= c->base_ns == HT_NO_I64;
		absent |= __builtin_add_overflow(value, absent ? 0 : c->base_ns, &value);
	}
	if (absent)
		ht_table_put_null(table);
	else
		ht_table_put_i64(table, value);
}

static void put_duration(const struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_trace *t = c->trace;
	bool has = c->field == SPAN ? t->flags[row] & HT_EV_SPAN : !(t->flags[row] & HT_EV_NO_DUR);
	if (has)
		ht_table_put_i64(table, t->dur_ns[row]);
	else
		ht_table_put_null(table);
}

static uint32_t python_parent(const struct ht_trace *t, uint32_t row)
{
	size_t low = 0, high = t->n_python_rows;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->python_rows[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n_python_rows && t->python_rows[low] == row ? t->python_parent[low]
	                                                            : HT_NONE;
}

/* Links that GPU work has. */
static void put_gpu(const struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_trace *t = c->trace;
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	if (!gpu)
		ht_table_put_null(table);
	else if (c->field == CLASS)
		ht_table_put_str(table, ht_class_name((enum ht_class)gpu->class_));
	else
		put_row(c->field == LAUNCH ? gpu->launch : gpu->op, table);
}

static void put_device(struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_gpu *gpu =
	        ht_kind_is_gpu_work(c->trace->kind[row]) ? ht_gpu_of_row(c->trace, row) : NULL;
	if (gpu && gpu->device >= 0)
		ht_table_put_i64(table, gpu->device);
	else
		put_integer(c, "device", row, table);
}

static void put_ph(const struct ht_trace *t, uint32_t row, ht_table *table)
{
	if (t->ph[row])
		ht_table_put_strn(table, &t->ph[row], 1);
	else
		ht_table_put_null(table);
}

void ht_event_column_put(struct ht_event_column *c, uint32_t row, ht_table *table)
{
	const struct ht_trace *t = c->trace;
	const struct ht_track *track = &t->tracks[t->track[row]];
	switch (c->field) {
	case -1: put_argument(c, row, table); break;
	case RANK: ht_table_put_i64(table, c->rank); break;
	case INDEX: ht_table_put_i64(table, row); break;
	case TS:
	case END:
	case SET_TIME:
	case UNIX_TIME: put_time(c, row, table); break;
	case DUR:
	case SPAN: put_duration(c, row, table); break;
	case PH: put_ph(t, row, table); break;
	case CAT: put_string(t, t->categories[t->cat[row]].name, table); break;
	case NAME: put_string(t, t->name[row], table); break;
	case PID: put_id(t, track->pid, track->pid_type, table); break;
	case TID: put_id(t, track->tid, track->tid_type, table); break;
	case DEVICE: put_device(c, row, table); break;
	case STREAM: put_integer(c, "stream", row, table); break;
	case CORRELATION: put_integer(c, "correlation", row, table); break;
	case KIND: ht_table_put_str(table, ht_kind_name((enum ht_kind)t->kind[row])); break;
	case CLASS:
	case LAUNCH:
	case OP: put_gpu(c, row, table); break;
	case STEP:
		if (t->step[row] == HT_NONE)
			ht_table_put_null(table);
		else
			ht_table_put_i64(table, t->steps[t->step[row]].number);
		break;
	case PARENT: put_row(t->parent[row], table); break;
	case PYTHON_PARENT: put_row(python_parent(t, row), table); break;
	case THREAD_NAME: put_string(t, track->name, table); break;
	case PROCESS_NAME: put_string(t, track->process_name, table); break;
	case ANNOTATION: put_stack(c, row, false, false, table); break;
	case ANNOTATION_STACK: put_stack(c, row, false, true, table); break;
	case MODULE: put_stack(c, row, true, true, table); break;
	case DOCUMENT: ht_table_put_i64(table, track->document); break;
	default: ht_table_put_null(table); break;
	}
}
