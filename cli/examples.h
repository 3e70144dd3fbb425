/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples.h - an example of each analysis with its output, and how to read it; from the reference pages.
 */
#ifndef CLI_EXAMPLES_H
#define CLI_EXAMPLES_H

struct example {
	const char *verb;
	const char *text;    /* the command and its output, lines end in newlines */
	const char *reading; /* paragraphs, one per line; may be empty */
};

/* NULL when the verb has none. */
const struct example *example_of(const char *verb);

#endif
