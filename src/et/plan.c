/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - see et_plan.h.
 */
#include "et/et_plan.h"
#include "store/columns.h"

#include "base/sort.h"
#include "et/et_files.h"

#include <string.h>

struct planning {
	ht_ctx *ctx;
	struct ht_arena *arena;
	struct ht_et_plan *plan;
	struct ht_vec deps;    /* uint32_t */
	uint32_t *item_of_gpu; /* by index into the link's gpus */
};

/* ---- items ---- */

static enum ht_status number_items(struct planning *k)
{
	struct ht_et_plan *plan = k->plan;
	const struct ht_et *et = plan->et;
	size_t n_gpus = plan->link ? plan->link->n_gpus : 0, n_room = ht_et_n(et) + n_gpus + 1;
	plan->items = ht_arena_alloc(k->arena, n_room * sizeof *plan->items);
	plan->item_of = ht_arena_alloc(k->arena, ((size_t)ht_et_n(et) + 1) * sizeof *plan->item_of);
	k->item_of_gpu = ht_arena_alloc(k->arena, (n_gpus + 1) * sizeof *k->item_of_gpu);
	if (!plan->items || !plan->item_of || !k->item_of_gpu)
		return ht_fail_nomem(k->ctx);
	for (uint32_t i = 0; i < ht_et_n(et); i++) {
		uint32_t row = et->by_id[i];
		const struct ht_et_linked *linked = plan->link ? &plan->link->nodes[row] : NULL;
		plan->item_of[row] = (uint32_t)plan->n_items;
		plan->items[plan->n_items++] = (struct ht_et_item){ .row = row,
			.gpu = HT_ET_NONE,
			.parent = HT_ET_NONE,
			.comm = HT_ET_NONE,
			.is_cpu_op = true };
		for (uint32_t j = 0; linked && j < linked->n_gpu; j++) {
			k->item_of_gpu[linked->first_gpu + j] = (uint32_t)plan->n_items;
			plan->items[plan->n_items++] = (struct ht_et_item){ .row = row,
				.gpu = linked->first_gpu + j,
				.parent = plan->item_of[row],
				.comm = HT_ET_NONE };
		}
	}
	for (size_t i = 0; i < plan->n_items; i++) {
		struct ht_et_item *item = &plan->items[i];
		uint32_t parent = ht_et_nodes(et)[item->row].parent;
		if (item->gpu == HT_ET_NONE && parent != HT_ET_NONE)
			item->parent = plan->item_of[parent];
		ht_et_item_classify(plan, item, k->arena);
	}
	return HT_OK;
}

const char *ht_et_item_name(const struct ht_et_plan *plan, const struct ht_et_item *item)
{
	if (item->gpu == HT_ET_NONE)
		return ht_et_str(plan->et, ht_et_nodes(plan->et)[item->row].name);
	const struct ht_gpu *gpu = &plan->trace->gpu[plan->link->gpus[item->gpu].gpu];
	return ht_str(plan->trace, plan->trace->name[gpu->row]);
}

bool ht_et_item_time(const struct ht_et_plan *plan, const struct ht_et_item *item,
        int64_t *ret_ts_ns, int64_t *ret_dur_ns, int64_t *ret_self_ns)
{
	if (item->row < plan->et->chakra.n) {
		const struct ht_et_chakra *c =
		        (const struct ht_et_chakra *)plan->et->chakra.data + item->row;
		*ret_ts_ns =
		        c->start_us < INT64_MAX / 1000 ? (int64_t)c->start_us * 1000 : INT64_MAX;
		*ret_dur_ns = c->dur_us < INT64_MAX / 1000 ? (int64_t)c->dur_us * 1000 : INT64_MAX;
		*ret_self_ns = *ret_dur_ns;
		return c->start_us != 0;
	}
	if (!plan->link)
		return false;
	if (item->gpu != HT_ET_NONE) {
		uint32_t row = plan->trace->gpu[plan->link->gpus[item->gpu].gpu].row;
		*ret_ts_ns = plan->trace->ts_ns[row];
		*ret_self_ns = *ret_dur_ns = plan->trace->dur_ns[row];
		return true;
	}
	const struct ht_et_linked *linked = &plan->link->nodes[item->row];
	*ret_ts_ns = linked->ts_ns;
	*ret_dur_ns = linked->dur_ns;
	*ret_self_ns = linked->self_ns;
	return plan->link->join.event[item->row] != HT_NONE;
}

