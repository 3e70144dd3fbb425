/*
 * nsys_base.c - opening an export, choosing its process, and making events; see nsys.h.
 */
#include "read/rows.h"

#if defined(HT_HAVE_SQLITE)

#include "base/sort.h"
#include "read/nsys/nsys.h"
#include "read/nsys/nsys_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- processes ---- */

struct processes {
	struct ht_mem *mem;
	struct ht_vec list; /* struct ht_nsys_process */
};

static bool add_process(struct processes *p, int64_t key, int64_t device)
{
	struct ht_nsys_process *list = p->list.data;
	for (size_t i = 0; i < p->list.n; i++)
		if (list[i].key == key) {
			if (list[i].device != device)
				list[i].device = HT_NO_I64;
			return true;
		}
	struct ht_nsys_process process = { key, device };
	return HT_VEC_PUSH(p->mem, &p->list, struct ht_nsys_process, process);
}

/* Of a table of activities, or of calls, whose device is not known. */
static enum ht_status add_processes(
        struct ht_db *db, struct processes *p, const char *table, const char *id)
{
	char sql[256];
	bool has_device = ht_database_has_column(&db->file, table, "deviceId");
	enum ht_status status = HT_OK;
	sqlite3_stmt *query;
	if (!ht_database_has_table(&db->file, table) ||
	        !ht_database_has_column(&db->file, table, id))
		return HT_OK;
	(void)snprintf(sql, sizeof sql, "SELECT %s, %s FROM main.\"%s\"", id,
	        has_device ? "deviceId" : "NULL", table);
	if (sqlite3_prepare_v2(db->file.handle, sql, -1, &query, NULL) != SQLITE_OK)
		return ht_database_fail(&db->file);
	/* most rows are like the one before; SQLite would keep and look up each for DISTINCT */
	struct ht_nsys_process last = { 0 };
	for (bool is_first = true; ht_db_next(db, query, &status);) {
		struct ht_nsys_process now = { ht_nsys_process_of(ht_db_i64(query, 0, 0)),
			ht_db_i64(query, 1, HT_NO_I64) };
		bool is_same = !is_first && now.key == last.key && now.device == last.device;
		if (is_same || (!now.key && ht_db_is_null(query, 0)))
			continue;
		if (!add_process(p, now.key, now.device)) {
			status = ht_fail_nomem(db->ctx);
			break;
		}
		last = now;
		is_first = false;
	}
	sqlite3_finalize(query);
	return status;
}

static int compare_processes(const void *x, const void *y)
{
	const struct ht_nsys_process *a = x, *b = y;
	return ht_compare_i64(&a->key, &b->key);
}

enum ht_status ht_nsys_list_processes(
        struct ht_db *db, struct ht_arena *arena, struct ht_nsys_process **ret_list, size_t *ret_n)
{
	/* a level counts when those before it have nobody */
	static const char *const tables[][2] = { { "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_MEMSET", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid" }, { NULL, NULL },
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid" }, { NULL, NULL },
		{ "NVTX_EVENTS", "globalTid" }, { NULL, NULL }, { "OSRT_API", "globalTid" } };
	struct processes p = { .mem = db->builder->mem };
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < HT_COUNT(tables) && status == HT_OK; i++) {
		if (!tables[i][0] && p.list.n)
			break;
		if (tables[i][0])
			status = add_processes(db, &p, tables[i][0], tables[i][1]);
	}
	*ret_list = ht_arena_alloc(arena, (p.list.n + 1) * sizeof **ret_list);
	*ret_n = p.list.n;
	if (status == HT_OK && !*ret_list)
		status = ht_fail_nomem(db->ctx);
	if (status == HT_OK && p.list.n) {
		memcpy(*ret_list, p.list.data, p.list.n * sizeof **ret_list);
		qsort(*ret_list, p.list.n, sizeof **ret_list, compare_processes);
	}
	ht_vec_free(p.mem, &p.list, sizeof(struct ht_nsys_process));
	return status;
}

/* ---- tables ---- */

