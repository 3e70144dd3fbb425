/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_extra.c - the tables behind the page's charts: means of steps, curves over time, comparisons, steps of the baseline.
 *
 * Curves have a row per change, which can be millions, so they are made of those ranks only that have the highest peaks
 * by the table that sums them up, where there is one. Of each kind the curves with the highest peaks are kept,
 * and of a long one the first, least and most value of each piece of time: what a picture of its width can show.
 * Every point is one of the analysis.
 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_POINTS 1500

/* What tells curves apart, and their values. */
struct columns {
	size_t series[4], n, value, time;
};

#define MAX_ROWS     500    /* of a comparison */
#define CURVE_POINTS "4000" /* where an analysis thins its curves itself */

/* ---- which there are ---- */

static void add_chart(struct report *report, const struct ht_analysis_info *info, const char *view,
        size_t n_view, bool is_curve)
{
	if (report->n_charts == REPORT_MAX_EXTRAS || n_view >= sizeof(report->charts->view))
		return;
	struct report_chart *chart = &report->charts[report->n_charts++];
	*chart = (struct report_chart){ .info = info, .is_curve = is_curve };
	memcpy(chart->view, view, n_view);
	snprintf(chart->key, sizeof(chart->key), "%s%s%.*s", info->name, is_curve ? "" : ".",
	        is_curve ? 0 : (int)n_view, view);
}

void report_list_charts(struct report *report)
{
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		for (const char *at = info->charts; at != NULL && *at != '\0';) {
			size_t n = strcspn(at, "|");
			add_chart(report, info, at, n, false);
			at += n + (at[n] == '|');
		}
		if (info->over_time != NULL && info->over_time->n_keys > 0)
			add_chart(report, info, info->over_time->view,
			        strlen(info->over_time->view), true);
	}
}

static bool compares(const struct report_chart *chart)
{
	return chart->info->n_sets == 2;
}

/* ---- curves ---- */

/* The place of the i-th name of "a,b,c". */
static size_t find_listed(const ht_table *table, const char *list, size_t i)
{
	char name[64];
	for (; i > 0 && list != NULL; i--)
		list = (list = strchr(list, ',')) != NULL ? list + 1 : NULL;
	size_t n = list != NULL ? strcspn(list, ",") : sizeof(name);
	if (n >= sizeof(name))
		return SIZE_MAX;
	memcpy(name, list, n);
	name[n] = '\0';
	return ht_table_find_column(table, name);
}

static double number_at(const ht_table *table, size_t row, size_t column)
{
	if (ht_table_is_null(table, row, column))
		return 0;
	switch (ht_table_column(table, column)->type) {
	case HT_F64:
	case HT_DURATION_F64:
	case HT_RATIO: return ht_table_f64(table, row, column);
	default: return (double)ht_table_i64(table, row, column);
	}
}

static bool is_same_cell(const ht_table *table, size_t a, size_t b, size_t column)
{
	if (ht_table_is_null(table, a, column) || ht_table_is_null(table, b, column))
		return ht_table_is_null(table, a, column) == ht_table_is_null(table, b, column);
	if (ht_table_column(table, column)->type == HT_STR)
		return strcmp(ht_table_str(table, a, column), ht_table_str(table, b, column)) == 0;
	return ht_table_i64(table, a, column) == ht_table_i64(table, b, column);
}

struct curve {
	size_t first, last, n; /* rows; others may stand between them */
	uint32_t id;
	double most;
};

static struct columns find_columns(const ht_table *table, const struct ht_over_time *of)
{
	struct columns columns = { .value = find_listed(table, of->columns, 1 + of->n_keys),
		.time = find_listed(table, of->columns, 0) };
	for (size_t i = 0; i <= of->n_keys && i < COUNT(columns.series); i++) {
		size_t column = i == 0 ? ht_table_find_column(table, "rank")
		                       : find_listed(table, of->columns, i);
		if (column != SIZE_MAX)
			columns.series[columns.n++] = column;
	}
	return columns;
}

