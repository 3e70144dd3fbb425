/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assemble.c - see assemble.h.
 *
 * Columns that no row uses (keys met only while scanning from a wrong guess) are left out, and the rest is
 * numbered by first appearance, so that the numbering depends on the file alone.
 */
#include "store/assemble.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "json/json_text.h"
#include "store/arg_table.h"
#include "store/args.h"
#include "store/seal.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

#define NO_COLUMN UINT32_MAX

/* Places of the index of strings that are looked at for each while it is made, more than which no honest file needs; and how often it is tried. */
#define MAX_STEPS 8
#define MAX_SALTS 16

struct column_plan {
	uint32_t pool_id;
	uint32_t first_row;
	const struct ht_text *key_text;
	struct ht_arg_table *table; /* that it is a packed column of, NULL: none */
	struct ht_table_column *packed;
	uint64_t first_word, first_row_word; /* of a packed one */
	struct ht_arg_column column;
};

struct assembly {
	ht_ctx *ctx;
	struct ht_builder *builder;
	struct ht_trace *trace;
	struct ht_chunk *all;
	struct column_plan *plans;
	size_t n_plans;
	struct ht_arena arena;
	uint32_t *arg_rows;
	char *arg_values;
	struct ht_pack_block *arg_blocks;
	uint64_t *arg_words;
	struct ht_pack_block *row_blocks;
	uint64_t *row_words;
};

#define ALLOC(a, section, type, count) HT_SECTION_ALLOC((a)->ctx, (a)->trace, section, type, count)

/* ---- rows ---- */

/* Shapes are few: their numbers move together, so that the rest of the array is given back. */
static bool narrow_shapes(struct assembly *a)
{
	struct ht_chunk *all = a->all;
	unsigned width = ht_shape_width(a->trace->n_shape_offsets - 1);
	const size_t n = all->n, before = n * sizeof *all->shape;
	uint8_t *bytes = (uint8_t *)all->shape;
	if (width < sizeof *all->shape) {
		for (size_t i = 0; i < n; i++) {
			uint32_t shape;
			memcpy(&shape, bytes + i * sizeof shape, sizeof shape);
			ht_narrow_put(bytes, width, i, shape);
		}
		bytes = ht_mem_realloc(a->ctx->mem, bytes, before, n * width);
		if (!bytes)
			return false;
	}
	all->shape = NULL;
	a->trace->shape = bytes;
	a->trace->n_shape = n * width;
	return true;
}

/* The arrays of the rows become sections as they are. */
static enum ht_status take_rows(struct assembly *a)
{
	struct ht_chunk *all = a->all;
	struct ht_trace *t = a->trace;
	if (!ht_chunk_resize(all, all->n) || !narrow_shapes(a))
		return ht_fail_nomem(a->ctx);
#define TAKE(name) (t->name = all->name, t->n_##name = all->n, all->name = NULL)
	TAKE(ts_ns);
	TAKE(dur_ns);
	TAKE(name);
	TAKE(track);
	TAKE(cat);
	TAKE(ph);
	TAKE(flags);
#undef TAKE
	all->cap = 0;
	return HT_OK;
}

/* ---- arg columns ---- */

static int compare_plans(const void *x, const void *y)
{
	const struct column_plan *a = x, *b = y;
	if (a->first_row != b->first_row)
		return a->first_row < b->first_row ? -1 : 1;
	size_t n = a->key_text->n < b->key_text->n ? a->key_text->n : b->key_text->n;
	int order = memcmp(a->key_text->bytes, b->key_text->bytes, n);
	if (order)
		return order;
	if (a->key_text->n != b->key_text->n)
		return a->key_text->n < b->key_text->n ? -1 : 1;
	return a->column.top_level != b->column.top_level
	               ? a->column.top_level - b->column.top_level
	               : a->column.type - b->column.type;
}

