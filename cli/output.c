/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - a result on standard output, or in a file that appears whole or not at all.
 *
 * Files are the library's business (ht_writer); devices and pipes are written straight, as a reader that
 * goes away is no error there.
 */
#include "output.h"
#include "cli.h"
#include "interrupt.h"
#include "holotrace/own.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int fail_to_write(struct output *output, int error)
{
	cli_say("%s: cannot write: %s", output->path != NULL ? output->path : "standard output",
	        strerror(error));
	return EXIT_LIMIT;
}

static int fail_by_library(const struct output *output)
{
	cli_say_error(ht_error(output->ctx));
	return EXIT_LIMIT;
}

int output_open(struct output *output, ht_ctx *ctx, const char *path)
{
	*output = (struct output){ .file = stdout, .ctx = ctx };
	if (path == NULL || strcmp(path, "-") == 0)
		return EXIT_DONE;
	output->path = path;
	output->file = NULL;
	struct stat info;
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
		output->file = fopen(path, "wb");
		return output->file != NULL ? EXIT_DONE : fail_to_write(output, errno);
	}
	interrupt_hold();
	if (ht_writer_open(ctx, path, &output->writer) == HT_OK)
		return EXIT_DONE;
	int code = fail_by_library(output);
	interrupt_release();
	return code;
}

/* Put the file into place, or leave what was there. */
static int close_writer(struct output *output, bool ok)
{
	int code = EXIT_DONE;
	if (output->is_said)
		code = EXIT_LIMIT;
	else if (output->failed && ok && !interrupt_pending())
		code = fail_by_library(output);
	if (!ok || output->failed)
		ht_writer_abort(output->writer);
	else if (ht_writer_commit(output->writer) != HT_OK)
		code = fail_by_library(output);
	interrupt_release();
	return code;
}

int output_close(struct output *output, bool ok)
{
	int code = EXIT_DONE;
	if (output->writer != NULL)
		code = close_writer(output, ok);
	if (output->file != NULL && fflush(output->file) != 0 && output->error == 0)
		output->error = errno;
	if (output->file != NULL && output->file != stdout && fclose(output->file) != 0 &&
	        output->error == 0)
		output->error = errno;
	if (ok && output->error != 0 && output->error != EPIPE)
		code = fail_to_write(output, output->error);
	*output = (struct output){ 0 };
	return code;
}

static bool write_bytes(void *user, const void *bytes, size_t n)
{
	struct output *output = user;
	if (output->failed)
		return false;
	output->has_bytes = output->has_bytes || n > 0;
	if (output->writer != NULL) {
		output->failed = interrupt_pending();
		if (!output->failed && ht_writer_write(output->writer, bytes, n) != HT_OK) {
			output->failed = true;
			/* now, as what writes will fail next, and know less of it */
			output->is_said = !interrupt_pending() && fail_by_library(output);
		}
	}
	if (output->file != NULL && fwrite(bytes, 1, n, output->file) != n)
		output->error = errno != 0 ? errno : EIO;
	output->failed = output->failed || output->error != 0;
	return !output->failed;
}

struct ht_sink output_sink(struct output *output)
{
	return (struct ht_sink){ .write = write_bytes, .user = output };
}

void output_print(struct output *output, const char *format, ...)
{
	char text[512], *all = text;
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int n = vsnprintf(text, sizeof(text), format, list);
	if (n >= (int)sizeof(text) && (all = malloc((size_t)n + 1)) != NULL)
		vsnprintf(all, (size_t)n + 1, format, again);
	if (n >= 0 && all != NULL) {
		write_bytes(output, all, (size_t)n);
	} else {
		output->error = output->error != 0 ? output->error : ENOMEM;
		output->failed = true;
	}
	if (all != text)
		free(all);
	va_end(again);
	va_end(list);
}

void output_text(struct output *output, const char *text)
{
	write_bytes(output, text, strlen(text));
}

void output_json(struct output *output, const char *text)
{
	if (text == NULL) {
		output_text(output, "null");
		return;
	}
	output_escaped(output, text, "json");
}

void output_escaped(struct output *output, const char *text, const char *format)
{
	struct ht_sink sink = output_sink(output);
	if (!output->failed && ht_escape(output->ctx, text, format, &sink) != HT_OK)
		output->failed = true;
}

/* Columns that n bytes of UTF-8 take: every byte but continuation bytes starts a character. */
static int columns_of(const char *text, size_t n)
{
	int columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void output_wrapped(struct output *output, const char *text, int indent, int width)
{
	int column = indent;
	while (*text != '\0') {
		size_t n = strcspn(text, " \n");
		int columns = columns_of(text, n);
		if (column > indent && column + 1 + columns > width) {
			output_print(output, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			output_text(output, " ");
			column++;
		}
		write_bytes(output, text, n);
		column += columns;
		text += n;
		text += strspn(text, " \n");
	}
}
