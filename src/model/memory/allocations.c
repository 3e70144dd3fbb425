/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.c - see allocations.h. Linear but for sorting.
 */
#include "model/memory/allocations.h"

#include "base/checked.h"
#include "model/rows/chosen_time.h"
#include "base/sort.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

/* None comes first. */
static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare(const void *left, const void *right)
{
	const struct ht_memory_event *a = left, *b = right;
	int by = ht_order_i64(a->device_type, b->device_type);
	by = by ? by : ht_order_i64(a->device_id, b->device_id);
	by = by ? by : compare_texts(a->component, b->component);
	by = by ? by : ht_order_i64(a->ts_ns, b->ts_ns);
	return by ? by : ht_order_i64(a->row, b->row);
}

bool ht_memory_same_device(const struct ht_memory_event *a, const struct ht_memory_event *b)
{
	return a->device_type == b->device_type && a->device_id == b->device_id;
}

bool ht_memory_same_curve(const struct ht_memory_event *a, const struct ht_memory_event *b)
{
	return ht_memory_same_device(a, b) && !compare_texts(a->component, b->component);
}

/* PyTorch's numbers for device types. */
const char *ht_memory_device_name(struct ht_run *run, const struct ht_memory_event *event)
{
	static const struct {
		int64_t type;
		const char *name;
	} types[] = { { 1, "cuda" }, { 6, "hip" }, { 12, "xpu" }, { 13, "mps" }, { 15, "hpu" },
		{ 19, "mtia" }, { 20, "privateuse1" } };
	if (event->device_type == 0)
		return "cpu";
	if (event->device_type == 20 && run->trace->meta->dialect == HT_DIALECT_ASCEND)
		return ht_arena_printf(run->scratch, "npu:%lld", (long long)event->device_id);
	for (size_t i = 0; i < HT_COUNT(types); i++)
		if (types[i].type == event->device_type)
			return ht_arena_printf(run->scratch, "%s:%lld", types[i].name,
			        (long long)event->device_id);
	return ht_arena_printf(run->scratch, "type%lld:%lld", (long long)event->device_type,
	        (long long)event->device_id);
}

/* ---- which rows ---- */

/* The args of memory rows, which are asked for in ascending order. */
struct args {
	struct ht_arg_cursor type, id, bytes, addr, allocated, reserved, active;
	const struct ht_arg_column *component;
};

static struct args open_args(const struct ht_trace *t)
{
	return (struct args){
		.type = ht_arg_cursor(t, "Device Type"),
		.id = ht_arg_cursor(t, "Device Id"),
		.bytes = ht_arg_cursor(t, "Bytes"),
		.addr = ht_arg_cursor(t, "Addr"),
		.allocated = ht_arg_cursor(t, "Total Allocated"),
		.reserved = ht_arg_cursor(t, "Total Reserved"),
		.active = ht_arg_cursor(t, "Total Active"),
		.component = ht_arg_find(t, "Component", HT_ARG_STR),
	};
}

/* The text of a column at a row, NULL: none. */
static const char *text_at(
        const struct ht_trace *t, const struct ht_arg_column *column, uint32_t row)
{
	uint64_t at = column ? ht_arg_position(t, column, row) : UINT64_MAX;
	return at == UINT64_MAX ? NULL : ht_str(t, (uint32_t)ht_arg_i64_at(t, column, at));
}

static struct ht_memory_event read_event(const struct ht_trace *t, struct args *args, uint32_t row)
{
	return (struct ht_memory_event){
		.device_type = ht_arg_cursor_i64(&args->type, row, 0),
		.device_id = ht_arg_cursor_i64(&args->id, row, 0),
		.ts_ns = t->ts_ns[row],
		.bytes = ht_arg_cursor_i64(&args->bytes, row, 0),
		.addr = ht_arg_cursor_i64(&args->addr, row, HT_NO_I64),
		.allocated = ht_arg_cursor_i64(&args->allocated, row, HT_NO_I64),
		.reserved = ht_arg_cursor_i64(&args->reserved, row, HT_NO_I64),
		.active = ht_arg_cursor_i64(&args->active, row, HT_NO_I64),
		.component = text_at(t, args->component, row),
		.row = row,
	};
}

