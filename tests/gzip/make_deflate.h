/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_deflate.h - writes deflate data (RFC 1951) and gzip members around them for tests: any blocks, any codes.
 *
 * Compressors write what is short. Readers have to take all that is allowed: codes of 15 bits for frequent symbols, blocks of
 * no symbols, matches anywhere. So text is made of random tokens, and tokens are written with random codes. What is to be read
 * back is known from making it, not from reading.
 */
#ifndef HT_MAKE_DEFLATE_H
#define HT_MAKE_DEFLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum deflate_blocks { DEFLATE_STORED, DEFLATE_FIXED, DEFLATE_DYNAMIC, DEFLATE_MIXED };

/* Bytes in the making; the last up to 7 bits wait. */
struct deflate_out {
	uint8_t *bytes;
	size_t n, cap;
	uint32_t bits;
	unsigned n_bits;
};

/* length 0: the byte value; else a match from so far back. */
struct deflate_token {
	uint16_t length, value;
};

struct deflate_text {
	uint8_t *bytes;
	size_t n;
	struct deflate_token *tokens;
	size_t n_tokens;
};

static inline uint32_t deflate_random(uint64_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 16) % below;
}

static inline void deflate_byte(struct deflate_out *out, uint8_t byte)
{
	if (out->n == out->cap) {
		out->cap = out->cap ? out->cap * 2 : 4096;
		out->bytes = realloc(out->bytes, out->cap);
	}
	out->bytes[out->n++] = byte;
}

static inline void deflate_bits(struct deflate_out *out, uint32_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		out->bits |= (value >> i & 1) << out->n_bits++;
		if (out->n_bits == 8) {
			deflate_byte(out, (uint8_t)out->bits);
			out->bits = out->n_bits = 0;
		}
	}
}

static inline void deflate_align(struct deflate_out *out)
{
	if (out->n_bits)
		deflate_bits(out, 0, 8 - out->n_bits);
}

/* The bytes that the tokens stand for. */
static inline void deflate_spell(struct deflate_text *text)
{
	size_t n = 0;
	for (size_t i = 0; i < text->n_tokens; i++) {
		const struct deflate_token *token = &text->tokens[i];
		if (!token->length)
			text->bytes[n++] = (uint8_t)token->value;
		for (unsigned j = 0; j < token->length; j++, n++)
			text->bytes[n] = text->bytes[n - token->value];
	}
}

/* Random text of about n bytes: matches_of_8 of eight tokens are matches, of max_distance and max_length at most. */
static inline void deflate_make_text(struct deflate_text *text, uint64_t *seed, size_t n,
        uint32_t matches_of_8, uint32_t max_distance, uint32_t max_length)
{
	*text = (struct deflate_text){ malloc(n + 258), 0, malloc(n * sizeof *text->tokens), 0 };
	while (text->n < n) {
		struct deflate_token token = { 0, (uint16_t)(32 + deflate_random(seed, 64)) };
		if (text->n && deflate_random(seed, 8) < matches_of_8) {
			uint32_t far = text->n < max_distance ? (uint32_t)text->n : max_distance;
			if (!deflate_random(seed, 4))
				far = far < 40 ? far : 40;
			token.value = (uint16_t)(1 + deflate_random(seed, far));
			token.length = (uint16_t)(3 + deflate_random(seed, max_length - 2));
		}
		text->tokens[text->n_tokens++] = token;
		text->n += token.length ? token.length : 1;
	}
	deflate_spell(text);
}

static inline void deflate_free_text(struct deflate_text *text)
{
	free(text->bytes);
	free(text->tokens);
}

/* The symbol of a length or distance: the last whose smallest value is not above it. */
struct deflate_symbol {
	unsigned symbol, extra_bits, extra;
};

static inline struct deflate_symbol deflate_length(unsigned length)
{
	static const uint16_t first[] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31,
		35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint8_t bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
		4, 4, 4, 4, 5, 5, 5, 5, 0 };
	unsigned i = 28;
	while (first[i] > length)
		i--;
	return (struct deflate_symbol){ 257 + i, bits[i], length - first[i] };
}

