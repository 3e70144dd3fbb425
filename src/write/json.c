/*
 * json.c - see json.h.
 */
#include "write/json.h"
#include "json/events_key.h"

#include "store/shape.h"

#define PROGRESS_ROWS 65536

/* What a column means when traces are merged. */
enum role { PLAIN, FLOW_ID, LINK_ID, FRAME_ID, PROCESS_NAME, PROCESS_LABELS, SORT_INDEX };

/* A key as it is written: quotes and colon included. */
struct ht_key_text {
	const char *text;
	uint32_t n;
	uint8_t role;
};

struct ht_args_out {
	struct ht_emit *emit;
	bool open;        /* the object has been opened */
	bool first;       /* no member yet */
	bool first_field; /* the object would be the first member of its event */
};

/* ---- keys ---- */

struct key_buffer {
	char *bytes;
	size_t n;
};

static enum ht_status to_buffer(void *user, const void *bytes, size_t n)
{
	struct key_buffer *buffer = user;
	memcpy(buffer->bytes + buffer->n, bytes, n);
	buffer->n += n;
	return HT_OK;
}

static uint8_t role_of(const struct ht_trace *t, const struct ht_arg_column *column)
{
	static const struct {
		const char *key;
		uint8_t top_level, role;
	} roles[] = { { "id", 1, FLOW_ID }, { "correlation", 0, LINK_ID },
		{ "External id", 0, LINK_ID }, { "external id", 0, LINK_ID },
		{ "Record function id", 0, LINK_ID }, { "Ev Idx", 0, FRAME_ID },
		{ "wait_on_cuda_event_record_corr_id", 0, LINK_ID }, { "Python id", 0, FRAME_ID },
		{ "Python parent id", 0, FRAME_ID }, { "name", 0, PROCESS_NAME },
		{ "labels", 0, PROCESS_LABELS }, { "sort_index", 0, SORT_INDEX } };
	for (size_t i = 0; i < HT_COUNT(roles); i++)
		if (column->top_level == roles[i].top_level &&
		        !strcmp(ht_str(t, column->key), roles[i].key))
			return roles[i].role;
	return PLAIN;
}

/* Spell each key once. */
static enum ht_status spell_keys(struct ht_json_out *out)
{
	const struct ht_trace *t = out->trace;
	out->keys = ht_arena_alloc(&out->arena, (t->n_arg_columns + 1) * sizeof *out->keys);
	if (!out->keys)
		return ht_fail_nomem(out->ctx);
	struct key_buffer buffer;
	struct ht_emit emit;
	HT_TRY(ht_emit_init(&emit, out->ctx, to_buffer, &buffer));
	for (size_t i = 0; i < t->n_arg_columns && emit.status == HT_OK; i++) {
		const struct ht_arg_column *column = &t->arg_columns[i];
		size_t n = ht_str_len(t, column->key);
		buffer = (struct key_buffer){ ht_arena_alloc(&out->arena, n * 6 + 3), 0 };
		if (!buffer.bytes) {
			emit.status = ht_fail_nomem(out->ctx);
			break;
		}
		ht_emit_string(&emit, ht_str(t, column->key), n);
		ht_emit_char(&emit, ':');
		ht_emit_drain(&emit);
		out->keys[i] = (struct ht_key_text){ buffer.bytes, (uint32_t)buffer.n,
			out->pids ? role_of(t, column) : PLAIN };
	}
	return ht_emit_done(&emit);
}

enum ht_status ht_json_out_init(struct ht_json_out *out)
{
	out->next_row = 0;
	out->walk = NULL;
	out->process_name = ht_str_find(out->trace, "process_name");
	out->process_labels = ht_str_find(out->trace, "process_labels");
	out->process_sort_index = ht_str_find(out->trace, "process_sort_index");
	ht_arena_init(&out->arena, out->ctx->mem);
	HT_TRY(spell_keys(out));
	struct ht_row_walk *walk = ht_arena_alloc(&out->arena, sizeof *walk);
	if (!walk)
		return ht_fail_nomem(out->ctx);
	HT_TRY(ht_row_walk_init(out->ctx, out->trace, walk));
	out->walk = walk;
	return HT_OK;
}

void ht_json_out_done(struct ht_json_out *out)
{
	if (out->walk)
		ht_row_walk_done(out->ctx, out->walk);
	out->walk = NULL;
	ht_arena_done(&out->arena);
}

