/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c - libmicrohttpd's side: connections, headers, bodies; what to answer is exchange.c's.
 *
 * One thread talks to all clients and never computes: a request that needs work is suspended and resumed when a
 * worker has its answer, or when there are news for one that waits for them.
 */
#include "exchange.h"
#include "listen.h"
#include "mhd.h"
#include "peers.h"
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_CONNECTIONS  900        /* of the 1,024 files that a process may open */
#define CONNECTION_BYTES (32 << 10) /* of a request's line and headers */
#define IDLE_S           60
/* Ports whose pages may frame ours, and the header that says so. */
#define MAX_FRAMES   16
#define POLICY_BYTES 4096
/* So many may wait for news at a time; who comes then sends the longest waiting home. */
#define MAX_NEWS 300
/* Of progress and messages that a client has not read; the answer comes behind them in any case. */
#define MAX_EVENT_BYTES   ((size_t)256 << 10)
#define EVENT_BLOCK_BYTES 4096

/* Who only holds a connection: see peers.h. All of these together are fewer than there are connections. */
static const struct peer_limits limits = { .strangers = 300,
	.of_address = 150,
	.grace_ms = 200,
	.known = 300,
	.ask_ms = 10000,
	.idle_ms = IDLE_S * 1000 };

struct http {
	struct server *server;
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	struct exchange *news; /* those who wait for them, the last one first */
	size_t n_news;
	struct peers *peers;
	char policy[POLICY_BYTES];
	bool is_stopping;
};

/* Scripts and styles come from us alone, none stands in the page; who may show it in a frame follows. */
static const char policy[] =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'; "
        "frame-ancestors 'self'";

/* ---- sending ---- */

static void release_answer(void *answer)
{
	answer_release(answer);
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
	(void)mhd.add_response_header(response, name, value);
}

static void add_cookie(const struct exchange *exchange, struct MHD_Response *response)
{
	const struct serve_options *options = &exchange->server->options;
	char name[32], value[1024];
	guard_cookie_name(exchange->server->port, name);
	snprintf(value, sizeof(value), "%s=%s; Path=%s/; HttpOnly; SameSite=Strict", name,
	        options->token, options->path_prefix != NULL ? options->path_prefix : "");
	add(response, "Set-Cookie", value);
}

/* What every answer says to browsers. */
static void add_guards(const struct exchange *exchange, struct MHD_Response *response)
{
	add(response, "Content-Security-Policy", exchange->server->http->policy);
	add(response, "X-Content-Type-Options", "nosniff");
	add(response, "Referrer-Policy", "no-referrer");
	add(response, "Cross-Origin-Resource-Policy", "same-origin");
}

static void add_headers(const struct exchange *exchange, struct MHD_Response *response)
{
	const struct answer *answer = exchange->answer;
	const struct serve_options *options = &exchange->server->options;
	char text[512];
	add_guards(exchange, response);
	add(response, "Cache-Control", answer->etag[0] != '\0' ? "private, no-cache" : "no-store");
	add(response, "Vary", "Accept-Encoding");
	if (answer->status != 304)
		add(response, "Content-Type", answer->type);
	if (answer->coding != NULL)
		add(response, "Content-Encoding", answer->coding);
	if (answer->etag[0] != '\0')
		add(response, "ETag", answer->etag);
	if (answer->save_as != NULL) {
		snprintf(text, sizeof(text), "attachment; filename=\"table%s\"", answer->save_as);
		add(response, "Content-Disposition", text);
	}
	if (answer->status == 503)
		add(response, "Retry-After", "1");
	if (exchange->allow[0] != '\0')
		add(response, "Allow", exchange->allow);
	if (answer->status == 200 && exchange->session_id[0] != '\0')
		add(response, "Mcp-Session-Id", exchange->session_id);
	if (answer->status == 308) {
		snprintf(text, sizeof(text), "%s/", options->path_prefix);
		add(response, "Location", text);
	}
	if (exchange->sets_cookie && options->token != NULL)
		add_cookie(exchange, response);
}

static enum MHD_Result send_answer(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct answer *answer = exchange->answer;
	if (answer == NULL) {
		exchange_refuse(exchange, 503, NULL, "out of memory");
		answer = exchange->answer;
	}
	if (answer == NULL)
		return MHD_NO;
	struct MHD_Response *response =
	        answer->status == 304
	                ? mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
	                : mhd.create_response_from_buffer_with_free_callback_cls(
	                          answer->n, answer->bytes, release_answer, answer_hold(answer));
	if (response == NULL) {
		if (answer->status != 304)
			answer_release(answer);
		return MHD_NO;
	}
	add_headers(exchange, response);
	enum MHD_Result result = mhd.queue_response(connection, (unsigned)answer->status, response);
	mhd.destroy_response(response);
	return result;
}

