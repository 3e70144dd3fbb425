/*
 * collective_match.h - the same collective on several ranks.
 *
 * A collective is one call on every rank of a process group. Calls of different ranks belong together
 * when they agree in group (name and members), collective, and
 *   sequence number, where the profiler wrote it ("Seq"), else
 *   step and position: the n-th such call launched in that step (in the window, without steps).
 * A send belongs to the receive of the same pair of ranks. Where kernels carry no collective arguments
 * (they come from record_param_comms around the launch, if there), the kernel's name stands for the
 * collective. Kernels whose launch is outside the window are left out: their position is unknown.
 */
#ifndef HT_MODEL_COLLECTIVE_MATCH_H
#define HT_MODEL_COLLECTIVE_MATCH_H

#include "model/frame.h"
#include "model/part.h"

struct ht_collective_call {
	size_t i_part;    /* which rank */
	int64_t row;      /* of the kernel */
	int64_t start_ns; /* set time */
	int64_t dur_ns;
	int64_t launch_ns; /* set time of the launch call, HT_NO_I64 when unknown */
};

struct ht_collective {
	const char *group; /* "0 [0, 1, 2, 3]", "0->1" for a send, "" when unknown */
	const char *name;  /* "allreduce", or the kernel's short name */
	int64_t step;      /* of its launch on the first rank, HT_NO_I64 outside steps */
	int64_t nth;       /* sequence number, or position from 0 */
	int64_t elements;  /* in the first rank's input, HT_NO_I64 when unknown */
	const struct ht_collective_call *calls; /* ascending by i_part, one per rank */
	size_t n;
};

/* The columns of the calls of one rank, and writing them: what per_rank contributes. */
extern const struct ht_column ht_collective_columns[];
enum { HT_N_COLLECTIVE_COLUMNS = 11 };
enum ht_status ht_collective_calls_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

/* All collectives of the parts, whose facts[k] has the calls, those seen on one rank only included; ascending
 * by start on the first rank that has them. Memory in scratch; texts belong to the parts. O(n log n). */
enum ht_status ht_collectives_match(struct ht_run *run, const struct ht_parts *parts, size_t k,
        const struct ht_collective **ret_collectives, size_t *ret_n) HT_MUST_USE;

#endif