/* ---- dependencies ---- */

static enum ht_status depend(struct planning *k, struct ht_et_item *item, uint32_t on)
{
	uint32_t *deps = k->deps.data;
	for (uint32_t i = 0; i < item->n_deps; i++)
		if (deps[item->first_dep + i] == on)
			return HT_OK;
	if (on == (uint32_t)(item - k->plan->items))
		return HT_OK;
	item->n_deps++;
	return HT_VEC_PUSH(k->ctx->mem, &k->deps, uint32_t, on) ? HT_OK : ht_fail_nomem(k->ctx);
}

/* Whether one item starts before another; without times it does not. */
static bool is_before(const struct ht_et_plan *plan, uint32_t a, uint32_t b)
{
	int64_t a_ns, b_ns, dur_ns, self_ns;
	return ht_et_item_time(plan, &plan->items[a], &a_ns, &dur_ns, &self_ns) &&
	       ht_et_item_time(plan, &plan->items[b], &b_ns, &dur_ns, &self_ns) && a_ns < b_ns;
}

static enum ht_status depend_call(
        struct planning *k, struct ht_et_item *item, uint32_t before_on_thread)
{
	const struct ht_et_plan *plan = k->plan;
	uint32_t self = (uint32_t)(item - plan->items);
	if (before_on_thread != HT_ET_NONE)
		HT_TRY(depend(k, item, before_on_thread));
	if (!plan->link)
		return HT_OK;
	const struct ht_et_linked *linked = &plan->link->nodes[item->row];
	if (linked->after != HT_ET_NONE) {
		uint32_t on = plan->item_of[linked->after];
		if (plan->as_chakra || is_before(plan, on, self))
			HT_TRY(depend(k, item, on));
	}
	for (uint32_t i = 0; i < linked->n_sync && !plan->as_chakra; i++) {
		uint32_t on = k->item_of_gpu[plan->link->syncs[linked->first_sync + i]];
		if (is_before(plan, on, self))
			HT_TRY(depend(k, item, on));
	}
	return HT_OK;
}

