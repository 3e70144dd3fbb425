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

struct report {
	const char *name; /* the sources, as the user gave them */
	size_t n_ranks;
	uint64_t n_events;
	const char *loss;                /* NULL: nothing was lost */
	struct report_section *sections; /* those with something to show */
	size_t n_sections;
	const char **empty; /* names of analyses without data */
	size_t n_empty;
};

/* Write the whole page as text, md or html. */
enum ht_status report_write(ht_ctx *ctx, const struct report *report, const char *format,
        struct ht_render_options *look, struct output *output) HT_MUST_USE;

#endif
