/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sql.c - SQL over traces: a query as argument, a file of them, standard input, or a prompt.
 *
 * The last argument is the query when it is no file and looks like one: several words, or a command of the prompt
 * such as .tables. Each statement is a table like that of any verb.
 */
#include "prompt.h"
#include "result.h"
#include "cmd_run.h"
#include "sql_shell.h"
#include "verbs.h"
#include "holotrace/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run(struct cli *cli);

static const struct opt own[] = {
	{ "file", 'f', "FILE", NULL, NULL, "run the statements of FILE; - is standard input",
	        "This command", false },
	{ "base", 0, "RUN", NULL, NULL,
	        "what diff and gate compare with: a trace, directory or list, as TRACE",
	        "This command", false },
	{ "set", 0, "NAME=VALUE", NULL, NULL,
	        "value of :NAME in the query; may be given several times", "This command", false },
	{ "timeout", 0, "TIME", NULL, "none", "stop a query after so long: 30s, 500ms",
	        "This command", false },
	{ "max-rows", 0, "N", NULL, "none", "stop a query after so many rows", "This command",
	        false },
};

const struct verb command_sql = {
	.name = "sql",
	.usage = "TRACE... [QUERY]",
	.summary = "Ask anything of the traces in SQL",
	.text = "SQLite's language over all ranks at once. Tables are events, gpu, ops, launches, collectives, "
	        "steps, ranks, tracks, args, strings and health, and every analysis is one too, with its options "
	        "as a text: SELECT * FROM kernel_breakdown('by=all'). Without a QUERY and -f there is a prompt, "
	        "or statements are read from standard input. .tables lists all tables, .schema TABLE the columns "
	        "of one; neither needs a TRACE. Queries only read.",
	.takes = TAKES_TRACES | TAKES_TABLE,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run,
};

/* ---- options ---- */

#define MAX_PARAMS 64

/* "30s", "500ms", "2" (seconds); an exit code. */
static int read_timeout(const struct cli *cli, uint64_t *ret_ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "", 1000 }, { "s", 1000 }, { "ms", 1 }, { "min", 60000 }, { "m", 60000 } };
	const char *text = opts_value(&cli->opts, "timeout");
	char *rest;
	*ret_ms = 0;
	if (text == NULL)
		return EXIT_DONE;
	double number = strtod(text, &rest);
	for (size_t i = 0; i < COUNT(units); i++) {
		double ms = number * units[i].ms;
		if (rest != text && strcmp(rest, units[i].unit) == 0 && ms >= 1 && ms < 1e12) {
			*ret_ms = (uint64_t)ms;
			return EXIT_DONE;
		}
	}
	cli_say("--timeout cannot be '%s'. It is a time such as 30s or 500ms", text);
	return EXIT_USAGE;
}

/* Cut NAME=VALUE in two; an exit code. The texts belong to the session. */
static int read_params(struct sql_session *session)
{
	const char *given[MAX_PARAMS];
	size_t n = opts_values(&session->cli->opts, "set", given, MAX_PARAMS);
	for (size_t i = 0; i < n && i < MAX_PARAMS; i++) {
		const char *equals = strchr(given[i], '=');
		size_t n_name = equals != NULL ? (size_t)(equals - given[i]) : 0;
		if (n_name == 0) {
			cli_say("--set cannot be '%s'. It is NAME=VALUE", given[i]);
			return EXIT_USAGE;
		}
		char *name = malloc(n_name + 1);
		if (name == NULL)
			return cli_fail_nomem();
		memcpy(name, given[i], n_name);
		name[n_name] = '\0';
		session->params[session->options.n_params++] = (struct ht_arg){ name, equals + 1 };
	}
	return EXIT_DONE;
}

