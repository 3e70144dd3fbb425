/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_table.c - see arg_table.h.
 *
 * Rows of a table come in few patterns, mostly that of the row before; what a pattern means for the lists of rows is
 * found once, and again after a list was split.
 */
#include "store/arg_table.h"

#include "base/mem.h"
#include "store/args.h"

/* ---- one column ---- */

static int64_t bits_of(int64_t value, uint8_t scale)
{
	double number = (double)value / ht_pack_powers[scale];
	memcpy(&value, &number, sizeof number);
	return value;
}

/* Can all values in hand, and one more of another scale, be over 10^to exactly? */
static bool can_be_over(const struct ht_packer *p, int64_t value, uint8_t scale, uint8_t to)
{
	int64_t room = ht_pack_rooms[to - p->scale], own = ht_pack_rooms[to - scale];
	bool can = value <= own && value >= -own;
	for (unsigned i = 0; to > p->scale && i < p->n; i++)
		can &= p->values[i] <= room && p->values[i] >= -room;
	return can;
}

/* A value of another scale than those in hand: they become of one. */
static int64_t rescale(struct ht_packer *p, int64_t value, uint8_t scale)
{
	uint8_t to = p->scale > scale ? p->scale : scale;
	if (!p->n) {
		p->scale = scale;
		return value;
	}
	if (to != HT_PACK_RAW && !can_be_over(p, value, scale, to))
		to = HT_PACK_RAW;
	for (unsigned i = 0; to != p->scale && i < p->n; i++) {
		if (to == HT_PACK_RAW)
			p->values[i] = bits_of(p->values[i], p->scale);
		else
			p->values[i] *= ht_pack_factors[to - p->scale];
	}
	p->scale = to;
	if (to == scale)
		return value;
	return to == HT_PACK_RAW ? bits_of(value, scale) : value * ht_pack_factors[to - scale];
}

/* Room for one more block. Lists of many are mapped, so that what they needed is given back when they are copied. */
static bool has_room(struct ht_mem *mem, struct ht_vec *blocks)
{
	const size_t size = sizeof(struct ht_pack_block), many = HT_MEM_MAP_BYTES / size;
	if (blocks->n < blocks->cap)
		return true;
	return ht_vec_reserve(
	        mem, blocks, size, blocks->n >= many / 16 && blocks->n < many ? many : 1);
}

static bool flush(struct ht_mem *mem, struct ht_packer *p)
{
	struct ht_pack_plan plan;
	if (!p->n)
		return true;
	p->is_float |= p->scale > 0;
	ht_pack_plan(p->values, p->n, p->scale, &plan);
	plan.block.first_word = p->words.n & 0xffffffffffff;
	if (!ht_vec_reserve(mem, &p->words, sizeof(uint64_t), plan.n_words) ||
	        !has_room(mem, &p->blocks) ||
	        !HT_VEC_PUSH(mem, &p->blocks, struct ht_pack_block, plan.block))
		return false;
	if (plan.n_words)
		ht_pack_write(&plan, p->values, (uint64_t *)p->words.data + p->words.n);
	p->words.n += plan.n_words;
	p->n = 0;
	p->scale = 0;
	return true;
}

static void end_block(struct ht_arg_table *t, struct ht_table_column *column)
{
	if (column->packer.n < HT_PACK_VALUES)
		return;
	column->n += HT_PACK_VALUES;
	t->failed |= !flush(t->mem, &column->packer);
}

void ht_table_column_put(
        struct ht_arg_table *t, struct ht_table_column *column, int64_t value, uint8_t scale)
{
	struct ht_packer *p = &column->packer;
	if (p->scale != scale)
		value = rescale(p, value, scale);
	p->values[p->n++] = value;
	end_block(t, column);
}

int64_t *ht_table_column_room(struct ht_table_column *column, size_t *ret_n, uint8_t *ret_scale)
{
	struct ht_packer *p = &column->packer;
	*ret_n = p->scale == HT_PACK_RAW ? 0 : HT_PACK_VALUES - p->n;
	*ret_scale = p->scale;
	return p->values + p->n;
}

void ht_table_column_wrote(struct ht_arg_table *t, struct ht_table_column *column, size_t n)
{
	column->packer.n += (unsigned)n;
	end_block(t, column);
}

