/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_join.c - see et_join.h.
 */
#include "et/et_join.h"

#include "base/sort.h"
#include "store/args.h"

#include <string.h>

/* Keys ascending, with their rows. */
struct keys {
	uint64_t *ids;
	uint32_t *rows;
	size_t n, n_same;
};

bool ht_et_is_cpu_event(const struct ht_trace *trace, uint32_t row)
{
	return trace->kind[row] == HT_KIND_CPU_OP || trace->kind[row] == HT_KIND_ANNOTATION;
}

bool ht_et_is_step(const struct ht_trace *t, uint32_t row)
{
	return strstr(ht_str(t, t->name[row]), "ProfilerStep") != NULL;
}

bool ht_et_is_call(const struct ht_trace *trace, uint32_t row, bool as_chakra)
{
	return ht_et_is_cpu_event(trace, row) && ht_is_span(trace, row) &&
	       !(as_chakra && ht_et_is_step(trace, row));
}

bool ht_et_same_name(const char *node, const char *event)
{
	if (!strcmp(node, event))
		return true;
	const char *dot = strrchr(event, '.');
	return dot && strlen(node) == (size_t)(dot - event) &&
	       !memcmp(node, event, (size_t)(dot - event));
}

const char *ht_et_join_key_name(enum ht_et_join_key key)
{
	static const char *const names[] = { "none", "rf_id", "external_id" };
	return names[key];
}

static enum ht_status make_room(ht_ctx *ctx, struct ht_arena *arena, size_t n, struct keys *keys)
{
	*keys = (struct keys){ ht_arena_alloc(arena, (n + 1) * sizeof *keys->ids),
		ht_arena_alloc(arena, (n + 1) * sizeof *keys->rows), 0, 0 };
	return keys->ids && keys->rows ? HT_OK : ht_fail_nomem(ctx);
}

/* In order, each once: the first of several stays. */
static enum ht_status order(ht_ctx *ctx, struct keys *keys)
{
	size_t n = 0;
	if (!ht_sort_keys(ctx->mem, keys->ids, keys->rows, keys->n))
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < keys->n; i++) {
		if (n && keys->ids[n - 1] == keys->ids[i]) {
			keys->n_same++;
			continue;
		}
		keys->ids[n] = keys->ids[i];
		keys->rows[n++] = keys->rows[i];
	}
	keys->n = n;
	return HT_OK;
}

static enum ht_status node_keys(
        ht_ctx *ctx, const struct ht_et *et, struct ht_arena *arena, struct keys *ret_keys)
{
	HT_TRY(make_room(ctx, arena, ht_et_n(et), ret_keys));
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		if (ht_et_nodes(et)[row].rf_id && ht_et_kind(et, row) == HT_ET_OP) {
			ret_keys->ids[ret_keys->n] = ht_et_nodes(et)[row].rf_id;
			ret_keys->rows[ret_keys->n++] = row;
		}
	return order(ctx, ret_keys);
}

bool ht_et_is_unfinished(const struct ht_trace *trace, uint32_t row)
{
	if (ht_str_find(trace, "finished") == HT_NO_STR)
		return false;
	const struct ht_arg_column *flag = ht_arg_find(trace, "finished", HT_ARG_BOOL);
	uint64_t at = flag ? ht_arg_position(trace, flag, row) : UINT64_MAX;
	if (at != UINT64_MAX)
		return !ht_arg_i64_at(trace, flag, at);
	const char *text = ht_arg_str(trace, "finished", row);
	return text && (!strcmp(text, "false") || !strcmp(text, "False"));
}

static enum ht_status event_keys(ht_ctx *ctx, const struct ht_trace *trace, const char *arg,
        struct ht_arena *arena, struct keys *ret_keys)
{
	struct ht_arg_cursor cursor = ht_arg_cursor(trace, arg);
	HT_TRY(make_room(ctx, arena, ht_n_events(trace), ret_keys));
	for (uint32_t row = 0; row < ht_n_events(trace); row++) {
		if (!ht_et_is_cpu_event(trace, row) || !ht_is_span(trace, row))
			continue;
		int64_t id = ht_arg_cursor_i64(&cursor, row, 0);
		if (id <= 0 || ht_et_is_unfinished(trace, row))
			continue;
		ret_keys->ids[ret_keys->n] = (uint64_t)id;
		ret_keys->rows[ret_keys->n++] = row;
	}
	return order(ctx, ret_keys);
}

static void pair_up(const struct ht_et *et, const struct ht_trace *trace, const struct keys *nodes,
        const struct keys *events, struct ht_et_join *join)
{
	for (size_t i = 0, k = 0; i < nodes->n && k < events->n;) {
		if (nodes->ids[i] != events->ids[k]) {
			if (nodes->ids[i] < events->ids[k])
				i++;
			else
				k++;
			continue;
		}
		uint32_t node = nodes->rows[i++], event = events->rows[k++];
		join->event[node] = event;
		join->node[event] = node;
		join->n_pairs++;
		join->n_same_name += ht_et_same_name(ht_et_str(et, ht_et_nodes(et)[node].name),
		        ht_str(trace, trace->name[event]));
	}
}

static void clear(struct ht_et_join *join, const struct ht_et *et, const struct ht_trace *trace)
{
	for (uint32_t row = 0; row < ht_et_n(et); row++)
		join->event[row] = HT_NONE;
	for (uint32_t row = 0; row < ht_n_events(trace); row++)
		join->node[row] = HT_ET_NONE;
}

enum ht_status ht_et_join_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        struct ht_arena *arena, struct ht_et_join *ret_join)
{
	struct keys nodes, events;
	struct ht_et_join join = { .key = HT_ET_BY_RF_ID,
		.event = ht_arena_alloc(arena, ((size_t)ht_et_n(et) + 1) * sizeof *join.event),
		.node = ht_arena_alloc(
		        arena, ((size_t)ht_n_events(trace) + 1) * sizeof *join.node) };
	if (!join.event || !join.node)
		return ht_fail_nomem(ctx);
	clear(&join, et, trace);
	HT_TRY(node_keys(ctx, et, arena, &nodes));
	HT_TRY(event_keys(ctx, trace, "Record function id", arena, &events));
	if (!events.n) {
		join.key = HT_ET_BY_EXTERNAL_ID;
		HT_TRY(event_keys(ctx, trace, "External id", arena, &events));
	}
	if (!events.n)
		HT_TRY(event_keys(ctx, trace, "external id", arena, &events));
	if (!events.n || !nodes.n)
		join.key = HT_ET_BY_NOTHING;
	join.n_nodes = nodes.n;
	join.n_events = events.n;
	join.n_same_id_nodes = nodes.n_same;
	join.n_same_id_events = events.n_same;
	if (events.n) {
		join.first_event = events.ids[0];
		join.last_event = events.ids[events.n - 1];
	}
	pair_up(et, trace, &nodes, &events, &join);
	join.is_refused = join.n_same_name * 100 < join.n_pairs * HT_ET_MIN_AGREEMENT;
	if (join.is_refused)
		clear(&join, et, trace);
	*ret_join = join;
	return HT_OK;
}
