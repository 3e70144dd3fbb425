/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_answer.c - tables to what a model reads: a short text first, then the same as data with bounded rows.
 *
 *   {"content":[{"type":"text","text":"…"}],
 *    "structuredContent":{"run":"…","tables":[{"verb":"…","columns":[…],"rows":[…],"findings":[…],"truncated":true,
 *                         "next_cursor":"row:10"}],"next":[{"tool":"…","arguments":{…}}]},"isError":false}
 *
 * The text has readable times, the data ns. Both have a share of the bytes of an answer; when the whole is longer all the
 * same, because of what JSON escapes, it is written again with smaller shares. What is left out is said in both.
 */
#include "mcp/tool.h"

#include "table/escape.h"
#include "table/format.h"
#include "table/storage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_WIDTH 140
#define CELL_BYTES 240

/* ---- the text ---- */

/* The bytes of a text that fit, whole lines only. */
static size_t fit_lines(const char *text, size_t n, size_t room)
{
	if (n <= room)
		return n;
	while (room && text[room - 1] != '\n')
		room--;
	return room;
}

static void put_note_line(
        struct ht_out *out, const char *format, unsigned long long a, unsigned long long b)
{
	char line[200];
	snprintf(line, sizeof line, format, a, b);
	ht_out_str(out, line);
}

/* Rows that the view left out behind those that it has. */
static uint64_t n_after(const struct mcp_part *part)
{
	uint64_t n_hidden = ht_table_n_hidden(part->table);
	return n_hidden > part->offset ? n_hidden - part->offset : 0;
}

static enum ht_status write_part_text(
        struct mcp_call *call, struct ht_out *out, const struct mcp_part *part, size_t room)
{
	const struct ht_render_options look = { .struct_size = sizeof look, .width = TEXT_WIDTH };
	struct mcp_text text = { .mem = call->ctx->mem };
	struct ht_sink sink = mcp_text_sink(&text);
	enum ht_status status = ht_render(call->ctx, part->table, "text", &look, &sink);
	if (status == HT_OK) {
		size_t n = fit_lines(text.bytes.data, text.bytes.n, room);
		ht_out_bytes(out, text.bytes.data, n);
		if (n < text.bytes.n)
			put_note_line(out,
			        "(text cut: %llu of %llu bytes; ask with a smaller limit or where)\n",
			        (unsigned long long)(text.bytes.n - n),
			        (unsigned long long)text.bytes.n);
		if (n_after(part) && part->has_pages)
			put_note_line(out, "(%llu more rows: call again with cursor row:%llu)\n",
			        (unsigned long long)n_after(part),
			        (unsigned long long)(part->offset + ht_table_n_rows(part->table)));
		ht_out_char(out, '\n');
	}
	mcp_text_done(&text);
	return status;
}

static void write_next_text(struct ht_out *out, const struct mcp_result *result)
{
	for (size_t i = 0; i < result->n_next && i < 3; i++) {
		ht_out_str(out, i ? "; " : "Next: ");
		ht_out_str(out, result->next[i].tool);
		ht_out_char(out, ' ');
		mcp_next_write(out, result, &result->next[i]);
	}
	if (result->n_next)
		ht_out_char(out, '\n');
}

static enum ht_status write_text(struct mcp_call *call, const struct mcp_result *result,
        size_t room, struct mcp_text *ret_text)
{
	struct ht_sink sink = mcp_text_sink(ret_text);
	struct ht_out out;
	ht_out_init(&out, call->ctx, &sink);
	if (result->lead)
		ht_out_str(&out, result->lead);
	if (result->lead)
		ht_out_char(&out, '\n');
	enum ht_status status = HT_OK;
	for (size_t i = 0; status == HT_OK && i < result->n_parts; i++)
		status = write_part_text(call, &out, &result->parts[i], room / result->n_parts);
	write_next_text(&out, result);
	enum ht_status flushed = ht_out_finish(&out);
	return status != HT_OK ? status : flushed;
}

