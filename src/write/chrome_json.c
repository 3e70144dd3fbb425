/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_json.c - traces as Chrome JSON: what was read is written back, key by key.
 *
 *   {"schemaVersion":1, ...          header keys of the document
 *   "traceEvents":[
 *   {"ph":"X","cat":"cpu_op",...},   one event per line, keys in their own order
 *   ...
 *   ],"traceName":"..."}             header keys that came after
 *
 * Times are microseconds with three decimals; ids, texts and nested values come out as they went in;
 * doubles as the shortest text that reads back the same. Several documents follow each other.
 */
#include "write/trace_format.h"

#include "base/search.h"
#include "json/events_key.h"

#include "store/shape.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#define PROGRESS_ROWS 65536

/* A key as it is written: quotes and colon included. */
struct key_text {
	const char *text;
	uint32_t n;
};

/* Writing one trace. */
struct json_out {
	struct ht_trace_out *out;
	struct key_text *keys; /* by arg column */
	uint32_t next_row;
};

struct json_args {
	struct ht_args_out base;
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

/* Spell each key once. */
static enum ht_status spell_keys(struct json_out *j)
{
	struct ht_trace_out *out = j->out;
	const struct ht_trace *t = out->trace;
	j->keys = ht_arena_alloc(&out->arena, (t->n_arg_columns + 1) * sizeof *j->keys);
	if (!j->keys)
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
		j->keys[i] = (struct key_text){ buffer.bytes, (uint32_t)buffer.n };
	}
	return ht_emit_done(&emit);
}

/* ---- values ---- */

static int64_t shifted(const struct ht_trace_out *out, int64_t ts_ns)
{
	return ht_time_moved(&out->move, ts_ns);
}

static void put_str(struct ht_trace_out *out, uint32_t id)
{
	ht_emit_string(out->emit, ht_str(out->trace, id), ht_str_len(out->trace, id));
}

static void put_cell(struct ht_emit *emit, const struct ht_cell *cell)
{
	switch (cell->type) {
	case HT_ARG_I64: ht_emit_i64(emit, cell->i64); break;
	case HT_ARG_U64: ht_emit_u64(emit, (uint64_t)cell->i64); break;
	case HT_ARG_F64: ht_emit_f64(emit, cell->f64); break;
	case HT_ARG_STR: ht_emit_string(emit, cell->text, cell->n); break;
	case HT_ARG_JSON: ht_emit_text(emit, cell->text, cell->n); break;
	case HT_ARG_BOOL:
		ht_emit_text(emit, cell->i64 ? "true" : "false", cell->i64 ? 4 : 5);
		break;
	default: HT_EMIT(emit, "null"); break;
	}
}

static void put_pid(struct ht_trace_out *out, uint32_t i_track)
{
	struct ht_cell cell;
	ht_pid_cell(out, i_track, &cell);
	put_cell(out->emit, &cell);
}

static void put_tid(struct ht_trace_out *out, uint32_t i_track)
{
	struct ht_cell cell;
	ht_tid_cell(out, i_track, &cell);
	put_cell(out->emit, &cell);
}

/* ---- rows ---- */

static void put_field(struct ht_trace_out *out, uint32_t row, uint32_t item)
{
	const struct ht_trace *t = out->trace;
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
		put_tid(out, t->track[row]);
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

static void put_arg(struct json_out *j, uint32_t row, uint32_t i_column)
{
	struct ht_cell cell;
	ht_emit_text(j->out->emit, j->keys[i_column].text, j->keys[i_column].n);
	ht_row_cell(j->out, row, i_column, &cell);
	put_cell(j->out->emit, &cell);
}

static void put_added_arg(struct ht_args_out *base, const char *key, const struct ht_cell *value)
{
	struct json_args *args = (struct json_args *)base;
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
	put_cell(args->emit, value);
}

static void ask_extras(struct ht_trace_out *out, uint32_t row, struct json_args *args)
{
	if (out->extras && out->extras->row_args)
		out->extras->row_args(out->extras->user, out->i_trace, row, &args->base);
}

static void begin_event(struct ht_trace_out *out)
{
	if (out->file->n_events++)
		HT_EMIT(out->emit, ",\n{");
	else
		HT_EMIT(out->emit, "{");
}

static void put_row(struct json_out *j, uint32_t row)
{
	struct ht_trace_out *out = j->out;
	size_t n;
	const uint32_t *items = ht_row_items(out->trace, row, &n);
	bool first = true, has_args = false;
	begin_event(out);
	for (size_t i = 0; i < n; i++) {
		if (items[i] == HT_FIELD_ARGS_END) {
			struct json_args args = { { put_added_arg }, out->emit, true, first,
				false };
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
			put_arg(j, row, items[i] - HT_FIELD_COUNT);
		}
	}
	if (!has_args) {
		struct json_args args = { { put_added_arg }, out->emit, false, true, first };
		ask_extras(out, row, &args);
		if (args.open)
			ht_emit_char(out->emit, '}');
	}
	ht_emit_char(out->emit, '}');
}

/* Events of one document, or of all when every_document. Called for ascending documents. */
static enum ht_status write_rows(struct json_out *j, uint16_t document, bool every_document)
{
	struct ht_trace_out *out = j->out;
	const struct ht_trace *t = out->trace;
	uint32_t n = ht_n_events(t), row = j->next_row;
	for (; row < n; row++) {
		if (!every_document && t->tracks[t->track[row]].document != document)
			break;
		if (row % PROGRESS_ROWS == 0)
			HT_TRY(ht_progress(out->ctx, "writing", row, n));
		if (ht_trace_out_keeps(out, row))
			put_row(j, row);
		if (out->emit->status != HT_OK)
			return out->emit->status;
	}
	j->next_row = row;
	return HT_OK;
}

/* ---- added args and events ---- */

static void put_new_ids(struct ht_trace_out *out, const struct ht_new_event *event)
{
	const struct ht_trace *t = out->trace;
	const struct ht_track *track = event->row ? &t->tracks[t->track[*event->row]] : NULL;
	const struct ht_pid *pid = NULL;
	if (track && track->pid_type != HT_ID_ABSENT) {
		HT_EMIT(out->emit, ",\"pid\":");
		put_pid(out, t->track[*event->row]);
	} else if (!track && event->pid) {
		if (out->pids && !event->is_placed)
			pid = ht_pids_find(out->pids, *event->pid);
		HT_EMIT(out->emit, ",\"pid\":");
		ht_emit_i64(out->emit, pid ? out->pids->first + pid->number : *event->pid);
	}
	if (track && track->tid_type != HT_ID_ABSENT) {
		HT_EMIT(out->emit, ",\"tid\":");
		put_tid(out, t->track[*event->row]);
	} else if (!track && event->tid) {
		HT_EMIT(out->emit, ",\"tid\":");
		ht_emit_i64(out->emit, *event->tid);
	}
}

static void write_event(struct ht_trace_out *out, const struct ht_new_event *event)
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
		ht_emit_i64(out->emit, ht_moved_id(out, *event->id));
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
		struct json_args args = { { put_added_arg }, out->emit, false, true, false };
		event->args(event->args_user, &args.base);
		if (args.open)
			ht_emit_char(out->emit, '}');
	}
	ht_emit_char(out->emit, '}');
}