/* ---- values ---- */

static int64_t shifted(const struct ht_json_out *out, int64_t ts_ns)
{
	return ht_time_moved(&out->move, ts_ns);
}

static void put_str(struct ht_json_out *out, uint32_t id)
{
	ht_emit_string(out->emit, ht_str(out->trace, id), ht_str_len(out->trace, id));
}

/* "rank R " and the text. */
static void put_ranked(struct ht_json_out *out, const char *text, size_t n)
{
	HT_EMIT(out->emit, "\"rank ");
	ht_emit_i64(out->emit, out->pids->rank);
	ht_emit_char(out->emit, ' ');
	ht_emit_escaped(out->emit, text, n);
	ht_emit_char(out->emit, '"');
}

static void put_id(struct ht_json_out *out, uint8_t type, int64_t value)
{
	if (type == HT_ID_STR)
		put_str(out, (uint32_t)value);
	else
		ht_emit_i64(out->emit, value);
}

static void put_pid(struct ht_json_out *out, uint32_t i_track)
{
	const struct ht_track *track = &out->trace->tracks[i_track];
	if (!out->pids || out->pids->of_track[i_track] == HT_NONE) {
		put_id(out, track->pid_type, track->pid);
	} else if (track->pid_type == HT_ID_STR) {
		uint32_t id = (uint32_t)track->pid;
		put_ranked(out, ht_str(out->trace, id), ht_str_len(out->trace, id));
	} else {
		const struct ht_pid *list = out->pids->list.data;
		const struct ht_pid *pid = &list[out->pids->of_track[i_track]];
		ht_emit_i64(out->emit, out->pids->first + pid->number);
	}
}

static void put_value(struct ht_json_out *out, const struct ht_arg_column *column, uint64_t at)
{
	const struct ht_trace *t = out->trace;
	switch (column->type) {
	case HT_ARG_I64: ht_emit_i64(out->emit, ht_arg_i64_at(t, column, at)); break;
	case HT_ARG_U64: ht_emit_u64(out->emit, (uint64_t)ht_arg_i64_at(t, column, at)); break;
	case HT_ARG_F64: ht_emit_f64(out->emit, ht_arg_f64_at(t, column, at)); break;
	case HT_ARG_STR: put_str(out, (uint32_t)ht_arg_i64_at(t, column, at)); break;
	case HT_ARG_JSON: {
		uint32_t id = (uint32_t)ht_arg_i64_at(t, column, at);
		ht_emit_text(out->emit, ht_str(t, id), ht_str_len(t, id));
		break;
	}
	case HT_ARG_BOOL:
		if (ht_arg_i64_at(t, column, at))
			HT_EMIT(out->emit, "true");
		else
			HT_EMIT(out->emit, "false");
		break;
	default: HT_EMIT(out->emit, "null"); break;
	}
}

/* Ids of merged traces: distinct per trace, and below 2^53 for readers that go through doubles. */
static int64_t move_id(const struct ht_json_out *out, int64_t id)
{
	bool fits = out->pids && id >= 0 && id < (int64_t)1 << 40 && out->pids->i_trace < 1 << 13;
	return fits ? id + (int64_t)(out->pids->i_trace << 40) : id;
}

/* "rank R pid P: NAME", so that the process can be found again. */
static void put_process_name(struct ht_json_out *out, uint32_t i_track, const char *name, size_t n)
{
	const struct ht_track *track = &out->trace->tracks[i_track];
	HT_EMIT(out->emit, "\"rank ");
	ht_emit_i64(out->emit, out->pids->rank);
	if (track->pid_type == HT_ID_INT) {
		HT_EMIT(out->emit, " pid ");
		ht_emit_i64(out->emit, track->pid);
	}
	HT_EMIT(out->emit, ": ");
	ht_emit_escaped(out->emit, name, n);
	ht_emit_char(out->emit, '"');
}

