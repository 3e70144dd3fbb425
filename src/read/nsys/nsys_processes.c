/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_processes.c - the processes of an export: which are ranks, what they are called, which rows are theirs.
 *
 * A process is a rank when it has GPU activity; where none has, when it has API calls, else NVTX ranges, else calls of the
 * system. An export is read once for each, so more than HT_NSYS_MAX_RANKS are not read at once. Everything else grows with the
 * number of rows: a machine with many short processes has thousands.
 */
#include "read/rows.h"
#include "store/build.h"

#if defined(HT_HAVE_SQLITE)

#include "base/sort.h"
#include "read/nsys/nsys.h"
#include "read/nsys/nsys_file.h"
#include "read/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PID_MASK ((int64_t)0xffffff)
/* Rank processes other than the one in hand, in the memory of the connection. */
#define OTHERS "ht_others"

struct processes {
	struct ht_vec list;        /* struct ht_nsys_process */
	struct ht_db_words places; /* by key: as length its place in the list */
};

static bool add_process(struct ht_db *db, struct processes *p, int64_t key, int64_t device)
{
	struct ht_nsys_process *list = p->list.data, process = { .key = key, .device = device };
	const struct ht_db_word *known = ht_db_words_find(&p->places, key);
	if (known) {
		if (list[known->n].device != device)
			list[known->n].device = HT_NO_I64;
		return true;
	}
	struct ht_db_word *word = ht_db_words_add(db, &p->places, key);
	if (word)
		word->n = p->list.n;
	return word && HT_VEC_PUSH(db->builder->mem, &p->list, struct ht_nsys_process, process);
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
			ht_db_i64(query, 1, HT_NO_I64), 0 };
		bool is_same = !is_first && now.key == last.key && now.device == last.device;
		if (is_same || (!now.key && ht_db_is_null(query, 0)))
			continue;
		if (!add_process(db, p, now.key, now.device)) {
			status = ht_fail_nomem(db->ctx);
			break;
		}
		last = now;
		is_first = false;
	}
	sqlite3_finalize(query);
	return status;
}

static int by_key(const void *x, const void *y)
{
	const struct ht_nsys_process *a = x, *b = y;
	return ht_compare_i64(&a->key, &b->key);
}

static int by_pid(const void *x, const void *y)
{
	int64_t a = ((const struct ht_nsys_process *)x)->key & PID_MASK,
	        b = ((const struct ht_nsys_process *)y)->key & PID_MASK;
	return ht_compare_i64(&a, &b);
}

/* Give them their numbers, and put them in order. */
static void number_all(struct ht_nsys_process *list, size_t n)
{
	if (!n)
		return;
	qsort(list, n, sizeof *list, by_pid);
	for (size_t i = 0; i < n; i++) {
		bool is_shared = (i && !by_pid(&list[i - 1], &list[i])) ||
		                 (i + 1 < n && !by_pid(&list[i], &list[i + 1]));
		list[i].number = is_shared ? list[i].key : list[i].key & PID_MASK;
	}
	qsort(list, n, sizeof *list, by_key);
}

/* In the arena. */
static enum ht_status list_processes(
        struct ht_db *db, struct ht_arena *arena, struct ht_nsys_process **ret_list, size_t *ret_n)
{
	/* a level counts when those before it have nobody */
	static const char *const tables[][2] = { { "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_MEMSET", "globalPid" },
		{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid" }, { NULL, NULL },
		{ "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid" }, { NULL, NULL },
		{ "NVTX_EVENTS", "globalTid" }, { NULL, NULL }, { "OSRT_API", "globalTid" } };
	struct processes p = { 0 };
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
		number_all(*ret_list, p.list.n);
	}
	ht_vec_free(db->builder->mem, &p.list, sizeof(struct ht_nsys_process));
	ht_db_words_done(db, &p.places);
	return status;
}

/* ---- the one that is read ---- */

