/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measures.c - see history.h: what is kept of a run, read from the tables of analyses.
 *
 * A source names an analysis, the column of the value and what its rows are about. Rows of ranks are brought together for each step (the
 * slowest rank, or the mean), and steps are the distribution; rows without a step are one value. Times are per step and rank. The first step,
 * of which it is not known when it began, is not in the distribution when there is another; what is over all steps is divided by all of them.
 */
#include "history/history.h"

#include "base/sort.h"
#include "model/numbers/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct source {
	const char *analysis;
	struct ht_arg arg; /* name NULL: none */
	const char *column;
	const char
	        *step; /* column of the step, whose rows without one are passed over; NULL: none */
	const char *key, *second_key; /* columns that the path ends with; NULL: none */
	const char *metric, *path, *unit;
	const char *over;      /* column with what the value is to be divided by; NULL: none */
	bool is_slowest;       /* of the ranks; else their mean */
	bool is_per_step;      /* is over all steps: to be divided by their number */
	bool higher_is_better; /* else lower */
};

#define STEP(column_, metric_, path_)                                                              \
	{                                                                                          \
		.analysis = "steps", .column = column_, .step = "step", .metric = metric_,         \
		.path = path_, .unit = "ns"                                                        \
	}
#define GPU(column_, path_)                                                                        \
	{                                                                                          \
		.analysis = "temporal-breakdown", .column = column_, .metric = "time",             \
		.path = path_, .unit = "ns", .is_per_step = true                                   \
	}
#define COLLECTIVES(column_, metric_)                                                              \
	{                                                                                          \
		.analysis = "collectives", .column = column_, .key = "kind",                       \
		.second_key = "group", .metric = metric_, .path = "collectives", .unit = "ns",     \
		.over = "ranks", .is_per_step = true                                               \
	}

/* The first one tells which steps there are. */
static const struct source sources[] = {
	{ .analysis = "steps",
	        .column = "step_time_ns",
	        .step = "step",
	        .metric = "step_time",
	        .path = "step",
	        .unit = "ns",
	        .is_slowest = true },
	STEP("kernel_ns", "time", "step/kernel"),
	STEP("exposed_ns", "time", "step/exposed communication"),
	STEP("memcpy_ns", "time", "step/memcpy"),
	STEP("memset_ns", "time", "step/memset"),
	STEP("runtime_ns", "time", "step/runtime"),
	STEP("dataloader_ns", "time", "step/dataloader"),
	STEP("cpu_exec_ns", "time", "step/cpu"),
	STEP("other_ns", "time", "step/other"),
	GPU("compute_ns", "gpu/compute"),
	GPU("idle_ns", "gpu/idle"),
	GPU("exposed_wait_ns", "gpu/exposed wait"),
	GPU("exposed_transfer_ns", "gpu/exposed transfer"),
	{ .analysis = "kernel-breakdown",
	        .arg = { "by", "all" },
	        .column = "rank_mean_ns",
	        .key = "kernel_type",
	        .second_key = "name",
	        .metric = "time",
	        .path = "gpu/kernels",
	        .unit = "ns",
	        .is_per_step = true },
	COLLECTIVES("transfer_ns", "transfer"),
	COLLECTIVES("wait_ns", "wait"),
	{ .analysis = "memory-curve",
	        .arg = { "view", "peaks" },
	        .column = "allocated_bytes",
	        .key = "device",
	        .metric = "peak",
	        .path = "memory",
	        .unit = "bytes",
	        .is_slowest = true },
	{ .analysis = "efficiency",
	        .arg = { "view", "totals" },
	        .column = "hfu",
	        .step = "step",
	        .metric = "hfu",
	        .path = "efficiency",
	        .unit = "ratio",
	        .higher_is_better = true },
};

struct collecting {
	ht_ctx *ctx;
	ht_set *set;
	struct ht_arena *arena;
	struct ht_vec *measures;
	double n_steps;    /* with the first */
	struct ht_vec out; /* int64_t: first steps, which stay out */
};

