/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - what can follow "holotrace": the commands of this program and the library's analyses.
 *
 * Add a command: write cli/cmd_x.c with `const struct verb command_x`, add COMMAND(x) to commands.def,
 * run `make docs`. An analysis needs nothing here: its descriptor makes the verb.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "verb.h"

#define COMMAND(x) extern const struct verb command_##x;
#include "commands.def"
#undef COMMAND

/* All verbs: analyses first, in the library's order, then the commands. */
size_t verb_count(void);
void verb_at(size_t i, struct verb *ret_verb);
bool verb_find(const char *name, struct verb *ret_verb);
/* The nearest name, or NULL. */
const char *verb_near(const char *name);
/* Fill the table of options that the verb takes. */
void verb_options(const struct verb *verb, struct opts *opts);
/* The choices of an option that stand for the analyses which can be drawn into traces. */
extern const char choices_drawn[];

/* Does any view of the analysis have a column of that name? */
bool verb_has_column(const struct ht_analysis_info *info, const char *name);

#endif
