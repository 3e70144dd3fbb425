/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_hash_avx2.c - the hash of a block with AVX2; the same value as everywhere, faster.
 *
 * Blocks are as long as the file that was mapped, and CPUs fetch ahead of themselves within a page only: it is asked
 * for a page ahead.
 */
#define XXH_PREFETCH_DIST 4096
#include "base/hash.h"
#include "store/cache_hash.h"

uint64_t ht_cache_hash_avx2(const void *bytes, size_t n)
{
	return ht_hash(bytes, n);
}
