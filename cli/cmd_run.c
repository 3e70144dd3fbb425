/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_run.c - run one analysis of the library: open the traces, run, render.
 *
 * There is nothing here about any analysis: parameters become options by way of their descriptors.
 * A comparison takes two arguments, each a set of its own (several traces separated by commas); one of several
 * runs takes an option per side, as often as there are runs.
 */
#include "output.h"
#include "page.h"
#include "result.h"
#include "cmd_run.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_ROWS 50

static int open_list(struct cli *cli, const char *argument, ht_set **ret_set)
{
	size_t n = 1, n_bytes = strlen(argument) + 1;
	for (const char *at = argument; *at != '\0'; at++)
		n += *at == ',';
	/* a name that exists may hold commas itself */
	if (n == 1 || access(argument, F_OK) == 0)
		return session_open(cli, &argument, 1, ret_set);
	char *copy = malloc(n_bytes);
	const char **sources = calloc(n, sizeof(*sources));
	int code = EXIT_LIMIT;
	if (copy == NULL || sources == NULL) {
		code = cli_fail_nomem();
	} else {
		memcpy(copy, argument, n_bytes);
		char *at = copy;
		for (size_t i = 0; i < n; i++) {
			sources[i] = at;
			at += strcspn(at, ",");
			*at++ = '\0';
		}
		code = session_open(cli, sources, n, ret_set);
	}
	free(copy);
	free(sources);
	return code;
}

/* The traces are not needed when a parameter of the analysis replaces them. */
static bool needs_no_trace(const struct cli *cli)
{
	const char *input = cli->verb->analysis->input_param;
	return cli->opts.n_args == 0 && input != NULL && opts_value(&cli->opts, input) != NULL;
}

/* The runs of both sides, by their options or, one of each, as two arguments; an exit code. */
static int find_sides(struct cli *cli, struct run_sets *sets)
{
	const struct ht_analysis_info *info = cli->verb->analysis;
	const struct opts *opts = &cli->opts;
	size_t n_first = opts_values(opts, info->sides[0], sets->sources, HT_MAX_SETS);
	size_t room = n_first < HT_MAX_SETS ? HT_MAX_SETS - n_first : 0;
	size_t n = n_first +
	           opts_values(opts, info->sides[1], sets->sources + HT_MAX_SETS - room, room);
	if (n == 0 && opts->n_args == 2) {
		memcpy(sets->sources, opts->args, 2 * sizeof(*opts->args));
		n = 2;
		n_first = 1;
	} else if (opts->n_args > 0 || n_first == 0 || n == n_first) {
		cli_say("%s needs runs of both sides: holotrace %s %s", info->name, info->name,
		        cli->verb->usage);
		return EXIT_USAGE;
	}
	if (n > HT_MAX_SETS) {
		cli_say("%s takes up to %d runs, not %zu", info->name, HT_MAX_SETS, n);
		return EXIT_USAGE;
	}
	sets->n = n;
	snprintf(sets->name, sizeof(sets->name), "n-%s", info->sides[0]);
	snprintf(sets->n_first, sizeof(sets->n_first), "%zu", n_first);
	return EXIT_DONE;
}

static int find_two(struct cli *cli, struct run_sets *sets)
{
	const struct opts *opts = &cli->opts;
	if (opts->n_args != 2) {
		cli_say("%s compares exactly two traces: holotrace %s %s (commas join the ranks of one)",
		        cli->verb->name, cli->verb->name, cli->verb->usage);
		return EXIT_USAGE;
	}
	sets->n = 2;
	memcpy(sets->sources, opts->args, 2 * sizeof(*opts->args));
	return EXIT_DONE;
}

/* Files that are no traces are the arguments, as one text; traces come by an option. */
static int find_files(struct cli *cli, struct run_sets *sets)
{
	const struct ht_analysis_info *info = cli->verb->analysis;
	const struct opts *opts = &cli->opts;
	if (opts->n_args == 0) {
		cli_say("%s needs an execution trace: holotrace %s %s", info->name, info->name,
		        cli->verb->usage);
		return EXIT_USAGE;
	}
	sets->files = opts_lines(opts);
	if (sets->files == NULL)
		return cli_fail_nomem();
	size_t n = info->traces_option != NULL
	                   ? opts_values(opts, info->traces_option, sets->sources, HT_MAX_SETS)
	                   : 0;
	if (n < HT_MAX_SETS && info->traces_option != NULL)
		n += opts_values(opts, "attach", sets->sources + n, HT_MAX_SETS - n);
	sets->n = n > 0;
	return n > 0 ? session_open(cli, sets->sources, n < HT_MAX_SETS ? n : HT_MAX_SETS,
	                       &sets->list[0])
	             : EXIT_DONE;
}

