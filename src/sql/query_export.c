/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_export.c - tables of SQL as a dataset for pyarrow, polars, DuckDB and others.
 *
 *   folder/events/rank=0/part-0.arrow     Arrow IPC files; the rank is in the name of the folder, not in the file
 *   folder/ranks/part-0.arrow             tables without a rank, and small ones that are about ranks
 *   folder/manifest.json                  last: what there is, with a sentence per column
 *
 * Each file is the result of a query, so what is exported is what SQL shows. Long ranks are cut by rows of the trace,
 * so that no more than one file's rows are in memory. Values of several types are texts, or files of one table could
 * disagree about a column.
 */
#include "base/options.h"

#if defined(HT_HAVE_SQLITE)

#include "sql/query.h"

#include "base/folder.h"
#include "base/writer.h"
#include "table/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_TABLES "events,gpu,launches,arg_values,steps,tracks,collectives,ranks,health"
#define DEFAULT_ROWS   ((uint64_t)1 << 20)

struct file {
	const char *path; /* inside the folder */
	int64_t rank;     /* HT_NO_I64: all */
	uint64_t n_rows;
};

struct exported {
	const char *name;
	ht_table *columns; /* name, type, unit, sentence */
	bool has_rank, has_row;
	struct ht_vec files; /* struct file */
};

struct export
{
	ht_ctx *ctx;
	ht_set *set;
	const char *folder;
	int fd; /* of the folder; -1: not yet */
	uint64_t rows_a_file;
	struct ht_arena arena;
	struct exported *tables;
	size_t n_tables;
};

/* ---- folders and files ---- */

/* The user named the folder, which may be a link; what is inside of it must be its own. path: inside, "" for itself. */
static enum ht_status open_folder(struct export *e, const char *path, int *ret_folder)
{
	*ret_folder = *path ? ht_folder_below(e->fd, path, 0777) : ht_folder_open(e->folder, 0777);
	if (*ret_folder >= 0)
		return HT_OK;
	const char *place = ht_arena_printf(&e->arena, "%s%s%s", e->folder, *path ? "/" : "", path);
	return ht_fail(e->ctx, HT_IO, place ? place : e->folder, -1, NULL,
	        "cannot make the folder: %s", strerror(errno));
}

static bool put_bytes(void *user, const void *bytes, size_t n)
{
	return ht_writer_write(user, bytes, n) == HT_OK;
}

/* Write a file that appears whole or not at all; fill writes to the sink. The path is inside the folder. */
static enum ht_status write_file(struct export *e, const char *path,
        enum ht_status (*fill)(struct export *e, const struct ht_sink *sink, const void *user),
        const void *user)
{
	ht_writer *writer;
	const char *slash = strrchr(path, '/');
	const char *place = ht_arena_printf(&e->arena, "%s/%s", e->folder, path);
	const char *inside =
	        slash ? ht_arena_printf(&e->arena, "%.*s", (int)(slash - path), path) : ".";
	int folder;
	if (!place || !inside)
		return ht_fail_nomem(e->ctx);
	HT_TRY(open_folder(e, inside, &folder));
	enum ht_status status = ht_writer_open_at(e->ctx, folder, place, &writer);
	close(folder);
	if (status != HT_OK)
		return status;
	struct ht_sink sink = { put_bytes, writer };
	status = fill(e, &sink, user);
	if (status == HT_OK)
		return ht_writer_commit(writer);
	ht_writer_abort(writer);
	return status;
}

static enum ht_status fill_arrow(struct export *e, const struct ht_sink *sink, const void *user)
{
	return ht_render(e->ctx, user, "feather", NULL, sink);
}

/* ---- tables ---- */

static enum ht_status query(struct export *e, const char *text, ht_table **ret_table)
{
	struct ht_sql_options options = { .struct_size = sizeof options };
	return ht_sql_query(e->ctx, e->set, text, &options, true, ret_table);
}

/* What a table has, from SQL itself. */
static enum ht_status describe(struct export *e, struct exported *table)
{
	const char *text = ht_arena_printf(&e->arena,
	        "SELECT i.name, i.type, max(c.unit) AS unit, max(c.sentence) AS sentence "
	        "FROM pragma_table_info('%s') AS i LEFT JOIN sql_columns AS c "
	        "ON c.table_name = '%s' AND c.name = i.name GROUP BY i.cid ORDER BY i.cid",
	        table->name, table->name);
	if (!text)
		return ht_fail_nomem(e->ctx);
	HT_TRY(query(e, text, &table->columns));
	for (size_t i = 0; i < ht_table_n_rows(table->columns); i++) {
		table->has_rank |= !strcmp(ht_table_str(table->columns, i, 0), "rank");
		table->has_row |= !strcmp(ht_table_str(table->columns, i, 0), "row");
	}
	if (ht_table_n_rows(table->columns))
		return HT_OK;
	return ht_fail(e->ctx, HT_USAGE, NULL, -1, "holotrace sql .tables lists all",
	        "there is no table '%s' to export", table->name);
}

