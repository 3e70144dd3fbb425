/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_parser.c - see profile_parser.h.
 *
 * The file is CSV with every field in quotes, lines ending in a newline, and titles that other programs know; times
 * are milliseconds. What could not be matched is said on standard error.
 */
#include "profile_parser.h"

#include "output.h"
#include "cmd_run.h"
#include "verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct opt call_tree_opts[] = {
	{ "src", 's', "FILE", NULL, NULL, "the trace to read, when --dst is given",
	        "profile_parser", false },
	{ "dst", 'd', "FILE", NULL, NULL,
	        "write the seven columns of profile_parser to FILE; the options may be spelled -hc, -dc, "
	        "-mc, --max_depth and so on",
	        "profile_parser", false },
};
const size_t n_call_tree_opts = COUNT(call_tree_opts);

void call_tree_respell(const char **argv, size_t n)
{
	static const char *const words[][2] = { { "-hc", "--host-cat" }, { "-dc", "--device-cat" },
		{ "-mc", "--monitor-cat" } };
	for (size_t i = 0; i < n && strcmp(argv[i], "--") != 0; i++)
		for (size_t k = 0; k < COUNT(words); k++)
			if (strcmp(argv[i], words[k][0]) == 0)
				argv[i] = words[k][1];
}

/* A column of the file. */
struct field {
	const char *column, *title;
	const char *option; /* only with this flag; NULL: always */
};

static const struct field fields[] = {
	{ "name", "name", NULL },
	{ "args", "args", "with-args" },
	{ "host_ns", "host duration(ms)", NULL },
	{ "device_ns", "device duration(ms)", NULL },
	{ "launch_ns", "cuda launch duration(ms)", NULL },
	{ "cuda_runtime", "cuda_runtime", NULL },
	{ "kernels", "kernels", NULL },
	{ "kernel_infos", "kernel infos", NULL },
	{ "calls", "calls", "aggregate" },
};

static void put_text(struct output *output, const char *text)
{
	struct ht_sink sink = output_sink(output);
	(void)sink.write(sink.user, "\"", 1);
	while (*text != '\0') {
		size_t n = strcspn(text, "\"");
		(void)sink.write(sink.user, text, n);
		text += n;
		if (*text == '"') {
			(void)sink.write(sink.user, "\"\"", 2);
			text++;
		}
	}
	(void)sink.write(sink.user, "\"", 1);
}

/* Exactly, and as short as can be: 0.020993. */
static void put_ms(struct output *output, int64_t ns)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "%" PRId64 ".%06" PRId64, ns / 1000000, ns % 1000000);
	while (text[n - 1] == '0')
		n--;
	n -= text[n - 1] == '.';
	text[n] = '\0';
	put_text(output, text);
}

static void put_cell(struct output *output, const ht_table *table, size_t row, size_t column)
{
	enum ht_type type = ht_table_column(table, column)->type;
	char number[24];
	if (type == HT_DURATION) {
		put_ms(output, ht_table_i64(table, row, column));
	} else if (type == HT_I64) {
		snprintf(number, sizeof(number), "%" PRId64, ht_table_i64(table, row, column));
		put_text(output, number);
	} else {
		put_text(output, ht_table_str(table, row, column));
	}
}

static void put_file(const struct cli *cli, struct output *output, const ht_table *table)
{
	size_t columns[COUNT(fields)], n = 0;
	const char *titles[COUNT(fields)];
	for (size_t i = 0; i < COUNT(fields); i++) {
		if (fields[i].option != NULL && !opts_flag(&cli->opts, fields[i].option))
			continue;
		titles[n] = fields[i].title;
		columns[n++] = ht_table_find_column(table, fields[i].column);
	}
	for (size_t i = 0; i < n; i++) {
		output_text(output, i > 0 ? "," : "");
		put_text(output, titles[i]);
	}
	output_text(output, "\n");
	for (size_t row = 0; row < ht_table_n_rows(table); row++) {
		for (size_t i = 0; i < n; i++) {
			output_text(output, i > 0 ? "," : "");
			put_cell(output, table, row, columns[i]);
		}
		output_text(output, "\n");
	}
}

static int write_file(struct cli *cli, ht_set *set, const char *path)
{
	struct ht_arg args[OPTS_MAX];
	size_t n_args = session_args(cli, cli->verb->analysis, args);
	/* profile_parser leaves nothing out */
	args[n_args++] = (struct ht_arg){ "whole", "true" };
	struct output output;
	ht_table *table;
	enum ht_status status =
	        session_run(cli, cli->verb->analysis->name, &set, 1, args, n_args, NULL, &table);
	progress_clear(&cli->progress);
	if (status != HT_OK)
		return cli_fail(cli);
	int code = output_open(&output, cli->ctx, path);
	if (code == EXIT_DONE) {
		put_file(cli, &output, table);
		code = output_close(&output, true);
	}
	for (size_t i = 0; code == EXIT_DONE && i < ht_table_n_notes(table); i++)
		if (!opts_flag(&cli->opts, "quiet"))
			cli_say("%s", ht_table_note(table, i));
	ht_table_free(table);
	return code;
}

static int run_file(struct cli *cli, const char *source, const char *path)
{
	ht_set *set = NULL;
	int code = session_start(cli);
	if (code == EXIT_DONE) {
		/* to profile_parser a file that cannot be read is a wrong argument */
		code = session_open(cli, &source, 1, &set);
		code = code == EXIT_INPUT ? EXIT_USAGE : code;
	}
	if (code == EXIT_DONE && ht_set_reads(set, path)) {
		cli_say("%s: cannot write over a file that is being read. Write to another file",
		        path);
		code = EXIT_USAGE;
	}
	if (code == EXIT_DONE)
		code = write_file(cli, set, path);
	if (set != NULL && code == EXIT_DONE)
		session_warn_loss(cli, set, &source, 1);
	session_close(cli, set);
	session_end(cli);
	return code;
}

int run_call_tree(struct cli *cli)
{
	const char *source = opts_value(&cli->opts, "src"), *path = opts_value(&cli->opts, "dst");
	if (source == NULL && path == NULL)
		return run_analysis(cli);
	if (source == NULL || path == NULL || cli->opts.n_args > 0) {
		cli_say("give the trace and the file to write: holotrace call-tree -s TRACE -d FILE.csv");
		return EXIT_USAGE;
	}
	return run_file(cli, source, path);
}
