/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_flows.c - flow arrows: pairs of s and f rows with one (category, id), bound to spans.
 *
 * Rows of one key are walked in time order; an f belongs to the latest s before it. Kineto also writes f
 * rows for calls that start nothing, so lone rows are kept with one side empty. A flow row binds to the
 * span that starts with it on its track, else to the innermost span around it (seal_tree.c finds it).
 *
 * All of it goes by ranges: of rows to list them, of flow rows to read their ids, and of sorted ones, cut between
 * groups, to pair them.
 */
#include "store/args.h"
#include "store/seal.h"

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "store/flow.h"
#include "store/trace.h"

/* What the tasks look at. */
struct flows {
	ht_ctx *ctx;
	const struct ht_trace *t;
	struct ht_flow_rows *f;
	uint64_t *keys;
	uint32_t id_key;       /* string id of "id" */
	atomic_bool has_long;  /* some id needs more than ID_BITS */
	struct ht_flow *flows; /* the section */
};

/* Those of most ids; the category is above them. */
#define ID_BITS 48

/* ---- listing ---- */

static size_t pick_flows(const void *user, struct ht_range range, uint32_t *to)
{
	const struct ht_trace *t = user;
	size_t n = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (t->kind[row] != HT_KIND_FLOW || (t->flags[row] & HT_EV_NO_TS))
			continue;
		if (to)
			to[n] = row;
		n++;
	}
	return n;
}

/* The ids of [first, end) that are in one column. */
static void read_column(
        const struct flows *s, const struct ht_arg_column *column, uint32_t first, uint32_t end)
{
	const struct ht_trace *t = s->t;
	const uint32_t *wanted = s->f->rows;
	uint64_t i = ht_arg_lower_bound(t, column, 0, column->n, wanted[first]);
	for (uint32_t k = first; k < end && i < column->n; i++) {
		uint32_t row = ht_arg_row(t, column, i);
		while (k < end && wanted[k] < row)
			k++;
		if (k == end || wanted[k] != row)
			continue;
		uint64_t value = (uint64_t)ht_arg_i64_at(t, column, i);
		if (column->type == HT_ARG_STR)
			value = ht_hash(ht_str(t, (uint32_t)value), ht_str_len(t, (uint32_t)value));
		s->f->ids[k] = value;
	}
}

/* The id of each row as a number, integers as they are, texts hashed; and the first sort keys. */
static enum ht_status read_ids(void *user, size_t i_range, int i_worker)
{
	struct flows *s = user;
	const struct ht_trace *t = s->t;
	struct ht_range range = ht_range_at(s->ctx, s->f->n, i_range);
	uint64_t all = 0;
	(void)i_worker;
	for (size_t c = 0; c < t->n_arg_columns; c++)
		if (t->arg_columns[c].key == s->id_key && t->arg_columns[c].top_level)
			read_column(s, &t->arg_columns[c], range.first, range.end);
	for (uint32_t i = range.first; i < range.end; i++) {
		uint64_t id = s->f->ids[i], cat = t->cat[s->f->rows[i]];
		all |= id;
		s->f->order[i] = i;
		s->keys[i] = cat << ID_BITS | id;
	}
	if (all >> ID_BITS)
		atomic_store_explicit(&s->has_long, true, memory_order_relaxed);
	return HT_OK;
}

/* By category and id; rows of one key stay in the order of the file. */
static enum ht_status sort_flows(struct flows *s)
{
	struct ht_flow_rows *f = s->f;
	if (!atomic_load(&s->has_long))
		return ht_sort_keys_shared(s->ctx, s->keys, f->order, f->n);
	for (size_t i = 0; i < f->n; i++)
		s->keys[i] = f->ids[i];
	HT_TRY(ht_sort_keys_shared(s->ctx, s->keys, f->order, f->n));
	for (size_t i = 0; i < f->n; i++)
		s->keys[i] = s->t->cat[f->rows[f->order[i]]];
	return ht_sort_keys_shared(s->ctx, s->keys, f->order, f->n);
}

/* ---- groups ---- */

