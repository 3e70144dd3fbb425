/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - what counter events say over time: bandwidth, clocks, memory, queues, whatever the recorder sampled.
 *
 * A series is one number of the args of counter events (phase C) with the same name in one process; a sample holds until the
 * next one of its series. Views: "summary", one row per series: how many samples, the smallest and largest, and
 *     time_mean = sum(value * time until the next sample) / (last sample - first sample)
 * "series", one row per sample. With steps or an annotation chosen, the samples in their time.
 *
 * unit is what stands in brackets at the end of the series' name or the counter's, as exporters write it; null: none does.
 * Reads args that are numbers. O(n log n). Order: rank, process, counter, series, time, row.
 *
 * Example: 2 at 0 us, 6 at 1 us, 4 at 4 us: least 2, most 6, time_mean (2*1 + 6*3) / 4 = 5.
 */
#include "analysis/analysis.h"
#include "base/sort.h"
#include "model/rows/chosen_time.h"
#include "store/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status sample(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define KEY_COLUMNS(COLUMN, OF)                                                                    \
	COLUMN(OF##_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(OF##_PROCESS, "process", HT_STR, HT_DETAIL,                                         \
	        "process of the counter, as in the file", NULL)                                    \
	COLUMN(OF##_COUNTER, "counter", HT_STR, HT_KEY, "name of the counter events", NULL)        \
	COLUMN(OF##_SERIES, "series", HT_STR, HT_KEY, "which number of their args", NULL)          \
	COLUMN(OF##_UNIT, "value_unit", HT_STR, HT_MEASURE,                                        \
	        "what their names have in brackets at the end; null: nothing", NULL)
enum { KEY_COLUMNS(HT_COLUMN_NUMBER, KEY) };

#define SUMMARY_COLUMNS(COLUMN)                                                                    \
	KEY_COLUMNS(COLUMN, SUMMARY)                                                               \
	COLUMN(SUMMARY_COUNT, "count", HT_I64, HT_MEASURE, "samples", NULL)                        \
	COLUMN(SUMMARY_MIN, "min", HT_F64, HT_MEASURE, "smallest sample, in value_unit", NULL)     \
	COLUMN(SUMMARY_TIME_MEAN, "time_mean", HT_F64, HT_MEASURE,                                 \
	        "mean weighted by time, in value_unit; null: one moment only", NULL)               \
	COLUMN(SUMMARY_MAX, "max", HT_F64, HT_MEASURE, "largest sample, in value_unit", NULL)      \
	COLUMN(SUMMARY_MAX_TS_NS, "max_ts_ns", HT_TIME, HT_DETAIL, "time of the first of those",   \
	        NULL)
HT_COLUMNS(summary, SUMMARY_COLUMNS);

#define POINT_COLUMNS(COLUMN)                                                                      \
	KEY_COLUMNS(COLUMN, POINT)                                                                 \
	COLUMN(POINT_TS_NS, "ts_ns", HT_TIME, HT_KEY,                                              \
	        "time of the sample, from the first event of all ranks", NULL)                     \
	COLUMN(POINT_INDEX, "index", HT_I64, HT_DETAIL, "row of the counter event", NULL)          \
	COLUMN(POINT_VALUE, "value", HT_F64, HT_MEASURE, "value from this time on, in value_unit", \
	        NULL)
HT_COLUMNS(points, POINT_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "summary", summary, HT_COUNT(summary) },
	{ "series", points, HT_COUNT(points) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "summary", "statistics per series, or every sample", "summary|series" },
};

static const struct ht_over_time over_time = { .view = "series",
	.columns = "ts_ns,process,counter,series,value",
	.n_keys = 3,
	.peak = "max" };

const struct ht_analysis ht_analysis_counters = {
	.info = { .name = "counters",
	        .group = "engine",
	        .page_view = "counters",
	        .title = "Counters",
	        .question =
	                "What do the counters of the traces say over time: bandwidth, clocks, memory?",
	        .method =
	                "One series per number in the args of counter events of one name and process; a "
	                "sample holds until the next. time_mean is weighted by time.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .over_time = &over_time,
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.per_rank = sample,
	.of = "samples of counter events, each until the next",
	.finish = finish,
};

struct point {
	const char *process, *counter, *series;
	int64_t ts_ns;
	uint32_t row;
	double value;
};

struct samples {
	struct ht_run *run;
	struct ht_chosen_time chosen;
	struct point *list;
	size_t n;
	uint32_t track; /* of the row in hand, and its process */
	const char *process;
};

static bool is_same_series(const struct point *a, const struct point *b)
{
	return !strcmp(a->process, b->process) && !strcmp(a->counter, b->counter) &&
	       !strcmp(a->series, b->series);
}

static int by_series_and_time(const void *left, const void *right)
{
	const struct point *a = left, *b = right;
	int by = strcmp(a->process, b->process);
	by = by ? by : strcmp(a->counter, b->counter);
	by = by ? by : strcmp(a->series, b->series);
	by = by ? by : ht_order_i64(a->ts_ns, b->ts_ns);
	return by ? by : ht_order_i64(a->row, b->row);
}

/* By its name where it has one; NULL when out of memory. */
static const char *name_process(struct ht_run *run, const struct ht_track *track)
{
	const struct ht_trace *t = run->trace;
	if (track->process_name != HT_NO_STR)
		return ht_str(t, track->process_name);
	if (track->pid_type == HT_ID_STR)
		return ht_str(t, (uint32_t)track->pid);
	return track->pid_type == HT_ID_INT
	               ? ht_arena_printf(run->scratch, "%lld", (long long)track->pid)
	               : "";
}

static const char *process_of(struct samples *s, uint32_t row)
{
	const struct ht_trace *t = s->run->trace;
	if (!s->process || s->track != t->track[row])
		s->process = name_process(s->run, &t->tracks[t->track[row]]);
	s->track = t->track[row];
	return s->process;
}

/* "MB/s" of "Read(MB/s)"; NULL: the text ends without brackets. */
static const char *bracketed(struct ht_arena *arena, const char *text)
{
	size_t n = strlen(text);
	const char *open = n && text[n - 1] == ')' ? strrchr(text, '(') : NULL;
	size_t n_unit = open ? (size_t)(text + n - 1 - open) - 1 : 0;
	return n_unit ? ht_arena_printf(arena, "%.*s", (int)n_unit, open + 1) : NULL;
}

/* ---- collecting ---- */

static double value_at(const struct ht_trace *t, const struct ht_arg_column *column, uint64_t i)
{
	return column->type == HT_ARG_F64 ? ht_arg_f64_at(t, column, i)
	                                  : (double)ht_arg_i64_at(t, column, i);
}

static bool is_number(const struct ht_arg_column *column)
{
	return !column->top_level && (column->type == HT_ARG_I64 || column->type == HT_ARG_F64);
}

static enum ht_status add_column(struct samples *s, const struct ht_arg_column *column)
{
	const struct ht_trace *t = s->run->trace;
	for (uint64_t i = 0; i < column->n; i++) {
		uint32_t row = ht_arg_row(t, column, i);
		if (t->kind[row] != HT_KIND_COUNTER || !ht_chosen_has(&s->chosen, t->ts_ns[row]))
			continue;
		double value = value_at(t, column, i);
		const char *process = process_of(s, row);
		if (!process)
			return ht_fail_nomem(s->run->ctx);
		if (isfinite(value))
			s->list[s->n++] = (struct point){ process, ht_str(t, t->name[row]),
				ht_str(t, column->key), t->ts_ns[row], row, value };
	}
	return HT_OK;
}

static enum ht_status collect(struct ht_run *run, struct samples *s)
{
	const struct ht_trace *t = run->trace;
	uint64_t n = 0;
	*s = (struct samples){ .run = run };
	if (!ht_n_of_kind(t, HT_KIND_COUNTER))
		return HT_OK;
	HT_TRY(ht_chosen_time_make(run, &s->chosen));
	for (size_t k = 0; k < t->n_arg_columns; k++) {
		const struct ht_arg_column *column = &t->arg_columns[k];
		for (uint64_t i = 0; is_number(column) && i < column->n; i++)
			n += t->kind[ht_arg_row(t, column, i)] == HT_KIND_COUNTER;
	}
	s->list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *s->list);
	if (!s->list)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_arg_columns; k++)
		if (is_number(&t->arg_columns[k]))
			HT_TRY(add_column(s, &t->arg_columns[k]));
	ht_sort_items(run->ctx->mem, s->list, s->n, sizeof *s->list, by_series_and_time);
	return HT_OK;
}

