/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_table.c - events, gpu, ops, launches and args as virtual tables of SQLite.
 *
 * One module per table; they exist without being created (eponymous) and cannot be written to. The row id of a row
 * is the event.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/event_table.h"

#include "base/mem.h"

#include <string.h>

/* What a module was registered for. */
struct binding {
	struct ht_sql_session *session;
	enum ht_event_table table;
};

static int table_connect(sqlite3 *db, void *user, int n, const char *const *words,
        sqlite3_vtab **ret_vtab, char **ret_error)
{
	const struct binding *binding = user;
	struct ht_sql_session *s = binding->session;
	(void)db;
	(void)n;
	(void)words;
	(void)ret_error;
	struct ht_event_vtab *v = ht_mem_zalloc(s->ctx->mem, sizeof *v);
	if (!v)
		return SQLITE_NOMEM;
	v->common.session = s;
	int code = ht_event_columns(s, binding->table, v);
	if (code == SQLITE_OK)
		code = ht_sql_declare(
		        v->common.session, v->columns, v->n_columns, v->n_columns, false);
	if (code != SQLITE_OK) {
		ht_mem_free(s->ctx->mem, v, sizeof *v);
		return code;
	}
	*ret_vtab = &v->common.base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
	struct ht_event_vtab *v = (struct ht_event_vtab *)vtab;
	struct ht_mem *mem = v->common.session->ctx->mem;
	ht_vec_free(mem, &v->plans, sizeof(struct ht_event_plan));
	ht_mem_free(mem, v, sizeof *v);
	return SQLITE_OK;
}

/* A cursor and what it knows of each column. */
static size_t cursor_bytes(const struct ht_event_vtab *v)
{
	return sizeof(struct ht_event_walk) +
	       v->n_columns * (sizeof(struct ht_event_column) + sizeof(uint8_t));
}

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	struct ht_event_vtab *v = (struct ht_event_vtab *)vtab;
	struct ht_mem *mem = v->common.session->ctx->mem;
	int code = ht_sql_check_open(&v->common);
	if (code != SQLITE_OK)
		return code;
	struct ht_event_walk *w = ht_mem_zalloc(mem, cursor_bytes(v));
	if (!w)
		return SQLITE_NOMEM;
	w->vtab = v;
	w->fields = (struct ht_event_column *)(w + 1);
	w->is_started = (uint8_t *)(w->fields + v->n_columns);
	w->i_fields = SIZE_MAX;
	ht_arena_init(&w->arena, mem);
	*ret_cursor = &w->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	struct ht_event_walk *w = (struct ht_event_walk *)cursor;
	struct ht_mem *mem = w->arena.mem;
	ht_event_group_forget(w);
	ht_vec_free(mem, &w->found, sizeof(uint32_t));
	ht_arena_done(&w->arena);
	ht_mem_free(mem, w, cursor_bytes(w->vtab));
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int n_values,
        sqlite3_value **values)
{
	struct ht_event_walk *w = (struct ht_event_walk *)cursor;
	const struct ht_event_plan *plans = w->vtab->plans.data;
	struct ht_mem *mem = w->arena.mem;
	(void)text;
	(void)n_values;
	ht_event_group_forget(w);
	ht_arena_done(&w->arena);
	ht_arena_init(&w->arena, mem);
	w->plan = plans[number];
	/* readers of columns keep texts in the arena that just went */
	w->i_fields = SIZE_MAX;
	int code = ht_event_walk_bind(w, values);
	if (code != SQLITE_OK)
		return code;
	code = w->plan.n_groups ? ht_event_group(w) : ht_event_walk_first(w);
	return ht_sql_report(&w->vtab->common, code);
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct ht_event_walk *w = (struct ht_event_walk *)cursor;
	return ht_sql_report(&w->vtab->common, ht_event_walk_next(w));
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct ht_event_walk *)cursor)->is_end;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	struct ht_event_walk *w = (struct ht_event_walk *)cursor;
	return ht_sql_report(&w->vtab->common, ht_event_cell(w, result, column));
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_id)
{
	*ret_id = ht_event_number((struct ht_event_walk *)cursor, HT_HOW_ID);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 0,
	.xConnect = table_connect,
	.xBestIndex = ht_event_best_index,
	.xDisconnect = table_disconnect,
	.xDestroy = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int ht_sql_register_events(struct ht_sql_session *s)
{
	int code = SQLITE_OK;
	for (size_t i = 0; i < HT_SQL_N_EVENT_TABLES && code == SQLITE_OK; i++) {
		struct binding *binding = ht_arena_alloc(&s->arena, sizeof *binding);
		if (!binding)
			return SQLITE_NOMEM;
		*binding = (struct binding){ s, (enum ht_event_table)i };
		code = sqlite3_create_module(s->db, ht_sql_event_table(i)->name, &module, binding);
	}
	return code;
}

#endif