static inline struct deflate_symbol deflate_distance(unsigned distance)
{
	static const uint16_t first[] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193,
		257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
	static const uint8_t bits[] = { 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8,
		9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };
	unsigned i = 29;
	while (first[i] > distance)
		i--;
	return (struct deflate_symbol){ i, bits[i], distance - first[i] };
}

/* A Huffman code. */
struct deflate_code {
	uint8_t lengths[320];
	uint16_t codes[320];
	unsigned n;
};

static inline void deflate_number(struct deflate_code *code)
{
	uint16_t n_of[16] = { 0 }, next[17] = { 0 };
	for (unsigned i = 0; i < code->n; i++)
		n_of[code->lengths[i]]++;
	for (unsigned bits = 1; bits <= 15; bits++)
		next[bits + 1] = (uint16_t)((next[bits] + n_of[bits]) << 1);
	for (unsigned i = 0; i < code->n; i++)
		if (code->lengths[i])
			code->codes[i] = next[code->lengths[i]]++;
}

/* A code that is used up for the symbols whose lengths are not 0, from a random tree. One symbol gets one bit. */
static inline void deflate_grow(struct deflate_code *code, uint64_t *seed, unsigned max_bits)
{
	uint8_t depths[320] = { 0 };
	unsigned n_used = 0, n = 1;
	for (unsigned i = 0; i < code->n; i++)
		n_used += code->lengths[i] != 0;
	depths[0] = n_used == 1;
	/* mostly the deepest leaf is split, or mostly any */
	bool deep = deflate_random(seed, 3) == 0;
	while (n < n_used) {
		unsigned at = deep && depths[n - 1] < max_bits ? n - 1 : deflate_random(seed, n);
		/* the tree must have room for all */
		if (depths[at] == max_bits)
			continue;
		depths[n++] = ++depths[at];
	}
	for (unsigned i = 0, left = n; i < code->n; i++) {
		if (!code->lengths[i])
			continue;
		unsigned at = deflate_random(seed, left);
		code->lengths[i] = depths[at];
		depths[at] = depths[--left];
	}
	deflate_number(code);
}

static inline void deflate_put(
        struct deflate_out *out, const struct deflate_code *code, unsigned symbol)
{
	for (unsigned i = code->lengths[symbol]; i-- > 0;)
		deflate_bits(out, code->codes[symbol] >> i & 1, 1);
}

static inline void deflate_put_tokens(struct deflate_out *out, const struct deflate_token *tokens,
        size_t n, const struct deflate_code *literals, const struct deflate_code *distances)
{
	for (size_t i = 0; i < n; i++) {
		if (!tokens[i].length) {
			deflate_put(out, literals, tokens[i].value);
			continue;
		}
		struct deflate_symbol s = deflate_length(tokens[i].length);
		deflate_put(out, literals, s.symbol);
		deflate_bits(out, s.extra, s.extra_bits);
		s = deflate_distance(tokens[i].value);
		deflate_put(out, distances, s.symbol);
		deflate_bits(out, s.extra, s.extra_bits);
	}
	deflate_put(out, literals, 256);
}

static inline void deflate_put_fixed(
        struct deflate_out *out, const struct deflate_token *tokens, size_t n)
{
	struct deflate_code literals = { .n = 288 }, distances = { .n = 32 };
	for (unsigned i = 0; i < 288; i++)
		literals.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	memset(distances.lengths, 5, 32);
	deflate_number(&literals);
	deflate_number(&distances);
	deflate_put_tokens(out, tokens, n, &literals, &distances);
}

/* The lengths of both codes as symbols: lengths, and at random how often the last one or 0 comes again. */
struct deflate_repeat {
	uint8_t symbol, extra;
};