/* Rows of processes that are no rank belong to the first one, so it has to know the others. */
static enum ht_status keep_others(struct ht_nsys *n)
{
	struct ht_database *file = &n->db.file;
	sqlite3_stmt *query;
	bool more;
	HT_TRY(ht_database_run(file, "CREATE TEMP TABLE " OTHERS "(key INTEGER PRIMARY KEY)"));
	if (sqlite3_prepare_v2(file->handle, "INSERT INTO temp." OTHERS " VALUES (?)", -1, &query,
	            NULL) != SQLITE_OK)
		return ht_database_fail(file);
	enum ht_status status = HT_OK;
	for (size_t i = 1; i < n->n_processes && status == HT_OK; i++) {
		sqlite3_bind_int64(query, 1, n->processes[i].key);
		status = ht_database_step(file, query, &more);
		sqlite3_reset(query);
	}
	sqlite3_finalize(query);
	return status;
}

const char *ht_nsys_where_own(struct ht_nsys *n, const char *column)
{
	int64_t own = n->processes[n->own].key;
	if (n->own)
		return ht_arena_printf(&n->arena, "WHERE t.\"%s\" BETWEEN %" PRId64 " AND %" PRId64,
		        column, own * 16777216, own * 16777216 + 16777215);
	return ht_arena_printf(&n->arena,
	        "WHERE t.\"%s\" IS NULL OR t.\"%s\" >> %d NOT IN temp." OTHERS, column, column,
	        HT_NSYS_THREAD_BITS);
}

enum ht_status ht_nsys_choose_process(struct ht_nsys *n, int64_t part)
{
	const char *path = n->db.file.path;
	HT_TRY(list_processes(&n->db, &n->arena, &n->processes, &n->n_processes));
	if (part == HT_NO_I64 && n->n_processes > HT_NSYS_MAX_RANKS) {
		char *hint = ht_arena_printf(&n->arena, "name those to be read: %s#%" PRId64, path,
		        n->processes[0].number);
		return ht_fail(n->db.ctx, HT_LIMIT, path, -1, hint,
		        "%zu processes with GPU activity, more than the %d that are read as ranks",
		        n->n_processes, HT_NSYS_MAX_RANKS);
	}
	bool is_found = part == HT_NO_I64;
	for (size_t i = 0; i < n->n_processes && !is_found; i++) {
		is_found = n->processes[i].number == part;
		n->own = is_found ? i : 0;
	}
	if (!is_found)
		return ht_fail(n->db.ctx, HT_MISSING, path, -1,
		        "name the file without #PROCESS: all its processes are read then",
		        "there is no process %" PRId64 " with GPU activity in it", part);
	return n->own || n->n_processes < 2 ? HT_OK : keep_others(n);
}

static int by_device(const void *x, const void *y)
{
	const struct ht_nsys_process *a = x, *b = y;
	return ht_compare_i64(&a->device, &b->device);
}

int64_t ht_nsys_rank_by_device(const struct ht_nsys *n)
{
	struct ht_nsys_process sorted[HT_NSYS_MAX_RANKS];
	size_t count = n->n_processes;
	if (!count || count > HT_NSYS_MAX_RANKS)
		return HT_NO_I64;
	memcpy(sorted, n->processes, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_device);
	for (size_t i = 0; i < count; i++)
		if (sorted[i].device == HT_NO_I64 ||
		        (i && sorted[i].device == sorted[i - 1].device))
			return HT_NO_I64;
	return n->processes[n->own].device;
}

/* ---- as ranks ---- */

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
		bool is_export = ht_nsys_is_export(&db);
		if (is_export)
			status = list_processes(&db, arena, &list, &n);
		/* each rank reads the file again */
		if (is_export && status == HT_OK && n <= HT_NSYS_MAX_RANKS)
			ht_unpack_again(ctx, path, n ? n : 1);
		ht_db_close(&db);
	}
	ht_builder_done(&builder);
	/* what is wrong with it is told by who reads it */
	if (status == HT_FORMAT || status == HT_LIMIT || status == HT_IO) {
		ht_error_clear(ctx);
		return HT_OK;
	}
	if (status != HT_OK || n < 2 || n > HT_NSYS_MAX_RANKS)
		return status;
	*ret_parts = ht_arena_alloc(arena, n * sizeof **ret_parts);
	if (!*ret_parts)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		(*ret_parts)[i] = list[i].number;
	*ret_n = n;
	return HT_OK;
}

#endif
