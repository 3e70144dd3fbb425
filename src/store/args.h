/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - args of events: sparse columns, by row, as cursors over many rows.
 */
#ifndef HT_STORE_ARGS_H
#define HT_STORE_ARGS_H

#include "store/bit_pack.h"
#include "store/columns.h"

/* One arg key with one type: a sparse column. The same key with two types is two columns. */
struct ht_arg_column {
	uint32_t key;      /* string id */
	uint8_t type;      /* enum ht_arg_type */
	uint8_t top_level; /* a key of the event itself, not of its args */
	uint8_t width;     /* bytes per value: 0 (null, or packed), 1 (bool), 4 or 8 */
	uint8_t is_packed; /* values are in blocks: from tables of many rows */
	uint32_t rows_of;  /* the column whose rows are the same ones: itself, or one before it */
	uint32_t pad;
	uint64_t first_row;   /* slice of arg_rows, of a packed one of row_blocks; see ht_arg_row */
	uint64_t first_byte;  /* slice of arg_values */
	uint64_t first_block; /* slice of arg_blocks, HT_PACK_VALUES each */
	uint64_t n;
};

/* The column of a key and type, or NULL. */
const struct ht_arg_column *ht_arg_find(
        const struct ht_trace *trace, const char *key, enum ht_arg_type type);
/* The row of the i-th entry; rows ascend. */
static inline uint32_t ht_arg_row(
        const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i)
{
	if (!column->is_packed)
		return t->arg_rows[column->first_row + i];
	unsigned at = i % HT_PACK_VALUES;
	const struct ht_pack_block *block = &t->row_blocks[column->first_row + i / HT_PACK_VALUES];
	return (uint32_t)ht_pack_i64(block, t->row_words, at) + at;
}
/* The first of the entries [low, high) whose row is not before that one; high when all are. */
uint64_t ht_arg_lower_bound(const struct ht_trace *trace, const struct ht_arg_column *column,
        uint64_t low, uint64_t high, uint32_t row);
/* The i-th entry of a column, widened. Strings and JSON give the string id. */
int64_t ht_arg_i64_at(const struct ht_trace *trace, const struct ht_arg_column *column, uint64_t i);
double ht_arg_f64_at(const struct ht_trace *trace, const struct ht_arg_column *column, uint64_t i);
/* The integer of an entry in any spelling (integer, whole float, numeric string); false when it has
 * none. */
bool ht_arg_integer_at(const struct ht_trace *trace, const struct ht_arg_column *column, uint64_t i,
        int64_t *ret_value);
/* Position of a row in a column, or UINT64_MAX. O(log n). */
uint64_t ht_arg_position(
        const struct ht_trace *trace, const struct ht_arg_column *column, uint32_t row);

/* The integer arg of a row whatever it was written as (integer, numeric string, whole float);
 * fallback when absent. O(log n). */
int64_t ht_arg_i64(const struct ht_trace *trace, const char *key, uint32_t row, int64_t fallback);
double ht_arg_f64(const struct ht_trace *trace, const char *key, uint32_t row, double fallback);
/* The text of a row's arg (string, or JSON text of a list), NULL when absent. */
const char *ht_arg_str(const struct ht_trace *trace, const char *key, uint32_t row);

/* A dense copy of an integer arg, fallback where absent: value[row]. Caller frees with ht_mem_free
 * (n_events * 8 bytes) or lets a scratch arena go. */
enum ht_status ht_arg_dense_i64(ht_ctx *ctx, const struct ht_trace *trace, const char *key,
        int64_t fallback, struct ht_arena *arena, int64_t **ret_values) HT_MUST_USE;

/* The values of an arg for many rows: its columns are found once, and the next row from where the last one was, so that
 * rows in ascending order, or nearly, cost no search. Not for several threads at once. */
struct ht_arg_cursor {
	const struct ht_trace *trace;
	const struct ht_arg_column *columns[HT_N_ARG_TYPES]; /* one per spelling */
	uint64_t at[HT_N_ARG_TYPES];
	size_t n;
};
struct ht_arg_cursor ht_arg_cursor(const struct ht_trace *trace, const char *key);
/* The same over one column. */
struct ht_arg_cursor ht_arg_cursor_of(
        const struct ht_trace *trace, const struct ht_arg_column *column);
/* How many rows have a value at most. */
size_t ht_arg_cursor_n(const struct ht_arg_cursor *cursor);
/* As ht_arg_i64, ht_arg_f64 and ht_arg_str do. */
int64_t ht_arg_cursor_i64(struct ht_arg_cursor *cursor, uint32_t row, int64_t fallback);
double ht_arg_cursor_f64(struct ht_arg_cursor *cursor, uint32_t row, double fallback);
const char *ht_arg_cursor_str(struct ht_arg_cursor *cursor, uint32_t row);

#endif