/* Values that change when traces are merged; false for all others. */
static bool put_merged(struct ht_json_out *out, uint32_t row, uint8_t role,
        const struct ht_arg_column *column, uint64_t at)
{
	const struct ht_trace *t = out->trace;
	bool is_text = column->type == HT_ARG_STR, is_integer = column->type == HT_ARG_I64;
	bool is_metadata = t->ph[row] == 'M' && t->name[row] != HT_NO_STR;
	if (!is_text && !is_integer)
		return false;
	int64_t value = ht_arg_i64_at(t, column, at);
	const char *text = is_text ? ht_str(t, (uint32_t)value) : "";
	size_t n = is_text ? ht_str_len(t, (uint32_t)value) : 0;
	/* of what links calls with work 0 is none, of frames and what is counted it is the first */
	if ((role == FLOW_ID || role == FRAME_ID || (role == LINK_ID && value > 0)) && is_integer)
		ht_emit_i64(out->emit, move_id(out, value));
	else if (role == FLOW_ID)
		put_ranked(out, text, n);
	else if (role == PROCESS_NAME && is_text && is_metadata &&
	         t->name[row] == out->process_name)
		put_process_name(out, t->track[row], text, n);
	else if (role == PROCESS_LABELS && is_text && is_metadata &&
	         t->name[row] == out->process_labels)
		put_ranked(out, text, n);
	else if (role == SORT_INDEX && is_integer && is_metadata &&
	         t->name[row] == out->process_sort_index &&
	         t->tracks[t->track[row]].pid_type == HT_ID_INT)
		put_pid(out, t->track[row]);
	else
		return false;
	return true;
}

/* ---- rows ---- */

static void put_field(struct ht_json_out *out, uint32_t row, uint32_t item)
{
	const struct ht_trace *t = out->trace;
	const struct ht_track *track = &t->tracks[t->track[row]];
	switch (item) {
	case HT_FIELD_PH:
		HT_EMIT(out->emit, "\"ph\":");
		ht_emit_string(out->emit, &t->ph[row], 1);
		break;
	case HT_FIELD_CAT:
		HT_EMIT(out->emit, "\"cat\":");
		put_str(out, t->categories[t->cat[row]].name);
		break;
	case HT_FIELD_NAME:
		HT_EMIT(out->emit, "\"name\":");
		put_str(out, t->name[row]);
		break;
	case HT_FIELD_PID:
		HT_EMIT(out->emit, "\"pid\":");
		put_pid(out, t->track[row]);
		break;
	case HT_FIELD_TID:
		HT_EMIT(out->emit, "\"tid\":");
		put_id(out, track->tid_type, track->tid);
		break;
	case HT_FIELD_TS:
		HT_EMIT(out->emit, "\"ts\":");
		ht_emit_us(out->emit, shifted(out, t->ts_ns[row]));
		break;
	case HT_FIELD_DUR:
		HT_EMIT(out->emit, "\"dur\":");
		ht_emit_us(out->emit, t->dur_ns[row]);
		break;
	default: break;
	}
}

static void put_arg(struct ht_json_out *out, uint32_t row, uint32_t i_column)
{
	const struct ht_arg_column *column = &out->trace->arg_columns[i_column];
	const struct ht_key_text *key = &out->keys[i_column];
	uint64_t at;
	ht_emit_text(out->emit, key->text, key->n);
	if (!ht_row_walk_find(out->walk, i_column, row, &at))
		HT_EMIT(out->emit, "null");
	else if (key->role == PLAIN || !put_merged(out, row, key->role, column, at))
		put_value(out, column, at);
}

static void ask_extras(struct ht_json_out *out, uint32_t row, struct ht_args_out *args)
{
	if (out->extras && out->extras->row_args)
		out->extras->row_args(out->extras->user, out->i_trace, row, args);
}

static void begin_event(struct ht_json_out *out)
{
	if (out->n_events++)
		HT_EMIT(out->emit, ",\n{");
	else
		HT_EMIT(out->emit, "{");
}

static void put_row(struct ht_json_out *out, uint32_t row)
{
	size_t n;
	const uint32_t *items = ht_row_items(out->trace, row, &n);
	bool first = true, has_args = false;
	begin_event(out);
	for (size_t i = 0; i < n; i++) {
		if (items[i] == HT_FIELD_ARGS_END) {
			struct ht_args_out args = { out->emit, true, first, false };
			ask_extras(out, row, &args);
			ht_emit_char(out->emit, '}');
			first = false;
			continue;
		}
		if (!first)
			ht_emit_char(out->emit, ',');
		first = items[i] == HT_FIELD_ARGS;
		if (items[i] == HT_FIELD_ARGS) {
			HT_EMIT(out->emit, "\"args\":{");
			has_args = true;
		} else if (items[i] < HT_FIELD_COUNT) {
			put_field(out, row, items[i]);
		} else {
			put_arg(out, row, items[i] - HT_FIELD_COUNT);
		}
	}
	if (!has_args) {
		struct ht_args_out args = { out->emit, false, true, first };
		ask_extras(out, row, &args);
		if (args.open)
			ht_emit_char(out->emit, '}');
	}
	ht_emit_char(out->emit, '}');
}

