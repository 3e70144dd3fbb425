/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_runtime.h - what a run did beside its steps: iterations of a serving engine, and compilations inside the window.
 *
 * Serving has a row per phase (model/serving/phases.h), compile one per recompiled frame (model/origin/regions.h). Both are of the whole
 * recording: an iteration is no profiler step, and a compilation inside the window is worth knowing whichever step is looked at.
 */
#ifndef HT_VERDICT_FOUND_RUNTIME_H
#define HT_VERDICT_FOUND_RUNTIME_H

#include "model/part.h"

#define HT_FOUND_SERVING_COLUMNS(COLUMN)                                                           \
	COLUMN(HT_SERVING_PHASE, "phase", HT_STR, HT_KEY, "prefill, decode, mixed or other", NULL) \
	COLUMN(HT_SERVING_N, "n", HT_I64, HT_MEASURE, "iterations", NULL)                          \
	COLUMN(HT_SERVING_REQUESTS, "requests", HT_I64, HT_MEASURE, "requests, summed", NULL)      \
	COLUMN(HT_SERVING_TOKENS, "tokens", HT_I64, HT_MEASURE, "tokens", NULL)                    \
	COLUMN(HT_SERVING_WALL_NS, "wall_ns", HT_DURATION, HT_MEASURE, "wall time", NULL)          \
	COLUMN(HT_SERVING_GAP_NS, "gap_ns", HT_DURATION, HT_MEASURE, "GPU idle between", NULL)     \
	COLUMN(HT_SERVING_P50_NS, "p50_ns", HT_DURATION, HT_MEASURE, "median wall time", NULL)     \
	COLUMN(HT_SERVING_P99_NS, "p99_ns", HT_DURATION, HT_MEASURE, "99th percentile", NULL)      \
	COLUMN(HT_SERVING_ROW, "row", HT_I64, HT_MEASURE, "row of the longest", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_SERVING_COLUMNS, HT_N_FOUND_SERVING_COLUMNS);
#define HT_FOUND_COMPILE_COLUMNS(COLUMN)                                                           \
	COLUMN(HT_COMPILE_ID, "compile_id", HT_STR, HT_KEY, "frame and how often before", NULL)    \
	COLUMN(HT_COMPILE_N, "n", HT_I64, HT_MEASURE, "recompilations", NULL)                      \
	COLUMN(HT_COMPILE_NS, "ns", HT_DURATION, HT_MEASURE, "their time", NULL)                   \
	COLUMN(HT_COMPILE_REASON, "reason", HT_STR, HT_MEASURE, "guard that failed", NULL)         \
	COLUMN(HT_COMPILE_ROW, "row", HT_I64, HT_MEASURE, "row of the compilation", NULL)
HT_COLUMN_NUMBERS(HT_FOUND_COMPILE_COLUMNS, HT_N_FOUND_COMPILE_COLUMNS);
extern const struct ht_column ht_found_serving_columns[], ht_found_compile_columns[];

/* Of the rank in hand. */
enum ht_status ht_found_serving_put(struct ht_run *run, ht_table *table) HT_MUST_USE;
enum ht_status ht_found_compile_put(struct ht_run *run, ht_table *table) HT_MUST_USE;

#endif
