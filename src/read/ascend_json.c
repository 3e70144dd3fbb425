/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_json.c - the readers of Ascend's small JSON files.
 *
 * communication.json         side tables "communication" (an operation each: when, how long, waiting, sending) and
 *                            "communication_bandwidth" (an operation and transport each)
 * communication_matrix.json  side table "communication_matrix" (an operation and pair of ranks each)
 * profiler_info*.json, profiler_metadata.json   their keys become keys of the trace's header: configuration,
 *                            versions, rank, parallel groups
 *
 * Times are in ns, sizes in bytes; a megabyte of these files is a million bytes. Ratios are as in the file.
 */
#include "read/reader.h"

#include "base/mem.h"
#include "json/json_text.h"
#include "store/draft.h"

#include <math.h>
#include <stdlib.h>

#define MAX_BYTES ((size_t)1 << 30)

enum unit { UNIT_NONE, UNIT_NS_OF_US, UNIT_NS_OF_MS, UNIT_BYTES_OF_MB };

/* A number of the file and the column that it becomes. */
struct field {
	const char *key, *column;
	enum unit unit;
};

static const struct field time_fields[] = {
	{ "Start Timestamp(us)", "start_ns", UNIT_NS_OF_US },
	{ "Elapse Time(ms)", "elapse_ns", UNIT_NS_OF_MS },
	{ "Transit Time(ms)", "transit_ns", UNIT_NS_OF_MS },
	{ "Wait Time(ms)", "wait_ns", UNIT_NS_OF_MS },
	{ "Synchronization Time(ms)", "synchronization_ns", UNIT_NS_OF_MS },
	{ "Idle Time(ms)", "idle_ns", UNIT_NS_OF_MS },
	{ "Wait Time Ratio", "wait_ratio", UNIT_NONE },
	{ "Synchronization Time Ratio", "synchronization_ratio", UNIT_NONE },
};
static const struct field link_fields[] = {
	{ "Transit Size(MB)", "transit_bytes", UNIT_BYTES_OF_MB },
	{ "Transit Time(ms)", "transit_ns", UNIT_NS_OF_MS },
	{ "Bandwidth(GB/s)", "bandwidth_gb_per_s", UNIT_NONE },
	{ "Large Packet Ratio", "large_packet_ratio", UNIT_NONE },
	{ "Transport Type", "transport", UNIT_NONE },
	{ "Op Name", "op_name", UNIT_NONE },
	{ "Size Distribution", "size_distribution", UNIT_NONE },
};

struct reading {
	struct ht_builder *builder;
	bool failed; /* out of memory */
	/* where in the file it is: texts without quotes */
	struct ht_json_value step, type, op;
};

static struct ht_json_value bare(const struct ht_json_value *string)
{
	struct ht_json_value text = *string;
	if (text.n >= 2 && text.text[0] == '"')
		text = (struct ht_json_value){ HT_JSON_STRING, text.text + 1, text.n - 2 };
	return text;
}

static void put_text(
        struct reading *r, uint32_t table, const char *column, const char *text, size_t n)
{
	size_t bad, n_out = 0;
	char small[512], *out = n * 3 > sizeof small ? ht_mem_alloc(r->builder->mem, n * 3) : small;
	if (out)
		n_out = ht_json_decode(text, n, out, &bad);
	uint32_t at = ht_draft_column(r->builder, table, column, strlen(column));
	r->failed |= !out || !ht_draft_put_str(r->builder, table, at, out, n_out);
	if (out != small)
		ht_mem_free(r->builder->mem, out, n * 3);
}

static void put_number(struct reading *r, uint32_t table, const struct field *field,
        const struct ht_number *number)
{
	struct ht_builder *b = r->builder;
	uint32_t at = ht_draft_column(b, table, field->column, strlen(field->column));
	double value = number->type == HT_NUMBER_I64   ? (double)number->i
	               : number->type == HT_NUMBER_U64 ? (double)number->u
	                                               : number->f;
	if (field->unit != UNIT_NONE)
		value = round(value * 1e6); /* of ms in ns, of MB in bytes */
	bool fits = fabs(value) < 9e18;
	if (field->unit != UNIT_NONE && fits)
		r->failed |= !ht_draft_put_i64(b, table, at, (int64_t)value);
	else
		r->failed |= !ht_draft_put_f64(b, table, at, value);
}

