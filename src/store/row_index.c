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
	return (HT_KIND_BIT(t->kind[row]) & kinds) &&
	       ((kinds & HT_WITH_REFUSED) || !ht_time_was_refused(t, row));
}

/* The i-th value of a column of integers. */
static int64_t value_at(const struct ht_arg_column *column, const void *values, uint64_t i)
{
	return column->width == sizeof(int32_t) ? ((const int32_t *)values)[i]
	                                        : ((const int64_t *)values)[i];
}

/* What is done with each value and its row. */
typedef void visit_fn(struct ht_row_index *index, uint64_t key, uint32_t row);

static inline void visit_column(const struct ht_trace *t, const struct ht_arg_column *column,
        uint32_t kinds, visit_fn *visit, struct ht_row_index *index)
{
	const uint32_t *rows = ht_arg_rows(t, column);
	const void *values = t->arg_values + column->first_byte;
	bool plain = column->type == HT_ARG_I64 && !column->is_packed;
	for (uint64_t i = 0; i < column->n; i++) {
		int64_t value;
		if (!is_wanted(t, rows[i], kinds))
			continue;
		if (plain)
			value = value_at(column, values, i);
		else if (!ht_arg_integer_at(t, column, i, &value))
			continue;
		visit(index, ht_sort_key_i64(value), rows[i]);
	}
}

static inline void visit_all(const struct ht_trace *t, uint32_t key, uint32_t kinds,
        visit_fn *visit, struct ht_row_index *index)
{
	for (size_t c = 0; key != HT_NO_STR && c < t->n_arg_columns; c++)
		if (is_of(&t->arg_columns[c], key))
			visit_column(t, &t->arg_columns[c], kinds, visit, index);
}

/* While the range is being found, n_first is the largest key. */
static void widen(struct ht_row_index *index, uint64_t key, uint32_t row)
{
	(void)row;
	index->min = !index->n || key < index->min ? key : index->min;
	index->n_first = !index->n || key > index->n_first ? key : index->n_first;
	index->n++;
}

static void count(struct ht_row_index *index, uint64_t key, uint32_t row)
{
	(void)row;
	index->first[key - index->min + 1]++;
}

static void place(struct ht_row_index *index, uint64_t key, uint32_t row)
{
	index->rows[index->first[key - index->min]++] = row;
}

static void push(struct ht_row_index *index, uint64_t key, uint32_t row)
{
	index->keys[index->n] = key;
	index->rows[index->n++] = row;
}

/* Count the rows of each value, and place them. */
static bool make_table(const struct ht_trace *t, uint32_t key, uint32_t kinds,
        struct ht_arena *arena, struct ht_row_index *index)
{
	index->first = ht_arena_alloc(arena, index->n_first * sizeof *index->first);
	if (!index->first)
		return false;
	visit_all(t, key, kinds, count, index);
	for (size_t v = 1; v < index->n_first; v++)
		index->first[v] += index->first[v - 1];
	visit_all(t, key, kinds, place, index);
	/* each place has moved on to the next one's */
	memmove(index->first + 1, index->first, (index->n_first - 1) * sizeof *index->first);
	index->first[0] = 0;
	return true;
}

static bool make_sorted(struct ht_mem *mem, const struct ht_trace *t, uint32_t key, uint32_t kinds,
        struct ht_arena *arena, struct ht_row_index *index)
{
	index->keys = ht_arena_alloc(arena, (index->n + 1) * sizeof *index->keys);
	index->n_first = index->n = 0;
	if (!index->keys)
		return false;
	visit_all(t, key, kinds, push, index);
	return ht_sort_keys(mem, index->keys, index->rows, index->n);
}

enum ht_status ht_row_index_make(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        uint32_t kinds, struct ht_arena *arena, struct ht_row_index *ret)
{
	uint32_t id = ht_str_find(t, key);
	*ret = (struct ht_row_index){ 0 };
	visit_all(t, id, kinds, widen, ret);
	ret->rows = ht_arena_alloc(arena, (ret->n + 1) * sizeof *ret->rows);
	if (!ret->rows)
		return ht_fail_nomem(ctx);
	uint64_t span = ret->n_first - ret->min;
	bool is_dense = ret->n && span < (uint64_t)ret->n * MAX_SPREAD;
	ret->n_first = is_dense ? (size_t)span + 2 : 0;
	bool ok = is_dense ? make_table(t, id, kinds, arena, ret)
	                   : make_sorted(ctx->mem, t, id, kinds, arena, ret);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

/* ---- one value ---- */

struct found {
	struct ht_arena *arena;
	uint32_t *rows;
	size_t n, cap;
	bool failed;
};

static void add_row(struct found *f, uint32_t row)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 16;
		uint32_t *rows = ht_arena_alloc(f->arena, cap * sizeof *rows);
		f->failed |= !rows;
		if (!rows)
			return;
		if (f->n)
			memcpy(rows, f->rows, f->n * sizeof *rows);
		f->rows = rows;
		f->cap = cap;
	}
	f->rows[f->n++] = row;
}

