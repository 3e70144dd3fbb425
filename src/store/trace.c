/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - access to a sealed trace; see trace.h.
 */
#include "store/trace.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/number.h"
#include "store/check.h"

#include <math.h>
#include <string.h>

struct ht_trace *ht_trace_retain(struct ht_trace *t)
{
	atomic_fetch_add(&t->n_sharers, 1);
	return t;
}

bool ht_trace_rest(const struct ht_trace *t)
{
	return ht_map_rest(&t->map);
}

uint64_t ht_trace_bytes(const struct ht_trace *t)
{
	return t->map.bytes ? t->map.n : ht_sections_bytes(&ht_trace_sections, t);
}

void ht_trace_release(const struct ht_trace *shared)
{
	struct ht_trace *t = (struct ht_trace *)(uintptr_t)shared;
	if (!t || atomic_fetch_sub(&t->n_sharers, 1) > 0)
		return;
	struct ht_mem *mem = t->mem;
	if (t->map.bytes)
		ht_map_close(&t->map);
	else
		ht_sections_free(&ht_trace_sections, t, mem);
	if (t->path)
		ht_mem_free(mem, t->path, strlen(t->path) + 1);
	ht_mem_free(mem, t, sizeof *t);
	ht_mem_release(mem);
}

const char *ht_str(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? "" : t->string_bytes + t->string_offsets[id];
}

size_t ht_str_len(const struct ht_trace *t, uint32_t id)
{
	return id == HT_NO_STR ? 0
	                       : (size_t)(t->string_offsets[id + 1] - t->string_offsets[id] - 1);
}

static bool is_text(const struct ht_trace *t, uint32_t id, const char *text, size_t n)
{
	return ht_str_len(t, id) == n && memcmp(ht_str(t, id), text, n) == 0;
}

uint32_t ht_str_find(const struct ht_trace *t, const char *text)
{
	size_t n = strlen(text);
	if (!t->n_string_index)
		return HT_NO_STR;
	const uint32_t *ids = t->string_index;
	return ids[HT_PROBE(at, t->n_string_index, ht_hash(text, n),
	        ids[at] == HT_NO_STR || is_text(t, ids[at], text, n))];
}

/* Bytes that differ have a bit in them set; eight are looked at at once. */
size_t ht_n_of_kind(const struct ht_trace *t, enum ht_kind kind)
{
	const uint64_t ones = 0x0101010101010101, low = 0x7f * ones;
	size_t n = 0, i = 0, n_rows = ht_n_events(t);
	for (; i + sizeof ones <= n_rows; i += sizeof ones) {
		uint64_t bytes;
		memcpy(&bytes, t->kind + i, sizeof bytes);
		bytes ^= ones * (uint64_t)kind;
		/* the highest bit of each byte: whether it has any */
		uint64_t differ = (((bytes & low) + low) | bytes) & ~low;
		/* the product adds them up in its highest byte */
		n += sizeof ones - (size_t)((differ >> 7) * ones >> 56);
	}
	for (; i < n_rows; i++)
		n += t->kind[i] == kind;
	return n;
}

const char *ht_kind_name(enum ht_kind kind)
{
	static const char *const names[HT_N_KINDS] = { "other", "cpu_op", "annotation", "python",
		"runtime", "driver", "kernel", "memcpy", "memset", "gpu_annotation", "sync",
		"cuda_event", "overhead", "flow", "memory", "instant", "counter", "metadata",
		"trace_span", "profiler_range", "async", "memory_timeline" };
	return (size_t)kind < HT_N_KINDS ? names[kind] : "other";
}

const char *ht_class_name(enum ht_class class_)
{
	static const char *const names[HT_N_CLASSES] = { "compute", "communication", "memcpy",
		"memset", "sync" };
	return (size_t)class_ < HT_N_CLASSES ? names[class_] : "compute";
}

const char *ht_cat(const struct ht_trace *t, uint32_t row)
{
	return ht_str(t, t->categories[t->cat[row]].name);
}

