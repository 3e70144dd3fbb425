/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_columns.h - what tables have of modules.
 */
#ifndef HT_MODEL_GROUPS_MODULE_COLUMNS_H
#define HT_MODEL_GROUPS_MODULE_COLUMNS_H

#include "table/table.h"

enum { HT_MODULE_PATH, HT_MODULE_NAME, HT_N_MODULE_KEYS };
enum {
	HT_MODULE_CALLS,
	HT_MODULE_OPERATORS, /* called by itself */
	HT_MODULE_HOST_SELF,
	HT_MODULE_HOST_TOTAL,
	HT_MODULE_DEVICE_SELF,
	HT_MODULE_DEVICE_TOTAL,
	HT_MODULE_BACKWARD_HOST_SELF,
	HT_MODULE_BACKWARD_HOST_TOTAL,
	HT_MODULE_BACKWARD_DEVICE_SELF,
	HT_MODULE_BACKWARD_DEVICE_TOTAL,
	HT_MODULE_DEPTH, /* 1 at the top */
	HT_MODULE_ORDER, /* when it was first called, among the modules of its rank */
	HT_N_MODULE_VALUES
};
extern const uint8_t ht_module_rules[HT_N_MODULE_VALUES];

/* What stands between the names of a path. */
#define HT_MODULE_BETWEEN " / "

/* The table of a part. */
extern const struct ht_column ht_module_group_columns[];
enum { HT_N_MODULE_GROUP_COLUMNS = HT_N_MODULE_KEYS + HT_N_MODULE_VALUES };

/* How GPU activity is known to be of a module: a row per rank. */
#define HT_MODULE_SHARE_COLUMNS(COLUMN)                                                            \
	COLUMN(HT_MODULE_EXACT_NS, "exact_ns", HT_DURATION, HT_MEASURE,                            \
	        "by launch, backward link, annotation, or a recording that agrees wholly", NULL)   \
	COLUMN(HT_MODULE_ALIGNED_NS, "aligned_ns", HT_DURATION, HT_MEASURE,                        \
	        "by a recording that agrees in part, or of a kernel that lines share", NULL)       \
	COLUMN(HT_MODULE_UNKNOWN_NS, "unknown_ns", HT_DURATION, HT_MEASURE, "of no module", NULL)  \
	/* by how modules are known, as enum ht_module_via has them */                             \
	COLUMN(HT_MODULE_BY_NS, "fqn_ns", HT_DURATION, HT_MEASURE, "by module_fqn", NULL)          \
	COLUMN(HT_MODULE_FRAMES_NS, "frames_ns", HT_DURATION, HT_MEASURE, "by calls", NULL)        \
	COLUMN(HT_MODULE_HIERARCHY_NS, "hierarchy_ns", HT_DURATION, HT_MEASURE,                    \
	        "by Module Hierarchy", NULL)                                                       \
	COLUMN(HT_MODULE_PARAMETERS_NS, "parameters_ns", HT_DURATION, HT_MEASURE,                  \
	        "by parameters of generated code", NULL)                                           \
	COLUMN(HT_MODULE_NEIGHBOURS_NS, "neighbours_ns", HT_DURATION, HT_MEASURE,                  \
	        "by calls before and after", NULL)                                                 \
	COLUMN(HT_MODULE_STACK_NS, "stack_ns", HT_DURATION, HT_MEASURE, "by stacks", NULL)         \
	COLUMN(HT_MODULE_BACKWARD_NS, "backward_ns", HT_DURATION, HT_MEASURE,                      \
	        "by the forward operator", NULL)                                                   \
	COLUMN(HT_MODULE_ANNOTATION_NS, "annotation_ns", HT_DURATION, HT_MEASURE,                  \
	        "by names of annotations", NULL)
HT_COLUMN_NUMBERS(HT_MODULE_SHARE_COLUMNS, HT_N_MODULE_SHARE_COLUMNS);
extern const struct ht_column ht_module_share_columns[];

#endif