/* The traces of one set, for the question that the verb is; with --save-trace they are needed twice. */
static int open_one(struct cli *cli, const struct ht_view *view, struct run_sets *sets)
{
	const struct opts *opts = &cli->opts;
	struct ht_arg args[OPTS_MAX];
	struct question question = {
		.name = cli->verb->analysis->name, .args = args, .view = view
	};
	question.n_args = run_args(cli, sets, args);
	bool is_once = opts_value(opts, "save-trace") == NULL;
	return session_open_for(
	        cli, opts->args, opts->n_args, is_once ? &question : NULL, &sets->list[0]);
}

int run_open_sets(struct cli *cli, const struct ht_view *view, struct run_sets *sets)
{
	const struct ht_analysis_info *info = cli->verb->analysis;
	const struct opts *opts = &cli->opts;
	*sets = (struct run_sets){ .n = 0 };
	if (info->files != NULL)
		return find_files(cli, sets);
	if (needs_no_trace(cli))
		return EXIT_DONE;
	if (info->n_sets == 1 && opts->n_args == 0) {
		cli_say("%s needs a TRACE: a file, a directory, a glob, rank=path, or - for standard "
		        "input",
		        cli->verb->name);
		return EXIT_USAGE;
	}
	if (info->n_sets == 1) {
		sets->n = 1;
		return open_one(cli, view, sets);
	}
	int code = (info->sides[0] != NULL ? find_sides : find_two)(cli, sets);
	for (size_t i = 0; i < sets->n && code == EXIT_DONE; i++)
		code = open_list(cli, sets->sources[i], &sets->list[i]);
	return code;
}

/* A format without notes has no place for warnings; they must not get lost. */
static void say_warnings(const struct cli *cli, const ht_table *table)
{
	const struct ht_format *format = ht_format_find(result_format(&cli->opts));
	if (format->has_notes || opts_flag(&cli->opts, "quiet"))
		return;
	fflush(stdout);
	for (size_t i = 0; i < ht_table_n_notes(table); i++) {
		if (ht_table_note_at(table, i)->severity == HT_NOTE_WARNING)
			cli_say("%s", ht_table_note(table, i));
	}
}

/* An empty file would leave one to guess. */
static void say_nothing_written(const struct cli *cli, const ht_table *table)
{
	bool has_rows = ht_table_n_rows(table) > 0;
	if (opts_flag(&cli->opts, "quiet"))
		return;
	cli_say("nothing was written: %s",
	        has_rows ? "folded lines are a text and a whole number above 0, and no row has both"
	                 : "there are no rows");
	for (size_t i = 0; i < ht_table_n_notes(table) && !has_rows; i++) {
		if (ht_table_note_at(table, i)->severity != HT_NOTE_WARNING)
			cli_say("%s", ht_table_note(table, i));
	}
}

size_t run_args(const struct cli *cli, const struct run_sets *sets, struct ht_arg *args)
{
	size_t n = session_args(cli, cli->verb->analysis, args);
	if (sets->files != NULL && n < OPTS_MAX)
		args[n++] = (struct ht_arg){ cli->verb->analysis->files, sets->files };
	if (sets->name[0] != '\0' && n < OPTS_MAX)
		args[n++] = (struct ht_arg){ sets->name, sets->n_first };
	return n;
}

int run_render(struct cli *cli, const ht_table *table)
{
	const char *path = opts_value(&cli->opts, "output");
	const char *format = result_format(&cli->opts);
	struct ht_render_options look = result_look(cli);
	struct output output;
	int code = output_open(&output, cli->ctx, path);
	if (code != EXIT_DONE)
		return code;
	/* a file that a browser opens must be a whole page; --format html asks for the fragment */
	bool whole_page = strcmp(format, "html") == 0 && opts_value(&cli->opts, "format") == NULL;
	struct ht_sink sink = output_sink(&output);
	if (whole_page)
		page_begin(&output, ht_table_title(table));
	enum ht_status status = ht_render(cli->ctx, table, format, &look, &sink);
	if (whole_page)
		page_end(&output);
	if (status != HT_OK && !output.failed) {
		(void)output_close(&output, false);
		return cli_fail(cli);
	}
	bool has_bytes = output.has_bytes;
	code = output_close(&output, true);
	if (code == EXIT_DONE && !has_bytes)
		say_nothing_written(cli, table);
	if (code == EXIT_DONE)
		say_warnings(cli, table);
	return code == EXIT_DONE && ht_table_check_failed(table) ? EXIT_CHECK_FAILED : code;
}