/* By item of GPU work: the item before it on its stream. */
static enum ht_status find_stream_order(struct planning *k, uint32_t **ret_before)
{
	const struct ht_et_plan *plan = k->plan;
	size_t n = plan->link ? plan->link->n_gpus : 0;
	uint32_t *before = ht_arena_alloc(k->arena, (n + 1) * sizeof *before);
	uint64_t *keys = ht_arena_alloc(k->arena, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(k->arena, (n + 1) * sizeof *order);
	if (!before || !keys || !order)
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = plan->trace->gpu[plan->link->gpus[i].gpu].row;
		keys[i] = ht_sort_key_i64(plan->trace->ts_ns[row]);
		order[i] = (uint32_t)i;
		before[i] = HT_ET_NONE;
	}
	if (!ht_sort_keys(k->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_gpu *gpu = &plan->trace->gpu[plan->link->gpus[order[i]].gpu];
		keys[i] = (uint64_t)(uint32_t)gpu->device << 32 ^
		          ((uint64_t)gpu->stream & 0xffffffff);
	}
	if (!ht_sort_keys(k->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 1; i < n; i++)
		if (keys[i] == keys[i - 1])
			before[order[i]] = order[i - 1];
	*ret_before = before;
	return HT_OK;
}

static enum ht_status depend_gpu(
        struct planning *k, struct ht_et_item *item, const uint32_t *before_on_stream)
{
	const struct ht_et_plan *plan = k->plan;
	uint32_t self = (uint32_t)(item - plan->items), before = before_on_stream[item->gpu];
	if (!plan->link->gpus[item->gpu].is_orphan)
		HT_TRY(depend(k, item, item->parent));
	if (before != HT_ET_NONE && !plan->as_chakra &&
	        is_before(plan, k->item_of_gpu[before], self))
		HT_TRY(depend(k, item, k->item_of_gpu[before]));
	return HT_OK;
}

/* The last call of each thread, by the thread's node. Ids ascend with starts, so going through them is the walk
 * over the tree. */
static enum ht_status depend_all(struct planning *k)
{
	struct ht_et_plan *plan = k->plan;
	const struct ht_et *et = plan->et;
	uint32_t *thread_of =
	        ht_arena_alloc(k->arena, ((size_t)ht_et_n(et) + 1) * sizeof *thread_of);
	uint32_t *last = ht_arena_alloc(k->arena, ((size_t)ht_et_n(et) + 1) * sizeof *last);
	uint32_t *before_on_stream = NULL;
	if (!thread_of || !last)
		return ht_fail_nomem(k->ctx);
	HT_TRY(find_stream_order(k, &before_on_stream));
	for (uint32_t i = 0; i < ht_et_n(et); i++) {
		uint32_t row = et->by_id[i], parent = ht_et_nodes(et)[row].parent;
		bool is_root = ht_et_kind(et, row) == HT_ET_PROCESS;
		bool is_top = ht_et_kind(et, row) == HT_ET_THREAD || parent == HT_ET_NONE ||
		              plan->item_of[parent] >= plan->item_of[row];
		last[row] = HT_ET_NONE;
		thread_of[row] = is_root ? HT_ET_NONE : is_top ? row : thread_of[parent];
	}
	for (size_t i = 0; i < plan->n_items; i++) {
		struct ht_et_item *item = &plan->items[i];
		item->first_dep = (uint32_t)k->deps.n;
		uint32_t thread = thread_of[item->row];
		if (item->gpu != HT_ET_NONE) {
			HT_TRY(depend_gpu(k, item, before_on_stream));
		} else if (thread != HT_ET_NONE) {
			HT_TRY(depend_call(k, item, last[thread]));
			last[thread] = (uint32_t)i;
		}
	}
	return HT_OK;
}

/* ---- circles and lonely items ---- */

/* Take away items whose dependencies are all gone; what is left is a circle. */
static enum ht_status check_circles(struct planning *k)
{
	const struct ht_et_plan *plan = k->plan;
	size_t n = plan->n_items, n_ready = 0, n_done = 0;
	uint32_t *n_left = ht_arena_alloc(k->arena, (n + 1) * sizeof *n_left);
	uint32_t *first = ht_arena_alloc(k->arena, (n + 2) * sizeof *first);
	uint32_t *waiting = ht_arena_alloc(k->arena, (plan->n_deps + 1) * sizeof *waiting);
	uint32_t *ready = ht_arena_alloc(k->arena, (n + 1) * sizeof *ready);
	if (!n_left || !first || !waiting || !ready)
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < plan->n_deps; i++)
		first[plan->deps[i] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < n; i++) {
		n_left[i] = plan->items[i].n_deps;
		if (!n_left[i])
			ready[n_ready++] = i;
		for (uint32_t j = 0; j < plan->items[i].n_deps; j++)
			waiting[first[plan->deps[plan->items[i].first_dep + j] + 1]++] = i;
	}
	while (n_done < n_ready) {
		uint32_t i = ready[n_done++];
		for (uint32_t j = first[i]; j < first[i + 1]; j++)
			if (!--n_left[waiting[j]])
				ready[n_ready++] = waiting[j];
	}
	if (n_ready < n)
		return ht_fail(k->ctx, HT_FORMAT, plan->et->path, -1,
		        "the times of the two traces may contradict each other",
		        "dependencies of %zu nodes go round in a circle", n - n_ready);
	return HT_OK;
}

static enum ht_status leave_out(struct planning *k)
{
	struct ht_et_plan *plan = k->plan;
	uint8_t *is_needed = ht_arena_alloc(k->arena, plan->n_items + 1);
	if (!is_needed)
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < plan->n_deps; i++)
		is_needed[plan->deps[i]] = 1;
	for (size_t i = 0; i < plan->n_items; i++)
		plan->items[i].is_left_out = !plan->items[i].n_deps && !is_needed[i];
	return HT_OK;
}

static void find_zero(struct ht_et_plan *plan)
{
	int64_t ts_ns, dur_ns, self_ns;
	bool any = false;
	for (size_t i = 0; i < plan->n_items; i++)
		if (ht_et_item_time(plan, &plan->items[i], &ts_ns, &dur_ns, &self_ns) &&
		        (!any || ts_ns < plan->zero_ns)) {
			plan->zero_ns = ts_ns;
			any = true;
		}
}