int64_t ht_table_column_bits(const struct ht_table_column *column, uint64_t i)
{
	const struct ht_pack_block *block =
	        (const struct ht_pack_block *)column->packer.blocks.data + i / HT_PACK_VALUES;
	const uint64_t *words = column->packer.words.data;
	double value;
	int64_t bits;
	if (!column->packer.is_float)
		return ht_pack_i64(block, words, i % HT_PACK_VALUES);
	value = ht_pack_f64(block, words, i % HT_PACK_VALUES);
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

uint32_t ht_table_column_row(
        const struct ht_arg_table *t, const struct ht_table_column *column, uint64_t i)
{
	const struct ht_packer *list = (const struct ht_packer *)t->lists.data + column->list;
	const struct ht_pack_block *blocks = list->blocks.data;
	unsigned at = i % HT_PACK_VALUES;
	return (uint32_t)ht_pack_i64(&blocks[i / HT_PACK_VALUES], list->words.data, at) + at;
}

/* ---- the table ---- */

static void packer_done(struct ht_mem *mem, struct ht_packer *p)
{
	ht_vec_free(mem, &p->blocks, sizeof(struct ht_pack_block));
	ht_vec_free(mem, &p->words, sizeof(uint64_t));
}

static void table_done(struct ht_arg_table *t)
{
	struct ht_mem *mem = t->mem;
	struct ht_packer *lists = t->lists.data;
	for (size_t i = 0; t->columns && i < t->n_room; i++)
		packer_done(mem, &t->columns[i].packer);
	for (size_t i = 0; i < t->lists.n; i++)
		packer_done(mem, &lists[i]);
	ht_vec_free(mem, &t->lists, sizeof(struct ht_packer));
	ht_vec_free(mem, &t->patterns, sizeof(struct ht_table_pattern));
	ht_mem_free(mem, t->index.slots, t->index.cap * sizeof *t->index.slots);
	ht_mem_free(mem, t->columns, t->n_room * sizeof *t->columns);
	ht_arena_done(&t->arena);
	ht_mem_free(mem, t, sizeof *t);
}

struct ht_arg_table *ht_arg_table_new(struct ht_builder *builder, size_t n_columns)
{
	struct ht_mem *mem = builder->mem;
	struct ht_packer list = { .n = 0 };
	struct ht_arg_table *t = ht_mem_zalloc(mem, sizeof *t);
	if (!t)
		return NULL;
	t->mem = mem;
	ht_arena_init(&t->arena, mem);
	t->n_columns = t->n_room = n_columns;
	t->columns = ht_mem_zalloc(mem, n_columns * sizeof *t->columns);
	t->n_has = ht_arena_alloc(&t->arena, (n_columns + 1) * sizeof *t->n_has);
	t->n_lacks = ht_arena_alloc(&t->arena, (n_columns + 1) * sizeof *t->n_lacks);
	for (size_t i = 0; t->columns && i < n_columns; i++)
		t->columns[i].moved = UINT32_MAX;
	if (t->columns && t->n_has && t->n_lacks &&
	        HT_VEC_PUSH(mem, &t->lists, struct ht_packer, list) &&
	        HT_VEC_PUSH(mem, &builder->tables, struct ht_arg_table *, t))
		return t;
	table_done(t);
	return NULL;
}

void ht_arg_tables_done(struct ht_builder *builder)
{
	struct ht_arg_table **tables = builder->tables.data;
	for (size_t i = 0; i < builder->tables.n; i++)
		table_done(tables[i]);
	ht_vec_free(builder->mem, &builder->tables, sizeof *tables);
}

static bool copy_vec(
        struct ht_mem *mem, struct ht_vec *to, const struct ht_vec *from, size_t elem_bytes)
{
	if (!ht_vec_reserve(mem, to, elem_bytes, from->n + 1))
		return false;
	if (from->n)
		memcpy(to->data, from->data, from->n * elem_bytes);
	to->n = from->n;
	return true;
}

static bool copy_list(struct ht_arg_table *t, uint32_t from, uint32_t *ret_to)
{
	const struct ht_packer *list = (const struct ht_packer *)t->lists.data + from;
	struct ht_packer copy = *list;
	copy.blocks = copy.words = (struct ht_vec){ 0 };
	*ret_to = (uint32_t)t->lists.n;
	if (copy_vec(t->mem, &copy.blocks, &list->blocks, sizeof(struct ht_pack_block)) &&
	        copy_vec(t->mem, &copy.words, &list->words, sizeof(uint64_t)) &&
	        HT_VEC_PUSH(t->mem, &t->lists, struct ht_packer, copy))
		return true;
	packer_done(t->mem, &copy);
	return false;
}

/* Columns of the list that a pattern does not have get one of their own. */
static bool split_list(struct ht_arg_table *t, uint32_t list, const uint8_t *has)
{
	uint32_t other;
	if (!copy_list(t, list, &other))
		return false;
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].list == list && !has[i])
			t->columns[i].list = other;
	return true;
}

