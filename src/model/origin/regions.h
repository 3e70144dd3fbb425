/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.h - what torch.compile made, as the trace shows it: graphs that were called, and compilations inside the window.
 *
 * A forward graph is called inside cpu_op "Torch-Compiled Region: <frame>/<compile>"; a backward graph inside
 * CompiledFunctionBackward, whose sequence number is that of the region's CompiledFunction. A compilation inside the window is
 * the operator entire_frame_compile with its compile id beside it; it is a recompilation when the frame was compiled before, that is,
 * when the second number of the id is not 0.
 */
#ifndef HT_MODEL_ORIGIN_REGIONS_H
#define HT_MODEL_ORIGIN_REGIONS_H

#include "model/run.h"

/* Texts are NULL where they are not known. */
struct ht_compiled_region {
	const char *region, *compile_id, *key;
	bool is_backward;
	int64_t n_calls, cpu_ns, gpu_ns;
	int64_t n_recompiled, compile_ns; /* inside the window; with the forward graph */
	const char *reason;               /* of the last one, from a log that joins */
	uint32_t row;                     /* its first call, or its compilation */
	uint32_t compile_row;             /* its last compilation inside the window, HT_NONE */
};

/* Of the rank in hand, forward before backward, by first call. Memory in scratch. */
enum ht_status ht_regions_find(
        struct ht_run *run, const struct ht_compiled_region **ret_list, size_t *ret_n) HT_MUST_USE;

#endif
