/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_serve.c - the page in a browser: start the server, say where it is, wait for the end.
 *
 * Options that people know from TensorBoard work: --logdir, --port, --host, --bind_all, --path_prefix.
 */
#include "serve.h"
#include "verbs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int run_serve(struct cli *cli);

static const struct opt own[] = {
	{ "logdir", 0, "DIR", NULL, NULL, "directory of runs; the same as naming it", "Page",
	        false },
	{ "port", 'p', "N", NULL, "6006",
	        "port; without this option one of the next when it is taken", "Page", false },
	{ "host", 0, "ADDRESS", NULL, "127.0.0.1",
	        "address to listen at; one that others can reach needs the token in the URL",
	        "Page", false },
	{ "bind-all", 0, NULL, NULL, NULL, "listen at all addresses of the machine", "Page",
	        false },
	{ "token", 0, "TEXT", NULL, NULL,
	        "what clients must show; made up where others can connect", "Page", false },
	{ "path-prefix", 0, "PATH", NULL, NULL, "where a proxy puts the page: /holotrace", "Page",
	        false },
	{ "allow-host", 0, "NAME", NULL, NULL, "name by which a proxy is called", "Page", false },
	{ "frame-ports", 0, "N,...|any", NULL, NULL,
	        "ports of this machine whose pages may show this one in a frame, as notebooks do",
	        "Page", false },
	{ "follow-links", 0, NULL, NULL, NULL,
	        "also read files outside the directories that links in them lead to", "Page",
	        false },
	{ "rescan", 0, "SECONDS", NULL, "2", "how often to look for new files", "Page", false },
	{ "request-time", 0, "SECONDS", NULL, "60", "how long one answer may take", "Page", false },
};

const struct verb command_serve = {
	.name = "serve",
	.usage = "LOGDIR|TRACE...",
	.summary = "Show runs in a browser: views, tables and the timeline",
	.text = "Prints a URL and answers from then on, with what is read so far. New files below LOGDIR are "
	        "picked up. Only this machine can connect, unless --host or --bind-all say otherwise. "
	        "Ctrl-C ends it, with status 0.",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run_serve,
};

/* A number of some option, at most max; false after saying what is wrong. */
static bool number_option(
        const struct cli *cli, const char *name, uint64_t max, uint64_t *ret_value)
{
	const char *text = opts_value(&cli->opts, name);
	uint64_t value;
	if (text == NULL)
		return true;
	if (!parse_count(text, &value) || value > max) {
		cli_say("--%s cannot be '%s'. It is a number up to %llu", name, text,
		        (unsigned long long)max);
		return false;
	}
	*ret_value = value;
	return true;
}

/* Named twice is what TensorBoard's users and ours mean together. */
static const char **all_sources(const struct cli *cli, size_t *ret_n)
{
	const struct opts *opts = &cli->opts;
	const char **sources = calloc(opts->n_args + OPTS_GIVEN_MAX + 1, sizeof(*sources));
	if (sources == NULL)
		return NULL;
	size_t n = opts_values(opts, "logdir", sources, OPTS_GIVEN_MAX);
	for (size_t i = 0; i < opts->n_args; i++)
		sources[n++] = opts->args[i];
	*ret_n = n;
	return sources;
}

/* What is not there now is a mistake; what goes away later is not. */
static int check_sources(const char *const *sources, size_t n)
{
	if (n == 0) {
		cli_say("serve needs a LOGDIR: a directory of traces, or traces");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < n; i++) {
		size_t n_digits = strspn(sources[i], "0123456789");
		const char *path = n_digits > 0 && sources[i][n_digits] == '='
		                           ? sources[i] + n_digits + 1
		                           : sources[i];
		bool is_pattern = strpbrk(path, "*?[") != NULL || path[0] == '@';
		if (strcmp(path, "-") == 0) {
			cli_say("serve cannot show standard input: it looks at files again and again");
			return EXIT_USAGE;
		}
		if (!is_pattern && access(path, F_OK) != 0 && access(sources[i], F_OK) != 0) {
			cli_say("%s: cannot open: %s", path, strerror(errno));
			return EXIT_INPUT;
		}
	}
	return EXIT_DONE;
}

static int fill_options(struct cli *cli, struct serve_options *options)
{
	const struct opts *opts = &cli->opts;
	uint64_t port = SERVE_DEFAULT_PORT, rescan_s = 2, request_s = 60, jobs = 0;
	if (!number_option(cli, "port", 65535, &port) ||
	        !number_option(cli, "rescan", 86400, &rescan_s) ||
	        !number_option(cli, "request-time", 86400, &request_s) ||
	        !number_option(cli, "jobs", 4096, &jobs))
		return EXIT_USAGE;
	options->port = (int)port;
	options->or_next_port = opts_value(opts, "port") == NULL;
	options->rescan_ms = (unsigned)rescan_s * 1000;
	options->request_ms = (unsigned)request_s * 1000;
	options->n_jobs = (int)jobs;
	options->host = opts_value(opts, "host");
	options->bind_all = opts_flag(opts, "bind-all");
	options->token = opts_value(opts, "token");
	options->path_prefix = opts_value(opts, "path-prefix");
	options->allowed_host = opts_value(opts, "allow-host");
	options->frames = opts_value(opts, "frame-ports");
	options->follow_links = opts_flag(opts, "follow-links");
	return session_reading(cli, &options->open, &options->read_bytes);
}

/* Wait for Ctrl-C, or for being ended. Signals are blocked before the first thread starts. */
static void wait_for_end(const sigset_t *signals)
{
	int number;
	while (sigwait(signals, &number) != 0)
		;
}

/* The signals that end it. What the caller wants ignored, as nohup does, stays ignored. */
static void fill_endings(sigset_t *signals)
{
	static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct sigaction now;
		if (sigaction(endings[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
			sigaddset(signals, endings[i]);
	}
}

/* Who is told to end does so: to let go of what 40,000 files left in memory takes seconds, and nobody needs it. Files of the cache
 * appear whole or not at all, whenever this is. */
static void *end_at_last(void *user)
{
	/* who looks for leaks wants all of it to be let go of */
	const struct timespec patience = { HT_SANITIZED ? 60 : 0, 700000000 };
	(void)user;
	(void)nanosleep(&patience, NULL);
	_exit(EXIT_DONE);
}

static void end_soon(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, end_at_last, NULL) == 0)
		(void)pthread_detach(thread);
}

static int serve_until_end(struct cli *cli, const struct serve_options *options)
{
	char error[SERVE_ERROR_BYTES] = "";
	struct server *server;
	sigset_t signals;
	fill_endings(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	enum ht_status status = serve_start(options, &server, error);
	if (status != HT_OK) {
		cli_say("%s", error);
		return status == HT_USAGE ? EXIT_USAGE : EXIT_LIMIT;
	}
	printf("%s\n", serve_url(server));
	fflush(stdout);
	if (!opts_flag(&cli->opts, "quiet"))
		cli_say("serving %s; Ctrl-C ends it", options->sources[0]);
	wait_for_end(&signals);
	end_soon();
	serve_stop(server);
	return EXIT_DONE;
}

static int run_serve(struct cli *cli)
{
	struct serve_options options = { .n_sources = 0 };
	const char **sources = all_sources(cli, &options.n_sources);
	if (sources == NULL)
		return cli_fail_nomem();
	options.sources = sources;
	int code = check_sources(sources, options.n_sources);
	if (code == EXIT_DONE)
		code = fill_options(cli, &options);
	if (code == EXIT_DONE)
		code = serve_until_end(cli, &options);
	free(sources);
	return code;
}