static bool is_same_curve(const ht_table *table, const struct columns *columns, size_t a, size_t b)
{
	for (size_t i = 0; i < columns->n; i++) {
		if (!is_same_cell(table, a, b, columns->series[i]))
			return false;
	}
	return true;
}

/* The curve of a row among n, searched from the last one on: rows of a curve stand together, or among few others. */
static size_t curve_of(const ht_table *table, const struct columns *columns,
        const struct curve *curves, size_t n, size_t row)
{
	size_t i = n;
	while (i > 0 && !is_same_curve(table, columns, curves[i - 1].first, row))
		i--;
	return i > 0 ? i - 1 : n;
}

/* All curves, and by row which one it is of. Returns how many there are; ret has room for a curve per row. */
static size_t find_curves(const ht_table *table, const struct columns *columns, struct curve *ret,
        uint32_t *ret_of_row)
{
	size_t n = 0;
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		size_t at = row > 0 && is_same_curve(table, columns, row - 1, row)
		                    ? ret_of_row[row - 1]
		                    : curve_of(table, columns, ret, n, row);
		if (at == n)
			ret[n++] = (struct curve){ .first = row, .id = (uint32_t)at };
		struct curve *curve = &ret[at];
		double here = number_at(table, row, columns->value);
		curve->most = curve->n == 0 || here > curve->most ? here : curve->most;
		curve->last = row;
		curve->n++;
		ret_of_row[row] = (uint32_t)at;
	}
	return n;
}

