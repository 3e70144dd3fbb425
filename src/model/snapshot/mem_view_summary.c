/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view_summary.c - a device in one row: its figures, and what the other views conclude. See mem_view.h.
 */
#include "model/snapshot/mem_oom.h"
#include "model/snapshot/mem_steps.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_view.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

/* What mosaic reports: the most that allocations of the history hold, and blocks that no event names. */
struct mosaic {
	int64_t dynamic, fixed;
};

static enum ht_status mosaic_of(
        const struct ht_mem_view *v, const struct ht_mem_device *d, struct mosaic *ret)
{
	const struct ht_trace *t = v->run->trace;
	struct mosaic m = { 0 };
	int64_t now = 0, n = d->end - d->first;
	int64_t *deltas = ht_arena_alloc(v->run->scratch, (size_t)(n + 1) * sizeof *deltas);
	if (!deltas)
		return ht_fail_nomem(v->run->ctx);
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct ht_mem_life *life = &d->lives[i];
		if (life->alloc >= 0) {
			deltas[life->alloc - d->first] += life->requested;
			if (life->free_completed != HT_MEM_NEVER)
				deltas[life->free_completed - d->first] -= life->requested;
		} else if (life->free_requested == HT_MEM_NEVER && life->block != HT_NONE &&
		           t->more->mem_blocks[life->block].state == HT_MEM_ALLOCATED) {
			m.fixed += life->size;
		}
	}
	for (int64_t k = 0; k < n; k++) {
		now += deltas[k];
		m.dynamic = now > m.dynamic ? now : m.dynamic;
	}
	*ret = m;
	return HT_OK;
}

/* The first event of a device at which a request failed; HT_MEM_BEFORE: none. */
static int64_t first_oom(const struct ht_trace *t, const struct ht_mem_device *d)
{
	for (int64_t k = d->first; k < d->end; k++)
		if (t->more->mem_events[k].action == HT_MEM_OOM)
			return k;
	return HT_MEM_BEFORE;
}

/* What private pools have reserved, and keep without using it. */
struct private_pools {
	int64_t reserved, idle;
};

static struct private_pools private_pools_of(
        const struct ht_trace *t, const struct ht_mem_device *d)
{
	struct private_pools pools = { 0 };
	for (size_t i = 0; i < d->n_segments; i++) {
		const struct ht_mem_segment *g = &t->more->mem_segments[d->segments[i]];
		if (!g->pool[0] && !g->pool[1])
			continue;
		pools.reserved = ht_add_sat(pools.reserved, g->total);
		pools.idle = ht_add_sat(pools.idle, ht_sub_sat(g->total, g->active));
	}
	return pools;
}

/* What the other views conclude of a device. */
struct conclusions {
	struct ht_mem_steps steps;
	struct ht_mem_leak *leaks;
	size_t n_leaks;
	int64_t failed; /* event of the first request that failed, HT_MEM_BEFORE */
	struct ht_mem_oom oom;
	struct ht_mem_pressure worst;
	struct private_pools pools;
};

static enum ht_status conclude(
        struct ht_mem_view *v, const struct ht_mem_device *d, struct conclusions *ret)
{
	const struct ht_trace *t = v->run->trace;
	*ret = (struct conclusions){ .failed = first_oom(t, d), .pools = private_pools_of(t, d) };
	HT_TRY(ht_mem_view_steps(v, d, &ret->steps));
	HT_TRY(ht_mem_leaks_find(v->run, d, &ret->steps, &ret->leaks, &ret->n_leaks));
	HT_TRY(ht_mem_pressure_find(v->run, v->history, d, &ret->worst));
	if (ret->failed != HT_MEM_BEFORE)
		HT_TRY(ht_mem_oom_judge(v->run, v->history, d, ret->failed,
		        ht_mem_capacity(v->kineto, d->device), &ret->oom));
	return HT_OK;
}

static void put_conclusions(struct ht_mem_view *v, const struct conclusions *c)
{
	ht_table *table = v->table;
	bool has_failed = c->failed != HT_MEM_BEFORE;
	if (c->n_leaks) {
		ht_table_put_str(
		        table, SUMMARY_LEAK_KEY, ht_mem_user_text(v->run, c->leaks[0].stack));
		ht_table_put_f64(table, SUMMARY_LEAK_BYTES_PER_STEP, c->leaks[0].bytes_per_step);
	} else {
		ht_table_put_nulls(table, SUMMARY_LEAK_KEY, SUMMARY_OOM_CLASS);
	}
	ht_table_put_str(
	        table, SUMMARY_OOM_CLASS, has_failed ? ht_mem_oom_name(c->oom.class_) : NULL);
	if (c->worst.event != HT_MEM_BEFORE)
		ht_table_put_f64(table, SUMMARY_FRAGMENTATION, c->worst.ratio);
	else
		ht_table_put_null(table, SUMMARY_FRAGMENTATION);
	ht_table_put_i64(table, SUMMARY_IDLE_POOL_BYTES, c->pools.idle);
}