/* "SELECT a, b FROM t", less the rank where the folder says it. */
static const char *select_text(struct export *e, const struct exported *table, bool with_rank)
{
	const char *text = "SELECT ";
	bool is_first = true;
	for (size_t i = 0; text && i < ht_table_n_rows(table->columns); i++) {
		const char *name = ht_table_str(table->columns, i, 0);
		if (!with_rank && !strcmp(name, "rank"))
			continue;
		char *quoted = sqlite3_mprintf("\"%w\"", name);
		text = quoted ? ht_arena_printf(
		                        &e->arena, "%s%s%s", text, is_first ? "" : ", ", quoted)
		              : NULL;
		sqlite3_free(quoted);
		is_first = false;
	}
	return text ? ht_arena_printf(&e->arena, "%s FROM %s", text, table->name) : NULL;
}

static enum ht_status export_query(
        struct export *e, struct exported *table, const char *text, const char *path, int64_t rank)
{
	ht_table *rows;
	if (!text)
		return ht_fail_nomem(e->ctx);
	HT_TRY(query(e, text, &rows));
	struct file file = { path, rank, ht_table_n_rows(rows) };
	enum ht_status status = write_file(e, path, fill_arrow, rows);
	ht_table_free(rows);
	if (status == HT_OK && !HT_VEC_PUSH(e->ctx->mem, &table->files, struct file, file))
		status = ht_fail_nomem(e->ctx);
	return status;
}

/* A rank of a table that has events, cut by rows; or of any other, whole. */
static enum ht_status export_rank(struct export *e, struct exported *table, size_t i)
{
	const struct ht_rank *rank = &e->set->roster.ranks[i];
	const char *select = select_text(e, table, false);
	if (!select)
		return ht_fail_nomem(e->ctx);
	uint64_t step = table->has_row ? e->rows_a_file : UINT64_MAX, first = 0;
	for (unsigned part = 0; !part || first < rank->n_events; part++) {
		const char *path = ht_arena_printf(&e->arena, "%s/rank=%" PRId64 "/part-%u.arrow",
		        table->name, rank->number, part);
		const char *text = step == UINT64_MAX
		                           ? ht_arena_printf(&e->arena, "%s WHERE rank = %" PRId64,
		                                     select, rank->number)
		                           : ht_arena_printf(&e->arena,
		                                     "%s WHERE rank = %" PRId64
		                                     " AND row >= %" PRIu64 " AND row < %" PRIu64,
		                                     select, rank->number, first, first + step);
		if (!path)
			return ht_fail_nomem(e->ctx);
		HT_TRY(export_query(e, table, text, path, rank->number));
		first = step == UINT64_MAX ? step : first + step;
	}
	return HT_OK;
}

/* Whether every rank has a folder: not what is about ranks itself. */
static bool is_partitioned(const struct exported *table)
{
	return table->has_rank && strcmp(table->name, "ranks") != 0;
}

static enum ht_status export_table(struct export *e, struct exported *table)
{
	int folder;
	/* one without ranks has a folder as well */
	HT_TRY(open_folder(e, table->name, &folder));
	close(folder);
	if (!is_partitioned(table)) {
		const char *path = ht_arena_printf(&e->arena, "%s/part-0.arrow", table->name);
		return path ? export_query(e, table, select_text(e, table, true), path, HT_NO_I64)
		            : ht_fail_nomem(e->ctx);
	}
	for (size_t i = 0; i < e->set->roster.n; i++) {
		HT_TRY(ht_progress(e->ctx, table->name, i, e->set->roster.n));
		HT_TRY(export_rank(e, table, i));
	}
	return HT_OK;
}

/* ---- manifest ---- */

static void put_number(struct ht_out *out, const char *key, int64_t value)
{
	char text[64];
	snprintf(text, sizeof text, "%s%" PRId64, key, value);
	ht_out_str(out, text);
}

static void put_sources(struct ht_out *out, const struct ht_roster *roster)
{
	ht_out_str(out, " \"sources\": [");
	for (size_t i = 0; i < roster->n; i++) {
		ht_out_str(out, i ? ",\n  {\"path\": " : "\n  {\"path\": ");
		ht_out_json(out, roster->ranks[i].path);
		put_number(out, ", \"rank\": ", roster->ranks[i].number);
		put_number(out, ", \"events\": ", (int64_t)roster->ranks[i].n_events);
		ht_out_str(out, "}");
	}
	ht_out_str(out, "],\n");
}

static void put_columns(struct ht_out *out, const struct exported *table)
{
	static const char *const keys[] = { "name", "type", "unit", "sentence" };
	const ht_table *columns = table->columns;
	for (size_t i = 0; i < ht_table_n_rows(columns); i++) {
		ht_out_str(out, i ? ",\n    {" : "\n    {");
		for (size_t k = 0; k < HT_COUNT(keys); k++) {
			ht_out_str(out, k ? ", \"" : "\"");
			ht_out_str(out, keys[k]);
			ht_out_str(out, "\": ");
			if (ht_table_is_null(columns, i, k))
				ht_out_str(out, "null");
			else
				ht_out_json(out, ht_table_str(columns, i, k));
		}
		ht_out_str(out, "}");
	}
}

