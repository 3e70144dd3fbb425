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

enum {
	HT_KC_NAME,
	HT_KC_CORE, /* accelerator core; missing where nothing says */
	HT_KC_COUNTER,
	HT_N_KC_KEYS
};
/* Values are in millionths. */
#define HT_KC_ONE 1000000
enum {
	HT_KC_CALLS,
	HT_KC_TOTAL, /* ns of the kernels that have it */
	HT_KC_MIN,
	HT_KC_MAX,
	HT_KC_SUM_NS, /* value times ns */
	HT_KC_SUM,    /* value */
	HT_N_KC_VALUES
};
extern const uint8_t ht_kernel_counter_rules[HT_N_KC_VALUES];

/* The table of a part: two values are wide. */
extern const struct ht_column ht_kernel_counter_columns[];
enum { HT_N_KERNEL_COUNTER_COLUMNS = HT_N_KC_KEYS + HT_N_KC_VALUES + 2 };

enum ht_status ht_kernel_counters_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
