/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_text.c - strings and values of execution traces: where they end, what they say, known damage undone.
 *
 * PyTorch's observer writes each byte from 0x80 on of a string as \uffffffXX on CPUs whose char is signed; these
 * bytes are put back. Other oddities are kept as they are and counted.
 */
#include "et/et_reader.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/text_compare.h"
#include "json/block_base.h"
#include "json/json_text.h"

#include <string.h>

/* Objects where only scalars are expected are not followed further than this. */
#define MAX_OBJECT_BYTES ((size_t)64 << 10)

/* ASCII without zero bytes; eight at a time, of which a zero borrows from what is above it. */
static bool is_plain(const char *text, size_t n)
{
	uint64_t odd = 0, word;
	for (; n >= sizeof word; text += sizeof word, n -= sizeof word) {
		memcpy(&word, text, sizeof word);
		odd |= word | ((word - 0x0101010101010101u) & ~word);
	}
	for (; n; n--, text++)
		odd |= (uint64_t)(unsigned char)*text | (*text ? 0 : 0x80);
	return !(odd & 0x8080808080808080u);
}

static bool is_utf8(const char *text, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = ht_utf8_length(text + i, n - i);
		if (!length)
			return false;
	}
	return true;
}

/* What is no UTF-8, or would end a text, becomes U+FFFD and is counted. */
static bool intern_repaired(struct ht_et *et, const char *text, size_t n, uint32_t *ret_id)
{
	char *copy = ht_mem_alloc(et->mem, 3 * n);
	size_t n_copy = 0;
	if (!copy)
		return false;
	et->stats[HT_ET_STAT_odd_text].count++;
	for (size_t i = 0; i < n;) {
		size_t length = text[i] ? ht_utf8_length(text + i, n - i) : 0;
		memcpy(copy + n_copy, length ? text + i : "\xef\xbf\xbd", length ? length : 3);
		n_copy += length ? length : 3;
		i += length ? length : 1;
	}
	bool ok = ht_et_intern(et, copy, n_copy, ret_id);
	ht_mem_free(et->mem, copy, 3 * n);
	return ok;
}

static bool intern_hashed(
        struct ht_et *et, const char *text, size_t n, uint64_t hash, uint32_t *ret_id)
{
	struct ht_text added;
	/* one thread reads a file; what is in the pool is known to be in order */
	const struct ht_text *known = ht_pool_find(&et->pool, text, n, hash);
	if (known) {
		*ret_id = known->id;
		return true;
	}
	if (!is_plain(text, n) && (memchr(text, 0, n) || !is_utf8(text, n)))
		return intern_repaired(et, text, n, ret_id);
	if (!ht_pool_add(&et->pool, text, n, hash, &added))
		return false;
	*ret_id = added.id;
	return true;
}

bool ht_et_intern(struct ht_et *et, const char *text, size_t n, uint32_t *ret_id)
{
	return intern_hashed(et, text, n, ht_hash(text, n), ret_id);
}

const char *ht_et_string_end(struct ht_et_reader *r, const char *p, unsigned *ret_traits)
{
	for (p++;;) {
		p = ht_string_stop(p);
		if (*p == '"')
			return p + 1;
		if (p >= r->end)
			return ht_et_give_up(r, r->end);
		if (*p == '\\') {
			*ret_traits |= HT_ET_ESCAPED;
			p++;
			if (p >= r->end)
				return ht_et_give_up(r, r->end);
		} else if ((unsigned char)*p < ' ') {
			*ret_traits |= HT_ET_CONTROLS;
		}
		p++;
		while ((unsigned char)*p >= 0x80)
			p++;
	}
}

/* Without a way out of the loop, so that it runs over many bytes at once. */
unsigned ht_et_raw_traits(const char *body, size_t n)
{
	unsigned found = 0;
	for (size_t i = 0; i < n; i++)
		found |= (unsigned char)body[i] < ' ';
	return found ? HT_ET_CONTROLS : 0;
}

