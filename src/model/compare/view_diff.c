/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_diff.c - see view_diff.h.
 */
#include "model/compare/view_diff.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>

const struct ht_column ht_op_diff_columns[HT_N_OP_DIFF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_OP_DIFF_COLUMNS);
const struct ht_column ht_kernel_diff_columns[HT_N_KERNEL_DIFF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_KERNEL_DIFF_COLUMNS);
const struct ht_column ht_module_diff_columns[HT_N_MODULE_DIFF_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_MODULE_DIFF_COLUMNS);

/* A key or value of a group, and its column: of a value the first of three. */
struct shown {
	uint8_t what, column;
};

/* What a view compares, in the order of the columns, and what it is sorted by. */
struct kind {
	const uint8_t *rules;
	size_t n_keys, n_values;
	struct shown keys[2], values[6];
	uint8_t n_shown_keys, n_shown;
	uint8_t calls, main, fallback; /* values; the fallback when main is 0 everywhere */
	uint8_t share, change;         /* columns */
};

static const struct kind kinds[] = {
	[HT_DIFF_OPERATORS] = { .rules = ht_op_rules,
	        .n_keys = HT_N_OP_KEYS,
	        .n_values = HT_N_OP_VALUES,
	        .keys = { { HT_OP_NAME, HT_OP_DIFF_NAME }, { HT_OP_SHAPE, HT_OP_DIFF_SHAPE } },
	        .n_shown_keys = 2,
	        .values = { { HT_OP_CALLS, HT_OP_DIFF_CALLS_CONTROL },
	                { HT_OP_DEVICE_SELF, HT_OP_DIFF_DEVICE_SELF_CONTROL },
	                { HT_OP_DEVICE_TOTAL, HT_OP_DIFF_DEVICE_TOTAL_CONTROL },
	                { HT_OP_HOST_SELF, HT_OP_DIFF_HOST_SELF_CONTROL },
	                { HT_OP_HOST_TOTAL, HT_OP_DIFF_HOST_TOTAL_CONTROL } },
	        .n_shown = 5,
	        .calls = HT_OP_CALLS,
	        .main = HT_OP_DEVICE_SELF,
	        .fallback = HT_OP_HOST_SELF,
	        .share = HT_OP_DIFF_SHARE,
	        .change = HT_OP_DIFF_CHANGE },
	[HT_DIFF_KERNELS] = { .rules = ht_kernel_rules,
	        .n_keys = HT_N_KG_KEYS,
	        .n_values = HT_N_KG_VALUES,
	        .keys = { { HT_KG_COMMON, HT_KERNEL_DIFF_NAME } },
	        .n_shown_keys = 1,
	        .values = { { HT_KG_CALLS, HT_KERNEL_DIFF_CALLS_CONTROL },
	                { HT_KG_TOTAL, HT_KERNEL_DIFF_TOTAL_CONTROL } },
	        .n_shown = 2,
	        .calls = HT_KG_CALLS,
	        .main = HT_KG_TOTAL,
	        .fallback = HT_KG_TOTAL,
	        .share = HT_KERNEL_DIFF_SHARE,
	        .change = HT_KERNEL_DIFF_CHANGE },
	[HT_DIFF_MODULES] = { .rules = ht_module_rules,
	        .n_keys = HT_N_MODULE_KEYS,
	        .n_values = HT_N_MODULE_VALUES,
	        .keys = { { HT_MODULE_PATH, HT_MODULE_DIFF_PATH } },
	        .n_shown_keys = 1,
	        .values = { { HT_MODULE_CALLS, HT_MODULE_DIFF_CALLS_CONTROL },
	                { HT_MODULE_DEVICE_SELF, HT_MODULE_DIFF_DEVICE_SELF_CONTROL },
	                { HT_MODULE_DEVICE_TOTAL, HT_MODULE_DIFF_DEVICE_TOTAL_CONTROL },
	                { HT_MODULE_HOST_SELF, HT_MODULE_DIFF_HOST_SELF_CONTROL },
	                { HT_MODULE_HOST_TOTAL, HT_MODULE_DIFF_HOST_TOTAL_CONTROL },
	                { HT_MODULE_BACKWARD_DEVICE_SELF,
	                        HT_MODULE_DIFF_BACKWARD_DEVICE_SELF_CONTROL } },
	        .n_shown = 6,
	        .calls = HT_MODULE_CALLS,
	        .main = HT_MODULE_DEVICE_SELF,
	        .fallback = HT_MODULE_HOST_SELF,
	        .share = HT_MODULE_DIFF_SHARE,
	        .change = HT_MODULE_DIFF_CHANGE },
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
static struct row *sort_rows(
        struct ht_run *run, const struct ht_pooled *p, size_t main, size_t calls)
{
	size_t n = ht_pooled_n(p);
	const size_t *order = ht_pooled_order(p);
	struct row *rows = ht_arena_alloc(run->scratch, (n + 1) * sizeof *rows);
	if (!order || !rows)
		return NULL;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct row){ order[i], i, distance(p, order[i], main),
			distance(p, order[i], calls) };
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
	ht_table_row(table);
	for (size_t k = 0; k < kind->n_shown_keys; k++)
		ht_table_put_str(
		        table, kind->keys[k].column, ht_pooled_key(p, group, kind->keys[k].what));
	for (size_t k = 0; k < kind->n_shown; k++) {
		const struct shown *value = &kind->values[k];
		int64_t control = ht_pooled_i64(p, group, 0, value->what);
		int64_t test = ht_pooled_i64(p, group, 1, value->what);
		ht_table_put_i64(table, value->column + HT_SIDE_CONTROL, control);
		ht_table_put_i64(table, value->column + HT_SIDE_TEST, test);
		ht_table_put_i64(table, value->column + HT_SIDE_DIFF, ht_sub_sat(test, control));
	}
	int64_t control = ht_pooled_i64(p, group, 0, main), test = ht_pooled_i64(p, group, 1, main);
	ht_table_put_f64(table, kind->share,
	        control > 0 ? (double)ht_sub_sat(test, control) / (double)control : NAN);
	ht_table_put_str(table, kind->change, change(p, group, main));
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
	struct row *rows = sort_rows(run, p, main, kind->calls);
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
