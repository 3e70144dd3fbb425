/*
 * chain.c - see chain.h.
 */
#include "model/chain.h"

#include <stdio.h>
#include <string.h>

#define KEPT (2 * HT_CHAIN_HALF)

static uint32_t from_start(const struct ht_chain *c, uint32_t i)
{
	return c->rows[i];
}

static uint32_t from_end(const struct ht_chain *c, uint32_t i)
{
	return c->rows[(c->n < KEPT ? c->n : KEPT) - 1 - i];
}

struct ht_chain ht_chain_join(const struct ht_chain *outer, const struct ht_chain *inner)
{
	struct ht_chain all = { .n = outer->n + inner->n };
	uint32_t n_first = all.n <= KEPT ? all.n : HT_CHAIN_HALF;
	for (uint32_t i = 0; i < n_first; i++)
		all.rows[i] = i < outer->n ? from_start(outer, i) : from_start(inner, i - outer->n);
	for (uint32_t i = 0; all.n > KEPT && i < HT_CHAIN_HALF; i++)
		all.rows[KEPT - 1 - i] =
		        i < inner->n ? from_end(inner, i) : from_end(outer, i - inner->n);
	return all;
}

struct ht_chain ht_chain_push(const struct ht_chain *chain, uint32_t row)
{
	const struct ht_chain one = { 1, { row } };
	return ht_chain_join(chain, &one);
}

static char *add(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}

const char *ht_chain_text(
        struct ht_arena *arena, const struct ht_trace *t, const struct ht_chain *chain)
{
	uint32_t n = chain->n < KEPT ? chain->n : KEPT;
	char more[40] = "";
	if (chain->n > KEPT)
		snprintf(more, sizeof more, "… %u more …", chain->n - KEPT);
	size_t n_bytes = strlen(more) + 4;
	for (uint32_t i = 0; i < n; i++)
		n_bytes += ht_str_len(t, t->name[chain->rows[i]]) + 3;
	char *text = ht_arena_alloc(arena, n_bytes), *at = text;
	for (uint32_t i = 0; text && i < n; i++) {
		uint32_t name = t->name[chain->rows[i]];
		if (i)
			at = add(at, " / ", 3);
		if (i == HT_CHAIN_HALF && *more)
			at = add(add(at, more, strlen(more)), " / ", 3);
		at = add(at, ht_str(t, name), ht_str_len(t, name));
	}
	return text;
}
