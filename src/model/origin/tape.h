/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape.h - what launched the kernels of a graph, in order: a recording to read a replay against.
 *
 * A tape is made of a trace that joins, or of the trace itself:
 *   capture  launch calls between the begin and the end of a capture that ran nothing on the GPU, in order of their start.
 *            Size and mode come from the annotation capture_<size>_<mode> around them; in piecewise mode one annotation
 *            has several tapes. A launch is of the innermost such annotation around it. Launch calls of HIP carry the
 *            kernel's name, those of CUDA do not.
 *   eager    all GPU activities that calls of their own launched, in order of these calls
 */
#ifndef HT_MODEL_ORIGIN_TAPE_H
#define HT_MODEL_ORIGIN_TAPE_H

#include "model/run.h"

struct ht_attachment;

struct ht_tape_entry {
	uint32_t launch; /* row of the call */
	uint32_t op;     /* row of the operator around it, HT_NONE: none */
	uint64_t
	        key; /* what is compared: the kernel's name, or that it is a copy or a set; 0: not known */
	uint8_t kind;   /* HT_KIND_KERNEL, HT_KIND_MEMCPY or HT_KIND_MEMSET */
	int64_t stream; /* -1: unknown */
};

struct ht_tape {
	const struct ht_trace *trace;
	const struct ht_attachment *from; /* NULL: the trace in hand */
	bool is_capture;
	bool has_names;
	int64_t size; /* of the annotation, -1: it says none */
	uint32_t ordinal,
	        n_of;      /* place among the tapes of its annotation, and how many these are */
	const char *label; /* of the annotation; "" without one */
	struct ht_tape_entry *entries;
	size_t n;
};

struct ht_tapes {
	struct ht_tape *list;
	size_t n;
};

/* What a GPU activity is compared by. */
uint64_t ht_tape_key(const struct ht_trace *trace, uint32_t row);
/* The innermost operator around a host row, the row itself included; HT_NONE: none. */
uint32_t ht_op_around(const struct ht_trace *trace, uint32_t row);
/* Whether a row is an operator; for ht_around_init. */
bool ht_is_op(const void *trace, uint32_t row);
/* Whether a call launches a graph. */
bool ht_is_graph_launch_name(const char *name);

/* The tapes of all traces that join the rank in hand, and its own. Memory in scratch. */
enum ht_status ht_tapes_make(struct ht_run *run, struct ht_tapes *ret_tapes) HT_MUST_USE;
/* Those of one trace. */
enum ht_status ht_tapes_of(struct ht_run *run, const struct ht_trace *trace,
        const struct ht_attachment *from, struct ht_vec *tapes) HT_MUST_USE;

#endif