static int by_peak(const void *a, const void *b)
{
	const struct curve *x = a, *y = b;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Of each piece of time the first row, the least and the most; the last row of all. */
static void thin_out(const ht_table *table, const struct columns *columns,
        const struct curve *curve, const uint32_t *of_row, bool *kept)
{
	size_t time = columns->time, value = columns->value;
	bool is_short = curve->n <= MAX_POINTS || time == SIZE_MAX;
	int64_t from_ns = is_short ? 0 : ht_table_i64(table, curve->first, time), piece_ns = 1,
	        piece = -1;
	if (!is_short)
		piece_ns =
		        (ht_table_i64(table, curve->last, time) - from_ns) / (MAX_POINTS / 3) + 1;
	size_t least = curve->first, most = least;
	for (size_t row = curve->first; row <= curve->last; row++) {
		if (of_row[row] != curve->id)
			continue;
		int64_t here = is_short ? (int64_t)row
		                        : (ht_table_i64(table, row, time) - from_ns) / piece_ns;
		if (here != piece) {
			kept[least] = kept[most] = kept[row] = true;
			least = most = row;
			piece = here;
		}
		double now = number_at(table, row, value);
		least = now < number_at(table, least, value) ? row : least;
		most = now > number_at(table, most, value) ? row : most;
	}
	kept[least] = kept[most] = kept[curve->last] = true;
}

static int choose_rows(struct report_extra *found, const struct report_chart *chart)
{
	const ht_table *table = found->table;
	const struct columns columns = find_columns(table, chart->info->over_time);
	size_t n_rows = ht_table_n_rows(table);
	if (columns.value == SIZE_MAX || n_rows == 0)
		return EXIT_DONE;
	struct curve *curves = malloc(n_rows * sizeof(*curves));
	uint32_t *of_row = malloc(n_rows * sizeof(*of_row));
	found->kept = calloc(n_rows, sizeof(*found->kept));
	bool ok = curves != NULL && of_row != NULL && found->kept != NULL;
	if (ok) {
		found->n_of = find_curves(table, &columns, curves, of_row);
		qsort(curves, found->n_of, sizeof(*curves), by_peak);
		found->n_series = found->n_of < REPORT_MAX_CURVES ? found->n_of : REPORT_MAX_CURVES;
	}
	for (size_t i = 0; i < found->n_series; i++)
		thin_out(table, &columns, &curves[i], of_row, found->kept);
	if (chart->peaks.n_curves > found->n_of)
		found->n_of = chart->peaks.n_curves;
	free(curves);
	free(of_row);
	return ok ? EXIT_DONE : cli_fail_nomem();
}

/* ---- where the highest are ---- */

static void add_peak(struct report_peaks *peaks, int64_t rank, double most)
{
	size_t n = peaks->n_curves++;
	size_t i = n < REPORT_MAX_CURVES ? n : REPORT_MAX_CURVES;
	for (; i > 0 && peaks->at[i - 1].most < most; i--) {
		if (i < REPORT_MAX_CURVES)
			peaks->at[i] = peaks->at[i - 1];
	}
	if (i < REPORT_MAX_CURVES) {
		peaks->at[i].rank = rank;
		peaks->at[i].most = most;
	}
}

void report_note_peaks(
        struct report *report, const struct ht_analysis_info *info, const ht_table *table)
{
	const char *name = info->over_time != NULL ? info->over_time->peak : NULL;
	size_t peak = name != NULL ? ht_table_find_column(table, name) : SIZE_MAX;
	size_t rank = ht_table_find_column(table, "rank");
	for (size_t i = 0; i < report->n_charts && peak != SIZE_MAX; i++) {
		struct report_chart *chart = &report->charts[i];
		if (chart->info != info || !chart->is_curve)
			continue;
		for (size_t row = 0; row < ht_table_n_rows(table); row++)
			add_peak(&chart->peaks, ht_table_i64(table, row, rank),
			        number_at(table, row, peak));
	}
}

/* Their ranks as the parameter has them, "0,3,3": said twice is chosen once. */
static void list_ranks(const struct report_peaks *peaks, char *text, size_t n_bytes)
{
	size_t used = 0;
	for (size_t i = 0; i < peaks->n_curves && i < REPORT_MAX_CURVES && used < n_bytes; i++)
		used += (size_t)snprintf(text + used, n_bytes - used, "%s%lld", i > 0 ? "," : "",
		        (long long)peaks->at[i].rank);
}

static void choose_ranks(struct ht_arg *args, size_t *n_args, const char *ranks)
{
	for (size_t i = 0; i < *n_args; i++) {
		if (strcmp(args[i].name, "rank") == 0)
			args[i] = args[--*n_args];
	}
	args[(*n_args)++] = (struct ht_arg){ "rank", ranks };
}

/* Whether it is of the whole run, so that it can be asked with all else; others need answers first. */
static bool is_of_all(const struct report_chart *chart)
{
	return !compares(chart) && !chart->is_curve;
}

static void add_args(const struct report_chart *chart, struct ht_arg *args, size_t *n_args)
{
	const char *points = chart->is_curve ? chart->info->over_time->points : NULL;
	args[(*n_args)++] = (struct ht_arg){ chart->info->chosen_by, chart->view };
	if (points != NULL)
		args[(*n_args)++] = (struct ht_arg){ points, CURVE_POINTS };
}

size_t report_ask_charts(const struct report *report, const struct ht_arg *args, size_t n_args,
        struct report_chart_args *room, struct ht_query *questions)
{
	size_t n = 0;
	for (size_t i = 0; i < report->n_charts; i++) {
		const struct report_chart *chart = &report->charts[i];
		if (!is_of_all(chart))
			continue;
		struct report_chart_args *own = &room[n];
		memcpy(own->args, args, n_args * sizeof(*args));
		size_t n_own = n_args;
		add_args(chart, own->args, &n_own);
		questions[n++] = (struct ht_query){ sizeof(struct ht_query), chart->info->name,
			own->args, n_own, NULL };
	}
	return n;
}

void report_take_chart(struct report *report, size_t i, ht_table *table)
{
	const struct report_chart *chart = report->charts;
	for (; !is_of_all(chart) || i > 0; chart++)
		i -= is_of_all(chart);
	/* a chart without data is left out; why a whole analysis failed is said in its section */
	if (table != NULL)
		report->extras[report->n_extras++] =
		        (struct report_extra){ .key = chart->key, .table = table };
}

static int add_extra(struct cli *cli, struct report *report, const struct report_chart *chart)
{
	struct ht_arg args[OPTS_MAX + 3];
	size_t n_args = session_args(cli, NULL, args);
	const struct report_peaks *peaks = &chart->peaks;
	char ranks[REPORT_MAX_CURVES * 24];
	if (peaks->n_curves > 0) {
		list_ranks(peaks, ranks, sizeof(ranks));
		choose_ranks(args, &n_args, ranks);
	}
	add_args(chart, args, &n_args);
	ht_set *sets[] = { report->base_set, report->set };
	struct ht_view view = { .struct_size = sizeof(view) };
	struct report_extra found = { .key = chart->key };
	enum ht_status status =
	        ht_ask(cli->ctx, compares(chart) ? sets : sets + 1, chart->info->n_sets,
	                &(struct ht_query){
	                        sizeof(struct ht_query), chart->info->name, args, n_args, &view },
	                &found.table);
	if (status != HT_OK)
		return EXIT_DONE;
	report->extras[report->n_extras++] = found;
	struct report_extra *added = &report->extras[report->n_extras - 1];
	if (chart->is_curve)
		return choose_rows(added, chart);
	return compares(chart) ? report_cut(cli, &added->table, MAX_ROWS) : EXIT_DONE;
}

/* What a step of the baseline is made of, for the picture of both: the tables that tell it of this run. */
static void add_base(struct cli *cli, struct report *report)
{
	static const struct {
		const char *verb, *key;
	} tables[] = { { "steps", "base.steps" }, { "distributed", "base.distributed" } };
	struct ht_arg args[OPTS_MAX];
	size_t n_args = session_args(cli, NULL, args);
	for (size_t i = 0; i < COUNT(tables) && report->n_extras < REPORT_MAX_EXTRAS; i++) {
		struct report_extra found = { .key = tables[i].key };
		if (ht_ask(cli->ctx, &report->base_set, 1,
		            &(struct ht_query){
		                    sizeof(struct ht_query), tables[i].verb, args, n_args, NULL },
		            &found.table) != HT_OK)
			continue;
		report->extras[report->n_extras++] = found;
	}
}

int report_add_extras(struct cli *cli, struct report *report)
{
	int code = EXIT_DONE;
	if (report->base_set != NULL)
		add_base(cli, report);
	for (size_t i = 0; i < report->n_charts && code == EXIT_DONE; i++) {
		const struct report_chart *chart = &report->charts[i];
		if (!is_of_all(chart) && (!compares(chart) || report->base_set != NULL))
			code = add_extra(cli, report, chart);
	}
	progress_clear(&cli->progress);
	return code;
}

void report_extras_done(struct report *report)
{
	for (size_t i = 0; i < report->n_extras; i++) {
		ht_table_free(report->extras[i].table);
		free(report->extras[i].kept);
	}
}

/* What rows cost: the share that the analysis draws, else the first time, size or number that it measures. */
static const char *cost_of(const ht_table *table)
{
	size_t bar = ht_table_bar(table);
	if (bar < ht_table_n_columns(table))
		return ht_table_column(table, bar)->name;
	const char *number = NULL;
	for (size_t i = 0; i < ht_table_n_columns(table); i++) {
		const struct ht_column *column = ht_table_column(table, i);
		if (column->role != HT_MEASURE || column->type == HT_STR ||
		        column->type == HT_BOOL || column->type == HT_EVENT ||
		        column->type == HT_TIME)
			continue;
		if (column->type == HT_DURATION || column->type == HT_BYTES)
			return column->name;
		number = number != NULL ? number : column->name;
	}
	return number;
}

int report_cut(struct cli *cli, ht_table **table, uint64_t top)
{
	char sort[256];
	if (top == 0 || ht_table_n_rows(*table) <= top)
		return EXIT_DONE;
	const char *cost = cost_of(*table);
	struct ht_view view = { .struct_size = sizeof(view), .top = top };
	if (cost != NULL && (size_t)snprintf(sort, sizeof(sort), "-%s", cost) < sizeof(sort))
		view.sort = sort;
	ht_table *cut;
	if (ht_table_view(cli->ctx, *table, &view, &cut) != HT_OK)
		return cli_fail(cli);
	ht_table_free(*table);
	*table = cut;
	return EXIT_DONE;
}