static void put_fields(struct reading *r, uint32_t table, const struct field *fields,
        size_t n_fields, const struct ht_json_value *object)
{
	for (size_t i = 0; i < n_fields; i++) {
		struct ht_json_value value = ht_json_get(object, fields[i].key), text;
		struct ht_time time = { .end = NULL };
		struct ht_number number = { .type = HT_NUMBER_NONE };
		if (value.type == HT_JSON_NUMBER)
			number = ht_number_parse(value.text);
		if (value.type == HT_JSON_NUMBER && fields[i].unit == UNIT_NS_OF_US)
			time = ht_time_parse_slow(value.text);
		text = bare(&value);
		if (time.end)
			r->failed |= !ht_draft_put_i64(r->builder, table,
			        ht_draft_column(r->builder, table, fields[i].column,
			                strlen(fields[i].column)),
			        time.ns);
		else if (number.type != HT_NUMBER_NONE)
			put_number(r, table, &fields[i], &number);
		else if (value.type == HT_JSON_STRING)
			put_text(r, table, fields[i].column, text.text, text.n);
		else if (value.type == HT_JSON_OBJECT) {
			uint32_t at = ht_draft_column(
			        r->builder, table, fields[i].column, strlen(fields[i].column));
			r->failed |= !ht_draft_put_str(r->builder, table, at, value.text, value.n);
		}
	}
}

/* Start a row: step, p2p or collective, operation and its group ("name@group"). */
static void begin_row(struct reading *r, uint32_t table)
{
	const char *step = r->step.text, *at = memchr(r->op.text, '@', r->op.n);
	size_t n_step = r->step.n, n_op = at ? (size_t)(at - r->op.text) : r->op.n;
	ht_draft_row(r->builder, table);
	if (n_step >= 4 && !memcmp(step, "step", 4)) {
		step += 4;
		n_step -= 4;
	}
	struct ht_number number = ht_number_parse(step);
	uint32_t column = ht_draft_column(r->builder, table, "step", 4);
	if (number.type == HT_NUMBER_I64 && number.end == step + n_step)
		r->failed |= !ht_draft_put_i64(r->builder, table, column, number.i);
	else if (n_step)
		put_text(r, table, "step", step, n_step);
	put_text(r, table, "type", r->type.text, r->type.n);
	put_text(r, table, "op", r->op.text, n_op);
	if (at)
		put_text(r, table, "group", at + 1, r->op.n - n_op - 1);
}

/* ---- communication.json ---- */

static void put_operation(struct reading *r, const struct ht_json_value *info)
{
	struct ht_json_value times = ht_json_get(info, "Communication Time Info");
	struct ht_json_value links = ht_json_get(info, "Communication Bandwidth Info");
	struct ht_json_value transport, link;
	uint32_t table = ht_draft_table(r->builder, "communication");
	uint32_t by_link = ht_draft_table(r->builder, "communication_bandwidth");
	r->failed |= table == UINT32_MAX || by_link == UINT32_MAX;
	if (r->failed)
		return;
	begin_row(r, table);
	if (times.type == HT_JSON_OBJECT)
		put_fields(r, table, time_fields, HT_COUNT(time_fields), &times);
	struct ht_json reader = ht_json_enter(&links);
	while (links.type == HT_JSON_OBJECT && !r->failed &&
	        ht_json_member(&reader, &transport, &link)) {
		if (link.type != HT_JSON_OBJECT)
			continue;
		begin_row(r, by_link);
		put_text(r, by_link, "transport", transport.text, transport.n);
		put_fields(r, by_link, link_fields, HT_COUNT(link_fields), &link);
	}
}

/* ---- communication_matrix.json ---- */

static void put_links(struct reading *r, const struct ht_json_value *links)
{
	struct ht_json reader = ht_json_enter(links);
	struct ht_json_value pair, link;
	uint32_t table = ht_draft_table(r->builder, "communication_matrix");
	r->failed |= table == UINT32_MAX;
	while (!r->failed && ht_json_member(&reader, &pair, &link)) {
		const char *dash = memchr(pair.text, '-', pair.n);
		if (link.type != HT_JSON_OBJECT || !dash)
			continue;
		struct ht_number from = ht_number_parse(pair.text), to = ht_number_parse(dash + 1);
		if (from.type != HT_NUMBER_I64 || to.type != HT_NUMBER_I64)
			continue;
		begin_row(r, table);
		r->failed |= !ht_draft_put_i64(r->builder, table,
		                     ht_draft_column(r->builder, table, "src_rank", 8), from.i) ||
		             !ht_draft_put_i64(r->builder, table,
		                     ht_draft_column(r->builder, table, "dst_rank", 8), to.i);
		put_fields(r, table, link_fields, HT_COUNT(link_fields), &link);
	}
}

/* ---- both ---- */

