/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.c - see chain.h.
 */
#include "model/rows/chain.h"

#include "store/columns.h"

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

uint32_t ht_chain_last(const struct ht_chain *chain)
{
	return from_end(chain, 0);
}

const char *ht_chain_text(struct ht_arena *arena, const struct ht_trace *t,
        const struct ht_chain *chain, const char *between)
{
	size_t n_between = strlen(between);
	uint32_t n = chain->n < KEPT ? chain->n : KEPT;
	char more[40] = "";
	if (chain->n > KEPT)
		snprintf(more, sizeof more, "… %u more …", chain->n - KEPT);
	size_t n_bytes = strlen(more) + n_between + 1;
	for (uint32_t i = 0; i < n; i++)
		n_bytes += ht_str_len(t, t->name[chain->rows[i]]) + n_between;
	char *text = ht_arena_alloc(arena, n_bytes), *at = text;
	for (uint32_t i = 0; text && i < n; i++) {
		uint32_t name = t->name[chain->rows[i]];
		if (i)
			at = add(at, between, n_between);
		if (i == HT_CHAIN_HALF && *more)
			at = add(add(at, more, strlen(more)), between, n_between);
		at = add(at, ht_str(t, name), ht_str_len(t, name));
	}
	return text;
}

enum ht_status ht_chains_make(ht_ctx *ctx, const struct ht_trace *t, ht_tree_match *match,
        const void *user, const uint32_t *nearest, const uint32_t *late, struct ht_arena *arena,
        struct ht_chains *ret_chains)
{
	size_t n = 1;
	struct ht_chains chains = { 0 };
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += match(t, row, user);
	chains.list = ht_arena_alloc(arena, n * sizeof *chains.list);
	chains.of = ht_arena_alloc(arena, ((size_t)ht_n_events(t) + 1) * sizeof *chains.of);
	if (!chains.list || !chains.of)
		return ht_fail_nomem(ctx);
	n = 1;
	for (int last = 0; last < (late ? 2 : 1); last++)
		for (size_t i = 0; i < t->n_track_rows; i++) {
			uint32_t row = t->track_rows[i];
			bool is_late = late && late[row] != HT_NONE;
			if (is_late != last || !match(t, row, user))
				continue;
			uint32_t outer = nearest[row] == HT_NONE ? 0 : chains.of[nearest[row]];
			chains.list[n] = ht_chain_push(&chains.list[outer], row);
			chains.of[row] = (uint32_t)n++;
		}
	*ret_chains = chains;
	return HT_OK;
}
