/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - where the definition of a result can be another one, named by what differs.
 *
 * All zero is our own definition of everything. Another set of rules fills the fields in one place
 * (src/hta/hta_policy.c, from the options that ask for it); models and analyses ask for the behaviour and do not
 * know whose it is. A callback that is NULL means: as the file that asks does it itself.
 */
#ifndef HT_MODEL_POLICY_H
#define HT_MODEL_POLICY_H

#include "base/status.h"

struct ht_cell_source;
struct ht_cp_drawing;
struct ht_cp_options;
struct ht_frame;
struct ht_idle_options;
struct ht_idle_stream;
struct ht_row_columns;
struct ht_run;
struct ht_work_list;

/* Rows: the work, and what waited for its end. */
struct ht_path_wait {
	uint32_t work, waiter;
};

struct ht_policy {
	/* ---- which rows ---- */
	/* rows, gpu and cut of a frame whose trace is set; not asked when steps or annotations are named */
	enum ht_status (*select_rows)(struct ht_run *run, struct ht_frame *frame);
	bool rows_with_gpu; /* frames of GPU work have the other rows too */
	/* what rows say of themselves (frame.h); iteration only when asked for */
	enum ht_status (*columns)(struct ht_run *run, const struct ht_frame *frame,
	        bool with_iteration, struct ht_row_columns *ret_columns);
	bool raw_columns; /* taken as they are, also a stream of 4294967295 and steps that the GPU shows */
	bool events_of_frame; /* events are listed as the frame has them; any args column exists */
	bool only_chosen; /* nothing is concluded from work that was not chosen, or from before the recording */
	bool needs_facts; /* the rules look at all ranks of a set: run->facts */
	/* columns of events that no file has; may be NULL */
	const struct ht_cell_source *cells;

	/* ---- time, devices, streams ---- */
	bool file_clocks;         /* times as the files have them, not on fitted clocks */
	bool one_device;          /* the devices of a rank count as one */
	bool streams_by_number;   /* series: streams and copies of all devices together */
	bool span_to_last_start;  /* a trace lasts until its last event starts */
	int64_t shortest_copy_ns; /* what a copy without duration takes; 0: 1 */
	int64_t (*series_zero)(
	        const struct ht_run *run); /* what series take off their times; NULL: 0 */

	/* ---- what is GPU work, and of what type ---- */
	enum ht_status (*collect_work)(
	        struct ht_run *run, const struct ht_frame *frame, struct ht_work_list *ret_work);
	/* the work that has annotations; by_stream: those drawn on its stream, steps included */
	enum ht_status (*collect_annotated)(
	        struct ht_run *run, const struct ht_frame *frame, struct ht_work_list *ret_work);
	/* time by mask of types that run at once: sums and whether there was any, by mask */
	enum ht_status (*sum_types)(struct ht_run *run, const struct ht_work_list *work,
	        unsigned types, int64_t *sums_ns, bool *seen);
	unsigned (*type_by_name)(const char *name); /* enum ht_work_type; NULL: by class */
	const char *const *type_words;              /* by enum ht_work_type; NULL: our words */
	bool only_known_types;                      /* work of type other is left out */
	bool waits_are_work;                        /* a wait on a stream stands in sequences */
	bool waits_in_transfers; /* communication is not split into waiting and transfer */

	/* ---- launches, queues, gaps ---- */
	bool (*is_launch)(const char *name); /* of queues; NULL: every launch */
	bool (*counts_launch)(
	        const char *name, bool memory); /* of launch statistics; NULL: every one */
	bool assumed_queue_limit;               /* not looked for in the data */
	enum ht_status (*collect_idle)(struct ht_run *run, const struct ht_frame *frame,
	        const struct ht_idle_options *options, const struct ht_idle_stream **ret_streams,
	        size_t *ret_n);

	/* ---- what tables show ---- */
	const char *label;    /* said under the title; NULL: nothing */
	bool no_hints;        /* nothing is concluded under the table */
	bool single_pieces;   /* rows of single events where the default is a summary */
	bool by_name;         /* rows in the order of names, or as found, not largest first */
	bool no_empty_rows;   /* what has no events has no row */
	bool full_names;      /* names are not shortened where that is the default */
	bool raw_short_names; /* short names are what brackets leave: "a::::k", or nothing */
	bool zero_spread;     /* the deviation of one sample is 0, not null */
	bool folds_sums;      /* what is folded is chosen and described by the sums of names */
	bool one_backward; /* call trees: only one autograd thread has its rows under the main one */
	bool roots_at_one_depth; /* operators of sequences are those at the depth of the first */
	bool compares_counts;    /* differences: first rank and step, by count; nothing is tested */

	/* ---- the critical path ---- */
	/* as ht_cp_put_model; view is enum ht_cp_view_kind */
	enum ht_status (*put_path)(struct ht_run *run, const struct ht_cp_options *options,
	        int view, const char *scale, ht_table *table);
	enum ht_status (*draw_path)(
	        struct ht_cp_drawing *drawing, const struct ht_cp_options *options);
	/* waits for GPU work on the path of the first step; always there, for what mixes definitions. Needs facts. */
	enum ht_status (*path_waits)(
	        struct ht_run *run, struct ht_path_wait **ret_waits, size_t *ret_n);

	/* Fail because the rules do not have something: "path across ranks"; NULL: they have all. */
	enum ht_status (*refuse)(struct ht_run *run, const char *what);
};

/* Columns of events that are derived and not read: found by name, then put cell by cell. */
struct ht_cell_source {
	const char *prefix; /* that all their names have */
	/* which column, -1 when it has none of that name */
	int (*find)(const char *name, struct ht_column *ret_column);
	bool (*needs_graph)(int field);
	/* what the cells of a frame are read from; memory in scratch */
	enum ht_status (*start)(struct ht_run *run, const struct ht_frame *frame, bool with_graph,
	        const void **ret_cells);
	void (*put)(const void *cells, int field, uint32_t row, ht_table *table, size_t column);
	/* whether a row stands with those of the GPU */
	bool (*is_gpu)(const void *cells, uint32_t row);
};

#endif
