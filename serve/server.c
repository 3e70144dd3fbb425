/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - starting and stopping; see serve.h.
 */
#include "server.h"

#include "answers.h"
#include "costs.h"
#include "guard.h"
#include "pool.h"
#include "random.h"
#include "sources.h"
#include "sessions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS_BYTES   ((size_t)128 << 20)
#define TIMELINES_BYTES ((uint64_t)192 << 20)
#define MAX_WORKERS     16
#define QUICK_WORKERS   2
#define MAX_QUEUED      1000
#define MAX_SESSIONS    500
#define SESSION_IDLE_MS ((uint64_t)8 * 60 * 60 * 1000)

static const struct session_limits session_limits = { .max = MAX_SESSIONS,
	.idle_ms = SESSION_IDLE_MS };

const char *serve_teller(bool facts)
{
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets == 1 && (facts ? info->tells_facts : info->tells_losses))
			return info->name;
	}
	return NULL;
}

struct ht_query serve_losses(void)
{
	static const struct ht_view view = { .struct_size = sizeof(view),
		.columns = "severity,sentence" };
	return (struct ht_query){ sizeof(struct ht_query), serve_teller(false), NULL, 0, &view };
}

enum ht_status server_ctx(const struct server *server, ht_ctx **ret_ctx)
{
	const struct serve_options *options = &server->options;
	enum ht_status status = ht_ctx_new(ret_ctx);
	if (status != HT_OK || options->follow_links)
		return status;
	const char **folders = calloc(options->n_sources, sizeof(*folders));
	for (size_t i = 0; folders != NULL && i < options->n_sources; i++)
		folders[i] = source_path(options->sources[i]);
	status = folders != NULL ? ht_ctx_confine(*ret_ctx, folders, options->n_sources) : HT_NOMEM;
	free((void *)(uintptr_t)folders);
	if (status != HT_OK)
		ht_ctx_free(*ret_ctx);
	return status;
}

char *copy_text(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

/* A text of the server's own in place of the caller's; false when out of memory. */
static bool keep(struct server *server, const char **text)
{
	if (*text == NULL)
		return true;
	char **grown = realloc(server->texts, (server->n_texts + 1) * sizeof(*grown));
	if (grown == NULL)
		return false;
	server->texts = grown;
	grown[server->n_texts] = copy_text(*text);
	*text = grown[server->n_texts];
	return grown[server->n_texts++] != NULL;
}

/* Without slashes at its end. */
static bool keep_source(struct server *server, const char **source)
{
	if (!keep(server, source))
		return false;
	char *own = server->texts[server->n_texts - 1];
	for (size_t n = strlen(own); n > 1 && own[n - 1] == '/'; n--)
		own[n - 1] = '\0';
	return true;
}

static bool keep_options(struct server *server, const struct serve_options *given)
{
	struct serve_options *own = &server->options;
	const char **sources = calloc(given->n_sources, sizeof(*sources));
	*own = *given;
	own->sources = sources;
	bool is_kept = sources != NULL;
	for (size_t i = 0; is_kept && i < given->n_sources; i++) {
		sources[i] = given->sources[i];
		is_kept = keep_source(server, &sources[i]);
	}
	is_kept = is_kept && keep(server, &own->host) && keep(server, &own->token) &&
	          keep(server, &own->allowed_host) && keep(server, &own->frames) &&
	          keep(server, &own->open.cache_dir) && keep(server, &own->open.kernel_rules) &&
	          keep(server, &own->open.reader);
	if (is_kept && own->path_prefix != NULL)
		is_kept = keep_source(server, &own->path_prefix);
	if (own->path_prefix != NULL && strcmp(own->path_prefix, "/") == 0)
		own->path_prefix = NULL;
	own->request_bytes = own->request_bytes > 0 ? own->request_bytes : (uint64_t)4 << 30;
	own->request_ms = own->request_ms > 0 ? own->request_ms : 60000;
	own->rescan_ms = own->rescan_ms > 0 ? own->rescan_ms : 2000;
	return is_kept;
}

/* Who can be reached by others needs a token. */
static bool make_token(struct server *server)
{
	struct serve_options *options = &server->options;
	char text[33];
	bool is_local =
	        !options->bind_all && (options->host == NULL || guard_is_loopback(options->host) ||
	                                      strcmp(options->host, "::1") == 0);
	if (is_local || options->token != NULL)
		return true;
	if (!random_hex(text, sizeof(text)))
		return false;
	options->token = text;
	return keep(server, &options->token);
}

static bool is_plain_text(const char *text, const char *more)
{
	for (; text != NULL && *text != '\0'; text++)
		if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
		            (*text >= '0' && *text <= '9') || strchr(more, *text) != NULL))
			return false;
	return true;
}