/* ---- args ---- */

static const struct ht_arg_column *find_column(
        const struct ht_trace *t, uint32_t key, enum ht_arg_type type)
{
	for (size_t i = 0; i < t->n_arg_columns; i++)
		if (t->arg_columns[i].key == key && t->arg_columns[i].type == type &&
		        !t->arg_columns[i].top_level)
			return &t->arg_columns[i];
	return NULL;
}

const struct ht_arg_column *ht_arg_find(
        const struct ht_trace *t, const char *key, enum ht_arg_type type)
{
	uint32_t id = ht_str_find(t, key);
	return id == HT_NO_STR ? NULL : find_column(t, id, type);
}

uint64_t ht_arg_lower_bound(const struct ht_trace *t, const struct ht_arg_column *column,
        uint64_t low, uint64_t high, uint32_t row)
{
	if (!column->is_packed)
		return low +
		       ht_lower_bound_u32(t->arg_rows + column->first_row + low, high - low, row);
	return low + HT_LOWER_BOUND(at, high - low, ht_arg_row(t, column, low + at) < row);
}

static const struct ht_pack_block *block_of(
        const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i)
{
	return &t->arg_blocks[column->first_block + i / HT_PACK_VALUES];
}

int64_t ht_arg_i64_at(const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i)
{
	const char *p = t->arg_values + column->first_byte + i * column->width;
	if (column->is_packed && column->type != HT_ARG_F64)
		return ht_pack_i64(block_of(t, column, i), t->arg_words, i % HT_PACK_VALUES);
	if (column->type == HT_ARG_F64) {
		double value = ht_arg_f64_at(t, column, i);
		return value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
	}
	switch (column->width) {
	case 1: return (uint8_t)*p;
	case 4:
		if (column->type == HT_ARG_I64)
			return *(const int32_t *)(const void *)p;
		return *(const uint32_t *)(const void *)p;
	case 8: return *(const int64_t *)(const void *)p;
	default: return 0;
	}
}

double ht_arg_f64_at(const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i)
{
	if (column->is_packed && column->type == HT_ARG_F64)
		return ht_pack_f64(block_of(t, column, i), t->arg_words, i % HT_PACK_VALUES);
	if (column->type == HT_ARG_F64)
		return ((const double *)(const void *)(t->arg_values + column->first_byte))[i];
	if (column->type == HT_ARG_U64)
		return (double)(uint64_t)ht_arg_i64_at(t, column, i);
	return (double)ht_arg_i64_at(t, column, i);
}

uint64_t ht_arg_position(const struct ht_trace *t, const struct ht_arg_column *column, uint32_t row)
{
	uint64_t low = ht_arg_lower_bound(t, column, 0, column->n, row);
	return low < column->n && ht_arg_row(t, column, low) == row ? low : UINT64_MAX;
}

bool ht_arg_integer_at(
        const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i, int64_t *ret)
{
	switch (column->type) {
	case HT_ARG_I64:
	case HT_ARG_U64:
	case HT_ARG_BOOL: *ret = ht_arg_i64_at(t, column, i); return true;
	case HT_ARG_F64: {
		double value = ht_arg_f64_at(t, column, i);
		if (value != floor(value) || fabs(value) > 9e18)
			return false;
		*ret = (int64_t)value;
		return true;
	}
	case HT_ARG_STR: {
		const char *text = ht_str(t, (uint32_t)ht_arg_i64_at(t, column, i));
		struct ht_number number = ht_number_parse(text);
		if (number.type != HT_NUMBER_I64 || *number.end)
			return false;
		*ret = number.i;
		return true;
	}
	default: return false;
	}
}

/* What a number, or a text, is looked for among first. */
static const enum ht_arg_type number_types[] = { HT_ARG_F64, HT_ARG_I64, HT_ARG_U64 };
static const enum ht_arg_type text_types[] = { HT_ARG_STR, HT_ARG_JSON };

