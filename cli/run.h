/*
 * run.h - what running an analysis and running it in parts have in common; cmd_run.c.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli.h"

/* The view that the options ask for; an exit code. */
int run_view(struct cli *cli, bool to_terminal, struct ht_view *ret_view);
/* Open what the arguments name: one set, or two for a comparison. sets has room for two; an exit code. */
int run_open_sets(struct cli *cli, ht_set **sets);
/* Close them and end the session; warn when reading lost data. */
void run_close_sets(struct cli *cli, ht_set **sets, bool warn);
/* Write the table as the options ask; an exit code. */
int run_render(struct cli *cli, const ht_table *table);

#endif