enum ht_status ht_memory_events_collect(struct ht_run *run, struct ht_memory_events *ret_events)
{
	const struct ht_trace *t = run->trace;
	struct ht_chosen_time chosen;
	size_t n = ht_n_of_kind(t, HT_KIND_MEMORY);
	*ret_events = (struct ht_memory_events){ 0 };
	if (n == 0)
		return HT_OK;
	HT_TRY(ht_chosen_time_make(run, &chosen));
	struct ht_memory_event *events = ht_arena_alloc(run->scratch, (n + 1) * sizeof *events);
	if (!events)
		return ht_fail_nomem(run->ctx);
	n = 0;
	struct args args = open_args(t);
	uint32_t name = ht_str_find(t, "[memory]");
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_MEMORY || t->name[row] != name)
			continue;
		if (!ht_chosen_has(&chosen, t->ts_ns[row]))
			continue;
		events[n++] = read_event(t, &args, row);
	}
	qsort(events, n, sizeof *events, compare);
	*ret_events = (struct ht_memory_events){ events, n };
	return HT_OK;
}

const char *ht_memory_none_note(const struct ht_run *run)
{
	return run->step || run->annotation ? "no memory events in the selection"
	                                    : "no memory events: record with profile_memory=True";
}

void ht_memory_fill_totals(struct ht_memory_event *events, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (events[i].allocated == HT_NO_I64 && events[i].bytes)
			events[i].allocated = ht_add_sat(sum, events[i].bytes);
		if (events[i].allocated != HT_NO_I64)
			sum = events[i].allocated;
	}
}

/* ---- whose ---- */

/* Calls of the runtime are inside nothing that the operator around them is not. */
static bool may_be_around(const struct ht_trace *t, uint32_t row)
{
	uint8_t kind = t->kind[row];
	return kind == HT_KIND_CPU_OP || kind == HT_KIND_ANNOTATION || kind == HT_KIND_PYTHON;
}

enum ht_status ht_memory_around_find(
        struct ht_run *run, const struct ht_op_tree *tree, uint32_t **ret_around)
{
	const struct ht_trace *t = run->trace;
	const int64_t *ends = tree->ends;
	uint32_t *around = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *around);
	if (!around)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++) {
		uint32_t open = HT_NONE;
		for (uint32_t i = 0; i < t->tracks[k].n; i++) {
			uint32_t row = t->track_rows[t->tracks[k].first + i];
			if (ht_is_span(t, row)) {
				open = may_be_around(t, row) ? row : open;
				continue;
			}
			if (t->kind[row] != HT_KIND_MEMORY)
				continue;
			/* what is over stays over, so the climb is paid once */
			while (open != HT_NONE && ends[open] <= t->ts_ns[row])
				open = t->parent[open];
			around[row] = open;
		}
	}
	*ret_around = around;
	return HT_OK;
}

static const char *name_of(const struct ht_op_tree *tree, uint32_t node)
{
	const struct ht_trace *t = tree->trace;
	return node == HT_NONE ? NULL : ht_str(t, t->name[tree->nodes[node].row]);
}

enum ht_status ht_memory_ops_find(struct ht_run *run, const struct ht_memory_events *events,
        const struct ht_op_tree *tree, const struct ht_memory_op **ret_ops)
{
	const struct ht_trace *t = run->trace;
	const struct ht_arg_column *named = ht_arg_find(t, "Operator", HT_ARG_STR);
	uint32_t *around = NULL;
	struct ht_memory_op *ops = ht_arena_alloc(run->scratch, (events->n + 1) * sizeof *ops);
	if (!ops)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_memory_around_find(run, tree, &around));
	for (size_t i = 0; i < events->n; i++) {
		uint32_t row = events->list[i].row;
		uint32_t node = around[row] == HT_NONE ? HT_NONE : tree->of[around[row]];
		const char *name = text_at(t, named, row);
		if (node != HT_NONE && !tree->nodes[node].is_counted)
			node = HT_NONE;
		ops[i].node = node;
		ops[i].is_told = name != NULL;
		ops[i].name = name ? name : name_of(tree, node);
		ops[i].outer = node == HT_NONE ? NULL : name_of(tree, tree->nodes[node].parent);
	}
	*ret_ops = ops;
	return HT_OK;
}