/* {step: {p2p|collective: {operation: ...}}} */
static void walk(struct reading *r, const struct ht_json_value *root,
        void (*put)(struct reading *, const struct ht_json_value *))
{
	struct ht_json steps = ht_json_enter(root);
	struct ht_json_value by_type, ops, info;
	while (!r->failed && ht_json_member(&steps, &r->step, &by_type)) {
		struct ht_json types = ht_json_enter(&by_type);
		while (by_type.type == HT_JSON_OBJECT && !r->failed &&
		        ht_json_member(&types, &r->type, &ops)) {
			struct ht_json list = ht_json_enter(&ops);
			while (ops.type == HT_JSON_OBJECT && !r->failed &&
			        ht_json_member(&list, &r->op, &info))
				if (info.type == HT_JSON_OBJECT)
					put(r, &info);
		}
	}
}

/* The whole text, when it is one valid object. */
static enum ht_status read_object(struct ht_builder *builder, const struct ht_reading *reading,
        struct ht_vec *text, struct ht_json_value *ret_root)
{
	HT_TRY(ht_source_read_all(builder->ctx, reading->source, MAX_BYTES, text));
	const char *start = text->data;
	size_t n = text->n;
	if (n >= 3 && !memcmp(start, "\xef\xbb\xbf", 3)) {
		start += 3;
		n -= 3;
	}
	struct ht_json reader = { start };
	if (ht_json_valid(start, n))
		*ret_root = ht_json_next(&reader);
	if (ret_root->type == HT_JSON_OBJECT)
		return HT_OK;
	return ht_fail(builder->ctx, HT_FORMAT, reading->path, 0,
	        "the export may have been interrupted", "not a JSON object");
}

static enum ht_status read_with(struct ht_builder *builder, const struct ht_reading *reading,
        void (*put)(struct reading *, const struct ht_json_value *))
{
	struct reading r = { .builder = builder };
	struct ht_vec text = { 0 };
	struct ht_json_value root = { HT_JSON_END, "", 0 };
	enum ht_status status = read_object(builder, reading, &text, &root);
	if (status == HT_OK)
		walk(&r, &root, put);
	if (status == HT_OK && r.failed)
		status = ht_fail_nomem(builder->ctx);
	ht_vec_free(builder->mem, &text, 1);
	builder->dialect = HT_DIALECT_ASCEND;
	return status;
}

static enum ht_status read_communication(
        struct ht_builder *builder, const struct ht_reading *reading)
{
	return read_with(builder, reading, put_operation);
}

static enum ht_status read_matrix(struct ht_builder *builder, const struct ht_reading *reading)
{
	return read_with(builder, reading, put_links);
}

static bool has_text(const struct ht_head *head, const char *text)
{
	return memmem(head->text, head->n, text, strlen(text)) != NULL;
}

static bool sniff_communication(const struct ht_head *head)
{
	return has_text(head, "\"Communication Time Info\"");
}

static bool sniff_matrix(const struct ht_head *head)
{
	return has_text(head, "\"Transport Type\"") && has_text(head, "\"Transit Size(MB)\"") &&
	       !has_text(head, "\"ph\"");
}

/* ---- about the recording ---- */

static bool sniff_about(const struct ht_head *head)
{
	return !strncmp(head->name, "profiler_info", 13) ||
	       !strncmp(head->name, "profiler_metadata", 17);
}

static enum ht_status read_about(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct ht_vec text = { 0 };
	struct ht_json_value root = { HT_JSON_END, "", 0 }, key, value;
	enum ht_status status = read_object(builder, reading, &text, &root);
	struct ht_json reader = ht_json_enter(&root);
	while (status == HT_OK && ht_json_member(&reader, &key, &value)) {
		char name[256];
		size_t bad, n_name = 0;
		if (key.n < sizeof name)
			n_name = ht_json_decode(key.text, key.n, name, &bad);
		if (!ht_builder_header(builder, name, n_name, value.text, value.n))
			status = ht_fail_nomem(builder->ctx);
	}
	ht_vec_free(builder->mem, &text, 1);
	return status;
}

const struct ht_reader ht_reader_ascend_communication = {
	.name = "ascend-communication",
	.what = "communication of Ascend",
	.by_name_only = true,
	.sniff = sniff_communication,
	.read = read_communication,
};

const struct ht_reader ht_reader_ascend_matrix = {
	.name = "ascend-matrix",
	.what = "a communication matrix of Ascend",
	.by_name_only = true,
	.sniff = sniff_matrix,
	.read = read_matrix,
};

const struct ht_reader ht_reader_ascend_about = {
	.name = "ascend-about",
	.what = "a description of a recording",
	.by_name_only = true,
	.sniff = sniff_about,
	.read = read_about,
};
