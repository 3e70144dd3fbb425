/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what the files of the command line program share: the run in hand, its exit codes, and how
 * errors are said.
 *
 *   main.c ─► verb (a command, or an analysis of the library) ─► opts ─► run ─► exit code
 *
 * Everything about traces and tables goes through holotrace.h; nothing else of the library is seen.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "holotrace.h"
#include "opts.h"
#include "progress.h"
#include "say.h"
#include "term.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Help, man pages and README have these sentences. */
#define EXIT_CODES(CODE)                                                                           \
	CODE(EXIT_DONE, 0, "done")                                                                 \
	CODE(EXIT_CHECK_FAILED, 1, "a gate or check failed")                                       \
	CODE(EXIT_USAGE, 2, "wrong usage")                                                         \
	CODE(EXIT_INPUT, 3, "the input could not be read")                                         \
	CODE(EXIT_LIMIT, 4,                                                                        \
	        "a limit was reached, memory ran out, or the output could not be written")

#define EXIT_CODE(name, number, sentence) name = (number),
enum exit_code { EXIT_CODES(EXIT_CODE) };
#undef EXIT_CODE

struct verb;
struct cli;

/* Who opens traces and answers questions when several processes do: like ht_open, ht_run and ht_close, but the
 * traces may be anywhere. */
/* What will be asked of a set. */
struct question {
	const char *name;
	const struct ht_arg *args;
	size_t n_args;
	const struct ht_view *view;
};

struct engine {
	void *user;
	int n_jobs; /* threads of a process unless --jobs says otherwise */
	/* question may be NULL: nobody knows yet */
	enum ht_status (*open)(struct cli *cli, const char *const *sources, size_t n_sources,
	        const struct ht_open_options *options, const struct question *question,
	        ht_set **ret_set);
	enum ht_status (*run)(struct cli *cli, const char *name, ht_set *const *sets, size_t n_sets,
	        const struct ht_arg *args, size_t n_args, const struct ht_view *view,
	        ht_table **ret_table);
	void (*close)(struct cli *cli, ht_set *set);
	/* What went wrong last; NULL when the context knows. */
	const struct ht_error *(*error)(const struct cli *cli);
};

/* One run of the program. */
struct cli {
	const struct engine *engine; /* NULL: this process */
	const struct verb *verb;
	struct opts opts;
	struct term term;
	struct progress progress;
	ht_ctx *ctx; /* NULL until session_start */
};

/* First of all in a process that reads traces, before it has threads. */
void heaps_set_up(void);
/* Run the program over argv; NULL: in this process. An exit code. */
int program_run(int argc, char **argv, const struct engine *engine);

/* Say an error of the library, with its place and hint. */
void cli_say_error(const struct ht_error *error);
/* Say what the context's last error was; the exit code for it. */
int cli_fail(struct cli *cli);
int cli_fail_nomem(void);
enum exit_code cli_exit_code(const struct ht_error *error);

/* A context with the limits, jobs and progress line that the options ask for; an exit code. */
int session_start(struct cli *cli);
/* How to read, and with how much memory, as the options ask; an exit code. Strings live as long as the program. */
int session_reading(
        const struct cli *cli, struct ht_open_options *ret_options, uint64_t *ret_memory_limit);
/* Open sources as one set, as the options ask; an exit code. */
int session_open(struct cli *cli, const char *const *sources, size_t n_sources, ht_set **ret_set);
/* ht_open, or ht_open_for where the question is known (not NULL). */
enum ht_status question_open(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct question *q, ht_set **ret_set);
/* The same for what is asked next; NULL: nobody knows yet. */
int session_open_for(struct cli *cli, const char *const *sources, size_t n_sources,
        const struct question *question, ht_set **ret_set);
/* Close it; NULL is fine. */
void session_close(struct cli *cli, ht_set *set);
/* ht_run over sets that session_open gave. */
enum ht_status session_run(struct cli *cli, const char *name, ht_set *const *sets, size_t n_sets,
        const struct ht_arg *args, size_t n_args, const struct ht_view *view, ht_table **ret_table);
/* ht_ask_all over such a set. */
enum ht_status session_run_all(struct cli *cli, ht_set *set, const struct ht_query *questions,
        size_t n, ht_answer_fn fn, void *user);
/* What went wrong last. */
const struct ht_error *session_error(const struct cli *cli);
/* Refuse to write --output over a file that is being read: a trace of the sets (NULL ones are passed
 * over), or any file that the command line names; an exit code. */
int session_refuse_sources(const struct cli *cli, ht_set *const *sets, size_t n_sets);
/* ht_convert that leaves nothing behind when it is interrupted. */
enum ht_status session_convert(
        struct cli *cli, ht_set *set, const char *path, const struct ht_convert_options *options);
/* Warn on standard error when reading lost data, and say how to see more. */
void session_warn_loss(
        const struct cli *cli, const ht_set *set, const char *const *sources, size_t n_sources);
void session_end(struct cli *cli);

/* The library's options of a run (rank, step and so on) that were given, as arguments for ht_run:
 * the common ones, and those of the analysis unless it is NULL. Fills at most OPTS_MAX. */
size_t session_args(
        const struct cli *cli, const struct ht_analysis_info *analysis, struct ht_arg *args);

#endif