/* A value of a rank. */
struct value {
	int64_t step;
	const char *path;
	double value;
};

static int compare_values(const void *left, const void *right)
{
	const struct value *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : (a->step > b->step) - (a->step < b->step);
}

static double cell(const ht_table *table, size_t row, size_t column)
{
	enum ht_type type = ht_table_column(table, column)->type;
	if (ht_table_is_null(table, row, column))
		return NAN;
	return type == HT_F64 || type == HT_RATIO || type == HT_DURATION_F64
	               ? ht_table_f64(table, row, column)
	               : (double)ht_table_i64(table, row, column);
}

static const char *path_of(
        const struct collecting *c, const struct source *s, const ht_table *table, size_t row)
{
	const char *keys[] = { s->key, s->second_key }, *path = s->path;
	for (size_t i = 0; i < HT_COUNT(keys) && keys[i] && path; i++)
		path = ht_arena_printf(c->arena, "%s/%s", path,
		        ht_table_str(table, row, ht_table_find_column(table, keys[i])));
	return path;
}

static double quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t low = (size_t)at;
	return low + 1 < n ? sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low])
	                   : sorted[n - 1];
}

static enum ht_status put(
        struct collecting *c, const struct source *s, const char *path, double *samples, size_t n)
{
	struct ht_sample all = ht_sample_of(samples, n);
	ht_values_sort(samples, n);
	struct ht_measure m = { .metric = s->metric,
		.path = path,
		.unit = s->unit,
		.higher_is_better = s->higher_is_better,
		.value = quantile(samples, n, 0.5),
		.n = (double)n,
		.mean = all.mean,
		.std = ht_sample_std(&all),
		.min = samples[0],
		.q1 = quantile(samples, n, 0.25),
		.median = quantile(samples, n, 0.5),
		.q3 = quantile(samples, n, 0.75),
		.max = samples[n - 1] };
	return HT_VEC_PUSH(c->ctx->mem, c->measures, struct ht_measure, m) ? HT_OK
	                                                                   : ht_fail_nomem(c->ctx);
}

/* Ranks together for each step, then steps as the distribution, for each path. */
static enum ht_status put_values(
        struct collecting *c, const struct source *s, struct value *values, size_t n)
{
	double *samples = ht_arena_alloc(c->arena, (n + 1) * sizeof *samples);
	if (!samples)
		return ht_fail_nomem(c->ctx);
	qsort(values, n, sizeof *values, compare_values);
	for (size_t i = 0, n_samples = 0; i < n;) {
		double sum = 0, most = -INFINITY;
		size_t end = i;
		for (; end < n && !compare_values(&values[i], &values[end]); end++) {
			sum += values[end].value;
			most = fmax(most, values[end].value);
		}
		samples[n_samples++] = s->is_slowest ? most : sum / (double)(end - i);
		bool last = end == n || strcmp(values[i].path, values[end].path) != 0;
		if (last)
			HT_TRY(put(c, s, values[i].path, samples, n_samples));
		n_samples = last ? 0 : n_samples;
		i = end;
	}
	return HT_OK;
}

static bool is_out(const struct collecting *c, int64_t step)
{
	const int64_t *out = c->out.data;
	for (size_t i = 0; i < c->out.n; i++)
		if (out[i] == step)
			return true;
	return false;
}

