/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what the program says about itself.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "verbs.h"

#include <stdio.h>

/* Usage, verbs, exit codes. */
void help_overview(struct cli *cli, FILE *file);
/* Everything about one verb; an exit code. */
int help_verb(struct cli *cli, const struct verb *verb);
/* All verbs, or the one given, as JSON for tools; an exit code. */
int help_json(const struct verb *verb);
/* Verbs with one line each, analyses under the headings of their groups. */
struct output;
void help_verb_list(struct cli *cli, struct output *output);

#endif
