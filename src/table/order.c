/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.c - see order.h.
 *
 * Every cell becomes a 64-bit key whose unsigned order is the cell's order:
 *
 *   i64   value ^ sign bit            f64   bits ^ (negative ? all : sign bit)
 *   u64   value                       text  rank of its string among the pooled ones
 *
 * inverted when descending. The keys then sort by radix, in linear time.
 */
#include "table/order.h"
#include "base/mem.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#define SIGN ((uint64_t)1 << 63)

static uint64_t f64_key(double value)
{
	uint64_t bits;
	value = value == 0 ? 0 : value; /* the two zeros are equal */
	memcpy(&bits, &value, sizeof bits);
	return bits & SIGN ? ~bits : bits ^ SIGN;
}

struct ranked {
	const char *text;
	uint32_t id;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(((const struct ranked *)a)->text, ((const struct ranked *)b)->text);
}

/* The rank of each pooled string, to be freed with ht_mem_free; NULL when out of memory. */
static uint32_t *rank_texts(ht_ctx *ctx, const ht_table *table)
{
	size_t n = table->pool.texts.n;
	struct ranked *sorted = ht_mem_alloc(ctx->mem, n * sizeof *sorted);
	uint32_t *ranks = ht_mem_alloc(ctx->mem, n * sizeof *ranks);
	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] =
		        (struct ranked){ ht_table_pool_at(table, (uint32_t)i)->text, (uint32_t)i };
	if (sorted)
		qsort(sorted, n, sizeof *sorted, compare_texts);
	for (size_t i = 0; sorted && ranks && i < n; i++)
		ranks[sorted[i].id] = (uint32_t)i;
	if (!sorted && ranks) {
		ht_mem_free(ctx->mem, ranks, n * sizeof *ranks);
		ranks = NULL;
	}
	ht_mem_free(ctx->mem, sorted, n * sizeof *sorted);
	return ranks;
}

static uint64_t key_of(const struct ht_cells *cells, const uint32_t *ranks, size_t row)
{
	if (ranks)
		return ranks[cells->str[row]];
	if (ht_type_is_f64(cells->meta.type))
		return f64_key(cells->f64[row]);
	return cells->meta.type == HT_U64 ? cells->u64[row] : cells->u64[row] ^ SIGN;
}

enum ht_status ht_order_rows(ht_ctx *ctx, const ht_table *table, size_t column, bool descending,
        uint32_t *rows, size_t n)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	bool is_text = cells->meta.type == HT_STR;
	size_t n_ranks = table->pool.texts.n * sizeof(uint32_t);
	size_t n_bytes = n * (sizeof(uint64_t) + sizeof(uint32_t));
	uint32_t *ranks = is_text ? rank_texts(ctx, table) : NULL;
	uint64_t *keys = ht_mem_alloc(ctx->mem, n_bytes);
	size_t n_valid = 0, n_null = 0;
	bool ok = keys && (ranks || !is_text);
	uint32_t *nulls = ok ? (uint32_t *)(keys + n) : NULL;
	/* Rows with a value move to the front, behind the reader. */
	for (size_t i = 0; ok && i < n; i++) {
		if (ht_cell_is_null(cells, rows[i])) {
			nulls[n_null++] = rows[i];
			continue;
		}
		uint64_t key = key_of(cells, ranks, rows[i]);
		keys[n_valid] = descending ? ~key : key;
		rows[n_valid++] = rows[i];
	}
	if (n_null)
		memcpy(rows + n_valid, nulls, n_null * sizeof *rows);
	ok = ok && ht_sort_keys(ctx->mem, keys, rows, n_valid);
	ht_mem_free(ctx->mem, ranks, n_ranks);
	ht_mem_free(ctx->mem, keys, n_bytes);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}