/* Sends and receives of one pair of ranks are numbered in order, so that both sides give a message the same number. */
static enum ht_status number_messages(struct planning *k)
{
	struct ht_et_plan *plan = k->plan;
	size_t n = 0;
	for (size_t i = 0; i < plan->n_items; i++)
		n += plan->items[i].peer >= 0;
	uint64_t *keys = ht_arena_alloc(k->arena, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(k->arena, (n + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(k->ctx);
	n = 0;
	for (size_t i = 0; i < plan->n_items; i++)
		if (plan->items[i].peer >= 0) {
			keys[n] = (uint64_t)plan->items[i].peer << 8 | plan->items[i].type;
			order[n++] = (uint32_t)i;
		}
	if (!ht_sort_keys(k->ctx->mem, keys, order, n))
		return ht_fail_nomem(k->ctx);
	for (size_t i = 0; i < n; i++)
		plan->items[order[i]].tag =
		        i && keys[i] == keys[i - 1] ? plan->items[order[i - 1]].tag + 1 : 0;
	return HT_OK;
}

/* Chakra's nodes are a plan already. */
static enum ht_status plan_chakra(struct planning *k)
{
	struct ht_et_plan *plan = k->plan;
	const struct ht_et *et = plan->et;
	const struct ht_et_chakra *nodes = et->chakra.data;
	const uint64_t *ids = et->deps.data;
	plan->items = ht_arena_alloc(k->arena, ((size_t)ht_et_n(et) + 1) * sizeof *plan->items);
	plan->item_of = ht_arena_alloc(k->arena, ((size_t)ht_et_n(et) + 1) * sizeof *plan->item_of);
	plan->deps = ht_arena_alloc(k->arena, (et->deps.n + 1) * sizeof *plan->deps);
	if (!plan->items || !plan->item_of || !plan->deps)
		return ht_fail_nomem(k->ctx);
	plan->n_items = ht_et_n(et);
	for (uint32_t i = 0; i < ht_et_n(et); i++)
		plan->item_of[et->by_id[i]] = i;
	for (uint32_t i = 0; i < ht_et_n(et); i++) {
		uint32_t row = et->by_id[i], parent = ht_et_nodes(et)[row].parent;
		const char *is_cpu_op = ht_et_attr(et, row, "is_cpu_op");
		struct ht_et_item *item = &plan->items[i];
		*item = (struct ht_et_item){ .row = row,
			.gpu = HT_ET_NONE,
			.parent = parent == HT_ET_NONE ? HT_ET_NONE : plan->item_of[parent],
			.comm = HT_ET_NONE,
			.type = nodes[row].type < 8 ? (uint8_t)nodes[row].type : 0,
			.is_cpu_op = !is_cpu_op || strcmp(is_cpu_op, "false") != 0,
			.comm_type = -1,
			.peer = -1,
			.tag = -1,
			.first_dep = (uint32_t)plan->n_deps };
		for (uint32_t j = 0; j < nodes[row].n_deps; j++) {
			uint32_t on = ht_et_find(et, ids[nodes[row].first_dep + j]);
			if (on != HT_ET_NONE) {
				plan->deps[plan->n_deps++] = plan->item_of[on];
				item->n_deps++;
			}
		}
	}
	return HT_OK;
}

enum ht_status ht_et_plan_make(ht_ctx *ctx, const struct ht_et *et, const struct ht_trace *trace,
        const struct ht_et_link *link, bool as_chakra, int64_t rank, struct ht_arena *arena,
        struct ht_et_plan *ret_plan)
{
	struct ht_et_plan plan = {
		.et = et, .trace = trace, .link = link, .as_chakra = as_chakra, .rank = rank
	};
	struct planning k = { .ctx = ctx, .arena = arena, .plan = &plan };
	if (et->format == HT_ET_CHAKRA) {
		HT_TRY(plan_chakra(&k));
		*ret_plan = plan;
		return HT_OK;
	}
	HT_TRY(ht_et_groups_find(ctx, et, arena, &plan.groups));
	HT_TRY(number_items(&k));
	HT_TRY(number_messages(&k));
	enum ht_status status = depend_all(&k);
	plan.n_deps = k.deps.n;
	plan.deps = ht_arena_alloc(arena, (plan.n_deps + 1) * sizeof *plan.deps);
	if (status == HT_OK && !plan.deps)
		status = ht_fail_nomem(ctx);
	if (status == HT_OK && plan.n_deps)
		memcpy(plan.deps, k.deps.data, plan.n_deps * sizeof *plan.deps);
	ht_vec_free(ctx->mem, &k.deps, sizeof(uint32_t));
	HT_TRY(status);
	HT_TRY(check_circles(&k));
	HT_TRY(leave_out(&k));
	find_zero(&plan);
	*ret_plan = plan;
	return HT_OK;
}
