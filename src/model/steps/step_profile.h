/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_profile.h - what a rank spends its steps on: time by name and step, and the steps themselves.
 *
 * Tables of plain data per rank. Over the chosen steps, of each name (or path, or name and shape):
 *     events that start in the step, or were launched there
 *     cpu         time of the step that is theirs: see step_time.h; adds up to the length of the step
 *     background  own time on other host threads, which runs beside the steps
 *     on the GPU  durations; a piece of GPU work contains no other
 * By line they are those of the user's own code: of a host row the function around it, of the backward pass that around its forward
 * operator, of GPU work what launched it; Python outside of operators counts, and calls that wait for the device have a name of their own.
 * Paths are numbers into a table of their own, where each is the number of the path around it and a name.
 * The time of a step inside nothing that was recorded has a name of its own. A rank without steps is one step.
 */
#ifndef HT_MODEL_STEPS_STEP_PROFILE_H
#define HT_MODEL_STEPS_STEP_PROFILE_H

#include "model/part.h"
#include "model/rows/row_names.h"

#define HT_OUTSIDE_NAME "outside of operators"
/* By line. */
#define HT_NO_LINE_NAME "no line of your code around it"
#define HT_WAITING_NAME "waiting for the device"

struct ht_profile_options {
	enum ht_row_names_by by;
	bool cpu, gpu;    /* which names; the steps are of all */
	bool short_names; /* without template arguments and parameters */
};

/* Table of names. */
#define HT_PROFILE_COLUMNS(COLUMN)                                                                 \
	COLUMN(HT_PROFILE_NAME, "name", HT_STR, HT_KEY, "name, or name and shape; null by path",   \
	        NULL)                                                                              \
	COLUMN(HT_PROFILE_PLACE, "place", HT_I64, HT_KEY, "where it runs", NULL)                   \
	COLUMN(HT_PROFILE_STEP, "step", HT_I64, HT_KEY, "step, null for the whole trace", NULL)    \
	COLUMN(HT_PROFILE_COUNT, "count", HT_I64, HT_MEASURE, "events", NULL)                      \
	COLUMN(HT_PROFILE_NS, "ns", HT_DURATION, HT_MEASURE, "their time", NULL)                   \
	COLUMN(HT_PROFILE_PATH, "path", HT_I64, HT_KEY, "number of the path, null unless by path", \
	        NULL)
HT_COLUMN_NUMBERS(HT_PROFILE_COLUMNS, HT_N_PROFILE_COLUMNS);
extern const struct ht_column ht_profile_columns[HT_N_PROFILE_COLUMNS];
/* Table of steps. */
#define HT_PROFILE_STEP_COLUMNS(COLUMN)                                                            \
	COLUMN(HT_STEP_NUMBER, "step", HT_I64, HT_KEY, "step, null for the whole trace", NULL)     \
	COLUMN(HT_STEP_NS, "ns", HT_DURATION, HT_MEASURE,                                          \
	        "its length, or time inside the annotation asked for", NULL)                       \
	COLUMN(HT_STEP_KERNEL_NS, "kernel_ns", HT_DURATION, HT_MEASURE,                            \
	        "durations of kernels that compute", NULL)                                         \
	COLUMN(HT_STEP_COPY_NS, "copy_ns", HT_DURATION, HT_MEASURE,                                \
	        "durations of copies, sets and waits on the GPU", NULL)                            \
	COLUMN(HT_STEP_COMM_NS, "comm_ns", HT_DURATION, HT_MEASURE, "durations of communication",  \
	        NULL)
HT_COLUMN_NUMBERS(HT_PROFILE_STEP_COLUMNS, HT_N_PROFILE_STEP_COLUMNS);
extern const struct ht_column ht_profile_step_columns[HT_N_PROFILE_STEP_COLUMNS];
/* Table of typical times: of GPU work but communication; see typical_time.h. Only when the part has it. */
#define HT_PROFILE_TYPICAL_COLUMNS(COLUMN)                                                         \
	COLUMN(HT_TYPICAL_NAME, "name", HT_STR, HT_KEY, "name, or name and shape", NULL)           \
	COLUMN(HT_TYPICAL_BY_PLACE, "by_place", HT_DURATION_F64, HT_MEASURE,                       \
	        "its typical time per step, call by call", NULL)                                   \
	COLUMN(HT_TYPICAL_BY_HALF, "by_half", HT_DURATION_F64, HT_MEASURE,                         \
	        "by the shorter half of its calls", NULL)
HT_COLUMN_NUMBERS(HT_PROFILE_TYPICAL_COLUMNS, HT_N_PROFILE_TYPICAL_COLUMNS);
extern const struct ht_column ht_profile_typical_columns[HT_N_PROFILE_TYPICAL_COLUMNS];
/* Where to put what was found. */
struct ht_profile_tables {
	ht_table *names;
	ht_table *steps;   /* NULL: not asked for */
	ht_table *typical; /* NULL: not asked for */
	ht_table *paths;   /* see name_tree.h; NULL unless by path */
};

/* Fill the tables from the rank in hand. */
enum ht_status ht_profile_put(struct ht_run *run, const struct ht_profile_options *options,
        const struct ht_profile_tables *tables) HT_MUST_USE;
/* By the columns of the policy instead: every row with a duration, by stream argument and iteration, host and GPU
 * under one name and in no place; the chosen steps as one. */
enum ht_status ht_profile_put_rows(struct ht_run *run, const struct ht_profile_options *options,
        const struct ht_profile_tables *tables) HT_MUST_USE;

#endif
