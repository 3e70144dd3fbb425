/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_table.c - tables that are made when they are asked for: small ones, and every analysis as a function.
 *
 *     SELECT * FROM temporal_breakdown WHERE idle_share > 0.2
 *     SELECT * FROM kernel_breakdown('by=all, num-kernels=5')
 *
 * A table of SQL has its columns before its arguments are known, an analysis may have others for each of its views.
 * So all columns of all views exist, and those of the views that the query's text asks for are what * shows; a
 * column that the view lacks is null. A table is made once per connection and arguments, and kept, since its texts
 * are handed out without a copy.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/result_table.h"

#include <string.h>

struct vtab {
	struct ht_sql_vtab common;
	const struct ht_result_source *source;
	struct ht_column *columns; /* in the arena of the session */
	size_t n_columns, n_visible;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct vtab *vtab;
	const ht_table *table;
	size_t *places; /* by declared column: that of the table, SIZE_MAX for none */
	size_t row;
};

/* A table that was made. */
struct ht_sql_kept {
	struct ht_sql_kept *next;
	const struct ht_result_source *source;
	const char *arguments;
	ht_table *table;
};

/* ---- columns ---- */

static bool has_column(const struct vtab *v, const char *name)
{
	for (size_t i = 0; i < v->n_columns; i++)
		if (!sqlite3_stricmp(v->columns[i].name, name))
			return true;
	return false;
}

static void add_schema(struct vtab *v, const struct ht_schema *schema)
{
	for (size_t i = 0; i < schema->n_columns; i++)
		if (!has_column(v, schema->columns[i].name))
			v->columns[v->n_columns++] = schema->columns[i];
}

static int make_columns(struct vtab *v)
{
	const struct ht_result_source *source = v->source;
	struct ht_sql_session *s = v->common.session;
	size_t n = source->table ? source->table->n_columns : 0;
	for (size_t i = 0; source->info && i < source->info->n_schemas; i++)
		n += source->info->schemas[i].n_columns;
	v->columns = ht_arena_alloc(&s->arena, (n + 1) * sizeof *v->columns);
	if (!v->columns)
		return SQLITE_NOMEM;
	if (source->table) {
		memcpy(v->columns, source->table->columns,
		        source->table->n_columns * sizeof *v->columns);
		v->n_columns = v->n_visible = source->table->n_columns;
		return SQLITE_OK;
	}
	for (size_t i = 0; i < source->info->n_schemas; i++)
		if (ht_result_shows(s, source, i))
			add_schema(v, &source->info->schemas[i]);
	v->n_visible = v->n_columns;
	for (size_t i = 0; i < source->info->n_schemas; i++)
		add_schema(v, &source->info->schemas[i]);
	return SQLITE_OK;
}

/* ---- the table behind ---- */

static void free_kept(struct ht_sql_kept *kept)
{
	for (; kept; kept = kept->next)
		ht_table_free(kept->table);
}

static int find_or_make(const struct vtab *v, const char *arguments, const ht_table **ret_table)
{
	struct ht_sql_session *s = v->common.session;
	ht_table *table;
	for (const struct ht_sql_kept *one = s->kept; one; one = one->next)
		if (one->source == v->source && !strcmp(one->arguments, arguments)) {
			*ret_table = one->table;
			return SQLITE_OK;
		}
	int code = ht_sql_failed(s, ht_result_make(s, v->source, arguments, &table));
	if (code != SQLITE_OK)
		return code;
	struct ht_sql_kept *new = ht_arena_alloc(&s->arena, sizeof *new);
	char *copy = ht_arena_strndup(&s->arena, arguments, strlen(arguments));
	if (!new || !copy) {
		ht_table_free(table);
		return SQLITE_NOMEM;
	}
	*new = (struct ht_sql_kept){ s->kept, v->source, copy, table };
	s->kept = new;
	s->free_kept = free_kept;
	*ret_table = table;
	return SQLITE_OK;
}

/* ---- module ---- */