static inline unsigned deflate_repeats(
        const uint8_t *lengths, unsigned n, uint64_t *seed, struct deflate_repeat *items)
{
	unsigned n_items = 0;
	for (unsigned i = 0; i < n;) {
		unsigned same = 1;
		while (i + same < n && lengths[i + same] == lengths[i])
			same++;
		bool again = i && lengths[i] == lengths[i - 1];
		if (!deflate_random(seed, 8) || same < 3 || (lengths[i] && !again)) {
			items[n_items++] = (struct deflate_repeat){ lengths[i++], 0 };
		} else if (!lengths[i] && same >= 11) {
			same = same < 138 ? same : 138;
			items[n_items++] = (struct deflate_repeat){ 18, (uint8_t)(same - 11) };
			i += same;
		} else {
			unsigned most = lengths[i] ? 6 : 10;
			same = same < most ? same : most;
			items[n_items++] = (struct deflate_repeat){ lengths[i] ? 16 : 17,
				(uint8_t)(same - 3) };
			i += same;
		}
	}
	return n_items;
}

static inline void deflate_put_codes(struct deflate_out *out, const struct deflate_code *literals,
        const struct deflate_code *distances, uint64_t *seed)
{
	static const uint8_t order[] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14,
		1, 15 };
	static const uint8_t extra_bits[] = { 2, 3, 7 };
	uint8_t lengths[320];
	struct deflate_repeat items[320];
	struct deflate_code code = { .n = 19 };
	memcpy(lengths, literals->lengths, literals->n);
	memcpy(lengths + literals->n, distances->lengths, distances->n);
	unsigned n_items = deflate_repeats(lengths, literals->n + distances->n, seed, items);
	for (unsigned i = 0; i < n_items; i++)
		code.lengths[items[i].symbol] = 1;
	code.lengths[0] = code.lengths[18] = 1; /* two at least */
	deflate_grow(&code, seed, 7);
	unsigned n = 19;
	while (n > 4 && !code.lengths[order[n - 1]])
		n--;
	deflate_bits(out, literals->n - 257, 5);
	deflate_bits(out, distances->n - 1, 5);
	deflate_bits(out, n - 4, 4);
	for (unsigned i = 0; i < n; i++)
		deflate_bits(out, code.lengths[order[i]], 3);
	for (unsigned i = 0; i < n_items; i++) {
		deflate_put(out, &code, items[i].symbol);
		if (items[i].symbol >= 16)
			deflate_bits(out, items[i].extra, extra_bits[items[i].symbol - 16]);
	}
}

static inline void deflate_put_dynamic(
        struct deflate_out *out, const struct deflate_token *tokens, size_t n, uint64_t *seed)
{
	struct deflate_code literals = { .n = 257 }, distances = { .n = 1 };
	literals.lengths[256] = literals.lengths[deflate_random(seed, 256)] = 1;
	for (size_t i = 0; i < n; i++) {
		unsigned symbol = tokens[i].value;
		if (tokens[i].length) {
			symbol = deflate_length(tokens[i].length).symbol;
			unsigned distance = deflate_distance(tokens[i].value).symbol;
			distances.lengths[distance] = 1;
			distances.n = distances.n > distance ? distances.n : distance + 1;
		}
		literals.lengths[symbol] = 1;
		literals.n = literals.n > symbol ? literals.n : symbol + 1;
	}
	deflate_grow(&literals, seed, 15);
	deflate_grow(&distances, seed, 15);
	deflate_put_codes(out, &literals, &distances, seed);
	deflate_put_tokens(out, tokens, n, &literals, &distances);
}

static inline void deflate_put_stored(struct deflate_out *out, const uint8_t *bytes, size_t n)
{
	deflate_align(out);
	deflate_bits(out, (uint32_t)n, 16);
	deflate_bits(out, (uint32_t)n ^ 0xffff, 16);
	for (size_t i = 0; i < n; i++)
		deflate_byte(out, bytes[i]);
}

/* How far a text is written. */
struct deflate_place {
	size_t i_token, i_byte;
};

