/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h - what standard output and standard error are connected to.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>

struct term {
	bool out_is_tty, err_is_tty;
	bool color;     /* standard output may be coloured, unless an option says otherwise */
	int width;      /* columns of standard output; where it has none, 100 for sentences */
	bool has_width; /* of a terminal, or set by COLUMNS; a pipe and a file have none */
	int err_width;
};

/* piped: what looks like a terminal is none, but what a launcher puts between. */
void term_init(struct term *term, bool piped);

#endif
