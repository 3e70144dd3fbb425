/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - see bytes.h.
 */
#include "base/bytes.h"

#include <string.h>

/* Stands before a text that is NULL. */
#define NO_TEXT UINT64_MAX

void ht_bytes_put(struct ht_bytes_out *out, const void *bytes, size_t n)
{
	if (out->failed || !n)
		return;
	if (!ht_vec_reserve(out->mem, &out->bytes, 1, n)) {
		out->failed = true;
		return;
	}
	memcpy((char *)out->bytes.data + out->bytes.n, bytes, n);
	out->bytes.n += n;
}

void ht_bytes_put_u64(struct ht_bytes_out *out, uint64_t value)
{
	unsigned char bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	ht_bytes_put(out, bytes, sizeof bytes);
}

void ht_bytes_put_i64(struct ht_bytes_out *out, int64_t value)
{
	ht_bytes_put_u64(out, (uint64_t)value);
}

/* Turns words between this machine's order and little endian. */
static void swap_words(void *words, size_t n, size_t word_bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t i = 0; i < n; i++) {
		if (word_bytes == 8)
			((uint64_t *)words)[i] = __builtin_bswap64(((uint64_t *)words)[i]);
		else if (word_bytes == 4)
			((uint32_t *)words)[i] = __builtin_bswap32(((uint32_t *)words)[i]);
	}
#else
	(void)words;
	(void)n;
	(void)word_bytes;
#endif
}

void ht_bytes_put_words(struct ht_bytes_out *out, const void *words, size_t n, size_t word_bytes)
{
	size_t before = out->bytes.n;
	ht_bytes_put(out, words, n * word_bytes);
	if (!out->failed)
		swap_words((char *)out->bytes.data + before, n, word_bytes);
}

void ht_bytes_put_strn(struct ht_bytes_out *out, const char *text, size_t n)
{
	ht_bytes_put_u64(out, text ? n : NO_TEXT);
	if (text)
		ht_bytes_put(out, text, n);
}

void ht_bytes_put_str(struct ht_bytes_out *out, const char *text)
{
	ht_bytes_put_strn(out, text, text ? strlen(text) : 0);
}

const void *ht_bytes_get(struct ht_bytes_in *in, size_t n)
{
	if (in->failed || n > in->n) {
		in->failed = true;
		return NULL;
	}
	const void *bytes = in->at;
	in->at += n;
	in->n -= n;
	return bytes;
}

uint64_t ht_bytes_get_u64(struct ht_bytes_in *in)
{
	const unsigned char *bytes = ht_bytes_get(in, 8);
	uint64_t value = 0;
	for (int i = 0; bytes && i < 8; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

int64_t ht_bytes_get_i64(struct ht_bytes_in *in)
{
	return (int64_t)ht_bytes_get_u64(in);
}

size_t ht_bytes_get_count(struct ht_bytes_in *in, size_t each_bytes)
{
	uint64_t n = ht_bytes_get_u64(in);
	if (n > in->n / (each_bytes ? each_bytes : 1)) {
		in->failed = true;
		return 0;
	}
	return (size_t)n;
}

void ht_bytes_get_words(struct ht_bytes_in *in, void *words, size_t n, size_t word_bytes)
{
	const void *bytes = n > SIZE_MAX / word_bytes ? NULL : ht_bytes_get(in, n * word_bytes);
	if (!bytes) {
		in->failed = true;
		return;
	}
	memcpy(words, bytes, n * word_bytes);
	swap_words(words, n, word_bytes);
}

const char *ht_bytes_get_strn(struct ht_bytes_in *in, size_t *ret_n)
{
	uint64_t n = ht_bytes_get_u64(in);
	*ret_n = 0;
	if (in->failed || n == NO_TEXT)
		return NULL;
	if (n > in->n) {
		in->failed = true;
		return NULL;
	}
	*ret_n = (size_t)n;
	return ht_bytes_get(in, (size_t)n);
}

const char *ht_bytes_get_str(struct ht_bytes_in *in, struct ht_arena *arena)
{
	size_t n;
	const char *bytes = ht_bytes_get_strn(in, &n);
	if (!bytes)
		return NULL;
	const char *text = ht_arena_strndup(arena, bytes, n);
	in->failed |= !text;
	return text;
}
