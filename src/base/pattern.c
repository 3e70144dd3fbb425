/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - see pattern.h.
 */
#include "base/pattern.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_SIZE  2000 /* characters after every repeat is written out */
#define MAX_DEPTH 64   /* of brackets */
/* Of ^, $ and their like. Each doubles the ways through what is around it, and a repeat does that again and again: the C
 * library takes seconds for ((^||$)*((^|$)*a|^))* and hours for a little more. */
#define MAX_ANCHORS 8

/* Steps on all ways into the pattern and through it without a character. The C library takes each of them inside of
 * repeats, and needs minutes for x????????????++++ and ((|a)?b?+){0,20}. */
#define MAX_STEPS 4000

/* What a repeat would repeat. */
struct atom {
	size_t size;
	size_t ways, steps; /* through it without a character; on all ways into it */
	bool is_anchored;
};

static const struct atom no_atom = { .ways = 1 };

struct level {
	size_t sum;
	size_t n_anchors;               /* of the pattern, before it */
	size_t ways, steps;             /* of what this alternative has before the last atom */
	size_t other_ways, other_steps; /* of the alternatives before */
	struct atom last;
};

struct measure {
	struct level levels[MAX_DEPTH + 1]; /* within the brackets that are open */
	size_t depth;
	size_t n_anchors; /* so far */
	bool is_bad;      /* an anchor was repeated, or there are too many ways */
};

/* What is beyond the limit stays there. */
static size_t limit(struct measure *m, size_t steps)
{
	m->is_bad |= steps > MAX_STEPS;
	return steps > MAX_STEPS ? MAX_STEPS : steps;
}

/* The last atom is one of those before. */
static void fold(struct measure *m)
{
	struct level *l = &m->levels[m->depth];
	l->steps = limit(m, l->steps + l->ways * l->last.steps);
	l->ways = limit(m, l->ways * l->last.ways);
	l->last = no_atom;
}

static void add(struct measure *m, struct atom atom)
{
	struct level *l = &m->levels[m->depth];
	fold(m);
	l->last = atom;
	l->sum += atom.size;
}

static void add_character(struct measure *m)
{
	add(m, (struct atom){ .size = 1, .steps = 1 });
}

static void add_anchor(struct measure *m)
{
	add(m, (struct atom){ .size = 1, .ways = 1, .steps = 1, .is_anchored = true });
	m->n_anchors++;
}

static void make_optional(struct measure *m)
{
	struct level *l = &m->levels[m->depth];
	l->last.size++;
	l->sum++;
	l->last.ways = limit(m, l->last.ways + 1);
	l->last.steps = limit(m, l->last.steps + 1);
}

/* From least to most times, or at least so often without an end: written out as xx(x(x)?)?, or xxx*. */
static void repeat(struct measure *m, size_t least, size_t most, bool is_endless)
{
	struct level *l = &m->levels[m->depth];
	size_t n_copies = is_endless ? least + 1 : most, ways = 0, steps = 0, power = 1;
	l->sum = l->sum - l->last.size + l->last.size * n_copies;
	l->last.size *= n_copies;
	m->is_bad |= l->last.is_anchored;
	for (size_t i = 0; i <= n_copies && i <= MAX_SIZE && power; i++) {
		ways = limit(m, ways + (i >= least ? power : 0));
		steps = limit(m, steps + power * l->last.steps);
		power = limit(m, power * l->last.ways);
	}
	l->last.ways = ways;
	l->last.steps = steps;
}

static void end_alternative(struct measure *m)
{
	struct level *l = &m->levels[m->depth];
	fold(m);
	l->other_ways = limit(m, l->other_ways + l->ways);
	l->other_steps = limit(m, l->other_steps + l->steps + 1);
	l->ways = 1;
	l->steps = 0;
}

static bool open_bracket(struct measure *m)
{
	if (m->depth == MAX_DEPTH)
		return false;
	m->levels[++m->depth] =
	        (struct level){ .n_anchors = m->n_anchors, .ways = 1, .last = no_atom };
	return true;
}

static void close_bracket(struct measure *m)
{
	const struct level *l = &m->levels[m->depth];
	if (!m->depth)
		return;
	end_alternative(m);
	struct atom group = { .size = l->sum + 1,
		.ways = l->other_ways,
		.steps = l->other_steps,
		.is_anchored = m->n_anchors > l->n_anchors };
	m->depth--;
	add(m, group);
}

