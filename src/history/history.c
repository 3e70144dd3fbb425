/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - see history.h: adding runs, and the tables of all of them.
 */
#include "history/history.h"

#include "base/csv_line.h"
#include "base/io.h"
#include "base/number.h"
#include "base/options.h"
#include "table/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_IMPORT_BYTES ((size_t)1 << 30)
#define MAX_METRICS      65536
/* Fewer runs have no level before and after. */
#define MIN_RUNS 4

#define SERIES_COLUMNS(COLUMN)                                                                     \
	COLUMN(SER_METRIC, "metric", HT_STR, HT_KEY, "what was measured", NULL)                    \
	COLUMN(SER_PATH, "path", HT_STR, HT_KEY, "of what: a tree, from the whole to its parts",   \
	        NULL)                                                                              \
	COLUMN(SER_RUN, "run", HT_I64, HT_KEY, "number of the run, as added", NULL)                \
	COLUMN(SER_LABEL, "label", HT_STR, HT_KEY, "its label, mostly a commit", NULL)             \
	COLUMN(SER_VALUE, "value", HT_F64, HT_MEASURE,                                             \
	        "median over the steps of the run, per step and rank", NULL)                       \
	COLUMN(SER_UNIT, "unit", HT_STR, HT_MEASURE, "of value", NULL)                             \
	COLUMN(SER_CHANGE, "change", HT_STR, HT_MEASURE,                                           \
	        "where the level changes with this run: the kind of the change", NULL)             \
	COLUMN(SER_N, "n", HT_F64, HT_DETAIL, "samples, mostly steps", NULL)                       \
	COLUMN(SER_MEAN, "mean", HT_F64, HT_DETAIL, "their mean", NULL)                            \
	COLUMN(SER_STD, "std", HT_F64, HT_DETAIL, "their standard deviation", NULL)                \
	COLUMN(SER_MIN, "min", HT_F64, HT_DETAIL, "the smallest", NULL)                            \
	COLUMN(SER_Q1, "q1", HT_F64, HT_DETAIL, "first quartile", NULL)                            \
	COLUMN(SER_MEDIAN, "median", HT_F64, HT_DETAIL, "median", NULL)                            \
	COLUMN(SER_Q3, "q3", HT_F64, HT_DETAIL, "third quartile", NULL)                            \
	COLUMN(SER_MAX, "max", HT_F64, HT_DETAIL, "the largest", NULL)
HT_COLUMNS(series_columns, SERIES_COLUMNS);

#define LATEST_COLUMNS(COLUMN)                                                                     \
	COLUMN(LAT_METRIC, "metric", HT_STR, HT_KEY, "what was measured", NULL)                    \
	COLUMN(LAT_PATH, "path", HT_STR, HT_KEY, "of what: a tree, from the whole to its parts",   \
	        NULL)                                                                              \
	COLUMN(LAT_LABEL, "label", HT_STR, HT_KEY, "label of the last run that has a value", NULL) \
	COLUMN(LAT_VALUE, "value", HT_F64, HT_MEASURE, "in that run", NULL)                        \
	COLUMN(LAT_UNIT, "unit", HT_STR, HT_MEASURE, "of value and level", NULL)                   \
	COLUMN(LAT_LEVEL, "level", HT_F64, HT_MEASURE, "mean of the runs since the last change",   \
	        NULL)                                                                              \
	COLUMN(LAT_SINCE, "since", HT_STR, HT_MEASURE, "label of the first run of that level",     \
	        NULL)                                                                              \
	COLUMN(LAT_CHANGE, "change", HT_STR, HT_MEASURE, "kind of the last change", NULL)          \
	COLUMN(LAT_RUNS, "runs", HT_I64, HT_DETAIL, "runs that have a value", NULL)                \
	COLUMN(LAT_CHANGES, "changes", HT_I64, HT_DETAIL, "changes of the series", NULL)
HT_COLUMNS(latest_columns, LATEST_COLUMNS);