enum { PLAIN, QUOTE, OPEN, CLOSE, OBJECT, ZERO };
static const uint8_t classes[256] = { ['"'] = QUOTE,
	['['] = OPEN,
	[']'] = CLOSE,
	['{'] = OBJECT,
	['}'] = OBJECT,
	[':'] = OBJECT,
	[0] = ZERO };

/* Behind the array at p, which holds no objects, byte by byte. */
static const char *array_end_slow(
        struct ht_et_reader *r, const char *p, unsigned *ret_traits, bool *ret_bad)
{
	size_t depth = 0;
	for (;;) {
		while (!classes[(unsigned char)*p])
			p++;
		switch (classes[(unsigned char)*p]) {
		case QUOTE:
			p = ht_et_string_end(r, p, ret_traits);
			if (!p)
				return NULL;
			break;
		case OPEN:
			depth++;
			p++;
			break;
		case CLOSE:
			p++;
			if (!--depth)
				return p;
			break;
		default: *ret_bad = p != r->end; return ht_et_give_up(r, p);
		}
	}
}

#ifdef HT_BRACKETS
/* The same by blocks. What makes an array unusual before its end, in or outside of strings, is left to the slow
 * way. */
static const char *array_end(
        struct ht_et_reader *r, const char *start, unsigned *ret_traits, bool *ret_bad)
{
	uint32_t carry = 0; /* all ones: the block begins inside a string */
	size_t depth = 0;
	for (const char *p = start;; p += HT_BRACKETS) {
		struct ht_brackets block = ht_brackets_read(p);
		uint32_t strings = ht_prefix_xor(block.quotes) ^ carry;
		uint32_t odd = block.stops | (block.objects & ~strings);
		uint32_t usual = odd ? (odd & -odd) - 1 : UINT32_MAX;
		uint32_t brackets = (block.opens | block.closes) & ~strings & usual;
		for (; brackets; brackets &= brackets - 1) {
			uint32_t bit = brackets & -brackets;
			depth += block.opens & bit ? 1 : (size_t)-1;
			if (!depth)
				return p + __builtin_ctz(bit) + 1;
		}
		if (odd)
			return array_end_slow(r, start, ret_traits, ret_bad);
		carry = 0 - (strings >> 31);
	}
}
#else
#define array_end array_end_slow
#endif

static const char *object_end(
        struct ht_et_reader *r, const char *p, unsigned *ret_traits, bool *ret_bad)
{
	const char *start = p;
	size_t depth = 0;
	while (p < r->end && (size_t)(p - start) < MAX_OBJECT_BYTES) {
		if (*p == '"') {
			p = ht_et_string_end(r, p, ret_traits);
			if (!p)
				return NULL;
			continue;
		}
		depth += *p == '{' || *p == '[';
		if (*p == '}' || *p == ']')
			depth--;
		*ret_bad = !*p;
		if (*ret_bad)
			return ht_et_give_up(r, p);
		p++;
		if (!depth)
			return p;
	}
	*ret_bad = p < r->end;
	return ht_et_give_up(r, p);
}

const char *ht_et_value_end(
        struct ht_et_reader *r, const char *p, unsigned *ret_traits, bool *ret_bad)
{
	if (*p == '"')
		return ht_et_string_end(r, p, ret_traits);
	if (*p == '[')
		return array_end(r, p, ret_traits, ret_bad);
	if (*p == '{')
		return object_end(r, p, ret_traits, ret_bad);
	const char *start = p;
	while (*p && *p != ',' && *p != '}' && *p != ']' && (unsigned char)*p > ' ' && *p != '"')
		p++;
	if (!*p && p == r->end)
		return NULL;
	*ret_bad = p == start || !*p;
	return *ret_bad ? NULL : p;
}

/* ---- known damage ---- */

/* The byte that \uffffffXX at p stands for, or -1. */
static int mangled_byte(const char *p, size_t n)
{
	if (n < 10 || p[1] != 'u')
		return -1;
	for (int i = 2; i < 8; i++)
		if ((p[i] | 0x20) != 'f')
			return -1;
	int high = ht_hex_digit(p[8]), low = ht_hex_digit(p[9]);
	return high < 8 || low < 0 ? -1 : high * 16 + low;
}