/* ---- pairs ---- */

struct keyed {
	const struct ht_memory_event *event;
	size_t at;
};

static int by_address(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	int by = ht_order_i64(a->event->device_type, b->event->device_type);
	by = by ? by : ht_order_i64(a->event->device_id, b->event->device_id);
	by = by ? by : ht_order_i64(a->event->addr, b->event->addr);
	by = by ? by : ht_order_i64(a->event->ts_ns, b->event->ts_ns);
	return by ? by : ht_order_i64(a->event->row, b->event->row);
}

static size_t earlier(const struct ht_memory_pair *pair)
{
	return pair->alloc != SIZE_MAX ? pair->alloc : pair->free;
}

/* Events are by device, component and time; only of one component is that the order wanted. */
static int by_time(const void *left, const void *right)
{
	const struct ht_memory_pair *a = left, *b = right;
	return (earlier(a) > earlier(b)) - (earlier(a) < earlier(b));
}

/* The pairs of one address. */
static size_t pair_up(const struct keyed *keyed, size_t n, struct ht_memory_pair *pairs)
{
	size_t n_pairs = 0, open = SIZE_MAX, lone = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		bool is_alloc = keyed[i].event->bytes > 0;
		if (open != SIZE_MAX)
			pairs[n_pairs++] = (struct ht_memory_pair){ open,
				is_alloc ? SIZE_MAX : keyed[i].at, false };
		else if (!is_alloc)
			lone = keyed[i].at;
		open = is_alloc ? keyed[i].at : SIZE_MAX;
	}
	if (open != SIZE_MAX)
		pairs[n_pairs++] = (struct ht_memory_pair){ open, SIZE_MAX, true };
	if (lone != SIZE_MAX)
		pairs[n_pairs++] = (struct ht_memory_pair){ SIZE_MAX, lone, false };
	return n_pairs;
}

const char *ht_memory_op_name(struct ht_run *run, const struct ht_memory_op *op)
{
	static const char empty[] = "aten::empty";
	if (!op || !op->name)
		return "<unknown>";
	if (strncmp(op->name, empty, sizeof empty - 1) != 0 || !op->outer)
		return op->name;
	return ht_arena_printf(run->scratch, "%s (%s)", op->outer, op->name);
}

enum ht_status ht_memory_pairs_find(struct ht_run *run, const struct ht_memory_events *events,
        struct ht_memory_pair **ret_pairs, size_t *ret_n)
{
	struct keyed *keyed = ht_arena_alloc(run->scratch, (events->n + 1) * sizeof *keyed);
	struct ht_memory_pair *pairs =
	        ht_arena_alloc(run->scratch, (events->n + 1) * sizeof *pairs);
	size_t n = 0, n_pairs = 0;
	if (!keyed || !pairs)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < events->n; i++) {
		const struct ht_memory_event *event = &events->list[i];
		if (event->addr != HT_NO_I64 && event->bytes != 0)
			keyed[n++] = (struct keyed){ event, i };
	}
	qsort(keyed, n, sizeof *keyed, by_address);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n; end++)
			if (keyed[end].event->addr != keyed[first].event->addr ||
			        !ht_memory_same_device(keyed[end].event, keyed[first].event))
				break;
		n_pairs += pair_up(keyed + first, end - first, pairs + n_pairs);
	}
	qsort(pairs, n_pairs, sizeof *pairs, by_time);
	*ret_pairs = pairs;
	*ret_n = n_pairs;
	return HT_OK;
}

enum ht_status ht_memory_kept_find(
        struct ht_run *run, const struct ht_memory_events *events, bool **ret_is_kept)
{
	struct ht_memory_pair *pairs = NULL;
	size_t n = 0;
	bool *is_kept = ht_arena_alloc(run->scratch, events->n + 1);
	if (!is_kept)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_memory_pairs_find(run, events, &pairs, &n));
	for (size_t i = 0; i < n; i++)
		if (pairs[i].is_kept)
			is_kept[pairs[i].alloc] = true;
	*ret_is_kept = is_kept;
	return HT_OK;
}