#define CHANGE_COLUMNS(COLUMN)                                                                                                    \
	COLUMN(CHG_CHANGE, "change", HT_STR, HT_KEY,                                                                              \
	        "regression or improvement; cost shift: a sibling changed the other way; part: of a change of what is above it; " \
	        "went away: the last runs are nearer to the level before; weak: does not stand out among all series",             \
	        NULL)                                                                                                             \
	COLUMN(CHG_METRIC, "metric", HT_STR, HT_KEY, "what was measured", NULL)                                                   \
	COLUMN(CHG_PATH, "path", HT_STR, HT_KEY, "of what", NULL)                                                                 \
	COLUMN(CHG_RUN, "run", HT_I64, HT_MEASURE, "first run of the new level", NULL)                                            \
	COLUMN(CHG_LABEL, "label", HT_STR, HT_MEASURE, "its label", NULL)                                                         \
	COLUMN(CHG_BEFORE, "before", HT_F64, HT_MEASURE, "mean of the level before", NULL)                                        \
	COLUMN(CHG_AFTER, "after", HT_F64, HT_MEASURE, "mean of the new level", NULL)                                             \
	COLUMN(CHG_SHARE, "change_share", HT_RATIO, HT_MEASURE, "after over before, less 1", NULL)                                \
	COLUMN(CHG_UNIT, "unit", HT_STR, HT_MEASURE, "of before and after", NULL)                                                 \
	COLUMN(CHG_CHILDREN, "children", HT_STR, HT_MEASURE,                                                                      \
	        "parts that changed likewise, the largest first", NULL)                                                           \
	COLUMN(CHG_P, "p_value", HT_F64, HT_DETAIL,                                                                               \
	        "chance that both levels are one, by Student's t", NULL)                                                          \
	COLUMN(CHG_COST, "cost", HT_F64, HT_DETAIL, "after less before", NULL)                                                    \
	COLUMN(CHG_INDEX, "index", HT_I64, HT_DETAIL, "place of the run in the series, from 0",                                   \
	        NULL)                                                                                                             \
	COLUMN(CHG_PREVIOUS, "previous_label", HT_STR, HT_DETAIL, "label of the run before", NULL)
HT_COLUMNS(change_columns, CHANGE_COLUMNS);

/* ---- adding ---- */

enum ht_status ht_history_add(
        ht_ctx *ctx, const char *path, ht_set *set, const char *label, const char *source)
{
	struct ht_history_store *store;
	struct ht_vec measures = { 0 };
	struct ht_arena arena;
	ht_error_clear(ctx);
	if (!label || !*label)
		return ht_fail(
		        ctx, HT_USAGE, NULL, -1, "a commit is a good one", "the run needs a label");
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = ht_measures_collect(ctx, set, &arena, &measures);
	if (status == HT_OK)
		status = ht_history_open(ctx, path, &store);
	if (status == HT_OK) {
		status = ht_history_put(store, label, source, measures.data, measures.n);
		if (status == HT_OK)
			status = ht_history_commit(store);
		ht_history_close(store);
	}
	ht_vec_free(ctx->mem, &measures, sizeof(struct ht_measure));
	ht_arena_done(&arena);
	return status;
}

/* A line of an imported table: a label, then a value per metric; an empty cell is missing. */
static enum ht_status import_line(struct ht_history_store *store, ht_ctx *ctx, const char *file,
        const char *const *cells, size_t n, struct ht_measure *measures, size_t line)
{
	size_t n_known = 0;
	for (size_t i = 1; i < n; i++) {
		struct ht_measure *m = &measures[n + n_known];
		struct ht_number number = ht_number_parse(cells[i]);
		double value = number.type == HT_NUMBER_I64   ? (double)number.i
		               : number.type == HT_NUMBER_F64 ? number.f
		                                              : NAN;
		if (!*cells[i])
			continue;
		if (!isfinite(value) || *number.end)
			return ht_fail(ctx, HT_FORMAT, file, -1,
			        "cells are numbers, or empty where a run has none",
			        "line %zu: %s is '%.40s'", line, measures[i].path, cells[i]);
		*m = measures[i];
		m->value = m->mean = m->median = m->min = m->max = m->q1 = m->q3 = value;
		m->n = 1;
		m->std = NAN;
		n_known++;
	}
	return ht_history_put(store, cells[0], file, measures + n, n_known);
}

