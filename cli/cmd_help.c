/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_help.c - help, help VERB, and help --json for the tools that write the documentation.
 */
#include "help.h"
#include "output.h"

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "json", 0, NULL, NULL, NULL, "descriptions of all verbs, or of VERB, as JSON",
	        "This command", false },
};

const struct verb command_help = {
	.name = "help",
	.usage = "[VERB]",
	.summary = "Show what a verb does, its options, columns and method",
	.opts = own,
	.n_opts = COUNT(own),
	.takes_verb_names = true,
	.run = run,
};

static int run(struct cli *cli)
{
	struct verb verb;
	bool json = opts_flag(&cli->opts, "json");
	if (cli->opts.n_args == 0 && json)
		return help_json(NULL);
	if (cli->opts.n_args == 0) {
		help_overview(cli, stdout);
		struct output output;
		(void)output_open(&output, NULL, NULL);
		return output_close(&output, true);
	}
	const char *name = cli->opts.args[0];
	if (!verb_find(name, &verb)) {
		const char *near = verb_near(name);
		cli_say("there is no verb '%s'. %s%s%s", name,
		        near != NULL ? "Did you mean '" : "See: ",
		        near != NULL ? near : "holotrace list", near != NULL ? "'?" : "");
		return EXIT_USAGE;
	}
	return json ? help_json(&verb) : help_verb(cli, &verb);
}
