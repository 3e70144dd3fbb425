/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_list.c - all verbs with the question each answers.
 */
#include "help.h"
#include "output.h"

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "names", 0, NULL, NULL, NULL, "only the names of the analyses, one per line",
	        "This command", false },
};

const struct verb command_list = {
	.name = "list",
	.usage = "",
	.summary = "List every analysis and command with the question it answers",
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

static int run(struct cli *cli)
{
	struct output output;
	(void)output_open(&output, NULL, NULL);
	if (opts_flag(&cli->opts, "names")) {
		for (size_t i = 0; i < ht_n_analyses(); i++)
			output_print(&output, "%s\n", ht_analysis_at(i)->name);
	} else {
		help_verb_list(cli, &output);
	}
	return output_close(&output, true);
}
