/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.c - the whole store as text, and loading alone: for tests, measurements and bug reports.
 *
 * Both take --chunk-bytes, which cuts the input at places of one's choice; nothing may depend on it.
 */
#include "output.h"
#include "verbs.h"

#include <time.h>

static int run_dump(struct cli *cli);
static int run_load(struct cli *cli);

static const struct opt own[] = {
	{ "chunk-bytes", 0, "N", NULL, NULL, "how much text one task scans", "This command",
	        false },
};

const struct verb command_dump = {
	.name = "dump",
	.usage = "TRACE...",
	.summary = "Write a text that determines everything that was read",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.hidden = true,
	.run = run_dump,
};

const struct verb command_load = {
	.name = "load",
	.usage = "TRACE...",
	.summary = "Only read traces, and say how long it took and how much memory it used",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.hidden = true,
	.run = run_load,
};

static int dump(struct cli *cli, const ht_set *set)
{
	struct output output;
	(void)output_open(&output, NULL, NULL);
	struct ht_sink sink = output_sink(&output);
	if (ht_dump(cli->ctx, set, &sink) != HT_OK && output.error == 0) {
		(void)output_close(&output, false);
		return cli_fail(cli);
	}
	return output_close(&output, true);
}

static int run_dump(struct cli *cli)
{
	ht_set *set;
	int code = session_start(cli);
	if (code == EXIT_DONE)
		code = session_open(cli, cli->opts.args, cli->opts.n_args, &set);
	if (code == EXIT_DONE) {
		code = dump(cli, set);
		session_close(cli, set);
	}
	session_end(cli);
	return code;
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_load(struct cli *cli)
{
	ht_set *set;
	struct output output;
	int code = session_start(cli);
	double begin_s = now_s();
	if (code == EXIT_DONE)
		code = session_open(cli, cli->opts.args, cli->opts.n_args, &set);
	if (code == EXIT_DONE) {
		uint64_t n_events = 0, now_bytes, peak_bytes;
		double load_s = now_s() - begin_s;
		for (size_t i = 0; i < ht_set_n_ranks(set); i++)
			n_events += ht_set_n_events(set, i);
		ht_ctx_memory(cli->ctx, &now_bytes, &peak_bytes);
		(void)output_open(&output, NULL, NULL);
		output_print(&output,
		        "ranks %zu\nevents %llu\nseconds %.6f\nbytes %llu\npeak_bytes %llu\n",
		        ht_set_n_ranks(set), (unsigned long long)n_events, load_s,
		        (unsigned long long)now_bytes, (unsigned long long)peak_bytes);
		code = output_close(&output, true);
		session_close(cli, set);
	}
	session_end(cli);
	return code;
}
