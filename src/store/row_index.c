/*
 * row_index.c - see row_index.h.
 */
#include "store/row_index.h"

#include "base/sort.h"
#include "base/search.h"

#include <string.h>

static bool is_of(const struct ht_arg_column *column, uint32_t key)
{
	return column->key == key && !column->top_level;
}

/* So much room for a value that may be there, per row. */
#define MAX_SPREAD 8

static bool is_wanted(const struct ht_trace *t, uint32_t row, uint32_t kinds)
{
	return (HT_KIND_BIT(t->kind[row]) & kinds) && !ht_time_was_refused(t, row);
}

static void push(struct ht_row_index *index, int64_t value, uint32_t row)
{
	index->keys[index->n] = ht_sort_key_i64(value);
	index->rows[index->n++] = row;
}

static void collect(const struct ht_trace *t, const struct ht_arg_column *column, uint32_t kinds,
        struct ht_row_index *index)
{
	const uint32_t *rows = ht_arg_rows(t, column);
	const void *values = t->arg_values + column->first_byte;
	int64_t value;
	if (column->type != HT_ARG_I64) {
		for (uint64_t i = 0; i < column->n; i++)
			if (is_wanted(t, rows[i], kinds) && ht_arg_integer_at(t, column, i, &value))
				push(index, value, rows[i]);
	} else if (column->width == sizeof(int32_t)) {
		for (uint64_t i = 0; i < column->n; i++)
			if (is_wanted(t, rows[i], kinds))
				push(index, ((const int32_t *)values)[i], rows[i]);
	} else {
		for (uint64_t i = 0; i < column->n; i++)
			if (is_wanted(t, rows[i], kinds))
				push(index, ((const int64_t *)values)[i], rows[i]);
	}
}

/* Do the values lie close enough for a table? Finds the smallest, and the length of the table. */
static bool is_dense(struct ht_row_index *index)
{
	uint64_t min = UINT64_MAX, max = 0;
	for (size_t i = 0; i < index->n; i++) {
		min = index->keys[i] < min ? index->keys[i] : min;
		max = index->keys[i] > max ? index->keys[i] : max;
	}
	if (!index->n || max - min >= (uint64_t)index->n * MAX_SPREAD)
		return false;
	index->min = min;
	index->n_first = (size_t)(max - min) + 2;
	return true;
}

/* Count the rows of each value, place them, and write the keys in their new order. */
static bool sort_dense(struct ht_row_index *index, struct ht_arena *arena)
{
	uint32_t *first = ht_arena_alloc(arena, index->n_first * sizeof *first);
	uint32_t *rows = ht_arena_alloc(arena, index->n * sizeof *rows);
	if (!first || !rows)
		return false;
	for (size_t i = 0; i < index->n; i++)
		first[index->keys[i] - index->min + 1]++;
	for (size_t v = 1; v < index->n_first; v++)
		first[v] += first[v - 1];
	for (size_t i = 0; i < index->n; i++)
		rows[first[index->keys[i] - index->min]++] = index->rows[i];
	/* each place has moved on to the next one's */
	memmove(first + 1, first, (index->n_first - 1) * sizeof *first);
	first[0] = 0;
	for (size_t v = 0; v + 1 < index->n_first; v++)
		for (uint32_t i = first[v]; i < first[v + 1]; i++)
			index->keys[i] = index->min + v;
	index->rows = rows;
	index->first = first;
	return true;
}

enum ht_status ht_row_index_make(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        uint32_t kinds, struct ht_arena *arena, struct ht_row_index *ret)
{
	uint32_t id = ht_str_find(t, key);
	size_t n = 0;
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++)
		n += is_of(&t->arg_columns[c], id) ? t->arg_columns[c].n : 0;
	*ret = (struct ht_row_index){ .keys = ht_arena_alloc(arena, (n + 1) * sizeof *ret->keys),
		.rows = ht_arena_alloc(arena, (n + 1) * sizeof *ret->rows) };
	if (!ret->keys || !ret->rows)
		return ht_fail_nomem(ctx);
	for (size_t c = 0; n && c < t->n_arg_columns; c++)
		if (is_of(&t->arg_columns[c], id))
			collect(t, &t->arg_columns[c], kinds, ret);
	bool ok = is_dense(ret) ? sort_dense(ret, arena)
	                        : ht_sort_keys(ctx->mem, ret->keys, ret->rows, ret->n);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

/* First position whose key is not below: doubling steps away from the hint, then halving. */
static size_t lower_bound(const struct ht_row_index *index, uint64_t key)
{
	size_t low = 0, high = index->n, at = index->hint, step = 1;
	if (at < index->n && index->keys[at] < key) {
		for (low = at + 1; low + step < high && index->keys[low + step] < key; step *= 2)
			low += step;
		if (step < high - low)
			high = low + step;
	} else if (at < index->n) {
		for (high = at; step < high && index->keys[high - step] >= key; step *= 2)
			high -= step;
		if (step < high)
			low = high - step;
	}
	return low + HT_LOWER_BOUND(i, high - low, index->keys[low + i] < key);
}

const uint32_t *ht_row_index_find(
        struct ht_row_index *index, int64_t value, size_t max, size_t *ret_n)
{
	uint64_t key = ht_sort_key_i64(value);
	if (index->first) {
		uint64_t at = key - index->min; /* wraps below the smallest */
		bool known = at + 1 < index->n_first && key >= index->min;
		uint32_t first = known ? index->first[at] : 0;
		size_t n = known ? index->first[at + 1] - first : 0;
		*ret_n = n < max ? n : max;
		return index->rows + first;
	}
	size_t low = lower_bound(index, key), end = low;
	index->hint = low;
	while (end < index->n && index->keys[end] == key && end - low < max)
		end++;
	*ret_n = end - low;
	return index->rows + low;
}
