/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h - what can follow "holotrace": the commands of this program and the library's analyses.
 *
 * Add a command: write cli/cmd_x.c with `const struct verb command_x`, add COMMAND(x) to commands.def,
 * run `make docs`. An analysis needs nothing here: its descriptor makes the verb.
 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli.h"

/* Which shared options a verb takes. */
enum verb_takes {
	TAKES_TRACES = 1, /* how to read */
	TAKES_CHOICE = 2, /* rank, step, annotation, hta-compat */
	TAKES_TABLE = 4,  /* columns, order, format */
	TAKES_PAGE = 8,   /* format, rows and file of a whole page */
};

struct verb {
	const char *name;
	const char *usage;   /* what follows the options: "TRACE..." */
	const char *summary; /* one line for lists */
	const char *text;    /* a paragraph for help */
	unsigned takes;
	const struct opt *opts; /* its own */
	size_t n_opts;
	bool is_distributable; /* its traces may be with several processes: it only runs analyses over them */
	bool hidden;           /* works, but is not listed */
	bool wraps;            /* an analysis follows, whose options it takes */
	bool takes_verb_names; /* what follows are names of verbs, not traces */
	int (*run)(struct cli *cli);
	void (*respell)(const char **argv, size_t n); /* other words for options; NULL: none */
	const struct ht_analysis_info *analysis;      /* NULL: a command */
};

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

/* The run function of every analysis, in cmd_run.c. */
int run_analysis(struct cli *cli);

/* Does any view of the analysis have a column of that name? */
bool verb_has_column(const struct ht_analysis_info *info, const char *name);

#endif
