/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_index.c - see row_index.h.
 */
#include "store/row_index.h"

#include "base/sort.h"
#include "base/search.h"
#include "base/thread.h"
#include "store/args.h"

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

/* ---- making ---- */

/* A stretch of a column, and what was found in it: how many wanted values, from where to where. */
struct stretch {
	const struct ht_arg_column *column;
	struct ht_range range;
	uint32_t n;
	uint64_t min, max;
};

/* Stretches are looked at by many threads. To count and place the rows of values each thread has values of its own,
 * and passes over the stretches that have none of them; ids mostly ascend, so those are nearly all. */
struct making {
	ht_ctx *ctx;
	const struct ht_trace *t;
	uint32_t kinds;
	struct stretch *stretches;
	size_t n_stretches;
	struct ht_row_index *index;
	size_t n_parts;
	size_t *places; /* by part of the values: how many rows, then where they begin */
};

/* What is done with each wanted value and its row, and what for. */
struct visit {
	struct ht_row_index *index;
	uint64_t min, max;
	size_t n;
};
typedef void visit_fn(struct visit *v, uint64_t key, uint32_t row);

/* The values of a stretch whose keys are in [low, high]. */
static inline void visit_stretch(const struct making *m, const struct stretch *s, uint64_t low,
        uint64_t high, visit_fn *visit, struct visit *v)
{
	const struct ht_trace *t = m->t;
	const void *values = t->arg_values + s->column->first_byte;
	bool plain = s->column->type == HT_ARG_I64 && !s->column->is_packed;
	for (uint32_t i = s->range.first; i < s->range.end; i++) {
		int64_t value;
		if (plain)
			value = value_at(s->column, values, i);
		else if (!ht_arg_integer_at(t, s->column, i, &value))
			continue;
		uint64_t key = ht_sort_key_i64(value);
		if (key < low || key > high)
			continue;
		uint32_t row = ht_arg_row(t, s->column, i);
		if (is_wanted(t, row, m->kinds))
			visit(v, key, row);
	}
}

static inline void visit_all(
        const struct making *m, uint64_t low, uint64_t high, visit_fn *visit, struct visit *v)
{
	for (const struct stretch *s = m->stretches; s < m->stretches + m->n_stretches; s++)
		if (s->n && s->min <= high && s->max >= low)
			visit_stretch(m, s, low, high, visit, v);
}

static void widen(struct visit *v, uint64_t key, uint32_t row)
{
	(void)row;
	v->min = key < v->min ? key : v->min;
	v->max = key > v->max ? key : v->max;
	v->n++;
}

static void count(struct visit *v, uint64_t key, uint32_t row)
{
	(void)row;
	v->index->first[key - v->index->min]++;
	v->n++;
}

static void place(struct visit *v, uint64_t key, uint32_t row)
{
	v->index->rows[v->index->first[key - v->index->min]++] = row;
}

static void push(struct visit *v, uint64_t key, uint32_t row)
{
	v->index->keys[v->n] = key;
	v->index->rows[v->n++] = row;
}

static enum ht_status look_at(void *user, size_t i_stretch, int i_worker)
{
	const struct making *m = user;
	struct stretch *s = &m->stretches[i_stretch];
	struct visit v = { .min = UINT64_MAX };
	(void)i_worker;
	visit_stretch(m, s, 0, UINT64_MAX, widen, &v);
	s->n = (uint32_t)v.n;
	s->min = v.min;
	s->max = v.max;
	return HT_OK;
}

/* The first of the values of a part, counted from the smallest; n_first - 1 of them in all. */
static size_t first_of_part(const struct making *m, size_t i_part)
{
	return (size_t)((uint64_t)(m->index->n_first - 1) * i_part / m->n_parts);
}

static enum ht_status count_part(void *user, size_t i_part, int i_worker)
{
	const struct making *m = user;
	uint64_t low = m->index->min + first_of_part(m, i_part);
	uint64_t high = m->index->min + first_of_part(m, i_part + 1) - 1;
	struct visit v = { .index = m->index };
	(void)i_worker;
	visit_all(m, low, high, count, &v);
	m->places[i_part] = v.n;
	return HT_OK;
}

static enum ht_status place_part(void *user, size_t i_part, int i_worker)
{
	const struct making *m = user;
	size_t begin = first_of_part(m, i_part), end = first_of_part(m, i_part + 1);
	struct visit v = { .index = m->index };
	uint32_t *first = m->index->first, at = (uint32_t)m->places[i_part];
	(void)i_worker;
	for (size_t value = begin; value < end; value++) {
		uint32_t n = first[value];
		first[value] = at;
		at += n;
	}
	visit_all(m, m->index->min + begin, m->index->min + end - 1, place, &v);
	/* each place has moved on to the next one's */
	memmove(first + begin + 1, first + begin, (end - begin - 1) * sizeof *first);
	first[begin] = (uint32_t)m->places[i_part];
	return HT_OK;
}