/* One block of at most n tokens; a stored one is of as many bytes as fit. */
static inline void deflate_put_block(struct deflate_out *out, const struct deflate_text *text,
        struct deflate_place *at, enum deflate_blocks type, size_t n, uint64_t *seed)
{
	size_t n_bytes = 0, n_fit = 0, n_left = text->n_tokens - at->i_token;
	n = n < n_left ? n : n_left;
	for (; n_fit < n; n_fit++) {
		size_t length = text->tokens[at->i_token + n_fit].length;
		length = length ? length : 1;
		if (type == DEFLATE_STORED && n_bytes + length > 65535)
			break;
		n_bytes += length;
	}
	deflate_bits(out, n_fit == n_left, 1);
	deflate_bits(out, (uint32_t)type, 2);
	if (type == DEFLATE_STORED)
		deflate_put_stored(out, text->bytes + at->i_byte, n_bytes);
	else if (type == DEFLATE_FIXED)
		deflate_put_fixed(out, text->tokens + at->i_token, n_fit);
	else
		deflate_put_dynamic(out, text->tokens + at->i_token, n_fit, seed);
	at->i_token += n_fit;
	at->i_byte += n_bytes;
}

/* All of a text in blocks of per_block tokens each. */
static inline void deflate_put_text(struct deflate_out *out, const struct deflate_text *text,
        enum deflate_blocks kind, size_t per_block, uint64_t *seed)
{
	struct deflate_place at = { 0 };
	do {
		enum deflate_blocks type = kind;
		if (kind == DEFLATE_MIXED)
			type = (enum deflate_blocks)deflate_random(seed, 3);
		deflate_put_block(out, text, &at, type, per_block, seed);
	} while (at.i_token < text->n_tokens);
	deflate_align(out);
}

/* Four bits at a time: the remainders of all that they can be. */
static inline uint32_t deflate_crc(const uint8_t *bytes, size_t n)
{
	uint32_t remainders[16], crc = ~(uint32_t)0;
	for (uint32_t i = 0; i < 16; i++) {
		remainders[i] = i;
		for (int bit = 0; bit < 4; bit++)
			remainders[i] = remainders[i] >> 1 ^ (remainders[i] & 1 ? 0xedb88320u : 0);
	}
	for (size_t i = 0; i < n; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ remainders[crc & 15];
		crc = crc >> 4 ^ remainders[crc & 15];
	}
	return ~crc;
}

/* The header of a gzip member. The fields that the flags announce are written. */
static inline void deflate_put_header(struct deflate_out *out, uint8_t flags)
{
	const uint8_t header[] = { 0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3 };
	size_t first = out->n;
	for (size_t i = 0; i < sizeof header; i++)
		deflate_byte(out, header[i]);
	if (flags & 4) {
		deflate_bits(out, 6, 16);
		for (size_t i = 0; i < 6; i++)
			deflate_byte(out, (uint8_t)i);
	}
	for (uint8_t flag = 8; flag <= 16; flag *= 2)
		for (const char *c = "a name"; flags & flag && c; c = *c ? c + 1 : NULL)
			deflate_byte(out, (uint8_t)*c);
	if (flags & 2)
		deflate_bits(out, deflate_crc(out->bytes + first, out->n - first) & 0xffff, 16);
}

static inline void deflate_put_trailer(struct deflate_out *out, const struct deflate_text *text)
{
	uint32_t crc = deflate_crc(text->bytes, text->n);
	deflate_bits(out, crc & 0xffff, 16);
	deflate_bits(out, crc >> 16, 16);
	deflate_bits(out, (uint32_t)text->n & 0xffff, 16);
	deflate_bits(out, (uint32_t)text->n >> 16, 16);
}

static inline void deflate_put_member(struct deflate_out *out, const struct deflate_text *text,
        enum deflate_blocks kind, size_t per_block, uint8_t flags, uint64_t *seed)
{
	deflate_put_header(out, flags);
	deflate_put_text(out, text, kind, per_block, seed);
	deflate_put_trailer(out, text);
}

#endif
