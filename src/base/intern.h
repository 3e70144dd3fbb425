/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - texts to 32-bit ids, shared by the threads that read one file.
 *
 *   worker ─► local table (no lock) ── miss ──► pool (one lock): hash table + texts in an arena
 *
 * An id is the position in order of first insertion, so it depends on timing: nothing that leaves the
 * library may depend on the value of an id, only on its text. Texts never move.
 */
#ifndef HT_BASE_INTERN_H
#define HT_BASE_INTERN_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

#include <pthread.h>
#include <string.h>

struct ht_text {
	const char *bytes;
	uint64_t hash;
	uint32_t n;
	uint32_t id;
};

/* Open addressing over texts, for the tables of workers. */
struct ht_text_table {
	struct ht_text *slots; /* bytes NULL: free */
	size_t cap, n;
};

/* Append to a table; the text must not be in it. False when out of memory. */
bool ht_text_table_put(struct ht_mem *mem, struct ht_text_table *table, const struct ht_text *text);
/* The slot of a text, or NULL. */
static inline struct ht_text *ht_text_table_find(
        const struct ht_text_table *t, const char *bytes, size_t n, uint64_t hash)
{
	if (!t->cap)
		return NULL;
	struct ht_text *slot = &t->slots[HT_PROBE(at, t->cap, hash,
	        !t->slots[at].bytes || (t->slots[at].hash == hash && t->slots[at].n == n &&
	                                       (!n || memcmp(t->slots[at].bytes, bytes, n) == 0)))];
	return slot->bytes ? slot : NULL;
}

/* Where a text of a pool is: part of its hash, and its id. */
struct ht_pool_slot {
	uint32_t tag;
	uint32_t id_1; /* id + 1; 0: free */
};

struct ht_pool {
	struct ht_mem *mem;
	pthread_mutex_t lock;
	struct ht_arena arena;
	struct ht_pool_slot
	        *slots;      /* small: a pool has all texts of a file, workers those they use */
	size_t n_slots;      /* a power of two, or 0 */
	struct ht_vec texts; /* struct ht_text by id */
	uint64_t n_bytes;
};

void ht_pool_init(struct ht_pool *pool, struct ht_mem *mem);
void ht_pool_done(struct ht_pool *pool);
/* Id of the text, inserted when new. False when out of memory. Thread-safe. */
bool ht_pool_add(
        struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash, struct ht_text *ret_text);

/* Ask for the place of a text ahead of time: in a large pool it is not in a cache. */
static inline void ht_pool_prefetch(const struct ht_pool *pool, uint64_t hash)
{
	if (pool->n_slots)
		__builtin_prefetch(
		        &pool->slots[ht_hash_place(hash, ht_hash_salt) & (pool->n_slots - 1)]);
}

/* The text of a pool that nobody adds to any more; NULL: it has none. */
const struct ht_text *ht_pool_find(
        const struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash);

/* A worker's view of the pool. */
struct ht_intern {
	struct ht_pool *pool;
	struct ht_text_table table;
};

void ht_intern_done(struct ht_intern *intern);
/* The text if this worker has seen it, else NULL. */
static inline const struct ht_text *ht_intern_find(
        const struct ht_intern *intern, const char *bytes, size_t n, uint64_t hash)
{
	return ht_text_table_find(&intern->table, bytes, n, hash);
}
/* Insert into pool and local table. False when out of memory. */
bool ht_intern_add(
        struct ht_intern *intern, const char *bytes, size_t n, uint64_t hash, uint32_t *ret_id);

static inline bool ht_intern(
        struct ht_intern *intern, const char *bytes, size_t n, uint32_t *ret_id)
{
	uint64_t hash = ht_hash(bytes, n);
	const struct ht_text *text = ht_intern_find(intern, bytes, n, hash);
	if (text) {
		*ret_id = text->id;
		return true;
	}
	return ht_intern_add(intern, bytes, n, hash, ret_id);
}

#endif
