/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_json.c - see script_json.h.
 */
#include "script_json.h"
#include "holotrace/own.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT     4000
#define MAX_EXACT    (INT64_C(1) << 53)
#define LESS_ESCAPED "\\u003c"

void script_json_init(struct script_json *json, ht_ctx *ctx, struct output *output)
{
	json->ctx = ctx;
	json->output = output;
	json->n = 0;
}

void script_json_flush(struct script_json *json)
{
	struct ht_sink sink = output_sink(json->output);
	(void)sink.write(sink.user, json->buffer, json->n);
	json->n = 0;
}

static bool write_bytes(void *user, const void *bytes, size_t n)
{
	struct script_json *json = user;
	const char *text = bytes;
	for (size_t i = 0; i < n; i++) {
		if (json->n + sizeof(LESS_ESCAPED) > sizeof(json->buffer))
			script_json_flush(json);
		if (text[i] == '<') {
			memcpy(json->buffer + json->n, LESS_ESCAPED, sizeof(LESS_ESCAPED) - 1);
			json->n += sizeof(LESS_ESCAPED) - 1;
		} else {
			json->buffer[json->n++] = text[i];
		}
	}
	return !json->output->failed;
}

void script_json_raw(struct script_json *json, const char *text)
{
	(void)write_bytes(json, text, strlen(text));
}

/* The front of a text that is too long for a page, up to a whole character, with a word about it. NULL: no memory. */
static char *cut_text(const char *text, size_t n)
{
	char *cut = malloc(MAX_TEXT + 64);
	size_t n_front = MAX_TEXT;
	if (cut == NULL)
		return NULL;
	while (n_front > 0 && ((unsigned char)text[n_front] & 0xc0) == 0x80)
		n_front--;
	memcpy(cut, text, n_front);
	snprintf(cut + n_front, 64, "… (%zu bytes)", n);
	return cut;
}

void script_json_text(struct script_json *json, const char *text)
{
	struct ht_sink sink = { .write = write_bytes, .user = json };
	if (text == NULL) {
		script_json_raw(json, "null");
		return;
	}
	size_t n = strlen(text);
	char *cut = n > MAX_TEXT ? cut_text(text, n) : NULL;
	if ((n > MAX_TEXT && cut == NULL) ||
	        ht_escape(json->ctx, cut != NULL ? cut : text, "json", &sink) != HT_OK)
		json->output->failed = true;
	free(cut);
}

void script_json_i64(struct script_json *json, int64_t value)
{
	char text[32];
	const char *quote = value > MAX_EXACT || value < -MAX_EXACT ? "\"" : "";
	snprintf(text, sizeof(text), "%s%" PRId64 "%s", quote, value, quote);
	script_json_raw(json, text);
}

static void write_u64(struct script_json *json, uint64_t value)
{
	char text[32];
	const char *quote = value > (uint64_t)MAX_EXACT ? "\"" : "";
	snprintf(text, sizeof(text), "%s%" PRIu64 "%s", quote, value, quote);
	script_json_raw(json, text);
}

static void put_f64(struct script_json *json, double value)
{
	char text[32];
	if (!isfinite(value)) {
		script_json_raw(json, "null");
		return;
	}
	/* the fewest digits that read back as the same number */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	script_json_raw(json, text);
}

void script_json_key(struct script_json *json, const char *key, bool first)
{
	script_json_raw(json, first ? "\"" : ",\"");
	script_json_raw(json, key);
	script_json_raw(json, "\":");
}

static void write_columns(struct script_json *json, const ht_table *table)
{
	script_json_key(json, "columns", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < ht_table_n_columns(table); i++) {
		const struct ht_column *column = ht_table_column(table, i);
		script_json_raw(json, i > 0 ? ",{" : "{");
		script_json_key(json, "name", true);
		script_json_text(json, column->name);
		script_json_key(json, "label", false);
		script_json_text(json, ht_table_column_label(table, i));
		script_json_key(json, "type", false);
		script_json_text(json, ht_type_name(column->type));
		script_json_key(json, "unit", false);
		script_json_text(json, ht_column_unit(column));
		script_json_key(json, "role", false);
		script_json_text(json, ht_role_name(column->role));
		script_json_key(json, "sentence", false);
		script_json_text(json, column->sentence);
		script_json_raw(json, "}");
	}
	script_json_raw(json, "]");
}

static void write_cell(struct script_json *json, const ht_table *table, size_t row, size_t column)
{
	char text[48];
	int64_t event;
	if (ht_table_is_null(table, row, column)) {
		script_json_raw(json, "null");
		return;
	}
	switch (ht_table_column(table, column)->type) {
	case HT_STR: script_json_text(json, ht_table_str(table, row, column)); break;
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: put_f64(json, ht_table_f64(table, row, column)); break;
	case HT_U64: write_u64(json, ht_table_u64(table, row, column)); break;
	case HT_BOOL:
		script_json_raw(json, ht_table_i64(table, row, column) != 0 ? "true" : "false");
		break;
	case HT_EVENT:
		event = ht_table_i64(table, row, column);
		snprintf(text, sizeof(text), "\"%" PRId64 ":%" PRIu32 "\"",
		        (int64_t)ht_event_rank(event), (uint32_t)ht_event_row(event));
		script_json_raw(json, text);
		break;
	default: script_json_i64(json, ht_table_i64(table, row, column)); break;
	}
}

