/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_lines.h - the line of the user's own code behind each kernel and copy: of all that launch a name, the one with most of its time. What autograd
 * launches has no line around it: there it is "backward of" the line of its forward operator.
 */
#ifndef HT_MODEL_COMPARE_WORK_LINES_H
#define HT_MODEL_COMPARE_WORK_LINES_H

#include "model/part.h"

#define HT_WORK_LINE_COLUMNS(COLUMN)                                                               \
	COLUMN(HT_WORK_LINE_NAME, "name", HT_STR, HT_KEY, "kernel or copy", NULL)                  \
	COLUMN(HT_WORK_LINE_SOURCE, "source", HT_STR, HT_MEASURE,                                  \
	        "line of the user's code that launches most of its time", NULL)
#define HT_BACKWARD_OF "backward of "
HT_COLUMN_NUMBERS(HT_WORK_LINE_COLUMNS, HT_N_WORK_LINE_COLUMNS);
extern const struct ht_column ht_work_line_columns[HT_N_WORK_LINE_COLUMNS];

/* Of the rank in hand: a row per name whose line is known, by name. */
enum ht_status ht_work_lines_put(struct ht_run *run, ht_table *table) HT_MUST_USE;
/* NULL: not known. */
const char *ht_work_line_find(const ht_table *lines, const char *name);

#endif