void run_say_cut(const struct cli *cli, const struct ht_view *view, const ht_table *table)
{
	if (view->top == TERMINAL_ROWS && opts_value(&cli->opts, "top") == NULL &&
	        ht_table_n_rows(table) == TERMINAL_ROWS && !opts_flag(&cli->opts, "quiet"))
		cli_say("first %d rows; --top all shows every row", TERMINAL_ROWS);
}

/* Write the traces with the analysis drawn into them. */
static int save_trace(struct cli *cli, ht_set *set, const struct ht_arg *args, size_t n_args)
{
	const char *path = opts_value(&cli->opts, "save-trace");
	struct ht_convert_options options = { .struct_size = sizeof(options),
		.ranks = opts_value(&cli->opts, "rank"),
		.overlay = cli->verb->analysis->name,
		.overlay_args = args,
		.n_overlay_args = n_args,
		/* the loss is told beside the result */
		.partial = true };
	if (path == NULL)
		return EXIT_DONE;
	enum ht_status status = session_convert(cli, set, path, &options);
	return status == HT_OK ? EXIT_DONE : cli_fail(cli);
}

static int run_and_render(struct cli *cli, const struct run_sets *sets, const struct ht_view *view)
{
	const struct ht_analysis_info *info = cli->verb->analysis;
	struct ht_arg args[OPTS_MAX];
	size_t n_args = run_args(cli, sets, args);
	ht_table *table;
	enum ht_status status =
	        session_run(cli, info->name, sets->list, sets->n, args, n_args, view, &table);
	progress_clear(&cli->progress);
	if (status != HT_OK)
		return cli_fail(cli);
	int code = run_render(cli, table);
	if (code == EXIT_DONE)
		run_say_cut(cli, view, table);
	ht_table_free(table);
	if (code == EXIT_DONE && info->draws)
		code = save_trace(cli, sets->list[0], args, n_args);
	return code;
}

int run_view(struct cli *cli, bool to_terminal, struct ht_view *ret_view)
{
	const struct opts *opts = &cli->opts;
	const char *format = result_format(opts);
	struct ht_view view = {
		.struct_size = sizeof(view),
		.columns = opts_value(opts, "columns"),
		.where = opts_value(opts, "where"),
		.sort = opts_value(opts, "sort"),
	};
	if (to_terminal && ht_format_find(format)->is_binary) {
		cli_say("%s is binary and not for a terminal. Use -o FILE or a pipe", format);
		return EXIT_USAGE;
	}
	/* a trace has up to millions of events, and a query may show them; nobody wants them all on the screen */
	bool lists_events = cli->verb->analysis == NULL || cli->verb->analysis->lists_events;
	bool is_long = to_terminal && lists_events && strcmp(format, "text") == 0;
	*ret_view = view;
	return result_top(opts, is_long ? TERMINAL_ROWS : 0, &ret_view->top);
}

void run_close_sets(struct cli *cli, struct run_sets *sets, bool warn)
{
	const struct opts *opts = &cli->opts;
	bool one = cli->verb->analysis->n_sets == 1;
	for (size_t i = 0; i < sets->n; i++) {
		if (sets->list[i] != NULL && warn)
			session_warn_loss(cli, sets->list[i], one ? opts->args : &sets->sources[i],
			        one ? opts->n_args : 1);
		session_close(cli, sets->list[i]);
	}
	free(sets->files);
	session_end(cli);
}

int run_analysis(struct cli *cli)
{
	bool to_terminal = cli->term.out_is_tty && opts_value(&cli->opts, "output") == NULL;
	struct ht_view view;
	struct run_sets sets = { .n = 0 };
	int code = result_refuse_ending(&cli->opts);
	if (code == EXIT_DONE)
		code = run_view(cli, to_terminal, &view);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE)
		code = run_open_sets(cli, &view, &sets);
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, sets.list, sets.n);
	if (code == EXIT_DONE)
		code = run_and_render(cli, &sets, &view);
	run_close_sets(cli, &sets, code == EXIT_DONE || code == EXIT_CHECK_FAILED);
	return code;
}
