/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string_pool.c - the strings of a table: each distinct text once, at an address that never changes.
 *
 * Open addressing over (tag, id) pairs: the tag is 32 bits of the hash, so a probe touches the text
 * only when it almost surely matches. A cell costs four bytes, a repeated text one hash.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "table/storage.h"
#include "base/utf8.h"

#include <string.h>

static bool push_text(ht_table *table, const char *text, size_t n)
{
	struct ht_table_pool_text entry = { text, n };
	return HT_VEC_PUSH(table->mem, &table->pool.texts, struct ht_table_pool_text, entry);
}

bool ht_table_pool_init(ht_table *table)
{
	return push_text(table, "", 0);
}

void ht_table_pool_done(ht_table *table)
{
	struct ht_table_pool *pool = &table->pool;
	ht_mem_free(table->mem, pool->slots, pool->n_slots * sizeof *pool->slots);
	ht_vec_free(table->mem, &pool->texts, sizeof(struct ht_table_pool_text));
}

static bool is_text(const ht_table *table, const struct ht_table_pool_slot *slot, uint32_t tag,
        const char *text, size_t n)
{
	const struct ht_table_pool_text *known = ht_table_pool_at(table, slot->id);
	return slot->tag == tag && known->n == n && !memcmp(known->text, text, n);
}

/* The slot of the text, or the free one where it belongs. */
static struct ht_table_pool_slot *probe(
        const ht_table *table, const char *text, size_t n, uint64_t hash)
{
	struct ht_table_pool_slot *slots = table->pool.slots;
	uint32_t tag = (uint32_t)(hash >> 32);
	return &slots[HT_PROBE(at, table->pool.n_slots, hash,
	        !slots[at].id || is_text(table, &slots[at], tag, text, n))];
}

static bool grow_slots(ht_table *table)
{
	struct ht_table_pool *pool = &table->pool;
	struct ht_table_pool_slot *old = pool->slots;
	size_t n_old = pool->n_slots, n_new = n_old ? n_old * 2 : 64;
	struct ht_table_pool_slot *slots = ht_mem_zalloc(table->mem, n_new * sizeof *slots);
	if (!slots)
		return false;
	pool->slots = slots;
	pool->n_slots = n_new;
	for (size_t i = 0; i < n_old; i++) {
		if (!old[i].id)
			continue;
		const struct ht_table_pool_text *known = ht_table_pool_at(table, old[i].id);
		uint64_t hash = ht_hash(known->text, known->n);
		*probe(table, known->text, known->n, hash) = old[i];
	}
	ht_mem_free(table->mem, old, n_old * sizeof *old);
	return true;
}

/* Adds a text that is not there. */
static bool insert(ht_table *table, const char *text, size_t n, uint64_t hash, uint32_t *ret_id)
{
	struct ht_table_pool *pool = &table->pool;
	if (pool->texts.n >= UINT32_MAX)
		return false;
	char *copy = ht_arena_strndup(&table->arena, text, n);
	if (!copy || !push_text(table, copy, n))
		return false;
	uint32_t id = (uint32_t)(pool->texts.n - 1);
	*probe(table, text, n, hash) = (struct ht_table_pool_slot){ (uint32_t)(hash >> 32), id };
	*ret_id = id;
	return true;
}

bool ht_table_pool_intern(ht_table *table, const char *text, size_t n, uint32_t *ret_id)
{
	struct ht_table_pool *pool = &table->pool;
	if (!n) {
		*ret_id = 0;
		return true;
	}
	if (pool->texts.n * 4 >= pool->n_slots * 3 && !grow_slots(table))
		return false;
	uint64_t hash = ht_hash(text, n);
	const struct ht_table_pool_slot *slot = probe(table, text, n, hash);
	if (slot->id) {
		*ret_id = slot->id;
		return true;
	}
	if (ht_utf8_valid(text, n))
		return insert(table, text, n, hash, ret_id);
	if (n > SIZE_MAX / 3)
		return false;
	char *valid = ht_mem_alloc(table->mem, 3 * n);
	if (!valid)
		return false;
	bool ok = ht_table_pool_intern(table, valid, ht_utf8_repair(text, n, valid), ret_id);
	ht_mem_free(table->mem, valid, 3 * n);
	return ok;
}

char *ht_table_copy_text(ht_table *table, const char *text, size_t n)
{
	if (ht_utf8_valid(text, n))
		return ht_arena_strndup(&table->arena, text, n);
	char *copy = n < SIZE_MAX / 3 ? ht_arena_alloc(&table->arena, 3 * n + 1) : NULL;
	if (copy)
		ht_utf8_repair(text, n, copy);
	return copy;
}
