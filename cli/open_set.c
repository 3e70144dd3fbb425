/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_set.c - from options to an open set: context, limits, cache place, progress, loss warning.
 *
 * The library reads no environment; where the cache is by default is decided here.
 */
#include "interrupt.h"
#include "result.h"
#include "verbs.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int bad_value(const char *name, const char *value, const char *wanted)
{
	cli_say("--%s cannot be '%s'. It is %s", name, value, wanted);
	return EXIT_USAGE;
}

/* Read --name as a size when given; an exit code. */
static int size_option(const struct cli *cli, const char *name, uint64_t *ret_bytes)
{
	const char *value = opts_value(&cli->opts, name);
	if (value != NULL && !ht_size_parse(value, ret_bytes))
		return bad_value(name, value, "a size such as 500M or 8G");
	return EXIT_DONE;
}

int session_start(struct cli *cli)
{
	const struct opts *opts = &cli->opts;
	const char *jobs = opts_value(opts, "jobs");
	uint64_t n_jobs = 0, limit = 0;
	if (jobs != NULL && (!parse_count(jobs, &n_jobs) || n_jobs > 4096))
		return bad_value("jobs", jobs, "a number of threads");
	int code = size_option(cli, "memory-limit", &limit);
	if (code != EXIT_DONE)
		return code;
	if (ht_ctx_new(&cli->ctx) != HT_OK)
		return cli_fail_nomem();
	if (n_jobs == 0 && cli->engine != NULL)
		n_jobs = (uint64_t)cli->engine->n_jobs;
	ht_ctx_set_jobs(cli->ctx, (int)n_jobs);
	ht_ctx_set_memory_limit(cli->ctx, limit);
	bool show = cli->term.err_is_tty && !opts_flag(opts, "quiet") &&
	            !opts_flag(opts, "no-progress");
	progress_init(&cli->progress, show, cli->term.err_width);
	ht_ctx_set_progress(cli->ctx, progress_update, &cli->progress);
	return EXIT_DONE;
}

/* The cache's default place (XDG base directories): false when there is no home. */
static bool default_cache_dir(char *path, size_t n)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length = -1;
	if (cache != NULL && cache[0] == '/')
		length = snprintf(path, n, "%s/holotrace", cache);
	else if (home != NULL && home[0] == '/')
		length = snprintf(path, n, "%s/.cache/holotrace", home);
	return length > 0 && (size_t)length < n;
}

static bool prefers_db(const struct opts *opts)
{
	const char *prefer = opts_value(opts, "prefer");
	return prefer != NULL && strcmp(prefer, "db") == 0;
}

/* The processes that open the traces of this verb; NULL: this one. What is drawn into traces, and the page of a
 * report, which shows events of all ranks, need the traces here. */
static const struct engine *engine_of(const struct cli *cli)
{
	bool draws = opts_value(&cli->opts, "save-trace") != NULL;
	bool is_page = (cli->verb->takes & TAKES_PAGE) != 0 &&
	               strcmp(result_format(&cli->opts), "html") == 0;
	return cli->verb->is_distributable && !draws && !is_page ? cli->engine : NULL;
}

const struct ht_error *session_error(const struct cli *cli)
{
	const struct engine *engine = engine_of(cli);
	const struct ht_error *error = engine != NULL ? engine->error(cli) : NULL;
	return error != NULL ? error : ht_error(cli->ctx);
}

/* The last thing before the process ends, which frees faster than taking a hundred ranks apart; tools that look
 * for leaks want to see it done. */
void session_close(struct cli *cli, ht_set *set)
{
	const struct engine *engine = engine_of(cli);
	if (engine != NULL && set != NULL)
		engine->close(cli, set);
#if HT_SANITIZED
	else
		ht_close(set);
#endif
}

