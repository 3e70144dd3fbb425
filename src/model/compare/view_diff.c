/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_diff.c - see view_diff.h.
 */
#include "model/compare/view_diff.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

#define COUNTS(of)                                                                                 \
	{ "control_calls", HT_I64, HT_DETAIL, of " in the baseline", NULL },                       \
	        { "test_calls", HT_I64, HT_DETAIL, of " in this run", NULL },                      \
	{                                                                                          \
		"diff_calls", HT_I64, HT_MEASURE, "this run minus the baseline", NULL              \
	}
#define TIMES(name, role, of)                                                                      \
	{ "control_" name, HT_DURATION, role, of " in the baseline", NULL },                       \
	        { "test_" name, HT_DURATION, role, of " in this run", NULL },                      \
	{                                                                                          \
		"diff_" name, HT_DURATION, role, "this run minus the baseline", NULL               \
	}
#define SHARE(of)                                                                                  \
	{                                                                                          \
		"change_share", HT_RATIO, HT_MEASURE,                                              \
		        "difference of " of " over that of the baseline, null without a baseline", \
		        NULL                                                                       \
	}
#define CHANGE                                                                                     \
	{                                                                                          \
		"change", HT_STR, HT_DETAIL, "added, removed, slower, faster or equal", NULL       \
	}

const struct ht_column ht_op_diff_columns[] = {
	{ "name", HT_STR, HT_KEY, "operator", NULL },
	{ "input_shape", HT_STR, HT_DETAIL, "shapes of its inputs, by shape", NULL },
	COUNTS("calls"),
	TIMES("device_self_ns", HT_MEASURE, "GPU activity that it launched itself"),
	TIMES("device_total_ns", HT_DETAIL, "GPU activity launched from inside it"),
	TIMES("host_self_ns", HT_MEASURE, "its time without operators and calls inside"),
	TIMES("host_total_ns", HT_DETAIL, "its time"),
	SHARE("device_self_ns, of host_self_ns without GPU activity,"),
	CHANGE,
};

const struct ht_column ht_kernel_diff_columns[] = {
	{ "name", HT_STR, HT_KEY, "kernel", NULL },
	COUNTS("kernels"),
	TIMES("total_ns", HT_MEASURE, "sum of durations"),
	SHARE("total_ns"),
	CHANGE,
};

const struct ht_column ht_module_diff_columns[] = {
	{ "path", HT_STR, HT_KEY, "the modules around it and itself", NULL },
	COUNTS("calls"),
	TIMES("device_self_ns", HT_MEASURE, "GPU activity of its own forward pass"),
	TIMES("device_total_ns", HT_DETAIL, "GPU activity of its forward pass"),
	TIMES("host_self_ns", HT_MEASURE, "its time without what is inside"),
	TIMES("host_total_ns", HT_DETAIL, "its time"),
	TIMES("backward_device_self_ns", HT_MEASURE, "GPU activity of its own backward pass"),
	SHARE("device_self_ns, of host_self_ns without GPU activity,"),
	CHANGE,
};

_Static_assert(HT_COUNT(ht_op_diff_columns) == HT_N_OP_DIFF_COLUMNS, "see view_diff.h");
_Static_assert(HT_COUNT(ht_kernel_diff_columns) == HT_N_KERNEL_DIFF_COLUMNS, "see view_diff.h");
_Static_assert(HT_COUNT(ht_module_diff_columns) == HT_N_MODULE_DIFF_COLUMNS, "see view_diff.h");

/* What a view compares: its keys, its values in the order of the columns, and what it is sorted by. */
struct kind {
	const uint8_t *rules;
	size_t n_keys, n_values;
	uint8_t keys[2], n_shown_keys;
	uint8_t values[6], n_shown;
	uint8_t main, fallback; /* values; the fallback when main is 0 everywhere */
};

static const struct kind kinds[] = {
	[HT_DIFF_OPERATORS] = { ht_op_rules, HT_N_OP_KEYS, HT_N_OP_VALUES,
	        { HT_OP_NAME, HT_OP_SHAPE }, 2,
	        { HT_OP_CALLS, HT_OP_DEVICE_SELF, HT_OP_DEVICE_TOTAL, HT_OP_HOST_SELF,
	                HT_OP_HOST_TOTAL },
	        5, HT_OP_DEVICE_SELF, HT_OP_HOST_SELF },
	[HT_DIFF_KERNELS] = { ht_kernel_rules, HT_N_KG_KEYS, HT_N_KG_VALUES, { HT_KG_COMMON }, 1,
	        { HT_KG_CALLS, HT_KG_TOTAL }, 2, HT_KG_TOTAL, HT_KG_TOTAL },
	[HT_DIFF_MODULES] = { ht_module_rules, HT_N_MODULE_KEYS, HT_N_MODULE_VALUES,
	        { HT_MODULE_PATH }, 1,
	        { HT_MODULE_CALLS, HT_MODULE_DEVICE_SELF, HT_MODULE_DEVICE_TOTAL,
	                HT_MODULE_HOST_SELF, HT_MODULE_HOST_TOTAL, HT_MODULE_BACKWARD_DEVICE_SELF },
	        6, HT_MODULE_DEVICE_SELF, HT_MODULE_HOST_SELF },
};