/* About how much a row takes, to stop before a page grows beyond use. */
static size_t row_bytes(const ht_table *table, size_t row)
{
	size_t n = 2;
	for (size_t i = 0; i < ht_table_n_columns(table); i++) {
		bool is_text = ht_table_column(table, i)->type == HT_STR;
		size_t n_text = is_text ? strlen(ht_table_str(table, row, i)) : 8;
		n += 3 + (n_text < MAX_TEXT ? n_text : MAX_TEXT);
	}
	return n;
}

/* Returns how many rows did not fit. */
static size_t write_rows(
        struct script_json *json, const ht_table *table, const bool *kept, size_t max_bytes)
{
	size_t n_bytes = 0, n_written = 0, n_left = 0;
	script_json_key(json, "rows", false);
	script_json_raw(json, "[");
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		if (kept != NULL && !kept[row])
			continue;
		n_bytes += row_bytes(table, row);
		if (n_bytes > max_bytes && n_written > 0) {
			n_left++;
			continue;
		}
		script_json_raw(json, n_written++ > 0 ? ",\n[" : "\n[");
		for (size_t i = 0; i < ht_table_n_columns(table); i++) {
			if (i > 0)
				script_json_raw(json, ",");
			write_cell(json, table, row, i);
		}
		script_json_raw(json, "]");
	}
	script_json_raw(json, "]");
	return n_left;
}

static void write_value(struct script_json *json, const struct ht_note_value *value)
{
	switch (value->type) {
	case HT_STR: script_json_text(json, value->str); break;
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: put_f64(json, value->f64); break;
	default: script_json_i64(json, value->i64); break;
	}
}

static void write_next(struct script_json *json, const struct ht_note *note)
{
	script_json_key(json, "next", false);
	if (note->next == NULL) {
		script_json_raw(json, "null");
		return;
	}
	script_json_raw(json, "{");
	script_json_key(json, "verb", true);
	script_json_text(json, note->next);
	script_json_key(json, "args", false);
	script_json_raw(json, "{");
	for (size_t i = 0; i < note->n_next_args; i++) {
		script_json_key(json, note->next_args[i].name, i == 0);
		script_json_text(json, note->next_args[i].value);
	}
	script_json_raw(json, "}}");
}

/* The notes as data. */
static void write_findings(struct script_json *json, const ht_table *table)
{
	const struct ht_note *note;
	script_json_key(json, "findings", false);
	script_json_raw(json, "[");
	for (size_t i = 0; (note = ht_table_note_at(table, i)) != NULL; i++) {
		script_json_raw(json, i > 0 ? ",{" : "{");
		script_json_key(json, "severity", true);
		script_json_text(json, note->severity == HT_NOTE_WARNING ? "warning" : "info");
		script_json_key(json, "kind", false);
		script_json_text(json, note->kind);
		script_json_key(json, "state", false);
		script_json_text(json, note->state);
		script_json_key(json, "sentence", false);
		script_json_text(json, note->text);
		script_json_key(json, "values", false);
		script_json_raw(json, "{");
		for (size_t k = 0; k < note->n_values; k++) {
			script_json_key(json, note->values[k].name, k == 0);
			write_value(json, &note->values[k]);
		}
		script_json_raw(json, "}");
		write_next(json, note);
		script_json_raw(json, "}");
	}
	script_json_raw(json, "]");
}

void script_json_table(
        struct script_json *json, const ht_table *table, const bool *kept, size_t max_bytes)
{
	size_t bar = ht_table_bar(table);
	script_json_raw(json, "{");
	script_json_key(json, "title", true);
	script_json_text(json, ht_table_title(table));
	script_json_key(json, "method", false);
	script_json_text(json, ht_table_method(table));
	write_columns(json, table);
	size_t n_left = write_rows(json, table, kept, max_bytes);
	script_json_key(json, "notes", false);
	script_json_raw(json, "[");
	for (size_t i = 0; i < ht_table_n_notes(table); i++) {
		if (i > 0)
			script_json_raw(json, ",");
		script_json_text(json, ht_table_note(table, i));
	}
	script_json_raw(json, "]");
	write_findings(json, table);
	script_json_key(json, "hidden", false);
	script_json_i64(json, (int64_t)(ht_table_n_hidden(table) + n_left));
	script_json_key(json, "bar", false);
	script_json_text(
	        json, bar < ht_table_n_columns(table) ? ht_table_column(table, bar)->name : NULL);
	script_json_raw(json, "}");
}
