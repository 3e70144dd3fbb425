/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - from the arrays that reading gave to a complete, immutable trace. Only readers use this.
 */
#ifndef HT_STORE_SEAL_H
#define HT_STORE_SEAL_H

#include "base/mem.h"
#include "base/thread.h"
#include "store/import_stats.h"
#include "store/kernel_rules.h"
#include "store/columns.h"
#include "store/sections.h"

/* Counters while a trace is being sealed. */
struct ht_tally {
	uint64_t count[HT_N_STATS];
	int64_t first_offset[HT_N_STATS];
};

static inline void ht_tally_add(struct ht_tally *tally, enum ht_stat_code code, uint64_t n)
{
	if (n && !tally->count[code])
		tally->first_offset[code] = -1;
	tally->count[code] += n;
}

/* N of "ProfilerStep#N" (blanks allowed around #); HT_NO_I64 when the name is no step. */
int64_t ht_step_number(const char *name);

/* Does the file come from PyTorch's profiler: header keys or categories that only it writes? */
bool ht_looks_like_kineto(const struct ht_trace *trace);

/* The steps of sealing; each adds its sections. First these, in order: */
enum ht_status ht_seal_header(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
/* Rows whose thread is a number written as text go to the track of the number. */
enum ht_status ht_seal_threads(ht_ctx *ctx, struct ht_trace *trace) HT_MUST_USE;
enum ht_status ht_seal_kinds(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
/* While it runs, durations, flags and parents of spans are not to be looked at, nor the order of tracks. */
enum ht_status ht_seal_tracks(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;

/* These need no tracks and are made beside them: */
enum ht_status ht_seal_python(ht_ctx *ctx, struct ht_trace *trace) HT_MUST_USE;
enum ht_status ht_seal_series_checks(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
/* The rows of flow arrows in the order in which they are paired. Freed by the caller, also when it failed. */
struct ht_flow_rows {
	struct ht_arena arena;
	uint32_t *rows;  /* ascending */
	uint64_t *ids;   /* of each */
	uint32_t *order; /* positions in both, grouped by (category, id), in time order within */
	size_t n;
	uint32_t *groups; /* by range of them: where its first group begins, and the end */
	uint32_t *places; /* by range: how many flows its groups are, later where they go */
};
enum ht_status ht_flow_rows_list(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_flow_rows *ret_rows) HT_MUST_USE;
void ht_flow_rows_done(struct ht_flow_rows *rows);

/* Then these, in parallel. */
enum ht_status ht_seal_gpu(ht_ctx *ctx, struct ht_trace *trace, const struct ht_kernel_rules *rules,
        struct ht_tally *tally) HT_MUST_USE;
enum ht_status ht_seal_flows(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_flow_rows *rows) HT_MUST_USE;
/* A flow row has no parent of its own: the one it has is for binding it. Only when no other task runs, since
 * they read parents. */
enum ht_status ht_seal_flow_rows(
        ht_ctx *ctx, struct ht_trace *trace, struct ht_flow_rows *rows) HT_MUST_USE;
enum ht_status ht_seal_steps(ht_ctx *ctx, struct ht_trace *trace) HT_MUST_USE;
/* Whether the trace agrees with itself: counters only. */
enum ht_status ht_seal_row_checks(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
enum ht_status ht_seal_record_checks(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
/* The operators of NPU work, where flows say them. */
void ht_seal_ascend_ops(struct ht_trace *trace);
/* At last what needs the GPU work's launches. */
enum ht_status ht_seal_gpu_steps(ht_ctx *ctx, struct ht_trace *trace) HT_MUST_USE;
enum ht_status ht_seal_launch_checks(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
enum ht_status ht_seal_gpu_checks(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_tally *tally) HT_MUST_USE;
/* All of the above, then the stats section. */
enum ht_status ht_seal(ht_ctx *ctx, struct ht_trace *trace, const struct ht_kernel_rules *rules,
        struct ht_tally *tally) HT_MUST_USE;

#endif