/* ---- around the events ---- */

/* A key that readers would take for something else has its first letter as an escape, as it must have been
 * written, or was read while what it has was still damaged: "ph" makes an event of the document, a list under
 * "traceEvents" or nearly that is the list of events. */
static void put_header_key(struct ht_trace_out *out, const struct ht_header *header)
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

static void put_header(struct ht_trace_out *out, const struct ht_header *header)
{
	put_header_key(out, header);
	ht_emit_text(out->emit, ht_str(out->trace, header->value),
	        ht_str_len(out->trace, header->value));
}

/* Headers are by document: the first of one. */
static size_t first_header(const struct ht_trace *t, uint16_t document)
{
	return HT_LOWER_BOUND(i, t->more->n_headers, t->more->headers[i].document < document);
}

static void write_open(struct ht_trace_out *out, uint16_t document, const char *more_header)
{
	const struct ht_trace *t = out->trace;
	out->file->n_events = 0;
	ht_emit_char(out->emit, '{');
	if (out->derived_from) {
		HT_EMIT(out->emit, "\"" HT_DERIVED_FROM_KEY "\":");
		ht_emit_string(out->emit, out->derived_from, strlen(out->derived_from));
		HT_EMIT(out->emit, ",\n");
	}
	for (size_t i = first_header(t, document);
	        i < t->more->n_headers && t->more->headers[i].document == document; i++)
		if (!t->more->headers[i].after_events) {
			put_header(out, &t->more->headers[i]);
			HT_EMIT(out->emit, ",\n");
		}
	ht_emit_text(out->emit, more_header, strlen(more_header));
	HT_EMIT(out->emit, "\"traceEvents\":[\n");
}

static void write_close(struct ht_trace_out *out, uint16_t document)
{
	const struct ht_trace *t = out->trace;
	HT_EMIT(out->emit, "\n]");
	for (size_t i = first_header(t, document);
	        i < t->more->n_headers && t->more->headers[i].document == document; i++)
		if (t->more->headers[i].after_events) {
			HT_EMIT(out->emit, ",\n");
			put_header(out, &t->more->headers[i]);
		}
	HT_EMIT(out->emit, "}\n");
}

/* ---- files ---- */

/* The last document is the one that extras go to. */
static enum ht_status write_documents(struct json_out *j)
{
	struct ht_trace_out *out = j->out;
	const struct ht_list *wanted = &out->filter->filter->documents;
	uint32_t n = out->trace->meta->n_documents ? out->trace->meta->n_documents : 1;
	uint32_t last = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++)
		if (ht_list_has(wanted, i))
			last = i;
	if (last == UINT32_MAX)
		return ht_fail(out->ctx, HT_MISSING, out->trace->path, -1, "documents count from 0",
		        "the file has %u documents and not the one asked for", n);
	for (uint32_t i = 0; i < n; i++) {
		if (ht_list_has(wanted, i))
			write_open(out, (uint16_t)i, "");
		/* also steps over the rows of a document that is left out */
		HT_TRY(write_rows(j, (uint16_t)i, false));
		if (i == last)
			HT_TRY(out->add_events(out));
		if (ht_list_has(wanted, i))
			write_close(out, (uint16_t)i);
	}
	return HT_OK;
}

static enum ht_status write_alone(struct ht_trace_out *out)
{
	struct json_out j = { .out = out };
	HT_TRY(spell_keys(&j));
	return write_documents(&j);
}

static enum ht_status write_merged(struct ht_trace_out *out, const char *more_header)
{
	struct json_out j = { .out = out };
	HT_TRY(spell_keys(&j));
	if (more_header)
		write_open(out, 0, more_header);
	HT_TRY(write_rows(&j, 0, true));
	return out->add_events(out);
}

static void close_merged(struct ht_trace_out *out)
{
	write_close(out, 0);
}

const struct ht_trace_format ht_format_chrome_json = {
	.alone = write_alone,
	.merged = write_merged,
	.close = close_merged,
	.event = write_event,
};
