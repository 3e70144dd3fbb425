/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - see client.h.
 *
 *   client ─► request ⇄ request ⇄ ...      those under way, by the id of their message
 *
 * A client ends when its owner lets go of it and its last request has ended: whoever answers one may be the last.
 */
#include "mcp/client.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define LEVEL_INFO 1

struct ht_mcp_request {
	ht_mcp_client *client;
	struct ht_mcp_request *next, *before;
	char *id; /* as it stands in the message */
	size_t n_id;
	atomic_bool is_cancelled;
};

struct ht_mcp_client {
	struct ht_mem *mem;
	pthread_mutex_t lock; /* guards what follows */
	struct ht_mcp_request *requests;
	bool is_left; /* by its owner */
	int log_level;
	bool is_old;
};

/* ---- clients ---- */

static enum ht_status new_client(ht_ctx *ctx, ht_mcp_client **ret_client)
{
	ht_mcp_client *client = ht_mem_zalloc(ctx->mem, sizeof *client);
	if (!client)
		return ht_fail_nomem(ctx);
	client->mem = ht_mem_retain(ctx->mem);
	client->log_level = LEVEL_INFO;
	pthread_mutex_init(&client->lock, NULL);
	*ret_client = client;
	return HT_OK;
}

/* Whether the message is an initialize that will be answered with a result. */
static bool greets(struct mcp_call *call)
{
	return call->method && !strcmp(call->method, "initialize") &&
	       call->id.type != HT_JSON_END && mcp_param(call, "protocolVersion");
}

enum ht_status ht_mcp_client_new(
        ht_ctx *ctx, const char *message, size_t n, ht_mcp_client **ret_client)
{
	struct mcp_call call = { .ctx = ctx };
	ht_mcp_request *request = NULL;
	enum ht_status status = HT_OK;
	ht_error_clear(ctx);
	*ret_client = NULL;
	ht_arena_init(&call.arena, ctx->mem);
	if (!message)
		status = new_client(ctx, ret_client);
	else if (mcp_rpc_read(&call, message, n) && greets(&call))
		status = new_client(ctx, ret_client);
	if (status == HT_OK && message && *ret_client)
		status = mcp_client_note(*ret_client, &call, &request);
	ht_arena_done(&call.arena);
	return status;
}

/* Under the lock, which is given back. */
static void unlock(ht_mcp_client *client)
{
	bool is_last = client->is_left && !client->requests;
	pthread_mutex_unlock(&client->lock);
	if (!is_last)
		return;
	struct ht_mem *mem = client->mem;
	pthread_mutex_destroy(&client->lock);
	ht_mem_free(mem, client, sizeof *client);
	ht_mem_release(mem);
}

void ht_mcp_client_free(ht_mcp_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&client->lock);
	client->is_left = true;
	for (ht_mcp_request *request = client->requests; request; request = request->next)
		atomic_store(&request->is_cancelled, true);
	unlock(client);
}

bool ht_mcp_client_is_busy(ht_mcp_client *client)
{
	pthread_mutex_lock(&client->lock);
	bool is_busy = client->requests != NULL;
	pthread_mutex_unlock(&client->lock);
	return is_busy;
}

int mcp_client_level(ht_mcp_client *client)
{
	pthread_mutex_lock(&client->lock);
	int level = client->log_level;
	pthread_mutex_unlock(&client->lock);
	return level;
}

bool mcp_client_is_old(ht_mcp_client *client)
{
	pthread_mutex_lock(&client->lock);
	bool is_old = client->is_old;
	pthread_mutex_unlock(&client->lock);
	return is_old;
}

/* ---- requests ---- */

static void free_request(ht_mcp_request *request)
{
	struct ht_mem *mem = request->client->mem;
	ht_mem_free(mem, request->id, request->n_id + 1);
	ht_mem_free(mem, request, sizeof *request);
}

static ht_mcp_request *new_request(ht_mcp_client *client, const struct ht_json_value *id)
{
	ht_mcp_request *request = ht_mem_zalloc(client->mem, sizeof *request);
	if (!request)
		return NULL;
	request->client = client;
	request->n_id = id->n;
	request->id = ht_mem_alloc(client->mem, id->n + 1);
	if (!request->id) {
		free_request(request);
		return NULL;
	}
	memcpy(request->id, id->text, id->n);
	request->id[id->n] = '\0';
	return request;
}

static void add_request(ht_mcp_client *client, ht_mcp_request *request)
{
	pthread_mutex_lock(&client->lock);
	request->next = client->requests;
	if (request->next)
		request->next->before = request;
	client->requests = request;
	pthread_mutex_unlock(&client->lock);
}

void ht_mcp_request_end(ht_mcp_request *request)
{
	if (!request)
		return;
	ht_mcp_client *client = request->client;
	pthread_mutex_lock(&client->lock);
	*(request->before ? &request->before->next : &client->requests) = request->next;
	if (request->next)
		request->next->before = request->before;
	free_request(request);
	unlock(client);
}

ht_mcp_client *mcp_request_client(const ht_mcp_request *request)
{
	return request->client;
}

bool mcp_request_is_cancelled(const ht_mcp_request *request)
{
	return request && atomic_load(&request->is_cancelled);
}

const char *mcp_request_id(const ht_mcp_request *request, size_t *ret_n)
{
	*ret_n = request->n_id;
	return request->id;
}

/* ---- messages ---- */

static void cancel(ht_mcp_client *client, const struct ht_json_value *id)
{
	pthread_mutex_lock(&client->lock);
	for (ht_mcp_request *request = client->requests; request; request = request->next)
		if (id->n && request->n_id == id->n && !memcmp(request->id, id->text, id->n))
			atomic_store(&request->is_cancelled, true);
	pthread_mutex_unlock(&client->lock);
}

static void set_level(ht_mcp_client *client, int level)
{
	pthread_mutex_lock(&client->lock);
	if (level >= 0)
		client->log_level = level;
	pthread_mutex_unlock(&client->lock);
}

static void set_version(ht_mcp_client *client, const char *version)
{
	pthread_mutex_lock(&client->lock);
	client->is_old = version && !strcmp(version, "2024-11-05");
	pthread_mutex_unlock(&client->lock);
}

enum ht_status mcp_client_note(
        ht_mcp_client *client, struct mcp_call *call, ht_mcp_request **ret_request)
{
	struct ht_json_value id = ht_json_get(&call->params, "requestId");
	bool is_first = !strcmp(call->method, "initialize");
	*ret_request = NULL;
	if (!strcmp(call->method, "notifications/cancelled"))
		cancel(client, &id);
	if (!strcmp(call->method, "logging/setLevel"))
		set_level(client, mcp_log_level(mcp_param(call, "level")));
	if (is_first)
		set_version(client, mcp_param(call, "protocolVersion"));
	/* the protocol has it that initialize is not cancelled */
	if (is_first || call->id.type == HT_JSON_END)
		return HT_OK;
	*ret_request = new_request(client, &call->id);
	if (!*ret_request)
		return HT_NOMEM;
	add_request(client, *ret_request);
	return HT_OK;
}

enum ht_status ht_mcp_client_take(
        ht_mcp_client *client, const char *message, size_t n, ht_mcp_request **ret_request)
{
	struct mcp_call call = { .ctx = NULL };
	enum ht_status status = HT_OK;
	*ret_request = NULL;
	ht_arena_init(&call.arena, client->mem);
	if (mcp_rpc_read(&call, message, n) && call.method)
		status = mcp_client_note(client, &call, ret_request);
	ht_arena_done(&call.arena);
	return status;
}
