/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.c - options from a command line, by table.
 *
 * Arguments and options may be mixed, so parsing keeps the arguments by moving them to the front of
 * argv. Mistakes are said here, with the nearest existing name when there is one.
 */
#include "opts.h"

#include "holotrace.h"
#include "say.h"
#include "holotrace/own.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void opts_add(struct opts *opts, const struct opt *opt)
{
	for (size_t i = 0; i < opts->n; i++) {
		if (strcmp(opts->list[i].name, opt->name) == 0)
			return;
	}
	if (opts->n < OPTS_MAX)
		opts->list[opts->n++] = *opt;
}

/* Underscores stand for dashes, as other programs spell options. */
static bool is_name(const char *option, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (option[i] == '\0' || option[i] != (name[i] == '_' ? '-' : name[i]))
			return false;
	}
	return option[n] == '\0';
}

static size_t find_name(const struct opts *opts, const char *name, size_t n)
{
	for (size_t i = 0; i < opts->n; i++) {
		if (is_name(opts->list[i].name, name, n))
			return i;
	}
	return SIZE_MAX;
}

static size_t find_letter(const struct opts *opts, char letter)
{
	for (size_t i = 0; i < opts->n; i++) {
		if (opts->list[i].letter == letter)
			return i;
	}
	return SIZE_MAX;
}

static void say_unknown(const struct opts *opts, const char *verb, const char *given, size_t n)
{
	char name[64] = "";
	if (n < sizeof(name))
		memcpy(name, given, n);
	struct near_miss miss = { .wanted = name };
	for (size_t i = 0; i < opts->n; i++)
		near_miss_offer(&miss, opts->list[i].name);
	if (miss.best != NULL)
		cli_say("%s has no option --%.*s. Did you mean --%s?", verb, (int)n, given,
		        miss.best);
	else
		cli_say("%s has no option --%.*s. See: holotrace help %s", verb, (int)n, given,
		        verb);
}

static bool set_value(struct opts *opts, size_t index, const char *value)
{
	const struct opt *opt = &opts->list[index];
	/* nobody means that: a variable of a script was not set. But every name contains the empty text, and critical-path takes the whole trace then. */
	if (*value == '\0' && strcmp(opt->name, "annotation") != 0) {
		cli_say("--%s is empty. Give it a value, or leave it out", opt->name);
		return false;
	}
	if (!opt->from_library && opt->choices != NULL && !choice_has(opt->choices, value)) {
		cli_say("--%s cannot be '%s'. It is one of: %s", opt->name, value, opt->choices);
		return false;
	}
	if (opts->n_given == OPTS_GIVEN_MAX) {
		cli_say("more than %d options were given", OPTS_GIVEN_MAX);
		return false;
	}
	opts->given[opts->n_given].option = index;
	opts->given[opts->n_given++].value = value;
	opts->values[index] = value;
	return true;
}

/* A long option at argv[*at]; moves *at over a value in the next word. */
static bool parse_long(struct opts *opts, const char *verb, const char **argv, size_t n, size_t *at)
{
	const char *name = argv[*at] + 2;
	size_t n_name = strcspn(name, "=");
	const char *value = name[n_name] == '=' ? name + n_name + 1 : NULL;
	size_t index = find_name(opts, name, n_name);
	if (index == SIZE_MAX && n_name > 3 && strncmp(name, "no-", 3) == 0 && value == NULL) {
		/* the opposite of a flag whose default may be true */
		index = find_name(opts, name + 3, n_name - 3);
		if (index != SIZE_MAX && opts->list[index].from_library &&
		        opts->list[index].value == NULL)
			return set_value(opts, index, "false");
		index = SIZE_MAX;
	}
	if (index == SIZE_MAX) {
		say_unknown(opts, verb, name, n_name);
		return false;
	}
	const struct opt *opt = &opts->list[index];
	if (opt->value == NULL && value != NULL && !opt->from_library) {
		cli_say("--%s takes no value", opt->name);
		return false;
	}
	if (opt->value == NULL)
		return set_value(opts, index, value != NULL ? value : "true");
	if (value == NULL) {
		if (*at + 1 >= n) {
			cli_say("--%s needs a value: %s", opt->name, opt->value);
			return false;
		}
		value = argv[++*at];
	}
	return set_value(opts, index, value);
}

