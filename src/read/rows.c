/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - see rows.h: a worker whose events do not come from a scanner.
 */
#include "read/rows.h"

#include "json/json_text.h"

void ht_rows_init(struct ht_rows *rows, struct ht_builder *builder)
{
	rows->builder = builder;
	ht_worker_init(&rows->worker, builder);
	rows->worker.chunk = &builder->all;
	rows->worker.document = builder->n_documents;
	rows->extended = HT_NONE;
	rows->row_of = (struct ht_vec){ 0 };
	rows->turn = 0;
}

void ht_rows_done(struct ht_rows *rows)
{
	ht_vec_free(rows->builder->mem, &rows->row_of, sizeof(uint32_t));
	ht_worker_done(&rows->worker);
}

/* A text that is new here: bytes that are no UTF-8 become U+FFFD. */
static uint32_t add_text(struct ht_rows *rows, const char *text, size_t n)
{
	struct ht_worker *w = &rows->worker;
	uint32_t id;
	size_t bad;
	w->scratch.n = 0;
	if (!ht_vec_reserve(w->builder->mem, &w->scratch, 1, n * 3 + 1)) {
		w->out_of_memory = true;
		return HT_NO_STR;
	}
	char *out = w->scratch.data;
	size_t n_out = ht_text_repair(text, n, out, &bad);
	if (bad)
		ht_chunk_stat(&w->builder->all, HT_STAT_invalid_utf8, -1, 1);
	w->out_of_memory |= !ht_intern(&w->strings, out, n_out, &id);
	return w->out_of_memory ? HT_NO_STR : id;
}

uint32_t ht_rows_text(struct ht_rows *rows, const char *text, size_t n)
{
	const struct ht_text *known =
	        ht_intern_find(&rows->worker.strings, text, n, ht_hash(text, n));
	return known ? known->id : add_text(rows, text, n);
}

uint32_t ht_rows_column_of(
        struct ht_rows *rows, uint32_t key, enum ht_arg_type type, bool top_level)
{
	struct ht_worker *w = &rows->worker;
	struct ht_scan_key scan_key = { .string = key, .top_level = top_level };
	uint32_t column;
	if (scan_key.string != HT_NO_STR && ht_worker_column(w, &scan_key, type, &column))
		return column;
	if (w->too_many_columns)
		ht_chunk_stat(&w->builder->all, HT_STAT_too_many_keys, -1, 1);
	w->out_of_memory |= !w->too_many_columns;
	w->too_many_columns = false;
	return UINT32_MAX;
}

uint32_t ht_rows_column(struct ht_rows *rows, const char *key, size_t n_key, enum ht_arg_type type)
{
	return ht_rows_column_of(rows, ht_rows_text(rows, key, n_key), type, false);
}

uint32_t ht_rows_table_column(
        struct ht_rows *rows, const char *key, size_t n_key, const struct ht_arg_table *table)
{
	struct ht_worker *w = &rows->worker;
	struct ht_arg_table **tables = rows->builder->tables.data;
	struct ht_column_key own = { .key = ht_rows_text(rows, key, n_key) };
	uint32_t column;
	while (own.table < rows->builder->tables.n && tables[own.table] != table)
		own.table++;
	own.table++;
	if (own.key == HT_NO_STR || !ht_column_number(rows->builder, &own, &column)) {
		w->out_of_memory = true;
		return UINT32_MAX;
	}
	if (column < HT_MAX_COLUMNS)
		return column;
	ht_chunk_stat(&w->builder->all, HT_STAT_too_many_keys, -1, 1);
	return UINT32_MAX;
}

const char *ht_rows_text_at(struct ht_rows *rows, uint32_t id, size_t *ret_n)
{
	struct ht_pool *pool = &rows->builder->strings;
	struct ht_text text = { "", 0, 0, 0 };
	pthread_mutex_lock(&pool->lock);
	if (id < pool->texts.n)
		text = ((struct ht_text *)pool->texts.data)[id];
	pthread_mutex_unlock(&pool->lock);
	*ret_n = text.n;
	return text.bytes;
}

static void put_item(struct ht_rows *rows, uint32_t item, uint64_t value)
{
	(void)ht_worker_item(&rows->worker, item, UINT32_MAX, value);
}

/* ---- which columns the row in hand has ---- */

