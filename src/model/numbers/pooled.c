/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pooled.c - see pooled.h.
 *
 * Besides its values each group and side has a cell that says whether anything was pooled into it, so that a smallest
 * value knows whether it is one.
 */
#include "model/numbers/pooled.h"

#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

void ht_pooled_init(struct ht_pooled *pooled, struct ht_run *run, size_t n_keys, size_t n_sides,
        const uint8_t *rules, size_t n_values)
{
	*pooled = (struct ht_pooled){ .run = run,
		.n_keys = n_keys,
		.n_values = n_values,
		.n_sides = n_sides,
		.rules = rules };
	ht_pool_init(&pooled->texts, run->ctx->mem);
	ht_pool_init(&pooled->tuples, run->ctx->mem);
}

void ht_pooled_done(struct ht_pooled *pooled)
{
	ht_pool_done(&pooled->texts);
	ht_pool_done(&pooled->tuples);
	ht_vec_free(pooled->run->ctx->mem, &pooled->values, sizeof(__int128));
}

bool ht_pooled_text(struct ht_pooled *pooled, const char *text, uint32_t *ret_text)
{
	struct ht_text added;
	size_t n = text ? strlen(text) : 0;
	*ret_text = HT_NONE;
	if (!text)
		return true;
	if (!ht_pool_add(&pooled->texts, text, n, ht_hash(text, n), &added))
		return false;
	*ret_text = added.id;
	return true;
}

const char *ht_pooled_text_at(const struct ht_pooled *pooled, uint32_t text)
{
	return ((const struct ht_text *)pooled->texts.texts.data)[text].bytes;
}

bool ht_pooled_name(struct ht_pooled *pooled, const struct ht_trace *trace, uint32_t id,
        uint32_t *known, uint32_t *ret_text)
{
	if (id != HT_NO_STR && known[id]) {
		*ret_text = known[id] - 1;
		return true;
	}
	if (!ht_pooled_text(pooled, ht_str(trace, id), ret_text))
		return false;
	if (id != HT_NO_STR)
		known[id] = *ret_text + 1;
	return true;
}

/* Values of one side, and whether there are any. */
static size_t n_cells(const struct ht_pooled *pooled)
{
	return pooled->n_values + 1;
}

bool ht_pooled_set_text(struct ht_pooled *pooled, size_t key, const char *text)
{
	uint32_t id;
	if (!ht_pooled_text(pooled, text, &id))
		return false;
	ht_pooled_set_key(pooled, key, id);
	return true;
}

/* The columns of the first n values. */
static size_t n_columns(const struct ht_pooled *pooled, size_t n)
{
	size_t columns = n;
	for (size_t v = 0; v < n && v < pooled->n_values; v++)
		columns += pooled->rules[v] == HT_POOL_SUM_WIDE;
	return columns;
}

/* Each of n was set once; n is not 0. */
static uint64_t each_once(size_t n)
{
	return UINT64_C(0x5555555555555555) >> (64 - 2 * n);
}

/* What is to be pooled has keys, or values, that were forgotten or set twice. */
static __attribute__((noinline, cold)) void fail_item(
        struct ht_pooled *pooled, uint64_t wrong, bool is_value)
{
	size_t i = 0;
	while (!(wrong >> 2 * i & 3))
		i++;
	if (!pooled->bad_column)
		pooled->bad_column = 1 + (is_value ? pooled->n_keys + n_columns(pooled, i) : i);
}

bool ht_pooled_group(struct ht_pooled *pooled, size_t *ret_group)
{
	struct ht_text added;
	const uint32_t *texts = pooled->next.texts;
	size_t n_bytes = pooled->n_keys * sizeof *texts, n = n_cells(pooled) * pooled->n_sides;
	size_t n_before = ht_pooled_n(pooled);
	uint64_t wrong = pooled->next.keys_set ^ each_once(pooled->n_keys);
	pooled->next.keys_set = 0;
	if (wrong)
		fail_item(pooled, wrong, false);
	if (!ht_pool_add(
	            &pooled->tuples, (const char *)texts, n_bytes, ht_hash(texts, n_bytes), &added))
		return false;
	if (added.id == n_before) {
		if (!ht_vec_reserve(pooled->run->ctx->mem, &pooled->values, sizeof(__int128), n))
			return false;
		memset((__int128 *)pooled->values.data + pooled->values.n, 0, n * sizeof(__int128));
		pooled->values.n += n;
	}
	*ret_group = added.id;
	return true;
}

static __int128 *cells_of(const struct ht_pooled *pooled, size_t group, size_t side)
{
	return (__int128 *)pooled->values.data + (group * pooled->n_sides + side) * n_cells(pooled);
}

void ht_pooled_add(struct ht_pooled *pooled, size_t group, size_t side)
{
	__int128 *cells = cells_of(pooled, group, side);
	const __int128 *values = pooled->next.values;
	uint64_t wrong = pooled->next.values_set ^ each_once(pooled->n_values);
	pooled->next.values_set = 0;
	if (wrong)
		fail_item(pooled, wrong, true);
	bool seen = cells[pooled->n_values] != 0;
	for (size_t v = 0; v < pooled->n_values; v++) {
		__int128 *cell = &cells[v], by = values[v];
		enum ht_pool_rule rule = (enum ht_pool_rule)pooled->rules[v];
		/* most are sums; parts that lie may wrap them */
		if (rule == HT_POOL_SUM || rule == HT_POOL_SUM_WIDE)
			*cell = (__int128)((unsigned __int128)*cell + (unsigned __int128)by);
		else if (rule == HT_POOL_MIN)
			*cell = !seen || by < *cell ? by : *cell;
		else if (rule == HT_POOL_MAX)
			*cell = !seen || by > *cell ? by : *cell;
		else
			*cell |= by != 0;
	}
	cells[pooled->n_values] = 1;
}

