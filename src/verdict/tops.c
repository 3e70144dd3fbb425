/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tops.c - the time of one rank by operator, kernel, module and collective; see findings.h.
 *
 * Times are added up as they come, by kind and name. Names of a trace are the same text at the same address, so
 * groups are found by address; those whose texts turn out to be the same in the end are one.
 */
#include "verdict/findings.h"

#include "base/hash.h"
#include "model/calls/row_owners.h"
#include "model/calls/op_tree.h"
#include "model/communication/comm_calls.h"
#include "model/groups/op_groups.h"
#include "model/rows/work_names.h"

#include <stdlib.h>
#include <string.h>

const struct ht_column ht_found_top_columns[HT_N_FOUND_TOP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_FOUND_TOP_COLUMNS);
/* A group. */
struct timed {
	const char *name;
	int64_t ns, count;
	int64_t row_ns; /* of the longest; of several the first */
	uint32_t row;
	uint8_t kind;
};

/* Nobody is told of more than a few, and one that is beyond so many on every rank takes less than a 65,536th of the time;
 * of one rank the first are known. */
#define MOST_NAMES  65536
#define FIRST_NAMES 256

struct times {
	struct ht_run *run;
	struct timed *list;
	size_t n, cap;
	uint32_t *slots; /* index into list + 1; 0: free */
	size_t n_slots;  /* a power of two, at least twice cap */
	bool no_memory;
};

static size_t slot_of(const struct times *t, uint8_t kind, const char *name)
{
	uint64_t hash = ht_hash_mix((uintptr_t)name, kind);
	return HT_PROBE(at, t->n_slots, hash,
	        !t->slots[at] || (t->list[t->slots[at] - 1].name == name &&
	                                 t->list[t->slots[at] - 1].kind == kind));
}

/* Room for one more group. */
static bool reserve(struct times *t)
{
	if (t->n < t->cap)
		return true;
	struct times more = *t;
	more.cap = t->cap ? 2 * t->cap : 512;
	more.n_slots = 2 * more.cap;
	more.list = ht_arena_alloc(t->run->scratch, more.cap * sizeof *more.list);
	more.slots = ht_arena_alloc(t->run->scratch, more.n_slots * sizeof *more.slots);
	if (!more.list || !more.slots)
		return false;
	if (t->n)
		memcpy(more.list, t->list, t->n * sizeof *t->list);
	for (size_t i = 0; i < t->n; i++)
		more.slots[slot_of(&more, t->list[i].kind, t->list[i].name)] = (uint32_t)i + 1;
	*t = more;
	return true;
}

static void pool(struct timed *into, const struct timed *from)
{
	ht_sum(&into->ns, from->ns);
	into->count += from->count;
	if (from->row_ns > into->row_ns ||
	        (from->row_ns == into->row_ns && from->row < into->row)) {
		into->row_ns = from->row_ns;
		into->row = from->row;
	}
}

static void add_timed(struct times *t, const struct timed *timed)
{
	if (!timed->name || t->no_memory)
		return;
	if (!reserve(t)) {
		t->no_memory = true;
		return;
	}
	size_t at = slot_of(t, timed->kind, timed->name);
	if (t->slots[at]) {
		pool(&t->list[t->slots[at] - 1], timed);
		return;
	}
	t->list[t->n++] = *timed;
	t->slots[at] = (uint32_t)t->n;
}

static void add_part(struct times *t, enum ht_top_kind kind, const char *name, int64_t ns,
        uint32_t row, int64_t count)
{
	if (ns > 0)
		add_timed(t, &(const struct timed){ name, ns, count, ns, row, (uint8_t)kind });
}

static void add(struct times *t, enum ht_top_kind kind, const char *name, int64_t ns, uint32_t row)
{
	add_part(t, kind, name, ns, row, 1);
}

static int by_kind_and_name(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_kind_and_time(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;
	if (a->kind != b->kind || a->ns == b->ns)
		return by_kind_and_name(left, right);
	return a->ns > b->ns ? -1 : 1;
}

static void put_timed(ht_table *table, const struct timed *timed)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_TOP_KIND, timed->kind);
	ht_table_put_str(table, HT_TOP_NAME, timed->name);
	ht_table_put_i64(table, HT_TOP_NS, timed->ns);
	ht_table_put_i64(table, HT_TOP_COUNT, timed->count);
	ht_table_put_known(table, HT_TOP_ROW, timed->row, HT_NONE);
	ht_table_put_i64(table, HT_TOP_ROW_NS, timed->row_ns);
}

