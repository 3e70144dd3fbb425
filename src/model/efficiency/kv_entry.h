/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_entry.h - how large the KV entry of a token is, by the operators that write the cache.
 *
 *     _C_cache_ops::reshape_and_cache_flash   [[32, 8, 64], [32, 8, 64], [224304, 32, 8, 64], [224304, 32, 8, 64], ...], bf16
 *     keys and values of 32 tokens ───────────┘             └─ caches of both, whose last sizes are those of a token
 *     8 x 64 elements of 2 bytes, twice: 2,048 bytes for a token and layer; 24 such calls in an iteration: 49,152 bytes
 *
 * Taken are operators named ...cache... or ...kv_buffer... with these four inputs; of graph launches those of the recording. An iteration calls one
 * per layer, so that the entry is the sum over an iteration. Where iterations differ, where sizes are not recorded, and for caches of
 * another form (compressed ones, as MLA has) it is not known. Of a rank that has a part of the heads it is that part.
 */
#ifndef HT_MODEL_EFFICIENCY_KV_ENTRY_H
#define HT_MODEL_EFFICIENCY_KV_ENTRY_H

#include "model/run.h"
#include "model/serving/engine_iterations.h"

/* Bytes of the entry over all layers of the rank in hand, -1: not known. */
enum ht_status ht_kv_entry_find(struct ht_run *run, const struct ht_iteration *list, size_t n,
        int64_t *ret_bytes) HT_MUST_USE;

#endif
