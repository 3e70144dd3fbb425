/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_header.c - what the keys outside traceEvents say: rank, base time, devices, process groups.
 */
#include "store/args.h"
#include "store/seal.h"

#include "json/json_text.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

static const char *key_of(const struct ht_trace *t, const struct ht_header *header)
{
	return ht_str(t, header->key);
}

/* The value of a header key, type END when absent. The last one wins. */
static struct ht_json_value find_header(const struct ht_trace *t, const char *key)
{
	struct ht_json_value value = { HT_JSON_END, "", 0 };
	for (size_t i = 0; i < t->more->n_headers; i++)
		if (!strcmp(key_of(t, &t->more->headers[i]), key)) {
			struct ht_json reader = { ht_str(t, t->more->headers[i].value) };
			value = ht_json_next(&reader);
		}
	return value;
}

bool ht_looks_like_kineto(const struct ht_trace *t)
{
	static const char *const keys[] = { "schemaVersion", "deviceProperties", "trace_id",
		"baseTimeNanoseconds", "distributedInfo" };
	static const char *const categories[] = { "cpu_op", "kernel", "cuda_runtime",
		"user_annotation", "python_function", "ac2g", "cpu_instant_event" };
	for (size_t i = 0; i < t->more->n_headers; i++)
		for (size_t k = 0; k < HT_COUNT(keys); k++)
			if (!strcmp(key_of(t, &t->more->headers[i]), keys[k]))
				return true;
	for (size_t i = 0; i < t->n_categories; i++)
		for (size_t k = 0; k < HT_COUNT(categories); k++)
			if (!strcmp(ht_str(t, t->categories[i].name), categories[k]))
				return true;
	return false;
}

/* Id of a text inside a header value. Sealing adds no strings: texts of nested values are looked up,
 * and the reader interned the names it expects (ht_header_strings). */
static uint32_t string_id(const struct ht_trace *t, const struct ht_json_value *value)
{
	char small[512];
	size_t bad;
	if (value->type != HT_JSON_STRING || value->n > sizeof small)
		return HT_NO_STR;
	size_t n = ht_json_decode(value->text + 1, value->n - 2, small, &bad);
	small[n] = '\0';
	return ht_str_find(t, small);
}

static uint32_t json_id(const struct ht_trace *t, const struct ht_json_value *value)
{
	char small[4096];
	if (value->type == HT_JSON_END || value->n >= sizeof small)
		return HT_NO_STR;
	memcpy(small, value->text, value->n);
	small[value->n] = '\0';
	return ht_str_find(t, small);
}

static int64_t number_of(const struct ht_json_value *object, const char *key)
{
	struct ht_json_value value = ht_json_get(object, key);
	int64_t number;
	return ht_json_i64(&value, &number) ? number : HT_NO_I64;
}

static int compare_devices(const void *x, const void *y)
{
	const struct ht_device *a = x, *b = y;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->properties < b->properties ? -1 : a->properties > b->properties;
}

