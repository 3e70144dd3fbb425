/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - see exchange.h.
 */
#include "exchange.h"

#include "costs.h"
#include "pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWS_MS 20000

/* ---- lifetime ---- */

struct exchange *exchange_new(struct server *server, const char *target)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	if (exchange == NULL)
		return NULL;
	exchange->server = server;
	exchange->target = copy_text(target);
	exchange->n_target = strlen(target);
	exchange->body.max = EXCHANGE_MAX_BODY + 2; /* one too many, and the end */
	if (exchange->target == NULL) {
		free(exchange);
		return NULL;
	}
	return exchange;
}

/* Let go of what the request holds; it may hold again. */
static void let_go(struct serve_request *request)
{
	for (size_t i = 0; i < request->n_others; i++)
		snapshot_release(request->others[i].run);
	request->n_others = 0;
	snapshot_release(request->run);
	request->run = NULL;
	ht_mcp_request_end(request->mcp_request);
	request->mcp_request = NULL;
}

void exchange_free(struct exchange *exchange)
{
	if (exchange == NULL)
		return;
	let_go(&exchange->request);
	answer_release(exchange->answer);
	serve_buffer_done(&exchange->response.body);
	serve_buffer_done(&exchange->body);
	serve_buffer_done(&exchange->events);
	free(exchange->question);
	free(exchange->target);
	free(exchange);
}

/* ---- answers ---- */

/* The answer to what the route said, or to a refusal. */
static struct answer *finish(
        struct exchange *exchange, ht_ctx *ctx, enum ht_status status, const char *coding)
{
	struct answer *answer = answer_new(ctx, status, &exchange->response, coding);
	exchange->response = (struct serve_response){ 0 };
	return answer;
}

/* Make the refusal that the response holds the answer. */
static void refuse(struct exchange *exchange)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return;
	answer_release(exchange->answer);
	exchange->answer = finish(exchange, ctx, HT_USAGE, NULL);
	ht_ctx_free(ctx);
}

void exchange_refuse(struct exchange *exchange, int status, const char *hint, const char *message)
{
	(void)serve_refuse(&exchange->response, status, hint, "%s", message);
	refuse(exchange);
}

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	const struct exchange *exchange = user;
	(void)what;
	(void)done;
	(void)total;
	return now_ms() < exchange->deadline_ms && !atomic_load(&exchange->server->is_stopping);
}

/* Run the route's function under the limits of one request. */
static struct answer *run_route(struct exchange *exchange)
{
	struct server *server = exchange->server;
	struct serve_response *response = &exchange->response;
	ht_ctx *ctx;
	if (server_ctx(server, &ctx) != HT_OK)
		return NULL;
	int n_busy = pool_busy(server->pool);
	ht_ctx_set_jobs(ctx, n_busy > 0 && n_busy < server->n_cpus ? server->n_cpus / n_busy : 1);
	ht_ctx_set_memory_limit(ctx, server->options.request_bytes);
	exchange->deadline_ms = now_ms() + server->options.request_ms;
	ht_ctx_set_progress(ctx, go_on, exchange);
	exchange->request.ctx = ctx;
	enum ht_status status = exchange->route->answer(&exchange->request, response);
	if (status == HT_CANCELLED)
		(void)serve_refuse(response, 503, "ask for one rank or step, or try again",
		        atomic_load(&server->is_stopping) ? "the server stops"
		                                          : "the answer took longer than %u s",
		        server->options.request_ms / 1000);
	ht_ctx_set_progress(ctx, NULL, NULL);
	ht_ctx_set_memory_limit(ctx, 0);
	struct answer *answer =
	        finish(exchange, ctx, status, answer_coding(exchange->accept_encoding));
	exchange->request.ctx = NULL;
	let_go(&exchange->request);
	ht_ctx_free(ctx);
	return answer;
}

/* ---- what is asked for ---- */

/* The target below the path prefix; false when it is not. */
static bool cut_prefix(struct exchange *exchange, char **ret_path)
{
	const char *prefix = exchange->server->options.path_prefix;
	size_t n = prefix != NULL ? strlen(prefix) : 0;
	char *path = exchange->target;
	if (strncmp(path, prefix != NULL ? prefix : "", n) != 0)
		return false;
	path += n;
	exchange->wants_slash = n > 0 && (*path == '\0' || *path == '?');
	*ret_path = path;
	return *path == '/' || exchange->wants_slash;
}

