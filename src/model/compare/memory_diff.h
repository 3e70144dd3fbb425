/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_diff.h - memory snapshots of two runs side by side: who holds more at the peak and at the end, and allocates more often.
 *
 * Lines of the user are matched by file, function and line; what is left by file and function, where each side has one of
 * them left: code moves within its file. Bytes and allocations are sums over the ranks that are compared and their devices, each
 * at its own peak.
 */
#ifndef HT_MODEL_COMPARE_MEMORY_DIFF_H
#define HT_MODEL_COMPARE_MEMORY_DIFF_H

#include "model/part.h"

#define HT_MEM_HELD_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_HELD_KEY, "key", HT_STR, HT_KEY, "the user's own line", NULL)                    \
	COLUMN(HT_HELD_PLACE, "place", HT_STR, HT_KEY, "it without its number", NULL)              \
	COLUMN(HT_HELD_PEAK, "peak_bytes", HT_BYTES, HT_MEASURE, "held at the peak", NULL)         \
	COLUMN(HT_HELD_END, "end_bytes", HT_BYTES, HT_MEASURE, "held at the end", NULL)            \
	COLUMN(HT_HELD_ALLOCATIONS, "allocations", HT_I64, HT_MEASURE, "recorded allocations", NULL)
HT_COLUMN_NUMBERS(HT_MEM_HELD_COLUMNS, HT_N_HELD_COLUMNS);
extern const struct ht_column ht_held_columns[];

#define HT_MEM_DIFF_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_MEM_DIFF_KEY, "key", HT_STR, HT_KEY,                                             \
	        "the user's own line, as this run has it where both do", NULL)                     \
	COLUMN(HT_MEM_DIFF_CONTROL_KEY, "control_key", HT_STR, HT_DETAIL,                          \
	        "the line of the baseline that it was matched with, where that is another", NULL)  \
	COLUMN(HT_MEM_DIFF_CONTROL_PEAK, "control_peak_bytes", HT_BYTES, HT_MEASURE,               \
	        "held at the peak of the baseline", NULL)                                          \
	COLUMN(HT_MEM_DIFF_TEST_PEAK, "test_peak_bytes", HT_BYTES, HT_MEASURE,                     \
	        "held at the peak of this run", NULL)                                              \
	COLUMN(HT_MEM_DIFF_PEAK, "diff_peak_bytes", HT_BYTES, HT_MEASURE,                          \
	        "this run minus the baseline", NULL)                                               \
	COLUMN(HT_MEM_DIFF_CONTROL_END, "control_end_bytes", HT_BYTES, HT_DETAIL,                  \
	        "held at the end of the baseline", NULL)                                           \
	COLUMN(HT_MEM_DIFF_TEST_END, "test_end_bytes", HT_BYTES, HT_DETAIL,                        \
	        "held at the end of this run", NULL)                                               \
	COLUMN(HT_MEM_DIFF_END, "diff_end_bytes", HT_BYTES, HT_MEASURE,                            \
	        "this run minus the baseline", NULL)                                               \
	COLUMN(HT_MEM_DIFF_CONTROL_ALLOCATIONS, "control_allocations", HT_I64, HT_DETAIL,          \
	        "recorded allocations of the baseline", NULL)                                      \
	COLUMN(HT_MEM_DIFF_TEST_ALLOCATIONS, "test_allocations", HT_I64, HT_DETAIL,                \
	        "recorded allocations of this run", NULL)                                          \
	COLUMN(HT_MEM_DIFF_ALLOCATIONS, "diff_allocations", HT_I64, HT_MEASURE,                    \
	        "this run minus the baseline", NULL)                                               \
	COLUMN(HT_MEM_DIFF_CHANGE, "change", HT_STR, HT_MEASURE,                                   \
	        "added, removed, more or less at the peak, or equal", NULL)
HT_COLUMN_NUMBERS(HT_MEM_DIFF_COLUMNS, HT_N_MEM_DIFF_COLUMNS);
extern const struct ht_column ht_mem_diff_columns[];

/* ht_diff_choose; of runs that are memory snapshots alone the view is memory, as there is nothing else to compare. */
enum ht_status ht_mem_diff_choose(struct ht_run *run) HT_MUST_USE;
/* What the lines of the rank in hand hold; no rows without a snapshot. */
enum ht_status ht_mem_held_put(struct ht_run *run, ht_table *table) HT_MUST_USE;
/* The rows of the comparison of the k-th tables of the parts, the largest change at the peak first. */
enum ht_status ht_mem_diff_rows(
        struct ht_run *run, const struct ht_parts *parts, size_t k, ht_table *table) HT_MUST_USE;

#endif
