/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_types.h - words of the critical path, and what the user asked for.
 */
#ifndef HT_GRAPH_CP_TYPES_H
#define HT_GRAPH_CP_TYPES_H

#include "model/run.h"

/* What the time between two points is. */
enum ht_cp_type {
	HT_CP_OPERATOR,     /* time inside an operator, call or kernel */
	HT_CP_DEPENDENCY,   /* order only, or time that no event covers */
	HT_CP_LAUNCH_DELAY, /* from the launch call to the start of its work */
	HT_CP_KERNEL_DELAY, /* from the end of other work to the start of this one */
	HT_CP_SYNC,         /* a wait for GPU work */
	HT_CP_N_TYPES
};
/* "critical_path_operator", ... */
const char *ht_cp_type_name(enum ht_cp_type type);

/* What the time depends on. */
enum ht_cp_bound {
	HT_CP_BOUND_NONE,
	HT_CP_BOUND_CPU,
	HT_CP_BOUND_DATA_LOADING,
	HT_CP_BOUND_GPU_COMMUNICATION,
	HT_CP_BOUND_GPU_COMPUTE,
	HT_CP_BOUND_GPU_MEMORY,
	HT_CP_BOUND_KERNEL_DELAY,
	HT_CP_BOUND_LAUNCH_DELAY,
	HT_CP_BOUND_UNRECORDED, /* the device waits, and nothing of the host was recorded */
	HT_CP_BOUND_QUEUED, /* behind work from before the recording: nobody knows what that is */
	HT_CP_N_BOUNDS
};

/* What a device without kernels waits for, as bits; the name of a what-if without any of it. */
#define HT_CP_IDLE_BOUNDS                                                                          \
	(1u << HT_CP_BOUND_CPU | 1u << HT_CP_BOUND_DATA_LOADING | 1u << HT_CP_BOUND_GPU_MEMORY |   \
	        1u << HT_CP_BOUND_KERNEL_DELAY | 1u << HT_CP_BOUND_LAUNCH_DELAY)
#define HT_CP_SCALE_IDLE "idle=0"
/* "cpu_bound", ...; "" for none. */
const char *ht_cp_bound_name(enum ht_cp_bound bound);
/* Of GPU work by its class. */
enum ht_cp_bound ht_cp_bound_of_class(uint8_t class_);

/* What is taken unless the user says otherwise. */
#define HT_CP_TOLERANCE_TEXT "10us"
#define HT_CP_TOLERANCE_NS   10000
#define HT_CP_DATA_LOADERS   "^enumerate\\(DataLoader\\)#.*\\.__next__$|^enumerate\\(DataPipe\\)#"

struct ht_cp_options {
	const char *
	        annotation; /* NULL: ProfilerStep, or everything where there is none; "": everything */
	const char *step;      /* NULL, or the steps that make the windows: "3-5,7" */
	const char *instance;  /* NULL: all; which instances: "0,2-3" */
	const char *data_load; /* regular expression, NULL: none */
	int64_t tolerance_ns;  /* a start later than this after all that is known is unexplained */
	bool only_names; /* of the events on a path but steps: nobody shows what else is known of them */
	bool only_on_path; /* of what-if only what has time on the path: nothing else saves any */
	bool with_origins; /* of the GPU activity on a path, where it has one */
	bool launch_edges; /* zero-weight edges from every launch to its work, where a graph has edges */
};

/* Those of an analysis without parameters for it: what is common to all, and the defaults. */
struct ht_cp_options ht_cp_options_default(const struct ht_run *run);
/* Options from the parameters of the critical-path analysis and what is common to all. */
enum ht_status ht_cp_options_read(
        struct ht_run *run, struct ht_cp_options *ret_options) HT_MUST_USE;

#endif
