/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - one trace file as columns; immutable once sealed.
 *
 * A row is one element of traceEvents, in file order, so row number = position in the file's array.
 * Everything is an array; rows refer to each other by number (HT_NONE: no row), strings are 32-bit
 * ids (HT_NO_STR: no string). All arrays are listed in sections.def, which is also the layout of the
 * cache file: a trace is either owned memory or a mapped cache file, and readers cannot tell.
 *
 *   row ─► ts dur name cat ph kind track shape          dense, one entry per row
 *   row ─► parent step                                   dense, built at seal (seal_*.c)
 *   shape and step take as few bytes as their numbers need: ht_shape_of, ht_step_of
 *   arg column (key, type) ─► rows[] values[]            sparse, rows ascending (args.h)
 *   gpu[i] ─► row class device stream launch op          one per piece of GPU work, by row
 *   track ─► (pid, tid), rows sorted by time
 */
#ifndef HT_STORE_TRACE_H
#define HT_STORE_TRACE_H

#include "base/map.h"
#include "base/status.h"
#include "store/event.h"

struct ht_track {
	int64_t pid, tid; /* value, or string id when the type says so */
	uint8_t pid_type, tid_type;
	uint16_t document; /* which of several concatenated documents */
	uint32_t first, n; /* slice of track_rows: all rows with a time, by (ts, -dur, row) */
	uint32_t n_spans;
	uint32_t name; /* thread_name, or HT_NO_STR */
	uint32_t process_name;
	int32_t device; /* GPU index for stream tracks, -1 for host */
	uint32_t pad;
};

/* One piece of GPU work: kernel, copy, set. */
struct ht_gpu {
	uint32_t row;
	uint32_t launch; /* row of the runtime or driver call, HT_NONE when outside the window */
	uint32_t op;     /* row of the operator that launched it (External id, else containment) */
	int32_t device : 24; /* -1 unknown, or beyond HT_MAX_DEVICE */
	uint32_t class_ : 8; /* enum ht_class */
	int64_t stream;      /* -1 unknown */
};
#define HT_MAX_DEVICE 0x7fffff
_Static_assert(sizeof(struct ht_gpu) == 24, "one for each piece of work: every byte counts");

struct ht_step {
	int64_t number;
	uint32_t row; /* host row of ProfilerStep#N; the GPU row only when no host row exists; the
	               * first work of a step that is named by its work */
	uint32_t
	        is_named; /* 1: nothing but the work names it ("Step Id"), and all of it is there */
	int64_t ts_ns, end_ns;
	int64_t done_ns; /* completion: the later of its end and that of its last activity, not before
	                      * that of the step before it on its thread */
	uint32_t n_work;      /* GPU activities that belong to it */
	uint32_t n_missing;   /* launches in it without their activity (seal_step_facts.c) */
	uint32_t is_complete; /* 1: it was recorded whole */
	uint32_t is_main;     /* 1: of the thread whose steps launch most; step times are theirs */
};

/* A flow: start and finish rows, and the spans they bind to. */
struct ht_flow {
	uint64_t id;
	uint32_t cat;                   /* string id */
	uint32_t start_row, finish_row; /* the s and f rows, HT_NONE when lone */
	uint32_t from, to;              /* spans they bind to, HT_NONE when none */
	uint32_t pad;
};

struct ht_category {
	uint32_t name; /* as in the file, HT_NO_STR for events without cat */
	uint8_t kind;
	uint8_t pad[3];
	uint32_t n;
};

struct ht_device {
	int64_t id;
	uint32_t name;                     /* string id or HT_NO_STR */
	uint32_t properties;               /* the whole JSON object */
	int64_t total_memory_bytes, n_sms; /* HT_NO_I64 when absent */
};

struct ht_process_group {
	uint32_t name, description, backend; /* string ids or HT_NO_STR */
	uint32_t ranks;                      /* JSON array text */
	int64_t size;
};

/* The top-level key of a trace that was made by drawing into another: the name of that file. */
#define HT_MADE_FROM_KEY "holotrace_made_from"

/* A top-level key of the document other than traceEvents, in file order. */
struct ht_header {
	uint32_t key, value; /* value is JSON text */
	uint16_t document;
	uint8_t after_events;
	uint8_t pad[5];
};

/* A table beside the events, its columns and their cells; see side_table.h. */
struct ht_side_table {
	uint32_t name; /* string id */
	uint32_t first_column, n_columns;
	uint32_t pad;
	uint64_t n_rows;
};

struct ht_side_column {
	uint32_t key; /* string id */
	uint8_t type; /* HT_ARG_I64, HT_ARG_F64 or HT_ARG_STR */
	uint8_t pad[3];
	uint64_t first_cell, n; /* slice of table_cells */
};

struct ht_trace_meta {
	uint64_t file_bytes, json_bytes; /* as stored; decompressed */
	int64_t base_ns;                 /* baseTimeNanoseconds, HT_NO_I64 when absent */
	int64_t rank, world_size;        /* HT_NO_I64 when the file does not say */
	int64_t min_ts_ns, max_end_ns;   /* over rows with a usable time; HT_NO_I64 when none */
	int64_t window_end_ns;           /* Record Window End, HT_NO_I64 when absent */
	uint32_t dialect;
	uint32_t n_documents;
	uint32_t compression; /* enum ht_compression */
	uint32_t has_host_steps;
};

