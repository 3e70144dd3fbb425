/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what was asked: path, query, and what the path names.
 *
 * A route gets it with everything looked up: the run, its set, and a context of its own whose limits of memory and
 * time are the server's. It runs on a worker's thread, beside others.
 */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "holotrace.h"
#include "response.h"

#define SERVE_MAX_QUERY  96
#define SERVE_MAX_OTHERS 16

struct server;
struct snapshot;
struct span_set;

struct query_value {
	const char *name, *value; /* decoded; any bytes but NUL */
};

struct serve_request {
	struct server *server;
	ht_ctx *ctx;
	const char *method, *path;
	const char *names[3]; /* what stood for {run}, {verb} ... in the route's pattern */
	struct query_value query[SERVE_MAX_QUERY]; /* in the order of names */
	size_t n_query;
	const char *body; /* of POST; NUL behind it */
	size_t n_body;
	const char *mcp_version; /* the header MCP-Protocol-Version; NULL: none */
	const char *
	        mcp_session; /* the header Mcp-Session-Id, until a message is taken by it; NULL: none */
	struct ht_mcp_request *mcp_request; /* of a session: it can be cancelled; NULL: of none */
	struct ht_sink
	        events; /* what is told before the answer, a message at a time; write is NULL: nowhere */
	/* of routes with {run}: what is read of it now; stays as it is while the request lasts */
	struct snapshot *run;
	ht_set *set; /* its ranks, or those of the span that was asked for; NULL: nothing is read yet */
	struct span_set *of; /* the same, with its timelines */
	uint64_t generation;
	/* the runs that base and test name, in this order, held like the run */
	struct other_run {
		bool is_test;
		struct snapshot *run;
		ht_set *set;
	} others[SERVE_MAX_OTHERS];
	size_t n_others;
};

/* Events of the ranks that are asked about. */
uint64_t serve_n_events(const struct serve_request *request);
/* Decode %41 in place, and + as a space when asked for. False for what is no code, and for NUL. */
bool serve_decode(char *text, bool plus_is_space);
/* Take the query apart, decoded and sorted by name; text is changed and must stay. False, with the refusal made,
 * when it is malformed or too long. */
bool serve_query_parse(struct serve_request *request, struct serve_response *response, char *text);
/* The value of a query parameter, or NULL; the first of several. */
const char *serve_query(const struct serve_request *request, const char *name);
/* As whole number: the default when absent; false, with the refusal made, when it is none or out of [min, max]. */
bool serve_query_i64(const struct serve_request *request, struct serve_response *response,
        const char *name, int64_t min, int64_t max, int64_t otherwise, int64_t *ret_value);
/* "rank:row" as an event; false, with the refusal made, when it is absent or none. */
bool serve_query_event(const struct serve_request *request, struct serve_response *response,
        const char *name, int64_t *ret_id);

#endif
