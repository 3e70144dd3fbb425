/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the server in hand, for the files of serve/ alone.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "clock.h"
#include "runs.h"
#include "serve.h"

struct answers;
struct costs;
struct pool;
struct sessions;
struct http;

#define SERVER_MAX_LOADERS 8

struct server {
	struct serve_options options; /* with strings of its own */
	char **texts;                 /* those strings */
	size_t n_texts;
	struct runs runs;
	struct answers *answers;     /* what was answered before */
	struct timelines *timelines; /* those that are open */
	struct sessions *sessions;   /* of agents */
	struct costs *costs;         /* how long they took */
	struct pool *pool;           /* who computes answers */
	struct http *http;           /* who talks to clients */
	char *url;
	int port;
	uint64_t boot; /* random: no ETag of an earlier server holds */
	int n_cpus;
	pthread_t keeper, loaders[SERVER_MAX_LOADERS];
	bool has_keeper;
	int n_loaders;
	atomic_int n_loading; /* loaders at work */
	atomic_bool is_stopping;
};

/* The threads; the argument is the server. */
void *keeper_main(void *server);
void *loader_main(void *server);

/* A context for reading what is below the log directory: confined to it, unless links are to be followed. */
enum ht_status server_ctx(const struct server *server, ht_ctx **ret_ctx) HT_MUST_USE;

/* A copy, or NULL for NULL and when out of memory. */
char *copy_text(const char *text);

/* The analysis that tells what the files hold (facts), or what could not be read of them; NULL when there is none. */
const char *serve_teller(bool facts);
/* What could not be read of them, by severity and sentence. */
struct ht_query serve_losses(void);

/* The listening socket and the loop; HT_IO with a text. */
enum ht_status http_start(struct server *server, char error[SERVE_ERROR_BYTES]) HT_MUST_USE;
/* There are news for those who wait for them. */
void http_tell(struct http *http);
/* Answer those who have waited for news long enough. */
void http_expire(struct http *http);
/* Let nobody wait any longer; then, when no worker is left, end. */
void http_quiesce(struct http *http);
void http_stop(struct http *http);

#endif
