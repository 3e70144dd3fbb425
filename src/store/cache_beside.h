/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_beside.h - what was found out about a cached trace, as files beside it.
 *
 * They count for the size of the cache like traces, and go when their trace goes. What the bytes are, and whether they
 * are of the state of the file that the trace is of, is the caller's to tell: nothing is believed of them here.
 */
#ifndef HT_STORE_CACHE_BESIDE_H
#define HT_STORE_CACHE_BESIDE_H

#include "base/vec.h"
#include "store/cache_key.h"

/* The bytes that were kept under a name, which the caller frees (elements of one byte); false: there are none. */
bool ht_cache_beside_read(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, struct ht_vec *ret_bytes);
/* Whether what was kept under a name begins with some bytes. */
bool ht_cache_beside_begins(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, const struct ht_vec *front);
/* Keep bytes under a name, in place of what was there. That it cannot be is no failure. */
void ht_cache_beside_write(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, const struct ht_vec *bytes);

#endif