static bool same_group(
        const struct ht_trace *t, const struct ht_flow_rows *f, uint32_t a, uint32_t b)
{
	return f->ids[a] == f->ids[b] && t->cat[f->rows[a]] == t->cat[f->rows[b]];
}

/* Of the positions up to end, which is where a group ends. */
static size_t end_of_group(
        const struct ht_trace *t, const struct ht_flow_rows *f, size_t i, size_t end)
{
	size_t at = i + 1;
	while (at < end && same_group(t, f, f->order[at], f->order[i]))
		at++;
	return at;
}

/* Where the first group of a range begins. */
static enum ht_status find_group(void *user, size_t i_range, int i_worker)
{
	struct flows *s = user;
	const struct ht_flow_rows *f = s->f;
	struct ht_range range = ht_range_at(s->ctx, f->n, i_range);
	uint32_t i = range.first;
	(void)i_worker;
	while (i && i < range.end && same_group(s->t, f, f->order[i - 1], f->order[i]))
		i++;
	f->groups[i_range] = i < range.end ? i : HT_NONE;
	return HT_OK;
}

/* Each range has the groups that begin in it. They are found before groups are put in order: that is done by many. */
static enum ht_status find_groups(struct flows *s, size_t n_ranges)
{
	struct ht_flow_rows *f = s->f;
	HT_TRY(ht_parallel(s->ctx, n_ranges, find_group, s));
	f->groups[n_ranges] = (uint32_t)f->n;
	for (size_t i = n_ranges; i-- > 0;)
		if (f->groups[i] == HT_NONE)
			f->groups[i] = f->groups[i + 1];
	return HT_OK;
}

/* A group in time order; its rows are in the order of the file. */
static bool sort_group(const struct flows *s, size_t first, size_t end)
{
	const struct ht_flow_rows *f = s->f;
	bool sorted = true;
	for (size_t i = first; i < end; i++) {
		s->keys[i] = ht_sort_key_i64(s->t->ts_ns[f->rows[f->order[i]]]);
		sorted &= i == first || s->keys[i - 1] <= s->keys[i];
	}
	return sorted || ht_sort_keys(s->ctx->mem, s->keys + first, f->order + first, end - first);
}

/* start and finish are positions. */
static void fill(const struct ht_trace *t, const struct ht_flow_rows *f, struct ht_flow *flow,
        uint32_t start, uint32_t finish)
{
	uint32_t any = start != HT_NONE ? start : finish;
	uint32_t start_row = start == HT_NONE ? HT_NONE : f->rows[start];
	uint32_t finish_row = finish == HT_NONE ? HT_NONE : f->rows[finish];
	*flow = (struct ht_flow){ .id = f->ids[any],
		.cat = t->categories[t->cat[f->rows[any]]].name,
		.start_row = start_row,
		.finish_row = finish_row,
		.from = start == HT_NONE ? HT_NONE : t->parent[start_row],
		.to = finish == HT_NONE ? HT_NONE : t->parent[finish_row] };
}

/* Pair the rows of a group and return how many flows they are; with out NULL only that. */
static size_t pair(const struct ht_trace *t, const struct ht_flow_rows *f, size_t i, size_t end,
        struct ht_flow *out)
{
	size_t n = 0;
	uint32_t start = HT_NONE;
	bool used = true; /* the current start has a finish */
	for (; i < end; i++) {
		uint32_t at = f->order[i];
		char ph = t->ph[f->rows[at]];
		bool begins = ph == 's';
		if (begins && !used) {
			if (out)
				fill(t, f, &out[n], start, HT_NONE);
			n++;
		}
		if (!begins) {
			if (out)
				fill(t, f, &out[n], start, at);
			n++;
		}
		/* a step of a flow (t) ends one arrow and starts the next */
		start = ph == 'f' ? start : at;
		used = !begins;
	}
	if (!used) {
		if (out)
			fill(t, f, &out[n], start, HT_NONE);
		n++;
	}
	return n;
}