/* ---- the data ---- */

static void put_text_cell(struct ht_out *out, const char *text)
{
	char cut[CELL_BYTES + 8];
	size_t n = strlen(text);
	if (n > CELL_BYTES) {
		n = CELL_BYTES;
		while (n && ((unsigned char)text[n] & 0xC0) == 0x80)
			n--;
		snprintf(cut, sizeof cut, "%.*s…", (int)n, text);
		text = cut;
	}
	ht_out_json(out, text);
}

static void put_cell(struct ht_out *out, const ht_table *table, size_t row, size_t column)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	char buf[HT_FORMAT_BYTES];
	if (ht_cell_is_null(cells, row)) {
		ht_out_str(out, "null");
	} else if (cells->meta.type == HT_STR) {
		put_text_cell(out, ht_table_str(table, row, column));
	} else {
		bool quoted = cells->meta.type == HT_EVENT;
		ht_out_str(out, quoted ? "\"" : "");
		ht_out_bytes(out, buf, ht_format_exact(buf, cells, row));
		ht_out_str(out, quoted ? "\"" : "");
	}
}

/* The cells of a finding that a model needs; the rest is for programs. */
static const char *const finding_cells[] = { "kind", "state", "value_ns", "share", "denominator",
	"upper_bound_ns", "confidence", "evidence", "advice" };

static bool is_of_findings(const ht_table *table)
{
	return ht_table_find_column(table, "next_verb") != SIZE_MAX &&
	       ht_table_find_column(table, "state") != SIZE_MAX && ht_table_n_columns(table) > 2;
}

static void put_finding(struct ht_out *out, const ht_table *table, size_t row)
{
	ht_out_str(out, "{\"topic\":");
	put_cell(out, table, row, 0);
	ht_out_str(out, ",\"sentence\":");
	put_cell(out, table, row, 1);
	for (size_t i = 0; i < HT_COUNT(finding_cells); i++) {
		size_t column = ht_table_find_column(table, finding_cells[i]);
		if (column == SIZE_MAX || ht_table_is_null(table, row, column))
			continue;
		ht_out_str(out, ",\"");
		ht_out_str(out, finding_cells[i]);
		ht_out_str(out, "\":");
		put_cell(out, table, row, column);
	}
	ht_out_char(out, '}');
}

/* Which columns of a wide table are shown: details are left out, unless there are few columns in all. */
static bool is_shown(const ht_table *table, size_t column)
{
	return ht_table_n_columns(table) <= 10 || ht_table_column(table, column)->role != HT_DETAIL;
}

static void put_row(struct ht_out *out, const ht_table *table, size_t row)
{
	bool any = false;
	ht_out_char(out, '[');
	for (size_t c = 0; c < ht_table_n_columns(table); c++) {
		if (!is_shown(table, c))
			continue;
		ht_out_str(out, any ? "," : "");
		any = true;
		put_cell(out, table, row, c);
	}
	ht_out_char(out, ']');
}

static void put_columns(struct ht_out *out, const ht_table *table)
{
	bool any = false;
	ht_out_str(out, ",\"columns\":[");
	for (size_t c = 0; c < ht_table_n_columns(table); c++) {
		const struct ht_column *column = ht_table_column(table, c);
		if (!is_shown(table, c))
			continue;
		ht_out_str(out, any ? ",{" : "{");
		any = true;
		mcp_member(out, "name", column->name, true);
		mcp_member(out, "type", ht_type_name(column->type), false);
		if (ht_column_unit(column))
			mcp_member(out, "unit", ht_column_unit(column), false);
		ht_out_str(out, ",\"meaning\":");
		put_text_cell(out, column->sentence);
		ht_out_char(out, '}');
	}
	ht_out_char(out, ']');
}

