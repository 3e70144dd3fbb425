/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - stores as files that are mapped, so that opening again costs milliseconds.
 *
 *     struct ht_cache_key key;
 *     HT_TRY(ht_cache_key_make(ctx, path, options, whole, &key));       before the trace is read
 *     HT_TRY(ht_cache_load(ctx, dir, &key, kind, store, &map, &hit));
 *     if (!hit) { ... read ...; HT_TRY(ht_cache_store(ctx, dir, &key, kind, store, cap, &stored)); }
 *
 * The cache can only help: a file that is missing, stale, foreign, cut or damaged is a miss, and a disk
 * that is full or read-only means nothing is stored; neither is an error. What is answered besides
 * HT_OK is HT_NOMEM, HT_LIMIT or HT_CANCELLED.
 */
#ifndef HT_STORE_CACHE_H
#define HT_STORE_CACHE_H

#include "base/map.h"
#include "store/cache_key.h"
#include "store/sections.h"

/* On a hit the sections of the store point into the map, which the caller closes after use; else they are
 * empty. */
enum ht_status ht_cache_load(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, void *store, struct ht_map *ret_map,
        bool *ret_hit) HT_MUST_USE;

/* The first section of the file that fits the key, where it is a small one: read by itself, so whether it is right is
 * for the caller to tell. Empty when there is none. In the arena. */
enum ht_status ht_cache_peek(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, struct ht_arena *arena,
        struct ht_section *ret_section) HT_MUST_USE;

/* Write the store, after files used longest ago were removed so that the directory holds at most max_bytes. What was
 * stored or used since the context was made stays; when that leaves no room, nothing is stored any more. Neither is
 * anything when the source file has changed since the key was made. */
enum ht_status ht_cache_store(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, const void *store, uint64_t max_bytes,
        bool *ret_stored) HT_MUST_USE;

#endif