/* By id, so that one can be found. */
static enum ht_status seal_devices(ht_ctx *ctx, struct ht_trace *t)
{
	struct ht_json_value list = find_header(t, "deviceProperties"), item;
	struct ht_json reader = ht_json_enter(&list);
	size_t n = 0;
	while (list.type == HT_JSON_ARRAY && ht_json_element(&reader, &item))
		n += item.type == HT_JSON_OBJECT;
	struct ht_device *device = HT_SECTION_ALLOC(ctx, ht_more(t), devices, struct ht_device, n);
	if (!device)
		return ht_fail_nomem(ctx);
	reader = ht_json_enter(&list);
	while (n && ht_json_element(&reader, &item)) {
		if (item.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value name = ht_json_get(&item, "name");
		*device++ = (struct ht_device){ .id = number_of(&item, "id"),
			.name = string_id(t, &name),
			.properties = json_id(t, &item),
			.total_memory_bytes = number_of(&item, "totalGlobalMem"),
			.n_sms = number_of(&item, "numSms") };
	}
	if (n)
		qsort(device - n, n, sizeof *device, compare_devices);
	return HT_OK;
}

static enum ht_status seal_groups(ht_ctx *ctx, struct ht_trace *t, const struct ht_json_value *info)
{
	struct ht_json_value list = ht_json_get(info, "pg_config"), item;
	struct ht_json reader = ht_json_enter(&list);
	size_t n = 0;
	while (list.type == HT_JSON_ARRAY && ht_json_element(&reader, &item))
		n += item.type == HT_JSON_OBJECT;
	struct ht_process_group *group =
	        HT_SECTION_ALLOC(ctx, ht_more(t), process_groups, struct ht_process_group, n);
	if (!group)
		return ht_fail_nomem(ctx);
	reader = ht_json_enter(&list);
	while (n && ht_json_element(&reader, &item)) {
		if (item.type != HT_JSON_OBJECT)
			continue;
		struct ht_json_value name = ht_json_get(&item, "pg_name");
		struct ht_json_value description = ht_json_get(&item, "pg_desc");
		struct ht_json_value backend = ht_json_get(&item, "backend_config");
		struct ht_json_value ranks = ht_json_get(&item, "ranks");
		*group++ = (struct ht_process_group){ string_id(t, &name),
			string_id(t, &description), string_id(t, &backend),
			ranks.type == HT_JSON_STRING ? string_id(t, &ranks) : json_id(t, &ranks),
			number_of(&item, "pg_size") };
	}
	return HT_OK;
}

/* The rank from the collectives' own arguments: the rank-th member of a group, send and recv aside, whose
 * Rank is the peer's. */
static int64_t rank_from_collectives(const struct ht_trace *t)
{
	const struct ht_arg_column *column = ht_arg_find(t, "Rank", HT_ARG_I64);
	for (uint64_t i = 0; column && i < column->n; i++) {
		uint32_t row = ht_arg_row(t, column, i);
		const char *what = ht_arg_str(t, "Collective name", row);
		const char *ranks = ht_arg_str(t, "Process Group Ranks", row);
		if (!what || strstr(what, "send") || strstr(what, "recv") || !ranks ||
		        strstr(ranks, "..."))
			continue;
		struct ht_json reader = { ranks };
		struct ht_json_value list = ht_json_next(&reader), item;
		int64_t want = ht_arg_i64_at(t, column, i), rank, n = 0;
		if (list.type != HT_JSON_ARRAY || !ht_json_valid(ranks, strlen(ranks)))
			continue;
		reader = ht_json_enter(&list);
		while (ht_json_element(&reader, &item))
			if (n++ == want && ht_json_i64(&item, &rank))
				return rank;
	}
	return HT_NO_I64;
}

/* Does a metadata event give that name? */
static bool names_process(const struct ht_trace *t, const char *name)
{
	const struct ht_arg_column *column = ht_arg_find(t, "name", HT_ARG_STR);
	uint32_t id = ht_str_find(t, name);
	for (uint64_t i = 0; id != HT_NO_STR && column && i < column->n; i++)
		if ((uint32_t)ht_arg_i64_at(t, column, i) == id &&
		        t->ph[ht_arg_row(t, column, i)] == 'M')
			return true;
	return false;
}

static enum ht_dialect dialect_of(const struct ht_trace *t)
{
	static const char *const ascend[] = { "async_npu", "async_task_queue", "HostToDevice" };
	for (size_t i = 0; i < t->n_categories; i++)
		for (size_t k = 0; k < HT_COUNT(ascend); k++)
			if (!strcmp(ht_str(t, t->categories[i].name), ascend[k]))
				return HT_DIALECT_ASCEND;
	if (t->n_categories == 1 && !strcmp(ht_str(t, t->categories[0].name), "memory_timeline"))
		return HT_DIALECT_MEMORY_TIMELINE;
	if (!t->n_ts_ns && t->more->n_mem_about)
		return HT_DIALECT_MEMORY_SNAPSHOT;
	if (names_process(t, "Ascend Hardware"))
		return HT_DIALECT_ASCEND;
	return ht_looks_like_kineto(t) ? HT_DIALECT_KINETO : HT_DIALECT_CHROME;
}

enum ht_status ht_seal_header(ht_ctx *ctx, struct ht_trace *t, struct ht_tally *tally)
{
	struct ht_trace_meta *meta = HT_MUTABLE(struct ht_trace_meta, t->meta_);
	struct ht_json_value base = find_header(t, "baseTimeNanoseconds");
	struct ht_json_value info = find_header(t, "distributedInfo");
	meta->base_ns = meta->rank = meta->world_size = HT_NO_I64;
	if (!ht_json_i64(&base, &meta->base_ns))
		meta->base_ns = HT_NO_I64;
	else if (meta->base_ns >= HT_MAX_TIME_NS || meta->base_ns <= -HT_MAX_TIME_NS) {
		meta->base_ns = HT_NO_I64;
		ht_tally_add(tally, HT_STAT_absurd_time, 1);
	}
	if (info.type == HT_JSON_OBJECT) {
		meta->rank = number_of(&info, "rank");
		meta->world_size = number_of(&info, "world_size");
	}
	struct ht_json_value rank = find_header(t, "rank_id");
	if (meta->rank == HT_NO_I64 && !ht_json_i64(&rank, &meta->rank))
		meta->rank = rank_from_collectives(t);
	if (meta->rank == HT_NO_I64)
		ht_tally_add(tally, HT_STAT_rank_unknown, 1);
	if (!meta->dialect)
		meta->dialect = dialect_of(t);
	HT_TRY(seal_devices(ctx, t));
	return seal_groups(ctx, t, &info);
}
