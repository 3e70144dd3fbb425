/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_memory.c - see et_memory.h. O(n log n) in events and tensors.
 */
#include "et/et_memory.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "et/et_files.h"
#include "et/et_join.h"
#include "et/et_schema.h"

#include <string.h>

/* What nodes did with a block or a storage. */
enum use {
	USED_AS_GRADIENT = 1,
	CHANGED_BY_OPTIMIZER = 2,
	READ_IN_FORWARD = 4,
	GIVEN_IN_FORWARD = 8,
	READ_IN_BACKWARD = 16,
};

/* Where a node runs; a child runs where its parent does, unless it says otherwise itself. */
enum place { IN_FORWARD, IN_BACKWARD, IN_ACCUMULATE, IN_OPTIMIZER, IN_ZERO_GRAD };

/* A block from its allocation to its release. */
struct life {
	int64_t start_ns, end_ns; /* INT64_MIN, INT64_MAX: outside of the events */
	int64_t bytes;
	size_t alloc, free; /* events, SIZE_MAX: none */
	uint8_t uses;       /* enum use */
};

/* All that tensors of one number share. */
struct storage {
	uint64_t addr;
	uint64_t bytes;              /* most that a tensor of it reaches to */
	uint32_t device;             /* text of the execution trace */
	bool has_addr;               /* addr is known */
	bool is_doubtful;            /* two allocations say different addresses */
	bool is_seen, is_first_read; /* a node takes it before any gives it */
	uint8_t uses;                /* where it has no address */
};

struct deriving {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_et *et;
	const struct ht_et_join *join;
	struct ht_et_memory *memory;
	struct ht_op_tree tree;
	uint32_t *around; /* by row of a memory event */
	struct life *lives;
	size_t n_lives;
	uint64_t *addrs; /* of lives, ascending */
	uint32_t *by_addr;
	uint64_t *ids; /* of storages, ascending */
	struct storage *storages;
	size_t n_storages;
	uint8_t *place; /* by node, enum place */
	struct around *of_row;
};

/* What is around a row of the trace, or the row itself; HT_NONE. */
struct around {
	uint32_t node;      /* the innermost row that is a node */
	uint32_t op;        /* the outermost operator */
	uint32_t optimizer; /* the step of an optimizer */
};

/* ---- lives ---- */

static enum ht_status find_lives(struct deriving *d)
{
	const struct ht_memory_event *events = d->memory->events.list;
	struct ht_memory_pair *pairs = NULL;
	size_t n = 0;
	HT_TRY(ht_memory_pairs_find(d->run, &d->memory->events, &pairs, &n));
	d->lives = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *d->lives);
	d->addrs = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *d->addrs);
	d->by_addr = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *d->by_addr);
	if (!d->lives || !d->addrs || !d->by_addr)
		return ht_fail_nomem(d->run->ctx);
	for (size_t i = 0; i < n; i++) {
		bool is_born = pairs[i].alloc != SIZE_MAX, dies = pairs[i].free != SIZE_MAX;
		const struct ht_memory_event *event =
		        &events[is_born ? pairs[i].alloc : pairs[i].free];
		d->lives[i] = (struct life){ .start_ns = is_born ? event->ts_ns : INT64_MIN,
			.end_ns = dies ? events[pairs[i].free].ts_ns : INT64_MAX,
			.bytes = event->bytes < 0 ? ht_sub_sat(0, event->bytes) : event->bytes,
			.alloc = pairs[i].alloc,
			.free = pairs[i].free };
		d->addrs[i] = (uint64_t)event->addr;
		d->by_addr[i] = (uint32_t)i;
	}
	d->n_lives = n;
	return ht_sort_keys(d->run->ctx->mem, d->addrs, d->by_addr, n) ? HT_OK
	                                                               : ht_fail_nomem(d->run->ctx);
}

static const char *text_of_device(struct deriving *d, const struct life *life)
{
	size_t i = life->alloc != SIZE_MAX ? life->alloc : life->free;
	return ht_memory_device_name(d->run, &d->memory->events.list[i]);
}

