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

struct measure {
	struct {
		size_t sum, n_anchors;
	} outer[MAX_DEPTH]; /* before the brackets that are open */
	size_t depth;
	size_t sum, last; /* of this level, and of what a repeat would repeat */
	size_t n_anchors; /* so far */
	bool is_anchored; /* what a repeat would repeat has one */
	bool is_endless;  /* and was repeated */
};

static void add(struct measure *m, size_t size)
{
	m->last = size;
	m->sum += size;
	m->is_anchored = false;
}

static void add_anchor(struct measure *m)
{
	add(m, 1);
	m->n_anchors++;
	m->is_anchored = true;
}

static void repeat(struct measure *m, size_t times)
{
	m->sum += m->last * (times - 1);
	m->last *= times;
	m->is_endless |= m->is_anchored;
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

/* Behind the bound that opens at p, such as {2,9}, whose largest number repeats what was last; a brace that opens
 * none is a character. */
static const char *bound(struct measure *m, const char *p)
{
	size_t number = 0, largest = 1;
	const char *at = p + 1;
	for (; *at == ',' || (*at >= '0' && *at <= '9'); at++) {
		number = *at == ',' || number > MAX_SIZE ? 0 : number * 10 + (size_t)(*at - '0');
		largest = number > largest ? number : largest;
	}
	if (*at != '}') {
		add(m, 1);
		return p + 1;
	}
	repeat(m, largest);
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
			add(m, 1);
		return p[1] ? p + 2 : p + 1;
	case '^':
	case '$': add_anchor(m); return p + 1;
	case '[': add(m, 1); return skip_set(p) + 1;
	case '(':
		if (m->depth == MAX_DEPTH)
			return NULL;
		m->outer[m->depth].sum = m->sum;
		m->outer[m->depth++].n_anchors = m->n_anchors;
		m->sum = m->last = 0;
		return p + 1;
	case ')':
		if (m->depth) {
			size_t inside = m->sum + 1;
			m->sum = m->outer[--m->depth].sum;
			add(m, inside);
			m->is_anchored = m->n_anchors > m->outer[m->depth].n_anchors;
		}
		return p + 1;
	case '+': repeat(m, 2); return p + 1;
	case '{': return bound(m, p);
	case '*': repeat(m, 1); return p + 1;
	case '?': return p + 1;
	default: add(m, 1); return p + 1;
	}
}

static bool is_bounded(const char *pattern)
{
	struct measure m = { .depth = 0 };
	if (strlen(pattern) > HT_PATTERN_BYTES)
		return false;
	for (const char *p = pattern; *p;) {
		if (p[0] == '\\' && p[1] >= '1' && p[1] <= '9')
			return false;
		p = step(&m, p);
		/* no product of two sizes that are allowed overflows */
		if (!p || m.sum > MAX_SIZE || m.last > MAX_SIZE || m.n_anchors > MAX_ANCHORS ||
		        m.is_endless)
			return false;
	}
	return true;
}

enum ht_status ht_pattern_compile(const char *pattern, regex_t *ret_regex, char why[HT_PATTERN_WHY])
{
	if (!is_bounded(pattern)) {
		snprintf(why, HT_PATTERN_WHY,
		        "beyond %d bytes, %d characters with repeats written out, %d of ^ and $, none repeated, or "
		        "with \\1",
		        HT_PATTERN_BYTES, MAX_SIZE, MAX_ANCHORS);
		return HT_LIMIT;
	}
	int bad = regcomp(ret_regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (!bad)
		return HT_OK;
	regerror(bad, ret_regex, why, HT_PATTERN_WHY);
	return HT_USAGE;
}
