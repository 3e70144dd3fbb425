/*
 * seal_flows.c - flow arrows: pairs of s and f rows with one (category, id), bound to spans.
 *
 * Rows of one key are walked in time order; an f belongs to the latest s before it. Kineto also writes f
 * rows for calls that start nothing, so lone rows are kept with one side empty. A flow row binds to the
 * span that starts with it on its track, else to the innermost span around it (seal_tracks.c finds it).
 */
#include "store/seal.h"

#include "base/hash.h"
#include "base/sort.h"

#include <string.h>

struct flows {
	ht_ctx *ctx;
	struct ht_trace *t;
	struct ht_arena arena;
	uint64_t *ids;  /* by flow row position */
	uint32_t *rows; /* flow rows, grouped by (category, id), in time order within */
	uint64_t *keys; /* sort keys; at last the category of each of rows */
	size_t n;
};

static bool is_flow(const struct ht_trace *t, uint32_t row)
{
	return (t->ph[row] == 's' || t->ph[row] == 't' || t->ph[row] == 'f') &&
	       !(t->flags[row] & HT_EV_NO_TS);
}

/* The id of each row as a number: integers as they are, texts hashed. */
static enum ht_status read_ids(struct flows *f, uint64_t **ret_ids)
{
	const struct ht_trace *t = f->t;
	uint32_t key = ht_str_find(t, "id");
	uint64_t *ids = ht_arena_alloc(&f->arena, ((size_t)ht_n_events(t) + 1) * sizeof *ids);
	if (!ids)
		return ht_fail_nomem(f->ctx);
	for (size_t c = 0; key != HT_NO_STR && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		if (column->key != key || !column->top_level)
			continue;
		for (uint64_t i = 0; i < column->n; i++) {
			uint32_t row = ht_arg_rows(t, column)[i];
			uint64_t value = (uint64_t)ht_arg_i64_at(t, column, i);
			if (column->type == HT_ARG_STR)
				value = ht_hash(
				        ht_str(t, (uint32_t)value), ht_str_len(t, (uint32_t)value));
			ids[row] = value;
		}
	}
	*ret_ids = ids;
	return HT_OK;
}

static enum ht_status sort_flows(struct flows *f)
{
	const struct ht_trace *t = f->t;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		f->n += is_flow(t, row);
	f->rows = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->rows);
	f->keys = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->keys);
	if (!f->rows || !f->keys)
		return ht_fail_nomem(f->ctx);
	if (!f->n)
		return HT_OK;
	HT_TRY(read_ids(f, &f->ids));
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_flow(t, row)) {
			f->keys[n] = ht_sort_key_i64(t->ts_ns[row]);
			f->rows[n++] = row;
		}
	/* by time first, then stably by id and category: within those in time order */
	bool ok = ht_sort_keys(f->ctx->mem, f->keys, f->rows, f->n);
	for (size_t i = 0; i < f->n; i++)
		f->keys[i] = f->ids[f->rows[i]];
	ok = ok && ht_sort_keys(f->ctx->mem, f->keys, f->rows, f->n);
	for (size_t i = 0; i < f->n; i++)
		f->keys[i] = t->cat[f->rows[i]];
	ok = ok && ht_sort_keys(f->ctx->mem, f->keys, f->rows, f->n);
	return ok ? HT_OK : ht_fail_nomem(f->ctx);
}

static bool same_group(const struct flows *f, size_t a, size_t b)
{
	return f->keys[a] == f->keys[b] && f->ids[f->rows[a]] == f->ids[f->rows[b]];
}

static void fill(const struct flows *f, struct ht_flow *flow, uint32_t start, uint32_t finish)
{
	const struct ht_trace *t = f->t;
	uint32_t any = start != HT_NONE ? start : finish;
	*flow = (struct ht_flow){ .id = f->ids[any],
		.cat = t->categories[t->cat[any]].name,
		.start_row = start,
		.finish_row = finish,
		.from = start == HT_NONE ? HT_NONE : t->parent[start],
		.to = finish == HT_NONE ? HT_NONE : t->parent[finish] };
}

/* Walk the groups; with out NULL only count. */
static size_t pair(const struct flows *f, struct ht_flow *out)
{
	const struct ht_trace *t = f->t;
	size_t n = 0;
	for (size_t i = 0; i < f->n;) {
		size_t end = i;
		uint32_t start = HT_NONE;
		bool used = true; /* the current start has a finish */
		while (end < f->n && same_group(f, end, i))
			end++;
		for (; i < end; i++) {
			uint32_t row = f->rows[i];
			bool begins = t->ph[row] == 's';
			if (begins && !used) {
				if (out)
					fill(f, &out[n], start, HT_NONE);
				n++;
			}
			if (!begins) {
				if (out)
					fill(f, &out[n], start, row);
				n++;
			}
			/* a step of a flow (t) ends one arrow and starts the next */
			start = t->ph[row] == 'f' ? start : row;
			used = !begins;
		}
		if (!used) {
			if (out)
				fill(f, &out[n], start, HT_NONE);
			n++;
		}
	}
	return n;
}

enum ht_status ht_seal_flows(ht_ctx *ctx, struct ht_trace *t)
{
	struct flows f = { .ctx = ctx, .t = t };
	ht_arena_init(&f.arena, ctx->mem);
	enum ht_status status = sort_flows(&f);
	if (status == HT_OK) {
		size_t n = pair(&f, NULL);
		struct ht_flow *flows = HT_SECTION_ALLOC(ctx, t, flows, struct ht_flow, n);
		if (flows)
			pair(&f, flows);
		else
			status = ht_fail_nomem(ctx);
	}
	ht_arena_done(&f.arena);
	return status;
}

void ht_seal_flow_rows(struct ht_trace *t)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (is_flow(t, row))
			HT_MUTABLE(uint32_t, t->parent)[row] = HT_NONE;
}
