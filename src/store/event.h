/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what an event is: its kind, flags and times, and the numbers that stand for nothing.
 */
#ifndef HT_STORE_EVENT_H
#define HT_STORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define HT_NONE   UINT32_MAX
#define HT_NO_STR UINT32_MAX
#define HT_NO_I64 INT64_MIN

/* What an event is, decided by category first, then dialect, then name (seal_kinds.c). */
enum ht_kind {
	HT_KIND_OTHER,           /* unknown category, kept and counted */
	HT_KIND_CPU_OP,          /* operator or autograd node */
	HT_KIND_ANNOTATION,      /* user_annotation on the host */
	HT_KIND_PYTHON,          /* python_function */
	HT_KIND_RUNTIME,         /* cuda_runtime, mtia_runtime, xpu_runtime, ... */
	HT_KIND_DRIVER,          /* cuda_driver, xpu_driver, ... */
	HT_KIND_KERNEL,          /* device kernel (and mtia_ccp_events, hpu_op, NPU tasks) */
	HT_KIND_MEMCPY,          /* device copy */
	HT_KIND_MEMSET,          /* device fill */
	HT_KIND_GPU_ANNOTATION,  /* gpu_user_annotation */
	HT_KIND_SYNC,            /* cuda_sync, xpu_sync */
	HT_KIND_CUDA_EVENT,      /* cuda_event */
	HT_KIND_OVERHEAD,        /* profiler overhead */
	HT_KIND_FLOW,            /* s, t, f */
	HT_KIND_MEMORY,          /* [memory], [OutOfMemory] instants */
	HT_KIND_INSTANT,         /* other instants */
	HT_KIND_COUNTER,         /* C */
	HT_KIND_METADATA,        /* M */
	HT_KIND_TRACE_SPAN,      /* cat Trace */
	HT_KIND_PROFILER_RANGE,  /* cuda_profiler_range: CUPTI counters */
	HT_KIND_ASYNC,           /* b, n, e */
	HT_KIND_MEMORY_TIMELINE, /* a change of the memory that tensors of one category hold */
	HT_N_KINDS
};

/* What a piece of GPU work does. */
enum ht_class {
	HT_CLASS_COMPUTE,
	HT_CLASS_COMM,
	HT_CLASS_MEMCPY,
	HT_CLASS_MEMSET,
	HT_CLASS_SYNC, /* kernels that only synchronise; MTIA and NPU control rows */
	HT_N_CLASSES
};

enum ht_event_flag {
	HT_EV_SPAN = 1,     /* has a start and a duration: X, or B with its E */
	HT_EV_NO_TS = 2,    /* ts absent */
	HT_EV_NO_DUR = 4,   /* dur absent in the file */
	HT_EV_BAD_TIME = 8, /* ts and dur were 0, or ts was refused; left out of timelines */
	HT_EV_CUT = 16,     /* ends after its parent; the call tree ends it there (seal_tracks.c) */
};

/* Times lie within this of 0, readers refuse others; ends do, too, and durations lie within the next: all
 * differences of two fit 64 bits. */
#define HT_MAX_TIME_NS     ((int64_t)1 << 62)
#define HT_MAX_DURATION_NS ((int64_t)7 * 24 * 3600 * 1000000000)

/* How the file is laid out and who wrote it. */
enum ht_dialect {
	HT_DIALECT_CHROME,
	HT_DIALECT_KINETO,
	HT_DIALECT_ASCEND,
	HT_DIALECT_MEMORY_TIMELINE,
	HT_DIALECT_MEMORY_SNAPSHOT,
	HT_DIALECT_NSYS,
	HT_N_DIALECTS
};

/* A pid or tid: integer or text. */
enum ht_id_type { HT_ID_ABSENT, HT_ID_INT, HT_ID_STR };

/* Fields of an event that have a column of their own; see shape.h. */
enum ht_field {
	HT_FIELD_PH,
	HT_FIELD_CAT,
	HT_FIELD_NAME,
	HT_FIELD_PID,
	HT_FIELD_TID,
	HT_FIELD_TS,
	HT_FIELD_DUR,
	HT_FIELD_ARGS,     /* the args object opens here */
	HT_FIELD_ARGS_END, /* and closes here */
	HT_FIELD_COUNT
};

enum ht_arg_type {
	HT_ARG_I64,
	HT_ARG_U64,
	HT_ARG_F64,
	HT_ARG_STR,
	HT_ARG_JSON,
	HT_ARG_BOOL,
	HT_ARG_NULL
};
#define HT_N_ARG_TYPES (HT_ARG_NULL + 1)

/* Calls of the runtime or the driver. */
static inline bool ht_kind_is_call(uint8_t kind)
{
	return kind == HT_KIND_RUNTIME || kind == HT_KIND_DRIVER;
}

/* Kernels, copies and sets. */
static inline bool ht_kind_is_gpu_work(uint8_t kind)
{
	return kind >= HT_KIND_KERNEL && kind <= HT_KIND_MEMSET;
}

/* Rows that stand on a device's timeline rather than in a host thread. */
static inline bool ht_kind_is_device(uint8_t kind)
{
	return ht_kind_is_gpu_work(kind) || kind == HT_KIND_GPU_ANNOTATION ||
	       kind == HT_KIND_SYNC || kind == HT_KIND_CUDA_EVENT || kind == HT_KIND_PROFILER_RANGE;
}

const char *ht_kind_name(enum ht_kind kind);
const char *ht_class_name(enum ht_class class_);

#endif