static int table_connect(sqlite3 *db, void *user, int n, const char *const *words,
        sqlite3_vtab **ret_vtab, char **ret_error)
{
	const struct ht_result_source *source = user;
	(void)db;
	(void)n;
	(void)words;
	(void)ret_error;
	struct vtab *v = sqlite3_malloc(sizeof *v);
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct vtab){ .common.session = source->session, .source = source };
	int code = make_columns(v);
	if (code == SQLITE_OK)
		code = ht_sql_declare(v->common.session, v->columns, v->n_columns, v->n_visible,
		        source->info != NULL);
	if (code != SQLITE_OK) {
		sqlite3_free(v);
		return code;
	}
	*ret_vtab = &v->common.base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct vtab *v = (const struct vtab *)vtab;
	info->estimatedRows = 100;
	/* running an analysis costs more than walking its table */
	info->estimatedCost = v->source->info ? 1e5 : 100;
	for (int i = 0; v->source->info && i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != (int)v->n_visible ||
		        info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = 1;
		break;
	}
	info->idxStr = v->source->info ? "analysis" : "made when asked";
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	struct vtab *v = (struct vtab *)vtab;
	int code = v->source->info ? ht_sql_check_open(&v->common) : SQLITE_OK;
	if (code != SQLITE_OK)
		return code;
	struct cursor *c = sqlite3_malloc64(sizeof *c + v->n_columns * sizeof *c->places);
	if (!c)
		return SQLITE_NOMEM;
	*c = (struct cursor){ .vtab = v, .places = (size_t *)(c + 1) };
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int n_values,
        sqlite3_value **values)
{
	struct cursor *c = (struct cursor *)cursor;
	struct vtab *v = c->vtab;
	const char *arguments =
	        number && n_values ? (const char *)sqlite3_value_text(values[0]) : "";
	(void)text;
	c->table = NULL;
	c->row = 0;
	/* a function of NULL has no rows; without traces no table has some, but the lists of tables do */
	if (!arguments || (v->source->info && !v->common.session->set))
		return SQLITE_OK;
	int code = find_or_make(v, arguments, &c->table);
	for (size_t i = 0; code == SQLITE_OK && i < v->n_columns; i++)
		c->places[i] = ht_table_find_column(c->table, v->columns[i].name);
	return ht_sql_report(&v->common, code);
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	((struct cursor *)cursor)->row++;
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	const struct cursor *c = (const struct cursor *)cursor;
	return !c->table || c->row >= ht_table_n_rows(c->table);
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct cursor *c = (const struct cursor *)cursor;
	bool has_argument = c->vtab->source->info != NULL;
	if (has_argument && (size_t)column == c->vtab->n_visible)
		return SQLITE_OK;
	/* the argument stands before the hidden columns */
	column -= has_argument && (size_t)column > c->vtab->n_visible;
	if ((size_t)column >= c->vtab->n_columns || c->places[column] == SIZE_MAX ||
	        ht_table_is_null(c->table, c->row, c->places[column]))
		return SQLITE_OK;
	size_t place = c->places[column];
	switch (ht_table_column(c->table, place)->type) {
	case HT_STR: {
		const char *text = ht_table_str(c->table, c->row, place);
		ht_sql_result_text(result, text, strlen(text));
		break;
	}
	case HT_U64: ht_sql_result_u64(result, ht_table_u64(c->table, c->row, place)); break;
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: sqlite3_result_double(result, ht_table_f64(c->table, c->row, place)); break;
	default: sqlite3_result_int64(result, ht_table_i64(c->table, c->row, place)); break;
	}
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_id)
{
	*ret_id = (sqlite3_int64)((struct cursor *)cursor)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 0,
	.xConnect = table_connect,
	.xBestIndex = best_index,
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

int ht_sql_register_result(
        struct ht_sql_session *s, const char *name, struct ht_result_source source)
{
	struct ht_result_source *copy = ht_arena_alloc(&s->arena, sizeof *copy);
	char *copied = ht_arena_strndup(&s->arena, name, strlen(name));
	if (!copy || !copied)
		return SQLITE_NOMEM;
	*copy = source;
	copy->session = s;
	copy->name = copied;
	return sqlite3_create_module(s->db, copied, &module, copy);
}

#endif
