/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_base.c - opening an export, its tables, and making events; see nsys.h.
 */
#include "read/rows.h"
#include "store/build.h"

#if defined(HT_HAVE_SQLITE)

#include "read/nsys/nsys.h"
#include "read/nsys/nsys_file.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- tables ---- */

enum ht_status ht_nsys_select(struct ht_nsys *n, const char *table, const char *const *columns,
        const char *process_column, sqlite3_stmt **ret_query)
{
	const char *tail = NULL;
	if (process_column && n->n_processes > 1 &&
	        ht_database_has_column(&n->db.file, table, process_column)) {
		tail = ht_nsys_where_own(n, process_column);
		if (!tail)
			return ht_fail_nomem(n->db.ctx);
	}
	return ht_db_select(&n->db, table, columns, tail, ret_query);
}

static bool is_number(sqlite3_stmt *query, int column)
{
	int type = sqlite3_column_type(query, column);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Of a cell that mostly has a number: what is not 0 for SQLite is one, which saves the second call. */
static bool get_number(sqlite3_stmt *query, int column, int64_t *ret_value)
{
	*ret_value = sqlite3_column_int64(query, column);
	return *ret_value || is_number(query, column);
}

bool ht_nsys_times(struct ht_nsys *n, sqlite3_stmt *query, int64_t *ret_start_ns,
        int64_t *ret_dur_ns, bool *ret_is_open)
{
	int64_t end_ns;
	if (!get_number(query, 0, ret_start_ns)) {
		ht_chunk_stat(&n->db.builder->all, HT_STAT_row_lost, -1, 1);
		return false;
	}
	*ret_is_open = !get_number(query, 1, &end_ns);
	if (!*ret_is_open)
		*ret_dur_ns = ht_sub_sat(end_ns, *ret_start_ns);
	else
		*ret_dur_ns = n->window_end_ns > *ret_start_ns
		                      ? ht_sub_sat(n->window_end_ns, *ret_start_ns)
		                      : 0;
	return true;
}

uint32_t ht_nsys_name(struct ht_nsys *n, sqlite3_stmt *query, int column)
{
	uint32_t id = ht_db_string_id(&n->db, query, column);
	char text[40];
	if (id != HT_NO_STR)
		return id;
	int length = snprintf(text, sizeof text, "<id %" PRId64 ">",
	        (int64_t)sqlite3_column_int64(query, column));
	return ht_rows_text(&n->db.rows, text, (size_t)length);
}

/* ---- events ---- */

void ht_nsys_begin(struct ht_nsys *n, char ph, enum ht_nsys_category category, uint32_t name)
{
	memset(n->has, 0, sizeof n->has);
	ht_row_begin(&n->db.rows, ph, n->category[category], name);
}

void ht_nsys_put(struct ht_nsys *n, enum ht_nsys_cell cell, int64_t value)
{
	ht_table_column_put(n->table, &n->table->columns[cell], value, 0);
	n->has[cell] = 1;
}

void ht_nsys_put_f64(struct ht_nsys *n, enum ht_nsys_cell cell, double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	ht_table_column_put(n->table, &n->table->columns[cell], bits, HT_PACK_RAW);
	n->has[cell] = 1;
}

void ht_nsys_put_cell(struct ht_nsys *n, enum ht_nsys_cell cell, sqlite3_stmt *query, int column)
{
	if (is_number(query, column))
		ht_nsys_put(n, cell, sqlite3_column_int64(query, column));
}

enum ht_status ht_nsys_end(struct ht_nsys *n)
{
	return ht_row_end_of_table(&n->db.rows, n->table, n->has, -1);
}

uint32_t ht_nsys_text_arg(struct ht_nsys *n, const char *key)
{
	return ht_rows_column(&n->db.rows, key, strlen(key), HT_ARG_STR);
}

/* ---- the file ---- */

bool ht_nsys_is_export(struct ht_db *db)
{
	static const char *const tables[] = { "META_DATA_EXPORT", "NVTX_EVENTS",
		"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME",
		"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "OSRT_API" };
	for (size_t i = 0; i < HT_COUNT(tables); i++)
		if (ht_database_has_table(&db->file, tables[i]))
			return ht_database_has_table(&db->file, "StringIds");
	return false;
}

bool ht_nsys_is_file(ht_ctx *ctx, const char *path)
{
	struct ht_builder builder;
	struct ht_db db;
	bool is_file = false;
	ht_builder_init(&builder, ctx, path);
	if (ht_db_open_damaged(&db, &builder, path) == HT_OK) {
		is_file = ht_nsys_is_export(&db);
		ht_db_close(&db);
	} else {
		ht_error_clear(ctx);
	}
	ht_builder_done(&builder);
	return is_file;
}

static enum ht_status make_columns(struct ht_nsys *n)
{
	static const char *const keys[] = {
#define CELL(name, key) key,
		HT_NSYS_CELLS(CELL)
#undef CELL
	};
	static const char *const categories[] = {
#define CATEGORY(name, text) text,
		HT_NSYS_CATEGORIES(CATEGORY)
#undef CATEGORY
	};
	struct ht_rows *rows = &n->db.rows;
	n->table = ht_arg_table_new(n->db.builder, HT_NSYS_N_CELLS);
	if (!n->table)
		return ht_fail_nomem(n->db.ctx);
	for (size_t i = 0; i < HT_NSYS_N_CELLS; i++) {
		uint32_t id = ht_rows_table_column(rows, keys[i], strlen(keys[i]), n->table);
		if (id == UINT32_MAX)
			return ht_fail_nomem(n->db.ctx);
		n->table->columns[i].pool_id = id;
		n->table->columns[i].is_text = n->table->columns[i].is_json = i < HT_NSYS_DEVICE;
	}
	n->table->n_columns = HT_NSYS_N_CELLS;
	for (size_t i = 0; i < HT_NSYS_N_CATEGORIES; i++)
		n->category[i] = ht_rows_text(rows, categories[i], strlen(categories[i]));
	n->arg_name = ht_nsys_text_arg(n, "name");
	return HT_OK;
}

/* A row number is near the number of rows: nobody deletes from an export. */
static int64_t count_rows(struct ht_db *db, const char *table)
{
	char sql[128];
	sqlite3_stmt *query;
	int64_t count = 0;
	if (!ht_database_has_table(&db->file, table))
		return 0;
	(void)snprintf(sql, sizeof sql, "SELECT rowid FROM main.\"%s\" ORDER BY rowid DESC LIMIT 1",
	        table);
	if (sqlite3_prepare_v2(db->file.handle, sql, -1, &query, NULL) != SQLITE_OK)
		return 0;
	if (sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int64(query, 0) > 0)
		count = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return count;
}

/* Room for all rows at once: growing step by step would need half as much again. */
static enum ht_status make_room(struct ht_nsys *n)
{
	static const char *const tables[] = { "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME",
		"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET", "OSRT_API" };
	const uint64_t least_row_bytes = 8;
	uint64_t rows = 0, most = n->db.file.max_cell_bytes / 20 / least_row_bytes;
	for (size_t i = 0; i < HT_COUNT(tables); i++)
		rows = (uint64_t)ht_add_sat((int64_t)rows, count_rows(&n->db, tables[i]));
	rows = rows < most ? rows : most;
	rows = n->n_processes > 1 ? rows / n->n_processes : rows;
	struct ht_chunk *all = &n->db.builder->all;
	rows += all->n + 1024;
	if (rows >= HT_NONE / 2 || rows <= all->cap)
		return HT_OK;
	return ht_chunk_resize(all, (uint32_t)rows) ? HT_OK : ht_fail_nomem(n->db.ctx);
}

static enum ht_status read_tables(struct ht_nsys *n, int64_t part)
{
	struct ht_db *db = &n->db;
	if (!ht_nsys_is_export(db))
		return ht_fail(db->ctx, HT_FORMAT, db->file.path, -1,
		        "expected what nsys export --type sqlite writes",
		        "not a trace: a SQLite database without the tables of Nsight Systems");
	HT_TRY(ht_nsys_choose_process(n, part));
	HT_TRY(make_columns(n));
	HT_TRY(make_room(n));
	HT_TRY(ht_db_read_strings(db, "StringIds"));
	HT_TRY(ht_nsys_read_about(n));
	HT_TRY(ht_nsys_read_names(n));
	HT_TRY(ht_nsys_read_nvtx(n));
	HT_TRY(ht_nsys_read_calls(n));
	HT_TRY(ht_nsys_read_gpu(n));
	HT_TRY(ht_nsys_read_samples(n));
	return ht_nsys_put_rank(n);
}

enum ht_status ht_nsys_read_file(struct ht_builder *builder, const char *path, int64_t part)
{
	struct ht_nsys n = { .window_end_ns = HT_NO_I64, .largest = HT_NO_I64 };
	HT_TRY(ht_db_open_damaged(&n.db, builder, path));
	ht_arena_init(&n.arena, builder->mem);
	enum ht_status status = read_tables(&n, part);
	if (status == HT_OK && n.db.n_damaged && !builder->all.n)
		status = ht_fail(builder->ctx, HT_FORMAT, path, -1, "copy or export the file again",
		        "unusable database: it is damaged, and no event in it can be read");
	ht_db_words_done(&n.db, &n.calls);
	ht_db_words_done(&n.db, &n.communicators);
	ht_vec_free(builder->mem, &n.records, sizeof(struct ht_nsys_record));
	ht_arena_done(&n.arena);
	ht_db_close(&n.db);
	builder->n_documents++;
	builder->dialect = HT_DIALECT_NSYS;
	return status;
}

#endif
