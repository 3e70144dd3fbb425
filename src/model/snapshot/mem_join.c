/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_join.c - see mem_join.h.
 */
#include "model/snapshot/mem_join.h"

#include "attach/kind.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/memory/allocations.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>

#define MAX_APART_NS 1000000

struct joining {
	struct ht_run *run;
	const struct ht_trace *t;       /* the Kineto trace */
	const struct ht_trace *memory;  /* the snapshot */
	const struct ht_memory_op *ops; /* by memory event */
	const struct ht_memory_events *events;
	const struct ht_mem_device *d;
	uint64_t *addrs;   /* of the device's lives, ascending */
	uint32_t *by_addr; /* lives in that order, by allocation where equal */
	struct ht_mem_owner *owners;
};

static enum ht_status sort_lives(struct joining *j)
{
	size_t n = j->d->n_lives;
	j->addrs = ht_arena_room(j->run->scratch, (n + 1) * sizeof *j->addrs);
	j->by_addr = ht_arena_room(j->run->scratch, (n + 1) * sizeof *j->by_addr);
	j->owners = ht_arena_alloc(j->run->scratch, (n + 1) * sizeof *j->owners);
	if (!j->addrs || !j->by_addr || !j->owners)
		return ht_fail_nomem(j->run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		j->addrs[i] = j->d->lives[i].addr;
		j->by_addr[i] = i;
		j->owners[i].step = HT_NO_I64;
	}
	return ht_sort_keys(j->run->ctx->mem, j->addrs, j->by_addr, n) ? HT_OK
	                                                               : ht_fail_nomem(j->run->ctx);
}

/* The life that an allocation of the trace began, HT_NONE. */
static uint32_t life_of(const struct joining *j, const struct ht_memory_event *event)
{
	uint64_t addr = (uint64_t)event->addr;
	int64_t time_ns = ht_add_sat(event->ts_ns, j->t->meta->base_ns), best_ns = MAX_APART_NS;
	uint32_t best = HT_NONE;
	size_t i = HT_LOWER_BOUND(at, j->d->n_lives, j->addrs[at] < addr);
	for (; i < j->d->n_lives && j->addrs[i] == addr; i++) {
		const struct ht_mem_life *life = &j->d->lives[j->by_addr[i]];
		if (life->alloc < 0 ||
		        (life->size != event->bytes && life->requested != event->bytes))
			continue;
		int64_t apart =
		        ht_sub_sat(j->memory->more->mem_events[life->alloc].time_ns, time_ns);
		apart = apart < 0 ? -apart : apart;
		if (apart < best_ns) {
			best = j->by_addr[i];
			best_ns = apart;
		}
	}
	return best;
}

static void join_device(struct joining *j, struct ht_mem_join *join)
{
	for (size_t i = 0; i < j->events->n; i++) {
		const struct ht_memory_event *event = &j->events->list[i];
		if (event->bytes <= 0 || event->addr == HT_NO_I64 || !event->device_type ||
		        event->device_id != (int64_t)j->d->device)
			continue;
		uint32_t life = life_of(j, event), step = ht_step_of(j->t, event->row);
		join->n_events++;
		if (life == HT_NONE)
			continue;
		join->n_matched++;
		j->owners[life] = (struct ht_mem_owner){ j->ops[i].name, j->ops[i].outer,
			step == HT_NONE ? HT_NO_I64 : j->t->steps[step].number, event->row, true };
	}
}

enum ht_status ht_mem_join_make(
        struct ht_run *run, const struct ht_mem_history *history, struct ht_mem_join *ret_join)
{
	struct ht_memory_events events;
	struct ht_traits traits;
	struct ht_op_tree tree;
	struct joining j = { .run = run, .t = run->trace, .memory = history->trace };
	*ret_join = (struct ht_mem_join){ .is_refused = true };
	ret_join->owners =
	        ht_arena_alloc(run->scratch, (history->n_devices + 1) * sizeof(*ret_join->owners));
	if (!ret_join->owners)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_memory_events_collect(run, &events));
	if (!events.n || run->trace->meta->base_ns == HT_NO_I64)
		return HT_OK;
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &tree));
	HT_TRY(ht_memory_ops_find(run, &events, &tree, &j.ops));
	j.events = &events;
	for (size_t i = 0; i < history->n_devices; i++) {
		j.d = &history->devices[i];
		HT_TRY(sort_lives(&j));
		join_device(&j, ret_join);
		ret_join->owners[i] = j.owners;
	}
	ret_join->is_refused = 2 * ret_join->n_matched < ret_join->n_events || !ret_join->n_events;
	return HT_OK;
}

/* ---- the attachment ---- */

static bool sniff(const struct ht_attach_head *head)
{
	return ht_attach_is_snapshot(head);
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	const struct ht_mem_history *history;
	const void *trace;
	struct ht_mem_join join;
	struct ht_run other = *run;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &trace));
	other.trace = trace;
	HT_TRY(ht_mem_history_make(&other, &history));
	HT_TRY(ht_mem_join_make(run, history, &join));
	*ret_use = (struct ht_attach_use){
		.text = !join.n_events
		                ? "the trace has no memory events of GPUs, or no base time: blocks keep their stacks"
		        : join.is_refused
		                ? "fewer than half of the trace's allocations are in it: another run?"
		                : NULL,
		.matched = join.n_matched,
		.n = join.n_events,
		.things = "allocations on GPUs",
		.is_refused = join.n_events && join.is_refused,
	};
	return HT_OK;
}

const struct ht_attach_kind ht_attach_kind_memory_snapshot = {
	.name = "memory-snapshot",
	.what = "a memory snapshot",
	.use = "memory-snapshot shows it, with operators, modules and steps of the trace",
	.sniff = sniff,
	.load = ht_attach_load_trace,
	.free = ht_attach_free_trace,
	.judge = judge,
};

enum ht_status ht_mem_snapshot_of(struct ht_run *run, const struct ht_trace **ret_trace)
{
	size_t at = 0;
	*ret_trace = run->trace->more->n_mem_about ? run->trace : NULL;
	if (*ret_trace)
		return HT_OK;
	const struct ht_attachment *a =
	        ht_attached_next(run->attached, &ht_attach_kind_memory_snapshot, run->rank, &at);
	const void *trace = NULL;
	if (a)
		HT_TRY(ht_attachment_load(run->ctx, a, &trace));
	const struct ht_trace *found = trace;
	*ret_trace = found && found->more->n_mem_about ? found : NULL;
	return HT_OK;
}