static int read_options(struct sql_session *session)
{
	struct ht_sql_options *options = &session->options;
	const struct opts *opts = &session->cli->opts;
	const char *max_rows = opts_value(opts, "max-rows");
	options->struct_size = sizeof(*options);
	options->params = session->params;
	if (max_rows != NULL && !parse_count(max_rows, &options->max_rows)) {
		cli_say("--max-rows cannot be '%s'. It is a number of rows", max_rows);
		return EXIT_USAGE;
	}
	int code = read_timeout(session->cli, &options->timeout_ms);
	return code == EXIT_DONE ? read_params(session) : code;
}

/* ---- statements ---- */

/* Run one statement and show its table, with the session's parameters or one other; an exit code. */
static int run_query(struct sql_session *session, const char *query, const struct ht_arg *more)
{
	struct cli *cli = session->cli;
	struct ht_sql_options options = session->options;
	ht_table *table, *shown;
	if (more != NULL) {
		options.params = more;
		options.n_params = 1;
	}
	enum ht_status status = ht_sql(cli->ctx, session->set, query, &options, &table);
	progress_clear(&cli->progress);
	if (status != HT_OK)
		return cli_fail(cli);
	status = ht_table_view(cli->ctx, table, &session->view, &shown);
	ht_table_free(table);
	if (status != HT_OK)
		return cli_fail(cli);
	int code = run_render(cli, shown);
	if (code == EXIT_DONE)
		run_say_cut(cli, &session->view, shown);
	ht_table_free(shown);
	return code;
}

/* .tables and its like. */
static int run_command(struct sql_session *session, const char *text)
{
	char word[32] = "", name[128] = "";
	(void)sscanf(text, "%31s %127s", word, name);
	struct ht_arg table = { "table", name };
	if (strcmp(word, ".tables") == 0)
		return run_query(session,
		        "SELECT name, kind, sentence FROM sql_tables WHERE kind <> 'function'",
		        NULL);
	if (strcmp(word, ".functions") == 0)
		return run_query(session,
		        "SELECT name, sentence FROM sql_tables WHERE kind = 'function'", NULL);
	if (strcmp(word, ".schema") == 0 && name[0] == '\0')
		return run_query(session,
		        "SELECT table_name, name, type, sentence, view FROM sql_columns", NULL);
	if (strcmp(word, ".schema") == 0)
		return run_query(session,
		        "SELECT name, type, sentence, view FROM sql_columns WHERE table_name = :table",
		        &table);
	if (strcmp(word, ".help") == 0) {
		puts(".tables           tables and analyses\n"
		     ".schema [TABLE]   columns, with a sentence each\n"
		     ".functions        functions that SQLite lacks\n"
		     ".quit             leave; so does the end of input\n"
		     "Everything else is SQL and ends with a semicolon.");
		return EXIT_DONE;
	}
	cli_say("there is no command '%s'. .help lists them", word);
	return EXIT_USAGE;
}

int sql_run_text(struct sql_session *session, const char *text)
{
	const char *at = text;
	int code = EXIT_DONE;
	size_t n_statements = 0;
	while (code == EXIT_DONE) {
		at += strspn(at, " \t\r\n;");
		if (*at == '\0')
			break;
		size_t n = at[0] == '.' ? strcspn(at, "\n") : ht_sql_statement(at);
		if (n == 0)
			n = strlen(at);
		char *one = strndup(at, n);
		if (one == NULL)
			return cli_fail_nomem();
		if (n_statements++ > 0 && opts_value(&session->cli->opts, "output") != NULL) {
			cli_say("-o takes the table of one statement, and there are several");
			code = EXIT_USAGE;
		} else if (n_statements > 1) {
			putchar('\n');
		}
		if (code == EXIT_DONE)
			code = one[0] == '.' ? run_command(session, one)
			                     : run_query(session, one, NULL);
		free(one);
		at += n;
	}
	return code;
}

static int run_stream(struct sql_session *session, FILE *file, const char *path)
{
	char *text = NULL;
	size_t room = 0;
	errno = 0;
	/* no text has a byte of zero, so this is all of it */
	ssize_t n = getdelim(&text, &room, '\0', file);
	int code = EXIT_DONE;
	if (ferror(file)) {
		cli_say("%s: %s", path, strerror(errno));
		code = EXIT_INPUT;
	} else if (n > 0) {
		code = sql_run_text(session, text);
	}
	free(text);
	return code;
}

