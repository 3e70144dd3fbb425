/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memo.c - see memo.h. A set of thousands of ranks has an entry for each: they are found by hash.
 */
#include "base/memo.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/status.h"

struct ht_memo_entry {
	struct ht_memo_entry *older; /* of those with the same place */
	struct ht_memo_key key;
	struct ht_arena arena; /* owns the value, and this entry */
	const void *value;
};

void ht_memo_init(struct ht_memo *memo, struct ht_mem *mem)
{
	*memo = (struct ht_memo){ .mem = mem };
	pthread_mutex_init(&memo->lock, NULL);
}

static size_t n_slots(const struct ht_memo *memo)
{
	return memo->slots ? memo->n_slots : HT_COUNT(memo->few);
}

static struct ht_memo_entry **slots_of(struct ht_memo *memo)
{
	return memo->slots ? memo->slots : memo->few;
}

void ht_memo_done(struct ht_memo *memo)
{
	for (size_t i = 0; i < n_slots(memo); i++)
		for (struct ht_memo_entry *e = slots_of(memo)[i], *older; e; e = older) {
			struct ht_arena arena = e->arena;
			older = e->older;
			ht_arena_done(&arena);
		}
	if (memo->slots)
		ht_mem_free(memo->mem, memo->slots, memo->n_slots * sizeof(void *));
	pthread_mutex_destroy(&memo->lock);
}

/* A number of slots is a power of two. */
static size_t place_of(const struct ht_memo_key *key, size_t n)
{
	uint64_t hash = ht_hash_mix(ht_hash_u64(key->of), (uintptr_t)key->kind);
	return (size_t)ht_hash_mix(hash, key->variant) & (n - 1);
}

static const struct ht_memo_entry *find(struct ht_memo *memo, struct ht_memo_key key)
{
	const struct ht_memo_entry *e = slots_of(memo)[place_of(&key, n_slots(memo))];
	for (; e; e = e->older) {
		if (e->key.of == key.of && e->key.kind == key.kind && e->key.variant == key.variant)
			return e;
	}
	return NULL;
}

/* Twice the slots for as many entries; without memory for them they stay, and are searched a little longer. */
static void grow(struct ht_memo *memo)
{
	size_t n = n_slots(memo) * 2;
	struct ht_memo_entry **slots = ht_mem_zalloc(memo->mem, n * sizeof(void *));
	if (!slots)
		return;
	for (size_t i = 0; i < n_slots(memo); i++)
		for (struct ht_memo_entry *e = slots_of(memo)[i], *older; e; e = older) {
			struct ht_memo_entry **slot = &slots[place_of(&e->key, n)];
			older = e->older;
			e->older = *slot;
			*slot = e;
		}
	if (memo->slots)
		ht_mem_free(memo->mem, memo->slots, memo->n_slots * sizeof(void *));
	memo->slots = slots;
	memo->n_slots = n;
}

static void add(struct ht_memo *memo, struct ht_memo_entry *entry)
{
	if (memo->n >= n_slots(memo))
		grow(memo);
	struct ht_memo_entry **slot = &slots_of(memo)[place_of(&entry->key, n_slots(memo))];
	entry->older = *slot;
	*slot = entry;
	memo->n++;
}

bool ht_memo_has_room(struct ht_memo *memo, size_t n_bytes)
{
	pthread_mutex_lock(&memo->lock);
	bool has = n_bytes <= HT_MEMO_MAX_BYTES - memo->n_bytes;
	pthread_mutex_unlock(&memo->lock);
	return has;
}

const void *ht_memo_find(struct ht_memo *memo, struct ht_memo_key key)
{
	pthread_mutex_lock(&memo->lock);
	const struct ht_memo_entry *e = find(memo, key);
	pthread_mutex_unlock(&memo->lock);
	return e ? e->value : NULL;
}

const void *ht_memo_keep(
        struct ht_memo *memo, struct ht_memo_key key, struct ht_arena *arena, const void *value)
{
	struct ht_memo_entry *mine = ht_arena_alloc(arena, sizeof *mine);
	if (!mine)
		return NULL;
	pthread_mutex_lock(&memo->lock);
	const struct ht_memo_entry *first = find(memo, key);
	size_t n_bytes = ht_arena_bytes(arena);
	if (!first && n_bytes <= HT_MEMO_MAX_BYTES - memo->n_bytes) {
		memo->n_bytes += n_bytes;
		*mine = (struct ht_memo_entry){ NULL, key, *arena, value };
		add(memo, mine);
		first = mine;
		*arena = (struct ht_arena){ 0 };
	}
	pthread_mutex_unlock(&memo->lock);
	if (first && first != mine)
		ht_arena_done(arena);
	return first ? first->value : NULL;
}