/* When the events first tell of a life. */
static int64_t first_ns(const struct life *life)
{
	return life->alloc != SIZE_MAX ? life->start_ns : life->end_ns;
}

/* The block of an address at a time, NULL: none. Lives of one address follow each other by what the events first tell of them. */
static struct life *life_at(struct deriving *d, uint64_t addr, int64_t ts_ns)
{
	size_t first = HT_LOWER_BOUND(at, d->n_lives, d->addrs[at] < addr);
	size_t n = HT_LOWER_BOUND(at, d->n_lives, d->addrs[at] <= addr) - first;
	const uint32_t *list = d->by_addr + first;
	size_t next = HT_LOWER_BOUND(at, n, first_ns(&d->lives[list[at]]) <= ts_ns);
	struct life *last = next ? &d->lives[list[next - 1]] : NULL;
	if (last && last->start_ns <= ts_ns && ts_ns < last->end_ns)
		return last;
	struct life *old = next < n ? &d->lives[list[next]] : NULL;
	return old && old->alloc == SIZE_MAX ? old : NULL;
}

/* ---- storages ---- */

static enum ht_status find_storages(struct deriving *d)
{
	const struct ht_et_tensor *tensors = d->et->tensors.data;
	size_t n = d->et->tensors.n, n_ids = 0;
	d->ids = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *d->ids);
	uint32_t *order = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *order);
	if (!d->ids || !order)
		return ht_fail_nomem(d->run->ctx);
	for (size_t i = 0; i < n; i++) {
		d->ids[i] = tensors[i].storage;
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(d->run->ctx->mem, d->ids, order, n))
		return ht_fail_nomem(d->run->ctx);
	for (size_t i = 0; i < n; i++)
		if (!n_ids || d->ids[n_ids - 1] != d->ids[i])
			d->ids[n_ids++] = d->ids[i];
	d->n_storages = n_ids;
	d->storages = ht_arena_alloc(d->run->scratch, (n_ids + 1) * sizeof *d->storages);
	return d->storages ? HT_OK : ht_fail_nomem(d->run->ctx);
}

/* NULL for a tensor without memory. */
static struct storage *storage_of(struct deriving *d, const struct ht_et_tensor *tensor)
{
	if (!tensor->storage)
		return NULL;
	return &d->storages[HT_LOWER_BOUND(at, d->n_storages, d->ids[at] < tensor->storage)];
}

/* Where a tensor ends in its storage; 0 for one that no memory can hold. */
static uint64_t reach_of(const struct ht_et_tensor *tensor)
{
	uint64_t n, bytes;
	if (__builtin_add_overflow(tensor->offset, tensor->numel, &n) ||
	        __builtin_mul_overflow(n, tensor->itemsize, &bytes) || bytes > INT64_MAX)
		return 0;
	return bytes;
}

/* Sizes of storages, and which of them a node takes before any gives them, in the order in which nodes start. */
static void look_at_storages(struct deriving *d)
{
	const struct ht_et_node *nodes = ht_et_nodes(d->et);
	for (uint32_t i = 0; i < ht_et_n(d->et); i++) {
		const struct ht_et_node *node = &nodes[d->et->by_id[i]];
		const struct ht_et_tensor *tensors = ht_et_tensors_of(d->et, node);
		for (uint32_t k = 0; k < node->n_in + node->n_out; k++) {
			struct storage *s = storage_of(d, &tensors[k]);
			if (!s)
				continue;
			uint64_t reach = reach_of(&tensors[k]);
			s->bytes = reach > s->bytes ? reach : s->bytes;
			s->is_first_read = s->is_seen ? s->is_first_read : k < node->n_in;
			s->device = tensors[k].device;
			s->is_seen = true;
		}
	}
}

/* ---- addresses of storages ---- */

static bool is_optimizer_step(const struct deriving *d, uint32_t at)
{
	return ht_text_starts(ht_et_str(d->et, ht_et_nodes(d->et)[at].name), "Optimizer.step");
}

