/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_name.c - see fused_name.h.
 */
#include "model/origin/fused_name.h"

#include "base/platform.h"
#include "base/search.h"
#include "base/status.h"
#include "base/text_compare.h"

#include <stdlib.h>
#include <string.h>

/* Words of a name: Inductor's lists are cut long before. */
#define MAX_WORDS 64
#define MAX_BYTES 512

static const char *const known[] = {
#define OP(name) name,
#include "model/origin/fused_ops.def"
#undef OP
};

struct cut {
	const char *text;         /* of all words, '_' between, for strncmp */
	size_t at[MAX_WORDS + 1]; /* where words begin; the last is behind the end */
	size_t n;
	/* of the words from i on: the least number of operators, whether they can be in order, and the words of the first */
	unsigned n_ops[MAX_WORDS + 1];
	unsigned
	        n_falls[MAX_WORDS +
	                1]; /* how often an operator comes before its predecessor in the alphabet */
	size_t first[MAX_WORDS + 1];
};

/* Bytes of the words [from, to). */
static size_t n_bytes(const struct cut *c, size_t from, size_t to)
{
	return c->at[to] - 1 - c->at[from];
}

static bool is_known(const struct cut *c, size_t from, size_t to)
{
	const char *text = c->text + c->at[from];
	size_t n = n_bytes(c, from, to);
	/* a name that goes on behind the words is not below them */
	size_t at = HT_LOWER_BOUND(i, HT_COUNT(known), strncmp(known[i], text, n) < 0);
	return at < HT_COUNT(known) && !strncmp(known[at], text, n) && !known[at][n];
}

/* Whether the operator at from comes after the one behind it in the alphabet. */
static bool falls(const struct cut *c, size_t from, size_t to)
{
	if (to >= c->n)
		return false;
	size_t n = n_bytes(c, from, to), m = n_bytes(c, to, c->first[to]);
	int order = memcmp(c->text + c->at[from], c->text + c->at[to], n < m ? n : m);
	return order > 0 || (!order && n > m);
}

static void find_cuts(struct cut *c)
{
	c->n_ops[c->n] = c->n_falls[c->n] = 0;
	for (size_t i = c->n; i-- > 0;) {
		c->n_ops[i] = UINT32_MAX;
		/* the longest first, so that only a better one replaces it; an empty word is the underscore that a name begins with */
		for (size_t to = c->n; to > i; to--) {
			if ((to > i + 1 || !n_bytes(c, i, i + 1)) && !is_known(c, i, to))
				continue;
			unsigned n_ops = 1 + c->n_ops[to],
			         n_falls = c->n_falls[to] + falls(c, i, to);
			if (n_ops < c->n_ops[i] ||
			        (n_ops == c->n_ops[i] && n_falls < c->n_falls[i])) {
				c->n_ops[i] = n_ops;
				c->n_falls[i] = n_falls;
				c->first[i] = to;
			}
		}
		/* words that fit nothing stand for themselves */
		if (c->n_ops[i] == UINT32_MAX) {
			c->n_ops[i] = 1 + c->n_ops[i + 1];
			c->n_falls[i] = c->n_falls[i + 1];
			c->first[i] = i + 1;
		}
	}
}

/* The operators' part of a name, [*ret_from, *ret_to); false for another name. */
static bool find_ops(const char *name, const char **ret_from, const char **ret_to)
{
	static const char mark[] = "_fused_";
	const char *from = ht_text_starts(name, "triton_") ? strstr(name, mark) : NULL;
	if (!from || from > name + 7 + 4)
		return false;
	from += sizeof mark - 1;
	const char *to = from + strlen(from);
	/* a number at the end is its place in the graph; a hash may stand behind */
	const char *last = strrchr(from, '_');
	if (last && last[1] && !last[1 + strspn(last + 1, "0123456789")])
		to = last;
	*ret_from = from;
	*ret_to = to;
	return to > from && (size_t)(to - from) < MAX_BYTES;
}

static size_t put(char *to, const char *text, size_t n)
{
	memcpy(to, text, n);
	return n;
}

/* NULL: there are none, or no memory. */
static const char *write_ops(struct ht_arena *arena, const struct cut *c)
{
	static const char between[] = ", ", of[] = "aten.";
	char *text = ht_arena_alloc(arena, c->at[c->n] + c->n * (sizeof between + sizeof of));
	size_t n = 0;
	for (size_t i = 0; text && i < c->n; i = c->first[i]) {
		size_t n_name = n_bytes(c, i, c->first[i]);
		if (!n_name)
			continue;
		if (n)
			n += put(text + n, between, sizeof between - 1);
		n += put(text + n, of, sizeof of - 1);
		n += put(text + n, c->text + c->at[i], n_name);
	}
	return n ? text : NULL;
}

const char *ht_fused_ops(struct ht_arena *arena, const char *name)
{
	struct cut c = { 0 };
	const char *from, *to;
	if (!find_ops(name, &from, &to))
		return NULL;
	c.text = from;
	for (const char *at = from; c.n < MAX_WORDS; at++) {
		c.at[c.n++] = (size_t)(at - from);
		at += strcspn(at, "_");
		if (at >= to)
			break;
	}
	c.at[c.n] = (size_t)(to - from) + 1;
	find_cuts(&c);
	return write_ops(arena, &c);
}
