/*
 * event_rows.c - see event_rows.h.
 */
#include "job/event_rows.h"

#include "job/event_graph.h"
#include "model/efficiency/op_calls.h"
#include "model/rows/autograd.h"
#include "model/rows/name_traits.h"

#include <string.h>

#define LOOKED_AT (1u << 15)
/* What is inside a row has these of it. */
#define INHERITED (HT_EVENT_GC | HT_EVENT_BACKWARD | HT_EVENT_OPTIMIZER)

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Python's garbage collector, as an event of PyTorch's profiler, a stack frame or an annotation of the user; the backward pass as
 * annotations of trainers name it; the optimizer. */
static unsigned flags_of_name(const char *name)
{
	static const char *const collectors[] = { "GC", "gc", "Python GC", "gc.collect", "## gc ##",
		"<built-in function collect>", "garbage_collection" };
	static const char *const backwards[] = { "backward", "## backward ##", "backward-compute",
		"backward_step", "Backward", "[pl][profile]backward" };
	if (is_one_of(name, collectors, HT_COUNT(collectors)))
		return HT_EVENT_GC;
	if (is_one_of(name, backwards, HT_COUNT(backwards)))
		return HT_EVENT_BACKWARD;
	return ht_name_traits(name) & HT_TRAIT_OPTIMIZER ? HT_EVENT_OPTIMIZER : 0;
}

/* Rows of a track are in the order of their starts, the longest first: what is around a row comes before it. */
static void inherit(struct ht_event_rows *rows, const uint16_t *by_name)
{
	const struct ht_trace *t = rows->m->trace;
	for (size_t i = 0; i < t->n_tracks; i++)
		for (uint32_t j = 0; j < t->tracks[i].n; j++) {
			uint32_t row = t->track_rows[t->tracks[i].first + j], name = t->name[row];
			uint32_t parent = t->parent[row];
			if (parent != HT_NONE)
				rows->flags[row] |= rows->flags[parent] & INHERITED;
			if (name != HT_NO_STR)
				rows->flags[row] |= by_name[name];
		}
}

static enum ht_status find_phases(struct ht_event_rows *rows)
{
	const struct ht_trace *t = rows->m->trace;
	struct ht_run *run = rows->run;
	size_t n_names = t->n_string_offsets ? t->n_string_offsets - 1 : 0;
	uint16_t *by_name = ht_arena_alloc(run->scratch, (n_names + 1) * sizeof *by_name);
	struct ht_autograd autograd;
	if (!by_name)
		return ht_fail_nomem(run->ctx);
	for (uint32_t id = 0; id < n_names; id++)
		by_name[id] = (uint16_t)flags_of_name(ht_str(t, id));
	HT_TRY(ht_autograd_make(run, t, &autograd));
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (ht_autograd_forward(&autograd, row) != HT_NONE ||
		        ht_autograd_caller(&autograd, row) != HT_NONE)
			rows->flags[row] = HT_EVENT_BACKWARD;
	inherit(rows, by_name);
	return HT_OK;
}

enum ht_status ht_event_rows_make(
        struct ht_run *run, struct ht_cp_model *m, const char *rules, struct ht_event_rows *ret)
{
	size_t n = ht_n_events(m->trace);
	*ret = (struct ht_event_rows){
		.run = run, .m = m, .sequence = ht_arg_cursor(m->trace, "Sequence number")
	};
	ret->flags = ht_arena_alloc(run->scratch, (n + 1) * sizeof *ret->flags);
	if (!ret->flags)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_phases(ret));
	return rules ? ht_cp_rules_read(run, m->trace, rules, &ret->rules) : HT_OK;
}

void ht_event_rows_done(struct ht_event_rows *rows)
{
	ht_cp_rules_done(&rows->rules);
}

static unsigned flags_of(struct ht_event_rows *rows, uint32_t row)
{
	const struct ht_trace *t = rows->m->trace;
	unsigned flags = rows->flags[row];
	if (flags & LOOKED_AT)
		return flags & ~LOOKED_AT;
	if (ht_cp_host_bound(rows->m, row) == HT_CP_BOUND_DATA_LOADING)
		flags |= HT_EVENT_LOADS;
	if (ht_op_is_recomputed(t, &rows->sequence, row))
		flags |= HT_EVENT_AGAIN;
	rows->flags[row] = (uint16_t)(flags | LOOKED_AT);
	return flags;
}

void ht_event_row_tell(
        struct ht_event_rows *rows, uint32_t row, uint32_t *ret_flags, uint64_t *ret_rules)
{
	*ret_flags = row == HT_NONE ? 0 : flags_of(rows, row);
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
		*ret_flags |= flags_of(rows, w->launch) & (HT_EVENT_AGAIN | HT_EVENT_PHASES);
	if (rows->rules.n)
		*ret_rules = ht_cp_rules_fit(
		        &rows->rules, rows->m->trace, HT_CP_OPERATOR, w->bound, w->row);
}
