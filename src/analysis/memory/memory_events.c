/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_events.c - every allocation: who asked for it, how large, from when to when.
 *
 * An allocation of an address and the next free of that address on the same device are one row (allocations.h).
 * What was allocated before the recording has no allocation time, what is freed after it no release time.
 *   operator  the operator that was running on the thread of the allocation; of aten::empty and its kin, which all
 *             allocate through, the one around it: "aten::randint (aten::empty)". <unknown> outside of operators, and
 *             where only the free is in the recording, unless the file names the operator there, too (Ascend).
 *   at_peak   alive when the device's allocated total is highest for the first time: what the peak is made of, as far
 *             as it was allocated in the recording
 * Reads [memory] events with addresses (PyTorch 1.10 and later), operators, and the args of both. All events count
 * unless steps or an annotation are chosen. O(n log n).
 *
 * Example: +4 MiB at A at 10 us in aten::add [5,15), freed at 40 us; +1 MiB at B at 20 us: A has 30 us and aten::add, B
 * is not released, and both are at the peak of 5 MiB at 20 us.
 */
#include "analysis/analysis.h"
#include "model/memory/allocations.h"

#include <string.h>

static enum ht_status list_pairs(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL)                     \
	COLUMN(COL_OPERATOR, "operator", HT_STR, HT_KEY,                                           \
	        "operator that allocated it, or <unknown>", NULL)                                  \
	COLUMN(COL_SIZE_BYTES, "size_bytes", HT_BYTES, HT_MEASURE, "size of the allocation", NULL) \
	COLUMN(COL_ALLOCATED_TS_NS, "allocated_ts_ns", HT_TIME, HT_MEASURE,                        \
	        "when it was allocated, from the first event of all ranks; null: "                 \
	        "before the recording",                                                            \
	        NULL)                                                                              \
	COLUMN(COL_RELEASED_TS_NS, "released_ts_ns", HT_TIME, HT_MEASURE,                          \
	        "when it was freed, from the first event of all ranks; null: not in "              \
	        "the recording",                                                                   \
	        NULL)                                                                              \
	COLUMN(COL_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE,                            \
	        "from the one to the other; null without both", NULL)                              \
	COLUMN(COL_AT_PEAK, "at_peak", HT_BOOL, HT_MEASURE,                                        \
	        "alive when the device's allocated total peaks", NULL)                             \
	COLUMN(COL_OP_INDEX, "op_index", HT_I64, HT_DETAIL, "row of the operator; null: none",     \
	        NULL)                                                                              \
	COLUMN(COL_INDEX, "index", HT_I64, HT_DETAIL,                                              \
	        "row of the allocation; null: before the recording", NULL)                         \
	COLUMN(COL_RELEASE_INDEX, "release_index", HT_I64, HT_DETAIL,                              \
	        "row of the free; null: not in the recording", NULL)
HT_COLUMNS(columns, COLUMNS);

const struct ht_analysis ht_analysis_memory_events = {
	.info = { .name = "memory-events",
	        .group = "memory",
	        .page_view = "memory",
	        .title = "Memory events",
	        .question =
	                "What was allocated by whom, how large is it, and how long does it live?",
	        .method =
	                "Allocations paired with the next free of the same address on the device, "
	                "and the operator that was running on the thread.",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1 },
	.per_rank = list_pairs,
	.finish = finish,
};

/* When the allocated total of the device of an event is highest for the first time. */
struct top {
	int64_t bytes, ts_ns;
};

static struct top find_top(struct ht_memory_events *events, size_t first, size_t end)
{
	struct top top = { INT64_MIN, 0 };
	ht_memory_fill_totals(events->list + first, end - first);
	for (size_t i = first; i < end; i++)
		if (events->list[i].allocated > top.bytes)
			top = (struct top){ events->list[i].allocated, events->list[i].ts_ns };
	return top;
}

struct listing {
	struct ht_run *run;
	ht_table *table;
	const struct ht_memory_events *events;
	struct ht_op_tree tree;
	const struct ht_memory_op *ops;
	const struct top *tops;     /* by event: of its device */
	const char *const *devices; /* by event */
};