static enum ht_status order_groups(void *user, size_t i_range, int i_worker)
{
	struct flows *s = user;
	size_t last = s->f->groups[i_range + 1], n = 0;
	(void)i_worker;
	for (size_t i = s->f->groups[i_range], end; i < last; i = end) {
		end = end_of_group(s->t, s->f, i, last);
		if (!sort_group(s, i, end))
			return ht_fail_nomem(s->ctx);
		n += pair(s->t, s->f, i, end, NULL);
	}
	s->f->places[i_range] = (uint32_t)n;
	return HT_OK;
}

static enum ht_status list_flows(struct flows *s, struct ht_arena *scratch)
{
	struct ht_flow_rows *f = s->f;
	size_t n_ranges;
	HT_TRY(ht_pick(s->ctx, ht_n_events(s->t), pick_flows, s->t, &f->arena, &f->rows, &f->n));
	n_ranges = ht_n_ranges(s->ctx, f->n);
	f->ids = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->ids);
	f->order = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->order);
	f->places = ht_arena_alloc(&f->arena, (n_ranges + 1) * sizeof *f->places);
	s->keys = ht_arena_alloc(scratch, (f->n + 1) * sizeof *s->keys);
	f->groups = ht_arena_alloc(&f->arena, (n_ranges + 1) * sizeof *f->groups);
	if (!f->ids || !f->order || !f->places || !f->groups || !s->keys)
		return ht_fail_nomem(s->ctx);
	HT_TRY(ht_parallel(s->ctx, n_ranges, read_ids, s));
	HT_TRY(sort_flows(s));
	HT_TRY(find_groups(s, n_ranges));
	return ht_parallel(s->ctx, n_ranges, order_groups, s);
}

enum ht_status ht_flow_rows_list(ht_ctx *ctx, const struct ht_trace *t, struct ht_flow_rows *ret)
{
	struct flows s = { .ctx = ctx, .t = t, .f = ret, .id_key = ht_str_find(t, "id") };
	struct ht_arena scratch;
	*ret = (struct ht_flow_rows){ .n = 0 };
	ht_arena_init(&ret->arena, ctx->mem);
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = list_flows(&s, &scratch);
	ht_arena_done(&scratch);
	return status;
}

void ht_flow_rows_done(struct ht_flow_rows *rows)
{
	ht_arena_done(&rows->arena);
}

/* ---- pairing ---- */

static enum ht_status pair_groups(void *user, size_t i_range, int i_worker)
{
	struct flows *s = user;
	struct ht_flow *out = s->flows + s->f->places[i_range];
	size_t last = s->f->groups[i_range + 1];
	(void)i_worker;
	for (size_t i = s->f->groups[i_range], end; i < last; i = end) {
		end = end_of_group(s->t, s->f, i, last);
		out += pair(s->t, s->f, i, end, out);
	}
	return HT_OK;
}

enum ht_status ht_seal_flows(ht_ctx *ctx, struct ht_trace *t, struct ht_flow_rows *rows)
{
	size_t n_ranges = ht_n_ranges(ctx, rows->n);
	uint32_t n = 0;
	for (size_t i = 0; i < n_ranges; i++) {
		uint32_t here = rows->places[i];
		rows->places[i] = n;
		n += here;
	}
	struct flows s = { .ctx = ctx, .t = t, .f = rows };
	s.flows = HT_SECTION_ALLOC(ctx, ht_more(t), flows, struct ht_flow, n);
	return s.flows ? ht_parallel(ctx, n_ranges, pair_groups, &s) : ht_fail_nomem(ctx);
}

static enum ht_status forget_parents(void *user, size_t i_range, int i_worker)
{
	struct flows *s = user;
	struct ht_range range = ht_range_at(s->ctx, s->f->n, i_range);
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++)
		HT_MUTABLE(uint32_t, s->t->parent)[s->f->rows[i]] = HT_NONE;
	return HT_OK;
}

enum ht_status ht_seal_flow_rows(ht_ctx *ctx, struct ht_trace *t, struct ht_flow_rows *rows)
{
	struct flows s = { .ctx = ctx, .t = t, .f = rows };
	return ht_parallel(ctx, ht_n_ranges(ctx, rows->n), forget_parents, &s);
}
