/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run.h - what running an analysis and running it in parts have in common; cmd_run.c.
 */
#ifndef CLI_CMD_RUN_H
#define CLI_CMD_RUN_H

#include "cli.h"

/* The run function of every analysis. */
int run_analysis(struct cli *cli);
/* The view that the options ask for; an exit code. */
int run_view(struct cli *cli, bool to_terminal, struct ht_view *ret_view);
/* What an analysis runs over. */
struct run_sets {
	ht_set *list[HT_MAX_SETS];        /* NULL: not open */
	const char *sources[HT_MAX_SETS]; /* of comparisons: as given */
	size_t n;
	char *files; /* of an analysis over other files: the arguments, a line each */
	char name[32],
	        n_first[24]; /* the parameter that tells the sides apart, "" when there is none */
};

/* Open what the arguments and options name: one set, or more for a comparison; an exit code. view is
 * how its table is shown. */
int run_open_sets(struct cli *cli, const struct ht_view *view, struct run_sets *sets);
/* The parameters of the run; fills at most OPTS_MAX. */
size_t run_args(const struct cli *cli, const struct run_sets *sets, struct ht_arg *args);
/* Close them and end the session; warn when reading lost data. */
void run_close_sets(struct cli *cli, struct run_sets *sets, bool warn);
/* Write the table as the options ask; an exit code, that of a check when the table is its answer. */
int run_render(struct cli *cli, const ht_table *table);
/* Say that a terminal got the first rows only, where that is so. */
void run_say_cut(const struct cli *cli, const struct ht_view *view, const ht_table *table);

#endif