/* Rows of a thread come by time, so a parent before its children. */
static enum ht_status find_surroundings(struct deriving *d)
{
	const struct ht_trace *t = d->t;
	static const struct around none = { HT_NONE, HT_NONE, HT_NONE };
	d->of_row = ht_arena_alloc(d->run->scratch, (t->n_kind + 1) * sizeof *d->of_row);
	if (!d->of_row)
		return ht_fail_nomem(d->run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		for (uint32_t i = 0; i < t->tracks[k].n; i++) {
			uint32_t row = t->track_rows[t->tracks[k].first + i];
			uint32_t at = d->join->node[row], parent = t->parent[row];
			struct around *to = &d->of_row[row];
			*to = parent == HT_NONE ? none : d->of_row[parent];
			to->node = at == HT_ET_NONE ? to->node : row;
			if (to->op == HT_NONE && t->kind[row] == HT_KIND_CPU_OP)
				to->op = row;
			if (at != HT_ET_NONE && is_optimizer_step(d, at))
				to->optimizer = row;
		}
	return HT_OK;
}

/* What is around a memory event. */
static struct around around_event(const struct deriving *d, size_t event)
{
	uint32_t row = d->around[d->memory->events.list[event].row];
	return row == HT_NONE ? (struct around){ HT_NONE, HT_NONE, HT_NONE } : d->of_row[row];
}

static bool takes(const struct ht_et_node *node, const struct ht_et_tensor *tensors, uint64_t id)
{
	for (uint32_t k = 0; k < node->n_in; k++)
		if (tensors[k].storage == id)
			return true;
	return false;
}

/* Whether the allocator gives a block of this size for so many bytes: rounded up to 512, or a large one that it does not split. */
static bool fits(const struct life *life, uint64_t bytes)
{
	const uint64_t block = (uint64_t)life->bytes, mib = 1 << 20;
	if (!bytes || bytes > block)
		return false;
	return block - bytes < 512 || (bytes > mib && block - bytes <= mib);
}

/* Of lists that are longer than that no single storage is told. */
#define MAX_TENSORS 1024

/* The one new storage that a node gives and that the block fits; NULL: none, or several. */
static struct storage *given_by(
        struct deriving *d, const struct ht_et_node *node, const struct life *life)
{
	const struct ht_et_tensor *tensors = ht_et_tensors_of(d->et, node);
	uint64_t found = 0;
	const char *device = NULL;
	if (node->n_in > MAX_TENSORS || node->n_out > MAX_TENSORS)
		return NULL;
	for (uint32_t k = node->n_in; k < node->n_in + node->n_out; k++) {
		const struct ht_et_tensor *tensor = &tensors[k];
		if (!tensor->storage || tensor->storage == found || !fits(life, reach_of(tensor)) ||
		        takes(node, tensors, tensor->storage))
			continue;
		if (!device && !(device = text_of_device(d, life)))
			return NULL;
		if (tensor->device != HT_ET_NO_STR &&
		        strcmp(device, ht_et_str(d->et, tensor->device)) != 0)
			continue;
		if (found)
			return NULL;
		found = tensor->storage;
	}
	struct ht_et_tensor it = { .storage = found };
	return storage_of(d, &it);
}

static void find_addresses(struct deriving *d)
{
	const struct ht_et_node *nodes = ht_et_nodes(d->et);
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct life *life = &d->lives[i];
		uint32_t row =
		        life->alloc == SIZE_MAX ? HT_NONE : around_event(d, life->alloc).node;
		struct storage *s =
		        row == HT_NONE ? NULL : given_by(d, &nodes[d->join->node[row]], life);
		if (!s)
			continue;
		uint64_t addr = (uint64_t)d->memory->events.list[life->alloc].addr;
		s->is_doubtful |= s->has_addr && s->addr != addr;
		s->has_addr = true;
		s->addr = addr;
	}
}

/* ---- what nodes do ---- */

static enum place place_by_name(
        const struct ht_et *et, const struct ht_et_node *node, enum place parent)
{
	const char *name = ht_et_str(et, node->name);
	if (ht_text_starts(name, "Optimizer.step"))
		return IN_OPTIMIZER;
	if (ht_text_starts(name, "Optimizer.zero_grad"))
		return IN_ZERO_GRAD;
	if (parent != IN_FORWARD && parent != IN_BACKWARD)
		return parent;
	if (strstr(name, "AccumulateGrad"))
		return IN_ACCUMULATE;
	bool is_backward = (node->flags & HT_ET_SCOPE && node->scope == 1) ||
	                   ht_text_starts(name, "autograd::engine::evaluate_function");
	return is_backward ? IN_BACKWARD : parent;
}