/* What stands in headers and URLs must be able to. */
static bool check_options(const struct serve_options *options, char error[SERVE_ERROR_BYTES])
{
	const char *wrong = NULL;
	if (options->n_sources == 0)
		wrong = "give a directory of traces, or traces";
	else if (options->port < 0 || options->port > 65535)
		wrong = "a port is a number from 0 to 65535";
	else if (!is_plain_text(options->token, "-._~") ||
	         (options->token != NULL && strlen(options->token) < 8) ||
	         (options->token != NULL && strlen(options->token) > 256))
		wrong = "a token has 8 to 256 letters, digits and -._~";
	else if (options->path_prefix != NULL &&
	         (options->path_prefix[0] != '/' || strlen(options->path_prefix) > 256 ||
	                 !is_plain_text(options->path_prefix, "-._~/")))
		wrong = "a path prefix begins with a slash and has letters, digits and -._~/";
	if (wrong != NULL)
		snprintf(error, SERVE_ERROR_BYTES, "%s", wrong);
	return wrong == NULL;
}

static bool start_threads(struct server *server)
{
	int n = server->n_cpus < SERVER_MAX_LOADERS ? server->n_cpus : SERVER_MAX_LOADERS;
	while (server->n_loaders < n &&
	        pthread_create(&server->loaders[server->n_loaders], NULL, loader_main, server) == 0)
		server->n_loaders++;
	server->has_keeper = pthread_create(&server->keeper, NULL, keeper_main, server) == 0;
	return server->has_keeper && server->n_loaders > 0;
}

static void init_runs(struct runs *runs)
{
	pthread_mutex_init(&runs->lock, NULL);
	pthread_cond_init(&runs->changed, NULL);
	runs->is_scanning = true;
	runs->generation = 1;
}

static enum ht_status start(
        struct server *server, const struct serve_options *options, char error[SERVE_ERROR_BYTES])
{
	long n_cpus = options->n_jobs > 0 ? options->n_jobs : sysconf(_SC_NPROCESSORS_ONLN);
	server->n_cpus = n_cpus > 0 && n_cpus < 1024 ? (int)n_cpus : 1;
	snprintf(error, SERVE_ERROR_BYTES, "out of memory");
	if (!keep_options(server, options))
		return HT_NOMEM;
	if (!check_options(&server->options, error))
		return HT_USAGE;
	if (!make_token(server) || !random_bytes(&server->boot, sizeof(server->boot))) {
		snprintf(error, SERVE_ERROR_BYTES,
		        "no random numbers, neither from the kernel nor from /dev/urandom");
		return HT_IO;
	}
	server->runs.root = sources_root(server->options.sources, server->options.n_sources);
	server->answers = answers_new(ANSWERS_BYTES);
	server->timelines = timelines_new(TIMELINES_BYTES);
	server->sessions = sessions_new(&session_limits);
	int n_workers = server->n_cpus < 2 ? 2 : server->n_cpus;
	n_workers = n_workers < MAX_WORKERS ? n_workers : MAX_WORKERS;
	server->costs = costs_new();
	server->pool = pool_new(n_workers, QUICK_WORKERS, MAX_QUEUED);
	if (server->runs.root == NULL || server->answers == NULL || server->timelines == NULL ||
	        server->sessions == NULL || server->costs == NULL || server->pool == NULL)
		return HT_NOMEM;
	enum ht_status status = http_start(server, error);
	if (status != HT_OK)
		return status;
	if (start_threads(server))
		return HT_OK;
	snprintf(error, SERVE_ERROR_BYTES, "cannot start threads");
	return HT_NOMEM;
}

enum ht_status serve_start(const struct serve_options *options, struct server **ret_server,
        char error[SERVE_ERROR_BYTES])
{
	struct server *server = calloc(1, sizeof(*server));
	if (server == NULL) {
		snprintf(error, SERVE_ERROR_BYTES, "out of memory");
		return HT_NOMEM;
	}
	init_runs(&server->runs);
	enum ht_status status = start(server, options, error);
	if (status != HT_OK) {
		serve_stop(server);
		return status;
	}
	*ret_server = server;
	return HT_OK;
}

const char *serve_url(const struct server *server)
{
	return server->url;
}

int serve_port(const struct server *server)
{
	return server->port;
}

static void free_runs(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		run_free(runs->list[i]);
	for (size_t i = 0; i < runs->n_histories; i++)
		history_free(runs->histories[i]);
	free(runs->histories);
	free(runs->list);
	free(runs->root);
	pthread_cond_destroy(&runs->changed);
	pthread_mutex_destroy(&runs->lock);
}

void serve_stop(struct server *server)
{
	if (server == NULL)
		return;
	atomic_store(&server->is_stopping, true);
	pthread_mutex_lock(&server->runs.lock);
	server->runs.is_stopping = true;
	runs_touch(&server->runs);
	pthread_mutex_unlock(&server->runs.lock);
	for (int i = 0; i < server->n_loaders; i++)
		pthread_join(server->loaders[i], NULL);
	if (server->has_keeper)
		pthread_join(server->keeper, NULL);
	/* no connection may be suspended when the web server ends */
	if (server->http != NULL)
		http_quiesce(server->http);
	if (server->pool != NULL)
		pool_stop(server->pool);
	http_stop(server->http);
	pool_free(server->pool);
	costs_free(server->costs);
	answers_free(server->answers);
	free_runs(&server->runs);
	timelines_free(server->timelines);
	sessions_free(server->sessions);
	for (size_t i = 0; i < server->n_texts; i++)
		free(server->texts[i]);
	free(server->texts);
	free((void *)(uintptr_t)server->options.sources);
	free(server->url);
	free(server);
}