/* As many as compilers make vectors of. */
#define VALUES_AT_ONCE 256

static uint64_t n_bounds(const struct ht_arg_column *column)
{
	return (column->n + VALUES_AT_ONCE - 1) / VALUES_AT_ONCE;
}

static bool is_narrow(const struct ht_arg_column *column)
{
	return column->type == HT_ARG_I64 && !column->is_packed && column->width == sizeof(int32_t);
}

static struct ht_row_bound bound_narrow(const int32_t *values)
{
	int32_t low = values[0], high = values[0];
	for (size_t i = 0; i < VALUES_AT_ONCE; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	return (struct ht_row_bound){ low, high };
}

static struct ht_row_bound bound_any(
        const struct ht_trace *t, const struct ht_arg_column *column, uint64_t first, uint64_t end)
{
	struct ht_row_bound bound = { INT64_MAX, INT64_MIN };
	for (uint64_t i = first; i < end; i++) {
		int64_t value;
		if (!ht_arg_integer_at(t, column, i, &value))
			continue;
		bound.low = value < bound.low ? value : bound.low;
		bound.high = value > bound.high ? value : bound.high;
	}
	return bound;
}

static void bound_column(
        const struct ht_trace *t, const struct ht_arg_column *column, struct ht_row_bound *bounds)
{
	const int32_t *values = (const void *)(t->arg_values + column->first_byte);
	for (uint64_t first = 0; first < column->n; first += VALUES_AT_ONCE) {
		uint64_t left = column->n - first;
		bool whole = left >= VALUES_AT_ONCE;
		*bounds++ = whole && is_narrow(column)
		                    ? bound_narrow(values + first)
		                    : bound_any(t, column, first,
		                              first + (whole ? VALUES_AT_ONCE : left));
	}
}

enum ht_status ht_row_bounds_make(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        struct ht_arena *arena, struct ht_row_bounds *ret)
{
	uint32_t id = ht_str_find(t, key);
	uint64_t n = 0;
	for (size_t c = 0; id != HT_NO_STR && c < t->n_arg_columns; c++)
		n += is_of(&t->arg_columns[c], id) ? n_bounds(&t->arg_columns[c]) : 0;
	*ret = (struct ht_row_bounds){ ht_arena_alloc(arena, (n + 1) * sizeof *ret->bounds), n };
	if (!ret->bounds)
		return ht_fail_nomem(ctx);
	struct ht_row_bound *at = ret->bounds;
	for (size_t c = 0; n && c < t->n_arg_columns; c++) {
		if (!is_of(&t->arg_columns[c], id))
			continue;
		bound_column(t, &t->arg_columns[c], at);
		at += n_bounds(&t->arg_columns[c]);
	}
	return HT_OK;
}

static void scan_column(const struct ht_trace *t, const struct ht_arg_column *column,
        const struct ht_row_bound *bounds, uint32_t kinds, int64_t value, struct found *f)
{
	const uint32_t *rows = ht_arg_rows(t, column);
	for (uint64_t i = 0; i < column->n && !f->failed; i++) {
		const struct ht_row_bound *bound = &bounds[i / VALUES_AT_ONCE];
		int64_t here;
		if (value < bound->low || value > bound->high) {
			i += VALUES_AT_ONCE - 1 - i % VALUES_AT_ONCE;
			continue;
		}
		if (ht_arg_integer_at(t, column, i, &here) && here == value &&
		        is_wanted(t, rows[i], kinds))
			add_row(f, rows[i]);
	}
}

enum ht_status ht_row_bounds_scan(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        const struct ht_row_bounds *bounds, uint32_t kinds, int64_t value, struct ht_arena *arena,
        const uint32_t **ret_rows, size_t *ret_n)
{
	struct found f = { .arena = arena };
	uint32_t id = ht_str_find(t, key);
	const struct ht_row_bound *at = bounds->bounds;
	for (size_t c = 0; bounds->n && c < t->n_arg_columns; c++) {
		if (!is_of(&t->arg_columns[c], id))
			continue;
		scan_column(t, &t->arg_columns[c], at, kinds, value, &f);
		at += n_bounds(&t->arg_columns[c]);
	}
	if (f.failed)
		return ht_fail_nomem(ctx);
	*ret_rows = f.rows;
	*ret_n = f.n;
	return HT_OK;
}

/* ---- looking up ---- */

bool ht_row_index_next(
        const struct ht_row_index *index, size_t *at, const uint32_t **ret_rows, size_t *ret_n)
{
	if (index->keys) {
		size_t first = *at, end = first;
		while (end < index->n && index->keys[end] == index->keys[first])
			end++;
		*at = end;
		*ret_rows = index->rows + first;
		*ret_n = end - first;
		return end > first;
	}
	while (*at + 1 < index->n_first && index->first[*at] == index->first[*at + 1])
		++*at;
	if (*at + 1 >= index->n_first)
		return false;
	*ret_rows = index->rows + index->first[*at];
	*ret_n = index->first[*at + 1] - index->first[*at];
	++*at;
	return true;
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