/* Entries of rows that were extended stand behind those of later rows: put them in order. */
static enum ht_status sort_column(ht_ctx *ctx, struct ht_chunk_column *column)
{
	bool sorted = true;
	for (uint32_t i = 1; sorted && i < column->n; i++)
		sorted = column->rows[i - 1] < column->rows[i];
	if (sorted)
		return HT_OK;
	size_t n = column->n, width = column->width;
	uint64_t *keys = ht_mem_alloc(ctx->mem, n * sizeof *keys);
	uint32_t *order = ht_mem_alloc(ctx->mem, n * sizeof *order);
	char *values = ht_mem_alloc(ctx->mem, n * width + 1);
	bool ok = keys && order && values;
	for (uint32_t i = 0; ok && i < n; i++) {
		keys[i] = column->rows[i];
		order[i] = i;
	}
	ok = ok && ht_sort_keys(ctx->mem, keys, order, n);
	if (ok && width)
		memcpy(values, column->values, n * width);
	for (size_t i = 0; ok && i < n; i++) {
		column->rows[i] = (uint32_t)keys[i];
		memcpy(column->values + i * width, values + order[i] * width, width);
	}
	ht_mem_free(ctx->mem, keys, n * sizeof *keys);
	ht_mem_free(ctx->mem, order, n * sizeof *order);
	ht_mem_free(ctx->mem, values, n * width + 1);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

/* ---- columns of tables ---- */

static uint8_t type_of(const struct ht_table_column *column)
{
	return column->is_json           ? HT_ARG_JSON
	       : column->is_text         ? HT_ARG_STR
	       : column->packer.is_float ? HT_ARG_F64
	                                 : HT_ARG_I64;
}

static struct ht_column_key key_of(const struct assembly *a, uint32_t pool_id)
{
	const struct ht_text *keys = a->builder->columns.texts.data;
	struct ht_column_key key;
	memcpy(&key, keys[pool_id].bytes, sizeof key);
	return key;
}

/* Values of a table's column join those of the events that have the same key and type. */
static bool move_out(struct assembly *a, const struct ht_arg_table *table,
        struct ht_table_column *column, uint32_t to)
{
	struct ht_chunk_column *plain = ht_chunk_column(a->all, to, type_of(column));
	bool ok = plain != NULL;
	for (uint64_t i = 0; ok && i < column->n; i++)
		ok = ht_chunk_push(a->all, plain, ht_table_column_row(table, column, i),
		        (uint64_t)ht_table_column_bits(column, i));
	column->n = 0;
	column->moved = to;
	a->builder->was_extended = true;
	return ok;
}

/* Of one key and type there is one column: tables have theirs packed only when nobody else has it. */
static enum ht_status settle_tables(struct assembly *a)
{
	struct ht_builder *b = a->builder;
	struct ht_arg_table **tables = b->tables.data;
	for (size_t i = 0; i < b->tables.n; i++) {
		if (!ht_arg_table_seal(tables[i]))
			return ht_fail_nomem(a->ctx);
		for (size_t k = 0; k < tables[i]->n_columns; k++) {
			struct ht_table_column *column = &tables[i]->columns[k];
			struct ht_column_key key = key_of(a, column->pool_id);
			struct ht_text plain;
			key.type = type_of(column);
			key.table = 0;
			if (!ht_pool_add(&b->columns, (const char *)&key, sizeof key,
			            ht_hash((const char *)&key, sizeof key), &plain))
				return ht_fail_nomem(a->ctx);
			const struct ht_chunk_column *all = a->all->columns.data;
			bool clashes = plain.id < a->all->columns.n && all[plain.id].n;
			if (column->n && (clashes || b->tables.n > 1) &&
			        !move_out(a, tables[i], column, plain.id))
				return ht_fail_nomem(a->ctx);
		}
	}
	return HT_OK;
}

static void plan_tables(struct assembly *a)
{
	const struct ht_text *strings = a->builder->strings.texts.data;
	struct ht_arg_table **tables = a->builder->tables.data;
	for (size_t i = 0; i < a->builder->tables.n; i++)
		for (size_t k = 0; k < tables[i]->n_columns; k++) {
			struct ht_table_column *column = &tables[i]->columns[k];
			struct ht_column_key key = key_of(a, column->pool_id);
			if (!column->n)
				continue;
			a->plans[a->n_plans++] = (struct column_plan){ .pool_id = column->pool_id,
				.key_text = &strings[key.key],
				.first_row = ht_table_column_row(tables[i], column, 0),
				.table = tables[i],
				.packed = column,
				.column = { .key = key.key,
				        .type = type_of(column),
				        .is_packed = 1,
				        .n = column->n } };
		}
}

static enum ht_status plan_columns(struct assembly *a)
{
	HT_TRY(settle_tables(a));
	const struct ht_text *keys = a->builder->columns.texts.data;
	const struct ht_text *strings = a->builder->strings.texts.data;
	struct ht_chunk_column *columns = a->all->columns.data;
	size_t n_room = a->all->columns.n + a->builder->columns.texts.n + 1;
	a->plans = ht_arena_alloc(&a->arena, n_room * sizeof *a->plans);
	if (!a->plans)
		return ht_fail_nomem(a->ctx);
	for (uint32_t id = 0; id < a->all->columns.n; id++) {
		struct ht_column_key key;
		if (!columns[id].n)
			continue;
		if (a->builder->was_extended)
			HT_TRY(sort_column(a->ctx, &columns[id]));
		memcpy(&key, keys[id].bytes, sizeof key);
		a->plans[a->n_plans++] = (struct column_plan){ .pool_id = id,
			.key_text = &strings[key.key],
			.first_row = columns[id].rows[0],
			.column = { .key = key.key,
			        .type = key.type,
			        .top_level = key.top_level,
			        .width = columns[id].width,
			        .n = columns[id].n } };
	}
	plan_tables(a);
	if (a->n_plans)
		qsort(a->plans, a->n_plans, sizeof *a->plans, compare_plans);
	return HT_OK;
}

/* Large columns start where pages can be moved to. */
static uint64_t place_column(uint64_t at, uint64_t n_bytes, uint64_t to)
{
	if (n_bytes >= HT_MEM_MAP_BYTES)
		to = HT_MEM_MOVE_BYTES;
	return (at + to - 1) / to * to;
}

static struct ht_packer *list_of(const struct column_plan *plan)
{
	return (struct ht_packer *)plan->table->lists.data + plan->packed->list;
}

/* How long the arrays that columns share are so far. */
struct lengths {
	uint64_t n_rows, n_bytes, n_blocks, n_words, n_row_blocks, n_row_words;
};

/* Where its rows are: where those of an earlier column of the same list are, or at the end. */
static void place_rows(struct assembly *a, size_t i, struct lengths *n)
{
	struct column_plan *plan = &a->plans[i];
	struct ht_arg_column *c = &plan->column;
	const uint64_t size = sizeof(uint32_t);
	c->rows_of = (uint32_t)i;
	if (!plan->packed) {
		n->n_rows = place_column(n->n_rows * size, c->n * size, size) / size;
		c->first_row = n->n_rows;
		n->n_rows += c->n;
		return;
	}
	for (size_t k = 0; k < i; k++)
		if (a->plans[k].table == plan->table &&
		        a->plans[k].packed->list == plan->packed->list) {
			c->rows_of = (uint32_t)k;
			c->first_row = a->plans[k].column.first_row;
			return;
		}
	const struct ht_packer *list = list_of(plan);
	c->first_row = n->n_row_blocks;
	n->n_row_blocks += list->blocks.n;
	n->n_row_words = place_column(n->n_row_words * 8, list->words.n * 8, 8) / 8;
	plan->first_row_word = n->n_row_words;
	n->n_row_words += list->words.n;
}

static void place_values(struct column_plan *plan, struct lengths *n)
{
	struct ht_arg_column *c = &plan->column;
	n->n_bytes = place_column(n->n_bytes, c->n * c->width, 8);
	c->first_byte = n->n_bytes;
	c->first_block = n->n_blocks;
	n->n_bytes += (c->n * c->width + 7) & ~(uint64_t)7;
	if (!plan->packed)
		return;
	const struct ht_packer *packer = &plan->packed->packer;
	n->n_blocks += packer->blocks.n;
	n->n_words = place_column(n->n_words * 8, packer->words.n * 8, 8) / 8;
	plan->first_word = n->n_words;
	n->n_words += packer->words.n;
}

static enum ht_status alloc_columns(struct assembly *a)
{
	struct lengths n = { 0 };
	for (size_t i = 0; i < a->n_plans; i++) {
		place_rows(a, i, &n);
		place_values(&a->plans[i], &n);
	}
	struct ht_arg_column *columns = ALLOC(a, arg_columns, struct ht_arg_column, a->n_plans);
	a->arg_rows = ALLOC(a, arg_rows, uint32_t, n.n_rows);
	a->arg_values = ALLOC(a, arg_values, char, n.n_bytes);
	a->arg_blocks = ALLOC(a, arg_blocks, struct ht_pack_block, n.n_blocks);
	a->arg_words = ALLOC(a, arg_words, uint64_t, n.n_words + 1);
	a->row_blocks = ALLOC(a, row_blocks, struct ht_pack_block, n.n_row_blocks);
	a->row_words = ALLOC(a, row_words, uint64_t, n.n_row_words + 1);
	if (!columns || !a->arg_rows || !a->arg_values || !a->arg_blocks || !a->arg_words ||
	        !a->row_blocks || !a->row_words)
		return ht_fail_nomem(a->ctx);
	a->arg_words[n.n_words] = a->row_words[n.n_row_words] = 0;
	for (size_t i = 0; i < a->n_plans; i++)
		columns[i] = a->plans[i].column;
	return HT_OK;
}

/* What was packed goes to the blocks and words of all, from there on. */
static bool move_packed(struct ht_mem *mem, struct ht_packer *from, struct ht_pack_block *blocks,
        uint64_t *words, uint64_t first_word)
{
	memcpy(blocks, from->blocks.data, from->blocks.n * sizeof *blocks);
	for (size_t k = 0; k < from->blocks.n; k++)
		blocks[k].first_word = (first_word + blocks[k].first_word) & 0xffffffffffff;
	ht_vec_free(mem, &from->blocks, sizeof *blocks);
	bool ok = ht_mem_move(mem, words + first_word, from->words.data,
	        from->words.cap * sizeof *words, from->words.n * sizeof *words);
	from->words = (struct ht_vec){ 0 };
	return ok;
}

static enum ht_status join_packed(struct assembly *a)
{
	struct ht_mem *mem = a->ctx->mem;
	bool ok = true;
	for (size_t i = 0; ok && i < a->n_plans; i++) {
		const struct column_plan *plan = &a->plans[i];
		if (!plan->packed)
			continue;
		ok = move_packed(mem, &plan->packed->packer,
		        a->arg_blocks + plan->column.first_block, a->arg_words, plan->first_word);
		if (ok && plan->column.rows_of == i)
			ok = move_packed(mem, list_of(plan), a->row_blocks + plan->column.first_row,
			        a->row_words, plan->first_row_word);
	}
	return ok ? HT_OK : ht_fail_nomem(a->ctx);
}

static enum ht_status join_column(struct assembly *a, const struct column_plan *plan)
{
	if (plan->packed)
		return HT_OK;
	struct ht_chunk_column *from =
	        (struct ht_chunk_column *)a->all->columns.data + plan->pool_id;
	struct ht_mem *mem = a->ctx->mem;
	char *values = a->arg_values + plan->column.first_byte;
	size_t cap = from->cap, n = plan->column.n, used = n * plan->column.width;
	bool ok = ht_mem_move(mem, a->arg_rows + plan->column.first_row, from->rows,
	        cap * sizeof(uint32_t), n * sizeof(uint32_t));
	ok &= ht_mem_move(mem, values, from->values, cap * from->width, used);
	memset(values + used, 0, (-used) & 7);
	*from = (struct ht_chunk_column){ 0 };
	return ok ? HT_OK : ht_fail_nomem(a->ctx);
}

/* By one thread: pages are moved one after the other in any case, and many threads only wait for each other. */
static enum ht_status join_columns(struct assembly *a)
{
	for (size_t i = 0; i < a->n_plans; i++)
		HT_TRY(join_column(a, &a->plans[i]));
	return HT_OK;
}

/* ---- pools ---- */

/* Strings by the places of their hashes. False: by this salt that takes more steps than it may. */
static bool index_strings(const struct ht_pool *pool, uint64_t salt, size_t max_steps,
        uint32_t *index, size_t n_index)
{
	const struct ht_text *texts = pool->texts.data;
	size_t n_steps = 0;
	memset(index, 0xff, n_index * sizeof *index);
	for (size_t i = 0; i < pool->texts.n && n_steps <= max_steps; i++)
		index[HT_PROBE_FROM(slot, n_index, ht_hash_place(texts[i].hash, salt),
		        (n_steps++, index[slot] == HT_NO_STR))] = (uint32_t)i;
	return n_steps <= max_steps;
}

/* Bytes of a trace depend on its file alone, so that its salt is no secret; but strings that were made to meet by one do not by the next. */
static uint64_t index_by_some_salt(const struct ht_pool *pool, uint32_t *index, size_t n_index)
{
	uint64_t salt, i = 0;
	size_t max_steps;
	do {
		salt = ht_hash_u64(++i);
		max_steps = i < MAX_SALTS ? MAX_STEPS * pool->texts.n : SIZE_MAX;
	} while (!index_strings(pool, salt, max_steps, index, n_index));
	return salt;
}

static enum ht_status join_strings(struct assembly *a)
{
	const struct ht_pool *pool = &a->builder->strings;
	const struct ht_text *texts = pool->texts.data;
	size_t n = pool->texts.n, n_index = 16;
	while (n_index < n * 2)
		n_index *= 2;
	uint64_t *offsets = ALLOC(a, string_offsets, uint64_t, n + 1);
	char *bytes = ALLOC(a, string_bytes, char, pool->n_bytes);
	uint32_t *index = ALLOC(a, string_index, uint32_t, n_index);
	if (!offsets || !bytes || !index)
		return ht_fail_nomem(a->ctx);
	HT_MUTABLE(struct ht_trace_meta, a->trace->meta_)->string_salt =
	        index_by_some_salt(pool, index, n_index);
	uint64_t at = 0;
	for (size_t i = 0; i < n; i++) {
		offsets[i] = at;
		memcpy(bytes + at, texts[i].bytes, (size_t)texts[i].n + 1);
		at += (uint64_t)texts[i].n + 1;
	}
	offsets[n] = at;
	return HT_OK;
}

/* Columns of tables that were moved are where they were moved to. */
static void rename_moved(const struct assembly *a, uint32_t *renamed)
{
	struct ht_arg_table **tables = a->builder->tables.data;
	for (size_t i = 0; i < a->builder->tables.n; i++)
		for (size_t k = 0; k < tables[i]->n_columns; k++)
			if (tables[i]->columns[k].moved != UINT32_MAX)
				renamed[tables[i]->columns[k].pool_id] =
				        renamed[tables[i]->columns[k].moved];
}

/* Shape items name columns by pool id; rename them to positions in arg_columns. */
static enum ht_status join_shapes(struct assembly *a)
{
	const struct ht_pool *pool = &a->builder->shapes;
	const struct ht_text *texts = pool->texts.data;
	size_t n_pool = a->builder->columns.texts.n, n_items = 0;
	uint32_t *renamed = ht_arena_alloc(&a->arena, (n_pool + 1) * sizeof *renamed);
	for (size_t i = 0; i < pool->texts.n; i++)
		n_items += texts[i].n / sizeof(uint32_t);
	uint32_t *offsets = ALLOC(a, shape_offsets, uint32_t, pool->texts.n + 1);
	uint32_t *items = ALLOC(a, shape_items, uint32_t, n_items);
	if (!renamed || !offsets || !items)
		return ht_fail_nomem(a->ctx);
	if (n_items >= UINT32_MAX)
		return ht_fail(a->ctx, HT_LIMIT, a->builder->path, -1, NULL,
		        "events have too many different layouts");
	memset(renamed, 0xff, (n_pool + 1) * sizeof *renamed);
	for (size_t i = 0; i < a->n_plans; i++)
		renamed[a->plans[i].pool_id] = (uint32_t)i;
	rename_moved(a, renamed);
	uint32_t at = 0;
	for (size_t i = 0; i < pool->texts.n; i++) {
		offsets[i] = at;
		for (size_t k = 0; k < texts[i].n / sizeof(uint32_t); k++) {
			uint32_t item;
			memcpy(&item, texts[i].bytes + k * sizeof item, sizeof item);
			if (item >= HT_FIELD_COUNT && renamed[item - HT_FIELD_COUNT] != NO_COLUMN)
				item = HT_FIELD_COUNT + renamed[item - HT_FIELD_COUNT];
			items[at++] = item;
		}
	}
	offsets[pool->texts.n] = at;
	return HT_OK;
}

static enum ht_status join_tracks(struct assembly *a)
{
	const struct ht_text *tracks = a->builder->tracks.texts.data;
	const struct ht_text *categories = a->builder->categories.texts.data;
	size_t n_tracks = a->builder->tracks.texts.n;
	size_t n_categories = a->builder->categories.texts.n;
	struct ht_track *track = ALLOC(a, tracks, struct ht_track, n_tracks);
	struct ht_category *category = ALLOC(a, categories, struct ht_category, n_categories);
	if (!track || !category)
		return ht_fail_nomem(a->ctx);
	for (size_t i = 0; i < n_tracks; i++) {
		struct ht_track_key key;
		memcpy(&key, tracks[i].bytes, sizeof key);
		track[i] = (struct ht_track){ .pid = key.pid,
			.tid = key.tid,
			.pid_type = key.pid_type,
			.tid_type = key.tid_type,
			.document = key.document,
			.name = HT_NO_STR,
			.process_name = HT_NO_STR,
			.device = -1 };
	}
	for (size_t i = 0; i < n_categories; i++) {
		category[i] = (struct ht_category){ 0 };
		memcpy(&category[i].name, categories[i].bytes, sizeof category[i].name);
	}
	return HT_OK;
}

/* ---- the rest ---- */

static int compare_headers(const void *x, const void *y)
{
	const struct ht_header *a = x, *b = y;
	return (a->document > b->document) - (a->document < b->document);
}

/* By document: a file may name the later one first. */
static enum ht_status join_headers(struct assembly *a)
{
	size_t n = a->all->headers.n;
	struct ht_header *out =
	        HT_SECTION_ALLOC(a->ctx, ht_more(a->trace), headers, struct ht_header, n);
	if (!out)
		return ht_fail_nomem(a->ctx);
	if (n)
		memcpy(out, a->all->headers.data, n * sizeof *out);
	ht_sort_items(a->ctx->mem, out, n, sizeof *out, compare_headers);
	return HT_OK;
}

/* Texts inside these header values are looked up later (device and group names): intern them while the
 * pool can still grow. */
static bool intern_parts(struct assembly *a, const struct ht_json_value *value)
{
	struct ht_pool *pool = &a->builder->strings;
	struct ht_json_value key, item;
	struct ht_text text;
	if (value->type == HT_JSON_STRING) {
		size_t bad;
		char *copy = ht_arena_alloc(&a->arena, value->n * 3);
		size_t n = copy ? ht_json_decode(value->text + 1, value->n - 2, copy, &bad) : 0;
		return copy && ht_pool_add(pool, copy, n, ht_hash(copy, n), &text);
	}
	if (value->type != HT_JSON_OBJECT && value->type != HT_JSON_ARRAY)
		return true;
	if (!ht_pool_add(pool, value->text, value->n, ht_hash(value->text, value->n), &text))
		return false;
	struct ht_json reader = ht_json_enter(value);
	bool object = value->type == HT_JSON_OBJECT;
	while (object ? ht_json_member(&reader, &key, &item) : ht_json_element(&reader, &item))
		if (!intern_parts(a, &item))
			return false;
	return true;
}

static enum ht_status intern_headers(struct assembly *a)
{
	for (size_t i = 0; i < a->trace->more->n_headers; i++) {
		const struct ht_text *texts = a->builder->strings.texts.data;
		const char *key = texts[a->trace->more->headers[i].key].bytes;
		struct ht_json reader = { texts[a->trace->more->headers[i].value].bytes };
		struct ht_json_value value = ht_json_next(&reader);
		bool wanted = !strcmp(key, "deviceProperties") || !strcmp(key, "distributedInfo");
		if (wanted && !intern_parts(a, &value))
			return ht_fail_nomem(a->ctx);
	}
	return HT_OK;
}

/* So many fractions tell whether they are padded; fewer may look like it by chance. */
#define MIN_FRACTIONS 200

/* ns of a time whose fraction is a count of them: us.fraction means us * 1000 + fraction. */
static int64_t unpad(int64_t ns, unsigned digits)
{
	int64_t us = ns / 1000, fraction = ns % 1000;
	return us * 1000 + fraction / (digits == 1 ? 100 : digits == 2 ? 10 : 1);
}

/* Builds of spring 2024 wrote 12.005 as 12.5. Such a file has fractions of one, two and three digits, some of
 * three that end in 0, and none with a 0 before another digit; a decimal printer cuts zeros at the end instead. */
static void fix_fractions(struct assembly *a)
{
	const struct ht_fractions *f = &a->all->fractions;
	if (f->decimal || f->saw != HT_FRACTION_ALL || f->n < MIN_FRACTIONS ||
	        !ht_looks_like_kineto(a->trace))
		return;
	int64_t *ts = HT_MUTABLE(int64_t, a->trace->ts_ns);
	int64_t *dur = HT_MUTABLE(int64_t, a->trace->dur_ns);
	const uint64_t *rows = f->rows.data;
	for (size_t i = 0; i < f->rows.n; i++) {
		uint32_t row = (uint32_t)(rows[i] >> 16);
		ts[row] = unpad(ts[row], rows[i] >> 8 & 0xff ? rows[i] >> 8 & 0xff : 3);
		dur[row] = unpad(dur[row], rows[i] & 0xff ? rows[i] & 0xff : 3);
		ht_chunk_stat(a->all, HT_STAT_unpadded_fraction, -1, 1);
	}
}

/* Two things that do not need each other. */
static enum ht_status join_or_number(void *user, size_t i_task, int i_worker)
{
	struct assembly *a = user;
	(void)i_worker;
	return i_task ? ht_renumber(a->ctx, a->trace) : join_columns(a);
}

static enum ht_status assemble(struct assembly *a)
{
	HT_TRY(plan_columns(a));
	HT_TRY(join_headers(a));
	HT_TRY(intern_headers(a));
	HT_TRY(join_tracks(a));
	HT_TRY(join_shapes(a));
	HT_TRY(take_rows(a));
	HT_TRY(alloc_columns(a));
	HT_TRY(join_packed(a));
	HT_TRY(ht_parallel(a->ctx, 2, join_or_number, a));
	HT_TRY(join_strings(a));
	fix_fractions(a);
	return HT_OK;
}

enum ht_status ht_assemble(ht_ctx *ctx, struct ht_builder *builder, struct ht_trace *trace)
{
	struct assembly a = {
		.ctx = ctx, .builder = builder, .trace = trace, .all = &builder->all
	};
	ht_arena_init(&a.arena, ctx->mem);
	enum ht_status status = assemble(&a);
	ht_arena_done(&a.arena);
	return status;
}
