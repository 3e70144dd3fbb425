/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.c - see prompt.h.
 *
 * Lines are edited with libedit where the program was built with it: history, kept in the state directory of the
 * user, and completion of tables, columns and keywords. Elsewhere lines are read as they come. A statement may
 * take several lines; Ctrl-C ends the query that runs, not the program.
 */
#include "prompt.h"

#include "interrupt.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef CLI_EDITLINE
#include <editline/readline.h>

static const char *const keywords[] = { "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT",
	"HAVING", "JOIN", "LEFT JOIN", "ON", "WITH RECURSIVE", "UNION ALL", "DISTINCT", "count(*)",
	"sum(", "avg(", "min(", "max(", "CASE WHEN", "BETWEEN", "LIKE", "GLOB",
	"EXPLAIN QUERY PLAN", "DESC", "AND", "OR", "NOT", "IS NULL", "AS", ".tables", ".schema",
	".functions", ".help", ".quit" };

static ht_table *names; /* one column: everything that has a name in SQL */

/* What stands before a word stays: g. of g.dur_ns. */
static char *put_behind(const char *before, size_t n_before, const char *word)
{
	char *whole = malloc(n_before + strlen(word) + 1);
	if (whole != NULL) {
		memcpy(whole, before, n_before);
		memcpy(whole + n_before, word, strlen(word) + 1);
	}
	return whole;
}

/* The state-th word that the text may become. */
static char *complete(const char *text, int state)
{
	static size_t at;
	const char *dot = strrchr(text, '.');
	/* a column of a table; commands begin with a dot */
	size_t n_before = dot != NULL && dot != text ? (size_t)(dot - text) + 1 : 0;
	size_t n = strlen(text + n_before), n_names = names != NULL ? ht_table_n_rows(names) : 0;
	if (state == 0)
		at = 0;
	while (at < COUNT(keywords) + n_names) {
		size_t i = at++;
		const char *word = i < COUNT(keywords)
		                           ? keywords[i]
		                           : ht_table_str(names, i - COUNT(keywords), 0);
		if (strncasecmp(word, text + n_before, n) == 0)
			return put_behind(text, n_before, word);
	}
	return NULL;
}

static char **complete_word(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	/* names of files are never meant */
	rl_attempted_completion_over = 1;
	return rl_completion_matches(text, complete);
}

/* Where the history is (XDG base directories); false when there is no place for it. */
static bool history_path(char *path, size_t n)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char folder[4000];
	int length = -1;
	if (state != NULL && state[0] == '/')
		length = snprintf(folder, sizeof(folder), "%s", state);
	else if (home != NULL && home[0] == '/')
		length = snprintf(folder, sizeof(folder), "%s/.local/state", home);
	if (length <= 0 || (size_t)length >= sizeof(folder))
		return false;
	(void)mkdir(folder, 0700);
	length = snprintf(path, n, "%s/holotrace", folder);
	(void)mkdir(path, 0700);
	return length > 0 && (size_t)snprintf(path, n, "%s/holotrace/sql_history", folder) < n;
}

static char *read_line(const char *prompt)
{
	char *line = readline(prompt);
	const HIST_ENTRY *last =
	        history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
	bool is_again = line != NULL && last != NULL && strcmp(last->line, line) == 0;
	if (line != NULL && line[0] != '\0' && !is_again)
		add_history(line);
	return line;
}

static void begin(struct sql_session *session)
{
	static char breaks[] = " \t\n\"'`@$><=;|&{(,+-*/%";
	char path[4096];
	static const char query[] =
	        "SELECT CASE WHEN kind = 'function' THEN substr(name, 1, instr(name, '(')) "
	        "ELSE name END FROM sql_tables UNION SELECT name FROM sql_columns";
	if (ht_sql(session->cli->ctx, NULL, query, NULL, &names) != HT_OK)
		names = NULL;
	rl_readline_name = "holotrace";
	rl_attempted_completion_function = complete_word;
	/* versions of libedit differ in which of them they ask */
	rl_basic_word_break_characters = rl_completer_word_break_characters = breaks;
	using_history();
	stifle_history(1000);
	if (history_path(path, sizeof(path)))
		(void)read_history(path);
}

static void end(void)
{
	char path[4096];
	if (history_path(path, sizeof(path)))
		(void)write_history(path);
	ht_table_free(names);
	names = NULL;
}
#else
static char *read_line(const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	fputs(prompt, stdout);
	fflush(stdout);
	ssize_t n = getline(&line, &room, stdin);
	if (n < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void begin(struct sql_session *session)
{
	(void)session;
}

static void end(void) {}
#endif

/* Run what was typed. A mistake has been said, and the prompt goes on. */
static void run_typed(struct sql_session *session, const char *text)
{
	interrupt_hold();
	(void)sql_run_text(session, text);
	if (interrupt_forget())
		fputc('\n', stderr);
}

/* Add a line to the statement; false when out of memory. */
static bool add_line(char **text, const char *line)
{
	size_t n = *text != NULL ? strlen(*text) : 0, n_line = strlen(line);
	char *longer = realloc(*text, n + n_line + 2);
	if (longer == NULL)
		return false;
	memcpy(longer + n, line, n_line);
	memcpy(longer + n + n_line, "\n", 2);
	*text = longer;
	return true;
}

static bool is_quit(const char *line)
{
	return strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0 || strcmp(line, ".q") == 0;
}

int prompt_run(struct sql_session *session)
{
	char *text = NULL, *line;
	int code = EXIT_DONE;
	begin(session);
	printf("%zu ranks. .tables and .schema TABLE say what there is, .help the rest.\n",
	        ht_set_n_ranks(session->set));
	while (code == EXIT_DONE && (line = read_line(text == NULL ? "sql> " : "...> ")) != NULL) {
		bool quits = text == NULL && is_quit(line);
		if (text == NULL && line[strspn(line, " \t")] == '.' && !quits) {
			run_typed(session, line);
		} else if (!quits && (text != NULL || line[strspn(line, " \t")] != '\0')) {
			if (!add_line(&text, line))
				code = cli_fail_nomem();
			else if (ht_sql_statement(text) > 0) {
				run_typed(session, text);
				free(text);
				text = NULL;
			}
		}
		free(line);
		if (quits)
			break;
	}
	free(text);
	end();
	return code;
}
