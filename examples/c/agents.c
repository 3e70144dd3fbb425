/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.c - the Model Context Protocol from C, over a folder and over traces that are open already: agents FOLDER TRACE
 */
#include "example.h"

#include <holotrace/mcp.h>

static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                            "\"clientInfo\":{\"name\":\"example\",\"version\":\"1\"}}}";
static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";

/* A session over the runs below a folder: messages in, messages out. */
static void serve_folder(ht_ctx *ctx, const char *folder)
{
	struct ht_open_options open = { .struct_size = sizeof(open), .no_cache = true };
	struct ht_mcp_options options = { .struct_size = sizeof(options),
		.sources = &folder,
		.n_sources = 1,
		.open = &open,
		.out = { print_bytes, NULL } };
	ht_mcp *mcp;
	need(ctx, ht_mcp_open(ctx, &options, &mcp));
	need(ctx, ht_mcp_take(mcp, hello, strlen(hello)));
	need(ctx, ht_mcp_take(mcp, list, strlen(list)));
	ht_mcp_close(mcp, false);
}

/* A host with one run, whose traces are open. */
static enum ht_status list_runs(void *user, ht_ctx *ctx, ht_mcp_run_fn fn, void *to)
{
	struct ht_mcp_run run = {
		.struct_size = sizeof(run), .name = "only", .state = "ready", .n_files = 1
	};
	(void)user;
	(void)ctx;
	fn(to, &run);
	return HT_OK;
}

static enum ht_status hold_run(void *user, ht_ctx *ctx, const char *name, ht_set **ret_set,
        void **ret_hold, char why[HT_MCP_WHY_BYTES])
{
	(void)ctx;
	(void)name;
	(void)why;
	*ret_set = (ht_set *)user;
	*ret_hold = NULL;
	return HT_OK;
}

static void release_run(void *user, void *hold)
{
	(void)user;
	(void)hold;
}

/* Messages of one client, which may cancel each other. */
static void answer(ht_ctx *ctx, ht_set *set)
{
	struct ht_mcp_host host = { .struct_size = sizeof(host),
		.user = set,
		.list = list_runs,
		.hold = hold_run,
		.release = release_run };
	struct ht_sink sink = { print_bytes, NULL };
	ht_mcp_client *client;
	ht_mcp_request *request;
	need(ctx, ht_mcp_client_new(ctx, hello, strlen(hello), &client));
	if (client == NULL || !ht_mcp_has_version("2025-06-18"))
		exit(1);
	need(ctx, ht_mcp_client_take(client, list, strlen(list), &request));
	host.request = request;
	need(ctx, ht_mcp_answer(ctx, &host, list, strlen(list), &sink));
	ht_mcp_request_end(request);
	printf("%s\n",
	        ht_mcp_client_is_busy(client) ? "requests are under way" : "all is answered");
	ht_mcp_client_free(client);
}

int main(int argc, char **argv)
{
	ht_ctx *ctx;
	ht_set *set;
	if (argc < 3 || ht_ctx_new(&ctx) != HT_OK)
		return 2;
	serve_folder(ctx, argv[1]);
	need(ctx, ht_open_path(ctx, argv[2], &set));
	answer(ctx, set);
	ht_close(set);
	ht_ctx_free(ctx);
	return 0;
}
