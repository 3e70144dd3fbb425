/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the results of all analyses of one set, ready to be written as a page.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli.h"
#include "output.h"

struct report_section {
	const struct ht_analysis_info *info;
	ht_table *table; /* NULL: it failed */
	char *problem;   /* why */
};

/* A table behind a chart of the page, beside those of the sections. */
struct report_extra {
	const char *key; /* by which the page finds it: "steps.mean" */
	ht_table *table;
	bool *kept;            /* rows that the chart needs; NULL: all */
	size_t n_series, n_of; /* of curves: how many are drawn, and of how many */
};

#define REPORT_MAX_EXTRAS 24

#define REPORT_MAX_CURVES 6

/* Of one kind of curve, where the highest are; from the table that sums them up. */
struct report_peaks {
	size_t n_curves; /* 0: not known */
	struct {
		int64_t rank;
		double most;
	} at[REPORT_MAX_CURVES];
};

/* Such a table before it is asked for. */
struct report_chart {
	const struct ht_analysis_info *info;
	char key[64], view[32];
	bool is_curve; /* the view that is over time; its key is the name of the analysis */
	struct report_peaks peaks;
};

struct report {
	const char *name; /* the sources, as the user gave them */
	const char *base; /* the run that it is compared with, NULL: none */
	ht_set *set, *base_set;
	size_t n_ranks;
	uint64_t n_events;
	const char *loss;                /* NULL: nothing was lost */
	struct report_section *sections; /* those with something to show */
	size_t n_sections;
	struct report_extra extras[REPORT_MAX_EXTRAS];
	size_t n_extras;
	struct report_chart charts[REPORT_MAX_EXTRAS]; /* that there could be */
	size_t n_charts;
	const char **empty; /* names of analyses without data */
	size_t n_empty;
};

/* Write the whole page as text, md or html. */
enum ht_status report_write(ht_ctx *ctx, const struct report *report, const char *format,
        struct ht_render_options *look, struct output *output) HT_MUST_USE;

/* Whether html is the page with charts: its script is in this build. */
bool report_has_page(void);
/* The page with charts, from the same tables. */
enum ht_status report_write_page(
        ht_ctx *ctx, const struct report *report, struct output *output) HT_MUST_USE;
struct report_chart_args {
	struct ht_arg args[OPTS_MAX + 3];
};
/* Which charts the analyses have. */
void report_list_charts(struct report *report);
/* The questions behind charts of the whole run, with the given args and their own, which lie in room (REPORT_MAX_EXTRAS);
 * how many. */
size_t report_ask_charts(const struct report *report, const struct ht_arg *args, size_t n_args,
        struct report_chart_args *room, struct ht_query *questions);
/* The answer to the i-th; NULL: none. */
void report_take_chart(struct report *report, size_t i, ht_table *table);
/* See in the whole table of an analysis where the highest curves are, for report_add_extras. */
void report_note_peaks(
        struct report *report, const struct ht_analysis_info *info, const ht_table *table);
/* Run what the page's charts need besides; an exit code. */
int report_add_extras(struct cli *cli, struct report *report);
void report_extras_done(struct report *report);
/* Of a table with more rows, the top ones by what they cost, in place; an exit code. */
int report_cut(struct cli *cli, ht_table **table, uint64_t top);

#endif