enum ht_status ht_view_diff_put(
        struct ht_run *run, enum ht_view_diff view, bool by_shape, ht_table *table)
{
	switch (view) {
	case HT_DIFF_OPERATORS: return ht_op_groups_put(run, by_shape, false, table);
	case HT_DIFF_KERNELS: return ht_kernel_groups_put(run, 1u << HT_KG_COMMON, table);
	case HT_DIFF_MODULES: return ht_module_groups_put(run, table, NULL);
	}
	return HT_OK;
}

/* ---- order ---- */

struct row {
	size_t group, place; /* place: by the keys */
	uint64_t change, calls_change;
};

static uint64_t distance(const struct ht_pooled *p, size_t group, size_t value)
{
	int64_t a = ht_pooled_i64(p, group, 0, value), b = ht_pooled_i64(p, group, 1, value);
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->change != b->change)
		return a->change > b->change ? -1 : 1;
	if (a->calls_change != b->calls_change)
		return a->calls_change > b->calls_change ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Largest change first. */
static struct row *sort_rows(struct ht_run *run, const struct ht_pooled *p, size_t main)
{
	size_t n = ht_pooled_n(p);
	const size_t *order = ht_pooled_order(p);
	struct row *rows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *rows);
	if (!order || !rows)
		return NULL;
	/* the number of calls is the first value of every view */
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct row){ order[i], i, distance(p, order[i], main),
			distance(p, order[i], 0) };
	qsort(rows, n, sizeof *rows, compare_rows);
	return rows;
}

/* ---- rows ---- */

static const char *change(const struct ht_pooled *p, size_t group, size_t main)
{
	int64_t control = ht_pooled_i64(p, group, 0, main), test = ht_pooled_i64(p, group, 1, main);
	if (!ht_pooled_has(p, group, 0))
		return "added";
	if (!ht_pooled_has(p, group, 1))
		return "removed";
	return test > control ? "slower" : test < control ? "faster" : "equal";
}

static void put_row(const struct kind *kind, const struct ht_pooled *p, size_t group, size_t main,
        ht_table *table)
{
	/* keys, then control, test and difference of each value, then what changed */
	const size_t at = kind->n_shown_keys;
	ht_table_row(table);
	for (size_t k = 0; k < kind->n_shown_keys; k++)
		ht_table_put_str(table, k, ht_pooled_key(p, group, kind->keys[k]));
	for (size_t k = 0; k < kind->n_shown; k++) {
		int64_t control = ht_pooled_i64(p, group, 0, kind->values[k]);
		int64_t test = ht_pooled_i64(p, group, 1, kind->values[k]);
		ht_table_put_i64(table, at + 3 * k, control);
		ht_table_put_i64(table, at + 3 * k + 1, test);
		ht_table_put_i64(table, at + 3 * k + 2, ht_sub_sat(test, control));
	}
	int64_t control = ht_pooled_i64(p, group, 0, main), test = ht_pooled_i64(p, group, 1, main);
	ht_table_put_f64(table, at + 3 * kind->n_shown,
	        control > 0 ? (double)ht_sub_sat(test, control) / (double)control : NAN);
	ht_table_put_str(table, at + 3 * kind->n_shown + 1, change(p, group, main));
}

static enum ht_status put_rows(struct ht_run *run, const struct kind *kind, struct ht_pooled *p,
        const struct ht_parts *parts, size_t k, ht_table *table)
{
	size_t main = kind->fallback;
	HT_TRY(ht_pooled_parts(p, parts, k));
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		for (size_t side = 0; side < 2; side++)
			if (ht_pooled_i64(p, i, side, kind->main))
				main = kind->main;
	struct row *rows = sort_rows(run, p, main);
	if (!rows)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < ht_pooled_n(p); i++)
		put_row(kind, p, rows[i].group, main, table);
	if (!ht_pooled_n(p))
		HT_TRY(ht_table_add_note(table, "neither side has any"));
	return ht_table_set_method(table,
	        "sums over the ranks and steps compared, this run minus the baseline, largest change first");
}

enum ht_status ht_view_diff_rows(struct ht_run *run, enum ht_view_diff view,
        const struct ht_parts *parts, size_t k, ht_table *table)
{
	const struct kind *kind = &kinds[view];
	struct ht_pooled pooled;
	ht_pooled_init(&pooled, run, kind->n_keys, 2, kind->rules, kind->n_values);
	enum ht_status status = put_rows(run, kind, &pooled, parts, k, table);
	ht_pooled_done(&pooled);
	return status;
}