static bool keeps(const struct ht_json_out *out, uint32_t row)
{
	const struct ht_write_extras *extras = out->extras;
	if (out->filter && !ht_row_filter_keeps(out->filter, row))
		return false;
	return !extras || !extras->keep_row || out->trace->kind[row] == HT_KIND_METADATA ||
	       extras->keep_row(extras->user, out->i_trace, row);
}

enum ht_status ht_write_rows(struct ht_json_out *out, uint16_t document, bool every_document)
{
	const struct ht_trace *t = out->trace;
	uint32_t n = ht_n_events(t), row = out->next_row;
	for (; row < n; row++) {
		if (!every_document && t->tracks[t->track[row]].document != document)
			break;
		if (row % PROGRESS_ROWS == 0)
			HT_TRY(ht_progress(out->ctx, "writing", row, n));
		if (keeps(out, row))
			put_row(out, row);
		if (out->emit->status != HT_OK)
			return out->emit->status;
	}
	out->next_row = row;
	return HT_OK;
}

/* ---- added args and events ---- */

static void begin_arg(struct ht_args_out *args, const char *key)
{
	if (!args->open) {
		if (!args->first_field)
			ht_emit_char(args->emit, ',');
		HT_EMIT(args->emit, "\"args\":{");
		args->open = true;
	}
	if (!args->first)
		ht_emit_char(args->emit, ',');
	args->first = false;
	ht_emit_string(args->emit, key, strlen(key));
	ht_emit_char(args->emit, ':');
}

void ht_args_i64(struct ht_args_out *args, const char *key, int64_t value)
{
	begin_arg(args, key);
	ht_emit_i64(args->emit, value);
}

void ht_args_f64(struct ht_args_out *args, const char *key, double value)
{
	begin_arg(args, key);
	ht_emit_f64(args->emit, value);
}

void ht_args_str(struct ht_args_out *args, const char *key, const char *value)
{
	begin_arg(args, key);
	ht_emit_string(args->emit, value, strlen(value));
}

void ht_args_json(struct ht_args_out *args, const char *key, const char *json)
{
	begin_arg(args, key);
	ht_emit_text(args->emit, json, strlen(json));
}

static void put_new_ids(struct ht_json_out *out, const struct ht_new_event *event)
{
	const struct ht_trace *t = out->trace;
	const struct ht_track *track = event->row ? &t->tracks[t->track[*event->row]] : NULL;
	const struct ht_pid *pid = NULL;
	if (track && track->pid_type != HT_ID_ABSENT) {
		HT_EMIT(out->emit, ",\"pid\":");
		put_pid(out, t->track[*event->row]);
	} else if (!track && event->pid) {
		if (out->pids)
			pid = ht_pids_find(out->pids, *event->pid);
		HT_EMIT(out->emit, ",\"pid\":");
		ht_emit_i64(out->emit, pid ? out->pids->first + pid->number : *event->pid);
	}
	if (track && track->tid_type != HT_ID_ABSENT) {
		HT_EMIT(out->emit, ",\"tid\":");
		put_id(out, track->tid_type, track->tid);
	} else if (!track && event->tid) {
		HT_EMIT(out->emit, ",\"tid\":");
		ht_emit_i64(out->emit, *event->tid);
	}
}

void ht_write_event(struct ht_json_out *out, const struct ht_new_event *event)
{
	begin_event(out);
	HT_EMIT(out->emit, "\"ph\":");
	ht_emit_string(out->emit, &event->ph, 1);
	if (event->cat) {
		HT_EMIT(out->emit, ",\"cat\":");
		ht_emit_string(out->emit, event->cat, strlen(event->cat));
	}
	if (event->name) {
		HT_EMIT(out->emit, ",\"name\":");
		ht_emit_string(out->emit, event->name, strlen(event->name));
	}
	if (event->id) {
		HT_EMIT(out->emit, ",\"id\":");
		ht_emit_i64(out->emit, move_id(out, *event->id));
	}
	put_new_ids(out, event);
	if (event->ph != 'M') {
		HT_EMIT(out->emit, ",\"ts\":");
		ht_emit_us(out->emit, shifted(out, event->ts_ns));
	}
	if (event->dur_ns) {
		HT_EMIT(out->emit, ",\"dur\":");
		ht_emit_us(out->emit, *event->dur_ns);
	}
	if (event->bp) {
		HT_EMIT(out->emit, ",\"bp\":");
		ht_emit_string(out->emit, event->bp, strlen(event->bp));
	}
	if (event->args) {
		struct ht_args_out args = { out->emit, false, true, false };
		event->args(event->args_user, &args);
		if (args.open)
			ht_emit_char(out->emit, '}');
	}
	ht_emit_char(out->emit, '}');
}

