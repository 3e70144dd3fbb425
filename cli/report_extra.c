/*
 * report_extra.c - the tables behind the page's charts: means of steps, curves over time, comparisons.
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

struct extra {
	const char *key, *verb;
	struct ht_arg args[2];
	/* of curves: what tells them apart, and the value */
	const char *series[4], *value;
	const char *
	        peak; /* column of the verb's own table, a row per curve, with the most of it; NULL: none has */
	bool compares;
};

/* The columns of those. */
struct columns {
	size_t series[4], n, value, time;
};

static const struct extra extras[] = {
	{ "steps.mean", "steps", { { "view", "mean" } }, { NULL }, NULL, NULL, false },
	{ "steps.gpu", "steps", { { "view", "gpu" } }, { NULL }, NULL, NULL, false },
	{ "queue", "queue-length", { { "view", "series" } }, { "rank", "device", "stream" },
	        "queue_length", "max", false },
	{ "bandwidth", "memory-bandwidth", { { "view", "series" } }, { "rank", "device", "name" },
	        "memory_bw_gbps", "max_gbps", false },
	{ "memory", "memory-curve", { { "view", "curve" }, { "points", "4000" } },
	        { "rank", "device", "component" }, "allocated_bytes", NULL, false },
	{ "diff.summary", "diff", { { "view", "summary" } }, { NULL }, NULL, NULL, true },
	{ "diff.operators", "diff", { { "view", "operators" } }, { NULL }, NULL, NULL, true },
	{ "diff.kernels", "diff", { { "view", "kernels" } }, { NULL }, NULL, NULL, true },
	{ "diff.rows", "diff", { { "view", "rows" } }, { NULL }, NULL, NULL, true },
};

#define MAX_DIFF_ROWS 500

static size_t find_column(const ht_table *table, const char *name)
{
	for (size_t i = 0; name != NULL && i < ht_table_n_columns(table); i++) {
		if (strcmp(ht_table_column(table, i)->name, name) == 0)
			return i;
	}
	return SIZE_MAX;
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

static struct columns find_columns(const ht_table *table, const struct extra *extra)
{
	struct columns columns = { .value = find_column(table, extra->value),
		.time = find_column(table, "ts_ns") };
	for (size_t i = 0; i < COUNT(extra->series); i++) {
		size_t column = find_column(table, extra->series[i]);
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

static int choose_rows(
        struct report_extra *found, const struct extra *extra, const struct report_peaks *peaks)
{
	const ht_table *table = found->table;
	const struct columns columns = find_columns(table, extra);
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
	if (peaks->n_curves > found->n_of)
		found->n_of = peaks->n_curves;
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

void report_note_peaks(struct report *report, const char *verb, const ht_table *table)
{
	for (size_t i = 0; i < COUNT(extras); i++) {
		if (extras[i].peak == NULL || strcmp(extras[i].verb, verb) != 0)
			continue;
		size_t peak = find_column(table, extras[i].peak), rank = find_column(table, "rank");
		for (size_t row = 0; peak != SIZE_MAX && row < ht_table_n_rows(table); row++)
			add_peak(&report->peaks[i], ht_table_i64(table, row, rank),
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
static bool is_of_all(const struct extra *extra)
{
	return !extra->compares && extra->value == NULL;
}

static void add_args(const struct extra *extra, struct ht_arg *args, size_t *n_args)
{
	for (size_t i = 0; i < COUNT(extra->args) && extra->args[i].name != NULL; i++)
		args[(*n_args)++] = extra->args[i];
}

size_t report_ask_charts(const struct ht_arg *args, size_t n_args, struct report_chart_args *room,
        struct ht_asked *questions)
{
	size_t n = 0;
	for (size_t i = 0; i < COUNT(extras); i++) {
		if (!is_of_all(&extras[i]))
			continue;
		struct report_chart_args *own = &room[n];
		memcpy(own->args, args, n_args * sizeof(*args));
		size_t n_own = n_args;
		add_args(&extras[i], own->args, &n_own);
		questions[n++] = (struct ht_asked){ extras[i].verb, own->args, n_own, NULL };
	}
	return n;
}

void report_take_chart(struct report *report, size_t i, ht_table *table)
{
	const struct extra *extra = extras;
	for (; !is_of_all(extra) || i > 0; extra++)
		i -= is_of_all(extra);
	/* a chart without data is left out; why a whole analysis failed is said in its section */
	if (table != NULL)
		report->extras[report->n_extras++] =
		        (struct report_extra){ .key = extra->key, .table = table };
}

static int add_extra(struct cli *cli, struct report *report, const struct extra *extra)
{
	struct ht_arg args[OPTS_MAX + 3];
	size_t n_args = session_args(cli, NULL, args);
	const struct report_peaks *peaks = &report->peaks[extra - extras];
	char ranks[REPORT_MAX_CURVES * 24];
	if (peaks->n_curves > 0) {
		list_ranks(peaks, ranks, sizeof(ranks));
		choose_ranks(args, &n_args, ranks);
	}
	add_args(extra, args, &n_args);
	ht_set *sets[] = { report->base_set, report->set };
	struct ht_view view = { .struct_size = sizeof(view) };
	struct report_extra found = { .key = extra->key };
	enum ht_status status = ht_run(cli->ctx, extra->verb, extra->compares ? sets : sets + 1,
	        extra->compares ? 2 : 1, args, n_args, &view, &found.table);
	if (status != HT_OK)
		return EXIT_DONE;
	report->extras[report->n_extras++] = found;
	struct report_extra *added = &report->extras[report->n_extras - 1];
	if (extra->value != NULL)
		return choose_rows(added, extra, peaks);
	return extra->compares ? report_cut(cli, &added->table, MAX_DIFF_ROWS) : EXIT_DONE;
}

int report_add_extras(struct cli *cli, struct report *report)
{
	int code = EXIT_DONE;
	for (size_t i = 0; i < COUNT(extras) && code == EXIT_DONE; i++) {
		if (!is_of_all(&extras[i]) && (!extras[i].compares || report->base_set != NULL))
			code = add_extra(cli, report, &extras[i]);
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