/* Of each kind the names with most time; what is beyond them counts without a name. */
static void put_most(struct times *t, ht_table *table)
{
	size_t most = ht_findings_is_alone(t->run) ? FIRST_NAMES : MOST_NAMES;
	qsort(t->list, t->n, sizeof *t->list, by_kind_and_time);
	for (size_t first = 0, end; first < t->n; first = end) {
		struct timed others = { .kind = t->list[first].kind };
		for (end = first; end < t->n && t->list[end].kind == others.kind; end++) {
			if (end - first < most)
				put_timed(table, &t->list[end]);
			else
				pool(&others, &t->list[end]);
		}
		if (others.count)
			put_timed(table, &others);
	}
}

static enum ht_status put_times(struct times *t, ht_table *table)
{
	size_t n = 0;
	bool has_others = !ht_findings_is_alone(t->run);
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].kind == HT_TOP_COMM) {
			const char *brief = ht_name_shorten(t->run, t->list[i].name);
			t->list[i].name = brief ? ht_name_common(t->run->scratch, brief) : NULL;
			if (!t->list[i].name)
				return ht_fail_nomem(t->run->ctx);
		}
	if (!t->n)
		return HT_OK;
	qsort(t->list, t->n, sizeof *t->list, by_kind_and_name);
	for (size_t first = 0, end; first < t->n; first = end) {
		struct timed sum = t->list[first];
		for (end = first + 1; end < t->n && !by_kind_and_name(&sum, &t->list[end]); end++)
			pool(&sum, &t->list[end]);
		/* calls without time count where the name has time on another rank */
		if (sum.ns > 0 || (sum.count && has_others && sum.kind == HT_TOP_OPERATOR))
			t->list[n++] = sum;
	}
	t->n = n;
	put_most(t, table);
	return HT_OK;
}

/* Times and calls are those of `operators`, kernels of graphs with them. */
static bool add_op_groups(struct times *t, const ht_table *groups)
{
	static const struct {
		uint8_t kind, value;
	} times[] = { { HT_TOP_OPERATOR, HT_OP_DEVICE_SELF },
		{ HT_TOP_OPERATOR_HOST, HT_OP_HOST_SELF } };
	for (size_t i = 0; i < ht_table_n_rows(groups); i++) {
		const char *text = ht_table_str(groups, i, HT_OP_NAME);
		const char *name = ht_arena_strndup(t->run->scratch, text, strlen(text));
		if (!name)
			return false;
		for (size_t k = 0; k < HT_COUNT(times); k++)
			add_timed(t, &(const struct timed){ .name = name,
			                     .ns = ht_table_i64(
			                             groups, i, HT_N_OP_KEYS + times[k].value),
			                     .count = ht_table_i64(
			                             groups, i, HT_N_OP_KEYS + HT_OP_CALLS),
			                     .row = HT_NONE,
			                     .kind = times[k].kind });
	}
	return true;
}

/* The call with most time of its own is the evidence; the time is counted already. */
static void add_evidence(
        struct times *t, enum ht_top_kind kind, const char *name, int64_t ns, uint32_t row)
{
	if (ns > 0)
		add_timed(t, &(const struct timed){ name, 0, 0, ns, row, (uint8_t)kind });
}

static enum ht_status add_operators(struct times *t, const struct ht_frame *frame)
{
	struct ht_run *run = t->run;
	const struct ht_trace *trace = run->trace;
	struct ht_traits traits;
	struct ht_op_tree tree;
	ht_table *groups;
	bool *chosen;
	HT_TRY(ht_table_new(
	        run->ctx, "operators", ht_op_group_columns, HT_N_OP_GROUP_COLUMNS, &groups));
	enum ht_status status = ht_op_groups_put(run, false, false, groups);
	if (status == HT_OK)
		status = ht_table_finish(run->ctx, groups);
	if (status == HT_OK && !add_op_groups(t, groups))
		status = ht_fail_nomem(run->ctx);
	ht_table_free(groups);
	HT_TRY(status);
	HT_TRY(ht_traits_init(run, trace, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &tree));
	HT_TRY(ht_frame_marks(run, frame, &chosen));
	for (size_t i = 0; i < tree.n; i++) {
		const struct ht_op_node *node = &tree.nodes[i];
		const char *name = ht_str(trace, trace->name[node->row]);
		if (!node->is_counted || !chosen[node->row])
			continue;
		add_evidence(t, HT_TOP_OPERATOR, name, node->device_self_ns, node->row);
		add_evidence(t, HT_TOP_OPERATOR_HOST, name, node->host_self_ns, node->row);
	}
	return HT_OK;
}

