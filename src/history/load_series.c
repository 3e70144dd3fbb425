/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_series.c - see history.h: a store as lists of runs and series.
 *
 * The file may be anybody's: `serve` shows those that lie below a folder. It is read through read/database.h, which follows no link out of a
 * folder, takes no lock, evaluates nothing that the file defines and bounds what it may cost. A row that makes no sense (a point of a
 * run that is not there) is left out. Points are kept as they are stored, so that memory follows the size of the file; a value for every run
 * and series, eight bytes, is bounded by MAX_VALUES.
 *
 * Others may add runs meanwhile. A change of an SQLite file is there whole when its journal is gone and the counter in its header has grown: what was
 * read while either moved is read again.
 */
#include "history/history.h"

#include "base/door.h"
#include "base/io.h"
#include "base/search.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 72
#define COUNTER_AT   24
#define VERSION_AT   60
#define KIND_AT      68

static uint32_t number_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* The first bytes of an SQLite file; false: it is none, or cannot be opened. */
static bool read_header(ht_ctx *ctx, const char *path, unsigned char header[HEADER_BYTES])
{
	struct stat st;
	int fd = ht_door_open(ctx, path, O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bool is_read = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	               pread(fd, header, HEADER_BYTES, 0) == HEADER_BYTES &&
	               !memcmp(header, "SQLite format 3", sizeof "SQLite format 3");
	close(fd);
	return is_read;
}

bool ht_history_is_store(ht_ctx *ctx, const char *path)
{
	unsigned char header[HEADER_BYTES];
	return read_header(ctx, path, header) &&
	       number_at(header + KIND_AT) == HT_HISTORY_APPLICATION_ID;
}

#if defined(HT_HAVE_SQLITE)

#include "read/database.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define MAX_RUNS   1000000
#define MAX_VALUES 10000000
#define WAIT_MS    2000
#define WAIT_STEP  20

struct series_place {
	int64_t id;
	size_t first, n; /* of the points */
	struct ht_measure about;
};

struct loading {
	struct ht_database file;
	struct ht_arena *arena;
	struct ht_history_data *data;
	struct ht_vec runs;   /* struct ht_history_run, by id */
	struct ht_vec series; /* struct series_place, by id */
	struct ht_vec points; /* struct ht_history_point, by series and run */
};

static const char *text_of(struct loading *l, sqlite3_stmt *query, int column)
{
	size_t n;
	const char *text = ht_database_text(&l->file, query, column, &n);
	return ht_arena_strndup(l->arena, text ? text : "", text ? strlen(text) : 0);
}

/* Rows of a statement, one by one; each: false when out of memory. */
static enum ht_status each_row(
        struct loading *l, const char *sql, bool (*each)(struct loading *l, sqlite3_stmt *query))
{
	sqlite3_stmt *query;
	bool more = true, fine = true;
	if (sqlite3_prepare_v2(l->file.handle, sql, -1, &query, NULL) != SQLITE_OK)
		return ht_database_fail(&l->file);
	enum ht_status status = ht_database_step(&l->file, query, &more);
	while (status == HT_OK && more && (fine = each(l, query)))
		status = ht_database_step(&l->file, query, &more);
	sqlite3_finalize(query);
	return fine ? status : ht_fail_nomem(l->file.ctx);
}

static bool load_run(struct loading *l, sqlite3_stmt *query)
{
	struct ht_history_run run = { sqlite3_column_int64(query, 0), text_of(l, query, 1) };
	const struct ht_history_run *runs = l->runs.data;
	if (l->runs.n && runs[l->runs.n - 1].id >= run.id)
		return true;
	return run.label && HT_VEC_PUSH(l->file.ctx->mem, &l->runs, struct ht_history_run, run);
}

static bool load_series(struct loading *l, sqlite3_stmt *query)
{
	struct series_place place = { .id = sqlite3_column_int64(query, 0),
		.about = { .metric = text_of(l, query, 1),
		        .path = text_of(l, query, 2),
		        .unit = text_of(l, query, 3),
		        .higher_is_better = sqlite3_column_int(query, 4) != 0 } };
	const struct series_place *places = l->series.data;
	if (l->series.n && places[l->series.n - 1].id >= place.id)
		return true;
	return place.about.metric && place.about.path && place.about.unit &&
	       HT_VEC_PUSH(l->file.ctx->mem, &l->series, struct series_place, place);
}

static double number_of(sqlite3_stmt *query, int column)
{
	double value = sqlite3_column_double(query, column);
	return sqlite3_column_type(query, column) == SQLITE_NULL || !isfinite(value) ? NAN : value;
}

/* Points come by series, then run: those of a series are neighbours. */
static bool load_point(struct loading *l, sqlite3_stmt *query)
{
	const struct ht_history_run *runs = l->runs.data;
	struct series_place *places = l->series.data;
	int64_t id = sqlite3_column_int64(query, 0), run = sqlite3_column_int64(query, 1);
	struct ht_history_point point = { .run = HT_LOWER_BOUND(i, l->runs.n, runs[i].id < run) };
	size_t at = HT_LOWER_BOUND(i, l->series.n, places[i].id < id);
	for (int k = 0; k < HT_HIST_N_NUMBERS; k++)
		point.numbers[k] = number_of(query, 2 + k);
	if (at == l->series.n || places[at].id != id || point.run == l->runs.n ||
	        runs[point.run].id != run || isnan(point.numbers[HT_HIST_VALUE]))
		return true;
	const struct ht_history_point *points = l->points.data;
	struct series_place *place = &places[at];
	/* one that is there already, or comes apart from the others, is of a file that lacks our keys */
	if (place->n && (place->first + place->n != l->points.n ||
	                        points[l->points.n - 1].run >= point.run))
		return true;
	if (!place->n)
		place->first = l->points.n;
	place->n++;
	return HT_VEC_PUSH(l->file.ctx->mem, &l->points, struct ht_history_point, point);
}

static int compare_series(const void *left, const void *right)
{
	const struct ht_history_series *a = left, *b = right;
	int order = strcmp(a->about.path, b->about.path);
	return order ? order : strcmp(a->about.metric, b->about.metric);
}

static void *keep(struct ht_arena *arena, const struct ht_vec *list, size_t bytes)
{
	void *kept = ht_arena_alloc(arena, (list->n + 1) * bytes);
	if (kept && list->n)
		memcpy(kept, list->data, list->n * bytes);
	return kept;
}

/* What was found, as the data that others see. */
static enum ht_status settle(struct loading *l)
{
	ht_ctx *ctx = l->file.ctx;
	const struct series_place *places = l->series.data;
	struct ht_history_data *data = l->data;
	const struct ht_history_point *points = keep(l->arena, &l->points, sizeof *points);
	data->runs = keep(l->arena, &l->runs, sizeof *data->runs);
	data->n_runs = l->runs.n;
	data->series = ht_arena_alloc(l->arena, (l->series.n + 1) * sizeof *data->series);
	if (!points || !data->runs || !data->series)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < l->series.n; i++)
		if (places[i].n)
			data->series[data->n_series++] =
			        (struct ht_history_series){ .about = places[i].about,
				        .points = points + places[i].first,
				        .n_points = places[i].n };
	if (data->n_runs > MAX_RUNS || data->n_series * (uint64_t)data->n_runs > MAX_VALUES)
		return ht_fail(ctx, HT_LIMIT, l->file.path, -1, "begin another store",
		        "%zu runs with %zu series are more than %d values", data->n_runs,
		        data->n_series, MAX_VALUES);
	double *values =
	        ht_arena_alloc(l->arena, (data->n_runs * data->n_series + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(ctx);
	qsort(data->series, data->n_series, sizeof *data->series, compare_series);
	for (size_t i = 0; i < data->n_series; i++)
		data->series[i].values = values + i * data->n_runs;
	return HT_OK;
}

static enum ht_status check_columns(struct ht_database *file)
{
	static const char *const columns[][2] = { { "runs", "id" }, { "runs", "label" },
		{ "series", "id" }, { "series", "metric" }, { "series", "path" },
		{ "series", "unit" }, { "series", "higher_is_better" }, { "points", "series" },
		{ "points", "run" }, { "points", "value" }, { "points", "n" }, { "points", "mean" },
		{ "points", "std" }, { "points", "min" }, { "points", "q1" },
		{ "points", "median" }, { "points", "q3" }, { "points", "max" } };
	for (size_t i = 0; i < HT_COUNT(columns); i++)
		if (!ht_database_has_table(file, columns[i][0]) ||
		        !ht_database_has_column(file, columns[i][0], columns[i][1]))
			return ht_fail(file->ctx, HT_FORMAT, file->path, -1,
			        "the store is a file that holotrace history --add made",
			        "the history has no column %s of %s", columns[i][1], columns[i][0]);
	return HT_OK;
}

static enum ht_status load_all(struct loading *l)
{
	HT_TRY(check_columns(&l->file));
	HT_TRY(each_row(l, "SELECT id, label FROM main.runs ORDER BY id", load_run));
	HT_TRY(each_row(l,
	        "SELECT id, metric, path, unit, higher_is_better FROM main.series ORDER BY id",
	        load_series));
	HT_TRY(each_row(l,
	        "SELECT series, run, value, n, mean, std, min, q1, median, q3, max FROM main.points "
	        "ORDER BY series, run",
	        load_point));
	return settle(l);
}

static enum ht_status load_once(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, struct ht_history_data *ret_data)
{
	struct loading l = { .arena = arena, .data = ret_data };
	*ret_data = (struct ht_history_data){ 0 };
	HT_TRY(ht_database_open(&l.file, ctx, path));
	enum ht_status status = load_all(&l);
	ht_database_close(&l.file);
	ht_vec_free(ctx->mem, &l.runs, sizeof(struct ht_history_run));
	ht_vec_free(ctx->mem, &l.series, sizeof(struct series_place));
	ht_vec_free(ctx->mem, &l.points, sizeof(struct ht_history_point));
	return status;
}

/* ---- while others write ---- */

static enum ht_status check_header(
        ht_ctx *ctx, const char *path, unsigned char header[HEADER_BYTES])
{
	struct stat st;
	if (ht_door_stat(ctx, path, &st) < 0)
		return ht_fail_errno(ctx, path, "cannot open", errno);
	if (!read_header(ctx, path, header) ||
	        number_at(header + KIND_AT) != HT_HISTORY_APPLICATION_ID)
		return ht_fail(ctx, HT_FORMAT, path, -1,
		        "the store is a file that holotrace history --add made",
		        "the file is no history of runs");
	if (number_at(header + VERSION_AT) != HT_HISTORY_VERSION)
		return ht_fail(ctx, HT_FORMAT, path, -1,
		        "use the version that wrote it, or a newer one",
		        "the history has version %u, not %d",
		        (unsigned)number_at(header + VERSION_AT), HT_HISTORY_VERSION);
	return HT_OK;
}

/* Whether a change is on its way into the file; a journal of no bytes is one that is done. */
static bool is_written(ht_ctx *ctx, const char *path)
{
	struct ht_arena arena;
	struct stat st;
	ht_arena_init(&arena, ctx->mem);
	char *name = ht_arena_printf(&arena, "%s-journal", path);
	bool is = name && !ht_door_stat(ctx, name, &st) && st.st_size > 0;
	ht_arena_done(&arena);
	return is;
}

enum ht_status ht_history_load(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, struct ht_history_data *ret_data)
{
	const struct timespec pause = { 0, WAIT_STEP * 1000000L };
	unsigned char before[HEADER_BYTES], after[HEADER_BYTES];
	for (int waited_ms = 0; waited_ms < WAIT_MS; waited_ms += WAIT_STEP) {
		HT_TRY(check_header(ctx, path, before));
		if (!is_written(ctx, path)) {
			enum ht_status status = load_once(ctx, path, arena, ret_data);
			if (status == HT_CANCELLED ||
			        (read_header(ctx, path, after) && !is_written(ctx, path) &&
			                !memcmp(before, after, COUNTER_AT + 4)))
				return status;
			ht_arena_done(arena);
			ht_arena_init(arena, ctx->mem);
		}
		HT_TRY(ht_progress(ctx, path, 0, 0));
		(void)nanosleep(&pause, NULL);
	}
	return ht_fail(ctx, HT_IO, path, -1,
	        "ask again; a journal that a killed program left goes away with the next --add",
	        "another program is writing the history");
}

#else

enum ht_status ht_history_load(
        ht_ctx *ctx, const char *path, struct ht_arena *arena, struct ht_history_data *ret_data)
{
	(void)arena, (void)ret_data;
	return ht_fail(ctx, HT_USAGE, path, -1,
	        "install SQLite (Debian: libsqlite3-dev) and build again",
	        "this build has no history of runs: it was made without SQLite");
}

#endif
