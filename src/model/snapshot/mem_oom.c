/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_oom.c - see mem_oom.h.
 */
#include "model/snapshot/mem_oom.h"

#include "model/finding/finding.h"
#include "model/snapshot/mem_runs.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <string.h>

const char *ht_mem_oom_name(enum ht_mem_oom_class class_)
{
	static const char *const names[] = { "limit", "fragmentation", "pool-isolation", "outside",
		"shortage" };
	return names[class_];
}

const char *ht_mem_oom_help(const char *name, bool is_expandable)
{
	bool other = is_expandable && !strcmp(name, ht_mem_oom_name(HT_MEM_OOM_FRAGMENTATION));
	return ht_finding_advice("out-of-memory", other ? "fragmentation-expandable" : name);
}

/* What was free when a request failed, in the pool and stream that it may use and in all. */
static enum ht_status judge(const struct ht_mem_history *history, struct ht_mem_runs *runs,
        int64_t event, int64_t capacity, struct ht_mem_oom *ret_oom)
{
	const struct ht_trace *t = history->trace;
	const struct ht_mem_event *e = &t->more->mem_events[event];
	struct ht_mem_extent like = { .stream = e->stream,
		.pool = { e->pool[0], e->pool[1] },
		.is_small = ht_mem_round(t->more->mem_about, e->size) <= 1 << 20 };
	HT_TRY(ht_mem_runs_back_to(runs, event));
	struct ht_mem_room own = ht_mem_runs_room(runs, &like);
	struct ht_mem_oom oom = { .event = event,
		.requested = e->size,
		.driver_free = e->addr > INT64_MAX ? INT64_MAX : (int64_t)e->addr,
		.allocated = history->allocated[event],
		.reserved = history->reserved[event],
		.pool_free = own.free,
		.pool_largest = own.largest,
		.all_free = own.all,
		.capacity = capacity,
		.outside = HT_NO_I64,
		.stack = e->stack };
	if (capacity != HT_NO_I64)
		oom.outside = ht_sub_sat(capacity, ht_add_sat(oom.reserved, oom.driver_free));
	if (oom.driver_free >= oom.requested)
		oom.class_ = HT_MEM_OOM_LIMIT;
	else if (own.free >= e->size && own.largest < e->size)
		oom.class_ = HT_MEM_OOM_FRAGMENTATION;
	else if (own.all >= e->size && own.free < e->size)
		oom.class_ = HT_MEM_OOM_ISOLATION;
	else if (oom.outside != HT_NO_I64 && oom.outside > oom.reserved)
		oom.class_ = HT_MEM_OOM_OUTSIDE;
	else
		oom.class_ = HT_MEM_OOM_SHORTAGE;
	*ret_oom = oom;
	return HT_OK;
}

enum ht_status ht_mem_oom_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t event, int64_t capacity, struct ht_mem_oom *ret_oom)
{
	struct ht_mem_runs *runs;
	HT_TRY(ht_mem_runs_new(run, history, d, &runs));
	return judge(history, runs, event, capacity, ret_oom);
}

enum ht_status ht_mem_ooms_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t capacity, struct ht_mem_oom **ret_list,
        size_t *ret_n)
{
	const struct ht_trace *t = history->trace;
	struct ht_mem_runs *runs;
	size_t n = 0;
	for (int64_t k = d->first; k < d->end; k++)
		n += t->more->mem_events[k].action == HT_MEM_OOM;
	struct ht_mem_oom *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	*ret_list = list;
	*ret_n = n;
	if (!n)
		return HT_OK;
	HT_TRY(ht_mem_runs_new(run, history, d, &runs));
	for (int64_t k = d->end - 1; k >= d->first; k--)
		if (t->more->mem_events[k].action == HT_MEM_OOM)
			HT_TRY(judge(history, runs, k, capacity, &list[--n]));
	return HT_OK;
}
