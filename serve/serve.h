/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - the page and its interface over HTTP: what the command line and the Python package call.
 *
 *     struct server *server;
 *     char error[SERVE_ERROR_BYTES];
 *     if (serve_start(&options, &server, error) != HT_OK) ...
 *     puts(serve_url(server));                 answers from now on, with what is read so far
 *     serve_stop(server);
 *
 *   files ─► keeper (looks for files) ─► loaders (read) ─► keeper (a snapshot per state of a run)
 *                                                              │
 *   browser ◄─► http.c ─► guard, routes ─► cache ─► pool ─► route's function over the snapshot
 *
 * Nothing here reads the environment, prints or handles signals.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "holotrace.h"

#define SERVE_DEFAULT_PORT 6006
#define SERVE_ERROR_BYTES  512

struct server;

struct serve_options {
	const char *const *sources; /* directories and traces, as for ht_open; one at least */
	size_t n_sources;
	const char *host;  /* name or address to listen at; NULL: 127.0.0.1 */
	bool bind_all;     /* at all addresses */
	int port;          /* 0: any that is free */
	bool or_next_port; /* when it is taken, one of the next */
	const char *
	        token; /* that clients must show; NULL: made up when others can connect, else none */
	const char *path_prefix;  /* "/holotrace": where a proxy puts the page; NULL: at / */
	const char *allowed_host; /* another name that a proxy may be called by; NULL: none */
	const char *
	        frames; /* ports of this machine whose pages may frame ours: "8888,6006", or "any"; NULL: none */
	bool follow_links; /* also read files that links below the sources lead to */
	struct ht_open_options open;
	uint64_t read_bytes;    /* memory for reading one file, 0: no limit */
	uint64_t request_bytes; /* memory of one answer, 0: 4 GiB */
	unsigned request_ms;    /* time of one answer, 0: 60 s */
	unsigned rescan_ms; /* between looks for new files, 0: 2 s; more where looking takes long */
	int n_jobs;         /* threads, 0: one per CPU */
};

/* Listen, and begin to read. HT_USAGE or HT_IO with a text in error. Strings are copied. */
enum ht_status serve_start(const struct serve_options *options, struct server **ret_server,
        char error[SERVE_ERROR_BYTES]) HT_MUST_USE;
/* What to open in a browser, with the token when there is one. Lives with the server. */
const char *serve_url(const struct server *server);
int serve_port(const struct server *server);
/* Answer what is under way, or refuse it, and end all threads. */
void serve_stop(struct server *server);
/* "libmicrohttpd 0.9.75", or NULL when this build has no server, or its library is not there. */
const char *serve_build_info(void);

#endif
