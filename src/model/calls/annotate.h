/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.h - which user annotations a row, or a piece of GPU work, belongs to.
 *
 * Two sources. The host: annotations that are open where the row starts, or where the work's launch does,
 * which is exact (inside.h). The GPU: gpu_user_annotation spans on the same stream that the work overlaps, the
 * shortest wins, which is what HTA reads.
 */
#ifndef HT_MODEL_CALLS_ANNOTATE_H
#define HT_MODEL_CALLS_ANNOTATE_H

#include "model/rows/autograd.h"
#include "model/rows/chain.h"
#include "model/device/gpu_work.h"

/* Is an annotation one of the profiler's steps? */
bool ht_annotation_is_step(const struct ht_trace *trace, uint32_t row);

struct ht_annotated {
	const char *stack; /* "outer / inner", NULL when there is none; lives in scratch */
	uint32_t row;      /* the innermost annotation, HT_NONE when there is none */
	uint8_t link;      /* enum ht_autograd_link: how it was found */
};

/* The annotations around each of the rows: host rows by their thread and the one that waits for them, GPU
 * work by its launch, device rows without one by their stream. An annotation is not around itself. */
enum ht_status ht_annotate_rows(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_autograd *autograd, const uint32_t *rows, size_t n, bool with_steps,
        struct ht_annotated *ret_annotated) HT_MUST_USE;

/* ret_rows[i] is the shortest GPU annotation of the frame on the track of work i that overlaps it,
 * HT_NONE when none does; of equally long ones the later row. */
enum ht_status ht_annotate_by_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, bool with_steps, uint32_t **ret_rows) HT_MUST_USE;

/* The text "outer / inner" of GPU annotations, steps around them left out: ret_texts[i] for gpu_rows[i], NULL
 * for HT_NONE. Outer ones contain inner ones whole. */
enum ht_status ht_annotate_gpu_paths(struct ht_run *run, const struct ht_frame *frame,
        const uint32_t *gpu_rows, size_t n, const char **ret_texts) HT_MUST_USE;

#endif