static enum ht_status import_lines(struct ht_history_store *store, ht_ctx *ctx, const char *file,
        char *text, struct ht_arena *arena)
{
	const char **cells = ht_arena_alloc(arena, MAX_METRICS * sizeof *cells);
	struct ht_measure *measures = NULL;
	size_t n = 0, n_columns = 0, number = 0;
	if (!cells)
		return ht_fail_nomem(ctx);
	for (char *line; (line = ht_csv_line(&text));) {
		number++;
		if (!*line && measures)
			continue;
		if (!ht_csv_split(line, cells, MAX_METRICS, &n) || (measures && n != n_columns) ||
		        n < 2)
			return ht_fail(ctx, HT_FORMAT, file, -1,
			        "the first line is label,METRIC,...; all others have a label and as many values",
			        "line %zu is no line of that table", number);
		if (measures) {
			HT_TRY(import_line(store, ctx, file, cells, n, measures, number));
			continue;
		}
		n_columns = n;
		measures = ht_arena_alloc(arena, 2 * n * sizeof *measures);
		for (size_t i = 0; measures && i < n; i++)
			measures[i] = (struct ht_measure){ .metric = "value",
				.path = ht_arena_strndup(arena, cells[i], strlen(cells[i])),
				.unit = "" };
		if (!measures)
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}

enum ht_status ht_history_import(ht_ctx *ctx, const char *path, const char *file)
{
	struct ht_history_store *store;
	struct ht_vec text = { 0 };
	struct ht_arena arena;
	ht_error_clear(ctx);
	enum ht_status status = ht_read_all(ctx, file, MAX_IMPORT_BYTES, &text);
	ht_arena_init(&arena, ctx->mem);
	if (status == HT_OK)
		status = ht_history_open(ctx, path, &store);
	if (status == HT_OK) {
		status = import_lines(store, ctx, file, text.data, &arena);
		if (status == HT_OK)
			status = ht_history_commit(store);
		ht_history_close(store);
	}
	ht_vec_free(ctx->mem, &text, 1);
	ht_arena_done(&arena);
	return status;
}

/* ---- the tables ---- */

struct showing {
	ht_ctx *ctx;
	const struct ht_history_options *options;
	struct ht_arena *arena;
	struct ht_history_data data;
	struct ht_judged *judged;
	size_t n_judged;
	size_t since; /* index of the first run whose changes count */
};

/* What each change of a series is. */
static enum ht_status name_kinds(struct showing *s)
{
	for (size_t i = 0; i < s->data.n_series; i++) {
		struct ht_history_series *series = &s->data.series[i];
		series->kinds =
		        ht_arena_alloc(s->arena, (series->n_changes + 1) * sizeof *series->kinds);
		if (!series->kinds)
			return ht_fail_nomem(s->ctx);
	}
	for (size_t i = 0; i < s->n_judged; i++) {
		const struct ht_judged *judged = &s->judged[i];
		judged->series->kinds[judged->change - judged->series->changes] = judged->kind;
	}
	return HT_OK;
}

static enum ht_status find_changes(struct showing *s)
{
	struct ht_changes_options options = {
		.window = s->options->window ? (size_t)s->options->window : HT_CHANGES_WINDOW,
		.max_pvalue =
		        s->options->max_pvalue > 0 ? s->options->max_pvalue : HT_CHANGES_MAX_PVALUE,
		.min_magnitude = s->options->min_change
	};
	if (options.window < 2 || options.window > HT_CHANGES_MAX_WINDOW ||
	        !(options.max_pvalue < 1) || !(options.min_magnitude >= 0))
		return ht_fail(s->ctx, HT_USAGE, NULL, -1,
		        "window is 2 to 1000 runs, max-pvalue between 0 and 1, min-change 0 or more",
		        "no such change points");
	for (size_t i = 0; i < s->data.n_series; i++) {
		struct ht_history_series *series = &s->data.series[i];
		HT_TRY(ht_progress(s->ctx, "change points", i, s->data.n_series));
		for (size_t k = 0; k < s->data.n_runs; k++)
			series->values[k] = NAN;
		for (size_t k = 0; k < series->n_points; k++)
			series->values[series->points[k].run] =
			        series->points[k].numbers[HT_HIST_VALUE];
		/* one value for all runs does not change */
		if (ht_changes_fill(series->values, s->data.n_runs) && series->n_points > 1 &&
		        s->data.n_runs >= MIN_RUNS)
			HT_TRY(ht_changes_find(s->ctx, s->arena, series->values, s->data.n_runs,
			        &options, &series->changes, &series->n_changes));
	}
	HT_TRY(ht_history_judge(s->ctx, &s->data, s->arena, &s->judged, &s->n_judged));
	return name_kinds(s);
}

static enum ht_status find_since(struct showing *s)
{
	const char *label = s->options->since;
	if (!label)
		return HT_OK;
	for (size_t i = s->data.n_runs; i-- > 0;)
		if (!strcmp(s->data.runs[i].label, label)) {
			s->since = i;
			return HT_OK;
		}
	return ht_fail(s->ctx, HT_USAGE, NULL, -1, "history STORE --view series shows all labels",
	        "no run has the label '%s'", label);
}

static bool is_shown(const struct showing *s, const struct ht_history_series *series)
{
	const char *only = s->options->path;
	size_t n = only ? strlen(only) : 0;
	return !only || (!strncmp(series->about.path, only, n) &&
	                        (!series->about.path[n] || series->about.path[n] == '/'));
}

static void put_point(ht_table *table, const struct showing *s,
        const struct ht_history_series *series, const struct ht_history_point *point,
        const char *change)
{
	ht_table_row(table);
	ht_table_put_str(table, SER_METRIC, series->about.metric);
	ht_table_put_str(table, SER_PATH, series->about.path);
	ht_table_put_i64(table, SER_RUN, s->data.runs[point->run].id);
	ht_table_put_str(table, SER_LABEL, s->data.runs[point->run].label);
	ht_table_put_f64(table, SER_VALUE, point->numbers[HT_HIST_VALUE]);
	ht_table_put_str(table, SER_UNIT, series->about.unit);
	ht_table_put_str(table, SER_CHANGE, change);
	for (size_t i = HT_HIST_N; i < HT_HIST_N_NUMBERS; i++)
		ht_table_put_f64(table, SER_N + i - HT_HIST_N, point->numbers[i]);
}

/* Changes ascend like the points; one at a run without a value is shown by the next that has one. */
static enum ht_status put_series(const struct showing *s, ht_table *table)
{
	for (size_t i = 0; i < s->data.n_series; i++) {
		const struct ht_history_series *series = &s->data.series[i];
		size_t at = 0;
		for (size_t k = 0; k < series->n_points && is_shown(s, series); k++) {
			const char *change = NULL;
			for (; at < series->n_changes &&
			        series->changes[at].index <= series->points[k].run;
			        at++)
				change = ht_change_kind_name(series->kinds[at]);
			put_point(table, s, series, &series->points[k], change);
		}
	}
	return HT_OK;
}

static enum ht_status put_latest(const struct showing *s, ht_table *table)
{
	for (size_t i = 0; i < s->data.n_series; i++) {
		const struct ht_history_series *series = &s->data.series[i];
		const struct ht_history_point *last = &series->points[series->n_points - 1];
		size_t n = series->n_changes, since = n ? series->changes[n - 1].index : 0;
		double sum = 0;
		if (!is_shown(s, series))
			continue;
		for (size_t k = since; k < s->data.n_runs; k++)
			sum += series->values[k];
		ht_table_row(table);
		ht_table_put_str(table, LAT_METRIC, series->about.metric);
		ht_table_put_str(table, LAT_PATH, series->about.path);
		ht_table_put_str(table, LAT_LABEL, s->data.runs[last->run].label);
		ht_table_put_f64(table, LAT_VALUE, last->numbers[HT_HIST_VALUE]);
		ht_table_put_str(table, LAT_UNIT, series->about.unit);
		ht_table_put_f64(table, LAT_LEVEL, sum / (double)(s->data.n_runs - since));
		ht_table_put_str(table, LAT_SINCE, s->data.runs[since].label);
		ht_table_put_str(
		        table, LAT_CHANGE, n ? ht_change_kind_name(series->kinds[n - 1]) : NULL);
		ht_table_put_i64(table, LAT_RUNS, (int64_t)series->n_points);
		ht_table_put_i64(table, LAT_CHANGES, (int64_t)n);
	}
	return HT_OK;
}

static void put_change(ht_table *table, const struct showing *s, const struct ht_judged *judged)
{
	const struct ht_change *c = judged->change;
	ht_table_row(table);
	ht_table_put_str(table, CHG_CHANGE, ht_change_kind_name(judged->kind));
	ht_table_put_str(table, CHG_METRIC, judged->series->about.metric);
	ht_table_put_str(table, CHG_PATH, judged->series->about.path);
	ht_table_put_i64(table, CHG_RUN, s->data.runs[c->index].id);
	ht_table_put_str(table, CHG_LABEL, s->data.runs[c->index].label);
	ht_table_put_f64(table, CHG_BEFORE, c->mean_before);
	ht_table_put_f64(table, CHG_AFTER, c->mean_after);
	ht_table_put_f64(table, CHG_SHARE, c->mean_after / c->mean_before - 1);
	ht_table_put_str(table, CHG_UNIT, judged->series->about.unit);
	ht_table_put_str(table, CHG_CHILDREN, *judged->children ? judged->children : NULL);
	ht_table_put_f64(table, CHG_P, c->p);
	ht_table_put_f64(table, CHG_COST, judged->cost);
	ht_table_put_i64(table, CHG_INDEX, (int64_t)c->index);
	ht_table_put_str(table, CHG_PREVIOUS, s->data.runs[c->index - 1].label);
}

static enum ht_status put_changes(const struct showing *s, ht_table *table)
{
	size_t n_worse = 0;
	for (size_t i = 0; i < s->n_judged; i++) {
		const struct ht_judged *judged = &s->judged[i];
		if (judged->change->index < s->since || !is_shown(s, judged->series))
			continue;
		n_worse += judged->kind == HT_CHANGE_REGRESSION;
		put_change(table, s, judged);
	}
	if (n_worse)
		ht_table_set_check_failed(table);
	if (s->data.n_runs < MIN_RUNS)
		return ht_table_add_note(table, "%zu run%s: change points need %d or more",
		        s->data.n_runs, s->data.n_runs == 1 ? "" : "s", MIN_RUNS);
	return ht_table_add_note(table, "%zu regression%s in %zu series of %zu runs", n_worse,
	        n_worse == 1 ? "" : "s", s->data.n_series, s->data.n_runs);
}

static const struct {
	const char *name, *title;
	const struct ht_column *columns;
	size_t n_columns;
	enum ht_status (*put)(const struct showing *s, ht_table *table);
} views[] = {
	{ "changes", "Changes over runs", change_columns, HT_COUNT(change_columns), put_changes },
	{ "series", "History of runs", series_columns, HT_COUNT(series_columns), put_series },
	{ "latest", "Latest run", latest_columns, HT_COUNT(latest_columns), put_latest },
};

static enum ht_status show(struct showing *s, const char *path, ht_table **ret_table)
{
	const char *name = s->options->view ? s->options->view : views[0].name;
	ht_table *table = NULL;
	size_t view = 0;
	while (view < HT_COUNT(views) && strcmp(views[view].name, name) != 0)
		view++;
	if (view == HT_COUNT(views))
		return ht_fail(s->ctx, HT_USAGE, NULL, -1, "views are changes, series and latest",
		        "there is no view %s", name);
	HT_TRY(ht_history_load(s->ctx, path, s->arena, &s->data));
	HT_TRY(find_since(s));
	HT_TRY(find_changes(s));
	HT_TRY(ht_table_new(
	        s->ctx, views[view].title, views[view].columns, views[view].n_columns, &table));
	enum ht_status status = views[view].put(s, table);
	if (status == HT_OK)
		status = ht_table_finish(s->ctx, table);
	if (status == HT_OK && s->options->shown)
		status = ht_table_apply_view(s->ctx, table, s->options->shown);
	if (status == HT_OK)
		*ret_table = table;
	else
		ht_table_free(table);
	return status;
}

enum ht_status ht_history(ht_ctx *ctx, const char *path, const struct ht_history_options *options,
        ht_table **ret_table)
{
	struct ht_history_options taken;
	struct ht_arena arena;
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_history_options, shown, options, &taken));
	ht_arena_init(&arena, ctx->mem);
	struct showing s = { .ctx = ctx, .options = &taken, .arena = &arena };
	enum ht_status status = show(&s, path, ret_table);
	ht_arena_done(&arena);
	return status;
}