/* ---- waiting ---- */

/* Under the lock: nobody is resumed before he was suspended. */
static void resume_locked(struct exchange *exchange)
{
	if (exchange->is_suspended)
		mhd.resume_connection(exchange->connection);
	exchange->is_suspended = false;
}

/* It is computed, or given up. */
static void resume(struct exchange *exchange)
{
	struct http *http = exchange->server->http;
	pthread_mutex_lock(&http->lock);
	bool is_gone = exchange->is_gone;
	exchange->is_told = true;
	exchange->is_computing = false;
	if (!is_gone)
		resume_locked(exchange);
	pthread_mutex_unlock(&http->lock);
	if (is_gone)
		exchange_free(exchange);
}

/* ---- events before the answer ---- */

/* One message, which ends with a newline. Who does not read misses some, not the answer. */
static bool put_event(void *user, const void *message, size_t n)
{
	struct exchange *exchange = user;
	struct http *http = exchange->server->http;
	pthread_mutex_lock(&http->lock);
	if (!exchange->is_gone && exchange->events.n < MAX_EVENT_BYTES) {
		serve_puts(&exchange->events, "event: message\ndata: ");
		serve_put(&exchange->events, message, n);
		serve_puts(&exchange->events, "\n");
		resume_locked(exchange);
	}
	pthread_mutex_unlock(&http->lock);
	return true;
}

/* The answer as the last of the events. */
static void put_end(struct exchange *exchange)
{
	static const char lost[] = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"
	                           "\"message\":\"out of memory\"}}\n";
	const struct answer *answer = exchange->answer;
	bool is_good = answer != NULL && answer->status == 200;
	exchange->has_end = true;
	/* what was cancelled has none */
	if (is_good && answer->n == 0)
		return;
	serve_puts(&exchange->events, "event: message\ndata: ");
	serve_put(&exchange->events, is_good ? answer->bytes : lost,
	        is_good ? answer->n : sizeof(lost) - 1);
	serve_puts(&exchange->events, "\n");
}

static ssize_t read_events(void *user, uint64_t at, char *to, size_t max)
{
	struct exchange *exchange = user;
	struct http *http = exchange->server->http;
	struct serve_buffer *events = &exchange->events;
	(void)at;
	pthread_mutex_lock(&http->lock);
	if (exchange->n_events_sent == events->n && exchange->is_told && !exchange->has_end)
		put_end(exchange);
	size_t n = events->n - exchange->n_events_sent;
	ssize_t result = (ssize_t)(n < max ? n : max);
	if (result > 0) {
		memcpy(to, events->bytes + exchange->n_events_sent, (size_t)result);
		exchange->n_events_sent += (size_t)result;
	} else if (exchange->is_told || events->failed) {
		result = events->failed ? MHD_CONTENT_READER_END_WITH_ERROR
		                        : MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		exchange->is_suspended = true;
		mhd.suspend_connection(exchange->connection);
	}
	pthread_mutex_unlock(&http->lock);
	return result;
}

/* Events are sent as they come, while a worker has the exchange. */
static enum MHD_Result send_events(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct MHD_Response *response = mhd.create_response_from_callback(
	        MHD_SIZE_UNKNOWN, EVENT_BLOCK_BYTES, read_events, exchange, NULL);
	if (response == NULL)
		return MHD_NO;
	add_guards(exchange, response);
	add(response, "Cache-Control", "no-store");
	add(response, "Content-Type", "text/event-stream");
	enum MHD_Result result = mhd.queue_response(connection, 200, response);
	mhd.destroy_response(response);
	return result;
}

/* Whether there are events to send, or an answer. */
static bool has_events(struct exchange *exchange, bool *ret_told)
{
	struct http *http = exchange->server->http;
	pthread_mutex_lock(&http->lock);
	bool has = exchange->events.n > 0;
	*ret_told = exchange->is_told || (!exchange->is_computing && exchange->answer != NULL);
	pthread_mutex_unlock(&http->lock);
	return has;
}

static void compute(void *user)
{
	exchange_compute(user, resume);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info != NULL ? info->socket_context : NULL;
}

/* Resume those who wait for news, or those of them who have waited until then. The web server does not look at a connection
 * that is suspended: that its client has left is seen here. Who has, or only listens, is told what there is. */
