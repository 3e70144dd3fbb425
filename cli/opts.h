/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opts.h - one table of options per verb; parsing, help, completion and man page read the same table.
 *
 * Values come as --name value, --name=value, -n value or -nvalue, before or after the arguments; "--"
 * ends the options. The last value given wins, but for
 * options whose values all count.
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTS_MAX       64
#define OPTS_GIVEN_MAX 256

struct opt {
	const char *name;          /* without the dashes */
	char letter;               /* 0: none */
	const char *value;         /* what to call the value in help, NULL: a flag */
	const char *choices;       /* "a|b|c", NULL: anything */
	const char *default_value; /* for help, NULL: none */
	const char *help;
	const char *heading; /* of which group in the help */
	bool from_library;   /* a parameter that the library itself checks */
};

struct opts {
	struct opt list[OPTS_MAX];
	const char *values[OPTS_MAX]; /* parallel to list; NULL: not given */
	size_t n;
	/* every value given, in order */
	struct {
		size_t option;
		const char *value;
	} given[OPTS_GIVEN_MAX];
	size_t n_given;
	const char **args; /* what is not an option, in order; a slice of argv, reordered */
	size_t n_args;
};

/* Append to the table. A name that is there already is kept as it was. */
void opts_add(struct opts *opts, const struct opt *opt);
/* Parse argv in place. False after the mistake has been said on standard error. */
bool opts_parse(struct opts *opts, const char *verb, const char **argv, size_t n);
/* The value given, or NULL. A flag that was given has the value "true". */
const char *opts_value(const struct opts *opts, const char *name);
/* All values given of an option, in order; at most n are written. The number given. */
size_t opts_values(const struct opts *opts, const char *name, const char **ret_values, size_t n);
bool opts_flag(const struct opts *opts, const char *name);

/* True when text is one of "a|b|c". */
bool choice_has(const char *choices, const char *text);
/* Counts and sizes; a size may end in K, M, G or T (powers of 1024). False when it is not one. */
bool parse_count(const char *text, uint64_t *ret_count);

/* The nearest of the words seen so far, for "did you mean". Zero-initialise, offer, then read best. */
struct near_miss {
	const char *wanted;
	const char *best; /* NULL: nothing is near */
	size_t distance;
};
void near_miss_offer(struct near_miss *miss, const char *word);

/* Texts, the arguments, or all values of an option, a line each, for the caller to free; NULL when out of memory. */
char *opts_join(const char *const *texts, size_t n);
char *opts_lines(const struct opts *opts);
char *opts_value_lines(const struct opts *opts, const char *name);

#endif
