/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_iterations.h - the iterations of a serving engine: what each handled, and how long it took.
 *
 * An iteration is an annotation on the host of a grammar (grammar.h); of two around each other the outer one, with what only the
 * inner one says. Its GPU work is what was launched inside it, however late that ran: engines schedule the next iteration while this
 * one runs, so time on the GPU is cut by launch, not by the clock.
 *
 *   wall  from its start to that of the next one on its thread; of the last one to the end of its span or of its GPU work
 *   gpu   summed duration of its GPU work
 *   gap   from the end of the last GPU work of earlier iterations to the first of its own; 0 when that had begun before
 */
#ifndef HT_MODEL_SERVING_ENGINE_ITERATIONS_H
#define HT_MODEL_SERVING_ENGINE_ITERATIONS_H

#include "model/run.h"
#include "model/serving/grammar.h"

struct ht_iteration {
	uint32_t row;
	struct ht_iteration_name name;
	int64_t start_ns;
	int64_t wall_ns, gpu_ns, gap_ns;
	int64_t first_gpu_ns, last_gpu_ns; /* INT64_MAX and INT64_MIN without GPU work */
};

/* Of the rank in hand, by start. Memory in scratch. */
enum ht_status ht_iterations_find(
        struct ht_run *run, struct ht_iteration **ret_list, size_t *ret_n) HT_MUST_USE;

#endif