static void begin_turn(struct ht_rows *rows)
{
	if (!++rows->turn) {
		memset(rows->row_of.data, 0, rows->row_of.n * sizeof(uint32_t));
		rows->turn = 1;
	}
}

/* Note that it has a column; false when it had it before, or memory runs out. */
static bool take_column(struct ht_rows *rows, uint32_t column)
{
	if (!ht_vec_reach(
	            rows->builder->mem, &rows->row_of, sizeof(uint32_t), (size_t)column + 1)) {
		rows->worker.out_of_memory = true;
		return false;
	}
	uint32_t *of = (uint32_t *)rows->row_of.data + column;
	bool is_new = *of != rows->turn;
	*of = rows->turn;
	return is_new;
}

void ht_row_begin(struct ht_rows *rows, char ph, uint32_t category, uint32_t name)
{
	struct ht_worker *w = &rows->worker;
	rows->extended = HT_NONE;
	begin_turn(rows);
	ht_worker_begin_event(w);
	w->ph = ph;
	w->cat = category;
	w->name = name;
	w->has_cat = category != HT_NO_STR;
	put_item(rows, HT_FIELD_PH, 0);
	if (w->has_cat)
		put_item(rows, HT_FIELD_CAT, 0);
	put_item(rows, HT_FIELD_NAME, 0);
}

void ht_row_process(struct ht_rows *rows, int64_t pid, int64_t tid)
{
	struct ht_track_key *track = &rows->worker.track;
	track->pid = pid;
	track->tid = tid;
	track->pid_type = track->tid_type = HT_ID_INT;
	put_item(rows, HT_FIELD_PID, 0);
	put_item(rows, HT_FIELD_TID, 0);
}

void ht_row_time(struct ht_rows *rows, int64_t ts_ns)
{
	rows->worker.ts_ns = ts_ns;
	rows->worker.has_ts = true;
	put_item(rows, HT_FIELD_TS, 0);
}

void ht_row_duration(struct ht_rows *rows, int64_t dur_ns)
{
	rows->worker.dur_ns = dur_ns;
	rows->worker.has_dur = true;
	put_item(rows, HT_FIELD_DUR, 0);
}

void ht_row_put(struct ht_rows *rows, uint32_t column, uint64_t value)
{
	struct ht_worker *w = &rows->worker;
	if (column == UINT32_MAX || !take_column(rows, column))
		return;
	if (w->first_arg_item == SIZE_MAX) {
		w->first_arg_item = w->n_items;
		put_item(rows, HT_FIELD_ARGS, 0);
	}
	put_item(rows, HT_FIELD_COUNT + column, value);
}

void ht_row_extend(struct ht_rows *rows, uint32_t row)
{
	struct ht_worker *w = &rows->worker;
	const struct ht_pool *pool = &rows->builder->shapes;
	const struct ht_text *shape =
	        (const struct ht_text *)pool->texts.data + rows->builder->all.shape[row];
	begin_turn(rows);
	ht_worker_begin_event(w);
	rows->extended = row;
	for (size_t i = 0; i < shape->n / sizeof(uint32_t); i++) {
		uint32_t item;
		memcpy(&item, shape->bytes + i * sizeof item, sizeof item);
		if (item == HT_FIELD_ARGS)
			w->first_arg_item = w->n_items;
		if (item >= HT_FIELD_COUNT)
			(void)take_column(rows, item - HT_FIELD_COUNT);
		if (item != HT_FIELD_ARGS_END)
			put_item(rows, item, 0);
	}
	rows->n_old_items = w->n_items;
}

static enum ht_status end_extended(struct ht_rows *rows)
{
	struct ht_worker *w = &rows->worker;
	uint32_t shape;
	bool ok = !w->out_of_memory && ht_worker_shape(w, &shape);
	for (uint32_t i = rows->n_old_items; ok && i < w->n_items; i++)
		if (w->items[i] >= HT_FIELD_COUNT)
			ok = ht_worker_put_arg(
			        w, rows->extended, w->items[i] - HT_FIELD_COUNT, w->item_values[i]);
	if (!ok)
		return ht_fail_nomem(rows->builder->ctx);
	w->chunk->shape[rows->extended] = shape;
	rows->builder->was_extended = true;
	return HT_OK;
}