enum ht_status session_run(struct cli *cli, const char *name, ht_set *const *sets, size_t n_sets,
        const struct ht_arg *args, size_t n_args, const struct ht_view *view, ht_table **ret_table)
{
	const struct engine *engine = engine_of(cli);
	return engine != NULL && n_sets > 0
	               ? engine->run(cli, name, sets, n_sets, args, n_args, view, ret_table)
	               : ht_ask(cli->ctx, sets, n_sets,
	                         &(struct ht_query){
	                                 sizeof(struct ht_query), name, args, n_args, view },
	                         ret_table);
}

enum ht_status session_run_all(struct cli *cli, ht_set *set, const struct ht_query *questions,
        size_t n, ht_answer_fn fn, void *user)
{
	bool more = true;
	if (engine_of(cli) == NULL)
		return ht_ask_all(cli->ctx, set, questions, n, fn, user);
	for (size_t i = 0; i < n && more; i++) {
		const struct ht_query *q = &questions[i];
		ht_table *table = NULL;
		enum ht_status status =
		        session_run(cli, q->name, &set, 1, q->args, q->n_args, q->view, &table);
		more = fn(user, i, status, table);
	}
	return HT_OK;
}

int session_reading(
        const struct cli *cli, struct ht_open_options *ret_options, uint64_t *ret_memory_limit)
{
	const struct opts *opts = &cli->opts;
	static char cache_dir[4096], *attach;
	struct ht_open_options options = {
		.struct_size = sizeof(options),
		.recursive = opts_flag(opts, "recursive"),
		.strict = opts_flag(opts, "strict"),
		.no_cache = opts_flag(opts, "no-cache"),
		.cache_dir = opts_value(opts, "cache-dir"),
		.kernel_rules = opts_value(opts, "kernel-rules"),
		.verify_cache = opts_flag(opts, "verify-cache"),
		.prefer_db = prefers_db(opts),
		/* what convert means by it is about data, not files */
		.partial = opts_flag(opts, "partial") &&
		           (cli->verb->takes & (TAKES_TABLE | TAKES_PAGE)) != 0,
	};
	/* the same for every set of a process */
	static struct ht_open_own own;
	uint64_t chunk_bytes = 0;
	int code = size_option(cli, "cache-max", &options.cache_max_bytes);
	if (code == EXIT_DONE)
		code = size_option(cli, "chunk-bytes", &chunk_bytes);
	if (code == EXIT_DONE)
		code = size_option(cli, "memory-limit", ret_memory_limit);
	if (code != EXIT_DONE)
		return code;
	own.chunk_bytes = (size_t)chunk_bytes;
	options.own = &own;
	/* the same for every set of a process */
	if (opts_value(opts, "attach") != NULL && attach == NULL)
		attach = opts_value_lines(opts, "attach");
	if (opts_value(opts, "attach") != NULL && attach == NULL)
		return cli_fail_nomem();
	options.attach = attach;
	if (options.cache_dir == NULL && default_cache_dir(cache_dir, sizeof(cache_dir)))
		options.cache_dir = cache_dir;
	*ret_options = options;
	return EXIT_DONE;
}

enum ht_status question_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct question *q, ht_set **ret_set)
{
	return q != NULL ? ht_open_for(ctx, sources, n_sources, options,
	                           &(struct ht_query){ sizeof(struct ht_query), q->name, q->args,
	                                   q->n_args, q->view },
	                           ret_set)
	                 : ht_open(ctx, sources, n_sources, options, ret_set);
}

int session_open(struct cli *cli, const char *const *sources, size_t n_sources, ht_set **ret_set)
{
	return session_open_for(cli, sources, n_sources, NULL, ret_set);
}

