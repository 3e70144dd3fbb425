/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_mcp.c - any bytes as a message of an agent.
 *
 * Whatever comes, the answer is nothing or one line of valid JSON, of no more bytes than an answer may have: lists of tools
 * and echoes of ids besides. The run is a small trace.
 */
#include "fuzz.h"

#include "holotrace/mcp.h"
#include "json/json_text.h"

static const char mcp_trace[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 9, \"tid\": 9, \"ts\": 1.5, \"dur\": 2,"
        " \"args\": {\"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 9, \"tid\": 9, \"ts\": 1, \"dur\": 9},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0}}]}\n";

static struct {
	ht_ctx *ctx;
	ht_set *set;
} agent;

static void mcp_done(void)
{
	ht_close(agent.set);
	ht_ctx_free(agent.ctx);
}

static enum ht_status mcp_list(void *user, ht_ctx *ctx, ht_mcp_run_fn fn, void *to)
{
	const struct ht_mcp_run run = { sizeof run, "r", "ready", 1, 100, 1 };
	(void)user;
	(void)ctx;
	(void)fn(to, &run);
	return HT_OK;
}

static enum ht_status mcp_hold(void *user, ht_ctx *ctx, const char *name, ht_set **ret_set,
        void **ret_hold, char why[HT_MCP_WHY_BYTES])
{
	(void)user;
	(void)ctx;
	(void)why;
	FUZZ_REQUIRE(!strcmp(name, "r"));
	*ret_set = agent.set;
	*ret_hold = agent.set;
	return HT_OK;
}

static void mcp_release(void *user, void *hold)
{
	(void)user;
	FUZZ_REQUIRE(hold == agent.set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!agent.ctx) {
		agent.ctx = fuzz_ctx(1);
		const char *path = fuzz_file(mcp_trace, sizeof mcp_trace - 1, NULL, 0);
		FUZZ_REQUIRE(fuzz_open(agent.ctx, path, 0, NULL, &agent.set) == HT_OK);
		atexit(mcp_done);
	}
	struct fuzz_text text = { NULL, 0, 0 };
	ht_mcp_client *client;
	ht_mcp_request *request;
	FUZZ_REQUIRE(ht_mcp_client_new(agent.ctx, (const char *)data, size, &client) == HT_OK);
	if (!client)
		FUZZ_REQUIRE(ht_mcp_client_new(agent.ctx, NULL, 0, &client) == HT_OK);
	FUZZ_REQUIRE(ht_mcp_client_take(client, (const char *)data, size, &request) == HT_OK);
	FUZZ_REQUIRE(ht_mcp_client_is_busy(client) == (request != NULL));
	struct ht_sink sink = { fuzz_append, &text };
	const struct ht_mcp_host host = { .struct_size = sizeof host,
		.list = mcp_list,
		.hold = mcp_hold,
		.release = mcp_release,
		.is_old = size % 2,
		.request = request };
	FUZZ_REQUIRE(ht_mcp_answer(agent.ctx, &host, (const char *)data, size, &sink) == HT_OK);
	if (text.n) {
		FUZZ_REQUIRE(text.n <= 21000 + size);
		FUZZ_REQUIRE(memchr(text.bytes, '\n', text.n) == text.bytes + text.n - 1);
		text.bytes[text.n - 1] = '\0';
		FUZZ_REQUIRE(ht_json_valid(text.bytes, text.n - 1));
	}
	free(text.bytes);
	ht_mcp_client_free(client);
	ht_mcp_request_end(request);
	return 0;
}