static int run_file(struct sql_session *session, const char *path)
{
	if (strcmp(path, "-") == 0)
		return run_stream(session, stdin, "standard input");
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		cli_say("%s: %s", path, strerror(errno));
		return EXIT_INPUT;
	}
	int code = run_stream(session, file, path);
	fclose(file);
	return code;
}

/* ---- the command ---- */

static bool is_select(const char *text)
{
	static const char *const words[] = { "select", "with", "values", "explain", "pragma" };
	for (size_t i = 0; i < COUNT(words); i++) {
		size_t n = strlen(words[i]);
		if (strncasecmp(text, words[i], n) == 0 && text[n] != '\0' &&
		        strchr(" \t\r\n(*", text[n]) != NULL)
			return access(text, F_OK) != 0;
	}
	return false;
}

static bool is_query(const char *text)
{
	if (access(text, F_OK) == 0)
		return false;
	return is_select(text) || text[0] == '\0' || strpbrk(text, " \t\n;") != NULL ||
	       (text[0] == '.' && text[1] >= 'a' && text[1] <= 'z' && strpbrk(text, "/*") == NULL);
}

static int run_session(struct sql_session *session, const char *query, const char *file)
{
	if (query != NULL)
		return sql_run_text(session, query);
	if (file != NULL)
		return run_file(session, file);
	return isatty(STDIN_FILENO) ? prompt_run(session) : run_file(session, "-");
}

static int run(struct cli *cli)
{
	struct opts *opts = &cli->opts;
	bool to_terminal = cli->term.out_is_tty && opts_value(opts, "output") == NULL;
	struct sql_session session = { .cli = cli };
	const char *query = NULL, *file = opts_value(opts, "file");
	const char *base = opts_value(opts, "base");
	if (opts->n_args > 0 && file == NULL && is_query(opts->args[opts->n_args - 1]))
		query = opts->args[--opts->n_args];
	for (size_t i = 0; i < opts->n_args; i++)
		if (is_select(opts->args[i])) {
			cli_say("the query comes last: holotrace sql %s", cli->verb->usage);
			return EXIT_USAGE;
		}
	if (query != NULL && query[strspn(query, " \t\r\n;")] == '\0') {
		cli_say("the query is empty: holotrace sql %s", cli->verb->usage);
		return EXIT_USAGE;
	}
	bool is_command = query != NULL && query[0] == '.';
	if (opts->n_args == 0 && !is_command) {
		cli_say("sql needs a TRACE and a query: holotrace sql %s", cli->verb->usage);
		return EXIT_USAGE;
	}
	int code = result_refuse_ending(opts);
	if (code == EXIT_DONE)
		code = run_view(cli, to_terminal, &session.view);
	if (code == EXIT_DONE)
		code = read_options(&session);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE && opts->n_args > 0)
		code = session_open(cli, opts->args, opts->n_args, &session.set);
	if (code == EXIT_DONE && base != NULL)
		code = session_open(cli, &base, 1, &session.base);
	session.options.base = session.base;
	if (code == EXIT_DONE)
		code = session_refuse_sources(
		        cli, (ht_set *const[]){ session.set, session.base }, 2);
	if (code == EXIT_DONE)
		code = run_session(&session, query, file);
	if (session.set != NULL && code == EXIT_DONE)
		session_warn_loss(cli, session.set, opts->args, opts->n_args);
	if (session.base != NULL && code == EXIT_DONE)
		session_warn_loss(cli, session.base, &base, 1);
	session_close(cli, session.set);
	session_close(cli, session.base);
	for (size_t i = 0; i < session.options.n_params; i++)
		free((char *)session.params[i].name);
	session_end(cli);
	return code;
}
