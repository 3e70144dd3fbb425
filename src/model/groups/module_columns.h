/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_columns.h - what tables have of modules.
 */
#ifndef HT_MODEL_GROUPS_MODULE_COLUMNS_H
#define HT_MODEL_GROUPS_MODULE_COLUMNS_H

#include "model/numbers/pooled.h"

#define HT_MODULE_KEYS(KEY)                                                                        \
	KEY(HT_MODULE_PATH, "path", HT_STR, HT_KEY, "modules around it and itself", NULL)          \
	KEY(HT_MODULE_NAME, "name", HT_STR, HT_KEY, "module", NULL)
#define HT_MODULE_VALUES(VALUE)                                                                    \
	VALUE(HT_MODULE_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "calls", NULL)                    \
	VALUE(HT_MODULE_OPERATORS, SUM, "operators", HT_I64, HT_MEASURE,                           \
	        "operators that it called itself", NULL)                                           \
	VALUE(HT_MODULE_HOST_SELF, SUM, "host_self_ns", HT_DURATION, HT_MEASURE,                   \
	        "without what is inside", NULL)                                                    \
	VALUE(HT_MODULE_HOST_TOTAL, SUM, "host_total_ns", HT_DURATION, HT_MEASURE, "duration",     \
	        NULL)                                                                              \
	VALUE(HT_MODULE_DEVICE_SELF, SUM, "device_self_ns", HT_DURATION, HT_MEASURE,               \
	        "GPU activity of its own", NULL)                                                   \
	VALUE(HT_MODULE_DEVICE_TOTAL, SUM, "device_total_ns", HT_DURATION, HT_MEASURE,             \
	        "GPU activity", NULL)                                                              \
	VALUE(HT_MODULE_BACKWARD_HOST_SELF, SUM, "backward_host_self_ns", HT_DURATION, HT_MEASURE, \
	        "host, backward, own", NULL)                                                       \
	VALUE(HT_MODULE_BACKWARD_HOST_TOTAL, SUM, "backward_host_total_ns", HT_DURATION,           \
	        HT_MEASURE, "host, backward", NULL)                                                \
	VALUE(HT_MODULE_BACKWARD_DEVICE_SELF, SUM, "backward_device_self_ns", HT_DURATION,         \
	        HT_MEASURE, "GPU activity, backward, own", NULL)                                   \
	VALUE(HT_MODULE_BACKWARD_DEVICE_TOTAL, SUM, "backward_device_total_ns", HT_DURATION,       \
	        HT_MEASURE, "GPU activity, backward", NULL)                                        \
	VALUE(HT_MODULE_DEPTH, MAX, "depth", HT_I64, HT_MEASURE, "1 at the top", NULL)             \
	/* among the modules of its rank */                                                        \
	VALUE(HT_MODULE_ORDER, MIN, "first", HT_I64, HT_MEASURE, "when it was first called", NULL)
HT_COLUMN_NUMBERS(HT_MODULE_KEYS, HT_N_MODULE_KEYS);
HT_COLUMN_NUMBERS(HT_MODULE_VALUES, HT_N_MODULE_VALUES);
extern const uint8_t ht_module_rules[HT_N_MODULE_VALUES];

/* What stands between the names of a path. */
#define HT_MODULE_BETWEEN " / "

/* The table of a part. */
enum { HT_N_MODULE_GROUP_COLUMNS = HT_POOL_N_COLUMNS(HT_MODULE_KEYS, HT_MODULE_VALUES) };
extern const struct ht_column ht_module_group_columns[HT_N_MODULE_GROUP_COLUMNS];

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
extern const struct ht_column ht_module_share_columns[HT_N_MODULE_SHARE_COLUMNS];

#endif
