/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - write traces again: all of them, or a part, or several ranks as one file.
 */
#include "verbs.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "output", 'o', "FILE", NULL, NULL,
	        "where to; .pftrace is for Perfetto, .gz and .zst compress, - is standard output, {rank} is replaced by the rank",
	        "This command", false },
	{ "rank", 0, "LIST", NULL, "all", "only these ranks: 0,2-3", "This command", false },
	{ "step", 0, "LIST", NULL, "all", "only these profiler steps: 3-5,7", "This command",
	        false },
	{ "category", 0, "LIST", NULL, "all", "only these categories: kernel,cpu_op",
	        "This command", false },
	{ "thread", 0, "LIST", NULL, "all", "only these threads: pid/tid", "This command", false },
	{ "from", 0, "TIME", NULL, NULL, "leave out what ends before, in ns of the trace's clock",
	        "This command", false },
	{ "to", 0, "TIME", NULL, NULL, "leave out what starts after, in ns of the trace's clock",
	        "This command", false },
	{ "document", 0, "N", NULL, "all", "only one of several concatenated documents, from 0",
	        "This command", false },
	{ "merge", 0, NULL, NULL, NULL,
	        "all ranks into one file on one clock; pids and numbers that link events made distinct",
	        "This command", false },
	{ "overlay", 0, "ANALYSIS", choices_drawn, NULL,
	        "draw the result of an analysis, with its defaults, into the trace", "This command",
	        false },
	{ "partial", 0, NULL, NULL, NULL, "also write traces of which something could not be read",
	        "This command", false },
	{ "with-counters", 0, NULL, NULL, NULL, "add counters of queue length and memory bandwidth",
	        "This command", false },
};

const struct verb command_convert = {
	.name = "convert",
	.usage = "TRACE... -o FILE",
	.summary = "Write traces again: trimmed, merged, compressed or repaired",
	.text = "Everything that was read is written back, unknown keys included, as Chrome JSON that "
	        "other trace viewers open, or, where the file ends in .pftrace, as packets of Perfetto, a quarter as large. Several ranks need --merge or {rank} in the name of the file. A trace "
	        "of which something was lost while reading is written only with --partial. A trace with counters or an "
	        "overlay names the file it was made from, and is left out where both are given without ranks.",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

/* True when whoever read our standard output is gone. */
static bool reader_left(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

static int convert(struct cli *cli, ht_set *set, const char *path)
{
	const struct opts *opts = &cli->opts;
	struct ht_convert_options options = {
		.struct_size = sizeof(options),
		.ranks = opts_value(opts, "rank"),
		.steps = opts_value(opts, "step"),
		.categories = opts_value(opts, "category"),
		.threads = opts_value(opts, "thread"),
		.from_ns = opts_value(opts, "from"),
		.to_ns = opts_value(opts, "to"),
		.document = opts_value(opts, "document"),
		.merge = opts_flag(opts, "merge"),
		.with_counters = opts_flag(opts, "with-counters"),
		.overlay = opts_value(opts, "overlay"),
		.partial = opts_flag(opts, "partial"),
	};
	enum ht_status status = session_convert(cli, set, path, &options);
	if (status == HT_OK)
		return EXIT_DONE;
	if (status == HT_IO && strcmp(path, "-") == 0 && reader_left())
		return EXIT_DONE;
	int code = cli_fail(cli);
	return status == HT_IO ? EXIT_LIMIT : code;
}

static int run(struct cli *cli)
{
	ht_set *set;
	const char *path = opts_value(&cli->opts, "output");
	if (cli->opts.n_args == 0 || path == NULL) {
		cli_say("convert needs a TRACE and -o FILE. See: holotrace help convert");
		return EXIT_USAGE;
	}
	int code = session_start(cli);
	if (code == EXIT_DONE)
		code = session_open(cli, cli->opts.args, cli->opts.n_args, &set);
	if (code == EXIT_DONE) {
		code = session_refuse_sources(cli, &set, 1);
		if (code == EXIT_DONE)
			code = convert(cli, set, path);
		session_warn_loss(cli, set, cli->opts.args, cli->opts.n_args);
		session_close(cli, set);
	}
	session_end(cli);
	return code;
}
