/*
 * cmd_version.c - the version of the library this program was built with.
 */
#include "output.h"
#include "verbs.h"

static int run(struct cli *cli);

const struct verb command_version = {
	.name = "version",
	.usage = "",
	.summary = "Show the version",
	.run = run,
};

static int run(struct cli *cli)
{
	struct output output;
	(void)cli;
	(void)output_open(&output, NULL, NULL);
	output_print(&output, "holotrace %s\n", ht_version());
	return output_close(&output, true);
}
