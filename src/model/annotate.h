/*
 * annotate.h - which user annotation a piece of GPU work belongs to.
 *
 * Two sources. The host: annotations around the launch, which is exact. The GPU: gpu_user_annotation
 * spans on the same stream that the work overlaps, the shortest wins, which is what HTA reads.
 */
#ifndef HT_MODEL_ANNOTATE_H
#define HT_MODEL_ANNOTATE_H

#include "model/gpu_work.h"

/* ret_rows[i] is the innermost host annotation around the launch of work i, HT_NONE when it has none
 * or its launch is not in the file. Profiler steps are not annotations. */
enum ht_status ht_annotate_by_launch(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_work_list *work, uint32_t **ret_rows) HT_MUST_USE;

/* ret_rows[i] is the shortest GPU annotation of the frame on the track of work i that overlaps it,
 * HT_NONE when none does; of equally long ones the later row. */
enum ht_status ht_annotate_by_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_work_list *work, bool with_steps, uint32_t **ret_rows) HT_MUST_USE;

/* "outer / inner" per annotation of a frame, profiler steps left out. Texts are made when asked for,
 * once per annotation. */
struct ht_annotation_paths {
	const struct ht_trace *trace;
	const char **text;   /* by row, NULL: not made yet */
	uint32_t *gpu_outer; /* by row: the GPU annotation around a GPU annotation, HT_NONE: none */
};

enum ht_status ht_annotation_paths_init(struct ht_run *run, const struct ht_frame *frame,
        struct ht_annotation_paths *ret_paths) HT_MUST_USE;
/* Lives in scratch; NULL when out of memory. */
const char *ht_annotation_path(struct ht_run *run, struct ht_annotation_paths *paths, uint32_t row);

#endif