/* Parents have smaller ids than their children. */
static enum ht_status find_places(struct deriving *d)
{
	const struct ht_et_node *nodes = ht_et_nodes(d->et);
	d->place = ht_arena_alloc(d->run->scratch, (size_t)ht_et_n(d->et) + 1);
	if (!d->place)
		return ht_fail_nomem(d->run->ctx);
	for (uint32_t i = 0; i < ht_et_n(d->et); i++) {
		uint32_t row = d->et->by_id[i], parent = nodes[row].parent;
		enum place around =
		        parent == HT_ET_NONE ? IN_FORWARD : (enum place)d->place[parent];
		d->place[row] = (uint8_t)place_by_name(d->et, &nodes[row], around);
	}
	return HT_OK;
}

static void mark(
        struct deriving *d, const struct ht_et_tensor *tensor, int64_t ts_ns, unsigned uses)
{
	struct storage *s = uses ? storage_of(d, tensor) : NULL;
	if (!s || s->is_doubtful)
		return;
	struct life *life = s->has_addr ? life_at(d, s->addr, ts_ns) : NULL;
	if (life)
		life->uses |= (uint8_t)uses;
	else if (!s->has_addr)
		s->uses |= (uint8_t)uses;
}

/* The arguments that a schema marks as changed, a bit each; those behind the 64th are none. */
static uint64_t changed_args(const char *schema)
{
	struct ht_et_schema args = ht_et_schema_enter(schema);
	struct ht_et_schema_arg arg;
	uint64_t changed = 0;
	for (size_t i = 0; i < 64 && ht_et_schema_next(&args, &arg); i++)
		if (memchr(arg.type.text, '!', arg.type.n))
			changed |= (uint64_t)1 << i;
	return changed;
}

/* Tensors of a node's inputs, of which some are changed. */
struct changing {
	struct deriving *d;
	int64_t ts_ns;
	uint64_t args;
	unsigned uses;
};

static bool mark_changed(void *user, const struct ht_et_arg *arg)
{
	const struct changing *c = user;
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	if (arg->index < 64 && c->args >> arg->index & 1 && arg->value.text &&
	        ht_et_tensor_parse(arg->value.text, &tensor, &device, &n_fields))
		mark(c->d, &tensor, c->ts_ns, c->uses);
	return true;
}

static void look_at_node(struct deriving *d, uint32_t at, uint32_t row)
{
	static const unsigned of_reading[] = { [IN_FORWARD] = READ_IN_FORWARD,
		[IN_BACKWARD] = READ_IN_BACKWARD,
		[IN_ACCUMULATE] = READ_IN_BACKWARD,
		[IN_OPTIMIZER] = 0,
		[IN_ZERO_GRAD] = 0 };
	const struct ht_et_node *node = &ht_et_nodes(d->et)[at];
	const struct ht_et_tensor *tensors = ht_et_tensors_of(d->et, node);
	enum place place = (enum place)d->place[at];
	int64_t start_ns = d->t->ts_ns[row], end_ns = d->tree.ends[row];
	bool is_accumulate = ht_text_ends(ht_et_str(d->et, node->name), "AccumulateGrad");
	for (uint32_t k = 0; k < node->n_in; k++)
		mark(d, &tensors[k], start_ns,
		        of_reading[place] | (is_accumulate ? USED_AS_GRADIENT : 0));
	/* what is given lives when the call returns */
	for (uint32_t k = node->n_in; k < node->n_in + node->n_out; k++)
		mark(d, &tensors[k], end_ns, place == IN_FORWARD ? GIVEN_IN_FORWARD : 0);
	if (place != IN_ACCUMULATE && place != IN_OPTIMIZER)
		return;
	struct changing c = { d, start_ns, changed_args(ht_et_str(d->et, node->op_schema)),
		place == IN_ACCUMULATE ? USED_AS_GRADIENT : CHANGED_BY_OPTIMIZER };
	if (c.args)
		ht_et_each_tensor(d->et, &node->in, mark_changed, &c);
}