/* Count the rows of each value, and place them. */
static enum ht_status make_table(struct making *m, struct ht_arena *arena)
{
	struct ht_row_index *index = m->index;
	size_t n_values = index->n_first - 1, jobs = (size_t)ht_ctx_jobs(m->ctx), at = 0;
	m->n_parts = jobs < m->n_stretches ? jobs : m->n_stretches;
	m->n_parts = m->ctx->range_rows ? m->n_stretches : m->n_parts;
	m->n_parts = m->n_parts < n_values ? m->n_parts : n_values;
	index->first = ht_arena_alloc(arena, index->n_first * sizeof *index->first);
	m->places = ht_arena_alloc(arena, m->n_parts * sizeof *m->places);
	if (!index->first || !m->places)
		return ht_fail_nomem(m->ctx);
	HT_TRY(ht_parallel(m->ctx, m->n_parts, count_part, m));
	for (size_t i = 0; i < m->n_parts; i++) {
		size_t n = m->places[i];
		m->places[i] = at;
		at += n;
	}
	index->first[n_values] = (uint32_t)at;
	return ht_parallel(m->ctx, m->n_parts, place_part, m);
}

static enum ht_status push_stretch(void *user, size_t i_stretch, int i_worker)
{
	const struct making *m = user;
	struct visit v = { .index = m->index, .n = m->places[i_stretch] };
	(void)i_worker;
	visit_stretch(m, &m->stretches[i_stretch], 0, UINT64_MAX, push, &v);
	return HT_OK;
}

static enum ht_status make_sorted(struct making *m, struct ht_arena *arena)
{
	struct ht_row_index *index = m->index;
	size_t at = 0;
	index->keys = ht_arena_alloc(arena, (index->n + 1) * sizeof *index->keys);
	m->places = ht_arena_alloc(arena, (m->n_stretches + 1) * sizeof *m->places);
	if (!index->keys || !m->places)
		return ht_fail_nomem(m->ctx);
	for (size_t i = 0; i < m->n_stretches; i++) {
		m->places[i] = at;
		at += m->stretches[i].n;
	}
	HT_TRY(ht_parallel(m->ctx, m->n_stretches, push_stretch, m));
	return ht_sort_keys_shared(m->ctx, index->keys, index->rows, index->n);
}

/* The stretches of all columns of the key; with to NULL only how many they are. */
static size_t list_stretches(
        const ht_ctx *ctx, const struct ht_trace *t, uint32_t key, struct stretch *to)
{
	size_t n = 0;
	for (size_t c = 0; key != HT_NO_STR && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		if (!is_of(column, key))
			continue;
		for (size_t i = 0; i < ht_n_ranges(ctx, column->n); i++, n++)
			if (to)
				to[n] = (struct stretch){ .column = column,
					.range = ht_range_at(ctx, column->n, i) };
	}
	return n;
}

enum ht_status ht_row_index_make(ht_ctx *ctx, const struct ht_trace *t, const char *key,
        uint32_t kinds, struct ht_arena *arena, struct ht_row_index *ret)
{
	uint32_t id = ht_str_find(t, key);
	struct making m = { .ctx = ctx, .t = t, .kinds = kinds, .index = ret };
	uint64_t max = 0;
	*ret = (struct ht_row_index){ .min = UINT64_MAX };
	m.n_stretches = list_stretches(ctx, t, id, NULL);
	m.stretches = ht_arena_alloc(arena, (m.n_stretches + 1) * sizeof *m.stretches);
	if (!m.stretches)
		return ht_fail_nomem(ctx);
	(void)list_stretches(ctx, t, id, m.stretches);
	HT_TRY(ht_parallel(ctx, m.n_stretches, look_at, &m));
	for (size_t i = 0; i < m.n_stretches; i++) {
		const struct stretch *s = &m.stretches[i];
		ret->n += s->n;
		ret->min = s->n && s->min < ret->min ? s->min : ret->min;
		max = s->n && s->max > max ? s->max : max;
	}
	ret->rows = ht_arena_alloc(arena, (ret->n + 1) * sizeof *ret->rows);
	if (!ret->rows)
		return ht_fail_nomem(ctx);
	uint64_t span = max - ret->min;
	bool is_dense = ret->n && span < (uint64_t)ret->n * MAX_SPREAD;
	ret->n_first = is_dense ? (size_t)span + 2 : 0;
	return is_dense ? make_table(&m, arena) : make_sorted(&m, arena);
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
	for (uint64_t i = 0; i < column->n && !f->failed; i++) {
		const struct ht_row_bound *bound = &bounds[i / VALUES_AT_ONCE];
		int64_t here;
		if (value < bound->low || value > bound->high) {
			i += VALUES_AT_ONCE - 1 - i % VALUES_AT_ONCE;
			continue;
		}
		if (ht_arg_integer_at(t, column, i, &here) && here == value &&
		        is_wanted(t, ht_arg_row(t, column, i), kinds))
			add_row(f, ht_arg_row(t, column, i));
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

size_t ht_row_index_places(const struct ht_row_index *index)
{
	return index->keys ? index->n : index->n_first ? index->n_first - 1 : 0;
}

size_t ht_row_index_from(const struct ht_row_index *index, size_t place)
{
	while (index->keys && place && place < index->n &&
	        index->keys[place] == index->keys[place - 1])
		place++;
	return place;
}

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
	size_t low = HT_LOWER_BOUND_NEAR(at, index->n, index->hint, index->keys[at] < key),
	       end = low;
	index->hint = low;
	while (end < index->n && index->keys[end] == key && end - low < max)
		end++;
	*ret_n = end - low;
	return index->rows + low;
}