#define SECTION(name, type)                                                                        \
	const type *name;                                                                          \
	size_t n_##name;
struct ht_trace {
#include "store/sections.def"
	/* ownership: sections in the bytes of a cache file, or each from mem */
	struct ht_mem *mem;
	struct ht_map map;
	const struct ht_trace_meta *meta;
	char *path;           /* as given by the user */
	atomic_int n_sharers; /* references besides the first */
};
#undef SECTION

/* Text of a string id; "" for HT_NO_STR. Strings end in NUL and may hold NULs before it only when the
 * file did. */
const char *ht_str(const struct ht_trace *trace, uint32_t id);
size_t ht_str_len(const struct ht_trace *trace, uint32_t id);
/* Id of a text, HT_NO_STR when the trace does not have it. O(1): the pool has a hash index. */
uint32_t ht_str_find(const struct ht_trace *trace, const char *text);

/* Number of rows. */
static inline uint32_t ht_n_events(const struct ht_trace *t)
{
	return (uint32_t)t->n_ts_ns;
}

static inline int64_t ht_end_ns(const struct ht_trace *t, uint32_t row)
{
	return t->ts_ns[row] + t->dur_ns[row];
}

/* Was the row's time refused? It is in the list of events only. */
static inline bool ht_time_was_refused(const struct ht_trace *t, uint32_t row)
{
	const uint8_t both = HT_EV_NO_TS | HT_EV_BAD_TIME;
	/* other flags may be set just now (seal_tracks.c) */
	return (__atomic_load_n(&t->flags[row], __ATOMIC_RELAXED) & both) == both;
}

static inline bool ht_is_span(const struct ht_trace *t, uint32_t row)
{
	return (t->flags[row] & (HT_EV_SPAN | HT_EV_BAD_TIME)) == HT_EV_SPAN;
}

/* Is a row in time and thread around another, or where it is? */
static inline bool ht_row_is_around(const struct ht_trace *t, uint32_t outer, uint32_t inner)
{
	return t->track[outer] == t->track[inner] && t->ts_ns[outer] <= t->ts_ns[inner] &&
	       ht_end_ns(t, outer) >= ht_end_ns(t, inner);
}

/* ---- narrow columns: one, two or four bytes a row ---- */

static inline uint32_t ht_narrow_get(const uint8_t *bytes, unsigned width, size_t i)
{
	if (width == 1)
		return bytes[i];
	if (width == 2)
		return ((const uint16_t *)(const void *)bytes)[i];
	return ((const uint32_t *)(const void *)bytes)[i];
}

/* Of HT_NONE the lowest bytes, which are all ones. */
static inline void ht_narrow_put(uint8_t *bytes, unsigned width, size_t i, uint32_t value)
{
	if (width == 1)
		bytes[i] = (uint8_t)value;
	else if (width == 2)
		((uint16_t *)(void *)bytes)[i] = (uint16_t)value;
	else if (width == 4)
		((uint32_t *)(void *)bytes)[i] = value;
}

/* Bytes of a row in shape, and in step: with no steps there is nothing to keep. */
static inline unsigned ht_shape_width(size_t n_shapes)
{
	return n_shapes <= 1 << 8 ? 1 : n_shapes <= 1 << 16 ? 2 : 4;
}
static inline unsigned ht_step_width(size_t n_steps)
{
	return !n_steps ? 0 : n_steps < UINT8_MAX ? 1 : n_steps < UINT16_MAX ? 2 : 4;
}

/* Which keys the row has, in which order: an index into shapes. */
static inline uint32_t ht_shape_of(const struct ht_trace *t, uint32_t row)
{
	return ht_narrow_get(t->shape, ht_shape_width(t->n_shape_offsets - 1), row);
}

/* The step of a row, an index into steps; HT_NONE outside. */
static inline uint32_t ht_step_of(const struct ht_trace *t, uint32_t row)
{
	unsigned width = ht_step_width(t->n_steps);
	if (!width)
		return HT_NONE;
	uint32_t step = ht_narrow_get(t->step, width, row);
	return step == HT_NONE >> (32 - 8 * width) ? HT_NONE : step;
}

/* How many rows are of a kind. */
size_t ht_n_of_kind(const struct ht_trace *t, enum ht_kind kind);

/* Category text of a row, "" when absent. */
const char *ht_cat(const struct ht_trace *trace, uint32_t row);

/* ---- links ---- */

/* What the header says about a device, NULL when it says nothing. */
const struct ht_device *ht_trace_device(const struct ht_trace *trace, int64_t id);
/* GPU work of a row (binary search), or NULL. */
const struct ht_gpu *ht_gpu_of_row(const struct ht_trace *trace, uint32_t row);
/* The same where the next row is likely near the last: *at is where that was found, 0 at first. */
const struct ht_gpu *ht_gpu_of_row_near(const struct ht_trace *trace, uint32_t row, size_t *at);
/* GPU rows started by a launch: slice of launch_gpu (indexes into gpu[]), in gpu[] order. */
void ht_launch_gpus(const struct ht_trace *trace, uint32_t launch_row, const uint32_t **ret_gpus,
        size_t *ret_n);

#endif
