/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_message.h - one message on its way: read (rpc.c), answered by its method (methods.c), tools by their table (tools.def).
 *
 *   message ─► rpc ─► method ─┬─► tools/list       from tools.def and the descriptors of analyses
 *                             ├─► tools/call ─► tool_run.c ─► tables ─► tool_answer.c: short text, bounded rows, next
 *                             └─► resources, prompts, logging, ping, initialize
 *
 * What the client got wrong is an error of the answer, never of the call.
 */
#ifndef HT_MCP_MCP_MESSAGE_H
#define HT_MCP_MCP_MESSAGE_H

#include "holotrace.h"
#include "holotrace/mcp.h"
#include "json/json_text.h"
#include "table/out.h"

/* Errors of JSON-RPC. */
enum { RPC_PARSE = -32700, RPC_REQUEST = -32600, RPC_METHOD = -32601, RPC_PARAMS = -32602 };

#define MCP_DEFAULT_BYTES 20000
#define MCP_MAX_ARGS      64
#define MCP_MAX_NEXT      12

/* Text that grows in memory of the context. */
struct mcp_text {
	struct ht_mem *mem;
	struct ht_vec bytes;
	bool failed;
};
struct ht_sink mcp_text_sink(struct mcp_text *text);
void mcp_text_done(struct mcp_text *text);

/* One message being answered. */
struct mcp_call {
	ht_ctx *ctx;
	const struct ht_mcp_host *host;
	struct ht_arena arena;
	struct ht_json_value id; /* END: a notification */
	const char *method;
	struct ht_json_value params;
	struct ht_out *out; /* the result, as text of JSON */
	int error;          /* 0: the result is written */
	char message[512];  /* of the error */
	/* progress that the client asked for */
	struct ht_json_value progress_token;
	ht_progress_fn progress;
	void *progress_user;
	uint64_t n_told;
};

/* Read a message; false with error and message set when it is none. */
bool mcp_rpc_read(struct mcp_call *call, const char *message, size_t n);
/* A text that a value holds: a string decoded, a number as it stands, a list joined by commas; NULL when it has none, or
 * when a NUL is inside. */
const char *mcp_value_text(struct ht_arena *arena, const struct ht_json_value *value);
/* The member of params as text; NULL: absent. */
const char *mcp_param(struct mcp_call *call, const char *name);
/* Refuse: for `return mcp_refuse(...)`. */
void mcp_refuse(struct mcp_call *call, int error, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Write a value of the message back as it came. */
void mcp_write_raw(struct ht_out *out, const struct ht_json_value *value);
/* A quoted text; one that was cut inside a character gets U+FFFD there. NULL is null. */
void mcp_write_text(struct ht_out *out, const char *text);
/* "key":"text" and a comma before it unless it is the first. */
void mcp_member(struct ht_out *out, const char *key, const char *text, bool first);

/* A message of its own to the client, when it listens. */
void mcp_log(const struct mcp_call *call, int level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* 0 debug to 7 emergency; -1: there is no such level. */
int mcp_log_level(const char *name);

/* ---- runs ---- */

/* Names of all runs, the newest file of each and how many there are. */
struct mcp_runs {
	struct ht_mcp_run *list; /* in the arena, with their texts */
	size_t n;
};
enum ht_status mcp_runs_list(struct mcp_call *call, struct mcp_runs *ret_runs) HT_MUST_USE;

/* A run that a tool looks at. */
struct mcp_held {
	const char *name;
	ht_set *set;
	void *hold;
};
/* By its name; NULL: the only one. HT_USAGE with the names that there are. */
enum ht_status mcp_run_hold(
        struct mcp_call *call, const char *name, struct mcp_held *ret_held) HT_MUST_USE;
void mcp_run_release(struct mcp_call *call, struct mcp_held *held);

/* ---- methods ---- */

void mcp_initialize(struct mcp_call *call);
void mcp_set_level(struct mcp_call *call);
void mcp_tools_list(struct mcp_call *call);
void mcp_tools_call(struct mcp_call *call);
void mcp_resources_list(struct mcp_call *call);
void mcp_resources_templates(struct mcp_call *call);
void mcp_resources_read(struct mcp_call *call);
void mcp_prompts_list(struct mcp_call *call);
void mcp_prompts_get(struct mcp_call *call);
/* Whether a method takes time: its answer may come later, from another thread. */
bool mcp_method_is_long(const char *method);

#endif
