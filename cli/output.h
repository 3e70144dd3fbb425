/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - where a result goes: standard output, or a file that appears whole or not at all.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "holotrace.h"

#include <stdio.h>

struct output {
	ht_ctx *ctx;       /* for files and escaping; NULL: neither is used */
	FILE *file;        /* standard output, a device or a pipe */
	ht_writer *writer; /* a file; then file is NULL */
	const char *path;  /* as the user gave it, NULL: standard output */
	int error;         /* errno of the first failure to write to file */
	bool failed;       /* nothing more is written */
	bool has_bytes;    /* something was written */
	bool is_said;      /* and why has been said */
};

/* path NULL or "-" is standard output. An exit code. */
int output_open(struct output *output, ht_ctx *ctx, const char *path);
/* Finish. On failure of the caller (ok false) a file is left as it was. Says what went wrong; the exit
 * code. A reader that went away (EPIPE) is not an error. */
int output_close(struct output *output, bool ok);

/* Bytes for the library's renderers. */
struct ht_sink output_sink(struct output *output);
void output_print(struct output *output, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
void output_text(struct output *output, const char *text);
/* With quotes and escapes, for JSON; NULL is null. */
void output_json(struct output *output, const char *text);
/* A text from a trace, or a name, as it must stand in "text", "md" or "html". */
void output_escaped(struct output *output, const char *text, const char *format);
/* Words wrapped at width, every line but the first indented. */
void output_wrapped(struct output *output, const char *text, int indent, int width);

#endif