int session_open_for(struct cli *cli, const char *const *sources, size_t n_sources,
        const struct question *question, ht_set **ret_set)
{
	struct ht_open_options options;
	uint64_t limit = 0;
	if (n_sources == 0) {
		cli_say("%s needs a TRACE: a file, a directory, a glob, rank=path, or - for standard input",
		        cli->verb->name);
		return EXIT_USAGE;
	}
	int code = session_reading(cli, &options, &limit);
	if (code != EXIT_DONE)
		return code;
	const struct engine *engine = engine_of(cli);
	enum ht_status status =
	        engine != NULL
	                ? engine->open(cli, sources, n_sources, &options, question, ret_set)
	                : question_open(cli->ctx, sources, n_sources, &options, question, ret_set);
	progress_clear(&cli->progress);
	return status == HT_OK ? EXIT_DONE : cli_fail(cli);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;
	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

int session_refuse_sources(const struct cli *cli, ht_set *const *sets, size_t n_sets)
{
	const struct opts *opts = &cli->opts;
	const char *path = opts_value(opts, "output");
	bool refused = false;
	if (path == NULL || strcmp(path, "-") == 0)
		return EXIT_DONE;
	for (size_t i = 0; i < n_sets; i++)
		refused = refused || (sets[i] != NULL && ht_set_reads(sets[i], path));
	/* lists of traces, rules, and whatever else an option names */
	for (size_t i = 0; i < opts->n_args; i++)
		refused = refused || is_same_file(path, opts->args[i]);
	for (size_t i = 0; i < opts->n; i++)
		refused = refused || (opts->values[i] != NULL && opts->values[i] != path &&
		                             is_same_file(path, opts->values[i]));
	if (!refused)
		return EXIT_DONE;
	cli_say("%s: cannot write over a file that is being read. Write to another file", path);
	return EXIT_USAGE;
}

enum ht_status session_convert(
        struct cli *cli, ht_set *set, const char *path, const struct ht_convert_options *options)
{
	interrupt_hold();
	enum ht_status status = ht_convert(cli->ctx, set, path, options);
	progress_clear(&cli->progress);
	interrupt_release();
	return status;
}

void session_warn_loss(
        const struct cli *cli, const ht_set *set, const char *const *sources, size_t n_sources)
{
	const char *note = ht_set_loss_note(set);
	const struct ht_analysis_info *analysis = cli->verb->analysis;
	bool told = analysis != NULL && analysis->tells_losses;
	if (note == NULL || told || opts_flag(&cli->opts, "quiet"))
		return;
	fflush(stdout);
	cli_put_error(note);
	fputs(". Details: holotrace health", stderr);
	for (size_t i = 0; i < n_sources; i++) {
		fputc(' ', stderr);
		cli_put_error(sources[i]);
	}
	fputc('\n', stderr);
}

/* Next time these are read from their files again. */
static void say_not_cached(const struct cli *cli)
{
	uint64_t n = ht_ctx_n_not_cached(cli->ctx);
	const char *max = opts_value(&cli->opts, "cache-max");
	if (n > 0 && !opts_flag(&cli->opts, "quiet"))
		cli_say("the cache is full: %llu trace%s not kept there. --cache-max (now %s) makes room",
		        (unsigned long long)n, n == 1 ? " is" : "s are", max != NULL ? max : "8G");
}

void session_end(struct cli *cli)
{
	progress_clear(&cli->progress);
	if (cli->ctx != NULL) {
		say_not_cached(cli);
		ht_ctx_free(cli->ctx);
	}
	cli->ctx = NULL;
}

static void add_arg(const struct cli *cli, const char *name, struct ht_arg *args, size_t *n)
{
	const char *value = opts_value(&cli->opts, name);
	if (value != NULL && *n < OPTS_MAX)
		args[(*n)++] = (struct ht_arg){ name, value };
}

size_t session_args(
        const struct cli *cli, const struct ht_analysis_info *analysis, struct ht_arg *args)
{
	size_t n = 0;
	for (size_t i = 0; i < ht_n_common_params(); i++)
		add_arg(cli, ht_common_param(i)->name, args, &n);
	for (size_t i = 0; analysis != NULL && i < analysis->n_params; i++)
		add_arg(cli, analysis->params[i].name, args, &n);
	return n;
}