static void put_files(struct ht_out *out, const struct exported *table)
{
	const struct file *files = table->files.data;
	for (size_t i = 0; i < table->files.n; i++) {
		ht_out_str(out, i ? ",\n    {\"path\": " : "\n    {\"path\": ");
		ht_out_json(out, files[i].path);
		if (files[i].rank != HT_NO_I64)
			put_number(out, ", \"rank\": ", files[i].rank);
		put_number(out, ", \"rows\": ", (int64_t)files[i].n_rows);
		ht_out_str(out, "}");
	}
}

static enum ht_status fill_manifest(struct export *e, const struct ht_sink *sink, const void *user)
{
	struct ht_out out;
	(void)user;
	ht_out_init(&out, e->ctx, sink);
	ht_out_str(&out, "{\n \"format\": \"arrow\",\n \"version\": 1,\n \"holotrace\": ");
	ht_out_json(&out, ht_version());
	ht_out_str(&out, ",\n");
	put_sources(&out, &e->set->roster);
	ht_out_str(&out, " \"notes\": [");
	if (e->set->roster.loss_note)
		ht_out_json(&out, e->set->roster.loss_note);
	ht_out_str(&out, "],\n \"tables\": [");
	for (size_t i = 0; i < e->n_tables; i++) {
		const struct exported *table = &e->tables[i];
		ht_out_str(&out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
		ht_out_json(&out, table->name);
		ht_out_str(&out, ",\n   \"partitioned_by\": ");
		ht_out_str(&out, is_partitioned(table) ? "[\"rank\"]" : "[]");
		ht_out_str(&out, ",\n   \"columns\": [");
		put_columns(&out, table);
		ht_out_str(&out, "],\n   \"files\": [");
		put_files(&out, table);
		ht_out_str(&out, "]}");
	}
	ht_out_str(&out, "]\n}\n");
	return ht_out_finish(&out);
}

/* ---- all together ---- */

static enum ht_status read_tables(struct export *e, const char *list)
{
	size_t n = 1;
	for (const char *p = list; *p; p++)
		n += *p == ',';
	e->tables = ht_arena_alloc(&e->arena, n * sizeof *e->tables);
	if (!e->tables)
		return ht_fail_nomem(e->ctx);
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		/* it becomes part of queries and of paths */
		if (!length || strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789") < length)
			return ht_fail(e->ctx, HT_USAGE, NULL, -1,
			        "holotrace sql .tables lists all",
			        "there is no table '%.*s' to export", (int)length, at);
		struct exported *table = &e->tables[e->n_tables];
		table->name = ht_arena_strndup(&e->arena, at, length);
		if (!table->name)
			return ht_fail_nomem(e->ctx);
		e->n_tables++;
		HT_TRY(describe(e, table));
		at += length + (at[length] == ',');
	}
	return HT_OK;
}

static enum ht_status run(struct export *e, const char *tables)
{
	static const char manifest[] = "manifest.json";
	struct stat st;
	/* a folder that is made for nothing would stay */
	int there = ht_folder_open(e->folder, 0);
	bool is_taken = there >= 0 && !fstatat(there, manifest, &st, 0);
	if (there >= 0)
		close(there);
	if (is_taken)
		return ht_fail(e->ctx, HT_USAGE, e->folder, -1, "take another folder, or remove it",
		        "holds a dataset already");
	HT_TRY(read_tables(e, tables));
	HT_TRY(open_folder(e, "", &e->fd));
	for (size_t i = 0; i < e->n_tables; i++)
		HT_TRY(export_table(e, &e->tables[i]));
	return write_file(e, manifest, fill_manifest, NULL);
}

enum ht_status ht_export(
        ht_ctx *ctx, ht_set *set, const char *folder, const struct ht_export_options *options)
{
	struct ht_export_options taken;
	struct export e = { .ctx = ctx, .set = set, .folder = folder, .fd = -1 };
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_export_options, rows_a_file, options, &taken));
	e.rows_a_file = taken.rows_a_file ? taken.rows_a_file : DEFAULT_ROWS;
	ht_arena_init(&e.arena, ctx->mem);
	enum ht_status status = run(&e, taken.tables ? taken.tables : DEFAULT_TABLES);
	for (size_t i = 0; i < e.n_tables; i++) {
		ht_table_free(e.tables[i].columns);
		ht_vec_free(ctx->mem, &e.tables[i].files, sizeof(struct file));
	}
	if (e.fd >= 0)
		close(e.fd);
	ht_arena_done(&e.arena);
	return status;
}

#else

enum ht_status ht_export(
        ht_ctx *ctx, ht_set *set, const char *folder, const struct ht_export_options *options)
{
	(void)folder;
	(void)options;
	ht_table *none;
	/* says why not */
	return ht_sql(ctx, set, "", NULL, &none);
}

#endif
