/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_version.c - the version of the library this program was built with, and what that uses.
 */
#include "asset.h"
#include "output.h"
#include "serve.h"
#include "verbs.h"

static int run(struct cli *cli);

const struct verb command_version = {
	.name = "version",
	.usage = "",
	.summary = "Show the version and the libraries in use",
	.run = run,
};

static int run(struct cli *cli)
{
	struct output output;
	const char *server = serve_build_info();
	(void)cli;
	(void)output_open(&output, NULL, NULL);
	output_print(&output, "holotrace %s\n%s, %s, %s\n", ht_version(), ht_build_info(),
	        server != NULL ? server : "no server",
	        ht_asset_find("app.js") != NULL ? "page" : "no page");
	return output_close(&output, true);
}