/* One word of short options at argv[*at], such as -q, -j4, -qo FILE. */
static bool parse_short(
        struct opts *opts, const char *verb, const char **argv, size_t n, size_t *at)
{
	for (const char *letter = argv[*at] + 1; *letter != '\0'; letter++) {
		size_t index = find_letter(opts, *letter);
		if (index == SIZE_MAX) {
			cli_say("%s has no option -%c. See: holotrace help %s", verb, *letter,
			        verb);
			return false;
		}
		if (opts->list[index].value == NULL) {
			if (!set_value(opts, index, "true"))
				return false;
			continue;
		}
		if (letter[1] != '\0')
			return set_value(opts, index, letter + 1);
		if (*at + 1 >= n) {
			cli_say("-%c needs a value: %s", *letter, opts->list[index].value);
			return false;
		}
		return set_value(opts, index, argv[++*at]);
	}
	return true;
}

bool opts_parse(struct opts *opts, const char *verb, const char **argv, size_t n)
{
	bool only_args = false;
	opts->args = argv;
	opts->n_args = 0;
	for (size_t i = 0; i < n; i++) {
		const char *word = argv[i];
		if (only_args || word[0] != '-' || word[1] == '\0') {
			opts->args[opts->n_args++] = word;
		} else if (strcmp(word, "--") == 0) {
			only_args = true;
		} else if (word[1] == '-') {
			if (!parse_long(opts, verb, argv, n, &i))
				return false;
		} else if (!parse_short(opts, verb, argv, n, &i)) {
			return false;
		}
	}
	return true;
}

const char *opts_value(const struct opts *opts, const char *name)
{
	size_t index = find_name(opts, name, strlen(name));
	return index == SIZE_MAX ? NULL : opts->values[index];
}

size_t opts_values(const struct opts *opts, const char *name, const char **ret_values, size_t n)
{
	size_t index = find_name(opts, name, strlen(name)), count = 0;
	for (size_t i = 0; i < opts->n_given; i++) {
		if (opts->given[i].option != index)
			continue;
		if (count < n)
			ret_values[count] = opts->given[i].value;
		count++;
	}
	return count;
}

bool opts_flag(const struct opts *opts, const char *name)
{
	const char *value = opts_value(opts, name);
	return value != NULL && strcmp(value, "false") != 0;
}

bool choice_has(const char *choices, const char *text)
{
	size_t n = strlen(text);
	for (const char *at = choices; *at != '\0';) {
		size_t n_choice = strcspn(at, "|");
		if (n_choice == n && strncmp(at, text, n) == 0)
			return true;
		at += n_choice + (at[n_choice] == '|');
	}
	return false;
}

bool parse_count(const char *text, uint64_t *ret_count)
{
	char *end;
	if (!isdigit((unsigned char)text[0]))
		return false;
	unsigned long long count = strtoull(text, &end, 10);
	if (*end != '\0')
		return false;
	*ret_count = count;
	return true;
}

#define NEAR_MISS_LENGTH 48

/* The distance to a word, or to one of its parts: "temporl" means temporal-breakdown. */
static size_t distance_to(const char *wanted, const char *word)
{
	size_t n_wanted = strlen(wanted);
	size_t best = ht_edit_distance(wanted, n_wanted, word, strlen(word));
	for (const char *part = word; *part != '\0';) {
		size_t n = strcspn(part, "-");
		size_t distance = ht_edit_distance(wanted, n_wanted, part, n);
		/* a whole word that is as near is the better guess */
		if (n < strlen(word) && n > 2 && distance + 1 < best)
			best = distance + 1;
		part += n + (part[n] == '-');
	}
	return best;
}

void near_miss_offer(struct near_miss *miss, const char *word)
{
	size_t n_wanted = strlen(miss->wanted);
	if (n_wanted == 0 || n_wanted > NEAR_MISS_LENGTH || strlen(word) > NEAR_MISS_LENGTH)
		return;
	size_t distance = distance_to(miss->wanted, word);
	size_t allowed = n_wanted < 4 ? 1 : n_wanted < 9 ? 2 : 3;
	if (distance <= allowed && (miss->best == NULL || distance < miss->distance)) {
		miss->best = word;
		miss->distance = distance;
	}
}

char *opts_join(const char *const *texts, size_t n)
{
	size_t n_bytes = 1;
	for (size_t i = 0; i < n; i++)
		n_bytes += strlen(texts[i]) + 1;
	char *lines = malloc(n_bytes), *at = lines;
	for (size_t i = 0; lines != NULL && i < n; i++) {
		size_t n_text = strlen(texts[i]);
		memcpy(at, texts[i], n_text);
		at[n_text] = '\n';
		at += n_text + 1;
	}
	if (lines != NULL)
		*at = '\0';
	return lines;
}

char *opts_lines(const struct opts *opts)
{
	return opts_join(opts->args, opts->n_args);
}

char *opts_value_lines(const struct opts *opts, const char *name)
{
	const char *values[OPTS_GIVEN_MAX] = { NULL };
	return opts_join(values, opts_values(opts, name, values, OPTS_GIVEN_MAX));
}