/* Find the route and take the query apart; false with a refusal. */
static bool parse(struct exchange *exchange)
{
	struct serve_request *request = &exchange->request;
	struct serve_response *response = &exchange->response;
	char *path, *query;
	if (!cut_prefix(exchange, &path)) {
		(void)serve_refuse(response, 404, NULL, "there is nothing here");
		return false;
	}
	query = path + strcspn(path, "?");
	if (*query == '?')
		*query++ = '\0';
	if (!serve_query_parse(request, response, query))
		return false;
	exchange->route = exchange->wants_slash ? route_at(0)
	                                        : route_find(exchange->method, path, request->names,
	                                                  exchange->allow);
	for (size_t i = 0; i < 3 && exchange->route != NULL; i++)
		if (request->names[i] != NULL &&
		        !serve_decode((char *)(uintptr_t)request->names[i], false))
			exchange->route = NULL;
	if (exchange->route == NULL) {
		bool is_path = exchange->allow[0] != '\0';
		(void)serve_refuse(response, is_path ? 405 : 404, "see /api/v1/openapi.json",
		        is_path ? "the path takes %s" : "there is nothing here", exchange->allow);
		return false;
	}
	request->server = exchange->server;
	request->method = exchange->method;
	request->path = exchange->route->pattern;
	return true;
}

/* Hold what is read of a run ("RUN" or "RUN@SPAN"); false with a refusal. */
static bool hold_run(struct exchange *exchange, const char *id, const char *span,
        struct snapshot **ret_run, struct span_set **ret_of)
{
	struct serve_response *response = &exchange->response;
	struct runs *runs = &exchange->server->runs;
	struct snapshot *snapshot = NULL;
	pthread_mutex_lock(&runs->lock);
	const struct run *run = runs_find(runs, id);
	if (run == NULL)
		(void)serve_refuse(response, runs->is_scanning ? 503 : 404, "see /api/v1/runs",
		        "there is no run %.200s", id);
	else if (run->now != NULL)
		snapshot = snapshot_hold(run->now);
	else if (strcmp(run_state(run), "failed") == 0)
		(void)serve_refuse(response, 422, NULL, "%s", run_error(run));
	else
		(void)serve_refuse(response, 503, "it is being read; ask again",
		        "nothing of the run is read yet");
	pthread_mutex_unlock(&runs->lock);
	if (snapshot == NULL)
		return false;
	*ret_of = snapshot_span(snapshot, span);
	if (*ret_of == NULL) {
		(void)serve_refuse(
		        response, 404, "see /api/v1/runs", "the run has no span %.60s", span);
		snapshot_release(snapshot);
		return false;
	}
	*ret_run = snapshot;
	return true;
}

/* The run of the path and those that base and test name. */
static bool hold_runs(struct exchange *exchange)
{
	struct serve_request *request = &exchange->request;
	struct span_set *of;
	if (!hold_run(exchange, request->names[0], serve_query(request, "span"), &request->run,
	            &request->of))
		return false;
	request->set = request->of->set;
	request->generation = request->run->generation;
	for (size_t i = 0; i < request->n_query; i++) {
		bool is_test = strcmp(request->query[i].name, "test") == 0;
		char id[4096];
		if (!is_test && strcmp(request->query[i].name, "base") != 0)
			continue;
		if (request->n_others == SERVE_MAX_OTHERS) {
			(void)serve_refuse(&exchange->response, 400, NULL,
			        "more than %d runs to compare", SERVE_MAX_OTHERS);
			return false;
		}
		snprintf(id, sizeof(id), "%s", request->query[i].value);
		char *span = strchr(id, '@');
		if (span != NULL)
			*span++ = '\0';
		struct other_run *other = &request->others[request->n_others];
		if (!hold_run(exchange, id, span, &other->run, &of))
			return false;
		other->set = of->set;
		other->is_test = is_test;
		request->n_others++;
	}
	return true;
}

