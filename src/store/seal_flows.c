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

static bool is_flow(const struct ht_trace *t, uint32_t row)
{
	return (t->ph[row] == 's' || t->ph[row] == 't' || t->ph[row] == 'f') &&
	       !(t->flags[row] & HT_EV_NO_TS);
}

static enum ht_status list_flows(ht_ctx *ctx, const struct ht_trace *t, struct ht_flow_rows *f)
{
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		f->n += is_flow(t, row);
	f->rows = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->rows);
	f->ids = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->ids);
	f->order = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *f->order);
	if (!f->rows || !f->ids || !f->order)
		return ht_fail_nomem(ctx);
	size_t n = 0;
	for (uint32_t row = 0; n < f->n && row < ht_n_events(t); row++)
		if (is_flow(t, row))
			f->rows[n++] = row;
	return HT_OK;
}

/* The id of each row as a number: integers as they are, texts hashed. */
static void read_ids(const struct ht_trace *t, struct ht_flow_rows *f)
{
	uint32_t key = ht_str_find(t, "id");
	for (size_t c = 0; key != HT_NO_STR && c < t->n_arg_columns; c++) {
		const struct ht_arg_column *column = &t->arg_columns[c];
		if (column->key != key || !column->top_level)
			continue;
		const uint32_t *rows = ht_arg_rows(t, column);
		size_t k = 0;
		for (uint64_t i = 0; i < column->n; i++) {
			while (k < f->n && f->rows[k] < rows[i])
				k++;
			if (k == f->n)
				break;
			if (f->rows[k] != rows[i])
				continue;
			uint64_t value = (uint64_t)ht_arg_i64_at(t, column, i);
			if (column->type == HT_ARG_STR)
				value = ht_hash(
				        ht_str(t, (uint32_t)value), ht_str_len(t, (uint32_t)value));
			f->ids[k] = value;
		}
	}
}

/* By time first, then stably by id and category: within those in time order. */
static enum ht_status sort_flows(ht_ctx *ctx, const struct ht_trace *t, struct ht_flow_rows *f)
{
	const unsigned id_bits = 48; /* those of most ids; the category is above them */
	uint64_t *keys = ht_arena_alloc(&f->arena, (f->n + 1) * sizeof *keys), all = 0;
	if (!keys)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < f->n; i++) {
		keys[i] = ht_sort_key_i64(t->ts_ns[f->rows[i]]);
		f->order[i] = (uint32_t)i;
		all |= f->ids[i];
	}
	bool ok = ht_sort_keys(ctx->mem, keys, f->order, f->n);
	bool is_short = !(all >> id_bits);
	for (size_t i = 0; i < f->n; i++) {
		uint64_t cat = t->cat[f->rows[f->order[i]]], id = f->ids[f->order[i]];
		keys[i] = is_short ? cat << id_bits | id : id;
	}
	ok = ok && ht_sort_keys(ctx->mem, keys, f->order, f->n);
	for (size_t i = 0; !is_short && i < f->n; i++)
		keys[i] = t->cat[f->rows[f->order[i]]];
	ok = ok && (is_short || ht_sort_keys(ctx->mem, keys, f->order, f->n));
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

enum ht_status ht_flow_rows_list(ht_ctx *ctx, const struct ht_trace *t, struct ht_flow_rows *ret)
{
	*ret = (struct ht_flow_rows){ .n = 0 };
	ht_arena_init(&ret->arena, ctx->mem);
	HT_TRY(list_flows(ctx, t, ret));
	read_ids(t, ret);
	return sort_flows(ctx, t, ret);
}

void ht_flow_rows_done(struct ht_flow_rows *rows)
{
	ht_arena_done(&rows->arena);
}

static bool same_group(
        const struct ht_trace *t, const struct ht_flow_rows *f, uint32_t a, uint32_t b)
{
	return f->ids[a] == f->ids[b] && t->cat[f->rows[a]] == t->cat[f->rows[b]];
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

/* Walk the groups; with out NULL only count. */
static size_t pair(const struct ht_trace *t, const struct ht_flow_rows *f, struct ht_flow *out)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n;) {
		size_t end = i;
		uint32_t start = HT_NONE;
		bool used = true; /* the current start has a finish */
		while (end < f->n && same_group(t, f, f->order[end], f->order[i]))
			end++;
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
	}
	return n;
}

enum ht_status ht_seal_flows(ht_ctx *ctx, struct ht_trace *t, const struct ht_flow_rows *rows)
{
	size_t n = pair(t, rows, NULL);
	struct ht_flow *flows = HT_SECTION_ALLOC(ctx, t, flows, struct ht_flow, n);
	if (!flows)
		return ht_fail_nomem(ctx);
	pair(t, rows, flows);
	return HT_OK;
}

void ht_seal_flow_rows(struct ht_trace *t, const struct ht_flow_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		HT_MUTABLE(uint32_t, t->parent)[rows->rows[i]] = HT_NONE;
}