int64_t ht_arg_i64(const struct ht_trace *t, const char *key, uint32_t row, int64_t fallback)
{
	struct ht_arg_cursor cursor = ht_arg_cursor(t, key);
	return ht_arg_cursor_i64(&cursor, row, fallback);
}

double ht_arg_f64(const struct ht_trace *t, const char *key, uint32_t row, double fallback)
{
	struct ht_arg_cursor cursor = ht_arg_cursor(t, key);
	return ht_arg_cursor_f64(&cursor, row, fallback);
}

const char *ht_arg_str(const struct ht_trace *t, const char *key, uint32_t row)
{
	struct ht_arg_cursor cursor = ht_arg_cursor(t, key);
	return ht_arg_cursor_str(&cursor, row);
}

enum ht_status ht_arg_dense_i64(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        int64_t fallback, struct ht_arena *arena, int64_t **ret_values)
{
	uint32_t n = ht_n_events(t), id = ht_str_find(t, key);
	int64_t *values = (fallback ? ht_arena_room : ht_arena_alloc)(
	        arena, ((size_t)n + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(ctx);
	for (uint32_t i = 0; fallback && i < n; i++)
		values[i] = fallback;
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		if (column->key != id || column->top_level)
			continue;
		for (uint64_t i = 0; i < column->n; i++) {
			int64_t value;
			if (ht_arg_integer_at(t, column, i, &value))
				values[ht_arg_row(t, column, i)] = value;
		}
	}
	*ret_values = values;
	return HT_OK;
}

struct ht_arg_cursor ht_arg_cursor(const struct ht_trace *t, const char *key)
{
	struct ht_arg_cursor cursor = { .trace = t };
	uint32_t id = ht_str_find(t, key);
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++)
		if (t->arg_columns[c].key == id && !t->arg_columns[c].top_level &&
		        cursor.n < HT_N_ARG_TYPES)
			cursor.columns[cursor.n++] = &t->arg_columns[c];
	return cursor;
}

struct ht_arg_cursor ht_arg_cursor_of(const struct ht_trace *t, const struct ht_arg_column *column)
{
	return (struct ht_arg_cursor){ .trace = t, .columns = { column }, .n = column != NULL };
}

size_t ht_arg_cursor_n(const struct ht_arg_cursor *cursor)
{
	size_t n = 0;
	for (size_t c = 0; c < cursor->n; c++)
		n += cursor->columns[c]->n;
	return n;
}

/* The place of a row in the c-th column, UINT64_MAX: it has none. Near the last one by doubling steps. */
static uint64_t seek(struct ht_arg_cursor *cursor, size_t c, uint32_t row)
{
	const struct ht_arg_column *column = cursor->columns[c];
	const struct ht_trace *t = cursor->trace;
	uint64_t low = cursor->at[c], high = column->n;
	/* mostly at the next, or between the same two as the one before */
	if (low + 1 < high && ht_arg_row(t, column, low + 1) == row)
		return cursor->at[c] = low + 1;
	if (low < high && ht_arg_row(t, column, low) >= row &&
	        (!low || ht_arg_row(t, column, low - 1) < row))
		return ht_arg_row(t, column, low) == row ? low : UINT64_MAX;
	if (low + 1 < high && ht_arg_row(t, column, low) < row &&
	        ht_arg_row(t, column, low + 1) >= row) {
		cursor->at[c] = low + 1;
		return ht_arg_row(t, column, low + 1) == row ? low + 1 : UINT64_MAX;
	}
	if (low && ht_arg_row(t, column, low - 1) >= row) {
		high = low;
		low = 0;
	} else if (low || !high || ht_arg_row(t, column, 0) >= row) {
		uint64_t step = 1;
		while (step <= high - low && ht_arg_row(t, column, low + step - 1) < row) {
			low += step;
			step *= 2;
		}
		high = step < high - low ? low + step : high;
	}
	low = ht_arg_lower_bound(t, column, low, high, row);
	cursor->at[c] = low;
	return low < column->n && ht_arg_row(t, column, low) == row ? low : UINT64_MAX;
}

