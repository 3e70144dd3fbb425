/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_history.c - many runs in one file: add one, see their numbers, and fail where one got worse for good.
 */
#include "result.h"
#include "cmd_run.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "add", 0, "RUN", NULL, NULL,
	        "add a run to the store first: a trace file, or a folder of ranks; several joined by repeating it",
	        "This command", false },
	{ "label", 0, "COMMIT", NULL, NULL, "what the added run is called, mostly its commit",
	        "This command", false },
	{ "import", 0, "FILE", NULL, NULL,
	        "add runs of other programs: CSV with a label and then a value per column, a run per line",
	        "This command", false },
	{ "view", 0, "VIEW", "changes|series|latest", "changes",
	        "where numbers changed, the numbers of every run, or those of the last one",
	        "This command", false },
	{ "path", 0, "PATH", NULL, NULL, "only this and what is below it: step, gpu/kernels",
	        "This command", false },
	{ "since", 0, "LABEL", NULL, NULL,
	        "only changes from this run on: what came before is accepted", "This command",
	        false },
	{ "min-change", 0, "SHARE", NULL, "0", "smallest change that counts: 0.02 is 2 %",
	        "This command", false },
	{ "max-pvalue", 0, "P", NULL, "0.001", "chance up to which a change is no accident",
	        "This command", false },
	{ "window", 0, "N", NULL, "50", "runs that are looked at together", "This command", false },
};

const struct verb command_history = {
	.name = "history",
	.usage = "STORE [--add RUN --label COMMIT]",
	.summary = "Keep the numbers of many runs and find where they changed for good",
	.text = "STORE is an SQLite file with the distributions of step time, phases, kernels, collectives and "
	        "efficiency of every run that was added. Change points are those of Hunter (Apache Otava): windows of "
	        "runs are split where values before and after differ most, tested by Student's t, and the weak ones "
	        "dropped. A change is a regression or an improvement; part, when what is above it in the tree changed "
	        "with it; a cost shift, when a sibling changed the other way; or it went away. The exit status is 1 "
	        "when there is a regression that stayed.",
	.takes = TAKES_TRACES | TAKES_TABLE,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

static bool parse_share(const char *text, double *ret)
{
	char *end;
	if (text == NULL)
		return true;
	*ret = strtod(text, &end);
	return end != text && *end == '\0' && *ret >= 0 && *ret < 1e9;
}

static int refuse(const char *option, const char *value)
{
	cli_say("%s cannot be '%s'. See: holotrace help history", option, value);
	return EXIT_USAGE;
}

static int read_options(struct cli *cli, struct ht_history_options *ret)
{
	const struct opts *opts = &cli->opts;
	const char *window = opts_value(opts, "window");
	*ret = (struct ht_history_options){ .struct_size = sizeof(*ret),
		.view = opts_value(opts, "view"),
		.path = opts_value(opts, "path"),
		.since = opts_value(opts, "since") };
	if (!parse_share(opts_value(opts, "min-change"), &ret->min_change))
		return refuse("--min-change", opts_value(opts, "min-change"));
	if (!parse_share(opts_value(opts, "max-pvalue"), &ret->max_pvalue))
		return refuse("--max-pvalue", opts_value(opts, "max-pvalue"));
	if (window != NULL && (!parse_count(window, &ret->window) || ret->window < 2))
		return refuse("--window", window);
	return EXIT_DONE;
}

static int add(struct cli *cli, const char *store)
{
	const char *sources[HT_MAX_SETS], *label = opts_value(&cli->opts, "label");
	size_t n = opts_values(&cli->opts, "add", sources, HT_MAX_SETS);
	ht_set *set;
	if (n == 0 && label == NULL)
		return EXIT_DONE;
	if (n == 0 || label == NULL) {
		cli_say("history: --add RUN and --label COMMIT go together");
		return EXIT_USAGE;
	}
	n = n < HT_MAX_SETS ? n : HT_MAX_SETS;
	int code = session_open(cli, sources, n, &set);
	if (code != EXIT_DONE)
		return code;
	if (ht_history_add(cli->ctx, store, set, label, sources[0]) != HT_OK)
		code = cli_fail(cli);
	progress_clear(&cli->progress);
	session_warn_loss(cli, set, sources, n);
	session_close(cli, set);
	return code;
}

static int import(struct cli *cli, const char *store)
{
	const char *file = opts_value(&cli->opts, "import");
	return file == NULL || ht_history_import(cli->ctx, store, file) == HT_OK ? EXIT_DONE
	                                                                         : cli_fail(cli);
}

static int show(struct cli *cli, const char *store)
{
	bool to_terminal = cli->term.out_is_tty && opts_value(&cli->opts, "output") == NULL;
	struct ht_history_options options;
	struct ht_view view;
	ht_table *table;
	int code = read_options(cli, &options);
	if (code == EXIT_DONE)
		code = run_view(cli, to_terminal, &view);
	if (code != EXIT_DONE)
		return code;
	options.shown = &view;
	if (ht_history(cli->ctx, store, &options, &table) != HT_OK)
		return cli_fail(cli);
	code = run_render(cli, table);
	if (code == EXIT_DONE)
		run_say_cut(cli, &view, table);
	ht_table_free(table);
	return code;
}

static int run(struct cli *cli)
{
	struct ht_history_options options;
	int code = result_refuse_ending(&cli->opts);
	if (cli->opts.n_args != 1) {
		cli_say("history needs one STORE, a file. See: holotrace help history");
		return EXIT_USAGE;
	}
	if (code == EXIT_DONE)
		code = read_options(cli, &options);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE)
		code = add(cli, cli->opts.args[0]);
	if (code == EXIT_DONE)
		code = import(cli, cli->opts.args[0]);
	if (code == EXIT_DONE)
		code = show(cli, cli->opts.args[0]);
	session_end(cli);
	return code;
}
