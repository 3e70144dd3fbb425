/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_text.h - findings of a run as rows: a label, what was found, the events behind it and where to look next.
 */
#ifndef HT_VERDICT_REPORT_TEXT_H
#define HT_VERDICT_REPORT_TEXT_H

#include "verdict/findings.h"
#include "verdict/words.h"
#include "model/finding/finding.h"

/* A name in a sentence has so many cells. */
#define HT_REPORT_NAME_CELLS 60

struct ht_report {
	struct ht_findings f;
	struct ht_run *run;
	ht_table *table;
	struct ht_words words;
};

/* As much of a name as a list bears. */
const char *ht_report_name(struct ht_report *report, const char *name, size_t cells);
const char *ht_report_brief(struct ht_report *report, const char *name);
/* The columns of lines. */
#define HT_REPORT_COLUMNS(COLUMN)                                                                  \
	COLUMN(HT_REPORT_TOPIC, "topic", HT_STR, HT_KEY, "what the line is about", NULL)           \
	COLUMN(HT_REPORT_FINDING, "finding", HT_STR, HT_MEASURE, "what was found", NULL)           \
	HT_FINDING_COLUMNS(COLUMN, HT_REPORT)                                                      \
	COLUMN(HT_REPORT_SAVES_NS, "saves_ns", HT_DURATION, HT_DETAIL,                             \
	        "upper_bound_ns under its former name", NULL)
HT_COLUMN_NUMBERS(HT_REPORT_COLUMNS, HT_N_REPORT_COLUMNS);

/* A row; that there was no memory for it is remembered. */
void ht_report_line(struct ht_report *report, const char *label, const struct ht_finding *finding);
/* The lines of what takes most time: operators, kernels, modules, collectives. */
void ht_report_tops(struct ht_report *report);
/* The lines of memory snapshots: the peak, and what is wrong; none without snapshots. */
enum ht_status ht_report_memory(struct ht_report *report) HT_MUST_USE;
/* The line of a serving engine's iterations; nothing without any. */
void ht_report_serving(struct ht_report *report);
/* The line of recompilations inside the window; nothing without any. */
void ht_report_recompilations(struct ht_report *report);

#endif
