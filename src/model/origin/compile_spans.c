/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_spans.c - see compile_spans.h.
 */
#include "model/origin/compile_spans.h"

#include "attach/kind.h"
#include "base/free_places.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/origin/compile_log.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* So far apart may the two records of one beginning be. */
#define SAME_NS 1000000

static int by_start(const void *left, const void *right)
{
	const struct ht_compile_span *a = left, *b = right;
	int order = ht_order_i64(a->ts_ns, b->ts_ns);
	if (!order)
		order = ht_order_i64(b->dur_ns, a->dur_ns);
	return order ? order : strcmp(a->name, b->name);
}

static enum ht_status collect(struct ht_run *run, struct ht_vec *spans)
{
	const struct ht_attachment *a;
	size_t at = 0;
	while ((a = ht_attached_next(run->attached, &ht_attach_kind_compile_log, run->rank, &at))) {
		const void *data;
		HT_TRY(ht_attachment_load(run->ctx, a, &data));
		const struct ht_vec *own = &((const struct ht_compile_log *)data)->spans;
		const struct ht_compile_span *list = own->data;
		for (size_t i = 0; i < own->n; i++)
			if (!HT_VEC_PUSH(run->ctx->mem, spans, struct ht_compile_span, list[i]))
				return ht_fail_nomem(run->ctx);
	}
	return HT_OK;
}

/* Spans by name and start. Those that have an event are passed over. */
struct named {
	const struct ht_compile_span *list;
	uint32_t *order; /* places in the list, by name and, of one name, as they are there */
	uint64_t *ids;   /* of their names in the trace */
	uint32_t *first; /* by id: of its spans, HT_NONE: none */
	struct ht_free_places free; /* without an event */
	size_t n;
};

static enum ht_status sort_by_name(
        struct ht_run *run, const struct ht_compile_span *list, size_t n, struct named *ret_named)
{
	const struct ht_trace *t = run->trace;
	size_t n_ids = t->n_string_offsets + 1;
	struct named named = { .list = list,
		.order = ht_arena_room(run->scratch, (n + 1) * sizeof *named.order),
		.ids = ht_arena_room(run->scratch, (n + 1) * sizeof *named.ids),
		.first = ht_arena_room(run->scratch, n_ids * sizeof *named.first) };
	void *room = ht_arena_room(run->scratch, ht_free_places_bytes(n));
	if (!named.order || !named.ids || !named.first || !room)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++) {
		uint32_t id = ht_str_find(t, list[i].name);
		if (id == HT_NO_STR)
			continue;
		named.ids[named.n] = id;
		named.order[named.n++] = (uint32_t)i;
	}
	if (!ht_sort_keys(run->ctx->mem, named.ids, named.order, named.n))
		return ht_fail_nomem(run->ctx);
	memset(named.first, 0xff, n_ids * sizeof *named.first);
	for (size_t i = named.n; i-- > 0;)
		named.first[named.ids[i]] = (uint32_t)i;
	named.free = ht_free_places(room, named.n);
	*ret_named = named;
	return HT_OK;
}

static int64_t start_of(const struct named *named, size_t at)
{
	return named->list[named->order[at]].ts_ns;
}

/* The first span without an event from a place on; HT_NONE: none of the name that begins by a time. */
static uint32_t free_from(const struct named *named, size_t at, uint32_t id, int64_t until_ns)
{
	size_t found = ht_free_behind(&named->free, (uint32_t)at + 1) - 1;
	bool fits =
	        found < named->n && named->ids[found] == id && start_of(named, found) <= until_ns;
	return fits ? (uint32_t)found : HT_NONE;
}

/* Of the spans of a name without an event the one that begins nearest to a time, as a place; of several the first in the list. */
static uint32_t find_near(const struct named *named, uint32_t id, int64_t ts_ns)
{
	size_t first = named->first[id];
	int64_t from_ns = ht_sub_sat(ts_ns, SAME_NS), until_ns = ht_add_sat(ts_ns, SAME_NS);
	size_t at =
	        first + HT_LOWER_BOUND(i, named->n - first,
	                        named->ids[first + i] == id && start_of(named, first + i) < ts_ns);
	uint32_t after = free_from(named, at, id, until_ns);
	size_t before = ht_free_before(&named->free, (uint32_t)at);
	if (before <= first || start_of(named, before - 1) < from_ns)
		return after;
	int64_t before_ns = start_of(named, before - 1);
	if (after != HT_NONE && start_of(named, after) - ts_ns < ts_ns - before_ns)
		return after;
	size_t same =
	        first + HT_LOWER_BOUND(i, before - first, start_of(named, first + i) < before_ns);
	return free_from(named, same, id, before_ns);
}

/* The trace's own events of the same. */
static enum ht_status find_rows(struct ht_run *run, struct ht_compile_span *list, size_t n)
{
	const struct ht_trace *t = run->trace;
	struct named named;
	HT_TRY(sort_by_name(run, list, n, &named));
	for (uint32_t row = 0; named.n && row < ht_n_events(t); row++) {
		uint32_t id = t->name[row];
		if (id == HT_NO_STR || named.first[id] == HT_NONE || !ht_is_span(t, row))
			continue;
		uint32_t at = find_near(&named, id, t->ts_ns[row]);
		if (at == HT_NONE)
			continue;
		list[named.order[at]].row = row;
		ht_free_take(&named.free, at + 1);
	}
	return HT_OK;
}

enum ht_status ht_compile_spans_find(
        struct ht_run *run, struct ht_compile_span **ret_list, size_t *ret_n)
{
	int64_t base_ns = run->trace->meta->base_ns;
	struct ht_vec spans = { 0 };
	enum ht_status status = collect(run, &spans);
	size_t n = status == HT_OK ? spans.n : 0;
	struct ht_compile_span *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (status == HT_OK && !list)
		status = ht_fail_nomem(run->ctx);
	if (status == HT_OK && n)
		memcpy(list, spans.data, n * sizeof *list);
	ht_vec_free(run->ctx->mem, &spans, sizeof *list);
	HT_TRY(status);
	for (size_t i = 0; i < n; i++)
		list[i].ts_ns = ht_sub_sat(list[i].ts_ns, base_ns == HT_NO_I64 ? 0 : base_ns);
	if (n)
		qsort(list, n, sizeof *list, by_start);
	HT_TRY(find_rows(run, list, n));
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

bool ht_compile_span_is_inside(const struct ht_trace *t, const struct ht_compile_span *span)
{
	return t->meta->min_ts_ns != HT_NO_I64 && span->ts_ns < t->meta->max_end_ns &&
	       ht_add_sat(span->ts_ns, span->dur_ns) > t->meta->min_ts_ns;
}