/* Behind the set that opens at p: a bracket that stands first is one of its characters. */
static const char *skip_set(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']')
		p++;
	return *p ? p : p - 1;
}

/* Behind the bound that opens at p, such as {2,9}; a brace that opens none is a character. */
static const char *bound(struct measure *m, const char *p)
{
	size_t numbers[2] = { 0, 0 }, n_commas = 0;
	const char *at = p + 1;
	for (; *at == ',' || (*at >= '0' && *at <= '9'); at++) {
		size_t *number = &numbers[n_commas != 0];
		if (*at == ',')
			n_commas++;
		else if (*number <= MAX_SIZE)
			*number = *number * 10 + (size_t)(*at - '0');
	}
	if (*at != '}') {
		add_character(m);
		return p + 1;
	}
	bool is_endless = at[-1] == ',';
	size_t most = n_commas && !is_endless ? numbers[1] : numbers[0];
	most = most ? most : 1;
	repeat(m, numbers[0] < most ? numbers[0] : most, most, is_endless);
	return at + 1;
}

/* One step over the pattern; NULL when a bracket too many is open. */
static const char *step(struct measure *m, const char *p)
{
	switch (*p) {
	case '\\':
		if (p[1] && strchr("<>bB`'", p[1]))
			add_anchor(m);
		else
			add_character(m);
		return p[1] ? p + 2 : p + 1;
	case '^':
	case '$': add_anchor(m); return p + 1;
	case '[': add_character(m); return skip_set(p) + 1;
	case '(': return open_bracket(m) ? p + 1 : NULL;
	case ')': close_bracket(m); return p + 1;
	case '|':
		end_alternative(m);
		m->levels[m->depth].sum++;
		return p + 1;
	case '+': repeat(m, 1, 0, true); return p + 1;
	case '{': return bound(m, p);
	case '*': repeat(m, 0, 0, true); return p + 1;
	case '?': make_optional(m); return p + 1;
	default: add_character(m); return p + 1;
	}
}

static bool is_bounded(const char *pattern)
{
	struct measure m = { .levels = { { .ways = 1, .last = { .ways = 1 } } } };
	if (strlen(pattern) > HT_PATTERN_BYTES)
		return false;
	for (const char *p = pattern; *p;) {
		if (p[0] == '\\' && p[1] >= '1' && p[1] <= '9')
			return false;
		p = step(&m, p);
		const struct level *l = &m.levels[m.depth];
		/* no product of two sizes that are allowed overflows */
		if (!p || m.is_bad || l->sum > MAX_SIZE || l->last.size > MAX_SIZE ||
		        m.n_anchors > MAX_ANCHORS)
			return false;
	}
	return true;
}

enum ht_status ht_pattern_compile(const char *pattern, regex_t *ret_regex, char why[HT_PATTERN_WHY])
{
	if (!is_bounded(pattern)) {
		snprintf(why, HT_PATTERN_WHY,
		        "beyond %d bytes, %d characters with repeats written out, %d of ^ and $, none "
		        "repeated, has \\1, or repeats nothing",
		        HT_PATTERN_BYTES, MAX_SIZE, MAX_ANCHORS);
		return HT_LIMIT;
	}
	int bad = regcomp(ret_regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (!bad)
		return HT_OK;
	regerror(bad, ret_regex, why, HT_PATTERN_WHY);
	return HT_USAGE;
}

enum ht_status ht_pattern_compile_long(
        const char *pattern, regex_t *ret_regex, char why[HT_PATTERN_WHY])
{
	char text[HT_PATTERN_BYTES + 8];
	/* on its own first: a parenthesis too many would find its other half here */
	enum ht_status status = ht_pattern_compile(pattern, ret_regex, why);
	if (status != HT_OK)
		return status;
	regfree(ret_regex);
	snprintf(text, sizeof text, "^.*(%s)", pattern);
	int bad = regcomp(ret_regex, text, REG_EXTENDED | REG_NOSUB);
	if (!bad)
		return HT_OK;
	regerror(bad, ret_regex, why, HT_PATTERN_WHY);
	return HT_USAGE;
}
