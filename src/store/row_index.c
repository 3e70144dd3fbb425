/*
 * row_index.c - see row_index.h.
 */
#include "store/row_index.h"

#include "base/sort.h"

static bool is_of(const struct ht_arg_column *column, uint32_t key)
{
	return column->key == key && !column->top_level;
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
	for (size_t c = 0; n && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		const uint32_t *rows = ht_arg_rows(t, column);
		for (uint64_t i = 0; is_of(column, id) && i < column->n; i++) {
			int64_t value;
			if (!(HT_KIND_BIT(t->kind[rows[i]]) & kinds) ||
			        ht_time_was_refused(t, rows[i]) ||
			        !ht_arg_integer_at(t, column, i, &value))
				continue;
			ret->keys[ret->n] = ht_sort_key_i64(value);
			ret->rows[ret->n++] = rows[i];
		}
	}
	return ht_sort_keys(ctx->mem, ret->keys, ret->rows, ret->n) ? HT_OK : ht_fail_nomem(ctx);
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
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const uint32_t *ht_row_index_find(
        struct ht_row_index *index, int64_t value, size_t max, size_t *ret_n)
{
	uint64_t key = ht_sort_key_i64(value);
	size_t low = lower_bound(index, key), end = low;
	index->hint = low;
	while (end < index->n && index->keys[end] == key && end - low < max)
		end++;
	*ret_n = end - low;
	return index->rows + low;
}
