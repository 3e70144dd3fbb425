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

/* Open addressing: the first place from that of the hash on for which stop is true. cap is a power of two, at the
 * index variable, stop an expression over it that is true for a free place at least. */
#define HT_PROBE(at, cap, hash, stop)                                                              \
	__extension__({                                                                            \
		size_t ht_mask_ = (cap)-1, ht_at_ = (size_t)(hash)&ht_mask_;                       \
		for (;; ht_at_ = (ht_at_ + 1) & ht_mask_) {                                        \
			size_t at = ht_at_;                                                        \
			if (stop)                                                                  \
				break;                                                             \
		}                                                                                  \
		ht_at_;                                                                            \
	})

#endif