/* What the sentences about them need besides. */
static void put_grounds(struct ht_mem_view *v, const struct conclusions *c)
{
	ht_table *table = v->table;
	const struct ht_mem_oom *oom = &c->oom;
	int64_t wanted = c->worst.segment > c->worst.request ? c->worst.segment : c->worst.request;
	ht_table_put_i64(table, SUMMARY_STEPS, (int64_t)c->steps.n);
	ht_table_put_i64(table, SUMMARY_LEAKS, (int64_t)c->n_leaks);
	if (c->failed == HT_MEM_BEFORE) {
		ht_table_put_nulls(table, SUMMARY_OOM_KEY, SUMMARY_WANTED_BYTES);
	} else {
		ht_table_put_str(table, SUMMARY_OOM_KEY, ht_mem_user_text(v->run, oom->stack));
		ht_table_put_i64(table, SUMMARY_OOM_REQUESTED_BYTES, oom->requested);
		ht_table_put_i64(table, SUMMARY_OOM_DRIVER_FREE_BYTES, oom->driver_free);
		ht_table_put_i64(table, SUMMARY_OOM_ALLOCATED_BYTES, oom->allocated);
		ht_table_put_i64(table, SUMMARY_OOM_FREE_BYTES, oom->pool_free);
		ht_table_put_i64(table, SUMMARY_OOM_LARGEST_FREE_BYTES, oom->pool_largest);
		ht_table_put_i64(
		        table, SUMMARY_OOM_OTHER_FREE_BYTES, oom->all_free - oom->pool_free);
		ht_table_put_known(table, SUMMARY_OOM_OUTSIDE_BYTES, oom->outside, HT_NO_I64);
	}
	if (c->worst.event == HT_MEM_BEFORE) {
		ht_table_put_nulls(table, SUMMARY_WANTED_BYTES, SUMMARY_EXPANDABLE);
	} else {
		ht_table_put_i64(table, SUMMARY_WANTED_BYTES, wanted);
		ht_table_put_i64(table, SUMMARY_IN_PIECES_BYTES, c->worst.free);
	}
	ht_table_put_i64(
	        table, SUMMARY_EXPANDABLE, v->run->trace->more->mem_about->is_expandable != 0);
	ht_table_put_i64(table, SUMMARY_POOL_RESERVED_BYTES, c->pools.reserved);
}

/* The key of a group and its share of the peak, in two columns; nulls when there are no so many. */
static void put_holder(ht_table *table, size_t column, const struct ht_mem_device *d,
        const struct ht_mem_group *groups, size_t n, size_t i)
{
	if (i < n)
		ht_table_put_str(table, column, groups[i].key);
	else
		ht_table_put_null(table, column);
	if (i < n && d->peak_allocated > 0)
		ht_table_put_f64(
		        table, column + 1, (double)groups[i].bytes / (double)d->peak_allocated);
	else
		ht_table_put_null(table, column + 1);
}

static void put_figures(struct ht_mem_view *v, const struct ht_mem_device *d)
{
	ht_table *table = v->table;
	int64_t n_unread = d == v->history->devices
	                           ? (int64_t)v->run->trace->more->mem_about->n_entries_lost
	                           : 0;
	ht_table_put_i64(table, SUMMARY_RANK, v->run->rank);
	ht_table_put_i64(table, SUMMARY_DEVICE, d->device);
	ht_table_put_i64(table, SUMMARY_PEAK_ALLOCATED_BYTES,
	        d->peak_allocated > d->allocated ? d->peak_allocated : d->allocated);
	ht_table_put_i64(table, SUMMARY_PEAK_RESERVED_BYTES, d->peak_reserved);
	ht_table_put_i64(table, SUMMARY_ALLOCATED_BYTES, d->allocated);
	ht_table_put_i64(table, SUMMARY_RESERVED_BYTES, d->reserved);
	ht_table_put_i64(table, SUMMARY_ACTIVE_BYTES, d->active);
	ht_table_put_i64(table, SUMMARY_REQUESTED_BYTES, d->requested);
	ht_table_put_i64(table, SUMMARY_N_EVENTS, d->end - d->first);
	ht_table_put_i64(table, SUMMARY_LOST_EVENTS, d->n_lone_frees + n_unread);
	ht_table_put_i64(table, SUMMARY_BASE_BYTES, d->base_allocated);
	ht_table_put_i64(table, SUMMARY_PEAK_REQUESTED_BYTES, d->peak_requested);
	ht_table_put_i64(table, SUMMARY_HELD_FOR_STREAMS_BYTES, d->held_most);
	ht_table_put_known(table, SUMMARY_PEAK_EVENT,
	        d->peak_at < 0 ? HT_NO_I64 : d->peak_at - d->first, HT_NO_I64);
	ht_table_put_known(
	        table, SUMMARY_PEAK_TIME_NS, ht_mem_view_time(v, d, d->peak_at), HT_NO_I64);
}

