/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_timeline_json.c - the reader of PyTorch's memory timelines: what export_memory_timeline writes, raw ("x.raw.json.gz")
 * or summed up ("x.json").
 *
 * A JSON list of [time_ns, action, bytes, category], gzip or not. bytes is signed; category counts
 *   0 parameter  1 optimizer state  2 input  3 temporary  4 activation  5 gradient  6 autograd detail
 *   7 unknown
 * Each becomes an instant with the name of its category, its bytes and its action (preexisting, create,
 * increment version, destroy, or a number). Things that were there before the recording have a negative time
 * and come first; they stand at the earliest time that is none and are marked so.
 *
 * Summed up it is [times in us, rows of bytes]: a row has a 0 that means nothing, then what each category holds, in the
 * same order. Its changes against the row before become instants with the number of the row; a row without any change has
 * one of 0 bytes.
 */
#include "read/reader.h"
#include "read/rows.h"
#include "base/checked.h"

#include <stdlib.h>

#define MAX_BYTES   ((size_t)4 << 30)
#define NS_PER_US   1000
#define MAX_TIME_US (INT64_MAX / NS_PER_US)

static const char *const categories[] = { "parameter", "optimizer_state", "input", "temporary",
	"activation", "gradient", "autograd_detail", "unknown" };

struct scan {
	ht_ctx *ctx;
	const char *path, *text, *at;
};

struct event {
	int64_t time_ns, bytes, category, offset;
	int64_t row;             /* of the summed form, HT_NO_I64 */
	int64_t action;          /* when it is a number */
	const char *action_text; /* else in the file's text, n_action bytes */
	size_t n_action;
};

static enum ht_status wrong(const struct scan *scan, const char *expected)
{
	return ht_fail(scan->ctx, HT_FORMAT, scan->path, scan->at - scan->text,
	        "give a file written by export_memory_timeline with a name that ends in .raw.json.gz or .json",
	        "not a memory timeline: %s expected", expected);
}

