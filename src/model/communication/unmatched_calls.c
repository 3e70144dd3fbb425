/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmatched_calls.c - see unmatched_calls.h.
 */
#include "model/communication/unmatched_calls.h"

#include "base/intern.h"
#include "base/sort.h"
#include "base/thread.h"

#include <string.h>

/* Fewer calls are not worth threads. */
#define MIN_PARALLEL 4096

/* The calls of one rank. */
struct source {
	const ht_table *table;
	size_t i_rank, first, n; /* n of the list, from first on */
	uint32_t *ids;           /* of the table's texts by their numbers there; 0: not asked for */
	uint32_t *asked;         /* those numbers, as they were asked for first */
	size_t n_asked;
};

struct collection {
	ht_ctx *ctx;
	struct ht_arena *arena, *scratch;
	const struct ht_roster *roster;
	struct source *sources;
	size_t n_sources;
	struct ht_unmatched_calls calls;
	uint64_t *keys; /* to sort by; as many as calls */
};

/* ---- one rank ---- */

static int64_t known(const ht_table *table, size_t row, size_t column, int64_t shift)
{
	const int64_t *cells = ht_table_cells(table, column);
	const uint8_t *valid = ht_table_valid(table, column);
	return valid && !valid[row] ? HT_NO_I64 : ht_add_sat(cells[row], shift);
}

/* The table's own number for now; one that it does not have is "". */
static uint32_t text_of(struct source *s, size_t row, size_t column, uint32_t missing)
{
	const uint32_t *cells = ht_table_cells(s->table, column);
	const uint8_t *valid = ht_table_valid(s->table, column);
	uint32_t text = valid && !valid[row] ? missing : cells[row];
	if (text != HT_NO_TEXT && !s->ids[text]) {
		s->ids[text] = 1;
		s->asked[s->n_asked++] = text;
	}
	return text;
}

static struct ht_unmatched_call get_call(struct source *s, size_t row, int64_t shift)
{
	const ht_table *table = s->table;
	int64_t kind = ht_table_i64(table, row, HT_CALL_KIND);
	uint32_t none = (uint32_t)ht_table_n_texts(table);
	struct ht_unmatched_call l = { .group = text_of(s, row, HT_CALL_GROUP, none),
		.name = text_of(s, row, HT_CALL_NAME, none),
		.dtype = text_of(s, row, HT_CALL_DTYPE, HT_NO_TEXT),
		.kind = kind >= 0 && kind < HT_N_COMM_KINDS ? (enum ht_comm_kind)kind
		                                            : HT_COMM_OTHER,
		.size = known(table, row, HT_CALL_SIZE, 0),
		.seq = known(table, row, HT_CALL_SEQ, 0),
		.order_ns = known(table, row, HT_CALL_ORDER, shift),
		.elements = known(table, row, HT_CALL_ELEMENTS, 0),
		.nth = HT_NO_I64 };
	l.call = (struct ht_comm_call){ .i_rank = s->i_rank,
		.row = ht_table_i64(table, row, HT_CALL_ROW),
		.start_ns = known(table, row, HT_CALL_START, shift),
		.launch_ns = known(table, row, HT_CALL_LAUNCH, shift),
		.step = known(table, row, HT_CALL_STEP, 0),
		.bytes = known(table, row, HT_CALL_BYTES, 0),
		.wait_ns = HT_NO_I64,
		.tie = (int)ht_table_i64(table, row, HT_CALL_TIE) };
	l.call.end_ns = ht_add_sat(l.call.start_ns, ht_table_i64(table, row, HT_CALL_DUR));
	return l;
}

/* What a sort is by; it is stable, so the last one is by what counts first. */
enum key { KEY_ROW, KEY_ORDER, KEY_RANK, N_KEYS };

static bool sort_by(struct collection *c, enum key key, size_t first, size_t n)
{
	uint32_t *order = c->calls.order + first;
	for (size_t i = 0; i < n; i++) {
		const struct ht_unmatched_call *l = &c->calls.list[order[i]];
		c->keys[first + i] =
		        key == KEY_RANK
		                ? l->call.i_rank
		                : ht_sort_key_i64(key == KEY_ROW ? l->call.row : l->order_ns);
	}
	return ht_sort_keys(c->ctx->mem, c->keys + first, order, n);
}

static enum ht_status read_source(void *user, size_t i, int i_worker)
{
	struct collection *c = user;
	struct source *s = &c->sources[i];
	int64_t shift = c->roster->ranks[s->i_rank].offset_ns;
	(void)i_worker;
	for (size_t row = 0; row < s->n; row++) {
		c->calls.list[s->first + row] = get_call(s, row, shift);
		c->calls.order[s->first + row] = (uint32_t)(s->first + row);
	}
	return sort_by(c, KEY_ROW, s->first, s->n) && sort_by(c, KEY_ORDER, s->first, s->n)
	               ? HT_OK
	               : ht_fail_nomem(c->ctx);
}

