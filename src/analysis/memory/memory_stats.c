/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_stats.c - which operators allocate, how much, and what they leave behind.
 *
 * Per rank, device and operator name, over all its calls:
 *   self      [memory] events of a call itself (allocations.h): allocated is the sum and the number of the positive
 *             ones, increase the sum of all: what was freed while the operator ran counts against it, whoever had
 *             allocated it
 *   the rest  the same with the events of the operators inside it; an operator inside one of its own name counts in
 *             both
 *   kept      allocations of which nothing says that they were freed: neither a free in the recording, nor that the address
 *             is allocated again; null where allocations have no addresses
 *   calls     calls of the operator, whether or not they allocate
 * Rows of zeros are left out; events outside of operators are in the note. All events count unless steps or an annotation
 * are chosen. O(n log n).
 *
 * Example: aten::stack [0,30) holds aten::cat [5,25), which allocates 64 bytes at 10 us and frees 16 at 20 us:
 * aten::cat has increase and self increase 48, allocated 64 in 1; aten::stack the same but 0 of itself.
 */
#include "analysis/analysis.h"
#include "model/rows/frame.h"
#include "model/memory/allocations.h"
#include "table/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status add_up(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL)                     \
	COLUMN(COL_OPERATOR, "operator", HT_STR, HT_KEY, "name of the operator", NULL)             \
	COLUMN(COL_CALLS, "calls", HT_I64, HT_MEASURE, "calls of the operator", NULL)              \
	COLUMN(COL_INCREASE_BYTES, "increase_bytes", HT_BYTES, HT_MEASURE,                         \
	        "allocated less freed while it ran, with the operators inside it", NULL)           \
	COLUMN(COL_SELF_INCREASE_BYTES, "self_increase_bytes", HT_BYTES, HT_MEASURE,               \
	        "the same without those", NULL)                                                    \
	COLUMN(COL_ALLOCATIONS, "allocations", HT_I64, HT_MEASURE,                                 \
	        "allocations, with those of the operators inside it", NULL)                        \
	COLUMN(COL_SELF_ALLOCATIONS, "self_allocations", HT_I64, HT_MEASURE,                       \
	        "the same without those", NULL)                                                    \
	COLUMN(COL_ALLOCATED_BYTES, "allocated_bytes", HT_BYTES, HT_MEASURE,                       \
	        "bytes of allocations, with those of the operators inside it", NULL)               \
	COLUMN(COL_SELF_ALLOCATED_BYTES, "self_allocated_bytes", HT_BYTES, HT_MEASURE,             \
	        "the same without those", NULL)                                                    \
	COLUMN(COL_KEPT_BYTES, "kept_bytes", HT_BYTES, HT_MEASURE,                                 \
	        "of those bytes, not freed in the recording; null: nothing says", NULL)            \
	COLUMN(COL_SELF_KEPT_BYTES, "self_kept_bytes", HT_BYTES, HT_MEASURE,                       \
	        "the same without those of the operators inside it", NULL)                         \
	COLUMN(COL_INDEX, "index", HT_I64, HT_DETAIL,                                              \
	        "row of the call that allocates the most itself", NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_memory_stats = {
	.info = { .name = "memory-stats",
	        .group = "memory",
	        .page_view = "memory",
	        .title = "Memory statistics",
	        .question =
	                "Which operators allocate memory, and how much do they leave allocated?",
	        .method =
	                "Memory events of the operator that was running on the thread; increase is "
	                "allocated less freed while it ran, kept what nobody frees, self without the "
	                "operators inside.",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1 },
	.per_rank = add_up,
	.finish = finish,
};

enum { INCREASE, COUNT, SIZE, KEPT, N_SUMS };

/* Of a call, or of all calls of a name. */
struct sums {
	const char *name;
	int64_t self[N_SUMS], total[N_SUMS];
	uint32_t row; /* of the call; of a name, the one that allocates the most; HT_NONE: none */
	int64_t row_bytes;
};

struct tally {
	struct ht_run *run;
	struct ht_op_tree tree;
	const struct ht_memory_op *ops;
	const uint32_t *calls; /* by string id of the operator's name */
	/* of the device in hand: by node of the tree, then one for each event of an operator that is not there */
	struct sums *list;
	ht_table *table;
};

static void add_event(struct sums *sums, const struct ht_memory_event *event, bool is_kept)
{
	ht_sum(&sums->self[INCREASE], event->bytes);
	if (event->bytes > 0) {
		sums->self[COUNT]++;
		ht_sum(&sums->self[SIZE], event->bytes);
		ht_sum(&sums->self[KEPT], is_kept ? event->bytes : 0);
	}
}

/* From calls to what is around them; parents stand before their children. */
static void carry_up(const struct tally *t)
{
	for (size_t i = t->tree.n; i-- > 0;) {
		uint32_t up = t->tree.nodes[i].parent;
		for (int k = 0; k < N_SUMS; k++) {
			ht_sum(&t->list[i].total[k], t->list[i].self[k]);
			if (up != HT_NONE)
				ht_sum(&t->list[up].total[k], t->list[i].total[k]);
		}
	}
}

static int by_name(const void *left, const void *right)
{
	const struct sums *a = left, *b = right;
	int by = strcmp(a->name, b->name);
	return by ? by : (a->row > b->row) - (a->row < b->row);
}

/* Calls of one name become one; returns how many names there are. */
static size_t join_names(struct sums *list, size_t n)
{
	size_t n_names = 0;
	qsort(list, n, sizeof *list, by_name);
	for (size_t i = 0; i < n; i++) {
		struct sums *last = n_names ? &list[n_names - 1] : NULL;
		if (!last || strcmp(last->name, list[i].name) != 0) {
			list[n_names] = list[i];
			list[n_names++].row_bytes = list[i].self[SIZE];
			continue;
		}
		for (int k = 0; k < N_SUMS; k++) {
			ht_sum(&last->self[k], list[i].self[k]);
			ht_sum(&last->total[k], list[i].total[k]);
		}
		if (list[i].self[SIZE] > last->row_bytes) {
			last->row = list[i].row;
			last->row_bytes = list[i].self[SIZE];
		}
	}
	return n_names;
}

static int by_increase(const void *left, const void *right)
{
	const struct sums *a = left, *b = right;
	if (a->self[INCREASE] != b->self[INCREASE])
		return a->self[INCREASE] > b->self[INCREASE] ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_zero(const struct sums *sums)
{
	bool zero = true;
	for (int k = 0; k < N_SUMS; k++)
		zero &= !sums->self[k] && !sums->total[k];
	return zero;
}

/* Leave operators with something to say, by name; returns how many. */
static size_t gather(const struct tally *t, size_t n)
{
	const struct ht_trace *trace = t->run->trace;
	size_t n_kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct sums *sums = &t->list[i];
		if (i < t->tree.n) {
			const struct ht_op_node *node = &t->tree.nodes[i];
			if (!node->is_counted)
				continue;
			sums->name = ht_str(trace, trace->name[node->row]);
			sums->row = node->row;
		}
		if (!is_zero(sums))
			t->list[n_kept++] = *sums;
	}
	n_kept = join_names(t->list, n_kept);
	qsort(t->list, n_kept, sizeof *t->list, by_increase);
	return n_kept;
}

static void put_sums(
        const struct tally *t, const char *device, const struct sums *sums, bool knows_kept)
{
	uint32_t id = ht_str_find(t->run->trace, sums->name);
	ht_table_row(t->table);
	ht_table_put_i64(t->table, COL_RANK, t->run->rank);
	ht_table_put_str(t->table, COL_DEVICE, device);
	ht_table_put_str(t->table, COL_OPERATOR, sums->name);
	ht_table_put_i64(t->table, COL_CALLS, id == HT_NO_STR ? 0 : t->calls[id]);
	for (int k = 0; k < N_SUMS; k++) {
		bool known = k != KEPT || knows_kept;
		ht_table_put_known(t->table, COL_INCREASE_BYTES + 2 * k,
		        known ? sums->total[k] : HT_NO_I64, HT_NO_I64);
		ht_table_put_known(t->table, COL_SELF_INCREASE_BYTES + 2 * k,
		        known ? sums->self[k] : HT_NO_I64, HT_NO_I64);
	}
	ht_table_put_known(t->table, COL_INDEX, sums->row, HT_NONE);
}

/* The n events of one device. */
static enum ht_status put_device(const struct tally *t, const struct ht_memory_event *events,
        const struct ht_memory_op *ops, const bool *is_kept, size_t n)
{
	bool knows_kept = true;
	const char *device = ht_memory_device_name(t->run, events);
	struct sums elsewhere = { 0 };
	size_t n_sums = t->tree.n;
	if (!device)
		return ht_fail_nomem(t->run->ctx);
	memset(t->list, 0, t->tree.n * sizeof *t->list);
	for (size_t i = 0; i < n; i++) {
		knows_kept &= events[i].bytes <= 0 || events[i].addr != HT_NO_I64;
		if (ops[i].node != HT_NONE) {
			add_event(&t->list[ops[i].node], &events[i], is_kept[i]);
		} else if (ops[i].name) {
			t->list[n_sums] = (struct sums){ .name = ops[i].name, .row = HT_NONE };
			add_event(&t->list[n_sums], &events[i], is_kept[i]);
			memcpy(t->list[n_sums].total, t->list[n_sums].self,
			        sizeof t->list[n_sums].self);
			n_sums++;
		} else {
			add_event(&elsewhere, &events[i], is_kept[i]);
		}
	}
	carry_up(t);
	size_t n_names = gather(t, n_sums);
	for (size_t i = 0; i < n_names; i++)
		put_sums(t, device, &t->list[i], knows_kept);
	if (is_zero(&elsewhere))
		return HT_OK;
	char size[HT_FORMAT_BYTES + 1], change[HT_FORMAT_BYTES + 1];
	int64_t grown = elsewhere.self[INCREASE];
	size[ht_format_double(size, HT_BYTES, (double)elsewhere.self[SIZE])] = '\0';
	change[ht_format_double(change, HT_BYTES, fabs((double)grown))] = '\0';
	return ht_table_add_note(t->table,
	        "rank %lld, %s: outside of operators %s in %lld allocation%s; allocated memory %s by %s there",
	        (long long)t->run->rank, device, size, (long long)elsewhere.self[COUNT],
	        elsewhere.self[COUNT] == 1 ? "" : "s", grown < 0 ? "falls" : "grows", change);
}

/* Calls of the rows that are chosen: all of them unless steps or an annotation are. */
static enum ht_status count_calls(struct tally *t)
{
	struct ht_run *run = t->run;
	const struct ht_trace *trace = run->trace;
	bool all = !run->step && !run->annotation;
	uint32_t *calls =
	        ht_arena_alloc(run->scratch, (trace->n_string_offsets + 1) * sizeof *calls);
	uint8_t *chosen = all ? NULL : ht_arena_alloc(run->scratch, trace->n_kind + 1);
	if (!calls || (!all && !chosen))
		return ht_fail_nomem(run->ctx);
	if (!all) {
		struct ht_frame frame;
		HT_TRY(ht_frame_make(run, &frame));
		for (size_t i = 0; i < frame.n_rows; i++)
			chosen[frame.rows[i]] = 1;
	}
	for (size_t i = 0; i < t->tree.n; i++) {
		uint32_t row = t->tree.nodes[i].row;
		if (t->tree.nodes[i].is_counted && (all || chosen[row]) &&
		        trace->name[row] != HT_NO_STR)
			calls[trace->name[row]]++;
	}
	t->calls = calls;
	return HT_OK;
}

static enum ht_status add_up(struct ht_run *run, struct ht_part *part)
{
	struct ht_memory_events events;
	struct ht_traits traits;
	struct tally t = { .run = run, .table = part->facts[0] };
	bool *is_kept = NULL;
	HT_TRY(ht_memory_events_collect(run, &events));
	if (!events.n)
		return HT_OK;
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &t.tree));
	HT_TRY(ht_memory_ops_find(run, &events, &t.tree, &t.ops));
	HT_TRY(ht_memory_kept_find(run, &events, &is_kept));
	HT_TRY(count_calls(&t));
	t.list = ht_arena_alloc(run->scratch, (t.tree.n + events.n + 1) * sizeof *t.list);
	if (!t.list)
		return ht_fail_nomem(run->ctx);
	for (size_t first = 0, end; first < events.n; first = end) {
		for (end = first + 1; end < events.n; end++)
			if (!ht_memory_same_device(&events.list[first], &events.list[end]))
				break;
		HT_TRY(put_device(
		        &t, events.list + first, t.ops + first, is_kept + first, end - first));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(run, parts, table, ht_memory_none_note(run));
}