int64_t ht_arg_cursor_i64(struct ht_arg_cursor *cursor, uint32_t row, int64_t fallback)
{
	for (size_t c = 0; c < cursor->n; c++) {
		uint64_t at = seek(cursor, c, row);
		int64_t value;
		if (at != UINT64_MAX &&
		        ht_arg_integer_at(cursor->trace, cursor->columns[c], at, &value))
			return value;
	}
	return fallback;
}

/* Where the row has a value of the first of the types that it has one of; NULL: of none. */
static const struct ht_arg_column *seek_type(struct ht_arg_cursor *cursor, uint32_t row,
        const enum ht_arg_type *types, size_t n_types, uint64_t *ret_at)
{
	for (size_t k = 0; k < n_types; k++)
		for (size_t c = 0; c < cursor->n; c++)
			if (cursor->columns[c]->type == types[k] &&
			        (*ret_at = seek(cursor, c, row)) != UINT64_MAX)
				return cursor->columns[c];
	return NULL;
}

double ht_arg_cursor_f64(struct ht_arg_cursor *cursor, uint32_t row, double fallback)
{
	uint64_t at;
	const struct ht_arg_column *column =
	        seek_type(cursor, row, number_types, HT_COUNT(number_types), &at);
	return column ? ht_arg_f64_at(cursor->trace, column, at) : fallback;
}

const char *ht_arg_cursor_str(struct ht_arg_cursor *cursor, uint32_t row)
{
	uint64_t at;
	const struct ht_arg_column *column =
	        seek_type(cursor, row, text_types, HT_COUNT(text_types), &at);
	return column ? ht_str(cursor->trace, (uint32_t)ht_arg_i64_at(cursor->trace, column, at))
	              : NULL;
}

/* ---- links ---- */

const struct ht_device *ht_trace_device(const struct ht_trace *trace, int64_t id)
{
	size_t at = HT_LOWER_BOUND(i, trace->n_devices, trace->devices[i].id < id);
	return at < trace->n_devices && trace->devices[at].id == id ? &trace->devices[at] : NULL;
}

const struct ht_gpu *ht_gpu_of_row(const struct ht_trace *t, uint32_t row)
{
	size_t low = HT_LOWER_BOUND(at, t->n_gpu, t->gpu[at].row < row);
	return low < t->n_gpu && t->gpu[low].row == row ? &t->gpu[low] : NULL;
}

const struct ht_gpu *ht_gpu_of_row_near(const struct ht_trace *t, uint32_t row, size_t *at)
{
	*at = HT_LOWER_BOUND_NEAR(i, t->n_gpu, *at, t->gpu[i].row < row);
	return *at < t->n_gpu && t->gpu[*at].row == row ? &t->gpu[*at] : NULL;
}

void ht_launch_gpus(
        const struct ht_trace *t, uint32_t launch_row, const uint32_t **ret_gpus, size_t *ret_n)
{
	size_t low = HT_LOWER_BOUND(at, t->n_launch_rows, t->launch_rows[at] < launch_row);
	bool found = low < t->n_launch_rows && t->launch_rows[low] == launch_row;
	*ret_gpus = found ? t->launch_gpu + t->launch_offsets[low] : NULL;
	*ret_n = found ? t->launch_offsets[low + 1] - t->launch_offsets[low] : 0;
}

/* ---- health ---- */

const struct ht_stat_info *ht_stat_info(enum ht_stat_code code)
{
#define STAT_SEVERITY_INFO      HT_INFO
#define STAT_SEVERITY_NOTICE    HT_NOTICE
#define STAT_SEVERITY_REPAIR    HT_REPAIR
#define STAT_SEVERITY_DATA_LOSS HT_DATA_LOSS
	static const struct ht_stat_info infos[] = {
#define STAT(name, severity, sentence, weakens)                                                    \
	{ #name, sentence, weakens, STAT_SEVERITY_##severity },
#include "store/import_stats.def"
#undef STAT
	};
	return &infos[code];
}