/* ---- rows ---- */

static const char *unit_of(struct ht_run *run, const struct point *of)
{
	const char *unit = bracketed(run->scratch, of->series);
	return unit ? unit : bracketed(run->scratch, of->counter);
}

static void put_key(struct ht_run *run, ht_table *table, const struct point *of, const char *unit)
{
	ht_table_row(table);
	ht_table_put_i64(table, KEY_RANK, run->rank);
	ht_table_put_str(table, KEY_PROCESS, of->process);
	ht_table_put_str(table, KEY_COUNTER, of->counter);
	ht_table_put_str(table, KEY_SERIES, of->series);
	ht_table_put_str(table, KEY_UNIT, unit);
}

static void put_summary(struct ht_run *run, ht_table *table, const struct point *list, size_t n)
{
	const struct point *least = list, *most = list;
	double area = 0;
	for (size_t i = 0; i < n; i++) {
		least = list[i].value < least->value ? &list[i] : least;
		most = list[i].value > most->value ? &list[i] : most;
		if (i + 1 < n)
			area += list[i].value * (double)(list[i + 1].ts_ns - list[i].ts_ns);
	}
	double span = (double)(list[n - 1].ts_ns - list[0].ts_ns);
	put_key(run, table, list, unit_of(run, list));
	ht_table_put_i64(table, SUMMARY_COUNT, (int64_t)n);
	ht_table_put_f64(table, SUMMARY_MIN, least->value);
	ht_table_put_f64(table, SUMMARY_TIME_MEAN, span > 0 ? area / span : NAN);
	ht_table_put_f64(table, SUMMARY_MAX, most->value);
	ht_table_put_i64(table, SUMMARY_MAX_TS_NS, most->ts_ns);
}

static enum ht_status sample(struct ht_run *run, struct ht_part *part)
{
	ht_table *table = part->facts[0];
	bool all = ht_run_is(run, "view", "series");
	struct samples s;
	HT_TRY(collect(run, &s));
	for (size_t first = 0, end; first < s.n; first = end) {
		for (end = first + 1; end < s.n && is_same_series(&s.list[first], &s.list[end]);)
			end++;
		const char *unit = all ? unit_of(run, &s.list[first]) : NULL;
		if (!all)
			put_summary(run, table, &s.list[first], end - first);
		for (size_t i = first; all && i < end; i++) {
			put_key(run, table, &s.list[i], unit);
			ht_table_put_i64(table, POINT_TS_NS, s.list[i].ts_ns);
			ht_table_put_i64(table, POINT_INDEX, s.list[i].row);
			ht_table_put_f64(table, POINT_VALUE, s.list[i].value);
		}
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(run, parts, table,
	        run->step || run->annotation ? "no samples of counters in the selection"
	                                     : "no counter events with numbers in the traces");
}
