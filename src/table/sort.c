/*
 * sort.c - see sort.h.
 *
 * Every cell becomes a 64-bit key whose unsigned order is the cell's order:
 *
 *   i64   value ^ sign bit            f64   bits ^ (negative ? all : sign bit)
 *   u64   value                       text  rank of its string among the pooled ones
 *
 * inverted when descending. A radix sort by bytes moves (key, row) pairs and skips bytes that are the
 * same throughout, which for durations and ranks are most.
 */
#include "table/sort.h"

#include <stdlib.h>
#include <string.h>

struct pair {
	uint64_t key;
	uint32_t row;
};

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
		sorted[i] = (struct ranked){ ht_pool_at(table, (uint32_t)i)->text, (uint32_t)i };
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

/* Leaves the result in pairs; other is as large. */
static void radix_sort(struct pair *pairs, struct pair *other, size_t n)
{
	struct pair *from = pairs, *to = other;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t starts[257] = { 0 };
		for (size_t i = 0; i < n; i++)
			starts[1 + (from[i].key >> shift & 0xff)]++;
		if (n && starts[1 + (from[0].key >> shift & 0xff)] == n)
			continue;
		for (size_t i = 0; i < 256; i++)
			starts[i + 1] += starts[i];
		for (size_t i = 0; i < n; i++)
			to[starts[from[i].key >> shift & 0xff]++] = from[i];
		struct pair *swap = from;
		from = to;
		to = swap;
	}
	if (from != pairs)
		memcpy(pairs, from, n * sizeof *pairs);
}

enum ht_status ht_sort_rows(ht_ctx *ctx, const ht_table *table, size_t column, bool descending,
        uint32_t *rows, size_t n)
{
	const struct ht_cells *cells = ht_cells_at(table, column);
	bool is_text = cells->meta.type == HT_STR;
	size_t n_ranks = table->pool.texts.n * sizeof(uint32_t),
	       n_bytes = 2 * n * sizeof(struct pair);
	uint32_t *ranks = is_text ? rank_texts(ctx, table) : NULL;
	struct pair *pairs = ht_mem_alloc(ctx->mem, n_bytes);
	if (!pairs || (is_text && !ranks)) {
		ht_mem_free(ctx->mem, ranks, n_ranks);
		ht_mem_free(ctx->mem, pairs, n_bytes);
		return ht_fail_nomem(ctx);
	}
	size_t n_valid = 0, n_null = 0;
	uint32_t *nulls = rows; /* collected in front, behind the reader */
	for (size_t i = 0; i < n; i++) {
		uint64_t key = key_of(cells, ranks, rows[i]);
		if (ht_cell_is_null(cells, rows[i]))
			nulls[n_null++] = rows[i];
		else
			pairs[n_valid++] = (struct pair){ descending ? ~key : key, rows[i] };
	}
	memmove(rows + n_valid, nulls, n_null * sizeof *rows);
	radix_sort(pairs, pairs + n, n_valid);
	for (size_t i = 0; i < n_valid; i++)
		rows[i] = pairs[i].row;
	ht_mem_free(ctx->mem, ranks, n_ranks);
	ht_mem_free(ctx->mem, pairs, n_bytes);
	return HT_OK;
}
