/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the Model Context Protocol over the analyses: what programs that drive a language model
 * ask.
 *
 * Messages of JSON-RPC 2.0 in, messages out. How they travel is the front end's: lines of standard
 * input and output (ht_mcp_open), or the body of a request and its answer (ht_mcp_answer, and
 * ht_mcp_client_new for sessions). Nothing is written anywhere else, and only what the host lists
 * can be read. A header of its own, beside holotrace.h, whose contract it shares.
 */
#ifndef HOLOTRACE_MCP_H
#define HOLOTRACE_MCP_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longer messages are refused. */
#define HT_MCP_MAX_MESSAGE ((size_t)1 << 20)
#define HT_MCP_WHY_BYTES   512

/* A run as the host lists it. */
struct ht_mcp_run {
	size_t struct_size; /* sizeof, see the top */
	const char *name;   /* what it is asked by: its place below the log directory */
	const char *state;  /* "ready", or why not yet; static */
	size_t n_files;
	uint64_t size_bytes;
	int64_t mtime_ns; /* of its newest file */
};

/* What is remembered of one client between its messages: version, level of messages, requests under
 * way. */
typedef struct ht_mcp_client ht_mcp_client;
/* A request of a client under way, which a message of the same client may cancel. */
typedef struct ht_mcp_request ht_mcp_request;

/* False: no more are wanted. */
typedef bool (*ht_mcp_run_fn)(void *to, const struct ht_mcp_run *run);

/* Who has the runs. Calls may come from any thread. */
struct ht_mcp_host {
	size_t struct_size; /* sizeof, see the top */
	void *user;
	/* Every run, in an order that stays. */
	enum ht_status (*list)(void *user, ht_ctx *ctx, ht_mcp_run_fn fn, void *to);
	/* The traces of a run, which stay until they are released; else a status with a sentence in
	 * why. */
	enum ht_status (*hold)(void *user, ht_ctx *ctx, const char *name, ht_set **ret_set,
	        void **ret_hold, char why[HT_MCP_WHY_BYTES]);
	void (*release)(void *user, void *hold);
	/* Progress and log messages go there, a message and a newline each; NULL: nowhere. */
	const struct ht_sink *notify;
	int log_level;      /* 0 debug to 7 emergency: less is not told */
	bool is_old;        /* the client speaks 2024-11-05: no structured content */
	uint64_t max_bytes; /* of an answer, 0: 20 KB */
	/* What ht_mcp_client_take made of the message; NULL: of no client. Level and version are
	 * the client's then. */
	const ht_mcp_request *request;
};

/* Answer one message with at most one, which is written to the sink with a newline; nothing is
 * written for a notification, nor for a request that was cancelled. The context has the limits:
 * memory, threads, and a progress function that may cancel. What is wrong with a message is told in
 * the answer; a failure is one of memory or of the sink. */
HT_API enum ht_status ht_mcp_answer(ht_ctx *ctx, const struct ht_mcp_host *host,
        const char *message, size_t n, const struct ht_sink *sink) HT_MUST_USE;

/* Is it a version of the protocol that is spoken here? */
HT_API bool ht_mcp_has_version(const char *version);

/* The client that an initialize begins, NULL when the message is none, or one that is refused; with
 * a NULL message one that has said nothing yet. The calls about it may come from any thread. */
HT_API enum ht_status ht_mcp_client_new(
        ht_ctx *ctx, const char *message, size_t n, ht_mcp_client **ret_client) HT_MUST_USE;
/* Cancel what is under way; it goes with the last request that ends. */
HT_API void ht_mcp_client_free(ht_mcp_client *client);
/* Whether requests of it are under way. */
HT_API bool ht_mcp_client_is_busy(ht_mcp_client *client);
/* Take note of a message of the client, before it is answered: its level, its version, what it
 * cancels, and that it is under way, until ht_mcp_request_end. ret_request is NULL for what cannot
 * be cancelled. HT_NOMEM only. */
HT_API enum ht_status ht_mcp_client_take(ht_mcp_client *client, const char *message, size_t n,
        ht_mcp_request **ret_request) HT_MUST_USE;
HT_API void ht_mcp_request_end(ht_mcp_request *request);

typedef struct ht_mcp ht_mcp; /* a session over the runs of folders */

struct ht_mcp_options {
	size_t struct_size;         /* sizeof, see the top */
	const char *const *sources; /* the log directory, or several sources as for ht_open */
	size_t n_sources;
	/* How to read; NULL: defaults. What is attached is what lies beside the traces. */
	const struct ht_open_options *open;
	bool follow_links;      /* also read files that links below the sources lead to */
	uint64_t read_bytes;    /* memory for reading one run, 0: no limit */
	uint64_t request_bytes; /* memory of one answer, 0: 4 GiB */
	uint64_t answer_bytes;  /* of one answer, 0: 20 KB */
	uint32_t request_ms;    /* time of one answer, 0: 60 s */
	int n_jobs;             /* threads, 0: one per CPU */
	/* Answers and notifications, a message and a newline at a time; calls are one after the
	 * other, from any thread. */
	struct ht_sink out;
};

/* Texts are copied. */
HT_API enum ht_status ht_mcp_open(
        ht_ctx *ctx, const struct ht_mcp_options *options, ht_mcp **ret_mcp) HT_MUST_USE;
/* Take one message: it is answered now, or soon by another thread. */
HT_API enum ht_status ht_mcp_take(ht_mcp *mcp, const char *message, size_t n) HT_MUST_USE;
/* Answer what is under way, then end. With is_now what can be cancelled is. */
HT_API void ht_mcp_close(ht_mcp *mcp, bool is_now);

#ifdef __cplusplus
}
#endif
#endif
