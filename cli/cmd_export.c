/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_export.c - the traces as a dataset of Arrow files, for pyarrow, polars, DuckDB and others.
 */
#include "interrupt.h"
#include "verbs.h"

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "output", 'o', "DIR", NULL, NULL, "folder to write; it must not hold a dataset already",
	        "This command", false },
	{ "tables", 0, "A,B,...", NULL,
	        "events,gpu,launches,arg_values,steps,tracks,collectives,ranks,health",
	        "which tables; holotrace sql .tables lists all, analyses among them",
	        "This command", false },
	{ "rows-a-file", 0, "N", NULL, "1048576", "events of a rank in one file", "This command",
	        false },
};

const struct verb command_export = {
	.name = "export",
	.usage = "TRACE... -o DIR",
	.summary = "Write the traces as a dataset of Arrow files",
	.text = "DIR gets a folder per table and, inside, one per rank: events/rank=0/part-0.arrow. The files are "
	        "Arrow IPC files (Feather), which pyarrow, polars and DuckDB open as one table with the rank as a "
	        "column; manifest.json says what each column is. The tables are those of holotrace sql. Parquet "
	        "from Python: holotrace.open(...).export(DIR, format=\"parquet\").",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

static int export(struct cli *cli, ht_set *set)
{
	const struct opts *opts = &cli->opts;
	const char *rows = opts_value(opts, "rows-a-file");
	struct ht_export_options options = { .struct_size = sizeof(options),
		.tables = opts_value(opts, "tables") };
	if (rows != NULL &&
	        (!parse_count(rows, &options.rows_a_file) || options.rows_a_file == 0)) {
		cli_say("--rows-a-file cannot be '%s'. It is a number of rows", rows);
		return EXIT_USAGE;
	}
	interrupt_hold();
	enum ht_status status = ht_export(cli->ctx, set, opts_value(opts, "output"), &options);
	progress_clear(&cli->progress);
	interrupt_release();
	if (status == HT_OK)
		return EXIT_DONE;
	int code = cli_fail(cli);
	return status == HT_IO ? EXIT_LIMIT : code;
}

static int run(struct cli *cli)
{
	ht_set *set;
	if (cli->opts.n_args == 0 || opts_value(&cli->opts, "output") == NULL) {
		cli_say("export needs a TRACE and -o DIR. See: holotrace help export");
		return EXIT_USAGE;
	}
	int code = session_start(cli);
	if (code == EXIT_DONE)
		code = session_open(cli, cli->opts.args, cli->opts.n_args, &set);
	if (code == EXIT_DONE) {
		code = export(cli, set);
		session_warn_loss(cli, set, cli->opts.args, cli->opts.n_args);
		session_close(cli, set);
	}
	session_end(cli);
	return code;
}