/* Rows of the process; those of processes that are no rank belong to the first one. */
static char *where_own(struct ht_nsys *n, const char *column)
{
	int64_t own = n->processes[n->own].key;
	if (n->own)
		return ht_arena_printf(&n->arena, "WHERE t.\"%s\" BETWEEN %" PRId64 " AND %" PRId64,
		        column, own * 16777216, own * 16777216 + 16777215);
	char *sql = ht_arena_printf(&n->arena, "WHERE 1");
	for (size_t i = 1; sql && i < n->n_processes; i++)
		sql = ht_arena_printf(&n->arena,
		        "%s AND t.\"%s\" NOT BETWEEN %" PRId64 " AND %" PRId64, sql, column,
		        n->processes[i].key * 16777216, n->processes[i].key * 16777216 + 16777215);
	return sql;
}

enum ht_status ht_nsys_select(struct ht_nsys *n, const char *table, const char *const *columns,
        const char *process_column, sqlite3_stmt **ret_query)
{
	const char *tail = NULL;
	if (process_column && n->n_processes > 1 &&
	        ht_database_has_column(&n->db.file, table, process_column)) {
		tail = where_own(n, process_column);
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

static bool is_export(struct ht_db *db)
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
	}
	n->table->n_columns = HT_NSYS_N_CELLS;
	for (size_t i = 0; i < HT_NSYS_N_CATEGORIES; i++)
		n->category[i] = ht_rows_text(rows, categories[i], strlen(categories[i]));
	n->arg_name = ht_nsys_text_arg(n, "name");
	n->arg_grid = ht_rows_column(rows, "grid", 4, HT_ARG_JSON);
	n->arg_block = ht_rows_column(rows, "block", 5, HT_ARG_JSON);
	return HT_OK;
}

/* What a process is called: its pid, unless several machines have one of that pid. */
static int64_t number_of(const struct ht_nsys_process *list, size_t n, size_t i)
{
	const int64_t pid_mask = 0xffffff;
	for (size_t k = 0; k < n; k++)
		if (k != i && (list[k].key & pid_mask) == (list[i].key & pid_mask))
			return list[i].key;
	return list[i].key & pid_mask;
}

static enum ht_status choose_process(struct ht_nsys *n, int64_t part)
{
	HT_TRY(ht_nsys_list_processes(&n->db, &n->arena, &n->processes, &n->n_processes));
	bool is_found = part == HT_NO_I64;
	for (size_t i = 0; i < n->n_processes && !is_found; i++) {
		is_found = number_of(n->processes, n->n_processes, i) == part;
		n->own = is_found ? i : 0;
	}
	if (!is_found)
		return ht_fail(n->db.ctx, HT_MISSING, n->db.file.path, -1,
		        "name the file without #PROCESS: all its processes are read then",
		        "there is no process %" PRId64 " with GPU activity in it", part);
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
	if (!is_export(db))
		return ht_fail(db->ctx, HT_FORMAT, db->file.path, -1,
		        "expected what nsys export --type sqlite writes",
		        "not a trace: a SQLite database without the tables of Nsight Systems");
	HT_TRY(choose_process(n, part));
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

enum ht_status ht_nsys_list_parts(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, int64_t **ret_parts, size_t *ret_n)
{
	struct ht_builder builder;
	struct ht_nsys_process *list;
	struct ht_db db;
	size_t n = 0;
	*ret_n = 0;
	ht_builder_init(&builder, ctx, path);
	enum ht_status status = ht_db_open_damaged(&db, &builder, path);
	if (status == HT_OK) {
		if (is_export(&db))
			status = ht_nsys_list_processes(&db, arena, &list, &n);
		ht_db_close(&db);
	}
	ht_builder_done(&builder);
	/* what is wrong with it is told by who reads it */
	if (status == HT_FORMAT || status == HT_LIMIT || status == HT_IO) {
		ht_error_clear(ctx);
		return HT_OK;
	}
	if (status != HT_OK || n < 2)
		return status;
	*ret_parts = ht_arena_alloc(arena, n * sizeof **ret_parts);
	if (!*ret_parts)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		(*ret_parts)[i] = number_of(list, n, i);
	*ret_n = n;
	return HT_OK;
}

#endif
