/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_arg_columns.c - are the args of a trace sound? See check.c.
 *
 * Columns are slices of arrays that all of them share; values and rows of packed ones are in blocks (bit_pack.h).
 */
#include "store/args.h"
#include "store/check_facts.h"

#include "base/search.h"

/* The first column whose values do not end before a place; columns ascend, and gaps are nobody's. */
static size_t column_at(const struct ht_trace *t, uint64_t place)
{
	return HT_LOWER_BOUND(at, t->n_arg_columns,
	        t->arg_columns[at].first_byte + t->arg_columns[at].n * t->arg_columns[at].width <=
	                place);
}

bool ht_check_arg_rows(const void *store, void *facts, size_t first, size_t n)
{
	KNOWN;
	bool sound = true;
	for (size_t c = 0; c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		uint64_t from = column->first_row > first ? column->first_row : first;
		uint64_t to = column->first_row + column->n;
		to = to < first + n ? to : first + n;
		if (!column->is_packed && column->rows_of == c && from < to)
			sound &= ht_check_are_rows(f, t->arg_rows + column->first_row,
			        from - column->first_row, to - from);
	}
	return sound;
}

/* The packed column of a block, NULL: nobody's. */
static const struct ht_arg_column *column_of_block(const struct ht_trace *t, uint64_t block)
{
	size_t at = HT_LOWER_BOUND(i, t->n_arg_columns, t->arg_columns[i].first_block <= block);
	while (at-- > 0) {
		const struct ht_arg_column *column = &t->arg_columns[at];
		if (column->is_packed)
			return ht_pack_n_blocks(column->n) > block - column->first_block ? column
			                                                                 : NULL;
	}
	return NULL;
}

/* Do the masks of a sparse block count as they say, and only its n values? */
static bool are_masks(const uint64_t *words, unsigned n, unsigned *ret_n_groups)
{
	unsigned n_ones = 0;
	bool sound = true;
	for (unsigned i = 0; i < HT_PACK_MASKS; i++) {
		uint64_t mask = words[1 + i], beyond = n >= 64 * (i + 1) ? 0 : ~(uint64_t)0;
		if (n % 64 && i == n / 64)
			beyond <<= n % 64;
		sound &= (words[0] >> i * 16 & 0xffff) == (64 * i < n ? n_ones : 0) &&
		         !(mask & beyond);
		n_ones += ht_pack_count(mask);
	}
	*ret_n_groups = n_ones;
	return sound;
}

/* How many values the i-th block of a column has. */
static unsigned n_values_of(const struct ht_arg_column *column, uint64_t i)
{
	uint64_t left = column->n - i * HT_PACK_VALUES;
	return left < HT_PACK_VALUES ? (unsigned)left : HT_PACK_VALUES;
}

/* Are all bits of the n values of a block among n_all words? */
static bool has_its_words(
        const struct ht_pack_block *block, unsigned n, const uint64_t *words, uint64_t n_all)
{
	unsigned n_bits = block->n_bits, n_groups = n;
	uint64_t n_words = 0;
	if (block->first_word >= n_all ||
	        (block->scale > HT_PACK_MAX_SCALE && block->scale != HT_PACK_RAW))
		return false;
	if (n_bits >= HT_PACK_SPARSE) {
		n_bits -= HT_PACK_SPARSE;
		n_words = 1 + HT_PACK_MASKS;
		if (n_words >= n_all - block->first_word || !n_bits ||
		        !are_masks(words + block->first_word, n, &n_groups))
			return false;
	}
	n_words += ((uint64_t)n_groups * n_bits + 63) / 64;
	/* one word more is read with the last */
	return n_bits <= 64 && n_words < n_all - block->first_word;
}

static bool is_block(const struct ht_trace *t, const struct ht_check_facts *f, uint64_t i)
{
	const struct ht_pack_block *block = &t->arg_blocks[i];
	const struct ht_arg_column *column = column_of_block(t, i);
	if (!column)
		return false;
	unsigned n = n_values_of(column, i - column->first_block);
	if (!has_its_words(block, n, t->arg_words, t->n_arg_words))
		return false;
	bool sound = true, is_text = column->type == HT_ARG_STR || column->type == HT_ARG_JSON;
	for (unsigned k = 0; is_text && k < n; k++)
		sound &= (uint64_t)ht_pack_i64(block, t->arg_words, k) < f->n_strings;
	return sound;
}

bool ht_check_arg_blocks(const void *store, void *facts, size_t first, size_t n)
{
	KNOWN;
	bool sound = true;
	for (size_t i = first; sound && i < first + n; i++)
		sound = is_block(t, f, i);
	return sound;
}

