/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.c - messages of JSON-RPC 2.0: read one, answer with a result or an error.
 *
 * A message is an object with "jsonrpc", "method" and, unless it is a notification, "id": a text, a number or null. Lists
 * of messages are not of the protocol versions that we speak.
 */
#include "mcp/client.h"

#include "base/mem.h"
#include "base/options.h"
#include "table/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

static bool add_bytes(void *user, const void *bytes, size_t n)
{
	struct mcp_text *text = user;
	if (!text->failed && !ht_vec_reserve(text->mem, &text->bytes, 1, n))
		text->failed = true;
	if (text->failed)
		return false;
	if (n)
		memcpy((char *)text->bytes.data + text->bytes.n, bytes, n);
	text->bytes.n += n;
	return true;
}

struct ht_sink mcp_text_sink(struct mcp_text *text)
{
	return (struct ht_sink){ add_bytes, text };
}

void mcp_text_done(struct mcp_text *text)
{
	ht_vec_free(text->mem, &text->bytes, 1);
}

void mcp_write_text(struct ht_out *out, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	bool is_valid = ht_utf8_valid(text ? text : "", n);
	char *repaired = is_valid ? NULL : ht_mem_alloc(out->ctx->mem, 3 * n + 1);
	if (repaired)
		repaired[ht_utf8_repair(text, n, repaired)] = '\0';
	ht_out_json(out, is_valid ? text : repaired ? repaired : "");
	ht_mem_free(out->ctx->mem, repaired, 3 * n + 1);
}

void mcp_member(struct ht_out *out, const char *key, const char *text, bool first)
{
	ht_out_str(out, first ? "\"" : ",\"");
	ht_out_str(out, key);
	ht_out_str(out, "\":");
	mcp_write_text(out, text);
}

void mcp_write_raw(struct ht_out *out, const struct ht_json_value *value)
{
	ht_out_bytes(out, value->text, value->n);
}

void mcp_refuse(struct mcp_call *call, int error, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vsnprintf(call->message, sizeof call->message, format, ap);
	va_end(ap);
	call->error = error;
}

/* ---- reading ---- */

static const char *decode(struct ht_arena *arena, const char *body, size_t n)
{
	size_t n_bad = 0;
	char *text = ht_arena_alloc(arena, 3 * n + 1);
	if (!text)
		return NULL;
	size_t n_text = ht_json_decode(body, n, text, &n_bad);
	text[n_text] = '\0';
	return strlen(text) == n_text ? text : NULL;
}

/* The elements of a list of texts and numbers, "a,b". */
static const char *join(struct ht_arena *arena, const struct ht_json_value *list)
{
	struct ht_json reader = ht_json_enter(list);
	struct ht_json_value value;
	const char *text = "";
	for (size_t i = 0; text && ht_json_element(&reader, &value); i++) {
		if (value.type == HT_JSON_OBJECT || value.type == HT_JSON_ARRAY || i == 256)
			return NULL;
		const char *one = mcp_value_text(arena, &value);
		text = one ? ht_arena_printf(arena, "%s%s%s", text, i ? "," : "", one) : NULL;
	}
	return text;
}

const char *mcp_value_text(struct ht_arena *arena, const struct ht_json_value *value)
{
	switch (value->type) {
	case HT_JSON_STRING: return decode(arena, value->text + 1, value->n - 2);
	case HT_JSON_NUMBER:
	case HT_JSON_TRUE:
	case HT_JSON_FALSE: return ht_arena_strndup(arena, value->text, value->n);
	case HT_JSON_ARRAY: return join(arena, value);
	default: return NULL;
	}
}

const char *mcp_param(struct mcp_call *call, const char *name)
{
	struct ht_json_value value = ht_json_get(&call->params, name);
	return mcp_value_text(&call->arena, &value);
}

static bool is_id(const struct ht_json_value *id)
{
	return id->type == HT_JSON_STRING || id->type == HT_JSON_NUMBER || id->type == HT_JSON_NULL;
}

