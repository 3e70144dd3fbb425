/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_copy.c - literals and matches into text; see deflate.h.
 *
 * Text is made in parts, each in memory of its own: what matches repeat of an earlier part stands in a window that is
 * copied at the end of each. Tokens are taken in whole where their text ends well before the part does, and in pieces at
 * its end.
 */
#include "base/deflate.h"

/* A token in whole writes at most so much, and some behind its end. */
#define MAX_TOKEN_TEXT ((size_t)HT_TOKEN_LONG_RUN + 258 + 64)

static inline void copy_16(uint8_t *to, const uint8_t *from)
{
	uint8_t bytes[16];
	memcpy(bytes, from, sizeof bytes);
	memcpy(to, bytes, sizeof bytes);
}

/* In this order: the first bytes may be what the last are copied from. */
static inline void copy_64(uint8_t *to, const uint8_t *from)
{
	copy_16(to, from);
	copy_16(to + 16, from + 16);
	copy_16(to + 32, from + 32);
	copy_16(to + 48, from + 48);
}

/* n bytes from so far back, which may be what they themselves write. False when that is before all text. */
static bool repeat(struct ht_copier *c, size_t distance, size_t n)
{
	size_t n_made = (size_t)(c->next - c->start);
	if (distance > n_made) {
		size_t n_before = distance - n_made;
		if (n_before > c->n_text)
			return false;
		size_t n_here = n < n_before ? n : n_before;
		memcpy(c->next, c->window + HT_DEFLATE_WINDOW - n_before, n_here);
		c->next += n_here;
		n -= n_here;
	}
	for (; n; n--, c->next++)
		*c->next = *(c->next - distance);
	return true;
}

/* Where the bytes of a match can be copied from 16 at a time; NULL when they are to be copied one by one. */
static inline const uint8_t *find_source(
        const struct ht_copier *c, const uint8_t *to, size_t distance, size_t n)
{
	size_t n_made = (size_t)(to - c->start);
	if (distance <= n_made)
		return distance >= 16 ? to - distance : NULL;
	size_t n_before = distance - n_made;
	if (n > n_before || n_before > c->n_text)
		return NULL;
	return c->window + HT_DEFLATE_WINDOW - n_before;
}

/* Tokens in whole, as long as there is room for any before end. */
static bool make_fast(struct ht_copier *c, const struct ht_tokens *tokens, const uint8_t *end)
{
	const uint32_t *match = (uint32_t *)tokens->matches.data + c->i_match;
	const uint32_t *match_end = (uint32_t *)tokens->matches.data + tokens->matches.n;
	const uint8_t *literal = (uint8_t *)tokens->literals.data + c->i_literal;
	const uint8_t *last = end - MAX_TOKEN_TEXT;
	uint8_t *to = c->next;
	bool ok = true;
	while (ok && match < match_end && to <= last) {
		size_t n_run = HT_TOKEN_RUN(*match);
		if (n_run == HT_TOKEN_LONG_RUN)
			break;
		size_t n = HT_TOKEN_LENGTH(*match), distance = HT_TOKEN_DISTANCE(*match);
		match++;
		copy_16(to, literal);
		if (n_run > 16)
			memcpy(to + 16, literal + 16, n_run - 16);
		literal += n_run;
		to += n_run;
		const uint8_t *from = find_source(c, to, distance, n);
		if (!from) {
			c->next = to;
			ok = repeat(c, distance, n);
			to = c->next;
			continue;
		}
		for (size_t i = 0; i < n; i += 64)
			copy_64(to + i, from + i);
		to += n;
	}
	c->next = to;
	c->i_match = (size_t)(match - (uint32_t *)tokens->matches.data);
	c->i_literal = (size_t)(literal - (uint8_t *)tokens->literals.data);
	return ok;
}

/* The next token in pieces. Behind the last match there are only literals. */
static bool take_token(struct ht_copier *c, const struct ht_tokens *tokens)
{
	if (c->i_match == tokens->matches.n) {
		c->n_run = tokens->literals.n - c->i_literal;
		return c->n_run;
	}
	uint32_t token = ((uint32_t *)tokens->matches.data)[c->i_match++];
	c->n_run = HT_TOKEN_RUN(token);
	if (c->n_run == HT_TOKEN_LONG_RUN) {
		c->n_run = HT_TOKEN_LONG(token);
		return true;
	}
	c->n_length = HT_TOKEN_LENGTH(token);
	c->distance = HT_TOKEN_DISTANCE(token);
	return true;
}

/* What is to be done of a token, as far as there is room. */
static bool make_some(struct ht_copier *c, const struct ht_tokens *tokens, const uint8_t *end)
{
	size_t n_room = (size_t)(end - c->next);
	size_t n = c->n_run < n_room ? c->n_run : n_room;
	if (n)
		memcpy(c->next, (uint8_t *)tokens->literals.data + c->i_literal, n);
	c->next += n;
	c->i_literal += n;
	c->n_run -= n;
	n_room -= n;
	n = c->n_length < n_room ? c->n_length : n_room;
	c->n_length -= n;
	return !n || repeat(c, c->distance, n);
}

void ht_copier_begin(struct ht_copier *c, uint8_t *part)
{
	c->start = c->next = part;
}

bool ht_copier_make(struct ht_copier *c, const struct ht_tokens *tokens, size_t n)
{
	const uint8_t *end = c->next + n;
	while (c->next < end) {
		bool is_whole = !c->n_run && !c->n_length;
		if (is_whole && c->i_match < tokens->matches.n &&
		        (size_t)(end - c->next) >= MAX_TOKEN_TEXT && !make_fast(c, tokens, end))
			return false;
		if (is_whole && !take_token(c, tokens))
			return false;
		if (!make_some(c, tokens, end))
			return false;
	}
	return true;
}

void ht_copier_end(struct ht_copier *c)
{
	size_t n_made = (size_t)(c->next - c->start);
	size_t n = n_made < HT_DEFLATE_WINDOW ? n_made : HT_DEFLATE_WINDOW;
	memmove(c->window, c->window + n, HT_DEFLATE_WINDOW - n);
	memcpy(c->window + HT_DEFLATE_WINDOW - n, c->next - n, n);
	c->n_text += n_made;
	c->start = c->next;
}