/* Does the i-th block of rows of a column have rows that ascend, from the last one before it on? */
static bool are_block_rows(const struct ht_trace *t, const struct ht_check_facts *f,
        const struct ht_arg_column *column, uint64_t i)
{
	const struct ht_pack_block *blocks = t->row_blocks + column->first_row;
	uint64_t least = 0;
	for (uint64_t k = i ? i - 1 : 0; k <= i; k++) {
		unsigned n = n_values_of(column, k);
		if (!has_its_words(&blocks[k], n, t->row_words, t->n_row_words))
			return false;
		for (unsigned at = k < i ? n - 1 : 0; at < n; at++) {
			uint64_t row = (uint64_t)ht_pack_i64(&blocks[k], t->row_words, at) + at;
			if (row < least || row >= f->n_rows)
				return false;
			least = row + 1;
		}
	}
	return true;
}

bool ht_check_row_blocks(const void *store, void *facts, size_t first, size_t n)
{
	KNOWN;
	bool sound = true;
	for (size_t c = 0; c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		uint64_t from = column->first_row > first ? column->first_row : first;
		uint64_t to = column->first_row + ht_pack_n_blocks(column->n);
		to = to < first + n ? to : first + n;
		if (!column->is_packed || column->rows_of != c)
			continue;
		for (uint64_t i = from; sound && i < to; i++)
			sound = are_block_rows(t, f, column, i - column->first_row);
	}
	return sound;
}

bool ht_check_arg_values(const void *store, void *facts, size_t first, size_t n)
{
	KNOWN;
	bool sound = true;
	for (size_t c = column_at(t, first); c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		uint64_t from = column->first_byte > first ? column->first_byte : first;
		uint64_t to = column->first_byte + column->n * column->width;
		if (from >= first + n)
			break;
		to = to < first + n ? to : first + n;
		bool is_text = column->type == HT_ARG_STR || column->type == HT_ARG_JSON;
		if (is_text && from < to)
			sound &= ht_check_all_below(f, (const void *)(t->arg_values + from),
			        (to - from) / sizeof(uint32_t), f->n_strings, false);
	}
	return sound;
}

/* ---- columns ---- */

static bool is_width(uint8_t type, uint8_t width, bool is_packed)
{
	if (is_packed)
		return !width;
	switch (type) {
	case HT_ARG_I64: return width == 4 || width == 8;
	case HT_ARG_U64:
	case HT_ARG_F64: return width == 8;
	case HT_ARG_STR:
	case HT_ARG_JSON: return width == 4;
	case HT_ARG_BOOL: return width == 1;
	case HT_ARG_NULL: return width == 0;
	default: return false;
	}
}

/* Rows are those of a column before, or begin behind all of them. */
static bool are_rows_of(const struct ht_trace *t, size_t i, uint64_t *next_rows)
{
	const struct ht_arg_column *column = &t->arg_columns[i];
	uint64_t n_all = column->is_packed ? t->n_row_blocks : t->n_arg_rows;
	uint64_t n = column->is_packed ? ht_pack_n_blocks(column->n) : column->n;
	uint64_t *next_row = &next_rows[column->is_packed != 0];
	if (n > n_all || column->first_row > n_all - n)
		return false;
	if (column->rows_of < i) {
		const struct ht_arg_column *owner = &t->arg_columns[column->rows_of];
		return owner->rows_of == column->rows_of && owner->n == column->n &&
		       owner->first_row == column->first_row && column->is_packed &&
		       owner->is_packed;
	}
	bool sound = column->rows_of == i && column->first_row >= *next_row;
	*next_row = column->first_row + n;
	return sound;
}

static bool are_blocks_of(
        const struct ht_trace *t, const struct ht_arg_column *column, uint64_t *next_block)
{
	uint64_t n = column->is_packed ? ht_pack_n_blocks(column->n) : 0;
	bool can = !column->is_packed || column->type == HT_ARG_I64 || column->type == HT_ARG_F64 ||
	           column->type == HT_ARG_STR || column->type == HT_ARG_JSON;
	bool sound = column->is_packed <= 1 && can && column->first_block == *next_block &&
	             n <= t->n_arg_blocks && *next_block <= t->n_arg_blocks - n;
	*next_block += n;
	return sound;
}

bool ht_check_columns(const struct ht_trace *t, const struct ht_check_facts *f)
{
	uint64_t next_rows[2] = { 0 }, next_byte = 0, next_block = 0;
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		const struct ht_arg_column *column = &t->arg_columns[i];
		if (!ht_check_is_string(f, column->key) || column->top_level > 1 ||
		        !is_width(column->type, column->width, column->is_packed) ||
		        !are_rows_of(t, i, next_rows) || !are_blocks_of(t, column, &next_block) ||
		        column->first_byte % 8 || column->first_byte > t->n_arg_values ||
		        column->n * column->width > t->n_arg_values - column->first_byte ||
		        column->first_byte < next_byte)
			return false;
		next_byte = column->first_byte + column->n * column->width;
	}
	return next_block == t->n_arg_blocks;
}
