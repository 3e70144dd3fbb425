/*
 * event_rows.c - see event_rows.h.
 */
#include "job/event_rows.h"

#include "job/event_graph.h"
#include "model/efficiency/op_calls.h"

#include <string.h>

#define LOOKED_AT 128
enum { UNKNOWN, COLLECTS, DOES_NOT };

enum ht_status ht_event_rows_make(
        struct ht_run *run, struct ht_cp_model *m, const char *rules, struct ht_event_rows *ret)
{
	size_t n = ht_n_events(m->trace);
	*ret = (struct ht_event_rows){
		.run = run, .m = m, .sequence = ht_arg_cursor(m->trace, "Sequence number")
	};
	ret->flags = ht_arena_alloc(run->scratch, n + 1);
	ret->by_name = ht_arena_alloc(run->scratch, m->trace->n_string_offsets + (size_t)1);
	if (!ret->flags || !ret->by_name)
		return ht_fail_nomem(run->ctx);
	return rules ? ht_cp_rules_read(run, m->trace, rules, &ret->rules) : HT_OK;
}

void ht_event_rows_done(struct ht_event_rows *rows)
{
	ht_cp_rules_done(&rows->rules);
}

/* Python's garbage collector, as an event of PyTorch's profiler, a stack frame or an annotation of the user. */
static bool collects(struct ht_event_rows *rows, uint32_t row)
{
	static const char *const names[] = { "GC", "gc", "Python GC", "gc.collect", "## gc ##",
		"<built-in function collect>", "garbage_collection" };
	const struct ht_trace *t = rows->m->trace;
	uint32_t id = t->name[row];
	if (id == HT_NO_STR)
		return false;
	if (rows->by_name[id] == UNKNOWN) {
		rows->by_name[id] = DOES_NOT;
		for (size_t i = 0; i < HT_COUNT(names); i++)
			if (!strcmp(ht_str(t, id), names[i]))
				rows->by_name[id] = COLLECTS;
	}
	return rows->by_name[id] == COLLECTS;
}

/* Those of a row are those of what is around it, and its own. */
static uint8_t flags_of(struct ht_event_rows *rows, uint32_t row)
{
	const struct ht_trace *t = rows->m->trace;
	uint8_t flags = LOOKED_AT;
	if (rows->flags[row])
		return rows->flags[row];
	for (uint32_t at = row; at != HT_NONE; at = t->parent[at]) {
		if (rows->flags[at]) {
			flags |= rows->flags[at] & HT_EVENT_GC;
			break;
		}
		if (collects(rows, at))
			flags |= HT_EVENT_GC;
	}
	if (ht_cp_host_bound(rows->m, row) == HT_CP_BOUND_DATA_LOADING)
		flags |= HT_EVENT_LOADS;
	if (ht_op_is_recomputed(t, &rows->sequence, row))
		flags |= HT_EVENT_AGAIN;
	return rows->flags[row] = flags;
}

void ht_event_row_tell(
        struct ht_event_rows *rows, uint32_t row, uint32_t *ret_flags, uint64_t *ret_rules)
{
	*ret_flags = row == HT_NONE ? 0 : flags_of(rows, row) & ~(uint32_t)LOOKED_AT;
	*ret_rules = 0;
	if (rows->rules.n)
		*ret_rules = ht_cp_rules_fit(&rows->rules, rows->m->trace,
		        row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
		        ht_cp_host_bound(rows->m, row), row);
}

void ht_event_work_tell(
        struct ht_event_rows *rows, uint32_t work, uint32_t *ret_flags, uint64_t *ret_rules)
{
	const struct ht_cp_work *w = &rows->m->works[work];
	*ret_flags = HT_EVENT_WORK;
	*ret_rules = 0;
	if (w->bound == HT_CP_BOUND_GPU_COMMUNICATION)
		*ret_flags |= HT_EVENT_COMM;
	if (w->launch != HT_NONE)
		*ret_flags |= flags_of(rows, w->launch) & HT_EVENT_AGAIN;
	if (rows->rules.n)
		*ret_rules = ht_cp_rules_fit(
		        &rows->rules, rows->m->trace, HT_CP_OPERATOR, w->bound, w->row);
}
