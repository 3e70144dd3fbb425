/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_counters.h - the numbers that were recorded with the kernels of a rank, by kernel and counter.
 *
 * A counter is any number among a kernel's args but ids and where it ran: what the units of an NPU did (the columns of
 * kernel_details.csv, whichever metrics were chosen), or launch properties of a GPU's kernels. Kernels are those of
 * kernel_groups.h.
 */
#ifndef HT_MODEL_DEVICE_KERNEL_COUNTERS_H
#define HT_MODEL_DEVICE_KERNEL_COUNTERS_H

#include "model/numbers/pooled.h"

#define HT_KC_KEYS(KEY)                                                                            \
	KEY(HT_KC_NAME, "name", HT_STR, HT_KEY, "kernel", NULL)                                    \
	/* accelerator core; missing where nothing says */                                         \
	KEY(HT_KC_CORE, "core", HT_STR, HT_KEY, "what it ran on", NULL)                            \
	KEY(HT_KC_COUNTER, "counter", HT_STR, HT_KEY, "name of the number", NULL)
/* Values are in millionths. */
#define HT_KC_ONE 1000000
#define HT_KC_VALUES(VALUE)                                                                        \
	VALUE(HT_KC_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "kernels that have it", NULL)         \
	VALUE(HT_KC_TOTAL, SUM, "total_ns", HT_DURATION, HT_MEASURE, "sum of their durations",     \
	        NULL)                                                                              \
	VALUE(HT_KC_MIN, MIN, "min", HT_I64, HT_MEASURE, "smallest, in millionths", NULL)          \
	VALUE(HT_KC_MAX, MAX, "max", HT_I64, HT_MEASURE, "largest, in millionths", NULL)           \
	VALUE(HT_KC_SUM_NS, SUM_WIDE, "sum_ns", HT_I64, HT_MEASURE, "value times duration", NULL)  \
	VALUE(HT_KC_SUM, SUM_WIDE, "sum", HT_I64, HT_MEASURE, "sum of values", NULL)
HT_COLUMN_NUMBERS(HT_KC_KEYS, HT_N_KC_KEYS);
HT_COLUMN_NUMBERS(HT_KC_VALUES, HT_N_KC_VALUES);
extern const uint8_t ht_kernel_counter_rules[HT_N_KC_VALUES];

/* The table of a part. */
enum { HT_N_KERNEL_COUNTER_COLUMNS = HT_POOL_N_COLUMNS(HT_KC_KEYS, HT_KC_VALUES) };
extern const struct ht_column ht_kernel_counter_columns[HT_N_KERNEL_COUNTER_COLUMNS];

enum ht_status ht_kernel_counters_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