static enum ht_status fail_too_many(struct ht_rows *rows, int64_t offset)
{
	return ht_fail(rows->builder->ctx, HT_LIMIT, rows->builder->path, offset,
	        "split the capture into shorter windows", "more than %u events in one trace",
	        HT_NONE - 2);
}

/* The shape of an event that has these args of a table, and others that were put. */
static bool table_shape(struct ht_rows *rows, const struct ht_arg_table *table,
        const struct ht_table_pattern *pattern, uint32_t *ret_shape)
{
	struct ht_worker *w = &rows->worker;
	for (size_t i = 0; i < table->n_columns; i++)
		if (pattern->has[i])
			ht_row_put(rows, table->columns[i].pool_id, 0);
	if (w->first_arg_item != SIZE_MAX)
		put_item(rows, HT_FIELD_ARGS_END, 0);
	return !w->out_of_memory && ht_worker_shape(w, ret_shape);
}

/* What was put into columns that are not the table's. */
static bool put_others(struct ht_rows *rows, uint32_t n_items, uint32_t row)
{
	struct ht_worker *w = &rows->worker;
	bool ok = true;
	for (uint32_t i = 0; ok && i < n_items; i++)
		if (w->items[i] >= HT_FIELD_COUNT)
			ok = ht_worker_put_arg(
			        w, row, w->items[i] - HT_FIELD_COUNT, w->item_values[i]);
	return ok;
}

enum ht_status ht_row_end_of_table(
        struct ht_rows *rows, struct ht_arg_table *table, const uint8_t *has, int64_t offset)
{
	struct ht_worker *w = &rows->worker;
	struct ht_table_pattern *pattern;
	uint32_t row = w->chunk->n, n_items = w->n_items, shape;
	bool has_others = w->first_arg_item != SIZE_MAX;
	w->event_offset = offset;
	if (row >= HT_NONE - 2)
		return fail_too_many(rows, offset);
	bool ok = !w->out_of_memory && ht_arg_table_end(table, has, row, 1, &pattern);
	shape = ok && !has_others ? pattern->shape : HT_NONE;
	if (ok && shape == HT_NONE)
		ok = table_shape(rows, table, pattern, &shape) && put_others(rows, n_items, row);
	if (ok && !has_others)
		pattern->shape = shape;
	w->n_items = 0; /* args are stored already */
	return ok && ht_worker_store(w, shape) ? HT_OK : ht_fail_nomem(rows->builder->ctx);
}

void ht_row_begin_span(struct ht_rows *rows, const struct ht_spans *spans, size_t i)
{
	ht_row_begin(rows, 'X', spans->category, spans->names[i]);
	ht_row_process(rows, spans->pids[i], spans->tids[i]);
	ht_row_time(rows, spans->ts_ns[i]);
	ht_row_duration(rows, spans->dur_ns[i]);
}

enum ht_status ht_rows_end_of_table(struct ht_rows *rows, const struct ht_spans *spans,
        size_t first, size_t n, struct ht_arg_table *table, const uint8_t *has, int64_t offset)
{
	struct ht_worker *w = &rows->worker;
	struct ht_table_pattern *pattern;
	uint32_t row = w->chunk->n;
	if (n > HT_NONE - 2 - row)
		return fail_too_many(rows, offset);
	bool ok = !w->out_of_memory && ht_arg_table_end(table, has, row, (uint32_t)n, &pattern);
	if (ok && pattern->shape == HT_NONE) {
		ht_row_begin_span(rows, spans, first);
		ok = table_shape(rows, table, pattern, &pattern->shape);
	}
	return ok && ht_worker_store_spans(w, spans, first, n, pattern->shape)
	               ? HT_OK
	               : ht_fail_nomem(rows->builder->ctx);
}

enum ht_status ht_row_end(struct ht_rows *rows, int64_t offset)
{
	struct ht_worker *w = &rows->worker;
	uint32_t shape;
	if (w->first_arg_item != SIZE_MAX)
		put_item(rows, HT_FIELD_ARGS_END, 0);
	w->event_offset = offset;
	if (rows->extended != HT_NONE)
		return end_extended(rows);
	if (w->chunk->n >= HT_NONE - 2)
		return fail_too_many(rows, offset);
	if (w->out_of_memory || !ht_worker_shape(w, &shape) || !ht_worker_store(w, shape))
		return ht_fail_nomem(rows->builder->ctx);
	return HT_OK;
}