static enum ht_status add_work(struct times *t, const struct ht_frame *frame)
{
	static const uint8_t kinds[HT_N_CLASSES] = { [HT_CLASS_COMPUTE] = HT_TOP_KERNEL,
		[HT_CLASS_COMM] = HT_TOP_COMM,
		[HT_CLASS_MEMCPY] = HT_TOP_COPY,
		[HT_CLASS_MEMSET] = HT_TOP_COPY,
		[HT_CLASS_SYNC] = HT_N_TOP_KINDS };
	struct ht_run *run = t->run;
	const struct ht_trace *trace = run->trace;
	struct ht_attribution attribution;
	HT_TRY(ht_attribution_make(run, trace, HT_ATTRIBUTE_MODULES, &attribution));
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		int64_t ns = trace->dur_ns[gpu->row];
		uint32_t module = attribution.modules ? attribution.modules[gpu->row] : HT_NONE;
		if (kinds[gpu->class_] != HT_N_TOP_KINDS)
			add(t, kinds[gpu->class_], ht_str(trace, trace->name[gpu->row]), ns,
			        gpu->row);
		if (module != HT_NONE)
			add(t, HT_TOP_MODULE, attribution.module_texts[module], ns, gpu->row);
	}
	return HT_OK;
}

/* ---- recordings of the host alone ---- */

static bool is_module(const struct ht_trace *trace, uint32_t row, const void *user)
{
	const struct ht_attribution *attribution = user;
	(void)trace;
	return attribution->module_texts[row] != NULL;
}

/* Calls without the modules inside them. */
static enum ht_status add_forward(
        struct times *t, const struct ht_frame *frame, const struct ht_attribution *a)
{
	const struct ht_trace *trace = t->run->trace;
	uint32_t *around = NULL;
	int64_t *ends = NULL;
	int64_t *own_ns = ht_arena_alloc(t->run->scratch, (trace->n_kind + 1) * sizeof *own_ns);
	if (!own_ns)
		return ht_fail_nomem(t->run->ctx);
	HT_TRY(ht_tree_nearest(t->run->ctx, trace, is_module, a, t->run->scratch, &around));
	HT_TRY(ht_tree_ends(t->run->ctx, trace, t->run->scratch, &ends));
	for (uint32_t row = 0; row < trace->n_kind; row++) {
		if (!a->module_texts[row])
			continue;
		ht_sum(&own_ns[row], ends[row] - trace->ts_ns[row]);
		if (around[row] != HT_NONE)
			ht_sum(&own_ns[around[row]], trace->ts_ns[row] - ends[row]);
	}
	for (size_t i = 0; i < frame->n_rows; i++)
		if (a->module_texts[frame->rows[i]])
			add(t, HT_TOP_MODULE_HOST, a->module_texts[frame->rows[i]],
			        own_ns[frame->rows[i]], frame->rows[i]);
	return HT_OK;
}

/* The own time of operators whose forward operator ran in the module: no further calls of it. */
static enum ht_status add_backward(
        struct times *t, const struct ht_frame *frame, const struct ht_attribution *a)
{
	const struct ht_trace *trace = t->run->trace;
	struct ht_traits traits;
	struct ht_op_tree tree;
	bool *chosen;
	HT_TRY(ht_traits_init(t->run, trace, &traits));
	HT_TRY(ht_op_tree_make(t->run, &traits, &tree));
	HT_TRY(ht_frame_marks(t->run, frame, &chosen));
	for (size_t i = 0; i < tree.n; i++) {
		const struct ht_op_node *node = &tree.nodes[i];
		if (node->is_counted && chosen[node->row] && a->modules[node->row] != HT_NONE &&
		        a->module_links[node->row] == HT_AUTOGRAD_LINK_FORWARD)
			add_part(t, HT_TOP_MODULE_HOST, a->module_texts[a->modules[node->row]],
			        node->host_self_ns, node->row, 0);
	}
	return HT_OK;
}

static enum ht_status add_host(struct times *t, const struct ht_frame *frame)
{
	const struct ht_trace *trace = t->run->trace;
	struct ht_attribution attribution;
	const uint32_t *calls = NULL;
	size_t n = 0;
	bool *chosen = NULL;
	HT_TRY(ht_comm_host_calls(t->run, &calls, &n));
	if (n)
		HT_TRY(ht_frame_marks(t->run, frame, &chosen));
	for (size_t i = 0; i < n; i++)
		if (chosen[calls[i]])
			add(t, HT_TOP_COMM, ht_str(trace, trace->name[calls[i]]),
			        trace->dur_ns[calls[i]], calls[i]);
	if (trace->n_gpu)
		return HT_OK;
	HT_TRY(ht_attribution_make(t->run, trace, HT_ATTRIBUTE_MODULES, &attribution));
	if (!attribution.modules)
		return HT_OK;
	HT_TRY(add_forward(t, frame, &attribution));
	return add_backward(t, frame, &attribution);
}

enum ht_status ht_tops_put(struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	struct times times = { .run = run };
	HT_TRY(add_operators(&times, frame));
	HT_TRY(add_work(&times, frame));
	HT_TRY(add_host(&times, frame));
	return times.no_memory ? ht_fail_nomem(run->ctx) : put_times(&times, table);
}
