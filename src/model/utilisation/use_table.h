/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use_table.h - how well steps use the device (step_use.h), and what has no formula, as rows.
 */
#ifndef HT_MODEL_UTILISATION_USE_TABLE_H
#define HT_MODEL_UTILISATION_USE_TABLE_H

#include "model/utilisation/step_use.h"
#include "table/table.h"

#define HT_USE_COLUMNS(COLUMN)                                                                     \
	COLUMN(HT_USE_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                     \
	COLUMN(HT_USE_STEP, "step", HT_I64, HT_KEY,                                                \
	        "profiler step; null: all of the rank together", NULL)                             \
	COLUMN(HT_USE_STEP_NS, "step_ns", HT_DURATION, HT_MEASURE, "step time, as steps has it",   \
	        NULL)                                                                              \
	COLUMN(HT_USE_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                   \
	        "GPU time of the calls that the step launched, without communication", NULL)       \
	COLUMN(HT_USE_MODELLED_SHARE, "modelled_share", HT_RATIO, HT_MEASURE,                      \
	        "of gpu_ns, calls that have a formula", NULL)                                      \
	COLUMN(HT_USE_FLOPS, "flops", HT_I64, HT_MEASURE,                                          \
	        "floating-point operations of GEMM, convolution and attention, as executed",       \
	        "FLOP")                                                                            \
	COLUMN(HT_USE_FLOPS_PER_S, "flops_per_s", HT_F64, HT_MEASURE,                              \
	        "flops over step time, of all devices of the rank", "FLOP/s")                      \
	COLUMN(HT_USE_HFU, "hfu", HT_RATIO, HT_MEASURE,                                            \
	        "hardware FLOP utilisation: executed flops, each at the dense peak of its type, "  \
	        "over step time",                                                                  \
	        NULL)                                                                              \
	COLUMN(HT_USE_MFU, "mfu", HT_RATIO, HT_MEASURE,                                            \
	        "model FLOP utilisation: the same without what the backward pass recomputes",      \
	        NULL)                                                                              \
	COLUMN(HT_USE_PALM_MFU, "palm_mfu", HT_RATIO, HT_MEASURE,                                  \
	        "by PaLM's definition, with --model: tokens * (6 N + 12 L H Q T) over step time "  \
	        "and the peak of dtype",                                                           \
	        NULL)                                                                              \
	COLUMN(HT_USE_METHOD, "method", HT_STR, HT_MEASURE,                                        \
	        "why a figure is missing, or what it rests on", NULL)                              \
	COLUMN(HT_USE_DTYPE, "dtype", HT_STR, HT_DETAIL, "type of most of the flops", NULL)        \
	COLUMN(HT_USE_PEAK, "peak_flops_per_s", HT_F64, HT_DETAIL, "dense peak of that type",      \
	        "FLOP/s")                                                                          \
	COLUMN(HT_USE_MFU_ONE_PEAK, "mfu_single_peak", HT_RATIO, HT_DETAIL,                        \
	        "mfu with that peak for all products", NULL)                                       \
	COLUMN(HT_USE_RECOMPUTED, "recomputed_flops", HT_I64, HT_DETAIL,                           \
	        "of flops, products of the forward pass that the backward pass repeats", "FLOP")   \
	COLUMN(HT_USE_NEAR_ROOF, "near_roof_share", HT_RATIO, HT_DETAIL,                           \
	        "of gpu_ns, calls that attain 80 % of their roof or more", NULL)                   \
	COLUMN(HT_USE_ROOFED, "roofed_ns", HT_DURATION, HT_DETAIL,                                 \
	        "of gpu_ns, calls whose roof is known", NULL)                                      \
	COLUMN(HT_USE_IDEAL, "ideal_ns", HT_DURATION, HT_DETAIL,                                   \
	        "least time of those at their roofs", NULL)                                        \
	COLUMN(HT_USE_COPY, "copy_efficiency", HT_RATIO, HT_DETAIL,                                \
	        "of the memory bandwidth, what copies inside the device attain", NULL)             \
	COLUMN(HT_USE_MISALIGNED, "misaligned_ns", HT_DURATION, HT_DETAIL,                         \
	        "of gpu_ns, products on Tensor Cores with rows of no multiple of 16 bytes", NULL)  \
	COLUMN(HT_USE_MISALIGNED_EXCESS, "misaligned_excess_ns", HT_DURATION, HT_DETAIL,           \
	        "of misaligned_ns, what is above the time of well-tuned kernels", NULL)            \
	COLUMN(HT_USE_MISALIGNED_OP, "misaligned_operator", HT_STR, HT_DETAIL,                     \
	        "operator of the call with most of misaligned_excess_ns", NULL)                    \
	COLUMN(HT_USE_MISALIGNED_SIZE, "misaligned_size", HT_I64, HT_DETAIL,                       \
	        "elements in a row of that call whose bytes are no multiple of 16", NULL)          \
	COLUMN(HT_USE_MISALIGNED_EVENT, "misaligned_event", HT_EVENT, HT_DETAIL,                   \
	        "longest activity of that call", NULL)                                             \
	COLUMN(HT_USE_CAST, "cast_ns", HT_DURATION, HT_DETAIL,                                     \
	        "of gpu_ns, copies to another dtype", NULL)                                        \
	COLUMN(HT_USE_CAST_FROM, "cast_from", HT_STR, HT_DETAIL,                                   \
	        "dtype that the longest of those reads", NULL)                                     \
	COLUMN(HT_USE_CAST_TO, "cast_to", HT_STR, HT_DETAIL,                                       \
	        "dtype that the longest of those writes", NULL)                                    \
	COLUMN(HT_USE_CAST_EVENT, "cast_event", HT_EVENT, HT_DETAIL,                               \
	        "longest activity of the longest of those", NULL)                                  \
	COLUMN(HT_USE_WORST, "worst_operator", HT_STR, HT_DETAIL,                                  \
	        "operator that loses most GPU time against well-tuned kernels, of all steps",      \
	        NULL)                                                                              \
	COLUMN(HT_USE_WORST_EXCESS, "worst_excess_ns", HT_DURATION, HT_DETAIL,                     \
	        "GPU time of worst_operator above well-tuned kernels", NULL)                       \
	COLUMN(HT_USE_WORST_EFFICIENCY, "worst_efficiency", HT_RATIO, HT_DETAIL,                   \
	        "what these calls of worst_operator attain of their roof", NULL)                   \
	COLUMN(HT_USE_WORST_BOUND, "worst_bound", HT_STR, HT_DETAIL,                               \
	        "what limits its worst call at best", NULL)                                        \
	COLUMN(HT_USE_WORST_EVENT, "worst_event", HT_EVENT, HT_DETAIL,                             \
	        "longest activity of that worst call", NULL)                                       \
	COLUMN(HT_USE_TOKENS, "tokens", HT_I64, HT_DETAIL,                                         \
	        "tokens of --model: as said, else indices looked up in the largest embedding",     \
	        NULL)                                                                              \
	COLUMN(HT_USE_MODEL_FLOPS, "model_flops", HT_F64, HT_DETAIL,                               \
	        "what palm_mfu counts: tokens * (6 N + 12 L H Q T)", "FLOP")                       \
	COLUMN(HT_USE_N_STEPS, "n_steps", HT_I64, HT_DETAIL, "steps in the row", NULL)             \
	COLUMN(HT_USE_N_DEVICES, "n_devices", HT_I64, HT_DETAIL,                                   \
	        "devices of the rank, which the figures are over", NULL)
HT_COLUMN_NUMBERS(HT_USE_COLUMNS, HT_N_USE_COLUMNS);

#define HT_UNMODELLED_COLUMNS(COLUMN)                                                              \
	COLUMN(HT_UNMODELLED_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)              \
	COLUMN(HT_UNMODELLED_KEY, "key", HT_STR, HT_KEY,                                           \
	        "operator, or longest kernel where there is none", NULL)                           \
	COLUMN(HT_UNMODELLED_CALLS, "calls", HT_I64, HT_MEASURE, "calls without a formula", NULL)  \
	COLUMN(HT_UNMODELLED_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE, "their GPU time", NULL)    \
	COLUMN(HT_UNMODELLED_SHARE, "share", HT_RATIO, HT_MEASURE,                                 \
	        "of the GPU time of the rank, without communication", NULL)                        \
	COLUMN(HT_UNMODELLED_METHOD, "method", HT_STR, HT_MEASURE, "why there is none", NULL)      \
	COLUMN(HT_UNMODELLED_EVENT, "event", HT_EVENT, HT_DETAIL, "longest activity of the key",   \
	        NULL)
HT_COLUMN_NUMBERS(HT_UNMODELLED_COLUMNS, HT_N_UNMODELLED_COLUMNS);

/* So many of them are named. */
#define HT_MOST_UNMODELLED 10

extern const struct ht_column ht_use_columns[], ht_unmodelled_columns[];

void ht_step_uses_put(struct ht_run *run, const struct ht_step_uses *uses,
        const struct ht_model_spec *spec, ht_table *table);
/* Those with most time first. Sorts the list of groups. */
enum ht_status ht_unmodelled_put(
        struct ht_run *run, const struct ht_cost_groups *groups, ht_table *table) HT_MUST_USE;

/* Notes under the totals of all ranks: what the figures rest on, and what is missing. */
enum ht_status ht_use_note(
        struct ht_run *run, const ht_table *unmodelled, ht_table *table) HT_MUST_USE;

#endif
