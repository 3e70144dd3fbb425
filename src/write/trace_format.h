/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_format.h - what trace files can be written as, and what all of them share: the trace being written, hooks that add to it.
 *
 * Add one: write src/write/x.c with `const struct ht_trace_format ht_format_x`, add FORMAT(x) to formats.def.
 *
 * Extras hook into writing: drop rows, add args to rows, add events. For example an overlay:
 *
 *   static void mark(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args)
 *   {
 *           if (((const bool *)user)[row])
 *                   ht_args_i64(args, "critical", 1);
 *   }
 *   struct ht_write_extras extras = { .user = on_path, .row_args = mark };
 */
#ifndef HT_WRITE_TRACE_FORMAT_H
#define HT_WRITE_TRACE_FORMAT_H

#include "base/emit.h"
#include "model/clocks/clocks.h"
#include "write/kept_events.h"
#include "write/pids.h"

/* Where events are added. */
struct ht_trace_out;

/* A value, as it is written. */
struct ht_cell {
	uint8_t type; /* enum ht_arg_type */
	int64_t i64;  /* of numbers and bools */
	double f64;
	const char *text; /* of texts and JSON */
	size_t n;
	uint32_t id; /* of the text in the trace, HT_NO_STR: it is another one */
};

/* Where args of one event are added: a format's own. */
struct ht_args_out {
	void (*put)(struct ht_args_out *args, const char *key, const struct ht_cell *value);
};

/* Append a member to the args; the key must not be there yet. */
void ht_args_i64(struct ht_args_out *args, const char *key, int64_t value);
void ht_args_f64(struct ht_args_out *args, const char *key, double value);
void ht_args_str(struct ht_args_out *args, const char *key, const char *value);
/* Any value, as valid JSON text. */
void ht_args_json(struct ht_args_out *args, const char *key, const char *json);

/* Zero-initialise; every member may be NULL. i_trace is the position in the set. */
struct ht_write_extras {
	void *user;
	/* False leaves the row out. Asked after the filters; metadata is not asked about. */
	bool (*keep_row)(void *user, size_t i_trace, uint32_t row);
	/* Add args to a row that is being written. */
	void (*row_args)(void *user, size_t i_trace, uint32_t row, struct ht_args_out *args);
	/* Add events after those of the trace, with ht_write_event. */
	enum ht_status (*events)(void *user, size_t i_trace, struct ht_trace_out *out);
};

/* An added event. Zero-initialise, then set what it has. */
struct ht_new_event {
	char ph;
	const char *name, *cat; /* NULL: none */
	const uint32_t *row;    /* take pid and tid of this row; NULL: use the next two */
	const int64_t *pid, *tid;
	bool is_placed;        /* pid is the one of the file already */
	int64_t ts_ns;         /* the trace's own clock */
	const int64_t *dur_ns; /* NULL: none */
	const int64_t *id; /* as the trace would write it: made distinct when ranks are merged */
	const char *bp;    /* "e" for flow ends that bind to the enclosing span */
	void (*args)(void *user, struct ht_args_out *args); /* NULL: none */
	void *args_user;
};
void ht_write_event(struct ht_trace_out *out, const struct ht_new_event *event);

/* What a column means when traces are merged. */
enum ht_merge_role {
	HT_MERGE_PLAIN,
	HT_MERGE_FLOW_ID,
	HT_MERGE_LINK_ID,
	HT_MERGE_FRAME_ID,
	HT_MERGE_PROCESS_NAME,
	HT_MERGE_PROCESS_LABELS,
	HT_MERGE_SORT_INDEX
};

/* A file, over the traces that it is made of. Zero-initialise. */
struct ht_trace_file {
	uint64_t n_events; /* written so far */
	uint64_t n_tracks; /* the format's numbers of tracks and sequences */
	uint32_t n_sequences;
	int64_t zero_ns; /* the earliest time of all traces, as it is written */
	bool has_zero;
};

/* Writing one trace. */
struct ht_trace_out {
	ht_ctx *ctx;
	struct ht_emit *emit;
	const struct ht_trace_format *format;
	struct ht_trace_file *file;
	const struct ht_trace *trace;
	size_t i_trace;
	int64_t rank;
	struct ht_time_move move;   /* of every time */
	const struct ht_pids *pids; /* NULL: as they are; else several traces share a file */
	const struct ht_row_filter *filter;
	const struct ht_write_extras *extras; /* NULL: none */
	const char *derived_from;             /* a file to be named at the start; NULL: none */
	/* adds what belongs behind the rows, by ht_write_event */
	enum ht_status (*add_events)(struct ht_trace_out *out);
	void *add_user;
	/* set by ht_trace_out_init */
	struct ht_arena arena;
	struct ht_row_walk *walk;
	uint8_t *roles;     /* by arg column: enum ht_merge_role; all plain where pids is NULL */
	struct ht_vec text; /* of the last composed value */
	uint32_t process_name, process_labels, process_sort_index; /* string ids */
	void *own;                                                 /* the format's */
};

struct ht_trace_format {
	const char *
	        ending; /* of file names, without that of compression; NULL: all that no other has */
	/* A file of one trace. */
	enum ht_status (*alone)(struct ht_trace_out *out);
	/* One trace of several in a file. more_header is for the first, and NULL for the others. */
	enum ht_status (*merged)(struct ht_trace_out *out, const char *more_header);
	/* Behind the last, with the first trace. */
	void (*close)(struct ht_trace_out *out);
	void (*event)(struct ht_trace_out *out, const struct ht_new_event *event);
};

#define FORMAT(x) extern const struct ht_trace_format ht_format_##x;
#include "write/formats.def"
#undef FORMAT

/* The format of a file of that name. */
const struct ht_trace_format *ht_format_of(const char *path);

/* Prepare what is set up to add_user; the caller ends with ht_trace_out_done in any case. */
enum ht_status ht_trace_out_init(struct ht_trace_out *out) HT_MUST_USE;
void ht_trace_out_done(struct ht_trace_out *out);
/* Is the row written? */
bool ht_trace_out_keeps(const struct ht_trace_out *out, uint32_t row);
/* Names for processes that had none when traces are merged: their ids are not theirs. */
void ht_name_processes(struct ht_trace_out *out);

/* The value of a row in a column, with what merging changes; null where it has none. Rows ascend from call to call. Texts
 * live until the next call. */
void ht_row_cell(
        struct ht_trace_out *out, uint32_t row, uint32_t i_column, struct ht_cell *ret_cell);
/* The same where the role is not plain and the place in the column known; false: nothing changes. */
bool ht_merged_cell(struct ht_trace_out *out, uint32_t row, uint32_t i_column, uint64_t at,
        struct ht_cell *ret_cell);
/* pid and tid of a track in the file; type HT_ARG_NULL: it has none. */
void ht_pid_cell(struct ht_trace_out *out, uint32_t i_track, struct ht_cell *ret_cell);
void ht_tid_cell(struct ht_trace_out *out, uint32_t i_track, struct ht_cell *ret_cell);
/* An id of an added event, distinct from those of other traces. */
int64_t ht_moved_id(const struct ht_trace_out *out, int64_t id);

#endif
