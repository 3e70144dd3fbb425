/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_hash.h - the hash of a part of a cache file, or of the file that it stands for.
 */
#ifndef HT_STORE_CACHE_HASH_H
#define HT_STORE_CACHE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hash of a part, with the best instructions of this CPU. */
uint64_t ht_cache_hash(const void *bytes, size_t n);
uint64_t ht_cache_hash_avx2(const void *bytes, size_t n);

#endif