static void end_waiting(struct http *http, uint64_t until_ms)
{
	pthread_mutex_lock(&http->lock);
	struct exchange **at = &http->news;
	while (*at != NULL) {
		struct exchange *exchange = *at;
		if (peer_has_ended(peer_of(exchange->connection)))
			exchange->news_ms = 1; /* long over */
		if (exchange->news_ms > until_ms) {
			at = &exchange->next_news;
			continue;
		}
		*at = exchange->next_news;
		http->n_news--;
		mhd.resume_connection(exchange->connection);
	}
	pthread_mutex_unlock(&http->lock);
}

/* One more waits for news; under the lock. */
static void wait_for_news(struct http *http, struct exchange *exchange)
{
	exchange->next_news = http->news;
	http->news = exchange;
	if (++http->n_news <= MAX_NEWS)
		return;
	struct exchange **last = &http->news;
	while ((*last)->next_news != NULL)
		last = &(*last)->next_news;
	(*last)->news_ms = 1; /* long over */
	mhd.resume_connection((*last)->connection);
	*last = NULL;
	http->n_news--;
}

void http_tell(struct http *http)
{
	end_waiting(http, UINT64_MAX);
}

void http_expire(struct http *http)
{
	end_waiting(http, now_ms());
	peers_expire(http->peers, now_ms());
}

/* ---- requests ---- */

