/*
 * memo.c - see memo.h. A set has few entries: a list will do.
 */
#include "base/memo.h"

struct ht_memo_entry {
	struct ht_memo_entry *older;
	struct ht_memo_key key;
	struct ht_arena arena; /* owns the value, and this entry */
	const void *value;
};

void ht_memo_init(struct ht_memo *memo, struct ht_mem *mem)
{
	*memo = (struct ht_memo){ .mem = mem };
	pthread_mutex_init(&memo->lock, NULL);
}

void ht_memo_done(struct ht_memo *memo)
{
	for (struct ht_memo_entry *e = memo->last, *older; e; e = older) {
		struct ht_arena arena = e->arena;
		older = e->older;
		ht_arena_done(&arena);
	}
	pthread_mutex_destroy(&memo->lock);
}

static const struct ht_memo_entry *find(const struct ht_memo *memo, struct ht_memo_key key)
{
	for (const struct ht_memo_entry *e = memo->last; e; e = e->older) {
		if (e->key.of == key.of && e->key.kind == key.kind && e->key.variant == key.variant)
			return e;
	}
	return NULL;
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
		*mine = (struct ht_memo_entry){ memo->last, key, *arena, value };
		first = memo->last = mine;
		*arena = (struct ht_arena){ 0 };
	}
	pthread_mutex_unlock(&memo->lock);
	if (first && first != mine)
		ht_arena_done(arena);
	return first ? first->value : NULL;
}
