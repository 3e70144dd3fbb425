/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_et_convert.c - write execution traces in other forms: for simulators, for other tools, for a look.
 */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "output", 'o', "FILE", NULL, NULL,
	        "where to; .gz and .zst compress, - is standard output, {rank} is replaced by the rank",
	        "This command", false },
	{ "to", 0, "FORM", "chakra|json|linked|dot|timeline", NULL,
	        "the form; by default .et means chakra, .dot dot, others linked with --kineto, else json",
	        "This command", false },
	{ "kineto", 0, "FILE", NULL, NULL,
	        "the Kineto trace of the same window, or a folder of ranks; may be given several times",
	        "This command", false },
	{ "compat", 0, "RULES", "ours|chakra", "ours",
	        "our dependencies, times and peers, or only what Chakra's own converter writes",
	        "This command", false },
	{ "partial", 0, NULL, NULL, NULL, "also write traces of which something could not be read",
	        "This command", false },
};

const struct verb command_et_convert = {
	.name = "et-convert",
	.usage = "ET... [--kineto KINETO...] -o FILE",
	.summary = "Write execution traces for simulators, or as JSON, DOT or a timeline",
	.text = "chakra: protobuf messages (et_def.proto, each behind its length) as ASTRA-sim reads them; with "
	        "--kineto GPU activity, times and dependencies come from the Kineto trace. linked: the execution trace "
	        "with GPU nodes, times and dependencies as JSON. json: the nodes as read, with damage repaired. "
	        "dot: the dependencies as a graph. timeline: a Chrome trace. ET is a file of any version or of Chakra, "
	        "a folder, or RANK=FILE; several need {rank} in the name of the output.",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

static int convert(struct cli *cli, ht_set *set, const char *path)
{
	const char *compat = opts_value(&cli->opts, "compat");
	struct ht_et_convert_options options = {
		.struct_size = sizeof(options),
		.to = opts_value(&cli->opts, "to"),
		.as_chakra = compat != NULL && strcmp(compat, "chakra") == 0,
		.partial = opts_flag(&cli->opts, "partial"),
	};
	char *lines = opts_lines(&cli->opts);
	if (lines == NULL)
		return cli_fail_nomem();
	enum ht_status status = ht_et_convert(cli->ctx, lines, set, path, &options);
	progress_clear(&cli->progress);
	free(lines);
	return status == HT_OK ? EXIT_DONE : cli_fail(cli);
}

static int run(struct cli *cli)
{
	ht_set *set = NULL;
	const char *path = opts_value(&cli->opts, "output"), *sources[HT_MAX_SETS];
	if (cli->opts.n_args == 0 || path == NULL) {
		cli_say("et-convert needs an execution trace and -o FILE. See: holotrace help et-convert");
		return EXIT_USAGE;
	}
	size_t n = opts_values(&cli->opts, "kineto", sources, HT_MAX_SETS);
	if (n < HT_MAX_SETS)
		n += opts_values(&cli->opts, "attach", sources + n, HT_MAX_SETS - n);
	int code = session_start(cli);
	if (code == EXIT_DONE && n > 0)
		code = session_open(cli, sources, n < HT_MAX_SETS ? n : HT_MAX_SETS, &set);
	if (code == EXIT_DONE) {
		code = session_refuse_sources(cli, &set, set != NULL);
		if (code == EXIT_DONE)
			code = convert(cli, set, path);
		if (set != NULL) {
			session_warn_loss(cli, set, sources, n < HT_MAX_SETS ? n : HT_MAX_SETS);
			session_close(cli, set);
		}
	}
	session_end(cli);
	return code;
}
