/*
 * intern.c - see intern.h.
 */
#include "base/intern.h"

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
	ht_mem_free(pool->mem, pool->table.slots, pool->table.cap * sizeof(struct ht_text));
	ht_vec_free(pool->mem, &pool->texts, sizeof(struct ht_text));
}

static bool pool_insert(
        struct ht_pool *pool, const char *bytes, size_t n, uint64_t hash, struct ht_text *ret_text)
{
	const struct ht_text *known = ht_text_table_find(&pool->table, bytes, n, hash);
	if (known) {
		*ret_text = *known;
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
	if (!ht_text_table_put(pool->mem, &pool->table, &text)) {
		pool->texts.n--;
		return false;
	}
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
