/*
 * output.h - where a result goes: standard output, or a file that appears whole or not at all.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "holotrace.h"

#include <stdio.h>

struct output {
	FILE *file;
	const char *path; /* as the user gave it, NULL: standard output */
	char *target;     /* the file to replace; NULL when writing straight through */
	char *temporary;  /* beside it, renamed at the end */
	int error;        /* errno of the first failure */
};

/* path NULL or "-" is standard output. An exit code. */
int output_open(struct output *output, const char *path);
/* Finish: flush, rename. On failure of the caller (ok false) the file is left as it was. Says what
 * went wrong; the exit code. A reader that went away (EPIPE) is not an error. */
int output_close(struct output *output, bool ok);

/* Bytes for the library's renderers. */
struct ht_sink output_sink(struct output *output);
void output_print(struct output *output, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void output_text(struct output *output, const char *text);
/* With quotes and escapes, for JSON; NULL is null. */
void output_json(struct output *output, const char *text);
/* With & < > " escaped. */
void output_html(struct output *output, const char *text);
/* Words wrapped at width, every line but the first indented. */
void output_wrapped(struct output *output, const char *text, int indent, int width);

#endif
