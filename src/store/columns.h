/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - one trace file as columns; immutable once sealed.
 *
 * A row is one element of traceEvents, in file order, so row number = position in the file's array.
 * Everything is an array; rows refer to each other by number (HT_NONE: no row), strings are 32-bit
 * ids (HT_NO_STR: no string). All arrays are listed in columns.def and sections.def, which are also the layout of the
 * cache file: a trace is either owned memory or a mapped cache file, and readers cannot tell.
 *
 *   row ─► ts dur name cat ph kind track shape          dense, one entry per row
 *   row ─► parent step                                   dense, built at seal (seal_*.c)
 *   shape and step take as few bytes as their numbers need: ht_shape_of, ht_step_of
 *   arg column (key, type) ─► rows[] values[]            sparse, rows ascending (args.h)
 *   gpu[i] ─► row class device stream launch op          one per piece of GPU work, by row
 *   track ─► (pid, tid), rows sorted by time
 *   more ─► what the file says besides, side tables, memory snapshot, ownership (trace.h)
 *
 * Nearly every source reads these columns, and they hardly change. What is added to a trace goes behind more, so that
 * only those who ask for it are compiled again.
 */
#ifndef HT_STORE_COLUMNS_H
#define HT_STORE_COLUMNS_H

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
	int64_t begin_ns; /* where its time begins when no step before it tells: its start, of the first of its
	                   * thread the end of GPU activity of before (earlier_work.h) */
	int64_t done_ns; /* completion: the later of its end and that of its last activity, not before
	                      * that of the step before it on its thread */
	uint32_t n_work;      /* GPU activities that belong to it */
	uint32_t n_missing;   /* launches in it without their activity (seal_step_facts.c) */
	uint32_t is_complete; /* 1: it was recorded whole */
	uint32_t is_main;     /* 1: of the thread whose steps launch most; step times are theirs */
};

struct ht_category {
	uint32_t name; /* as in the file, HT_NO_STR for events without cat */
	uint8_t kind;
	uint8_t pad[3];
	uint32_t n;
};

struct ht_arg_column;
struct ht_pack_block;
struct ht_trace_meta;
struct ht_trace_more;

#define SECTION(name, type)                                                                        \
	const type *name;                                                                          \
	size_t n_##name;
struct ht_trace {
#include "store/columns.def"
	const struct ht_trace_meta *meta; /* trace_meta.h */
	const struct ht_trace_more *more; /* trace.h */
	char *path;                       /* as given by the user */
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

/* GPU work of a row (binary search), or NULL. */
const struct ht_gpu *ht_gpu_of_row(const struct ht_trace *trace, uint32_t row);
/* The same where the next row is likely near the last: *at is where that was found, 0 at first. */
const struct ht_gpu *ht_gpu_of_row_near(const struct ht_trace *trace, uint32_t row, size_t *at);
/* GPU rows started by a launch: slice of launch_gpu (indexes into gpu[]), in gpu[] order. */
void ht_launch_gpus(const struct ht_trace *trace, uint32_t launch_row, const uint32_t **ret_gpus,
        size_t *ret_n);

#endif
