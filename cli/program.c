/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - find the verb, parse its options, run it, answer with an exit code.
 */
#include "cli.h"
#include "help.h"
#include "verbs.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_fail_nomem(void)
{
	cli_say("out of memory");
	return EXIT_LIMIT;
}

enum exit_code cli_exit_code(const struct ht_error *error)
{
	switch (error->status) {
	case HT_OK: return EXIT_DONE;
	case HT_USAGE: return EXIT_USAGE;
	case HT_IO:
	case HT_FORMAT:
	case HT_MISSING: return EXIT_INPUT;
	case HT_LIMIT:
	case HT_NOMEM:
	case HT_INTERNAL:
	case HT_CANCELLED: break;
	}
	return EXIT_LIMIT;
}

/* 8123904 as 8,123,904. */
static const char *grouped(int64_t number, char *text, size_t n)
{
	char digits[24];
	int n_digits = snprintf(digits, sizeof(digits), "%lld", (long long)number);
	size_t at = 0;
	for (int i = 0; i < n_digits && at + 2 < n; i++) {
		if (i > 0 && (n_digits - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

void cli_say_error(const struct ht_error *error)
{
	char number[40], place[64] = "", hint[512] = "";
	if (error->offset >= 0)
		snprintf(place, sizeof(place), " at byte %s",
		        grouped(error->offset, number, sizeof(number)));
	if (error->hint != NULL) {
		/* a sentence of its own, so it starts with a capital */
		snprintf(hint, sizeof(hint), ". %s", error->hint);
		hint[2] = (char)toupper((unsigned char)hint[2]);
	}
	cli_say("%s%s%s%s%s", error->file != NULL ? error->file : "",
	        error->file != NULL ? ": " : "", error->message, place, hint);
}

int cli_fail(struct cli *cli)
{
	const struct ht_error *error = session_error(cli);
	progress_clear(&cli->progress);
	cli_say_error(error);
	return (int)cli_exit_code(error);
}

static int say_unknown_verb(const char *word)
{
	const char *near = verb_near(word);
	if (word[0] == '-')
		cli_say("the verb comes before its options: holotrace VERB [options] TRACE...");
	else if (access(word, F_OK) == 0)
		cli_say("'%s' names traces, not a verb. Try: holotrace report %s", word, word);
	else if (near != NULL)
		cli_say("there is no verb '%s'. Did you mean '%s'?", word, near);
	else
		cli_say("there is no verb '%s'. See: holotrace list", word);
	return EXIT_USAGE;
}

static int say_what_follows(struct cli *cli)
{
	cli_say("an analysis follows, then its options: holotrace %s %s", cli->verb->name,
	        cli->verb->usage);
	return EXIT_USAGE;
}

static int run_verb(struct cli *cli, const struct verb *verb, const char **argv, size_t n)
{
	cli->verb = verb;
	verb_options(verb, &cli->opts);
	if (verb->respell != NULL)
		verb->respell(argv, n);
	if (!opts_parse(&cli->opts, verb->name, argv, n))
		return EXIT_USAGE;
	const char *color = opts_value(&cli->opts, "color");
	if (color != NULL && strcmp(color, "auto") != 0)
		cli->term.color = strcmp(color, "always") == 0;
	if (opts_flag(&cli->opts, "help"))
		return help_verb(cli, verb);
	return verb->run(cli);
}

int program_run(int argc, char **argv, const struct engine *engine)
{
	struct cli cli = { .engine = engine };
	struct verb verb;
	/* a reader that goes away is seen as EPIPE, and is no error */
	signal(SIGPIPE, SIG_IGN);
	term_init(&cli.term, engine != NULL);
	const char *word = argc > 1 ? argv[1] : NULL;
	if (word == NULL) {
		help_overview(&cli, stderr);
		return EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		word = "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		word = "version";
	if (!verb_find(word, &verb))
		return say_unknown_verb(word);
	size_t n_used = 2;
	if (verb.wraps && argc > 2 && argv[2][0] != '-') {
		/* the analysis is what has options; the command says what is done with it */
		int (*run)(struct cli * cli) = verb.run;
		if (!verb_find(argv[2], &verb) || verb.analysis == NULL) {
			cli_say("%s takes an analysis, and '%s' is none. See: holotrace list", word,
			        argv[2]);
			return EXIT_USAGE;
		}
		verb.run = run;
		verb.is_distributable = false;
		n_used = 3;
	} else if (verb.wraps) {
		verb.run = say_what_follows;
		if (argc > 2 && strcmp(argv[2], "-h") != 0 && strcmp(argv[2], "--help") != 0)
			argc = (int)
			        n_used; /* its options are the analysis's, which is not there yet */
	}
	return run_verb(&cli, &verb, (const char **)argv + n_used, (size_t)argc - n_used);
}
