/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - plain data as bytes and back: little endian, lengths before contents, every read checked.
 *
 * Neither side checks each call: a writer that ran out of memory and a reader that ran out of bytes remember it
 * in `failed`, and further calls do nothing and answer 0.
 */
#ifndef HT_BASE_BYTES_H
#define HT_BASE_BYTES_H

#include "base/arena.h"
#include "base/vec.h"

struct ht_bytes_out {
	struct ht_mem *mem;
	struct ht_vec bytes; /* char */
	bool failed;
};

void ht_bytes_put(struct ht_bytes_out *out, const void *bytes, size_t n);
void ht_bytes_put_u64(struct ht_bytes_out *out, uint64_t value);
void ht_bytes_put_i64(struct ht_bytes_out *out, int64_t value);
/* n values of 4 or 8 bytes each. */
void ht_bytes_put_words(struct ht_bytes_out *out, const void *words, size_t n, size_t word_bytes);
/* NULL and "" are told apart. */
void ht_bytes_put_str(struct ht_bytes_out *out, const char *text);
void ht_bytes_put_strn(struct ht_bytes_out *out, const char *text, size_t n);

struct ht_bytes_in {
	const unsigned char *at;
	size_t n; /* left */
	bool failed;
};

/* The next n bytes, NULL when there are fewer. */
const void *ht_bytes_get(struct ht_bytes_in *in, size_t n);
uint64_t ht_bytes_get_u64(struct ht_bytes_in *in);
int64_t ht_bytes_get_i64(struct ht_bytes_in *in);
/* A number of things that take at least each_bytes: fails when there cannot be so many. */
size_t ht_bytes_get_count(struct ht_bytes_in *in, size_t each_bytes);
void ht_bytes_get_words(struct ht_bytes_in *in, void *words, size_t n, size_t word_bytes);
/* Text in the arena, NULL where NULL was put; failed when out of memory. */
const char *ht_bytes_get_str(struct ht_bytes_in *in, struct ht_arena *arena);
/* Text in place, not ended by NUL; NULL where NULL was put. */
const char *ht_bytes_get_strn(struct ht_bytes_in *in, size_t *ret_n);

#endif