/* Text with mangled bytes put back into the scratch; 0 when there are none. What is no UTF-8 then becomes U+FFFD. */
static bool unmangle(struct ht_et_reader *r, const char *text, size_t n, size_t *ret_n)
{
	size_t n_bytes = 0;
	*ret_n = 0;
	if (!memmem(text, n, "\\uffffff", 8) && !memmem(text, n, "\\uFFFFFF", 8))
		return true;
	r->scratch.n = 0;
	/* a byte may become three, and three more are room for decoding */
	if (!ht_vec_reserve(r->ctx->mem, &r->scratch, 1, 6 * n + 1))
		return false;
	char *out = r->scratch.data, *bytes = out + 3 * n;
	size_t n_raw = 0;
	for (size_t i = 0; i < n;) {
		int byte = text[i] == '\\' ? mangled_byte(text + i, n - i) : -1;
		if (byte >= 0) {
			bytes[n_raw++] = (char)byte;
			n_bytes++;
			i += 10;
			continue;
		}
		if (text[i] == '\\' && i + 1 < n)
			bytes[n_raw++] = text[i++];
		bytes[n_raw++] = text[i++];
	}
	if (!n_bytes)
		return true;
	ht_et_count(r, HT_ET_STAT_mangled_bytes, n_bytes, text);
	size_t n_out = 0;
	for (size_t i = 0; i < n_raw;) {
		size_t length = ht_utf8_length(bytes + i, n_raw - i);
		if (length)
			memcpy(out + n_out, bytes + i, length);
		else
			memcpy(out + n_out, "\xef\xbf\xbd", 3);
		n_out += length ? length : 3;
		i += length ? length : 1;
	}
	*ret_n = n_out;
	return true;
}

/* The same, with the place in the file of a text that is no UTF-8. */
static bool intern_at(struct ht_et_reader *r, const char *text, size_t n, uint64_t hash,
        const char *at, uint32_t *ret_id)
{
	struct ht_et_stat *odd = &r->et->stats[HT_ET_STAT_odd_text];
	bool is_first = !odd->count, ok = intern_hashed(r->et, text, n, hash, ret_id);
	if (is_first && odd->count)
		odd->first_offset = r->base + (at - r->text);
	return ok;
}

bool ht_et_intern_json(
        struct ht_et_reader *r, const char *text, size_t n, unsigned traits, uint32_t *ret_id)
{
	size_t n_repaired = 0;
	if (traits & HT_ET_ESCAPED && !unmangle(r, text, n, &n_repaired))
		return false;
	if (n_repaired)
		return ht_et_intern(r->et, r->scratch.data, n_repaired, ret_id);
	return intern_at(r, text, n, ht_hash(text, n), text, ret_id);
}

bool ht_et_intern_array(
        struct ht_et_reader *r, const char *text, size_t n, uint64_t hash, uint32_t *ret_id)
{
	return intern_at(r, text, n, hash, text, ret_id);
}

bool ht_et_intern_string(
        struct ht_et_reader *r, const char *body, size_t n, unsigned traits, uint32_t *ret_id)
{
	size_t n_repaired = 0, n_bad;
	if (traits & HT_ET_CONTROLS)
		ht_et_count(r, HT_ET_STAT_odd_text, 1, body);
	if (!(traits & HT_ET_ESCAPED))
		return intern_at(r, body, n, ht_hash(body, n), body, ret_id);
	if (!unmangle(r, body, n, &n_repaired))
		return false;
	if (!n_repaired) {
		r->scratch.n = 0;
		if (!ht_vec_reserve(r->ctx->mem, &r->scratch, 1, 6 * n + 1))
			return false;
		memcpy(r->scratch.data, body, n);
		n_repaired = n;
	}
	char *out = (char *)r->scratch.data + 3 * n;
	size_t n_out = ht_json_decode(r->scratch.data, n_repaired, out, &n_bad);
	if (n_bad)
		ht_et_count(r, HT_ET_STAT_odd_text, 1, body);
	return intern_at(r, out, n_out, ht_hash(out, n_out), body, ret_id);
}
