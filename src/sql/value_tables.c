/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_tables.c - strings and arg_values: texts and arguments of every rank, as they lie in the trace.
 *
 * A cursor is three numbers: the rank, and for arguments the column of a key and the place in it. Equal rank, key,
 * text, id and row are pushed down; SQLite checks them again.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/sql.h"
#include "store/args.h"

#include <string.h>

enum table { STRINGS, ARG_VALUES, N_TABLES };

#define STRING_COLUMNS(COLUMN)                                                                     \
	COLUMN(STRING_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(STRING_NUMBER, "string", HT_I64, HT_KEY, "number of the text in its trace", NULL)   \
	COLUMN(STRING_TEXT, "text", HT_STR, HT_MEASURE,                                            \
	        "a name, category, argument or key of the file, each once", NULL)                  \
	COLUMN(STRING_BYTES, "n_bytes", HT_BYTES, HT_MEASURE, "its length in UTF-8", NULL)
HT_COLUMNS(string_columns, STRING_COLUMNS);

#define VALUE_COLUMNS(COLUMN)                                                                      \
	COLUMN(VALUE_ID, "id", HT_EVENT, HT_KEY, "the event", NULL)                                \
	COLUMN(VALUE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(VALUE_ROW, "row", HT_I64, HT_KEY, "position in the file's traceEvents, from 0",     \
	        NULL)                                                                              \
	COLUMN(VALUE_KEY, "key", HT_STR, HT_KEY, "name of the argument", NULL)                     \
	COLUMN(VALUE_TYPE, "type", HT_STR, HT_DETAIL,                                              \
	        "int, float, string, json, bool or null: what it is in the file", NULL)            \
	COLUMN(VALUE_VALUE, "value", HT_SQL_ANY, HT_MEASURE,                                       \
	        "its value; lists and objects as JSON", NULL)
HT_COLUMNS(value_columns, VALUE_COLUMNS);

static const struct ht_sql_table tables[N_TABLES] = {
	[STRINGS] = { "strings", "the texts of each trace", string_columns,
	        HT_COUNT(string_columns) },
	[ARG_VALUES] = { "arg_values", "the arguments of events, one per row", value_columns,
	        HT_COUNT(value_columns) },
};

const struct ht_sql_table *ht_sql_value_table(size_t i)
{
	return i < N_TABLES ? &tables[i] : NULL;
}

/* Constraints that are pushed down, as bits of the plan; values come in this order. */
enum { BY_RANK = 1, BY_TEXT = 2, BY_ID = 4, BY_ROW = 8 };

struct binding {
	struct ht_sql_session *session;
	enum table table;
};

struct vtab {
	struct ht_sql_vtab common;
	enum table table;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct vtab *vtab;
	bool has_rank, has_row, has_text;
	int64_t only_rank, only_row;
	char *text; /* sqlite3_malloc */
	size_t i_rank;
	const struct ht_trace *trace;
	size_t i_column; /* of arguments */
	uint64_t at;
	bool is_end;
};

/* ---- planning ---- */

static unsigned bit_of(enum table table, int column)
{
	if (table == STRINGS)
		return column == STRING_RANK ? BY_RANK : column == STRING_TEXT ? BY_TEXT : 0;
	return column == VALUE_ID     ? BY_ID
	       : column == VALUE_RANK ? BY_RANK
	       : column == VALUE_ROW  ? BY_ROW
	       : column == VALUE_KEY  ? BY_TEXT
	                              : 0;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct vtab *v = (const struct vtab *)vtab;
	int of_bit[4] = { -1, -1, -1, -1 }, n = 0;
	double rows = 1;
	for (size_t i = 0; i < v->common.session->n_ranks; i++)
		rows += (double)v->common.session->set->roster.ranks[i].n_events;
	for (int i = 0; i < info->nConstraint; i++) {
		unsigned bit = info->aConstraint[i].iColumn < 0
		                       ? 0
		                       : bit_of(v->table, info->aConstraint[i].iColumn);
		if (!bit || !info->aConstraint[i].usable ||
		        info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
		        (bit == BY_TEXT && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
			continue;
		for (int b = 0; b < 4; b++)
			if (bit == 1u << b && of_bit[b] < 0)
				of_bit[b] = i;
	}
	const char *const names[] = { "rank", v->table == STRINGS ? "text" : "key", "id", "row" };
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, "scan");
	for (int b = 0; b < 4; b++) {
		if (of_bit[b] < 0)
			continue;
		info->aConstraintUsage[of_bit[b]].argvIndex = ++n;
		info->idxNum |= 1 << b;
		rows = rows / (b == 0 ? 2 : b == 1 ? 20 : 1e5) + 1;
		sqlite3_str_appendf(text, "%s%s=?", n == 1 ? ": " : " AND ", names[b]);
	}
	info->idxStr = sqlite3_str_finish(text);
	info->needToFreeIdxStr = 1;
	info->estimatedCost = rows;
	info->estimatedRows = (sqlite3_int64)rows;
	return SQLITE_OK;
}

/* ---- walking ---- */

/* Places of the present rank, or of the present key in it. */
static uint64_t n_places(const struct cursor *c)
{
	if (c->vtab->table == STRINGS)
		return c->trace->n_string_offsets ? c->trace->n_string_offsets - 1 : 0;
	return c->i_column < c->trace->n_arg_columns ? c->trace->arg_columns[c->i_column].n : 0;
}

/* Go to the first place of a key, or of all keys, from i_column on; false when the rank has no more. */
static bool find_column(struct cursor *c)
{
	const struct ht_trace *t = c->trace;
	for (; c->i_column < t->n_arg_columns; c->i_column++) {
		const struct ht_arg_column *column = &t->arg_columns[c->i_column];
		if (column->top_level || !column->n ||
		        (c->has_text && strcmp(ht_str(t, column->key), c->text) != 0))
			continue;
		c->at = 0;
		if (c->has_row && (c->only_row < 0 || c->only_row >= ht_n_events(t)))
			return false;
		if (c->has_row)
			c->at = ht_arg_position(t, column, (uint32_t)c->only_row);
		if (c->at != UINT64_MAX)
			return true;
	}
	return false;
}

static bool find_string(struct cursor *c)
{
	c->at = c->has_text ? ht_str_find(c->trace, c->text) : 0;
	return c->at != HT_NO_STR && c->at < n_places(c);
}

/* From i_rank on, the first rank that has something. */
static int find_rank(struct cursor *c)
{
	struct ht_sql_session *s = c->vtab->common.session;
	for (; c->i_rank < s->n_ranks; c->i_rank++) {
		if (c->has_rank && s->set->roster.ranks[c->i_rank].number != c->only_rank)
			continue;
		int code = ht_sql_take(s, c->i_rank, &c->trace);
		if (code != SQLITE_OK)
			return code;
		c->i_column = 0;
		if (c->vtab->table == STRINGS ? find_string(c) : find_column(c))
			return SQLITE_OK;
	}
	c->is_end = true;
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	bool is_single = c->vtab->table == STRINGS ? c->has_text : c->has_row;
	if (!is_single && ++c->at < n_places(c))
		return SQLITE_OK;
	if (c->vtab->table == ARG_VALUES) {
		c->i_column++;
		if (find_column(c))
			return SQLITE_OK;
	}
	c->i_rank++;
	return ht_sql_report(&c->vtab->common, find_rank(c));
}

static bool take_text(struct cursor *c, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	c->has_text = text && sqlite3_value_type(value) == SQLITE_TEXT &&
	              strlen(text) == (size_t)sqlite3_value_bytes(value);
	if (c->has_text)
		c->text = sqlite3_mprintf("%s", text);
	return !c->has_text || c->text;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int bits, const char *text, int n_values,
        sqlite3_value **values)
{
	struct cursor *c = (struct cursor *)cursor;
	(void)text;
	(void)n_values;
	sqlite3_free(c->text);
	c->text = NULL;
	c->has_rank = c->has_row = c->has_text = c->is_end = false;
	for (int b = 0; b < 4; b++) {
		if (!(bits & 1 << b))
			continue;
		sqlite3_value *value = *values++;
		bool is_number = sqlite3_value_type(value) == SQLITE_INTEGER;
		int64_t number = sqlite3_value_int64(value);
		if (b == 1 && !take_text(c, value))
			return SQLITE_NOMEM;
		if (is_number && (1 << b == BY_RANK || 1 << b == BY_ID)) {
			c->has_rank = true;
			c->only_rank = 1 << b == BY_ID ? ht_event_rank(number) : number;
		}
		if (is_number && (1 << b == BY_ROW || 1 << b == BY_ID)) {
			c->has_row = true;
			c->only_row = 1 << b == BY_ID ? ht_event_row(number) : number;
		}
	}
	c->i_rank = 0;
	return ht_sql_report(&c->vtab->common, find_rank(c));
}

/* ---- cells ---- */

static uint32_t row_of(const struct cursor *c)
{
	return ht_arg_row(c->trace, &c->trace->arg_columns[c->i_column], c->at);
}

static void put_string(const struct cursor *c, sqlite3_context *result, int column)
{
	const struct ht_rank *rank = &c->vtab->common.session->set->roster.ranks[c->i_rank];
	uint32_t id = (uint32_t)c->at;
	switch (column) {
	case STRING_RANK: sqlite3_result_int64(result, rank->number); break;
	case STRING_NUMBER: sqlite3_result_int64(result, id); break;
	case STRING_TEXT:
		ht_sql_result_text(result, ht_str(c->trace, id), ht_str_len(c->trace, id));
		break;
	case STRING_BYTES: sqlite3_result_int64(result, (int64_t)ht_str_len(c->trace, id)); break;
	default: break;
	}
}

static void put_value(const struct cursor *c, sqlite3_context *result, int column)
{
	static const char *const types[HT_N_ARG_TYPES] = { [HT_ARG_I64] = "int",
		[HT_ARG_U64] = "int",
		[HT_ARG_F64] = "float",
		[HT_ARG_STR] = "string",
		[HT_ARG_JSON] = "json",
		[HT_ARG_BOOL] = "bool",
		[HT_ARG_NULL] = "null" };
	const struct ht_rank *rank = &c->vtab->common.session->set->roster.ranks[c->i_rank];
	const struct ht_trace *t = c->trace;
	const struct ht_arg_column *arg = &t->arg_columns[c->i_column];
	switch (column) {
	case VALUE_ID: sqlite3_result_int64(result, ht_event_id(rank->number, row_of(c))); break;
	case VALUE_RANK: sqlite3_result_int64(result, rank->number); break;
	case VALUE_ROW: sqlite3_result_int64(result, row_of(c)); break;
	case VALUE_KEY:
		ht_sql_result_text(result, ht_str(t, arg->key), ht_str_len(t, arg->key));
		break;
	case VALUE_TYPE: sqlite3_result_text(result, types[arg->type], -1, SQLITE_STATIC); break;
	case VALUE_VALUE: ht_sql_result_argument(result, t, arg, c->at); break;
	default: break;
	}
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct cursor *c = (const struct cursor *)cursor;
	(c->vtab->table == STRINGS ? put_string : put_value)(c, result, column);
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_id)
{
	const struct cursor *c = (const struct cursor *)cursor;
	*ret_id = (sqlite3_int64)((uint64_t)c->i_column << 32 ^ c->at);
	return SQLITE_OK;
}

/* ---- module ---- */

static int table_connect(sqlite3 *db, void *user, int n, const char *const *words,
        sqlite3_vtab **ret_vtab, char **ret_error)
{
	const struct binding *binding = user;
	const struct ht_sql_table *table = &tables[binding->table];
	(void)db;
	(void)n;
	(void)words;
	(void)ret_error;
	struct vtab *v = sqlite3_malloc(sizeof *v);
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct vtab){ .common.session = binding->session, .table = binding->table };
	int code = ht_sql_declare(
	        v->common.session, table->columns, table->n_columns, table->n_columns, false);
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

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	int code = ht_sql_check_open((struct ht_sql_vtab *)vtab);
	if (code != SQLITE_OK)
		return code;
	struct cursor *c = sqlite3_malloc(sizeof *c);
	if (!c)
		return SQLITE_NOMEM;
	*c = (struct cursor){ .vtab = (struct vtab *)vtab };
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(((struct cursor *)cursor)->text);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->is_end;
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

int ht_sql_register_values(struct ht_sql_session *s)
{
	int code = SQLITE_OK;
	for (size_t i = 0; i < N_TABLES && code == SQLITE_OK; i++) {
		struct binding *binding = ht_arena_alloc(&s->arena, sizeof *binding);
		if (!binding)
			return SQLITE_NOMEM;
		*binding = (struct binding){ s, (enum table)i };
		code = sqlite3_create_module(s->db, tables[i].name, &module, binding);
	}
	return code;
}

#endif
