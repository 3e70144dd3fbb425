/*
 * cmd_part.c - an analysis in pieces: `part` finds out about some ranks and writes that to a file, `merge` makes
 * the table of several such files. For ranks whose traces are on different machines.
 */
#include "output.h"
#include "run.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static int run_part(struct cli *cli);
static int run_merge(struct cli *cli);

const struct verb command_part = {
	.name = "part",
	.usage = "VERB TRACE... -o FILE",
	.summary = "Compute an analysis for some ranks only, to be merged with others later",
	.text = "Takes the options of VERB. The file holds what the analysis needs to know of these ranks, "
	        "which is small; holotrace merge makes the table of all of them, the same as one run over "
	        "all traces would.",
	.takes = 0,
	.wraps = true,
	.run = run_part,
};

const struct verb command_merge = {
	.name = "merge",
	.usage = "VERB FILE...",
	.summary = "Make one table of the files that holotrace part wrote",
	.text = "The files must be of the same verb and options, and no rank may be in two of them. Rows, "
	        "order and columns are as the parts were asked for.",
	.takes = 0,
	.wraps = true,
	.run = run_merge,
};

static int write_bundle(struct cli *cli, const ht_bundle *bundle, const char *path)
{
	struct output output;
	int code = output_open(&output, cli->ctx, path);
	if (code != EXIT_DONE)
		return code;
	struct ht_sink sink = output_sink(&output);
	if (ht_bundle_write(cli->ctx, bundle, &sink) != HT_OK && !output.failed) {
		(void)output_close(&output, false);
		return cli_fail(cli);
	}
	return output_close(&output, true);
}

static int make_bundle(struct cli *cli, const struct run_sets *sets, const struct ht_view *view)
{
	const struct ht_analysis_info *info = cli->verb->analysis;
	struct ht_arg args[OPTS_MAX];
	size_t n_args = run_args(cli, sets, args);
	ht_bundle *bundle;
	enum ht_status status = ht_bundle_make(
	        cli->ctx, info->name, sets->list, sets->n, args, n_args, view, &bundle);
	progress_clear(&cli->progress);
	if (status != HT_OK)
		return cli_fail(cli);
	int code = write_bundle(cli, bundle, opts_value(&cli->opts, "output"));
	ht_bundle_free(bundle);
	return code;
}

static int run_part(struct cli *cli)
{
	struct ht_view view;
	struct run_sets sets = { .n = 0 };
	if (opts_value(&cli->opts, "output") == NULL) {
		cli_say("part needs -o FILE, or -o - for standard output");
		return EXIT_USAGE;
	}
	int code = run_view(cli, false, &view);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE)
		code = run_open_sets(cli, &sets);
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, sets.list, sets.n);
	if (code == EXIT_DONE)
		code = make_bundle(cli, &sets, &view);
	run_close_sets(cli, &sets, code == EXIT_DONE);
	return code;
}

/* The whole file; NULL after saying why not. */
static char *read_file(const char *path, size_t *ret_n)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	char *bytes = NULL;
	size_t n = 0, cap = 0;
	while (file != NULL) {
		if (n == cap) {
			cap = cap == 0 ? 1 << 16 : cap * 2;
			char *more = realloc(bytes, cap);
			if (more == NULL)
				break;
			bytes = more;
		}
		size_t got = fread(bytes + n, 1, cap - n, file);
		n += got;
		if (got == 0)
			break;
	}
	if (file == NULL || bytes == NULL || ferror(file)) {
		cli_say("%s: cannot be read", path);
		free(bytes);
		bytes = NULL;
	}
	if (file != NULL && file != stdin)
		fclose(file);
	*ret_n = n;
	return bytes;
}

static int add_file(struct cli *cli, const char *path, ht_bundle **all)
{
	size_t n;
	ht_bundle *bundle = NULL;
	char *bytes = read_file(path, &n);
	if (bytes == NULL)
		return EXIT_INPUT;
	enum ht_status status = ht_bundle_read(cli->ctx, bytes, n, &bundle);
	free(bytes);
	if (status == HT_OK && strcmp(ht_bundle_name(bundle), cli->verb->name) != 0) {
		cli_say("%s is a part of %s, not of %s", path, ht_bundle_name(bundle),
		        cli->verb->name);
		ht_bundle_free(bundle);
		return EXIT_USAGE;
	}
	if (status == HT_OK && *all == NULL) {
		*all = bundle;
		return EXIT_DONE;
	}
	if (status == HT_OK)
		status = ht_bundle_merge(cli->ctx, *all, bundle);
	ht_bundle_free(bundle);
	if (status == HT_OK)
		return EXIT_DONE;
	cli_say("%s:", path);
	return cli_fail(cli);
}

static int run_merge(struct cli *cli)
{
	ht_bundle *all = NULL;
	ht_table *table = NULL;
	if (cli->opts.n_args == 0) {
		cli_say("merge needs the files that holotrace part %s wrote", cli->verb->name);
		return EXIT_USAGE;
	}
	int code = session_start(cli);
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, NULL, 0);
	for (size_t i = 0; code == EXIT_DONE && i < cli->opts.n_args; i++)
		code = add_file(cli, cli->opts.args[i], &all);
	if (code == EXIT_DONE && ht_bundle_table(cli->ctx, all, &table) != HT_OK)
		code = cli_fail(cli);
	if (code == EXIT_DONE)
		code = run_render(cli, table);
	ht_table_free(table);
	ht_bundle_free(all);
	session_end(cli);
	return code;
}
