/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c - see args.h.
 */
#include "store/args.h"

#include "base/number.h"
#include "base/search.h"

#include <math.h>

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
