/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.c - format, rows and look of a result, from the options.
 */
#include "result.h"

#include <stdio.h>
#include <string.h>

#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool ends_in(const char *text, size_t n, const char *ending)
{
	size_t n_ending = strlen(ending);
	return n >= n_ending && memcmp(text + n - n_ending, ending, n_ending) == 0;
}

const char *result_format(const struct opts *opts)
{
	const char *format = opts_value(opts, "format"), *path = opts_value(opts, "output");
	if (format != NULL)
		return format;
	size_t n = path != NULL ? strlen(path) : 0;
	/* what compresses comes after what is written */
	n -= ends_in(path, n, ".gz") ? 3 : ends_in(path, n, ".zst") ? 4 : 0;
	for (size_t i = 0; i < ht_n_formats(); i++) {
		if (ends_in(path, n, ht_format_at(i)->ending))
			return ht_format_at(i)->name;
	}
	return "text";
}

/* The ending of a file's name when it looks like that of a format, else NULL. */
static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
	size_t n = dot != NULL ? strlen(dot + 1) : 0;
	bool is_one = n > 0 && n <= 8 && (dot[1] < '0' || dot[1] > '9');
	return is_one && strspn(dot + 1, ALPHANUMERIC) == n ? dot : NULL;
}

/* "Endings are .txt, .csv ... and .feather" */
static void list_endings(char *buf, size_t n_buf)
{
	size_t n = (size_t)snprintf(buf, n_buf, "Endings are ");
	for (size_t i = 0; i < ht_n_formats() && n < n_buf; i++) {
		const char *after = i + 2 < ht_n_formats()    ? ", "
		                    : i + 2 == ht_n_formats() ? " and "
		                                              : "";
		n += (size_t)snprintf(buf + n, n_buf - n, "%s%s", ht_format_at(i)->ending, after);
	}
}

int result_refuse_ending(const struct opts *opts)
{
	static const char *const plain[] = { ".text", ".log", ".out" };
	static const char *const hints[][2] = {
		{ ".parquet", ".arrow holds the same and opens in pandas, polars and DuckDB" },
		{ ".xlsx", ".csv opens in a spreadsheet" },
		{ ".pdf", ".html can be printed from a browser" },
		{ ".png", ".html has charts" },
		{ ".svg", ".html has charts" },
	};
	const char *path = opts_value(opts, "output");
	const char *ending = path != NULL ? ending_of(path) : NULL;
	const char *format = result_format(opts);
	if (ending == NULL || opts_value(opts, "format") != NULL || strcmp(format, "text") != 0 ||
	        strcmp(ending, ht_format_find(format)->ending) == 0)
		return EXIT_DONE;
	for (size_t i = 0; i < COUNT(plain); i++) {
		if (strcmp(ending, plain[i]) == 0)
			return EXIT_DONE;
	}
	char endings[160];
	list_endings(endings, sizeof(endings));
	const char *hint = endings;
	for (size_t i = 0; i < COUNT(hints); i++) {
		if (strcmp(ending, hints[i][0]) == 0)
			hint = hints[i][1];
	}
	cli_say("%s: %s is not written here. %s; or say --format", path, ending, hint);
	return EXIT_USAGE;
}

int result_top(const struct opts *opts, uint64_t by_default, uint64_t *ret_top)
{
	const char *top = opts_value(opts, "top");
	*ret_top = by_default;
	if (top == NULL)
		return EXIT_DONE;
	if (strcmp(top, "all") == 0) {
		*ret_top = 0;
		return EXIT_DONE;
	}
	if (parse_count(top, ret_top))
		return EXIT_DONE;
	cli_say("--top cannot be '%s'. It is a number of rows, or all", top);
	return EXIT_USAGE;
}

/* A pipe or a file has no width of its own: tables keep what an editor or a pager can show. */
#define PIPE_WIDTH 200

struct ht_render_options result_look(const struct cli *cli)
{
	const char *path = opts_value(&cli->opts, "output");
	const char *color = opts_value(&cli->opts, "color");
	bool to_file = path != NULL && strcmp(path, "-") != 0;
	bool forced = color != NULL && strcmp(color, "always") == 0;
	return (struct ht_render_options){
		.struct_size = sizeof(struct ht_render_options),
		.color = cli->term.color && (!to_file || forced),
		.bars = cli->term.out_is_tty && !to_file,
		.wide = opts_flag(&cli->opts, "wide"),
		.safe_csv = opts_flag(&cli->opts, "safe-csv"),
		.width = to_file || !cli->term.has_width ? PIPE_WIDTH : cli->term.width,
	};
}