static void look_at_nodes(struct deriving *d)
{
	for (uint32_t at = 0; at < ht_et_n(d->et); at++)
		if (d->join->event[at] != HT_NONE)
			look_at_node(d, at, d->join->event[at]);
}

/* ---- categories ---- */

/* Whether the block is freed inside the outermost operator around its allocation, or inside the optimizer's step that allocated it. */
static bool dies_inside(const struct deriving *d, const struct life *life, bool *ret_is_optimizer)
{
	*ret_is_optimizer = false;
	if (life->alloc == SIZE_MAX || life->free == SIZE_MAX)
		return false;
	const struct ht_memory_event *events = d->memory->events.list;
	const struct around around = around_event(d, life->alloc);
	*ret_is_optimizer =
	        around.optimizer != HT_NONE && life->end_ns <= d->tree.ends[around.optimizer];
	return around.op != HT_NONE && life->end_ns <= d->tree.ends[around.op] &&
	       d->t->track[events[life->free].row] == d->t->track[events[life->alloc].row];
}

static enum ht_memory_category category_of_uses(unsigned uses)
{
	if (uses & USED_AS_GRADIENT)
		return HT_MEMORY_GRADIENT;
	if (uses & CHANGED_BY_OPTIMIZER)
		return uses & READ_IN_FORWARD ? HT_MEMORY_PARAMETER : HT_MEMORY_OPTIMIZER_STATE;
	if (uses & GIVEN_IN_FORWARD && uses & READ_IN_BACKWARD)
		return HT_MEMORY_ACTIVATION;
	return HT_MEMORY_UNKNOWN;
}

static void put_categories(struct deriving *d)
{
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct life *life = &d->lives[i];
		bool is_optimizer, dies = dies_inside(d, life, &is_optimizer);
		enum ht_memory_category category =
		        is_optimizer ? HT_MEMORY_TEMPORARY : category_of_uses(life->uses);
		if (category == HT_MEMORY_UNKNOWN && dies)
			category = HT_MEMORY_TEMPORARY;
		if (life->alloc != SIZE_MAX)
			d->memory->category[life->alloc] = (uint8_t)category;
		if (life->free != SIZE_MAX)
			d->memory->category[life->free] = (uint8_t)category;
	}
}

/* ---- before the first event ---- */

/* Parameters and optimizer state of a device that no event allocates. */
static void add_old_storages(
        const struct deriving *d, const char *device, struct ht_et_memory_before *to)
{
	for (size_t i = 0; i < d->n_storages; i++) {
		const struct storage *s = &d->storages[i];
		enum ht_memory_category category = category_of_uses(s->uses);
		bool is_kept =
		        category == HT_MEMORY_PARAMETER || category == HT_MEMORY_OPTIMIZER_STATE;
		if (is_kept && !s->has_addr && s->is_first_read &&
		        !strcmp(device, ht_et_str(d->et, s->device)))
			ht_sum(&to->bytes[category], (int64_t)s->bytes);
	}
}

/* Blocks of a curve that are freed and never allocated; without room for them they are unknown, and so is the rest. */
static void add_old_blocks(
        struct deriving *d, size_t first, size_t end, struct ht_et_memory_before *before)
{
	const struct ht_memory_event *events = d->memory->events.list;
	int64_t room = ht_sub_sat(events[first].allocated, events[first].bytes), sum = 0;
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct life *life = &d->lives[i];
		if (life->alloc == SIZE_MAX && life->free >= first && life->free < end)
			ht_sum(&before->bytes[d->memory->category[life->free]], life->bytes);
	}
	before->bytes[HT_MEMORY_UNKNOWN] = 0;
	for (size_t c = 0; c < HT_N_MEMORY_CATEGORIES; c++)
		ht_sum(&sum, before->bytes[c]);
	if (sum <= room)
		return;
	*before = (struct ht_et_memory_before){ 0 };
	for (size_t i = 0; i < d->n_lives; i++)
		if (d->lives[i].alloc == SIZE_MAX && d->lives[i].free >= first &&
		        d->lives[i].free < end)
			d->memory->category[d->lives[i].free] = HT_MEMORY_UNKNOWN;
}

