/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the rows of one rank that an analysis looks at.
 *
 * HTA loads a table per rank, cuts the last profiler step off and keeps GPU rows by their launch; all
 * its results are over that table. A frame is that table as row numbers.
 *
 * Rows: every event with a duration and a category, except cat "Trace".
 *   steps      those of the run (selection.h): rows that belong to a chosen step, or all rows. GPU work has
 *              the step of its launch; where that is not in the file and the work precedes all launched work of its
 *              stream it was launched before the recording began and is in no step, else its own start decides. A GPU
 *              annotation goes with the host annotation of the same External id
 * Another policy may select otherwise where neither steps nor annotations are named.
 * annotation: host rows that start inside a host annotation whose name contains the text (inside.h: on
 * their thread, or on the one that waits for their backward pass), and the GPU work launched from there; work without
 * a launch when it starts inside such an annotation of its stream.
 */
#ifndef HT_MODEL_ROWS_FRAME_H
#define HT_MODEL_ROWS_FRAME_H

#include "model/run_memo.h"

struct ht_frame {
	const struct ht_trace *trace;
	int64_t rank;
	/* HTA's row order: GPU rows by row number, then host rows, when something was cut; else by row
	 * number. Sync rows (cuda_sync) stand with the GPU rows as in HTA's G-filt. */
	const uint32_t *rows;
	size_t n_rows;
	/* indexes into trace->gpu[]: kernels, copies and sets that count, ascending; rows of flag
	 * HT_EV_BAD_TIME are left out */
	const uint32_t *gpu;
	size_t n_gpu;
	bool cut; /* steps were cut */
	/* other runs over the rank have the same frame under this number; 0: it is this run's own */
	uint32_t shared_as;
};

/* The frame of the rank in hand; it lives as long as the rank is. */
enum ht_status ht_frame_make(struct ht_run *run, struct ht_frame *ret_frame) HT_MUST_USE;

/* The same without rows (none, unless the policy has rows_with_gpu): for analyses of GPU work alone, in time
 * of that work rather than of all events. */
enum ht_status ht_frame_make_gpu(struct ht_run *run, struct ht_frame *ret_frame) HT_MUST_USE;

/* What is found in a frame, once for all runs that share the rank and have the same frame (run_memo.h); how has a variant
 * below 256. The second is for what depends on the GPU work of the frame alone. */
enum ht_status ht_frame_share(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_memoized *how, const void *of, void *ret_value) HT_MUST_USE;
enum ht_status ht_frame_share_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_memoized *how, const void *of, void *ret_value) HT_MUST_USE;

/* ret_in[row]: whether the frame has it. Memory in scratch. */
enum ht_status ht_frame_marks(
        struct ht_run *run, const struct ht_frame *frame, bool **ret_in) HT_MUST_USE;
/* ret_in[i]: whether it has gpu[i] of the trace. Memory in scratch. */
enum ht_status ht_frame_gpu_marks(
        struct ht_run *run, const struct ht_frame *frame, bool **ret_in) HT_MUST_USE;
/* A choose of analyses that look at the whole trace unless steps are asked for. */
enum ht_status ht_frame_choose_whole(struct ht_run *run) HT_MUST_USE;

/* What rows say of themselves, indexed by trace row (not by position in the frame); asked of the policy, whose
 * rules they follow. */
struct ht_row_columns {
	const int64_t *stream;      /* arg stream, unparsable read as -1 */
	const int64_t *correlation; /* arg correlation, -1 when absent */
	/* launch <-> last GPU row; 0 correlation without partner, -1 no correlation */
	const int64_t *partner;
	/* step number, -1 outside, HT_NO_I64: cannot be told; NULL unless asked for */
	const int64_t *iteration;
};

/* Room in scratch for the two lists of a frame. */
enum ht_status ht_frame_alloc_lists(struct ht_run *run, size_t n_rows, size_t n_gpu,
        uint32_t **ret_rows, uint32_t **ret_gpu) HT_MUST_USE;

/* The line under the title: "4 ranks · steps 3–4 · share of GPU span"; of says what shares are of. */
enum ht_status ht_frame_set_method(struct ht_run *run, ht_table *table, const char *of) HT_MUST_USE;
#endif
