/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_mcp.c - the Model Context Protocol over HTTP: a message in the body of POST, its answer as the answer.
 *
 * The runs are the server's own, as far as they are read. A client that takes text/event-stream hears progress and warnings
 * before the answer (request->events). The server has nothing to say on its own, so that GET is answered with 405, as the
 * protocol has it. Level, version and what is cancelled are the session's, where the client has one (sessions.h).
 */
#include "route.h"
#include "server.h"
#include "sessions.h"

#include <stdio.h>
#include <string.h>

static void describe(const struct run *run, struct ht_mcp_run *ret_run)
{
	*ret_run = (struct ht_mcp_run){ .struct_size = sizeof(*ret_run),
		.name = run->name,
		.state = run_state(run),
		.n_files = run->n_files };
	for (size_t i = 0; i < run->n_files; i++) {
		const struct file_stamp *seen = &run->files[i]->seen;
		ret_run->size_bytes += seen->size_bytes;
		if (seen->mtime_ns > ret_run->mtime_ns)
			ret_run->mtime_ns = seen->mtime_ns;
	}
}

static enum ht_status list_runs(void *user, ht_ctx *ctx, ht_mcp_run_fn fn, void *to)
{
	struct runs *runs = &((struct server *)user)->runs;
	struct ht_mcp_run one;
	(void)ctx;
	pthread_mutex_lock(&runs->lock);
	for (size_t i = 0; i < runs->n; i++) {
		describe(runs->list[i], &one);
		if (!fn(to, &one))
			break;
	}
	pthread_mutex_unlock(&runs->lock);
	return HT_OK;
}

static enum ht_status hold_run(void *user, ht_ctx *ctx, const char *name, ht_set **ret_set,
        void **ret_hold, char why[HT_MCP_WHY_BYTES])
{
	struct runs *runs = &((struct server *)user)->runs;
	struct snapshot *snapshot = NULL;
	(void)ctx;
	pthread_mutex_lock(&runs->lock);
	for (size_t i = 0; i < runs->n && snapshot == NULL; i++) {
		const struct run *run = runs->list[i];
		if (strcmp(run->name, name) != 0)
			continue;
		if (run->now != NULL)
			snapshot = snapshot_hold(run->now);
		else if (strcmp(run_state(run), "failed") == 0)
			snprintf(why, HT_MCP_WHY_BYTES, "%s", run_error(run));
		else
			snprintf(why, HT_MCP_WHY_BYTES, "it is being read; ask again");
	}
	pthread_mutex_unlock(&runs->lock);
	if (snapshot == NULL) {
		if (why[0] == '\0')
			snprintf(why, HT_MCP_WHY_BYTES, "it is gone");
		return HT_MISSING;
	}
	*ret_set = snapshot->all.set;
	*ret_hold = snapshot;
	return HT_OK;
}

static void release_run(void *user, void *hold)
{
	(void)user;
	snapshot_release(hold);
}

#define LOG_WARNING 3

enum ht_status serve_mcp(struct serve_request *request, struct serve_response *response)
{
	const struct ht_mcp_host host = { .struct_size = sizeof(host),
		.user = request->server,
		.list = list_runs,
		.hold = hold_run,
		.release = release_run,
		.notify = request->events.write != NULL ? &request->events : NULL,
		.log_level = LOG_WARNING,
		.is_old = request->mcp_version != NULL &&
		          strcmp(request->mcp_version, "2024-11-05") == 0,
		.request = request->mcp_request };
	if (request->mcp_version != NULL && !ht_mcp_has_version(request->mcp_version))
		return serve_refuse(response, 400, "take the one that initialize answers",
		        "no such MCP-Protocol-Version");
	struct ht_sink sink = serve_buffer_sink(&response->body);
	enum ht_status status =
	        ht_mcp_answer(request->ctx, &host, request->body, request->n_body, &sink);
	/* A notification has no answer but that it was taken, a request that was cancelled has none: a stream without it. */
	if (status == HT_OK && response->body.n == 0 && !response->body.failed) {
		bool is_cancelled = request->mcp_request != NULL;
		bool is_stream = is_cancelled && request->events.write != NULL;
		response->status = is_stream ? 200 : is_cancelled ? 204 : 202;
		response->type = is_stream ? "text/event-stream" : NULL;
	}
	/* a full buffer is said by its owner */
	return response->body.failed ? HT_OK : status;
}

enum ht_status serve_mcp_end(struct serve_request *request, struct serve_response *response)
{
	if (request->mcp_session == NULL)
		return serve_refuse(response, 400, "it is in the answer to initialize",
		        "the header Mcp-Session-Id is missing");
	if (!sessions_end(request->server->sessions, request->mcp_session, now_ms()))
		return serve_refuse(
		        response, 404, NULL, "there is no such session, or it has ended");
	response->status = 204;
	return HT_OK;
}