static void put_notes(struct ht_out *out, const ht_table *table)
{
	size_t n = ht_table_n_notes(table);
	ht_out_str(out, ",\"notes\":[");
	for (size_t i = 0; i < n && i < 12; i++) {
		const struct ht_note *note = ht_table_note_at(table, i);
		ht_out_str(out, i ? ",{" : "{");
		mcp_member(out, "severity", note->severity == HT_NOTE_WARNING ? "warning" : "info",
		        true);
		mcp_member(out, "kind", note->kind, false);
		ht_out_str(out, ",\"sentence\":");
		put_text_cell(out, note->text);
		ht_out_char(out, '}');
	}
	ht_out_char(out, ']');
}

/* As many rows as fit; answers how many were written. */
static size_t put_rows(
        struct mcp_call *call, struct ht_out *out, const ht_table *table, size_t room)
{
	bool findings = is_of_findings(table);
	size_t used = 0, row = 0;
	ht_out_str(out, findings ? ",\"findings\":[" : ",\"rows\":[");
	for (; row < ht_table_n_rows(table); row++) {
		struct mcp_text one = { .mem = call->ctx->mem };
		struct ht_sink sink = mcp_text_sink(&one);
		struct ht_out part;
		ht_out_init(&part, call->ctx, &sink);
		(findings ? put_finding : put_row)(&part, table, row);
		bool fits = ht_out_finish(&part) == HT_OK && used + one.bytes.n <= room;
		if (fits) {
			ht_out_str(out, row ? "," : "");
			ht_out_bytes(out, one.bytes.data, one.bytes.n);
			used += one.bytes.n + 1;
		}
		mcp_text_done(&one);
		if (!fits)
			break;
	}
	ht_out_char(out, ']');
	return row;
}

static void put_part(
        struct mcp_call *call, struct ht_out *out, const struct mcp_part *part, size_t room)
{
	const ht_table *table = part->table;
	char text[160];
	ht_out_char(out, '{');
	mcp_member(out, "verb", part->verb, true);
	mcp_member(out, "title", ht_table_title(table), false);
	ht_out_str(out, ",\"method\":");
	put_text_cell(out, ht_table_method(table));
	if (!is_of_findings(table))
		put_columns(out, table);
	size_t n = put_rows(call, out, table, room);
	put_notes(out, table);
	uint64_t n_left = ht_table_n_rows(table) - n + n_after(part);
	snprintf(text, sizeof text, ",\"truncated\":%s,\"left_out_rows\":%" PRIu64,
	        n_left ? "true" : "false", n_left);
	ht_out_str(out, text);
	if (n_left && part->has_pages) {
		snprintf(text, sizeof text, ",\"next_cursor\":\"row:%" PRIu64 "\"",
		        part->offset + n);
		ht_out_str(out, text);
	}
	ht_out_char(out, '}');
}

static enum ht_status write_data(struct mcp_call *call, const struct mcp_result *result,
        size_t room, struct mcp_text *ret_data)
{
	struct ht_sink sink = mcp_text_sink(ret_data);
	struct ht_out out;
	ht_out_init(&out, call->ctx, &sink);
	ht_out_char(&out, '{');
	mcp_member(&out, "schema", "holotrace-mcp/1", true);
	mcp_member(&out, "run", result->run, false);
	if (result->base)
		mcp_member(&out, "base", result->base, false);
	ht_out_str(&out, ",\"tables\":[");
	for (size_t i = 0; i < result->n_parts; i++) {
		ht_out_str(&out, i ? "," : "");
		put_part(call, &out, &result->parts[i], room / result->n_parts);
	}
	ht_out_str(&out, "],\"next\":[");
	for (size_t i = 0; i < result->n_next; i++) {
		ht_out_str(&out, i ? ",{" : "{");
		mcp_member(&out, "tool", result->next[i].tool, true);
		ht_out_str(&out, ",\"arguments\":");
		mcp_next_write(&out, result, &result->next[i]);
		ht_out_char(&out, '}');
	}
	ht_out_str(&out, "]}");
	return ht_out_finish(&out);
}