__int128 ht_pooled_value(const struct ht_pooled *pooled, size_t group, size_t side, size_t value)
{
	return cells_of(pooled, group, side)[value];
}

int64_t ht_pooled_i64(const struct ht_pooled *pooled, size_t group, size_t side, size_t value)
{
	__int128 wide = ht_pooled_value(pooled, group, side, value);
	return wide > INT64_MAX ? INT64_MAX : wide < INT64_MIN ? INT64_MIN : (int64_t)wide;
}

bool ht_pooled_has(const struct ht_pooled *pooled, size_t group, size_t side)
{
	return cells_of(pooled, group, side)[pooled->n_values] != 0;
}

static uint32_t text_of(const struct ht_pooled *pooled, size_t group, size_t key)
{
	uint32_t text;
	const char *tuple = ((const struct ht_text *)pooled->tuples.texts.data)[group].bytes;
	memcpy(&text, tuple + key * sizeof text, sizeof text);
	return text;
}

const char *ht_pooled_key(const struct ht_pooled *pooled, size_t group, size_t key)
{
	uint32_t text = text_of(pooled, group, key);
	return text == HT_NONE ? NULL : ht_pooled_text_at(pooled, text);
}

/* ---- order ---- */

struct sorted {
	const struct ht_pooled *pooled;
	size_t group;
};

static int compare_keys(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;
	for (size_t k = 0; k < a->pooled->n_keys; k++) {
		const char *x = ht_pooled_key(a->pooled, a->group, k);
		const char *y = ht_pooled_key(b->pooled, b->group, k);
		if (x == y)
			continue;
		if (!x || !y)
			return x ? 1 : -1;
		int order = strcmp(x, y);
		if (order)
			return order;
	}
	return 0;
}

size_t *ht_pooled_order(const struct ht_pooled *pooled)
{
	size_t n = ht_pooled_n(pooled);
	struct ht_arena *scratch = pooled->run->scratch;
	struct sorted *sorted = ht_arena_alloc(scratch, (n + 1) * sizeof *sorted);
	size_t *order = ht_arena_alloc(scratch, (n + 1) * sizeof *order);
	if (!sorted || !order)
		return NULL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct sorted){ pooled, i };
	qsort(sorted, n, sizeof *sorted, compare_keys);
	for (size_t i = 0; i < n; i++)
		order[i] = sorted[i].group;
	return order;
}

/* ---- tables ---- */

void ht_pooled_put_group(const struct ht_pooled *pooled, size_t group, ht_table *table)
{
	ht_table_row(table);
	for (size_t k = 0; k < pooled->n_keys; k++)
		ht_table_put_str(table, k, ht_pooled_key(pooled, group, k));
	for (size_t v = 0, column = pooled->n_keys; v < pooled->n_values; v++) {
		bool is_wide = pooled->rules[v] == HT_POOL_SUM_WIDE;
		if (is_wide)
			ht_table_put_i128(table, column, ht_pooled_value(pooled, group, 0, v));
		else
			ht_table_put_i64(table, column, ht_pooled_i64(pooled, group, 0, v));
		column += is_wide ? 2 : 1;
	}
}

enum ht_status ht_pooled_put(const struct ht_pooled *pooled, ht_table *table)
{
	size_t *order = ht_pooled_order(pooled);
	if (!order)
		return ht_fail_nomem(pooled->run->ctx);
	for (size_t i = 0; i < ht_pooled_n(pooled); i++)
		ht_pooled_put_group(pooled, order[i], table);
	if (pooled->bad_column)
		ht_table_fail_cell(table, pooled->bad_column - 1, "is not set once in a group");
	return HT_OK;
}

static bool pool_row(struct ht_pooled *pooled, const ht_table *table, size_t row, size_t side)
{
	size_t group, column = 0;
	for (; column < pooled->n_keys; column++) {
		const char *text = ht_table_is_null(table, row, column)
		                           ? NULL
		                           : ht_table_str(table, row, column);
		if (!ht_pooled_set_text(pooled, column, text))
			return false;
	}
	if (!ht_pooled_group(pooled, &group))
		return false;
	for (size_t v = 0; v < pooled->n_values; v++) {
		bool wide = pooled->rules[v] == HT_POOL_SUM_WIDE;
		ht_pooled_set(pooled, v,
		        wide ? ht_table_i128(table, row, column)
		             : ht_table_i64(table, row, column));
		column += 1 + wide;
	}
	ht_pooled_add(pooled, group, side);
	return true;
}

enum ht_status ht_pooled_parts(struct ht_pooled *pooled, const struct ht_parts *parts, size_t k)
{
	for (size_t i = 0; i < parts->n; i++) {
		ht_table *table = parts->list[i].facts[k];
		for (size_t row = 0; row < ht_table_n_rows(table); row++)
			if (!pool_row(pooled, table, row, parts->list[i].side))
				return ht_fail_nomem(pooled->run->ctx);
		if (parts->spent)
			ht_table_drop_rows(table);
	}
	return HT_OK;
}
