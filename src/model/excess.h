/*
 * excess.h - what one rank does more of than the others.
 *
 * Two profiles per rank, time by name over the frame:
 *   gpu   durations of GPU work except communication, by short name
 *   host  time inside an annotation, without annotations nested in it and without runtime and driver
 *         calls (a host that waits for the GPU waits in one of those); ProfilerStep rows count as one
 * Excess of a rank = its time - the median of all ranks for that name; the largest one per rank is what
 * to look at first. With an even number of ranks the lower of the middle two is the median.
 */
#ifndef HT_MODEL_EXCESS_H
#define HT_MODEL_EXCESS_H

#include "model/frame.h"

struct ht_excess {
	const char *name; /* NULL: none above the median */
	int64_t ns;
};

/* The largest excess of each frame on the host and on the GPU; both arrays have n_frames entries.
 * Memory in scratch. */
enum ht_status ht_excess_find(struct ht_run *run, const struct ht_frame *frames, size_t n_frames,
        struct ht_excess *ret_host, struct ht_excess *ret_gpu) HT_MUST_USE;

#endif