static enum ht_status put_summary(struct ht_mem_view *v, const struct ht_mem_device *d)
{
	struct ht_mem_group *groups;
	struct mosaic mosaic = { 0 };
	struct conclusions found;
	size_t n;
	HT_TRY(mosaic_of(v, d, &mosaic));
	HT_TRY(ht_mem_groups_find(v, d, d->peak_at, &groups, &n));
	HT_TRY(conclude(v, d, &found));
	uint32_t scope = d->peak_at < 0 ? HT_NONE : v->names.scopes.of_event[d->peak_at];
	const char *path =
	        scope == HT_NONE ? NULL : ht_mem_scope_path(v->run, &v->names.scopes, scope);
	ht_table_row(v->table);
	put_figures(v, d);
	ht_table_put_str(v->table, SUMMARY_PEAK_ANNOTATION, path);
	put_holder(v->table, SUMMARY_PEAK_KEY, d, groups, n, 0);
	ht_table_put_i64(v->table, SUMMARY_MOSAIC_DYNAMIC_BYTES, mosaic.dynamic);
	ht_table_put_i64(v->table, SUMMARY_MOSAIC_STATIC_BYTES, mosaic.fixed);
	put_conclusions(v, &found);
	put_holder(v->table, SUMMARY_PEAK_KEY_2, d, groups, n, 1);
	put_holder(v->table, SUMMARY_PEAK_KEY_3, d, groups, n, 2);
	put_grounds(v, &found);
	return HT_OK;
}

enum ht_status ht_mem_view_summary(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++)
		HT_TRY(put_summary(v, &v->history->devices[i]));
	return HT_OK;
}

/* Only the trace of the same run knows operators and steps of its own. */
static bool needs_trace(enum ht_mem_by by)
{
	return by == HT_MEM_BY_OPERATOR || by == HT_MEM_BY_STEP || by == HT_MEM_BY_MODULE;
}

enum ht_status ht_mem_view_make(struct ht_run *run, enum ht_mem_by by, const char *rules,
        struct ht_mem_view *ret_view, bool *ret_is_there)
{
	const struct ht_trace *snapshot;
	HT_TRY(ht_mem_snapshot_of(run, &snapshot));
	*ret_is_there = snapshot != NULL;
	if (!snapshot)
		return HT_OK;
	struct ht_mem_join *join = ht_arena_alloc(run->scratch, sizeof *join);
	struct ht_run *own = ht_arena_alloc(run->scratch, sizeof *own);
	if (!join || !own)
		return ht_fail_nomem(run->ctx);
	*own = *run;
	own->trace = snapshot;
	*ret_view = (struct ht_mem_view){ .run = own, .kineto = run->trace };
	HT_TRY(ht_mem_history_make(own, &ret_view->history));
	HT_TRY(ht_mem_names_init(own, ret_view->history, by, rules, &ret_view->names));
	if (needs_trace(by) && ht_n_events(run->trace)) {
		HT_TRY(ht_mem_join_make(run, ret_view->history, join));
		ret_view->names.join = join;
	}
	return HT_OK;
}

enum ht_status ht_mem_view_use_derived(
        struct ht_run *run, const struct ht_mem_derived *by_row, struct ht_mem_view *v)
{
	struct ht_mem_join *join = ht_arena_alloc(run->scratch, sizeof *join);
	if (!join)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_mem_join_make(run, v->history, join));
	v->names.join = join;
	v->names.derived = by_row;
	return HT_OK;
}

enum ht_status ht_mem_summary_put(struct ht_run *run, ht_table *table)
{
	struct ht_mem_view v;
	bool is_there;
	HT_TRY(ht_mem_view_make(run, HT_MEM_BY_FRAME, NULL, &v, &is_there));
	if (!is_there)
		return HT_OK;
	v.table = table;
	return ht_mem_view_summary(&v);
}
