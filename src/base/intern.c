/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - see intern.h.
 */
#include "base/intern.h"

#include "base/mem.h"

static bool table_grow(struct ht_mem *mem, struct ht_text_table *table)
{
	size_t cap = table->cap ? table->cap * 2 : 256;
	struct ht_text *slots = ht_mem_zalloc(mem, cap * sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < table->cap; i++) {
		if (!table->slots[i].bytes)
			continue;
		slots[HT_PROBE(at, cap, table->slots[i].hash, !slots[at].bytes)] = table->slots[i];
	}
	ht_mem_free(mem, table->slots, table->cap * sizeof *slots);
	table->slots = slots;
	table->cap = cap;
	return true;
}

bool ht_text_table_put(struct ht_mem *mem, struct ht_text_table *table, const struct ht_text *text)
{
	if (table->n * 2 >= table->cap && !table_grow(mem, table))
		return false;
	table->slots[HT_PROBE(at, table->cap, text->hash, !table->slots[at].bytes)] = *text;
	table->n++;
	return true;
}

void ht_pool_init(struct ht_pool *pool, struct ht_mem *mem)
{
	*pool = (struct ht_pool){ .mem = mem };
	pthread_mutex_init(&pool->lock, NULL);
	ht_arena_init(&pool->arena, mem);
}

void ht_pool_done(struct ht_pool *pool)
{
	if (!pool->mem)
		return;
	pthread_mutex_destroy(&pool->lock);
	ht_arena_done(&pool->arena);
	ht_mem_free(pool->mem, pool->slots, pool->n_slots * sizeof *pool->slots);
	ht_vec_free(pool->mem, &pool->texts, sizeof(struct ht_text));
}

/* The low bits of a hash choose the slot, the high ones are compared. */
static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* Room for one more text in at most half of the slots. */
static bool pool_reserve(struct ht_pool *pool)
{
	const struct ht_text *texts = pool->texts.data;
	if (pool->texts.n * 2 < pool->n_slots)
		return true;
	size_t n_slots = pool->n_slots ? pool->n_slots * 2 : 256;
	struct ht_pool_slot *slots = ht_mem_zalloc(pool->mem, n_slots * sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < pool->texts.n; i++)
		slots[HT_PROBE(at, n_slots, texts[i].hash, !slots[at].id_1)] =
		        (struct ht_pool_slot){ tag_of(texts[i].hash), (uint32_t)i + 1 };
	ht_mem_free(pool->mem, pool->slots, pool->n_slots * sizeof *slots);
	pool->slots = slots;
	pool->n_slots = n_slots;
	return true;
}

/* The slot of a text, or the one where it belongs. */
static struct ht_pool_slot *slot_of(
        const struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash)
{
	const struct ht_pool_slot *slots = pool->slots;
	const struct ht_text *texts = pool->texts.data;
	uint32_t tag = tag_of(hash);
	return &pool->slots[HT_PROBE(at, pool->n_slots, hash,
	        !slots[at].id_1 ||
	                (slots[at].tag == tag && texts[slots[at].id_1 - 1].hash == hash &&
	                        texts[slots[at].id_1 - 1].n == n &&
	                        (!n || !memcmp(texts[slots[at].id_1 - 1].bytes, bytes, n))))];
}

const struct ht_text *ht_pool_find(
        const struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash)
{
	const struct ht_pool_slot *slot = pool->n_slots ? slot_of(pool, bytes, n, hash) : NULL;
	return slot && slot->id_1 ? (const struct ht_text *)pool->texts.data + slot->id_1 - 1
	                          : NULL;
}

static bool pool_insert(
        struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash, struct ht_text *ret_text)
{
	if (!pool_reserve(pool))
		return false;
	struct ht_pool_slot *slot = slot_of(pool, bytes, n, hash);
	if (slot->id_1) {
		*ret_text = ((struct ht_text *)pool->texts.data)[slot->id_1 - 1];
		return true;
	}
	if (pool->texts.n >= UINT32_MAX - 1 || n >= UINT32_MAX)
		return false;
	char *copy = ht_arena_strndup(&pool->arena, bytes, n);
	if (!copy)
		return false;
	struct ht_text text = { copy, hash, (uint32_t)n, (uint32_t)pool->texts.n };
	if (!HT_VEC_PUSH(pool->mem, &pool->texts, struct ht_text, text))
		return false;
	*slot = (struct ht_pool_slot){ tag_of(hash), text.id + 1 };
	pool->n_bytes += n + 1;
	*ret_text = text;
	return true;
}

bool ht_pool_add(
        struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash, struct ht_text *ret_text)
{
	pthread_mutex_lock(&pool->lock);
	bool ok = pool_insert(pool, bytes, n, hash, ret_text);
	pthread_mutex_unlock(&pool->lock);
	return ok;
}

void ht_intern_done(struct ht_intern *intern)
{
	if (intern->pool)
		ht_mem_free(intern->pool->mem, intern->table.slots,
		        intern->table.cap * sizeof(struct ht_text));
	intern->table = (struct ht_text_table){ 0 };
}

bool ht_intern_add(
        struct ht_intern *intern, const char *bytes, size_t n, uint64_t hash, uint32_t *ret_id)
{
	struct ht_text text;
	if (!ht_pool_add(intern->pool, bytes, n, hash, &text) ||
	        !ht_text_table_put(intern->pool->mem, &intern->table, &text))
		return false;
	*ret_id = text.id;
	return true;
}