/* Processes that the trace did not name are named when traces are merged: their ids are not theirs. */
static void name_processes(struct ht_json_out *out)
{
	const struct ht_pid *list = out->pids->list.data;
	for (size_t i = 0; i < out->pids->list.n; i++) {
		if (list[i].has_name || list[i].type != HT_ID_INT)
			continue;
		begin_event(out);
		HT_EMIT(out->emit, "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":");
		ht_emit_i64(out->emit, out->pids->first + list[i].number);
		HT_EMIT(out->emit, ",\"tid\":0,\"args\":{\"name\":\"rank ");
		ht_emit_i64(out->emit, out->pids->rank);
		HT_EMIT(out->emit, " pid ");
		ht_emit_i64(out->emit, list[i].old);
		HT_EMIT(out->emit, "\"}}");
	}
}

enum ht_status ht_write_more(struct ht_json_out *out)
{
	if (out->extras && out->extras->events)
		HT_TRY(out->extras->events(out->extras->user, out->i_trace, out));
	if (out->pids)
		name_processes(out);
	return out->emit->status;
}

/* ---- around the events ---- */

/* A key that readers would take for something else has its first letter as an escape, as it must have been
 * written, or was read while what it has was still damaged: "ph" makes an event of the document, a list under
 * "traceEvents" or nearly that is the list of events. */
static void put_header_key(struct ht_json_out *out, const struct ht_header *header)
{
	const char *key = ht_str(out->trace, header->key);
	size_t n = ht_str_len(out->trace, header->key);
	char first = *ht_str(out->trace, header->value);
	bool holds = first == '[' || first == '{';
	if ((n == 2 && !memcmp(key, "ph", 2)) || (holds && ht_is_events_key(key, n))) {
		static const char digits[] = "0123456789abcdef";
		HT_EMIT(out->emit, "\"\\u00");
		ht_emit_char(out->emit, digits[*key >> 4 & 7]);
		ht_emit_char(out->emit, digits[*key & 15]);
		ht_emit_escaped(out->emit, key + 1, n - 1);
		ht_emit_char(out->emit, '"');
	} else {
		ht_emit_string(out->emit, key, n);
	}
	ht_emit_char(out->emit, ':');
}

static void put_header(struct ht_json_out *out, const struct ht_header *header)
{
	put_header_key(out, header);
	ht_emit_text(out->emit, ht_str(out->trace, header->value),
	        ht_str_len(out->trace, header->value));
}

void ht_write_open(struct ht_json_out *out, uint16_t document, const char *more_header)
{
	const struct ht_trace *t = out->trace;
	out->n_events = 0;
	ht_emit_char(out->emit, '{');
	if (out->made_from) {
		HT_EMIT(out->emit, "\"" HT_MADE_FROM_KEY "\":");
		ht_emit_string(out->emit, out->made_from, strlen(out->made_from));
		HT_EMIT(out->emit, ",\n");
	}
	for (size_t i = 0; i < t->n_headers; i++)
		if (t->headers[i].document == document && !t->headers[i].after_events) {
			put_header(out, &t->headers[i]);
			HT_EMIT(out->emit, ",\n");
		}
	ht_emit_text(out->emit, more_header, strlen(more_header));
	HT_EMIT(out->emit, "\"traceEvents\":[\n");
}

void ht_write_close(struct ht_json_out *out, uint16_t document)
{
	const struct ht_trace *t = out->trace;
	HT_EMIT(out->emit, "\n]");
	for (size_t i = 0; i < t->n_headers; i++)
		if (t->headers[i].document == document && t->headers[i].after_events) {
			HT_EMIT(out->emit, ",\n");
			put_header(out, &t->headers[i]);
		}
	HT_EMIT(out->emit, "}\n");
}
