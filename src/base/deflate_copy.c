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

/* One part of the text. */
struct part {
	const struct ht_copier *copier;
	uint8_t *start, *next, *end;
};

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
static bool repeat(struct part *part, size_t distance, size_t n)
{
	size_t n_made = (size_t)(part->next - part->start);
	if (distance > n_made) {
		size_t n_before = distance - n_made;
		if (n_before > part->copier->n_text)
			return false;
		size_t n_here = n < n_before ? n : n_before;
		memcpy(part->next, part->copier->window + HT_DEFLATE_WINDOW - n_before, n_here);
		part->next += n_here;
		n -= n_here;
	}
	for (; n; n--, part->next++)
		*part->next = *(part->next - distance);
	return true;
}

/* Where the bytes of a match can be copied from 16 at a time; NULL when they are to be copied one by one. */
static inline const uint8_t *find_source(const struct part *part, size_t distance, size_t n)
{
	size_t n_made = (size_t)(part->next - part->start);
	if (distance <= n_made)
		return distance >= 16 ? part->next - distance : NULL;
	size_t n_before = distance - n_made;
	if (n > n_before || n_before > part->copier->n_text)
		return NULL;
	return part->copier->window + HT_DEFLATE_WINDOW - n_before;
}

/* Tokens in whole, as long as there is room for any. */
static bool make_fast(struct ht_copier *copier, const struct ht_tokens *tokens, struct part *part)
{
	const uint32_t *match = (uint32_t *)tokens->matches.data + copier->i_match;
	const uint32_t *match_end = (uint32_t *)tokens->matches.data + tokens->matches.n;
	const uint8_t *literal = (uint8_t *)tokens->literals.data + copier->i_literal;
	const uint8_t *last = part->end - MAX_TOKEN_TEXT;
	bool ok = true;
	while (ok && match < match_end && part->next <= last) {
		size_t n_run = HT_TOKEN_RUN(*match);
		if (n_run == HT_TOKEN_LONG_RUN)
			break;
		size_t n = HT_TOKEN_LENGTH(*match), distance = HT_TOKEN_DISTANCE(*match);
		match++;
		copy_16(part->next, literal);
		if (n_run > 16)
			memcpy(part->next + 16, literal + 16, n_run - 16);
		literal += n_run;
		uint8_t *to = part->next += n_run;
		const uint8_t *from = find_source(part, distance, n);
		if (!from) {
			ok = repeat(part, distance, n);
			continue;
		}
		part->next += n;
		copy_64(to, from);
		for (to += 64, from += 64; to < part->next; to += 64, from += 64)
			copy_64(to, from);
	}
	copier->i_match = (size_t)(match - (uint32_t *)tokens->matches.data);
	copier->i_literal = (size_t)(literal - (uint8_t *)tokens->literals.data);
	return ok;
}

/* The next token in pieces. Behind the last match there are only literals. */
static bool take_token(struct ht_copier *copier, const struct ht_tokens *tokens)
{
	if (copier->i_match == tokens->matches.n) {
		copier->n_run = tokens->literals.n - copier->i_literal;
		return copier->n_run;
	}
	uint32_t token = ((uint32_t *)tokens->matches.data)[copier->i_match++];
	copier->n_run = HT_TOKEN_RUN(token);
	if (copier->n_run == HT_TOKEN_LONG_RUN) {
		copier->n_run = HT_TOKEN_LONG(token);
		return true;
	}
	copier->n_length = HT_TOKEN_LENGTH(token);
	copier->distance = HT_TOKEN_DISTANCE(token);
	return true;
}

/* What is to be done of a token, as far as there is room. */
static bool make_some(struct ht_copier *copier, const struct ht_tokens *tokens, struct part *part)
{
	size_t n_room = (size_t)(part->end - part->next);
	size_t n = copier->n_run < n_room ? copier->n_run : n_room;
	if (n)
		memcpy(part->next, (uint8_t *)tokens->literals.data + copier->i_literal, n);
	part->next += n;
	copier->i_literal += n;
	copier->n_run -= n;
	n_room -= n;
	n = copier->n_length < n_room ? copier->n_length : n_room;
	copier->n_length -= n;
	return !n || repeat(part, copier->distance, n);
}

static void keep_window(struct ht_copier *copier, const uint8_t *text, size_t n)
{
	uint8_t *window = copier->window;
	if (n < HT_DEFLATE_WINDOW)
		memmove(window, window + n, HT_DEFLATE_WINDOW - n);
	else
		text += n - HT_DEFLATE_WINDOW;
	n = n < HT_DEFLATE_WINDOW ? n : HT_DEFLATE_WINDOW;
	memcpy(window + HT_DEFLATE_WINDOW - n, text, n);
}

bool ht_copier_make(
        struct ht_copier *copier, const struct ht_tokens *tokens, uint8_t *out, size_t n)
{
	struct part part = { copier, out, out, out + n };
	while (part.next < part.end) {
		bool is_whole = !copier->n_run && !copier->n_length;
		if (is_whole && (size_t)(part.end - part.next) >= MAX_TOKEN_TEXT &&
		        !make_fast(copier, tokens, &part))
			return false;
		if (is_whole && !take_token(copier, tokens))
			return false;
		if (!make_some(copier, tokens, &part))
			return false;
	}
	keep_window(copier, out, n);
	copier->n_text += n;
	return true;
}
