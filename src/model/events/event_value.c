/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_value.c - see event_value.h.
 */
#include "model/events/event_value.h"

#include "base/search.h"
#include "base/number.h"
#include "store/args.h"
#include "store/trace_meta.h"
#include "table/table.h"

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
	SET_END,
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
	ANNOTATION_VIA,
	MODULE,
	MODULE_VIA,
	FORWARD_OP,
	ORIGIN_OP,
	ORIGIN_MODULE,
	ORIGIN_SOURCE,
	ORIGIN_SHAPES,
	ORIGIN_METHOD,
	ORIGIN_CONFIDENCE,
	FLOPS,
	BYTES,
	BOUND,
	DOCUMENT,
	ID,
	N_FIELDS
};

_Static_assert(N_FIELDS == HT_N_EVENT_FIELDS, "one column per field");

const struct ht_column ht_event_fields[HT_N_EVENT_FIELDS] = {
	[RANK] = { "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	[INDEX] = { "index", HT_I64, HT_KEY, "position in the file's traceEvents, from 0", NULL },
	[TS] = { "ts_ns", HT_TIME, HT_MEASURE, "start as in the file, base time not added", NULL },
	[DUR] = { "dur_ns", HT_DURATION, HT_MEASURE, "duration as in the file", NULL },
	[PH] = { "ph", HT_STR, HT_MEASURE, "phase", NULL },
	[CAT] = { "cat", HT_STR, HT_MEASURE, "category as in the file", NULL },
	[NAME] = { "name", HT_STR, HT_MEASURE, "name", NULL },
	[PID] = { "pid", HT_STR, HT_MEASURE, "process id or name", NULL },
	[TID] = { "tid", HT_STR, HT_MEASURE, "thread id or name", NULL },
	[DEVICE] = { "device", HT_I64, HT_DETAIL, "device of GPU activity", NULL },
	[STREAM] = { "stream", HT_I64, HT_DETAIL, "stream argument", NULL },
	[CORRELATION] = { "correlation", HT_I64, HT_DETAIL, "correlation id", NULL },
	[SPAN] = { "span_ns", HT_DURATION, HT_MEASURE, "length of the span, of B and E pairs too",
	        NULL },
	[END] = { "end_ns", HT_TIME, HT_MEASURE, "end of the span in the file's clock", NULL },
	[SET_TIME] = { "time_ns", HT_TIME, HT_MEASURE, "start in the clock all ranks share, from 0",
	        NULL },
	[SET_END] = { "time_end_ns", HT_TIME, HT_MEASURE,
	        "end of the span in the clock all ranks share", NULL },
	[UNIX_TIME] = { "unix_ns", HT_TIME, HT_MEASURE,
	        "start as unix time, where the file has a base", NULL },
	[KIND] = { "kind", HT_STR, HT_DETAIL, "what the event is, whatever its category is called",
	        NULL },
	[CLASS] = { "class", HT_STR, HT_DETAIL, "compute, communication, memcpy, memset or sync",
	        NULL },
	[STEP] = { "step", HT_I64, HT_DETAIL, "profiler step; GPU activity has that of its launch",
	        NULL },
	[PARENT] = { "parent", HT_I64, HT_DETAIL, "index of the enclosing span of the thread",
	        NULL },
	[LAUNCH] = { "launch", HT_I64, HT_DETAIL,
	        "index of the call that launched the GPU activity", NULL },
	[OP] = { "op", HT_I64, HT_DETAIL, "index of the operator behind the GPU activity", NULL },
	[PYTHON_PARENT] = { "python_parent", HT_I64, HT_DETAIL,
	        "index of the calling Python function", NULL },
	[THREAD_NAME] = { "thread_name", HT_STR, HT_DETAIL, "name of the thread or stream", NULL },
	[PROCESS_NAME] = { "process_name", HT_STR, HT_DETAIL, "name of the process", NULL },
	[ANNOTATION] = { "annotation", HT_STR, HT_DETAIL, "innermost user annotation around it",
	        NULL },
	[ANNOTATION_STACK] = { "annotation_stack", HT_STR, HT_DETAIL,
	        "user annotations around it, outermost first", NULL },
	[ANNOTATION_VIA] = { "annotation_via", HT_STR, HT_DETAIL,
	        "how the annotation was found: launch, backward or gpu", NULL },
	[MODULE] = { "module", HT_STR, HT_DETAIL,
	        "nn.Module path around it, or around the forward operator of backward work", NULL },
	[MODULE_VIA] = { "module_via", HT_STR, HT_DETAIL,
	        "how the module was found: launch, backward or forward", NULL },
	[FORWARD_OP] = { "forward_op", HT_I64, HT_DETAIL,
	        "index of the forward operator whose gradient it computes", NULL },
	[ORIGIN_OP] = { "origin_op", HT_STR, HT_DETAIL,
	        "operator that the GPU activity belongs to, of graphs too", NULL },
	[ORIGIN_MODULE] = { "origin_module", HT_STR, HT_DETAIL,
	        "nn.Module calls that the GPU activity belongs to", NULL },
	[ORIGIN_SOURCE] = { "origin_source", HT_STR, HT_DETAIL,
	        "line of the user's code that the GPU activity belongs to", NULL },
	[ORIGIN_SHAPES] = { "origin_shapes", HT_STR, HT_DETAIL,
	        "dimensions of the inputs of the operator that the GPU activity belongs to", NULL },
	[ORIGIN_METHOD] = { "origin_method", HT_STR, HT_DETAIL, "how its origin is known", NULL },
	[ORIGIN_CONFIDENCE] = { "origin_confidence", HT_RATIO, HT_DETAIL,
	        "how sure its origin is, 0 to 1", NULL },
	[FLOPS] = { "flops", HT_I64, HT_DETAIL,
	        "operations of matrix products, at the operator and its longest GPU activity",
	        "FLOP" },
	[BYTES] = { "bytes", HT_BYTES, HT_DETAIL,
	        "compulsory memory traffic, at the operator and its longest GPU activity", NULL },
	[BOUND] = { "bound", HT_STR, HT_DETAIL,
	        "what limits it at best: compute, memory, latency or link", NULL },
	[DOCUMENT] = { "document", HT_I64, HT_DETAIL, "which of several documents in the file",
	        NULL },
	[ID] = { "id", HT_EVENT, HT_KEY, "the event, as rank:row", NULL },
};

/* ---- finding ---- */

/* The type that can show every type the key has; false when no event has it. */
static bool argument_type(
        const struct ht_trace *t, const char *key, bool top_level, enum ht_type *ret_type)
{
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

bool ht_event_column_find(
        const struct ht_trace *trace, const char *name, struct ht_event_column *ret)
{
	*ret = (struct ht_event_column){ .field = -1 };
	for (int i = 0; i < N_FIELDS; i++)
		if (!strcmp(ht_event_fields[i].name, name)) {
			ret->field = i;
			ret->column = ht_event_fields[i];
			return true;
		}
	bool args = !strncmp(name, "args.", 5), top = !strncmp(name, "event.", 6);
	ret->type_only = !strncmp(name, "type.", 5);
	if (!args && !top && !ret->type_only)
		return false;
	ret->key = name + (top ? 6 : 5);
	ret->top_level = top;
	ret->column = (struct ht_column){ .name = name,
		.role = HT_DETAIL,
		.sentence = top              ? "further key of the event"
		            : ret->type_only ? "what the argument is in the file"
		                             : "argument of the event" };
	bool found = argument_type(trace, ret->key, top, &ret->column.type);
	if (ret->type_only)
		ret->column.type = HT_STR;
	return found;
}

static void add_cursors(struct ht_event_column *c, const char *key, bool top_level)
{
	const struct ht_trace *t = c->source.trace;
	uint32_t id = ht_str_find(t, key);
	for (size_t i = 0; id != HT_NO_STR && i < t->n_arg_columns; i++)
		if (t->arg_columns[i].key == id && t->arg_columns[i].top_level == top_level)
			c->cursors[c->n_cursors++] =
			        (struct ht_event_cursor){ &t->arg_columns[i], 0 };
}

unsigned ht_event_column_attribution(const struct ht_event_column *c)
{
	switch (c->field) {
	case ANNOTATION:
	case ANNOTATION_STACK:
	case ANNOTATION_VIA: return HT_ATTRIBUTE_ANNOTATIONS;
	case MODULE:
	case MODULE_VIA: return HT_ATTRIBUTE_MODULES;
	case FORWARD_OP: return HT_ATTRIBUTE_FORWARD;
	default: return 0;
	}
}

bool ht_event_column_needs_origins(const struct ht_event_column *c)
{
	return c->field >= ORIGIN_OP && c->field <= ORIGIN_CONFIDENCE;
}

bool ht_event_column_needs_costs(const struct ht_event_column *c)
{
	return c->field >= FLOPS && c->field <= BOUND;
}

void ht_event_column_start(struct ht_event_column *c, const struct ht_event_source *source)
{
	c->source = *source;
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

/* ---- values ---- */

static void set_i64(struct ht_event_value *v, int64_t value)
{
	v->is_null = false;
	v->i64 = value;
}

static void set_known(struct ht_event_value *v, int64_t value, int64_t unknown)
{
	if (value != unknown)
		set_i64(v, value);
}

static void set_text(struct ht_event_value *v, const char *text, size_t n)
{
	v->is_null = !text;
	v->text = text;
	v->n = n;
}

static void set_string(const struct ht_trace *t, uint32_t id, struct ht_event_value *v)
{
	if (id != HT_NO_STR)
		set_text(v, ht_str(t, id), ht_str_len(t, id));
}

/* A text made for this value. */
static void set_printed(struct ht_event_column *c, struct ht_event_value *v, const char *text)
{
	size_t n = strlen(text);
	set_text(v, ht_arena_strndup(c->source.scratch, text, n), n);
}

/* How many steps a cursor takes one by one before it jumps. */
#define SMALL_STEPS 16

static void move_to(const struct ht_trace *t, struct ht_event_cursor *cursor, uint32_t row)
{
	const struct ht_arg_column *column = cursor->column;
	if (cursor->at < column->n && ht_arg_row(t, column, cursor->at) > row)
		cursor->at = 0;
	for (int i = 0; i < SMALL_STEPS; i++) {
		if (cursor->at >= column->n || ht_arg_row(t, column, cursor->at) >= row)
			return;
		cursor->at++;
	}
	cursor->at = ht_arg_lower_bound(t, column, cursor->at, column->n, row);
}

const struct ht_event_cursor *ht_event_argument(struct ht_event_column *c, uint32_t row)
{
	for (size_t i = 0; i < c->n_cursors; i++) {
		struct ht_event_cursor *cursor = &c->cursors[i];
		move_to(c->source.trace, cursor, row);
		if (cursor->at < cursor->column->n &&
		        ht_arg_row(c->source.trace, cursor->column, cursor->at) == row)
			return cursor;
	}
	return NULL;
}

static void read_as_text(
        struct ht_event_column *c, const struct ht_event_cursor *cursor, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	char text[40];
	int64_t value = ht_arg_i64_at(t, cursor->column, cursor->at);
	switch ((enum ht_arg_type)cursor->column->type) {
	case HT_ARG_STR:
	case HT_ARG_JSON: set_string(t, (uint32_t)value, v); return;
	case HT_ARG_I64: snprintf(text, sizeof text, "%" PRId64, value); break;
	case HT_ARG_U64: snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value); break;
	case HT_ARG_F64: ht_double_print(text, ht_arg_f64_at(t, cursor->column, cursor->at)); break;
	case HT_ARG_BOOL: snprintf(text, sizeof text, "%s", value ? "true" : "false"); break;
	case HT_ARG_NULL: return;
	}
	set_printed(c, v, text);
}

/* How the file writes an argument. */
static void read_type(const struct ht_event_cursor *cursor, struct ht_event_value *v)
{
	static const char *const names[HT_N_ARG_TYPES] = { [HT_ARG_I64] = "int",
		[HT_ARG_U64] = "int",
		[HT_ARG_F64] = "float",
		[HT_ARG_STR] = "string",
		[HT_ARG_JSON] = "json",
		[HT_ARG_BOOL] = "bool",
		[HT_ARG_NULL] = "null" };
	const char *name = names[cursor->column->type];
	set_text(v, name, strlen(name));
}

static void read_argument(struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_event_cursor *cursor = ht_event_argument(c, row);
	if (cursor && c->type_only) {
		read_type(cursor, v);
		return;
	}
	if (!cursor || cursor->column->type == HT_ARG_NULL)
		return;
	if (c->column.type == HT_STR) {
		read_as_text(c, cursor, v);
	} else if (c->column.type == HT_F64) {
		v->is_null = false;
		v->f64 = ht_arg_f64_at(c->source.trace, cursor->column, cursor->at);
	} else {
		set_i64(v, ht_arg_i64_at(c->source.trace, cursor->column, cursor->at));
	}
}

/* An integer argument in any spelling. */
static void read_integer(struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_event_cursor *cursor = ht_event_argument(c, row);
	int64_t value;
	if (cursor && ht_arg_integer_at(c->source.trace, cursor->column, cursor->at, &value))
		set_i64(v, value);
}

static void read_id(struct ht_event_column *c, int64_t id, uint8_t type, struct ht_event_value *v)
{
	char text[32];
	if (type == HT_ID_STR) {
		set_string(c->source.trace, (uint32_t)id, v);
	} else if (type == HT_ID_INT) {
		snprintf(text, sizeof text, "%" PRId64, id);
		set_printed(c, v, text);
	}
}

static void read_text(struct ht_event_value *v, const char *text)
{
	set_text(v, text, text ? strlen(text) : 0);
}

static void read_annotation(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	const struct ht_annotated *found = c->source.attribution->annotations;
	if (!found)
		return;
	found += row;
	if (c->field == ANNOTATION_STACK)
		read_text(v, found->stack);
	else if (c->field == ANNOTATION_VIA)
		read_text(v, ht_autograd_link_name((enum ht_autograd_link)found->link));
	else if (found->row != HT_NONE)
		set_string(t, t->name[found->row], v);
}

static void read_module(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_attribution *a = c->source.attribution;
	if (!a->modules)
		return;
	if (c->field == MODULE_VIA)
		read_text(v, ht_autograd_link_name((enum ht_autograd_link)a->module_links[row]));
	else if (a->modules[row] != HT_NONE)
		read_text(v, a->module_texts[a->modules[row]]);
}

static void read_origin(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	struct ht_origin origin;
	if (!gpu || !c->source.origins)
		return;
	ht_origin_get(c->source.origins, (size_t)(gpu - t->gpu), &origin);
	if (c->field == ORIGIN_CONFIDENCE) {
		v->is_null = false;
		v->f64 = origin.confidence;
		return;
	}
	read_text(v, c->field == ORIGIN_OP       ? origin.op
	             : c->field == ORIGIN_MODULE ? origin.module
	             : c->field == ORIGIN_SOURCE ? origin.source
	             : c->field == ORIGIN_SHAPES ? origin.shapes
	                                         : ht_origin_method_name(origin.method));
}

static void read_cost(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_op_call *call = c->source.costs ? ht_row_cost(c->source.costs, row) : NULL;
	if (!call)
		return;
	if (c->field == BOUND)
		read_text(v, ht_roof_bound_name(call->bound));
	else if (c->field == FLOPS)
		set_i64(v, (int64_t)call->cost.flops);
	else if (call->cost.has_bytes)
		set_i64(v, (int64_t)call->cost.bytes);
}

static void read_time(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	int64_t value = t->ts_ns[row], base_ns = t->meta->base_ns;
	bool absent = t->flags[row] & HT_EV_NO_TS;
	if (c->field == END || c->field == SET_END) {
		absent |= !(t->flags[row] & HT_EV_SPAN);
		value += t->dur_ns[row];
	}
	if (c->field == UNIX_TIME) {
		absent |= base_ns == HT_NO_I64;
		absent |= __builtin_add_overflow(value, absent ? 0 : base_ns, &value);
	}
	if (!absent)
		set_i64(v, value);
}

static void read_duration(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	bool has = c->field == SPAN ? t->flags[row] & HT_EV_SPAN : !(t->flags[row] & HT_EV_NO_DUR);
	if (has)
		set_i64(v, t->dur_ns[row]);
}

static uint32_t python_parent(const struct ht_trace *t, uint32_t row)
{
	size_t i = ht_lower_bound_u32(t->python_rows, t->n_python_rows, row);
	return i < t->n_python_rows && t->python_rows[i] == row ? t->python_parent[i] : HT_NONE;
}

static const struct ht_gpu *gpu_of(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
}

/* Links that GPU work has. */
static void read_gpu(struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_gpu *gpu = gpu_of(c->source.trace, row);
	if (c->field == DEVICE && (!gpu || gpu->device < 0)) {
		read_integer(c, row, v);
		return;
	}
	if (!gpu)
		return;
	switch (c->field) {
	case CLASS: {
		const char *name = ht_class_name((enum ht_class)gpu->class_);
		set_text(v, name, strlen(name));
		break;
	}
	case DEVICE: set_i64(v, gpu->device); break;
	case LAUNCH: set_known(v, gpu->launch, HT_NONE); break;
	default: set_known(v, gpu->op, HT_NONE); break;
	}
}

static void read_name(const struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	const struct ht_track *track = &t->tracks[t->track[row]];
	const char *kind = ht_kind_name((enum ht_kind)t->kind[row]);
	switch (c->field) {
	case PH: set_text(v, t->ph[row] ? &t->ph[row] : NULL, 1); break;
	case CAT: set_string(t, t->categories[t->cat[row]].name, v); break;
	case NAME: set_string(t, t->name[row], v); break;
	case KIND: set_text(v, kind, strlen(kind)); break;
	case THREAD_NAME: set_string(t, track->name, v); break;
	default: set_string(t, track->process_name, v); break;
	}
}

void ht_event_value(struct ht_event_column *c, uint32_t row, struct ht_event_value *v)
{
	const struct ht_trace *t = c->source.trace;
	const struct ht_track *track = &t->tracks[t->track[row]];
	*v = (struct ht_event_value){ .is_null = true };
	switch (c->field) {
	case -1: read_argument(c, row, v); break;
	case RANK: set_i64(v, c->source.rank); break;
	case INDEX: set_i64(v, row); break;
	case ID: set_i64(v, ht_event_id(c->source.rank, row)); break;
	case TS:
	case END:
	case SET_TIME:
	case SET_END:
	case UNIX_TIME: read_time(c, row, v); break;
	case DUR:
	case SPAN: read_duration(c, row, v); break;
	case PH:
	case CAT:
	case NAME:
	case KIND:
	case THREAD_NAME:
	case PROCESS_NAME: read_name(c, row, v); break;
	case PID: read_id(c, track->pid, track->pid_type, v); break;
	case TID: read_id(c, track->tid, track->tid_type, v); break;
	case STREAM:
	case CORRELATION: read_integer(c, row, v); break;
	case DEVICE:
	case CLASS:
	case LAUNCH:
	case OP: read_gpu(c, row, v); break;
	case STEP:
		if (ht_step_of(t, row) != HT_NONE)
			set_i64(v, t->steps[ht_step_of(t, row)].number);
		break;
	case PARENT: set_known(v, t->parent[row], HT_NONE); break;
	case PYTHON_PARENT: set_known(v, python_parent(t, row), HT_NONE); break;
	case ANNOTATION:
	case ANNOTATION_STACK:
	case ANNOTATION_VIA: read_annotation(c, row, v); break;
	case MODULE:
	case MODULE_VIA: read_module(c, row, v); break;
	case FORWARD_OP:
		set_known(v, ht_attribution_forward(c->source.attribution, row), HT_NONE);
		break;
	case ORIGIN_OP:
	case ORIGIN_MODULE:
	case ORIGIN_SOURCE:
	case ORIGIN_SHAPES:
	case ORIGIN_METHOD:
	case ORIGIN_CONFIDENCE: read_origin(c, row, v); break;
	case FLOPS:
	case BYTES:
	case BOUND: read_cost(c, row, v); break;
	case DOCUMENT: set_i64(v, track->document); break;
	default: break;
	}
}

void ht_event_value_put(
        const struct ht_event_value *value, enum ht_type type, ht_table *table, size_t column)
{
	if (value->is_null)
		ht_table_put_null(table, column);
	else if (type == HT_STR)
		ht_table_put_strn(table, column, value->text, value->n);
	else if (type == HT_F64 || type == HT_RATIO || type == HT_DURATION_F64)
		ht_table_put_f64(table, column, value->f64);
	else
		ht_table_put_i64(table, column, value->i64);
}