/* All that the answer follows from, as one text. */
static char *question_of(const struct exchange *exchange, const char *coding)
{
	const struct serve_request *request = &exchange->request;
	struct serve_buffer text = { 0 };
	serve_puts(&text, exchange->route->pattern);
	serve_printf(
	        &text, "\x1f%" PRIu64 "\x1f%s", request->generation, coding != NULL ? coding : "");
	for (size_t i = 0; i < request->n_others; i++)
		serve_printf(&text, "\x1f%" PRIu64, request->others[i].run->generation);
	for (size_t i = 0; i < 3 && request->names[i] != NULL; i++) {
		serve_puts(&text, "\x1f");
		serve_puts(&text, request->names[i]);
	}
	for (size_t i = 0; i < request->n_query; i++) {
		bool is_wait = exchange->route->flags & ROUTE_WAITS &&
		               strcmp(request->query[i].name, "after") == 0;
		if (is_wait || strcmp(request->query[i].name, "token") == 0)
			continue;
		serve_puts(&text, "\x1e");
		serve_puts(&text, request->query[i].name);
		serve_puts(&text, "\x1f");
		serve_puts(&text, request->query[i].value);
	}
	/* of POST, which may be asked again like GET */
	serve_puts(&text, "\x1d");
	if (request->mcp_version != NULL)
		serve_puts(&text, request->mcp_version);
	serve_puts(&text, "\x1d");
	if (exchange->is_own)
		serve_printf(&text, "%p", (const void *)exchange);
	serve_puts(&text, "\x1d");
	serve_puts(&text, request->body);
	serve_put(&text, "", 1);
	if (text.failed)
		serve_buffer_done(&text);
	return text.bytes;
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	for (; *text != '\0'; text++)
		seed = (seed ^ (unsigned char)*text) * 1099511628211u;
	return seed ^ seed >> 29;
}

static void write_etag(const struct exchange *exchange, char etag[48])
{
	uint64_t boot = exchange->server->boot;
	snprintf(etag, 48, "\"%016" PRIx64 "%016" PRIx64 "\"", hash_text(exchange->question, boot),
	        hash_text(exchange->question, ~boot * 31));
}

/* Whether a list of ETags has one; W/ before one does not matter here. */
static bool lists_etag(const char *list, const char *etag)
{
	return list != NULL && (strstr(list, etag) != NULL || strcmp(list, "*") == 0);
}

/* ---- the way ---- */

static uint64_t generation_of(struct runs *runs)
{
	pthread_mutex_lock(&runs->lock);
	uint64_t generation = runs->generation;
	pthread_mutex_unlock(&runs->lock);
	return generation;
}

/* Whether to wait for news: the client knows what there is. */
static bool waits_for_news(struct exchange *exchange, bool *ret_refused)
{
	struct serve_request *request = &exchange->request;
	int64_t after;
	*ret_refused = !serve_query_i64(
	        request, &exchange->response, "after", 0, INT64_MAX, INT64_MAX, &after);
	request->generation = generation_of(&exchange->server->runs);
	if (*ret_refused || (uint64_t)after != request->generation)
		return false;
	uint64_t now = now_ms();
	if (exchange->news_ms == 0)
		exchange->news_ms = now + NEWS_MS;
	return now < exchange->news_ms;
}

/* Look the answer up, or find out who computes it. */
static enum next_step ask(struct exchange *exchange)
{
	char etag[48];
	exchange->question = question_of(exchange, answer_coding(exchange->accept_encoding));
	if (exchange->question == NULL)
		return STEP_DONE;
	write_etag(exchange, etag);
	exchange->is_modified = !lists_etag(exchange->if_none_match, etag);
	if (!exchange->is_modified) {
		exchange_refuse(exchange, 304, NULL, "");
		if (exchange->answer != NULL)
			memcpy(exchange->answer->etag, etag, sizeof(etag));
		return STEP_DONE;
	}
	switch (answers_ask(exchange->server->answers, exchange->question, &exchange->waiter,
	        &exchange->answer)) {
	case ASKED_FIRST: return STEP_COMPUTE;
	case ASKED_WAIT: return STEP_WAIT_ANSWER;
	case ASKED_KNOWN:
	case ASKED_NOMEM: break;
	}
	return STEP_DONE;
}

bool exchange_admit(struct exchange *exchange)
{
	struct server *server = exchange->server;
	exchange->is_refused = !parse(exchange);
	const char *token = serve_query(&exchange->request, "token");
	bool is_page = exchange->route != NULL && exchange->route->flags & ROUTE_OPEN;
	/* who may not ask learns nothing about what there is */
	if (!guard_allows(&server->options, server->port, &exchange->headers, token, is_page,
	            &exchange->response)) {
		refuse(exchange);
		return false;
	}
	exchange->sets_cookie = !exchange->is_refused && is_page && token != NULL;
	return true;
}

/* The body, ended as a text. */
static void take_body(struct exchange *exchange)
{
	struct serve_request *request = &exchange->request;
	if (request->body != NULL)
		return;
	request->n_body = exchange->body.n;
	serve_put(&exchange->body, "", 1);
	request->body = exchange->body.bytes != NULL ? exchange->body.bytes : "";
}

