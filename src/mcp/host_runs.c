/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_runs.c - the host's runs: all of them, and the one that a tool is called for.
 */
#include "mcp/mcp_message.h"

#include <stdio.h>
#include <string.h>

#define MAX_RUNS 10000

struct listing {
	struct mcp_call *call;
	struct ht_vec list; /* struct ht_mcp_run */
	bool failed;
};

static bool add_run(void *to, const struct ht_mcp_run *run)
{
	struct listing *l = to;
	struct ht_mcp_run own = *run;
	own.name = ht_arena_strndup(&l->call->arena, run->name, strlen(run->name));
	l->failed = !own.name || !HT_VEC_PUSH(l->call->ctx->mem, &l->list, struct ht_mcp_run, own);
	return !l->failed && l->list.n < MAX_RUNS;
}

enum ht_status mcp_runs_list(struct mcp_call *call, struct mcp_runs *ret_runs)
{
	struct listing l = { .call = call };
	const struct ht_mcp_host *host = call->host;
	enum ht_status status = host->list(host->user, call->ctx, add_run, &l);
	struct ht_mcp_run *list =
	        status == HT_OK ? ht_arena_alloc(&call->arena, (l.list.n + 1) * sizeof *list)
	                        : NULL;
	if (list && l.list.n)
		memcpy(list, l.list.data, l.list.n * sizeof *list);
	*ret_runs = (struct mcp_runs){ list, l.list.n };
	ht_vec_free(call->ctx->mem, &l.list, sizeof(struct ht_mcp_run));
	if (status == HT_OK && (!list || l.failed))
		return ht_fail_nomem(call->ctx);
	return status;
}

/* The names that there are, as many as a sentence holds. */
static enum ht_status refuse(struct mcp_call *call, const struct mcp_runs *runs, const char *name)
{
	char names[512] = "";
	size_t n = 0;
	for (size_t i = 0; i < runs->n && n < sizeof names - 80; i++)
		n += (size_t)snprintf(
		        names + n, sizeof names - n, "%s%.60s", i ? ", " : "", runs->list[i].name);
	if (!runs->n)
		return ht_fail(call->ctx, HT_USAGE, NULL, -1, "record one: docs/record-a-trace.md",
		        "there are no runs in the log directory");
	return ht_fail(call->ctx, HT_USAGE, NULL, -1, "find_runs lists all of them",
	        name ? "there is no run %.200s; there are %s"
	             : "%.0sthere are several runs, name one: %s",
	        name ? name : "", names);
}

enum ht_status mcp_run_hold(struct mcp_call *call, const char *name, struct mcp_held *ret_held)
{
	const struct ht_mcp_host *host = call->host;
	char why[HT_MCP_WHY_BYTES] = "";
	struct mcp_runs runs;
	struct mcp_held held = { .set = NULL };
	HT_TRY(mcp_runs_list(call, &runs));
	for (size_t i = 0; i < runs.n; i++)
		if (name ? !strcmp(runs.list[i].name, name) : runs.n == 1)
			held.name = runs.list[i].name;
	if (!held.name)
		return refuse(call, &runs, name);
	enum ht_status status =
	        host->hold(host->user, call->ctx, held.name, &held.set, &held.hold, why);
	if (status != HT_OK)
		return *why ? ht_fail(call->ctx, status, NULL, -1, NULL, "run %.200s: %s",
		                      held.name, why)
		            : status;
	const char *loss = ht_set_loss_note(held.set);
	if (loss)
		mcp_log(call, mcp_log_level("warning"), "%s: %s", held.name, loss);
	*ret_held = held;
	return HT_OK;
}

void mcp_run_release(struct mcp_call *call, struct mcp_held *held)
{
	call->host->release(call->host->user, held->hold);
}