bool mcp_rpc_read(struct mcp_call *call, const char *message, size_t n)
{
	char *text = n <= HT_MCP_MAX_MESSAGE ? ht_arena_strndup(&call->arena, message, n) : NULL;
	struct ht_json reader = { text };
	if (!text || strlen(text) != n || !ht_json_valid(text, n)) {
		mcp_refuse(call, RPC_PARSE,
		        n > HT_MCP_MAX_MESSAGE ? "the message has more than %zu bytes"
		                               : "the message is no JSON",
		        HT_MCP_MAX_MESSAGE);
		return false;
	}
	struct ht_json_value root = ht_json_next(&reader);
	struct ht_json_value version = ht_json_get(&root, "jsonrpc");
	struct ht_json_value method = ht_json_get(&root, "method");
	struct ht_json_value id = ht_json_get(&root, "id");
	call->params = ht_json_get(&root, "params");
	if (id.type != HT_JSON_END && is_id(&id))
		call->id = id;
	if (root.type == HT_JSON_ARRAY)
		mcp_refuse(
		        call, RPC_REQUEST, "lists of messages are not taken: send them one by one");
	else if (version.n != 5 || memcmp(version.text, "\"2.0\"", 5) != 0)
		mcp_refuse(call, RPC_REQUEST, "no message of JSON-RPC 2.0");
	else if (method.type != HT_JSON_STRING &&
	         ht_json_get(&root, "result").type == HT_JSON_END &&
	         ht_json_get(&root, "error").type == HT_JSON_END)
		mcp_refuse(call, RPC_REQUEST, "the message has no method");
	else if (id.type != HT_JSON_END && !is_id(&id))
		mcp_refuse(call, RPC_REQUEST, "an id is a text or a number");
	else if (method.type == HT_JSON_STRING)
		call->method = mcp_value_text(&call->arena, &method);
	if (!call->method && !call->error && method.type == HT_JSON_STRING)
		mcp_refuse(call, RPC_REQUEST, "the method is no text");
	struct ht_json_value meta = ht_json_get(&call->params, "_meta");
	call->progress_token = ht_json_get(&meta, "progressToken");
	return !call->error;
}

/* ---- telling the client ---- */

static const char *const levels[] = { "debug", "info", "notice", "warning", "error", "critical",
	"alert", "emergency" };

int mcp_log_level(const char *name)
{
	for (size_t i = 0; name && i < HT_COUNT(levels); i++)
		if (!strcmp(levels[i], name))
			return (int)i;
	return -1;
}

/* A notification on its way. */
struct notice {
	struct mcp_text text;
	struct ht_sink sink;
	struct ht_out out;
};

static void begin_notice(struct notice *notice, const struct mcp_call *call, const char *kind)
{
	notice->text = (struct mcp_text){ .mem = call->ctx->mem };
	notice->sink = mcp_text_sink(&notice->text);
	ht_out_init(&notice->out, call->ctx, &notice->sink);
	ht_out_str(&notice->out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/");
	ht_out_str(&notice->out, kind);
	ht_out_str(&notice->out, "\",\"params\":{");
}

/* Who does not hear it misses nothing that the answer needs. */
static void send_notice(struct notice *notice, const struct mcp_call *call)
{
	ht_out_str(&notice->out, "}}\n");
	if (ht_out_finish(&notice->out) == HT_OK && !notice->text.failed)
		(void)call->host->notify->write(
		        call->host->notify->user, notice->text.bytes.data, notice->text.bytes.n);
	mcp_text_done(&notice->text);
}

void mcp_log(const struct mcp_call *call, int level, const char *format, ...)
{
	char text[1024];
	va_list ap;
	if (!call->host->notify || level < call->host->log_level)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	struct notice notice;
	begin_notice(&notice, call, "message");
	mcp_member(&notice.out, "level", levels[level], true);
	mcp_member(&notice.out, "logger", "holotrace", false);
	mcp_member(&notice.out, "data", text, false);
	send_notice(&notice, call);
}

/* Progress must grow from message to message, and what is counted changes on the way: messages are counted. */
static void write_progress(struct mcp_call *call, const char *what, uint64_t done, uint64_t total)
{
	struct notice notice;
	char number[24], message[512];
	snprintf(number, sizeof number, "%llu", (unsigned long long)++call->n_told);
	snprintf(message, sizeof message, "%s %d %%", what ? what : "",
	        total && done <= total ? (int)(100 * done / total) : 0);
	begin_notice(&notice, call, "progress");
	ht_out_str(&notice.out, "\"progressToken\":");
	mcp_write_raw(&notice.out, &call->progress_token);
	ht_out_str(&notice.out, ",\"progress\":");
	ht_out_str(&notice.out, number);
	mcp_member(&notice.out, "message", message, false);
	send_notice(&notice, call);
}

/* What the caller's function says, told to the client on the way. */
static bool tell_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct mcp_call *call = user;
	const struct ht_json_value *token = &call->progress_token;
	if (call->host->notify && is_id(token) && token->type != HT_JSON_NULL && token->n < 256)
		write_progress(call, what, done, total);
	return !mcp_request_is_cancelled(call->host->request) &&
	       (!call->progress || call->progress(call->progress_user, what, done, total));
}

