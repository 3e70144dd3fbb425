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

extern const struct ht_column ht_op_diff_columns[];
extern const struct ht_column ht_kernel_diff_columns[];
extern const struct ht_column ht_module_diff_columns[];
enum { HT_N_OP_DIFF_COLUMNS = 19, HT_N_KERNEL_DIFF_COLUMNS = 9, HT_N_MODULE_DIFF_COLUMNS = 21 };

enum ht_view_diff { HT_DIFF_OPERATORS, HT_DIFF_KERNELS, HT_DIFF_MODULES };

/* The groups of the rank in hand. */
enum ht_status ht_view_diff_put(
        struct ht_run *run, enum ht_view_diff view, bool by_shape, ht_table *table) HT_MUST_USE;
/* The rows of the comparison of the k-th tables of the parts. */
enum ht_status ht_view_diff_rows(struct ht_run *run, enum ht_view_diff view,
        const struct ht_parts *parts, size_t k, ht_table *table) HT_MUST_USE;

#endif