static bool skip(struct scan *scan, char wanted)
{
	while (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r')
		scan->at++;
	if (*scan->at != wanted)
		return false;
	scan->at++;
	return true;
}

/* A whole number; a fraction, if any, is cut. */
static bool number(struct scan *scan, int64_t *ret_value)
{
	while (*scan->at == ' ' || *scan->at == '\n')
		scan->at++;
	char *end;
	long long value = strtoll(scan->at, &end, 10);
	if (end == scan->at)
		return false;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	scan->at = end;
	*ret_value = value;
	return true;
}

/* The action: a number, or a word in quotes. */
static bool action(struct scan *scan, struct event *event)
{
	if (!skip(scan, '"'))
		return number(scan, &event->action);
	event->action_text = scan->at;
	while (*scan->at && *scan->at != '"')
		scan->at++;
	event->n_action = (size_t)(scan->at - event->action_text);
	return skip(scan, '"');
}

static enum ht_status parse_event(struct scan *scan, struct event *ret_event)
{
	*ret_event = (struct event){ .offset = scan->at - scan->text, .row = HT_NO_I64 };
	if (!skip(scan, '[') || !number(scan, &ret_event->time_ns) || !skip(scan, ',') ||
	        !action(scan, ret_event) || !skip(scan, ',') || !number(scan, &ret_event->bytes) ||
	        !skip(scan, ',') || !number(scan, &ret_event->category) || !skip(scan, ']'))
		return wrong(scan, "[time, action, bytes, category]");
	if (ret_event->category < 0 || ret_event->category >= (int64_t)HT_COUNT(categories))
		return wrong(scan, "a category from 0 to 7");
	return HT_OK;
}

static enum ht_status parse(struct scan *scan, struct ht_vec *events)
{
	if (!skip(scan, '['))
		return wrong(scan, "a list");
	if (skip(scan, ']'))
		return HT_OK;
	do {
		struct event event;
		HT_TRY(parse_event(scan, &event));
		if (!HT_VEC_PUSH(scan->ctx->mem, events, struct event, event))
			return ht_fail_nomem(scan->ctx);
	} while (skip(scan, ','));
	return skip(scan, ']') ? HT_OK : wrong(scan, "the end of the list");
}

/* ---- summed up ---- */

/* Whether the second element is a list of lists, too: no event of the raw form has that. */
static bool is_summed(struct scan scan)
{
	if (!skip(&scan, '[') || !skip(&scan, '['))
		return false;
	const char *end = strchr(scan.at, ']');
	scan.at = end ? end + 1 : scan.at;
	return end && skip(&scan, ',') && skip(&scan, '[') &&
	       (skip(&scan, '[') || skip(&scan, ']'));
}

static enum ht_status parse_times(struct scan *scan, struct ht_vec *times)
{
	int64_t time_us;
	if (!skip(scan, '['))
		return wrong(scan, "a list of times");
	if (skip(scan, ']'))
		return HT_OK;
	do {
		if (!number(scan, &time_us) || time_us < 0 || time_us > MAX_TIME_US)
			return wrong(scan, "a time in us");
		if (!HT_VEC_PUSH(scan->ctx->mem, times, int64_t, time_us))
			return ht_fail_nomem(scan->ctx);
	} while (skip(scan, ','));
	return skip(scan, ']') ? HT_OK : wrong(scan, "the end of the times");
}

/* One row: what changed against the one before, which it replaces. */
static enum ht_status parse_sums(
        struct scan *scan, struct event like, int64_t *held, struct ht_vec *events)
{
	int64_t nothing, bytes;
	bool has_changed = false;
	like.offset = scan->at - scan->text;
	if (!skip(scan, '[') || !number(scan, &nothing))
		return wrong(scan, "a row of nine numbers");
	for (size_t c = 0; c < HT_COUNT(categories); c++) {
		if (!skip(scan, ',') || !number(scan, &bytes))
			return wrong(scan, "a row of nine numbers");
		like.category = (int64_t)c;
		like.bytes = ht_sub_sat(bytes, held[c]);
		held[c] = bytes;
		bool is_last = c + 1 == HT_COUNT(categories);
		if (!like.bytes && !(is_last && !has_changed))
			continue;
		has_changed = true;
		if (!HT_VEC_PUSH(scan->ctx->mem, events, struct event, like))
			return ht_fail_nomem(scan->ctx);
	}
	return skip(scan, ']') ? HT_OK : wrong(scan, "a row of nine numbers");
}

static enum ht_status parse_rows(
        struct scan *scan, const int64_t *times, size_t n, struct ht_vec *events)
{
	int64_t held[HT_COUNT(categories)] = { 0 };
	size_t row = 0;
	if (!skip(scan, ',') || !skip(scan, '['))
		return wrong(scan, "a list of rows");
	for (; row < n; row++) {
		const struct event like = { .row = (int64_t)row,
			.time_ns = times[row] * NS_PER_US };
		if (row && !skip(scan, ','))
			return wrong(scan, "as many rows as times");
		HT_TRY(parse_sums(scan, like, held, events));
	}
	return skip(scan, ']') && skip(scan, ']') ? HT_OK : wrong(scan, "as many rows as times");
}

static enum ht_status parse_summed(struct scan *scan, struct ht_vec *events)
{
	struct ht_vec times = { 0 };
	(void)skip(scan, '[');
	enum ht_status status = parse_times(scan, &times);
	if (status == HT_OK)
		status = parse_rows(scan, times.data, times.n, events);
	ht_vec_free(scan->ctx->mem, &times, sizeof(int64_t));
	return status;
}

/* ---- events ---- */

struct columns {
	uint32_t category, names[HT_COUNT(categories)];
	uint32_t bytes, action, action_text, preexisting, row;
};

static struct columns make_columns(struct ht_rows *rows)
{
	struct columns c = { .category = ht_rows_text(rows, "memory_timeline", 15),
		.bytes = ht_rows_column(rows, "Bytes", 5, HT_ARG_I64),
		.action = ht_rows_column(rows, "Action", 6, HT_ARG_I64),
		.action_text = ht_rows_column(rows, "Action", 6, HT_ARG_STR),
		.preexisting = ht_rows_column(rows, "Preexisting", 11, HT_ARG_BOOL),
		.row = ht_rows_column(rows, "Row", 3, HT_ARG_I64) };
	for (size_t i = 0; i < HT_COUNT(categories); i++)
		c.names[i] = ht_rows_text(rows, categories[i], strlen(categories[i]));
	return c;
}

static enum ht_status put_events(struct ht_rows *rows, const struct event *events, size_t n)
{
	struct columns c = make_columns(rows);
	int64_t first_ns = INT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (events[i].time_ns >= 0 && events[i].time_ns < first_ns)
			first_ns = events[i].time_ns;
	if (first_ns == INT64_MAX)
		first_ns = 0;
	for (size_t i = 0; i < n; i++) {
		const struct event *event = &events[i];
		ht_row_begin(rows, 'i', c.category, c.names[event->category]);
		ht_row_time(rows, event->time_ns >= 0 ? event->time_ns : first_ns);
		ht_row_put(rows, c.bytes, (uint64_t)event->bytes);
		if (event->row != HT_NO_I64)
			ht_row_put(rows, c.row, (uint64_t)event->row);
		else if (event->action_text)
			ht_row_put(rows, c.action_text,
			        ht_rows_text(rows, event->action_text, event->n_action));
		else
			ht_row_put(rows, c.action, (uint64_t)event->action);
		if (event->time_ns < 0)
			ht_row_put(rows, c.preexisting, 1);
		HT_TRY(ht_row_end(rows, event->offset));
	}
	return HT_OK;
}

static bool sniff(const struct ht_head *head)
{
	size_t i = head->n >= 3 && !memcmp(head->text, "\xef\xbb\xbf", 3) ? 3 : 0;
	size_t n_lists = 0;
	for (; i < head->n && strchr(" \t\r\n[", head->text[i]); i++)
		n_lists += head->text[i] == '[';
	return i < head->n && n_lists == 2 && strchr("-0123456789", head->text[i]);
}

static enum ht_status read_timeline(struct ht_builder *builder, const struct ht_reading *reading)
{
	ht_ctx *ctx = builder->ctx;
	struct ht_vec text = { 0 }, events = { 0 };
	enum ht_status status = ht_source_read_all(ctx, reading->source, MAX_BYTES, &text);
	struct scan scan = { ctx, reading->path, text.data, text.data };
	if (status == HT_OK)
		status = (is_summed(scan) ? parse_summed : parse)(&scan, &events);
	if (status == HT_OK) {
		struct ht_rows rows;
		ht_rows_init(&rows, builder);
		status = put_events(&rows, events.data, events.n);
		ht_rows_done(&rows);
		builder->n_documents++;
	}
	ht_vec_free(ctx->mem, &text, 1);
	ht_vec_free(ctx->mem, &events, sizeof(struct event));
	return status;
}

const struct ht_reader ht_reader_memory_timeline = {
	.name = "memory-timeline",
	.what = "a memory timeline",
	.by_name_only = true,
	.sniff = sniff,
	.read = read_timeline,
};
