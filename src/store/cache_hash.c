/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_hash.c - see cache_hash.h.
 */
#include "store/cache_hash.h"

#include "base/cpu.h"
#include "base/hash.h"

uint64_t ht_cache_hash(const void *bytes, size_t n)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return ht_cache_hash_avx2(bytes, n);
#endif
	return ht_hash(bytes, n);
}
