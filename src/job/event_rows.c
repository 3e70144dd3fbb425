/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rows.c - see event_rows.h.
 */
#include "job/event_rows.h"

#include "base/checked.h"
#include "job/event_flags.h"
#include "model/efficiency/row_costs.h"
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
	return ht_is_optimizer_name(name) ? HT_EVENT_OPTIMIZER : 0;
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

/* Bytes of a call over the bandwidth of its device, each of its activities with the share that it has of their time. */
static void put_memory_time(const struct ht_trace *t, const struct ht_op_calls *calls,
        const struct ht_op_call *call, int64_t *memory_ns)
{
	const struct ht_peaks *peaks = ht_op_call_peaks(t, calls, call);
	double sum = 0;
	if (call->cost.state != HT_COST_KNOWN || !call->cost.has_bytes || !peaks ||
	        !peaks->is_known || !(peaks->bytes > 0))
		return;
	for (size_t i = 0; i < call->n; i++)
		sum += (double)t->dur_ns[t->gpu[calls->activities[call->first + i]].row];
	for (size_t i = 0; i < call->n && sum > 0; i++) {
		uint32_t row = t->gpu[calls->activities[call->first + i]].row;
		double share = (double)t->dur_ns[row] / sum;
		memory_ns[row] = ht_cut_sat(1e9 * share * (double)call->cost.bytes / peaks->bytes);
	}
}

static enum ht_status find_memory_times(struct ht_event_rows *rows)
{
	struct ht_run *run = rows->run;
	struct ht_row_costs costs;
	size_t n = ht_n_events(run->trace);
	int64_t *memory_ns = ht_arena_room(run->scratch, (n + 1) * sizeof *memory_ns);
	if (!memory_ns)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		memory_ns[i] = HT_NO_I64;
	HT_TRY(ht_row_costs_make(run, &costs));
	for (size_t i = 0; i < costs.calls.n; i++)
		put_memory_time(run->trace, &costs.calls, &costs.calls.list[i], memory_ns);
	rows->memory_ns = memory_ns;
	return HT_OK;
}

static bool is_of_events(const struct ht_cp_rule *rule)
{
	return rule->value == HT_CP_SET || rule->value == HT_CP_INSERT ||
	       rule->value == HT_CP_REPEAT;
}

enum ht_status ht_event_rows_make(
        struct ht_run *run, struct ht_cp_model *m, const char *rules, struct ht_event_rows *ret)
{
	size_t n = ht_n_events(m->trace);
	bool fuses = false;
	*ret = (struct ht_event_rows){
		.run = run, .m = m, .sequence = ht_arg_cursor(m->trace, "Sequence number")
	};
	ret->flags = ht_arena_alloc(run->scratch, (n + 1) * sizeof *ret->flags);
	if (!ret->flags)
		return ht_fail_nomem(run->ctx);
	HT_TRY(find_phases(ret));
	if (!rules)
		return HT_OK;
	HT_TRY(ht_cp_rules_read(run, m->trace, rules, &ret->rules));
	for (size_t i = 0; i < ret->rules.n; i++) {
		ret->has_events |= is_of_events(&ret->rules.list[i]);
		fuses |= ret->rules.list[i].value == HT_CP_FUSE;
	}
	return fuses ? find_memory_times(ret) : HT_OK;
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

static uint32_t event_of(const struct ht_event_rows *rows, uint64_t fit, uint32_t row)
{
	for (size_t i = 0; rows->has_events && i < rows->rules.n && i < 64; i++)
		if ((fit >> i & 1) && is_of_events(&rows->rules.list[i]))
			return ht_cp_rule_event(
			        &rows->rules, &rows->rules.list[i], rows->m->trace, row);
	return HT_NONE;
}

struct ht_event_told ht_event_row_tell(struct ht_event_rows *rows, uint32_t row)
{
	struct ht_event_told told = { .event = HT_NONE };
	told.flags = row == HT_NONE ? 0 : flags_of(rows, row);
	if (rows->rules.n)
		told.rules = ht_cp_rules_fit(&rows->rules, rows->m->trace,
		        row == HT_NONE ? HT_CP_DEPENDENCY : HT_CP_OPERATOR,
		        ht_cp_host_bound(rows->m, row), row);
	told.event = event_of(rows, told.rules, row);
	return told;
}

struct ht_event_told ht_event_work_tell(struct ht_event_rows *rows, uint32_t work)
{
	const struct ht_cp_work *w = &rows->m->works[work];
	struct ht_event_told told = { .flags = HT_EVENT_WORK };
	if (w->bound == HT_CP_BOUND_GPU_COMMUNICATION)
		told.flags |= HT_EVENT_COMM;
	if (w->launch != HT_NONE)
		told.flags |= flags_of(rows, w->launch) & (HT_EVENT_AGAIN | HT_EVENT_PHASES);
	if (rows->rules.n)
		told.rules = ht_cp_rules_fit(
		        &rows->rules, rows->m->trace, HT_CP_OPERATOR, w->bound, w->row);
	told.event = event_of(rows, told.rules, w->row);
	return told;
}

int64_t ht_event_memory_ns(const struct ht_event_rows *rows, uint32_t work)
{
	return rows->memory_ns ? rows->memory_ns[rows->m->works[work].row] : HT_NO_I64;
}