/* The lists that rows of a pattern are on; those of which it has only some columns are split first. */
static bool find_lists(struct ht_arg_table *t, struct ht_table_pattern *pattern)
{
	uint32_t n = 0, n_lists = (uint32_t)t->lists.n;
	memset(t->n_has, 0, t->n_columns * sizeof *t->n_has);
	memset(t->n_lacks, 0, t->n_columns * sizeof *t->n_lacks);
	for (size_t i = 0; i < t->n_columns; i++)
		(pattern->has[i] ? t->n_has : t->n_lacks)[t->columns[i].list]++;
	for (uint32_t list = 0; list < n_lists; list++) {
		if (t->n_has[list] && t->n_lacks[list] && !split_list(t, list, pattern->has))
			return false;
		if (t->n_has[list])
			pattern->lists[n++] = list;
	}
	pattern->n_lists = n;
	pattern->n_all = (uint32_t)t->lists.n;
	return true;
}

static bool add_pattern(struct ht_arg_table *t, const uint8_t *has, uint64_t hash)
{
	size_t n = t->n_columns;
	struct ht_table_pattern pattern = { .shape = HT_NONE };
	pattern.has = ht_arena_alloc(&t->arena, n + 1);
	pattern.lists = ht_arena_alloc(&t->arena, (n + 1) * sizeof *pattern.lists);
	if (!pattern.has || !pattern.lists)
		return false;
	memcpy(pattern.has, has, n);
	struct ht_text entry = { (char *)pattern.has, hash, (uint32_t)n, (uint32_t)t->patterns.n };
	t->last = t->patterns.n;
	return ht_text_table_put(t->mem, &t->index, &entry) &&
	       HT_VEC_PUSH(t->mem, &t->patterns, struct ht_table_pattern, pattern);
}

/* The pattern of the row in hand becomes the last one. */
static bool find_pattern(struct ht_arg_table *t, const uint8_t *has)
{
	const struct ht_table_pattern *patterns = t->patterns.data;
	if (t->patterns.n && !memcmp(patterns[t->last].has, has, t->n_columns))
		return true;
	uint64_t hash = ht_hash((const char *)has, t->n_columns);
	const struct ht_text *known =
	        ht_text_table_find(&t->index, (const char *)has, t->n_columns, hash);
	if (!known)
		return add_pattern(t, has, hash);
	t->last = known->id;
	return true;
}

/* Rows that follow each other are one number without their place, and take no bits. */
static bool add_rows(struct ht_mem *mem, struct ht_packer *list, uint32_t row, uint32_t n)
{
	bool ok = true;
	for (uint32_t i = 0; ok && i < n; i++) {
		list->values[list->n] = (int64_t)row + i - list->n;
		list->n++;
		ok = list->n < HT_PACK_VALUES || flush(mem, list);
	}
	return ok;
}

bool ht_arg_table_end(struct ht_arg_table *t, const uint8_t *has, uint32_t row, uint32_t n,
        struct ht_table_pattern **ret)
{
	if (t->failed || (has && !find_pattern(t, has)))
		return false;
	struct ht_table_pattern *pattern = (struct ht_table_pattern *)t->patterns.data + t->last;
	if (pattern->n_all != t->lists.n && !find_lists(t, pattern))
		return false;
	struct ht_packer *lists = t->lists.data;
	for (uint32_t i = 0; i < pattern->n_lists; i++)
		if (!add_rows(t->mem, &lists[pattern->lists[i]], row, n))
			return false;
	*ret = pattern;
	return true;
}

bool ht_arg_table_seal(struct ht_arg_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		t->columns[i].n += t->columns[i].packer.n;
		if (!flush(t->mem, &t->columns[i].packer))
			return false;
	}
	struct ht_packer *lists = t->lists.data;
	for (size_t i = 0; i < t->lists.n; i++)
		if (!flush(t->mem, &lists[i]))
			return false;
	return true;
}
