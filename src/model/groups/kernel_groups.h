/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_groups.h - the kernels of a rank grouped by name and properties: what tables of them are made of.
 *
 * Kernels of the frame, by category: neither copies nor sets, nor what only waits. Blocks per SM and occupancy are
 * as the profiler estimated them, in millionths and weighted by duration; a kernel without them counts as 0.
 */
#ifndef HT_MODEL_GROUPS_KERNEL_GROUPS_H
#define HT_MODEL_GROUPS_KERNEL_GROUPS_H

#include "model/numbers/pooled.h"

enum {
	HT_KG_NAME,
	HT_KG_OPERATOR, /* that launched it, or has it in a recording of its graph */
	HT_KG_GRID,
	HT_KG_BLOCK,
	HT_KG_REGISTERS,
	HT_KG_SHARED,
	HT_KG_DEVICE,
	HT_KG_STREAM,
	HT_KG_CORE, /* what it ran on, as the device tells, or tensor cores by its name and types */
	HT_KG_UNIT, /* the same where the device tells */
	HT_KG_BLOCKS, /* blocks of an NPU's kernel, on its main cores and on the others */
	HT_KG_MIX_BLOCKS,
	HT_KG_TYPE,   /* of an NPU's kernel; else its name */
	HT_KG_SHAPES, /* of its inputs; of a graph, those of its operator in a recording */
	HT_KG_COMMON, /* name without what differs between runs (ht_name_common) */
	HT_N_KG_KEYS
};
enum {
	HT_KG_CALLS,
	HT_KG_TOTAL,
	HT_KG_MIN,
	HT_KG_MAX,
	HT_KG_BLOCKS_NS,    /* millionths of blocks per SM times ns */
	HT_KG_OCCUPANCY_NS, /* millionths of percent times ns */
	HT_KG_HAS_BLOCKS,
	HT_KG_HAS_OCCUPANCY,
	HT_KG_TC,          /* runs on tensor cores */
	HT_KG_TC_UNKNOWN,  /* multiplies matrices, and nothing says on what */
	HT_KG_OP_ELIGIBLE, /* the operator that launched it can, by its name */
	HT_N_KG_VALUES
};
extern const uint8_t ht_kernel_rules[HT_N_KG_VALUES];

/* The table of a part: two values are wide. */
extern const struct ht_column ht_kernel_group_columns[];
enum { HT_N_KERNEL_GROUP_COLUMNS = HT_N_KG_KEYS + HT_N_KG_VALUES + 2 };

/* Which keys make a group, as bits 1 << HT_KG_...; others are missing. */
enum ht_status ht_kernel_groups_put(struct ht_run *run, unsigned keys, ht_table *table) HT_MUST_USE;

#endif
