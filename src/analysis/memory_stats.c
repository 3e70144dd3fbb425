/*
 * memory_stats.c - which operators allocate, how much, and what they leave behind.
 *
 * Per rank, device and operator name, over all its calls:
 *   self      [memory] events of a call itself (memory_events.h): allocated is the sum and the number of the positive
 *             ones, increase the sum of all: what was freed while the operator ran counts against it, whoever had
 *             allocated it
 *   the rest  the same with the events of the operators inside it; an operator inside one of its own name counts in
 *             both
 *   calls     calls of the operator, whether or not they allocate
 * Rows of zeros are left out; events outside of operators are in the note. All events count unless steps or an annotation
 * are chosen. O(n log n).
 *
 * Example: aten::stack [0,30) holds aten::cat [5,25), which allocates 64 bytes at 10 us and frees 16 at 20 us:
 * aten::cat has increase and self increase 48, allocated 64 in 1; aten::stack the same but 0 of itself.
 */
#include "analysis/analysis.h"
#include "model/frame.h"
#include "model/memory_events.h"
#include "model/op_nodes.h"

#include <stdlib.h>
#include <string.h>

static enum ht_status add_up(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "device", HT_STR, HT_KEY, "cpu, cuda:0, ...", NULL },
	{ "operator", HT_STR, HT_KEY, "name of the operator", NULL },
	{ "calls", HT_I64, HT_MEASURE, "calls of the operator", NULL },
	{ "increase_bytes", HT_BYTES, HT_MEASURE,
	        "allocated less freed while it ran, with the operators inside it", NULL },
	{ "self_increase_bytes", HT_BYTES, HT_MEASURE, "the same without those", NULL },
	{ "allocations", HT_I64, HT_MEASURE, "allocations, with those of the operators inside it",
	        NULL },
	{ "self_allocations", HT_I64, HT_MEASURE, "the same without those", NULL },
	{ "allocated_bytes", HT_BYTES, HT_MEASURE,
	        "bytes of allocations, with those of the operators inside it", NULL },
	{ "self_allocated_bytes", HT_BYTES, HT_MEASURE, "the same without those", NULL },
	{ "index", HT_I64, HT_DETAIL, "row of the call that allocates the most itself", NULL },
};

const struct ht_analysis ht_analysis_memory_stats = {
	.info = { .name = "memory-stats",
	        .group = "memory",
	        .title = "Memory statistics",
	        .question =
	                "Which operators allocate memory, and how much do they leave allocated?",
	        .method =
	                "Memory events of the operator that was running on the thread; increase is "
	                "allocated less freed, self without the operators inside.",
	        HT_ONE_SCHEMA(columns),
	        .n_sets = 1 },
	.per_rank = add_up,
	.finish = finish,
};

enum { INCREASE, COUNT, SIZE, N_SUMS };

/* Of a call, or of all calls of a name. */
struct sums {
	const char *name;
	int64_t self[N_SUMS], total[N_SUMS];
	uint32_t row; /* of the call; of a name, the one that allocates the most */
	int64_t row_bytes;
};

/* The calls that have events on a device or in something inside, as slots. */
struct tally {
	struct ht_run *run;
	struct ht_op_nodes nodes;
	uint32_t *slot;     /* by row: its slot + 1, 0: none */
	struct ht_vec list; /* struct sums */
	bool no_memory;
};

static struct sums *sums_at(const struct tally *t, size_t i)
{
	return (struct sums *)t->list.data + i;
}

static size_t slot_of(struct tally *t, uint32_t row)
{
	const struct ht_trace *trace = t->run->trace;
	struct sums empty = { .name = ht_str(trace, trace->name[row]), .row = row };
	if (!t->slot[row]) {
		if (!HT_VEC_PUSH(t->run->ctx->mem, &t->list, struct sums, empty)) {
			t->no_memory = true;
			return 0;
		}
		t->slot[row] = (uint32_t)t->list.n;
	}
	return t->slot[row] - 1;
}

/* Of an operator that only the event names. */
static size_t slot_without_row(struct tally *t, const char *name)
{
	struct sums empty = { .name = name, .row = HT_NONE };
	if (!HT_VEC_PUSH(t->run->ctx->mem, &t->list, struct sums, empty)) {
		t->no_memory = true;
		return 0;
	}
	return t->list.n - 1;
}

static void add_event(int64_t *sums, const struct ht_memory_event *event)
{
	ht_sum(&sums[INCREASE], event->bytes);
	if (event->bytes > 0) {
		sums[COUNT]++;
		ht_sum(&sums[SIZE], event->bytes);
	}
}

