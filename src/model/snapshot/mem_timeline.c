/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_timeline.c - see mem_timeline.h.
 */
#include "model/snapshot/mem_timeline.h"

#include "attach/kind.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/memory/allocations.h"
#include "model/memory/memory_samples.h"
#include "store/trace_meta.h"

#include <string.h>

#define MAX_APART_NS 1000
#define MAX_TRIED    1000 /* rows for an event; no profiler writes so many within two microseconds */
#define CREATE       2
#define DESTROY      4

struct change {
	int64_t bytes;
	uint8_t category;
};

/* Rows of a timeline that create or destroy a tensor, by time. */
struct changes {
	uint64_t *times; /* ns since 1970 */
	uint32_t *order; /* of times: places in list */
	struct change *list;
	size_t n, n_created;
};

static uint8_t category_of(const struct ht_trace *t, uint32_t row)
{
	uint8_t c = 0;
	while (c + 1 < HT_N_MEMORY_CATEGORIES &&
	        strcmp(ht_memory_category_name(c), ht_str(t, t->name[row])) != 0)
		c++;
	return c;
}

static bool changes_init(struct changes *c, struct ht_arena *arena, size_t n)
{
	*c = (struct changes){ .times = ht_arena_room(arena, (n + 1) * sizeof *c->times),
		.order = ht_arena_room(arena, (n + 1) * sizeof *c->order),
		.list = ht_arena_room(arena, (n + 1) * sizeof *c->list) };
	return c->times && c->order && c->list;
}

static enum ht_status list_changes(
        struct ht_run *run, const struct ht_trace *t, struct changes *ret_changes)
{
	struct ht_arg_cursor bytes = ht_arg_cursor(t, "Bytes"), action = ht_arg_cursor(t, "Action");
	int64_t base_ns = t->meta->base_ns == HT_NO_I64 ? 0 : t->meta->base_ns;
	struct changes c;
	if (!changes_init(&c, run->scratch, t->n_kind))
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_MEMORY_TIMELINE)
			continue;
		int64_t what = ht_arg_cursor_i64(&action, row, 0);
		int64_t size = ht_arg_cursor_i64(&bytes, row, 0);
		if (what != CREATE && what != DESTROY)
			continue;
		c.n_created += what == CREATE;
		c.times[c.n] = (uint64_t)ht_add_sat(t->ts_ns[row], base_ns);
		c.order[c.n] = (uint32_t)c.n;
		c.list[c.n++] = (struct change){ size, category_of(t, row) };
	}
	if (!ht_sort_keys(run->ctx->mem, c.times, c.order, c.n))
		return ht_fail_nomem(run->ctx);
	*ret_changes = c;
	return HT_OK;
}

/* The category of the nearest row with the bytes of an event; HT_N_MEMORY_CATEGORIES: none. */
static uint8_t change_of(const struct changes *c, const struct ht_memory_event *e, int64_t base_ns)
{
	uint64_t time = (uint64_t)ht_add_sat(e->ts_ns, base_ns), best = MAX_APART_NS;
	uint64_t from = time > MAX_APART_NS ? time - MAX_APART_NS : 0;
	uint8_t category = HT_N_MEMORY_CATEGORIES;
	size_t first = HT_LOWER_BOUND(at, c->n, c->times[at] < from);
	for (size_t i = first;
	        i < c->n && i - first < MAX_TRIED && c->times[i] <= time + MAX_APART_NS; i++) {
		uint64_t apart = c->times[i] > time ? c->times[i] - time : time - c->times[i];
		if (c->list[c->order[i]].bytes != e->bytes || apart >= best)
			continue;
		best = apart;
		category = c->list[c->order[i]].category;
	}
	return category;
}

/* The timeline that joins the rank, NULL. */
static enum ht_status find_timeline(struct ht_run *run, const struct ht_trace **ret_trace)
{
	size_t at = 0;
	const void *trace = NULL;
	const struct ht_attachment *a =
	        ht_attached_next(run->attached, &ht_attach_kind_memory_timeline, run->rank, &at);
	if (a)
		HT_TRY(ht_attachment_load(run->ctx, a, &trace));
	*ret_trace = trace;
	return HT_OK;
}

enum ht_status ht_mem_timeline_derive(struct ht_run *run, struct ht_mem_derived *by_row)
{
	const struct ht_trace *timeline;
	struct ht_memory_events events;
	struct ht_memory_pair *pairs;
	struct changes changes;
	size_t n_pairs, n_found = 0;
	int64_t base_ns = run->trace->meta->base_ns;
	HT_TRY(find_timeline(run, &timeline));
	if (!timeline || base_ns == HT_NO_I64)
		return HT_OK;
	HT_TRY(list_changes(run, timeline, &changes));
	HT_TRY(ht_memory_events_collect(run, &events));
	HT_TRY(ht_memory_pairs_find(run, &events, &pairs, &n_pairs));
	uint8_t *found = ht_arena_room(run->scratch, n_pairs + 1);
	if (!found)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_pairs; i++) {
		found[i] = HT_N_MEMORY_CATEGORIES;
		if (pairs[i].alloc == SIZE_MAX || !events.list[pairs[i].alloc].device_type)
			continue;
		found[i] = change_of(&changes, &events.list[pairs[i].alloc], base_ns);
		n_found += found[i] != HT_N_MEMORY_CATEGORIES;
		if (found[i] == HT_MEMORY_UNKNOWN && pairs[i].free != SIZE_MAX)
			found[i] = change_of(&changes, &events.list[pairs[i].free], base_ns);
	}
	if (2 * n_found < changes.n_created)
		return HT_OK;
	for (size_t i = 0; i < n_pairs; i++)
		if (found[i] < HT_MEMORY_UNKNOWN)
			by_row[events.list[pairs[i].alloc].row] =
			        (struct ht_mem_derived){ found[i], true };
	return HT_OK;
}
