/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_diff.h - operators, kernels or modules of two runs side by side, those that changed most first.
 *
 * Matched are operators by name (and input shape), kernels by name, modules by path; what only one side has counts 0 on the
 * other. Times and counts are sums over the ranks and steps that are compared.
 */
#ifndef HT_MODEL_COMPARE_VIEW_DIFF_H
#define HT_MODEL_COMPARE_VIEW_DIFF_H

#include "model/groups/kernel_groups.h"
#include "model/groups/module_groups.h"
#include "model/groups/op_groups.h"

/* A value of the two sides, and what it differs by. */
#define HT_DIFF_SIDES(COLUMN, OF, name, type, role, diff_role, of)                                 \
	COLUMN(OF##_CONTROL, "control_" name, type, role, of " in the baseline", NULL)             \
	COLUMN(OF##_TEST, "test_" name, type, role, of " in this run", NULL)                       \
	COLUMN(OF##_DIFF, "diff_" name, type, diff_role, "this run minus the baseline", NULL)
enum { HT_DIFF_SIDES(HT_COLUMN_NUMBER, HT_SIDE, , , , , ) };
#define HT_DIFF_CALLS(COLUMN, OF, of)                                                              \
	HT_DIFF_SIDES(COLUMN, OF, "calls", HT_I64, HT_DETAIL, HT_MEASURE, of)
#define HT_DIFF_TIMES(COLUMN, OF, name, role, of)                                                  \
	HT_DIFF_SIDES(COLUMN, OF, name, HT_DURATION, role, role, of)
#define HT_DIFF_CHANGES(COLUMN, OF, of)                                                            \
	COLUMN(OF##_SHARE, "change_share", HT_RATIO, HT_MEASURE,                                   \
	        "difference of " of " over that of the baseline, null without a baseline", NULL)   \
	COLUMN(OF##_CHANGE, "change", HT_STR, HT_DETAIL,                                           \
	        "added, removed, slower, faster or equal", NULL)

#define HT_OP_DIFF_COLUMNS(COLUMN)                                                                 \
	COLUMN(HT_OP_DIFF_NAME, "name", HT_STR, HT_KEY, "operator", NULL)                          \
	COLUMN(HT_OP_DIFF_SHAPE, "input_shape", HT_STR, HT_DETAIL,                                 \
	        "shapes of its inputs, by shape", NULL)                                            \
	HT_DIFF_CALLS(COLUMN, HT_OP_DIFF_CALLS, "calls")                                           \
	HT_DIFF_TIMES(COLUMN, HT_OP_DIFF_DEVICE_SELF, "device_self_ns", HT_MEASURE,                \
	        "GPU activity that it launched itself")                                            \
	HT_DIFF_TIMES(COLUMN, HT_OP_DIFF_DEVICE_TOTAL, "device_total_ns", HT_DETAIL,               \
	        "GPU activity launched from inside it")                                            \
	HT_DIFF_TIMES(COLUMN, HT_OP_DIFF_HOST_SELF, "host_self_ns", HT_MEASURE,                    \
	        "its time without operators and calls inside")                                     \
	HT_DIFF_TIMES(COLUMN, HT_OP_DIFF_HOST_TOTAL, "host_total_ns", HT_DETAIL, "its time")       \
	HT_DIFF_CHANGES(COLUMN, HT_OP_DIFF, "device_self_ns, of host_self_ns without GPU activity,")
HT_COLUMN_NUMBERS(HT_OP_DIFF_COLUMNS, HT_N_OP_DIFF_COLUMNS);
extern const struct ht_column ht_op_diff_columns[HT_N_OP_DIFF_COLUMNS];

#define HT_KERNEL_DIFF_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_KERNEL_DIFF_NAME, "name", HT_STR, HT_KEY, "kernel", NULL)                        \
	HT_DIFF_CALLS(COLUMN, HT_KERNEL_DIFF_CALLS, "kernels")                                     \
	HT_DIFF_TIMES(COLUMN, HT_KERNEL_DIFF_TOTAL, "total_ns", HT_MEASURE, "sum of durations")    \
	HT_DIFF_CHANGES(COLUMN, HT_KERNEL_DIFF, "total_ns")
HT_COLUMN_NUMBERS(HT_KERNEL_DIFF_COLUMNS, HT_N_KERNEL_DIFF_COLUMNS);
extern const struct ht_column ht_kernel_diff_columns[HT_N_KERNEL_DIFF_COLUMNS];

#define HT_MODULE_DIFF_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_MODULE_DIFF_PATH, "path", HT_STR, HT_KEY, "the modules around it and itself",    \
	        NULL)                                                                              \
	HT_DIFF_CALLS(COLUMN, HT_MODULE_DIFF_CALLS, "calls")                                       \
	HT_DIFF_TIMES(COLUMN, HT_MODULE_DIFF_DEVICE_SELF, "device_self_ns", HT_MEASURE,            \
	        "GPU activity of its own forward pass")                                            \
	HT_DIFF_TIMES(COLUMN, HT_MODULE_DIFF_DEVICE_TOTAL, "device_total_ns", HT_DETAIL,           \
	        "GPU activity of its forward pass")                                                \
	HT_DIFF_TIMES(COLUMN, HT_MODULE_DIFF_HOST_SELF, "host_self_ns", HT_MEASURE,                \
	        "its time without what is inside")                                                 \
	HT_DIFF_TIMES(COLUMN, HT_MODULE_DIFF_HOST_TOTAL, "host_total_ns", HT_DETAIL, "its time")   \
	HT_DIFF_TIMES(COLUMN, HT_MODULE_DIFF_BACKWARD_DEVICE_SELF, "backward_device_self_ns",      \
	        HT_MEASURE, "GPU activity of its own backward pass")                               \
	HT_DIFF_CHANGES(                                                                           \
	        COLUMN, HT_MODULE_DIFF, "device_self_ns, of host_self_ns without GPU activity,")
HT_COLUMN_NUMBERS(HT_MODULE_DIFF_COLUMNS, HT_N_MODULE_DIFF_COLUMNS);
extern const struct ht_column ht_module_diff_columns[HT_N_MODULE_DIFF_COLUMNS];

enum ht_view_diff { HT_DIFF_OPERATORS, HT_DIFF_KERNELS, HT_DIFF_MODULES };

/* The groups of the rank in hand. */
enum ht_status ht_view_diff_put(
        struct ht_run *run, enum ht_view_diff view, bool by_shape, ht_table *table) HT_MUST_USE;
/* The rows of the comparison of the k-th tables of the parts. */
enum ht_status ht_view_diff_rows(struct ht_run *run, enum ht_view_diff view,
        const struct ht_parts *parts, size_t k, ht_table *table) HT_MUST_USE;

#endif