static enum ht_status find_before(struct deriving *d)
{
	struct ht_memory_events *all = &d->memory->events;
	for (size_t first = 0, end; first < all->n; first = end) {
		for (end = first + 1; end < all->n; end++)
			if (!ht_memory_same_curve(&all->list[end], &all->list[first]))
				break;
		const char *device = ht_memory_device_name(d->run, &all->list[first]);
		if (!device)
			return ht_fail_nomem(d->run->ctx);
		ht_memory_fill_totals(all->list + first, end - first);
		struct ht_et_memory_before *before = &d->memory->before[first];
		add_old_storages(d, device, before);
		add_old_blocks(d, first, end, before);
	}
	return HT_OK;
}

/* ---- all of it ---- */

static enum ht_status derive(struct deriving *d)
{
	struct ht_traits traits;
	size_t n = d->memory->events.n;
	d->memory->category = ht_arena_alloc(d->run->scratch, n + 1);
	d->memory->before = ht_arena_alloc(d->run->scratch, (n + 1) * sizeof *d->memory->before);
	if (!d->memory->category || !d->memory->before)
		return ht_fail_nomem(d->run->ctx);
	memset(d->memory->category, HT_MEMORY_UNKNOWN, n);
	HT_TRY(ht_traits_init(d->run, d->t, &traits));
	HT_TRY(ht_op_tree_make(d->run, &traits, &d->tree));
	HT_TRY(ht_memory_around_find(d->run, &d->tree, &d->around));
	HT_TRY(find_lives(d));
	HT_TRY(find_storages(d));
	HT_TRY(find_places(d));
	HT_TRY(find_surroundings(d));
	look_at_storages(d);
	find_addresses(d);
	look_at_nodes(d);
	put_categories(d);
	return find_before(d);
}

enum ht_status ht_et_memory_derive(struct ht_run *run, struct ht_et_memory *ret_memory)
{
	struct ht_run whole = *run;
	struct ht_et_join join;
	struct ht_et *et = NULL;
	whole.step = NULL;
	whole.annotation = NULL;
	*ret_memory = (struct ht_et_memory){ 0 };
	HT_TRY(ht_memory_events_collect(&whole, &ret_memory->events));
	if (!ret_memory->events.n)
		return HT_OK;
	HT_TRY(ht_et_take(run, false, &et));
	if (!et)
		return HT_OK;
	struct deriving d = {
		.run = &whole, .t = run->trace, .et = et, .join = &join, .memory = ret_memory
	};
	enum ht_status status = ht_et_join_make(run->ctx, et, run->trace, run->scratch, &join);
	ret_memory->is_there = status == HT_OK && !join.is_refused && join.key != HT_ET_BY_NOTHING;
	if (ret_memory->is_there)
		status = derive(&d);
	ht_et_free(et);
	return status;
}

enum ht_status ht_et_memory_samples(struct ht_run *run, const struct ht_et_memory *memory,
        size_t first, size_t end, struct ht_memory_sample **ret_samples)
{
	const struct ht_memory_event *events = memory->events.list;
	struct ht_memory_sample *list =
	        ht_arena_alloc(run->scratch, (end - first + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	struct ht_memory_sample now = { 0 };
	memcpy(now.bytes, memory->before[first].bytes, sizeof now.bytes);
	for (size_t i = first; i < end; i++) {
		now.ts_ns = events[i].ts_ns;
		ht_sum(&now.bytes[memory->category[i]], events[i].bytes);
		int64_t known = 0;
		for (size_t c = 0; c < HT_MEMORY_UNKNOWN; c++)
			ht_sum(&known, now.bytes[c]);
		if (events[i].allocated != HT_NO_I64)
			now.bytes[HT_MEMORY_UNKNOWN] = ht_sub_sat(events[i].allocated, known);
		list[i - first] = now;
	}
	*ret_samples = list;
	return HT_OK;
}
