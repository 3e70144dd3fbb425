/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb.h - a verb: what can follow "holotrace".
 */
#ifndef CLI_VERB_H
#define CLI_VERB_H

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

#endif