/* ---- answering ---- */

static const struct method {
	const char *name;
	void (*answer)(struct mcp_call *call); /* NULL: an empty result */
	bool is_long;
} methods[] = {
	{ "initialize", mcp_initialize, false },
	{ "ping", NULL, false },
	{ "logging/setLevel", mcp_set_level, false },
	{ "tools/list", mcp_tools_list, false },
	{ "tools/call", mcp_tools_call, true },
	{ "resources/list", mcp_resources_list, true },
	{ "resources/templates/list", mcp_resources_templates, false },
	{ "resources/read", mcp_resources_read, true },
	{ "prompts/list", mcp_prompts_list, false },
	{ "prompts/get", mcp_prompts_get, false },
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < HT_COUNT(methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

bool mcp_method_is_long(const char *name)
{
	const struct method *method = find_method(name);
	return method && method->is_long;
}

static void write_error(struct mcp_call *call, struct ht_out *out)
{
	char code[16];
	snprintf(code, sizeof code, "%d", call->error);
	ht_out_str(out, "\"error\":{\"code\":");
	ht_out_str(out, code);
	mcp_member(out, "message", call->message, false);
	ht_out_str(out, "}}\n");
}

/* The answer as a whole: a result of which a part cannot be written becomes an error. */
static enum ht_status write_answer(
        struct mcp_call *call, const struct mcp_text *result, const struct ht_sink *sink)
{
	struct ht_out out;
	ht_out_init(&out, call->ctx, sink);
	ht_out_str(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (call->id.type != HT_JSON_END)
		mcp_write_raw(&out, &call->id);
	else
		ht_out_str(&out, "null");
	ht_out_char(&out, ',');
	if (call->error) {
		write_error(call, &out);
	} else {
		ht_out_str(&out, "\"result\":");
		ht_out_bytes(&out, result->bytes.data, result->bytes.n);
		ht_out_str(&out, "}\n");
	}
	return ht_out_finish(&out);
}

/* Call the method, with its result in text. */
static enum ht_status answer_method(struct mcp_call *call, struct mcp_text *result)
{
	const struct method *method = find_method(call->method);
	struct ht_sink sink = mcp_text_sink(result);
	struct ht_out out;
	if (!method) {
		mcp_refuse(call, RPC_METHOD, "there is no method %.60s", call->method);
		return HT_OK;
	}
	ht_out_init(&out, call->ctx, &sink);
	call->out = &out;
	call->progress = call->ctx->progress;
	call->progress_user = call->ctx->progress_user;
	ht_ctx_set_progress(call->ctx, tell_progress, call);
	if (method->answer)
		method->answer(call);
	else
		ht_out_str(&out, "{}");
	ht_ctx_set_progress(call->ctx, call->progress, call->progress_user);
	enum ht_status status = ht_out_finish(&out);
	return result->failed ? ht_fail_nomem(call->ctx) : status;
}

enum ht_status ht_mcp_answer(ht_ctx *ctx, const struct ht_mcp_host *host, const char *message,
        size_t n, const struct ht_sink *sink)
{
	struct ht_mcp_host taken;
	struct mcp_text result = { .mem = ctx->mem };
	ht_error_clear(ctx);
	HT_TRY(HT_OPTIONS_TAKE(ctx, ht_mcp_host, request, host, &taken));
	struct mcp_call call = { .ctx = ctx, .host = &taken };
	taken.max_bytes = taken.max_bytes ? taken.max_bytes : MCP_DEFAULT_BYTES;
	if (taken.request) {
		taken.log_level = mcp_client_level(mcp_request_client(taken.request));
		taken.is_old = mcp_client_is_old(mcp_request_client(taken.request));
	}
	ht_arena_init(&call.arena, ctx->mem);
	enum ht_status status = HT_OK;
	bool is_message = mcp_rpc_read(&call, message, n);
	bool is_request = is_message && call.method && call.id.type != HT_JSON_END;
	if (is_request && !mcp_request_is_cancelled(taken.request))
		status = answer_method(&call, &result);
	/* what is no message has an answer, too; a notification, a response and what was cancelled have none */
	if (mcp_request_is_cancelled(taken.request))
		status = HT_OK;
	else if (status == HT_OK && (is_request || !is_message))
		status = write_answer(&call, &result, sink);
	mcp_text_done(&result);
	ht_arena_done(&call.arena);
	return status;
}