/* What a message means to its session is noted as it comes, in the order of messages: one that cancels another is not
 * behind it in a queue. An initialize begins a session; other messages without an id are answered without one. */
static bool enter_session(struct exchange *exchange)
{
	struct serve_request *request = &exchange->request;
	struct sessions *sessions = exchange->server->sessions;
	enum session_found found = SESSION_TAKEN;
	if (request->mcp_session == NULL) {
		if (!sessions_begin(sessions, request->body, request->n_body, now_ms(),
		            exchange->session_id))
			found = SESSION_NOMEM;
	} else {
		found = sessions_take(sessions, request->mcp_session, request->body,
		        request->n_body, now_ms(), &request->mcp_request);
	}
	/* what cancels a request must not wait for a worker who has one; it has nothing to tell before its answer */
	exchange->is_own = request->mcp_request != NULL;
	exchange->is_short = request->mcp_session != NULL && !exchange->is_own;
	if (exchange->is_short)
		request->events.write = NULL;
	request->mcp_session = NULL; /* the head may be gone before the answer is there */
	if (found == SESSION_UNKNOWN)
		(void)serve_refuse(&exchange->response, 404, "begin another one with initialize",
		        "there is no such session, or it has ended");
	if (found == SESSION_NOMEM)
		(void)serve_refuse(&exchange->response, 503, NULL, "out of memory");
	return found == SESSION_TAKEN;
}

enum next_step exchange_begin(struct exchange *exchange)
{
	bool is_refused = exchange->is_refused;
	take_body(exchange);
	if (!is_refused && exchange->request.n_body > EXCHANGE_MAX_BODY)
		is_refused =
		        serve_refuse(&exchange->response, 413, NULL,
		                "the body has more than %zu bytes", EXCHANGE_MAX_BODY) != HT_OK;
	if (!is_refused && exchange->wants_slash)
		is_refused =
		        serve_refuse(&exchange->response, 308, NULL, "the page is at /") != HT_OK;
	if (!is_refused && exchange->route->flags & ROUTE_WAITS &&
	        waits_for_news(exchange, &is_refused))
		return STEP_WAIT_NEWS;
	if (!is_refused && exchange->route->flags & ROUTE_RUN)
		is_refused = !hold_runs(exchange);
	if (!is_refused && exchange->route->flags & ROUTE_ALL)
		exchange->request.generation = generation_of(&exchange->server->runs);
	if (!is_refused && exchange->route->flags & ROUTE_MCP)
		is_refused = !enter_session(exchange);
	if (is_refused) {
		let_go(&exchange->request);
		refuse(exchange);
		return STEP_DONE;
	}
	if (!(exchange->route->flags & ROUTE_ACTS) && !exchange->is_short)
		return ask(exchange);
	exchange->answer = run_route(exchange);
	return STEP_DONE;
}

/* Give an answer to all who wait for it, and to the one who asked first. */
static void tell_all(
        struct exchange *exchange, struct answer *answer, void (*told)(struct exchange *exchange))
{
	bool keep = answer != NULL && answer->status == 200 && !exchange->is_own;
	if (keep)
		write_etag(exchange, answer->etag);
	struct waiter *waiter =
	        answers_give(exchange->server->answers, exchange->question, answer, keep);
	while (waiter != NULL) {
		struct exchange *other = (struct exchange *)waiter;
		waiter = waiter->next;
		let_go(&other->request);
		other->answer = answer != NULL ? answer_hold(answer) : NULL;
		told(other);
	}
	exchange->answer = answer;
	told(exchange);
}

unsigned exchange_cost_ms(const struct exchange *exchange)
{
	const struct serve_request *request = &exchange->request;
	if (exchange->route->flags & ROUTE_QUICK)
		return 0;
	if (!(exchange->route->flags & ROUTE_TABLE))
		return COSTS_UNKNOWN_MS;
	return costs_guess(exchange->server->costs, request->names[1], serve_n_events(request));
}

void exchange_compute(struct exchange *exchange, void (*told)(struct exchange *exchange))
{
	tell_all(exchange, run_route(exchange), told);
}

void exchange_give_up(struct exchange *exchange, void (*told)(struct exchange *exchange))
{
	let_go(&exchange->request);
	exchange_refuse(exchange, 503, "ask again in a moment", "too many requests wait already");
	tell_all(exchange, exchange->answer, told);
}