/* Headers that say one thing: twice they say two, and whoever reads the request before us may have taken the other. */
static const char *const single[] = { "Host", "Origin", "Content-Length", "Transfer-Encoding",
	"Content-Type", "Authorization", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Mcp-Session-Id" };
enum {
	HOST,
	ORIGIN,
	CONTENT_LENGTH,
	TRANSFER_ENCODING,
	N_SINGLE = sizeof(single) / sizeof(single[0])
};

/* What a request's head is made of. */
struct head {
	size_t n_bytes;
	unsigned n[N_SINGLE];
	const char *host;
};

static enum MHD_Result note_header(
        void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct head *head = user;
	(void)kind;
	head->n_bytes += strlen(name) + strlen(": \r\n") + (value != NULL ? strlen(value) : 0);
	for (size_t i = 0; i < N_SINGLE; i++)
		head->n[i] += strcasecmp(name, single[i]) == 0;
	if (strcasecmp(name, single[HOST]) == 0)
		head->host = value;
	return MHD_YES;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Why a head is refused, NULL when it is sound. The web server hands out texts up to their first byte of 0 and without the
 * spaces around: more bytes in the head than in the texts means that there is something behind one of them. */
static const char *head_problem(
        const struct head *head, struct MHD_Connection *connection, size_t n_first_line)
{
	const union MHD_ConnectionInfo *size =
	        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	for (size_t i = HOST + 1; i < N_SINGLE; i++)
		if (head->n[i] > 1)
			return "a header that says one thing is there twice";
	if (head->n[CONTENT_LENGTH] > 0 && head->n[TRANSFER_ENCODING] > 0)
		return "the length of the body is given twice";
	if (size != NULL && size->header_size > n_first_line + head->n_bytes + strlen("\r\n"))
		return "the headers have a byte of 0, or spaces that nothing needs";
	return NULL;
}

static bool accepts_events(const char *accept)
{
	return accept != NULL && strstr(accept, "text/event-stream") != NULL;
}

static const char *read_headers(
        struct exchange *exchange, struct MHD_Connection *connection, const char *version)
{
	struct guard_headers *headers = &exchange->headers;
	struct head head = { 0 };
	mhd.get_connection_values(connection, MHD_HEADER_KIND, note_header, &head);
	headers->host = head.host;
	headers->n_hosts = head.n[HOST];
	headers->origin = header(connection, "Origin");
	headers->fetch_site = header(connection, "Sec-Fetch-Site");
	headers->fetch_mode = header(connection, "Sec-Fetch-Mode");
	headers->authorization = header(connection, "Authorization");
	headers->cookie = header(connection, "Cookie");
	exchange->accept_encoding = header(connection, "Accept-Encoding");
	exchange->if_none_match = header(connection, "If-None-Match");
	exchange->request.mcp_version = header(connection, "MCP-Protocol-Version");
	exchange->request.mcp_session = header(connection, "Mcp-Session-Id");
	if (accepts_events(header(connection, "Accept"))) {
		exchange->request.events = (struct ht_sink){ put_event, exchange };
		exchange->accept_encoding = NULL; /* the answer may have to stand among events */
	}
	return head_problem(&head, connection,
	        strlen(exchange->method) + exchange->n_target + strlen(version) + strlen("  \r\n"));
}

/* What came between looking and waiting. */
static bool has_news(const struct exchange *exchange)
{
	struct runs *runs = &exchange->server->runs;
	pthread_mutex_lock(&runs->lock);
	bool is_newer = runs->generation != exchange->request.generation;
	pthread_mutex_unlock(&runs->lock);
	return is_newer;
}

/* Go on with a request whose body is there. Who goes on to wait is suspended before anybody can find him. */
static enum MHD_Result go_on(struct http *http, struct exchange *exchange)
{
	struct MHD_Connection *connection = exchange->connection;
	pthread_mutex_lock(&http->lock);
	enum next_step step = exchange_begin(exchange);
	if (step == STEP_WAIT_NEWS && http->is_stopping) {
		exchange_refuse(exchange, 503, NULL, "the server stops");
		step = STEP_DONE;
	}
	if (step != STEP_DONE)
		mhd.suspend_connection(connection);
	exchange->is_suspended = step == STEP_COMPUTE || step == STEP_WAIT_ANSWER;
	exchange->is_computing = step == STEP_COMPUTE;
	if (step == STEP_WAIT_NEWS)
		wait_for_news(http, exchange);
	pthread_mutex_unlock(&http->lock);
	if (step == STEP_WAIT_NEWS && has_news(exchange))
		http_tell(http);
	if (step == STEP_COMPUTE &&
	        !pool_submit(http->server->pool, compute, exchange, exchange_cost_ms(exchange)))
		exchange_give_up(exchange, resume);
	return step == STEP_DONE ? send_answer(exchange, connection) : MHD_YES;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
        const char *method, const char *version, const char *upload, size_t *n_upload, void **state)
{
	struct http *http = user;
	struct exchange *exchange = *state;
	(void)url;
	if (exchange == NULL)
		return MHD_NO;
	if (exchange->connection == NULL) {
		exchange->connection = connection;
		exchange->method = method;
		const char *problem = read_headers(exchange, connection, version);
		if (problem != NULL)
			exchange_refuse(exchange, 400, NULL, problem);
		else if (exchange_admit(exchange))
			peer_admit(http->peers, peer_of(connection));
		/* the body comes first, of those who may ask */
		return exchange->answer == NULL ? MHD_YES : send_answer(exchange, connection);
	}
	if (*n_upload > 0) {
		if (exchange->body.n <= EXCHANGE_MAX_BODY)
			serve_put(&exchange->body, upload,
			        *n_upload < EXCHANGE_MAX_BODY + 1 - exchange->body.n
			                ? *n_upload
			                : EXCHANGE_MAX_BODY + 1 - exchange->body.n);
		*n_upload = 0;
		return MHD_YES;
	}
	bool is_told;
	if (has_events(exchange, &is_told))
		return send_events(exchange, connection);
	if (is_told)
		return send_answer(exchange, connection);
	peer_busy(http->peers, peer_of(connection), now_ms());
	return go_on(http, exchange);
}

/* Before anything else of a request is known: what stands in its first line. */
static void *begin(void *user, const char *target, struct MHD_Connection *connection)
{
	struct http *http = user;
	struct exchange *exchange = exchange_new(http->server, target);
	peer_ask(http->peers, peer_of(connection), now_ms());
	/* The web server would take the query apart as well, into the room that a connection has for its head; many parameters
	 * fill it, and then there is none to answer in. The text is in that room, and ours by now. */
	char *query = strchr((char *)(uintptr_t)target, '?');
	if (exchange != NULL && query != NULL)
		query[1] = '\0';
	return exchange;
}

static void end(void *user, struct MHD_Connection *connection, void **state,
        enum MHD_RequestTerminationCode code)
{
	struct http *http = user;
	struct exchange *exchange = *state;
	(void)code;
	pthread_mutex_lock(&http->lock);
	bool is_computing = exchange != NULL && exchange->is_computing;
	if (is_computing)
		exchange->is_gone = true;
	pthread_mutex_unlock(&http->lock);
	if (!is_computing)
		exchange_free(exchange);
	*state = NULL;
	peer_idle(http->peers, peer_of(connection), now_ms());
}

static void come_or_go(void *user, struct MHD_Connection *connection, void **peer,
        enum MHD_ConnectionNotificationCode code)
{
	struct http *http = user;
	const union MHD_ConnectionInfo *info =
	        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*peer = info != NULL ? peer_come(http->peers, info->connect_fd, now_ms()) : NULL;
		return;
	}
	peer_gone(http->peers, *peer);
	*peer = NULL;
}

/* Nothing is decoded here; exchange.c takes the raw text. */
static size_t leave_alone(void *user, struct MHD_Connection *connection, char *text)
{
	(void)user;
	(void)connection;
	return strlen(text);
}

/* ---- the server ---- */

static char *make_url(const struct server *server, const struct listening *at)
{
	const struct serve_options *options = &server->options;
	char url[2048];
	snprintf(url, sizeof(url), "http://%s:%d%s/%s%s", at->host, at->port,
	        options->path_prefix != NULL ? options->path_prefix : "",
	        options->token != NULL ? "?token=" : "",
	        options->token != NULL ? options->token : "");
	return copy_text(url);
}

static struct MHD_Daemon *start_daemon(struct http *http, int fd)
{
	return mhd.start_daemon(
	        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
	        NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK,
	        begin, http, MHD_OPTION_NOTIFY_COMPLETED, end, http, MHD_OPTION_NOTIFY_CONNECTION,
	        come_or_go, http, MHD_OPTION_UNESCAPE_CALLBACK, leave_alone, NULL,
	        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
	        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
	        MHD_OPTION_END);
}

/* Pages of this machine at some ports, or at any; false when they are no ports. */
static bool write_policy(const char *frames, char text[POLICY_BYTES])
{
	size_t n = (size_t)snprintf(text, POLICY_BYTES, "%s", policy), n_ports = 0;
	bool any = frames != NULL && strcmp(frames, "any") == 0;
	for (const char *at = frames; at != NULL; n_ports++) {
		size_t n_port = strcspn(at, ",");
		unsigned long port = any ? 0 : strtoul(at, NULL, 10);
		char name[8];
		if (n_ports == MAX_FRAMES ||
		        (!any && (n_port == 0 || n_port > 5 || strspn(at, "0123456789") != n_port ||
		                         port == 0 || port > 65535)))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)n_port, any ? "*" : at);
		n += (size_t)snprintf(text + n, POLICY_BYTES - n,
		        " http://localhost:%s http://127.0.0.1:%s https://localhost:%s "
		        "https://127.0.0.1:%s",
		        name, name, name, name);
		at = at[n_port] == ',' ? at + n_port + 1 : NULL;
	}
	return true;
}