/* ---- together ---- */

/* A text with a NUL behind it, as JSON. */
static void put_text_content(struct ht_out *out, struct mcp_text *text)
{
	static const char end = '\0';
	struct ht_sink sink = mcp_text_sink(text);
	ht_out_str(out, "{\"type\":\"text\",\"text\":");
	mcp_write_text(out, sink.write(sink.user, &end, 1) ? text->bytes.data : "");
	ht_out_char(out, '}');
}

static void put_contents(struct mcp_call *call, struct ht_out *out, const struct mcp_result *result,
        struct mcp_text *text, struct mcp_text *data)
{
	ht_out_str(out, "{\"content\":[");
	put_text_content(out, text);
	if (result->picture) {
		ht_out_str(out, ",{\"type\":\"image\"");
		mcp_member(out, "data", result->picture, false);
		mcp_member(out, "mimeType", result->picture_type, false);
		ht_out_char(out, '}');
	}
	if (result->drawing) {
		ht_out_str(out,
		        ",{\"type\":\"resource\",\"resource\":{\"uri\":\"holotrace://timeline.svg\","
		        "\"mimeType\":\"image/svg+xml\"");
		mcp_member(out, "text", result->drawing, false);
		ht_out_str(out, "}}");
	}
	if (call->host->is_old) {
		ht_out_char(out, ',');
		put_text_content(out, data);
		ht_out_char(out, ']');
	} else {
		ht_out_str(out, "],\"structuredContent\":");
		ht_out_bytes(out, data->bytes.data, data->bytes.n);
	}
	ht_out_str(out, ",\"isError\":false}");
}

/* One try with these shares; ret_fits tells whether it is short enough. */
static enum ht_status write_within(struct mcp_call *call, struct mcp_result *result, size_t share,
        struct mcp_text *whole, bool *ret_fits)
{
	struct mcp_text text = { .mem = call->ctx->mem }, data = { .mem = call->ctx->mem };
	struct ht_sink sink = mcp_text_sink(whole);
	struct ht_out out;
	enum ht_status status = write_text(call, result, share * 2, &text);
	if (status == HT_OK)
		status = write_data(call, result, share * 3, &data);
	ht_out_init(&out, call->ctx, &sink);
	if (status == HT_OK)
		put_contents(call, &out, result, &text, &data);
	enum ht_status flushed = ht_out_finish(&out);
	mcp_text_done(&text);
	mcp_text_done(&data);
	*ret_fits = whole->bytes.n <= call->host->max_bytes;
	return status != HT_OK ? status : flushed;
}

enum ht_status mcp_result_write(
        struct mcp_call *call, const struct mcp_tool *tool, struct mcp_result *result)
{
	enum ht_status status = HT_OK;
	bool fits = false;
	(void)tool;
	for (size_t share = call->host->max_bytes / 7; status == HT_OK && !fits; share /= 2) {
		struct mcp_text whole = { .mem = call->ctx->mem };
		status = write_within(call, result, share, &whole, &fits);
		/* with no room at all for rows it is what it is: columns, notes and what to ask */
		fits |= share == 0;
		if (status == HT_OK && fits)
			ht_out_bytes(call->out, whole.bytes.data, whole.bytes.n);
		mcp_text_done(&whole);
	}
	return status;
}

void mcp_result_fail(struct mcp_call *call)
{
	struct ht_error_text why;
	char text[2200];
	ht_error_save(call->ctx, &why);
	const struct ht_error *error = &why.error;
	snprintf(text, sizeof text, "%s%s%s%s%s", error->file ? error->file : "",
	        error->file ? ": " : "", error->message ? error->message : "it failed",
	        error->hint ? ". " : "", error->hint ? error->hint : "");
	ht_out_str(call->out, "{\"content\":[{\"type\":\"text\"");
	mcp_member(call->out, "text", text, false);
	ht_out_str(call->out, "}],\"isError\":true}");
}
