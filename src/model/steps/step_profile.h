/*
 * step_profile.h - what a rank spends its steps on: time by name and step, and the steps themselves.
 *
 * Tables of plain data per rank. Over the chosen steps, of each name (or path, or name and shape):
 *     events that start in the step, or were launched there
 *     cpu         time of the step that is theirs: see step_time.h; adds up to the length of the step
 *     background  own time on other host threads, which runs beside the steps
 *     on the GPU  durations; a piece of GPU work contains no other
 * Paths are numbers into a table of their own, where each is the number of the path around it and a name.
 * The time of a step inside nothing that was recorded has a name of its own. A rank without steps is one step.
 */
#ifndef HT_MODEL_STEPS_STEP_PROFILE_H
#define HT_MODEL_STEPS_STEP_PROFILE_H

#include "model/part.h"
#include "model/rows/row_names.h"

#define HT_OUTSIDE_NAME "outside of operators"

struct ht_profile_options {
	enum ht_row_names_by by;
	bool cpu, gpu;    /* which names; the steps are of all */
	bool short_names; /* without template arguments and parameters */
};

/* Table of names. */
extern const struct ht_column ht_profile_columns[];
enum {
	HT_PROFILE_NAME,
	HT_PROFILE_PLACE,
	HT_PROFILE_STEP,
	HT_PROFILE_COUNT,
	HT_PROFILE_NS,
	HT_PROFILE_PATH
};
enum { HT_N_PROFILE_COLUMNS = 6 };
/* Table of steps. */
extern const struct ht_column ht_profile_step_columns[];
enum { HT_STEP_NUMBER, HT_STEP_NS, HT_STEP_KERNEL_NS, HT_STEP_COPY_NS, HT_STEP_COMM_NS };
enum { HT_N_PROFILE_STEP_COLUMNS = 5 };
/* Table of typical times: of GPU work but communication; see typical_time.h. Only when the part has it. */
extern const struct ht_column ht_profile_typical_columns[];
enum { HT_TYPICAL_NAME, HT_TYPICAL_BY_PLACE, HT_TYPICAL_BY_HALF };
enum { HT_N_PROFILE_TYPICAL_COLUMNS = 3 };
/* Where to put what was found. */
struct ht_profile_tables {
	ht_table *names, *steps;
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
