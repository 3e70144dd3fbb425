/*
 * mem_oom.c - see mem_oom.h.
 */
#include "model/snapshot/mem_oom.h"

#include "model/finding/finding.h"

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

static struct ht_mem_oom judge(const struct ht_mem_history *history,
        const struct ht_mem_layout *state, int64_t event, int64_t capacity)
{
	const struct ht_trace *t = history->trace;
	const struct ht_mem_event *e = &t->mem_events[event];
	struct ht_mem_extent like = { .stream = e->stream,
		.pool = { e->pool[0], e->pool[1] },
		.is_small = ht_mem_round(t->mem_about, e->size) <= 1 << 20 };
	struct ht_mem_free own = ht_mem_layout_free(state, &like);
	struct ht_mem_free all = ht_mem_layout_free(state, NULL);
	struct ht_mem_oom oom = { .event = event,
		.requested = e->size,
		.driver_free = e->addr > INT64_MAX ? INT64_MAX : (int64_t)e->addr,
		.allocated = history->allocated[event],
		.reserved = history->reserved[event],
		.pool_free = own.free,
		.pool_largest = own.largest,
		.all_free = all.free,
		.capacity = capacity,
		.outside = HT_NO_I64,
		.stack = e->stack };
	if (capacity != HT_NO_I64)
		oom.outside = ht_sub_sat(capacity, ht_add_sat(oom.reserved, oom.driver_free));
	if (oom.driver_free >= oom.requested)
		oom.class_ = HT_MEM_OOM_LIMIT;
	else if (own.free >= e->size && own.largest < e->size)
		oom.class_ = HT_MEM_OOM_FRAGMENTATION;
	else if (all.free >= e->size && own.free < e->size)
		oom.class_ = HT_MEM_OOM_ISOLATION;
	else if (oom.outside != HT_NO_I64 && oom.outside > oom.reserved)
		oom.class_ = HT_MEM_OOM_OUTSIDE;
	else
		oom.class_ = HT_MEM_OOM_SHORTAGE;
	return oom;
}

enum ht_status ht_mem_oom_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t event, int64_t capacity, struct ht_mem_oom *ret_oom)
{
	struct ht_mem_layout state;
	HT_TRY(ht_mem_layout_at(run, history, d, event, &state));
	*ret_oom = judge(history, &state, event, capacity);
	return HT_OK;
}

enum ht_status ht_mem_ooms_judge(struct ht_run *run, const struct ht_mem_history *history,
        const struct ht_mem_device *d, int64_t capacity, struct ht_mem_oom **ret_list,
        size_t *ret_n)
{
	const struct ht_trace *t = history->trace;
	struct ht_mem_walk *walk;
	struct ht_mem_layout state;
	size_t n = 0;
	for (int64_t k = d->first; k < d->end; k++)
		n += t->mem_events[k].action == HT_MEM_OOM;
	struct ht_mem_oom *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	*ret_list = list;
	*ret_n = n;
	if (!n)
		return HT_OK;
	HT_TRY(ht_mem_walk_new(run, history, d, &walk));
	for (int64_t k = d->end - 1; k >= d->first; k--) {
		if (t->mem_events[k].action != HT_MEM_OOM)
			continue;
		HT_TRY(ht_mem_walk_to(walk, k, &state));
		list[--n] = judge(history, &state, k, capacity);
	}
	return HT_OK;
}