/* The texts have numbers over all ranks now. */
static enum ht_status name_source(void *user, size_t i, int i_worker)
{
	struct collection *c = user;
	const struct source *s = &c->sources[i];
	(void)i_worker;
	for (size_t k = 0; k < s->n; k++) {
		struct ht_unmatched_call *l = &c->calls.list[s->first + k];
		l->group = s->ids[l->group];
		l->name = s->ids[l->name];
		l->dtype = l->dtype == HT_NO_TEXT ? HT_NO_TEXT : s->ids[l->dtype];
		l->family = *c->calls.texts[l->group] ? l->group : l->name;
	}
	return HT_OK;
}

/* ---- all of them ---- */

static enum ht_status find_sources(struct collection *c, const struct ht_parts *parts)
{
	size_t n_calls = ht_parts_n_rows(parts, 0) + 1;
	c->sources = ht_arena_alloc(c->scratch, (parts->n + 1) * sizeof *c->sources);
	c->calls.list = ht_arena_room(c->scratch, n_calls * sizeof *c->calls.list);
	c->calls.order = ht_arena_room(c->scratch, n_calls * sizeof *c->calls.order);
	c->keys = ht_arena_room(c->scratch, n_calls * sizeof *c->keys);
	if (!c->sources || !c->calls.list || !c->calls.order || !c->keys)
		return ht_fail_nomem(c->ctx);
	if (n_calls > UINT32_MAX)
		return ht_fail(c->ctx, HT_LIMIT, NULL, -1, NULL, "more than %u collective calls",
		        UINT32_MAX - 1);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *table = parts->list[i].facts[0];
		size_t i_rank = ht_roster_find(c->roster, parts->list[i].rank);
		size_t n_texts = ht_table_n_texts(table) + 1;
		struct source s = { table, i_rank, c->calls.n, ht_table_n_rows(table),
			ht_arena_alloc(c->scratch, n_texts * sizeof *s.ids),
			ht_arena_room(c->scratch, n_texts * sizeof *s.asked), 0 };
		if (!s.ids || !s.asked)
			return ht_fail_nomem(c->ctx);
		if (i_rank == SIZE_MAX)
			continue;
		c->sources[c->n_sources++] = s;
		c->calls.n += s.n;
	}
	return HT_OK;
}

static enum ht_status each_source(struct collection *c, ht_task_fn fn)
{
	if (c->calls.n >= MIN_PARALLEL)
		return ht_parallel(c->ctx, c->n_sources, fn, c);
	for (size_t i = 0; i < c->n_sources; i++)
		HT_TRY(fn(c, i, 0));
	return HT_OK;
}

static bool number_texts(struct collection *c, struct ht_pool *pool)
{
	struct ht_text found;
	for (size_t i = 0; i < c->n_sources; i++)
		for (size_t k = 0; k < c->sources[i].n_asked; k++) {
			const char *text =
			        ht_table_text(c->sources[i].table, c->sources[i].asked[k]);
			size_t n = strlen(text);
			if (!ht_pool_add(pool, text, n, ht_hash(text, n), &found))
				return false;
			c->sources[i].ids[c->sources[i].asked[k]] = found.id;
		}
	const struct ht_text *texts = pool->texts.data;
	c->calls.texts = ht_arena_alloc(c->arena, (pool->texts.n + 1) * sizeof *c->calls.texts);
	for (size_t i = 0; c->calls.texts && i < pool->texts.n; i++) {
		c->calls.texts[texts[i].id] =
		        ht_arena_strndup(c->arena, texts[i].bytes, texts[i].n);
		if (!c->calls.texts[texts[i].id])
			return false;
	}
	return c->calls.texts != NULL;
}

/* Each rank is in order already; parts mostly are, too. */
static bool order_ranks(struct collection *c)
{
	bool ascends = true, ok = true;
	for (size_t i = 1; i < c->n_sources; i++)
		ascends &= c->sources[i - 1].i_rank < c->sources[i].i_rank;
	for (enum key key = 0; !ascends && ok && key < N_KEYS; key++)
		ok = sort_by(c, key, 0, c->calls.n);
	return ok;
}

static enum ht_status collect(struct collection *c, const struct ht_parts *parts)
{
	struct ht_pool pool;
	HT_TRY(find_sources(c, parts));
	HT_TRY(each_source(c, read_source));
	ht_pool_init(&pool, c->ctx->mem);
	bool ok = number_texts(c, &pool);
	ht_pool_done(&pool);
	if (!ok)
		return ht_fail_nomem(c->ctx);
	HT_TRY(each_source(c, name_source));
	return order_ranks(c) ? HT_OK : ht_fail_nomem(c->ctx);
}

enum ht_status ht_unmatched_collect(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *parts,
        struct ht_unmatched_calls *ret_calls)
{
	struct collection c = { .ctx = ctx, .arena = arena, .scratch = scratch, .roster = roster };
	HT_TRY(collect(&c, parts));
	*ret_calls = c.calls;
	return HT_OK;
}
