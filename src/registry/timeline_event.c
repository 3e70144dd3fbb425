/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_event.c - everything about one event of a timeline: fields, arguments, what it is linked to.
 *
 * Links: the spans around it (of GPU work: around its launch, of backward work also on the thread that waits for
 * it), innermost first; the same collective on other ranks; the call that launched GPU work and the operator behind it, and the other way round; its
 * forward operator; and the flows of the file that bind to it. What two of them say is said once: a launch rather
 * than its flow, the flow rather than the forward operator.
 */
#include "model/origin/find_origins.h"
#include "registry/timeline.h"
#include "store/args.h"

#include "base/number.h"
#include "base/search.h"
#include "model/events/event_value.h"
#include "store/flow.h"
#include "store/trace.h"

#include <stdio.h>

#define MAX_DEPTH 4096 /* of call stacks that are told */

/* What rows belong to, made when it is asked for first. */
static enum ht_status attribution_of(
        ht_ctx *ctx, const ht_timeline *timeline, const struct ht_attribution **ret_attribution)
{
	/* made once, and only read since: for callers the timeline does not change */
	struct ht_timeline *own = (struct ht_timeline *)(uintptr_t)timeline;
	enum ht_status status = HT_OK;
	pthread_mutex_lock(&own->lock);
	if (!own->has_attribution) {
		struct ht_run run = { .ctx = ctx,
			.policy = &ht_own_policy,
			.scratch = &own->arena,
			.trace = own->trace,
			.rank = own->info.rank,
			.attached = own->attached };
		status = ht_attribution_make(&run, own->trace, HT_ATTRIBUTE_ALL, &own->attribution);
		if (status == HT_OK)
			status = ht_origins_make(&run, true, &own->origins);
		if (status == HT_OK)
			status = ht_row_costs_make(&run, &own->costs);
		own->has_attribution = status == HT_OK;
	}
	pthread_mutex_unlock(&own->lock);
	*ret_attribution = &own->attribution;
	return status;
}

/* ---- fields and arguments ---- */

#define DETAIL_COLUMNS(COLUMN)                                                                     \
	COLUMN(COL_KEY, "key", HT_STR, HT_KEY, "field, link or argument of the event", NULL)       \
	COLUMN(COL_VALUE, "value", HT_STR, HT_MEASURE, "its value as text", NULL)
HT_COLUMNS(detail_columns, DETAIL_COLUMNS);

/* A value as text, in the scratch memory where it is none yet. */
static void put_detail(struct ht_event_column *column, uint32_t row, ht_table *table)
{
	struct ht_event_value value;
	char text[64];
	ht_event_value(column, row, &value);
	if (value.is_null)
		return;
	ht_table_row(table);
	ht_table_put_str(table, COL_KEY, column->column.name);
	switch (column->column.type) {
	case HT_STR: ht_table_put_strn(table, COL_VALUE, value.text, value.n); return;
	case HT_U64: snprintf(text, sizeof text, "%llu", (unsigned long long)value.i64); break;
	case HT_RATIO:
	case HT_F64: ht_double_print_short(text, value.f64); break;
	case HT_BOOL: snprintf(text, sizeof text, "%s", value.i64 ? "true" : "false"); break;
	case HT_EVENT:
		snprintf(text, sizeof text, "%lld:%u", (long long)ht_event_rank(value.i64),
		        ht_event_row(value.i64));
		break;
	default: snprintf(text, sizeof text, "%lld", (long long)value.i64); break;
	}
	ht_table_put_str(table, COL_VALUE, text);
}

static void put_i64(ht_table *table, const char *key, int64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "%lld", (long long)value);
	ht_table_row(table);
	ht_table_put_str(table, COL_KEY, key);
	ht_table_put_str(table, COL_VALUE, text);
}

/* What is known of a call of a collective from the other ranks. */
static void put_call(const ht_timeline *timeline, uint32_t row, ht_table *table)
{
	const struct ht_timeline_call *call = ht_timeline_call(timeline, row);
	if (!call)
		return;
	ht_table_row(table);
	ht_table_put_str(table, COL_KEY, "collective.group");
	ht_table_put_str(table, COL_VALUE, call->group);
	if (call->sequence != HT_NO_I64)
		put_i64(table, "collective.sequence", call->sequence);
	if (call->bytes != HT_NO_I64)
		put_i64(table, "collective.bytes", call->bytes);
	if (call->wait_ns == HT_NO_I64)
		return;
	put_i64(table, "collective.wait_ns", call->wait_ns);
	put_i64(table, "collective.transfer_ns", timeline->trace->dur_ns[row] - call->wait_ns);
	put_i64(table, "collective.last_rank", call->last_rank);
}

static enum ht_status put_details(ht_ctx *ctx, const ht_timeline *timeline, uint32_t row,
        struct ht_arena *scratch, ht_table *table)
{
	const struct ht_trace *t = timeline->trace;
	const struct ht_attribution *attribution;
	HT_TRY(attribution_of(ctx, timeline, &attribution));
	struct ht_event_source source = { ctx, scratch, t, timeline->info.rank, attribution,
		&timeline->origins, &timeline->costs };
	struct ht_event_column column;
	for (size_t i = 0; i < HT_N_EVENT_FIELDS; i++) {
		if (!ht_event_column_find(t, ht_event_fields[i].name, &column))
			continue;
		ht_event_column_start(&column, &source);
		put_detail(&column, row, table);
	}
	put_call(timeline, row, table);
	for (size_t i = 0; i < t->n_arg_columns; i++) {
		const struct ht_arg_column *arg = &t->arg_columns[i];
		if (ht_arg_position(t, arg, row) == UINT64_MAX)
			continue;
		const char *name = ht_arena_printf(
		        scratch, "%s.%s", arg->top_level ? "event" : "args", ht_str(t, arg->key));
		if (!name)
			return ht_fail_nomem(ctx);
		if (ht_event_column_find(t, name, &column)) {
			ht_event_column_start(&column, &source);
			put_detail(&column, row, table);
		}
	}
	return ht_table_finish(ctx, table);
}