/* From calls to what is around them: a row's parent stands before it in its track. */
static void carry_up(struct tally *t)
{
	const struct ht_trace *trace = t->run->trace;
	for (size_t i = trace->n_track_rows; i-- > 0 && !t->no_memory;) {
		uint32_t row = trace->track_rows[i];
		uint32_t up = t->slot[row] ? t->nodes.op[row] : HT_NONE;
		if (up == HT_NONE)
			continue;
		size_t to = slot_of(t, t->nodes.call[up]);
		for (int k = 0; k < N_SUMS && !t->no_memory; k++)
			ht_sum(&sums_at(t, to)->total[k], sums_at(t, t->slot[row] - 1)->total[k]);
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

/* ---- calls ---- */

struct calls {
	uint32_t *of; /* by string id */
};

/* The rows that are chosen: all of them unless steps or an annotation are. */
static enum ht_status count_calls(
        struct ht_run *run, const struct ht_op_nodes *nodes, struct calls *ret_calls)
{
	const struct ht_trace *t = run->trace;
	struct ht_frame frame = { 0 };
	bool all = !run->step && !run->annotation;
	uint32_t *of = ht_arena_alloc(run->scratch, (t->n_string_offsets + 1) * sizeof *of);
	if (!of)
		return ht_fail_nomem(run->ctx);
	if (!all)
		HT_TRY(ht_frame_make(run, &frame));
	for (size_t i = 0; i < (all ? t->n_kind : frame.n_rows); i++) {
		uint32_t row = all ? (uint32_t)i : frame.rows[i];
		bool counts = nodes->node[row] == HT_NODE_OPERATOR && nodes->call[row] == row;
		if (counts && t->name[row] != HT_NO_STR)
			of[t->name[row]]++;
	}
	ret_calls->of = of;
	return HT_OK;
}

static void put_sums(const struct tally *t, ht_table *table, const char *device,
        const struct calls *calls, const struct sums *sums)
{
	uint32_t id = ht_str_find(t->run->trace, sums->name);
	bool zero = true;
	for (int k = 0; k < N_SUMS; k++)
		zero &= !sums->self[k] && !sums->total[k];
	if (zero)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, t->run->rank);
	ht_table_put_str(table, device);
	ht_table_put_str(table, sums->name);
	ht_table_put_i64(table, id == HT_NO_STR ? 0 : calls->of[id]);
	for (int k = 0; k < N_SUMS; k++) {
		ht_table_put_i64(table, sums->total[k]);
		ht_table_put_i64(table, sums->self[k]);
	}
	ht_table_put_known(table, sums->row, HT_NONE);
}

/* The events of one device. */
static enum ht_status put_device(struct tally *t, ht_table *table,
        const struct ht_memory_event *events, const struct ht_memory_op *ops, size_t n,
        const struct calls *calls)
{
	const char *device = ht_memory_device_name(t->run, events);
	int64_t elsewhere[N_SUMS] = { 0 };
	if (!device)
		return ht_fail_nomem(t->run->ctx);
	for (size_t i = 0; i < n && !t->no_memory; i++) {
		if (!ops[i].name) {
			add_event(elsewhere, &events[i]);
			continue;
		}
		size_t at = ops[i].op == HT_NONE ? slot_without_row(t, ops[i].name)
		                                 : slot_of(t, ops[i].op);
		if (t->no_memory)
			break;
		add_event(sums_at(t, at)->self, &events[i]);
		add_event(sums_at(t, at)->total, &events[i]);
	}
	carry_up(t);
	if (t->no_memory)
		return ht_fail_nomem(t->run->ctx);
	for (size_t i = 0; i < t->list.n; i++)
		if (sums_at(t, i)->row != HT_NONE)
			t->slot[sums_at(t, i)->row] = 0;
	size_t n_names = join_names(t->list.data, t->list.n);
	if (n_names)
		qsort(t->list.data, n_names, sizeof(struct sums), by_increase);
	for (size_t i = 0; i < n_names; i++)
		put_sums(t, table, device, calls, sums_at(t, i));
	t->list.n = 0;
	if (!elsewhere[COUNT] && !elsewhere[INCREASE])
		return HT_OK;
	return ht_table_add_note(table,
	        "rank %lld, %s: outside of operators %lld allocations of %lld bytes, increase %lld bytes",
	        (long long)t->run->rank, device, (long long)elsewhere[COUNT],
	        (long long)elsewhere[SIZE], (long long)elsewhere[INCREASE]);
}

static enum ht_status put_devices(struct tally *t, ht_table *table,
        const struct ht_memory_events *events, const struct ht_memory_op *ops)
{
	struct calls calls = { 0 };
	HT_TRY(count_calls(t->run, &t->nodes, &calls));
	for (size_t first = 0, end; first < events->n; first = end) {
		for (end = first + 1; end < events->n; end++)
			if (!ht_memory_same_device(&events->list[first], &events->list[end]))
				break;
		HT_TRY(put_device(
		        t, table, events->list + first, ops + first, end - first, &calls));
	}
	return HT_OK;
}

static enum ht_status add_up(struct ht_run *run, struct ht_part *part)
{
	struct ht_memory_events events;
	const struct ht_memory_op *ops = NULL;
	struct tally t = { .run = run };
	HT_TRY(ht_memory_events_collect(run, &events));
	if (!events.n)
		return HT_OK;
	HT_TRY(ht_memory_ops_find(run, &events, &ops));
	HT_TRY(ht_op_nodes_make(run, &t.nodes));
	t.slot = ht_arena_alloc(run->scratch, (run->trace->n_kind + 1) * sizeof *t.slot);
	if (!t.slot)
		return ht_fail_nomem(run->ctx);
	enum ht_status status = put_devices(&t, part->facts[0], &events, ops);
	ht_vec_free(run->ctx->mem, &t.list, sizeof(struct sums));
	return status;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	return ht_parts_rows_or(
	        run, parts, table, "no memory events: record with profile_memory=True");
}
