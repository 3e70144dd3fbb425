/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - one hash function for everything (XXH3, inlined).
 */
#ifndef HT_BASE_HASH_H
#define HT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t ht_hash(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

static inline uint64_t ht_hash_u64(uint64_t a)
{
	a ^= a >> 32;
	a *= 0x9E3779B97F4A7C15u;
	a ^= a >> 29;
	a *= 0xBF58476D1CE4E5B9u;
	return a ^ a >> 32;
}

static inline uint64_t ht_hash_mix(uint64_t a, uint64_t b)
{
	return ht_hash_u64(a ^ (b * 0x9E3779B97F4A7C15u + 0x7F4A7C15u));
}

/* Random, and another for each process. */
extern uint64_t ht_hash_salt;

/* Where a hash, or a number that is a key, belongs in a table: nobody who does not know the salt can write names or numbers that all meet in one place. */
static inline size_t ht_hash_place(uint64_t hash, uint64_t salt)
{
	hash ^= salt;
	hash ^= hash >> 32;
	hash *= salt << 32 | salt >> 32 | 1;
	hash ^= hash >> 29;
	hash *= 0xBF58476D1CE4E5B9u;
	return (size_t)(hash ^ hash >> 32);
}

/* Open addressing: the first place from a given one on for which stop is true. cap is a power of two, at the
 * index variable, stop an expression over it that is true for a free place at least. */
#define HT_PROBE_FROM(at, cap, place, stop)                                                        \
	__extension__({                                                                            \
		size_t ht_mask_ = (cap)-1, ht_at_ = (place)&ht_mask_;                              \
		for (;; ht_at_ = (ht_at_ + 1) & ht_mask_) {                                        \
			size_t at = ht_at_;                                                        \
			if (stop)                                                                  \
				break;                                                             \
		}                                                                                  \
		ht_at_;                                                                            \
	})

/* The same from the place of a hash or a number on, in a table of this process. */
#define HT_PROBE(at, cap, hash, stop)                                                              \
	HT_PROBE_FROM(at, cap, ht_hash_place(hash, ht_hash_salt), stop)

#endif