static enum ht_status fail_row(ht_ctx *ctx, const ht_timeline *timeline, uint32_t row)
{
	return ht_fail(ctx, HT_USAGE, NULL, -1, NULL, "rank %lld has %u events, not row %u",
	        (long long)timeline->info.rank, ht_n_events(timeline->trace), row);
}

enum ht_status ht_timeline_event(
        ht_ctx *ctx, const ht_timeline *timeline, uint32_t row, ht_table **ret_table)
{
	ht_table *table;
	struct ht_arena scratch;
	ht_error_clear(ctx);
	if (row >= ht_n_events(timeline->trace))
		return fail_row(ctx, timeline, row);
	HT_TRY(ht_table_new(ctx, "Event", detail_columns, HT_COUNT(detail_columns), &table));
	ht_arena_init(&scratch, ctx->mem);
	enum ht_status status = put_details(ctx, timeline, row, &scratch, table);
	ht_arena_done(&scratch);
	if (status != HT_OK) {
		ht_table_free(table);
		return status;
	}
	*ret_table = table;
	return HT_OK;
}

/* ---- links ---- */

struct linking {
	const struct ht_timeline *timeline;
	uint32_t row;
	uint32_t launch, op; /* of the row, when it is GPU work */
	ht_link_fn fn;
	void *user;
};

static bool tell_link(const struct linking *l, const char *name, uint32_t from, uint32_t to)
{
	int64_t rank = l->timeline->info.rank;
	if (from == HT_NONE || to == HT_NONE || from == to)
		return true;
	struct ht_link link = {
		.from = ht_event_id(rank, from), .to = ht_event_id(rank, to), .name = name
	};
	return l->fn(l->user, &link);
}

/* The spans around the row, or around its launch. */
static bool tell_parents(const struct linking *l, const struct ht_attribution *attribution)
{
	const uint32_t *parent = attribution->autograd.parent;
	uint32_t at = l->launch == HT_NONE ? l->row : l->launch;
	if (l->launch != HT_NONE && !tell_link(l, "parent", l->launch, l->row))
		return false;
	for (size_t depth = 0; depth < MAX_DEPTH && at != HT_NONE; depth++) {
		uint32_t up = parent[at];
		if (!tell_link(l, "parent", up, at))
			return false;
		at = up;
	}
	return true;
}

static bool tell_peers(const struct linking *l)
{
	const struct ht_timeline_call *call = ht_timeline_call(l->timeline, l->row);
	for (size_t i = 0; call && i < call->n_peers; i++) {
		struct ht_link link = { .from = ht_event_id(l->timeline->info.rank, l->row),
			.to = call->peers[i],
			.name = "collective" };
		if (!l->fn(l->user, &link))
			return false;
	}
	return true;
}

static bool tell_launched(const struct linking *l)
{
	const struct ht_trace *t = l->timeline->trace;
	const uint32_t *gpus;
	size_t n;
	ht_launch_gpus(t, l->row, &gpus, &n);
	for (size_t i = 0; i < n; i++)
		if (!tell_link(l, "launch", l->row, t->gpu[gpus[i]].row))
			return false;
	if (t->kind[l->row] != HT_KIND_CPU_OP)
		return true;
	for (size_t i = 0; i < t->n_gpu; i++)
		if (t->gpu[i].op == l->row && !tell_link(l, "operator", l->row, t->gpu[i].row))
			return false;
	return true;
}

static bool tell_flows(const struct linking *l)
{
	const struct ht_trace *t = l->timeline->trace;
	for (size_t i = 0; i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		if (flow->from != l->row && flow->to != l->row)
			continue;
		const struct ht_gpu *gpu = flow->to == HT_NONE ? NULL : ht_gpu_of_row(t, flow->to);
		if (gpu && flow->from != HT_NONE && gpu->launch == flow->from)
			continue;
		const char *name = flow->cat == HT_NO_STR ? "flow" : ht_str(t, flow->cat);
		if (!tell_link(l, name, flow->from, flow->to))
			return false;
	}
	return true;
}

static bool has_flow(const struct ht_trace *t, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < t->more->n_flows; i++)
		if (t->more->flows[i].from == from && t->more->flows[i].to == to)
			return true;
	return false;
}

enum ht_status ht_timeline_links(
        ht_ctx *ctx, const ht_timeline *timeline, uint32_t row, ht_link_fn fn, void *user)
{
	const struct ht_trace *t = timeline->trace;
	const struct ht_attribution *attribution;
	ht_error_clear(ctx);
	if (row >= ht_n_events(t))
		return fail_row(ctx, timeline, row);
	HT_TRY(attribution_of(ctx, timeline, &attribution));
	const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
	struct linking l = { timeline, row, gpu ? gpu->launch : HT_NONE, gpu ? gpu->op : HT_NONE,
		fn, user };
	if (!tell_parents(&l, attribution))
		return HT_OK;
	if (gpu &&
	        (!tell_link(&l, "launch", l.launch, row) || !tell_link(&l, "operator", l.op, row)))
		return HT_OK;
	uint32_t forward = ht_attribution_forward(attribution, row);
	if (!has_flow(t, forward, row) && !tell_link(&l, "forward", forward, row))
		return HT_OK;
	if (tell_peers(&l) && tell_launched(&l))
		(void)tell_flows(&l);
	return HT_OK;
}
