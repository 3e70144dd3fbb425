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

#define HT_KG_KEYS(KEY)                                                                            \
	KEY(HT_KG_NAME, "name", HT_STR, HT_KEY, "kernel", NULL)                                    \
	/* or has it in a recording of its graph */                                                \
	KEY(HT_KG_OPERATOR, "operator", HT_STR, HT_KEY, "operator that launched it", NULL)         \
	KEY(HT_KG_GRID, "grid", HT_STR, HT_KEY, "blocks", NULL)                                    \
	KEY(HT_KG_BLOCK, "block", HT_STR, HT_KEY, "threads", NULL)                                 \
	KEY(HT_KG_REGISTERS, "registers", HT_STR, HT_KEY, "registers per thread", NULL)            \
	KEY(HT_KG_SHARED, "shared_memory", HT_STR, HT_KEY, "bytes of shared memory", NULL)         \
	KEY(HT_KG_DEVICE, "device", HT_STR, HT_KEY, "device", NULL)                                \
	KEY(HT_KG_STREAM, "stream", HT_STR, HT_KEY, "stream", NULL)                                \
	/* as the device tells, or tensor cores by its name and types */                           \
	KEY(HT_KG_CORE, "core", HT_STR, HT_KEY, "what it ran on", NULL)                            \
	/* the same where the device tells */                                                      \
	KEY(HT_KG_UNIT, "unit", HT_STR, HT_KEY, "accelerator core", NULL)                          \
	/* of an NPU's kernel, on its main cores and on the others */                              \
	KEY(HT_KG_BLOCKS, "block_dim", HT_STR, HT_KEY, "blocks", NULL)                             \
	KEY(HT_KG_MIX_BLOCKS, "mix_block_dim", HT_STR, HT_KEY, "blocks on the other cores", NULL)  \
	KEY(HT_KG_TYPE, "type", HT_STR, HT_KEY, "type of an NPU's kernel, or its name", NULL)      \
	/* of a graph, those of its operator in a recording */                                     \
	KEY(HT_KG_SHAPES, "input_shapes", HT_STR, HT_KEY, "shapes of its inputs", NULL)            \
	/* ht_name_common */                                                                       \
	KEY(HT_KG_COMMON, "common", HT_STR, HT_KEY, "name without what differs between runs", NULL)
#define HT_KG_VALUES(VALUE)                                                                        \
	VALUE(HT_KG_CALLS, SUM, "calls", HT_I64, HT_MEASURE, "kernels", NULL)                      \
	VALUE(HT_KG_TOTAL, SUM, "total_ns", HT_DURATION, HT_MEASURE, "sum of durations", NULL)     \
	VALUE(HT_KG_MIN, MIN, "min_ns", HT_DURATION, HT_MEASURE, "shortest", NULL)                 \
	VALUE(HT_KG_MAX, MAX, "max_ns", HT_DURATION, HT_MEASURE, "longest", NULL)                  \
	/* millionths of blocks per SM, and of percent, times ns */                                \
	VALUE(HT_KG_BLOCKS_NS, SUM_WIDE, "blocks", HT_I64, HT_MEASURE,                             \
	        "blocks per SM times duration", NULL)                                              \
	VALUE(HT_KG_OCCUPANCY_NS, SUM_WIDE, "occupancy", HT_I64, HT_MEASURE,                       \
	        "occupancy times duration", NULL)                                                  \
	VALUE(HT_KG_HAS_BLOCKS, ANY, "has_blocks", HT_I64, HT_MEASURE,                             \
	        "whether blocks per SM are known", NULL)                                           \
	VALUE(HT_KG_HAS_OCCUPANCY, ANY, "has_occupancy", HT_I64, HT_MEASURE,                       \
	        "whether occupancy is known", NULL)                                                \
	VALUE(HT_KG_TC, ANY, "tensor_cores", HT_I64, HT_MEASURE, "runs on tensor cores", NULL)     \
	/* multiplies matrices */                                                                  \
	VALUE(HT_KG_TC_UNKNOWN, ANY, "core_unknown", HT_I64, HT_MEASURE,                           \
	        "nothing says what its product runs on", NULL)                                     \
	/* the one that launched it, by its name */                                                \
	VALUE(HT_KG_OP_ELIGIBLE, ANY, "op_eligible", HT_I64, HT_MEASURE, "its operator can", NULL)
HT_COLUMN_NUMBERS(HT_KG_KEYS, HT_N_KG_KEYS);
HT_COLUMN_NUMBERS(HT_KG_VALUES, HT_N_KG_VALUES);
extern const uint8_t ht_kernel_rules[HT_N_KG_VALUES];

/* The table of a part. */
enum { HT_N_KERNEL_GROUP_COLUMNS = HT_POOL_N_COLUMNS(HT_KG_KEYS, HT_KG_VALUES) };
extern const struct ht_column ht_kernel_group_columns[HT_N_KERNEL_GROUP_COLUMNS];

/* Which keys make a group, as bits 1 << HT_KG_...; others are missing. */
enum ht_status ht_kernel_groups_put(struct ht_run *run, unsigned keys, ht_table *table) HT_MUST_USE;

#endif