enum ht_status http_start(struct server *server, char error[SERVE_ERROR_BYTES])
{
	struct listening at;
	const char *problem = mhd_load();
	if (problem != NULL) {
		snprintf(error, SERVE_ERROR_BYTES,
		        "the web server needs libmicrohttpd, which cannot be loaded: %s", problem);
		return HT_USAGE;
	}
	char frames[POLICY_BYTES];
	if (!write_policy(server->options.frames, frames)) {
		snprintf(error, SERVE_ERROR_BYTES,
		        "ports that may frame the page are numbers, %d at most, or any",
		        MAX_FRAMES);
		return HT_USAGE;
	}
	enum ht_status status = listen_open(&server->options, &at, error);
	if (status != HT_OK)
		return status;
	struct http *http = calloc(1, sizeof(*http));
	server->port = at.port;
	server->url = make_url(server, &at);
	if (http != NULL) {
		http->server = server;
		memcpy(http->policy, frames, sizeof(frames));
		http->peers = peers_new(&limits);
		pthread_mutex_init(&http->lock, NULL);
		server->http = http; /* before the first request */
		http->daemon = server->url != NULL && http->peers != NULL
		                       ? start_daemon(http, at.fd)
		                       : NULL;
	}
	if (http == NULL || http->daemon == NULL) {
		snprintf(error, SERVE_ERROR_BYTES, "cannot start the web server");
		close(at.fd);
		server->http = NULL;
		peers_free(http != NULL ? http->peers : NULL);
		free(http);
		return HT_IO;
	}
	return HT_OK;
}

void http_quiesce(struct http *http)
{
	pthread_mutex_lock(&http->lock);
	http->is_stopping = true;
	pthread_mutex_unlock(&http->lock);
	http_tell(http);
}

void http_stop(struct http *http)
{
	if (http == NULL)
		return;
	mhd.stop_daemon(http->daemon);
	peers_free(http->peers);
	pthread_mutex_destroy(&http->lock);
	free(http);
}

const char *serve_build_info(void)
{
	static char text[64];
	if (mhd_load() != NULL)
		return NULL;
	snprintf(text, sizeof(text), "libmicrohttpd %s", mhd.get_version());
	return text;
}