/* How many steps there are, and which are the first of a rank: ranks begin with the same one, or few of them do. */
static enum ht_status find_steps(struct collecting *c, const ht_table *steps)
{
	size_t step = ht_table_find_column(steps, "step"),
	       part = ht_table_find_column(steps, "part");
	size_t n = 0;
	int64_t *numbers = ht_arena_alloc(c->arena, (ht_table_n_rows(steps) + 1) * sizeof *numbers);
	if (!numbers)
		return ht_fail_nomem(c->ctx);
	for (size_t row = 0; row < ht_table_n_rows(steps); row++) {
		if (ht_table_is_null(steps, row, step))
			continue;
		numbers[n++] = ht_table_i64(steps, row, step);
		if (ht_table_is_null(steps, row, part) ||
		        strcmp(ht_table_str(steps, row, part), "first") != 0 ||
		        is_out(c, numbers[n - 1]))
			continue;
		if (!HT_VEC_PUSH(c->ctx->mem, &c->out, int64_t, numbers[n - 1]))
			return ht_fail_nomem(c->ctx);
	}
	qsort(numbers, n, sizeof *numbers, ht_compare_i64);
	size_t n_steps = 0;
	for (size_t i = 0; i < n; i++)
		n_steps += !i || numbers[i] != numbers[i - 1];
	c->n_steps = n_steps ? (double)n_steps : 1;
	if (c->out.n >= n_steps)
		c->out.n = 0;
	return HT_OK;
}

static enum ht_status read_rows(struct collecting *c, const struct source *s, const ht_table *table)
{
	size_t column = ht_table_find_column(table, s->column), n = 0;
	size_t step = s->step ? ht_table_find_column(table, s->step) : SIZE_MAX;
	struct value *values =
	        ht_arena_alloc(c->arena, (ht_table_n_rows(table) + 1) * sizeof *values);
	if (!values)
		return ht_fail_nomem(c->ctx);
	if (column == SIZE_MAX)
		return ht_fail(c->ctx, HT_INTERNAL, NULL, -1, NULL, "%s has no column %s",
		        s->analysis, s->column);
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		double value = cell(table, row, column);
		bool has_step = step != SIZE_MAX && !ht_table_is_null(table, row, step);
		const char *path = path_of(c, s, table, row);
		if (!path)
			return ht_fail_nomem(c->ctx);
		if (isnan(value) || (s->step && !has_step) ||
		        (has_step && is_out(c, ht_table_i64(table, row, step))))
			continue;
		if (s->over)
			value /= cell(table, row, ht_table_find_column(table, s->over));
		values[n++] = (struct value){ has_step ? ht_table_i64(table, row, step) : 0, path,
			s->is_per_step ? value / c->n_steps : value };
	}
	return put_values(c, s, values, n);
}

/* What parts add up to, so that a change of one can be seen in all of them together. */
static enum ht_status put_total(struct collecting *c, const struct source *s, size_t first)
{
	const struct ht_measure *measures = c->measures->data;
	double sum = 0;
	if (!s->key || first == c->measures->n)
		return HT_OK;
	for (size_t i = first; i < c->measures->n; i++)
		sum += measures[i].value;
	return put(c, s, s->path, &sum, 1);
}

static enum ht_status take(struct collecting *c, const struct source *s)
{
	ht_table *table;
	HT_TRY(ht_ask(c->ctx, &c->set, 1,
	        &(struct ht_query){
	                sizeof(struct ht_query), s->analysis, &s->arg, s->arg.name != NULL, NULL },
	        &table));
	size_t first = c->measures->n;
	enum ht_status status = s == sources ? find_steps(c, table) : HT_OK;
	if (status == HT_OK)
		status = read_rows(c, s, table);
	ht_table_free(table);
	return status == HT_OK ? put_total(c, s, first) : status;
}

enum ht_status ht_measures_collect(
        ht_ctx *ctx, ht_set *set, struct ht_arena *arena, struct ht_vec *ret_measures)
{
	struct collecting c = { ctx, set, arena, ret_measures, 1, { 0 } };
	enum ht_status status = HT_OK;
	for (size_t i = 0; i < HT_COUNT(sources) && status == HT_OK; i++)
		status = take(&c, &sources[i]);
	ht_vec_free(ctx->mem, &c.out, sizeof(int64_t));
	if (status == HT_OK && !ret_measures->n)
		return ht_fail(ctx, HT_MISSING, NULL, -1, "record steps or GPU activity",
		        "the run has nothing to keep: neither steps nor GPU activity");
	return status;
}
