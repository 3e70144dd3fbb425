/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_part.c - an analysis in pieces: `part` finds out about some ranks and writes that to a file, `merge` makes
 * the table of several such files. For ranks whose traces are on different machines.
 */
#include "output.h"
#include "cmd_run.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static int run_part(struct cli *cli);
static int run_merge(struct cli *cli);

const struct verb command_part = {
	.name = "part",
	.usage = "VERB [options] TRACE... -o FILE",
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
	.usage = "VERB [options] FILE...",
	.summary = "Make one table of the files that holotrace part wrote",
	.text = "The files must be of the same version, verb and options, and no rank may be in two of them. "
	        "Rows, order and columns are as the parts were asked for. With --partial files that cannot be "
	        "read are left out, and the table says which.",
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
	enum ht_status status = ht_bundle_make(cli->ctx, sets->list, sets->n,
	        &(struct ht_query){ sizeof(struct ht_query), info->name, args, n_args, view },
	        &bundle);
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
		code = run_open_sets(cli, &view, &sets);
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, sets.list, sets.n);
	if (code == EXIT_DONE)
		code = make_bundle(cli, &sets, &view);
	run_close_sets(cli, &sets, code == EXIT_DONE);
	return code;
}

/* The whole file; NULL when it cannot be read. */
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
		free(bytes);
		bytes = NULL;
	}
	if (file != NULL && file != stdin)
		fclose(file);
	*ret_n = n;
	return bytes;
}

/* The parts so far, and what could not be read. */
struct merging {
	ht_bundle *all; /* NULL: none yet */
	char **missing; /* "name: why" */
	size_t n_missing;
};

/* With --partial a file is done without, else it is an error; an exit code. */
static int miss_file(struct cli *cli, struct merging *merging, const struct ht_error *error)
{
	if (!opts_flag(&cli->opts, "partial")) {
		progress_clear(&cli->progress);
		cli_say_error(error);
		return (int)cli_exit_code(error);
	}
	size_t n = strlen(error->file) + strlen(error->message) + 3;
	char *line = malloc(n);
	if (line == NULL)
		return cli_fail_nomem();
	snprintf(line, n, "%s: %s", error->file, error->message);
	merging->missing[merging->n_missing++] = line;
	return EXIT_DONE;
}

static int add_bundle(struct cli *cli, struct merging *merging, ht_bundle *bundle, const char *path)
{
	if (strcmp(ht_bundle_name(bundle), cli->verb->name) != 0) {
		cli_say("%s is a part of %s, not of %s", path, ht_bundle_name(bundle),
		        cli->verb->name);
		ht_bundle_free(bundle);
		return EXIT_USAGE;
	}
	if (merging->all == NULL) {
		merging->all = bundle;
		return EXIT_DONE;
	}
	enum ht_status status = ht_bundle_merge(cli->ctx, merging->all, bundle);
	ht_bundle_free(bundle);
	if (status == HT_OK)
		return EXIT_DONE;
	struct ht_error error = *ht_error(cli->ctx);
	if (error.file == NULL)
		error.file = path;
	cli_say_error(&error);
	return (int)cli_exit_code(&error);
}

static int add_file(struct cli *cli, struct merging *merging, const char *path)
{
	size_t n;
	ht_bundle *bundle;
	struct ht_error error = { HT_IO, "cannot be read", path, -1, NULL };
	char *bytes = read_file(path, &n);
	if (bytes == NULL)
		return miss_file(cli, merging, &error);
	enum ht_status status = ht_bundle_read(cli->ctx, bytes, n, &bundle);
	free(bytes);
	if (status == HT_OK)
		return add_bundle(cli, merging, bundle, path);
	if (status != HT_FORMAT)
		return cli_fail(cli);
	error = *ht_error(cli->ctx);
	error.file = path;
	return miss_file(cli, merging, &error);
}

/* The table of what was merged; an exit code. */
static int finish_merge(struct cli *cli, struct merging *merging)
{
	ht_table *table = NULL;
	if (merging->all == NULL) {
		cli_say("no part could be read: %s", merging->missing[0]);
		return EXIT_INPUT;
	}
	if (ht_bundle_add_missing(cli->ctx, merging->all, (const char *const *)merging->missing,
	            merging->n_missing) != HT_OK ||
	        ht_bundle_table(cli->ctx, merging->all, &table) != HT_OK)
		return cli_fail(cli);
	int code = run_render(cli, table);
	ht_table_free(table);
	return code;
}

static int run_merge(struct cli *cli)
{
	size_t n = cli->opts.n_args;
	struct merging merging = { .missing = calloc(n + 1, sizeof(*merging.missing)) };
	if (n == 0) {
		cli_say("merge needs the files that holotrace part %s wrote", cli->verb->name);
		free(merging.missing);
		return EXIT_USAGE;
	}
	int code = merging.missing != NULL ? session_start(cli) : cli_fail_nomem();
	if (code == EXIT_DONE)
		code = session_refuse_sources(cli, NULL, 0);
	for (size_t i = 0; code == EXIT_DONE && i < n; i++)
		code = add_file(cli, &merging, cli->opts.args[i]);
	if (code == EXIT_DONE)
		code = finish_merge(cli, &merging);
	for (size_t i = 0; i < merging.n_missing; i++)
		free(merging.missing[i]);
	free(merging.missing);
	ht_bundle_free(merging.all);
	session_end(cli);
	return code;
}