static enum ht_status put_pair(const struct listing *l, const struct ht_memory_pair *pair)
{
	const struct ht_memory_event *list = l->events->list;
	const struct ht_memory_event *alloc = pair->alloc == SIZE_MAX ? NULL : &list[pair->alloc];
	const struct ht_memory_event *freed = pair->free == SIZE_MAX ? NULL : &list[pair->free];
	size_t some = alloc ? pair->alloc : pair->free;
	const struct ht_memory_op *op = alloc || l->ops[some].is_told ? &l->ops[some] : NULL;
	int64_t top_ns = l->tops[some].ts_ns;
	bool at_peak = (!alloc || alloc->ts_ns <= top_ns) && (!freed || freed->ts_ns > top_ns);
	const char *name = ht_memory_op_name(l->run, op);
	if (!name)
		return ht_fail_nomem(l->run->ctx);
	ht_table_row(l->table);
	ht_table_put_i64(l->table, COL_RANK, l->run->rank);
	ht_table_put_str(l->table, COL_DEVICE, l->devices[some]);
	ht_table_put_str(l->table, COL_OPERATOR, name);
	/* what is freed is what was held, whatever was asked for */
	int64_t bytes = freed ? ht_sub_sat(0, freed->bytes) : alloc ? alloc->bytes : 0;
	ht_table_put_i64(l->table, COL_SIZE_BYTES, bytes);
	ht_table_put_known(
	        l->table, COL_ALLOCATED_TS_NS, alloc ? alloc->ts_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        l->table, COL_RELEASED_TS_NS, freed ? freed->ts_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(l->table, COL_DURATION_NS,
	        alloc && freed ? ht_sub_sat(freed->ts_ns, alloc->ts_ns) : HT_NO_I64, HT_NO_I64);
	ht_table_put_i64(l->table, COL_AT_PEAK, at_peak);
	bool known = alloc && op->node != HT_NONE;
	ht_table_put_known(
	        l->table, COL_OP_INDEX, known ? l->tree.nodes[op->node].row : HT_NONE, HT_NONE);
	ht_table_put_known(l->table, COL_INDEX, alloc ? alloc->row : HT_NONE, HT_NONE);
	ht_table_put_known(l->table, COL_RELEASE_INDEX, freed ? freed->row : HT_NONE, HT_NONE);
	return HT_OK;
}

/* The device of every event, and when that peaks. */
static enum ht_status look_at_devices(
        struct ht_run *run, struct ht_memory_events *events, struct listing *l)
{
	struct top *tops = ht_arena_alloc(run->scratch, (events->n + 1) * sizeof *tops);
	const char **devices = ht_arena_alloc(run->scratch, (events->n + 1) * sizeof *devices);
	if (!tops || !devices)
		return ht_fail_nomem(run->ctx);
	for (size_t first = 0, end; first < events->n; first = end) {
		for (end = first + 1; end < events->n; end++)
			if (!ht_memory_same_curve(&events->list[first], &events->list[end]))
				break;
		struct top top = find_top(events, first, end);
		const char *device = ht_memory_device_name(run, &events->list[first]);
		if (!device)
			return ht_fail_nomem(run->ctx);
		for (size_t i = first; i < end; i++) {
			tops[i] = top;
			devices[i] = device;
		}
	}
	l->tops = tops;
	l->devices = devices;
	return HT_OK;
}

static enum ht_status list_pairs(struct ht_run *run, struct ht_part *part)
{
	struct ht_memory_events events;
	struct ht_memory_pair *pairs = NULL;
	size_t n = 0;
	HT_TRY(ht_memory_events_collect(run, &events));
	if (!events.n)
		return HT_OK;
	struct listing l = { .run = run, .table = part->facts[0], .events = &events };
	struct ht_traits traits;
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_op_tree_make(run, &traits, &l.tree));
	HT_TRY(ht_memory_ops_find(run, &events, &l.tree, &l.ops));
	HT_TRY(ht_memory_pairs_find(run, &events, &pairs, &n));
	HT_TRY(look_at_devices(run, &events, &l));
	for (size_t i = 0; i < n; i++)
		HT_TRY(put_pair(&l, &pairs[i]));
	if (!n)
		return ht_table_add_note(part->facts[0],
		        "rank %lld: memory events have no addresses (PyTorch before 1.10): "
		        "memory-stats has what they tell",
		        (long long)run->rank);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_parts_rows(run, parts, 0, 0, table));
	if (ht_table_n_rows(table) || ht_table_n_notes(table))
		return HT_OK;
	return ht_table_add_note(table, "%s", ht_memory_none_note(run));
}
