/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_calls.c - see op_calls.h.
 *
 * Names and texts of arguments repeat from call to call, so each different combination is read and costed once.
 */
#include "model/efficiency/op_calls.h"
#include "base/checked.h"
#include "model/efficiency/op_rules.h"
#include "store/args.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "json/json_text.h"
#include "model/numbers/interval.h"
#include "model/origin/find_origins.h"
#include "model/origin/replays.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <math.h>
#include <string.h>

/* Attainable parts of the peaks, and the time that no kernel goes below. */
#define ATTAINABLE_FLOPS 0.8
#define ATTAINABLE_BYTES 0.9
#define SHORTEST_NS      2000
/* How far above an operator the product that it is a part of may be, and its autograd node. */
#define MAX_CLIMB         16
#define MAX_CLIMB_TO_NODE 64
#define BACKWARD_NODE     "autograd::engine::evaluate_function: "

/* What the name of an operator says. */
struct known_name {
	const struct ht_op_formula *formula;
	const struct ht_op_rule *rule; /* of the user's, before any formula */
	bool is_asked, is_generated;
};

/* A combination that was costed before. */
struct known_cost {
	const char *texts[4];
	const struct known_name *name;
	bool is_set;
	struct ht_op_cost cost;
};

/* A trace with operators: that of the rank, or a recording of its graphs. */
struct source {
	const struct ht_trace *t;
	struct known_name *names; /* by string id */
	struct ht_arg_cursor dims, types, strides, concrete;
};
#define MAX_SOURCES 8

struct maker {
	struct ht_run *run;
	const struct ht_trace *t;
	struct source sources[MAX_SOURCES]; /* the first is the rank's own */
	size_t n_sources;
	struct ht_origins origins; /* of graph launches; trace NULL: there are none */
	const struct ht_efficiency_options *options;
	const struct ht_op_rules *rules; /* NULL: none */
	struct known_cost *costs;        /* open addressing */
	size_t n_costs, cap_costs;
	struct ht_arg_cursor bytes, sequence;
	struct ht_arg_cursor grid, block, registers, shared;
	struct ht_arg_cursor cube[2], vector[2]; /* by age of the exporter */
	struct ht_interval *intervals;           /* room for the activities of one call */
	struct ht_op_calls *ret;
};

const char *ht_roof_bound_name(enum ht_roof_bound bound)
{
	static const char *const names[HT_N_BOUND] = { NULL, "compute", "memory", "latency",
		"link" };
	return names[bound];
}

/* ---- whose activity it is ---- */

static const struct known_name *look_at(struct maker *m, struct source *from, uint32_t row)
{
	static const struct known_name nothing = { 0 };
	uint32_t id = from->t->name[row];
	if (id == HT_NO_STR)
		return &nothing;
	struct known_name *known = &from->names[id];
	if (!known->is_asked) {
		const char *name = ht_str(from->t, id);
		known->rule = m->rules ? ht_op_rules_find(m->rules, name) : NULL;
		known->formula = known->rule ? NULL : ht_op_formula_find(name);
		known->is_generated = !known->formula && !known->rule &&
		                      ht_text_starts(name, "triton_") &&
		                      !ht_text_starts(name, "triton_tem_");
		known->is_asked = true;
	}
	return known;
}

static uint32_t owner_of(struct maker *m, struct source *from, uint32_t op)
{
	const struct ht_trace *t = from->t;
	if (op == HT_NONE)
		return HT_NONE;
	const struct known_name *known = look_at(m, from, op);
	if (known->formula || known->rule || known->is_generated)
		return op;
	uint32_t row = t->parent[op];
	for (size_t i = 0; i < MAX_CLIMB && row != HT_NONE; i++, row = t->parent[row]) {
		if (t->kind[row] != HT_KIND_CPU_OP)
			continue;
		known = look_at(m, from, row);
		if (known->formula)
			return ht_op_formula_is_matrix(known->formula) ? row : op;
	}
	return op;
}

/* NULL without memory, or when there are too many. */
static struct source *source_of(struct maker *m, const struct ht_trace *t)
{
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->sources[i].t == t)
			return &m->sources[i];
	if (m->n_sources == MAX_SOURCES)
		return NULL;
	struct source *from = &m->sources[m->n_sources];
	from->t = t;
	from->names =
	        ht_arena_alloc(m->run->scratch, (t->n_string_offsets + 1) * sizeof *from->names);
	from->dims = ht_arg_cursor(t, "Input Dims");
	from->types = ht_arg_cursor(t, "Input type");
	from->strides = ht_arg_cursor(t, "Input Strides");
	from->concrete = ht_arg_cursor(t, "Concrete Inputs");
	m->n_sources += from->names != NULL;
	return from->names ? from : NULL;
}

/* A kernel of a graph launch by the operator of its recording: one call for each launch. */
static uint64_t owner_in_graph(struct maker *m, size_t i_gpu)
{
	struct ht_origin origin;
	ht_origin_get(&m->origins, i_gpu, &origin);
	uint32_t launch = m->t->gpu[i_gpu].launch;
	struct source *from = origin.op_trace ? source_of(m, origin.op_trace) : NULL;
	if (!from || launch == HT_NONE)
		return HT_NONE;
	return ((uint64_t)launch + 1) << 32 | owner_of(m, from, origin.op_row);
}

static uint64_t owner_of_activity(struct maker *m, size_t i_gpu)
{
	if (m->origins.trace && m->origins.of_graph && m->origins.of_graph[i_gpu])
		return owner_in_graph(m, i_gpu);
	return owner_of(m, &m->sources[0], m->t->gpu[i_gpu].op);
}

/* ---- costs ---- */

static bool grow_costs(struct maker *m)
{
	size_t cap = m->cap_costs ? 2 * m->cap_costs : 256;
	struct known_cost *costs = ht_arena_alloc(m->run->scratch, cap * sizeof *costs);
	if (!costs)
		return false;
	for (size_t i = 0; i < m->cap_costs; i++) {
		const struct known_cost *old = &m->costs[i];
		if (!old->is_set)
			continue;
		uint64_t hash =
		        ht_hash_mix(ht_hash(old->texts, sizeof old->texts), (uintptr_t)old->name);
		costs[HT_PROBE(at, cap, hash, !costs[at].is_set)] = *old;
	}
	m->costs = costs;
	m->cap_costs = cap;
	return true;
}

static bool is_same(const struct known_cost *a, const struct known_cost *b)
{
	return a->name == b->name && !memcmp(a->texts, b->texts, sizeof a->texts);
}

static bool cost_of(struct maker *m, struct source *from, uint32_t op, struct ht_op_cost *ret)
{
	const struct known_name *known = look_at(m, from, op);
	*ret = (struct ht_op_cost){ .state = HT_COST_NO_FORMULA };
	if (!known->formula && !known->rule && !known->is_generated)
		return true;
	struct known_cost key = { { ht_arg_cursor_str(&from->dims, op),
		                          ht_arg_cursor_str(&from->types, op),
		                          ht_arg_cursor_str(&from->strides, op),
		                          ht_arg_cursor_str(&from->concrete, op) },
		known, true, { 0 } };
	if (4 * m->n_costs >= 3 * m->cap_costs && !grow_costs(m))
		return false;
	uint64_t hash = ht_hash_mix(ht_hash(key.texts, sizeof key.texts), (uintptr_t)key.name);
	struct known_cost *place = &m->costs[HT_PROBE(
	        at, m->cap_costs, hash, !m->costs[at].is_set || is_same(&m->costs[at], &key))];
	if (!place->is_set) {
		struct ht_op_texts texts = { key.texts[0], key.texts[1], key.texts[2],
			key.texts[3] };
		struct ht_op_args args;
		ht_op_args_read(&texts, &args);
		key.cost = known->rule ? ht_op_rule_cost(known->rule, &args)
		                       : ht_op_cost(known->formula, &args, m->options->causal);
		*place = key;
		m->n_costs++;
	}
	*ret = place->cost;
	return true;
}

/* ---- copies and sets that no operator launched ---- */

/* Between host and device, or two devices: the link limits it, and its bandwidth is not that of memory. */
static bool is_link_copy(const struct ht_trace *t, uint32_t row)
{
	static const char *const kinds[] = { "HtoD", "DtoH", "PtoP", "P2P" };
	const char *name = ht_str(t, t->name[row]);
	for (size_t i = 0; t->kind[row] == HT_KIND_MEMCPY && i < HT_COUNT(kinds); i++)
		if (strstr(name, kinds[i]))
			return true;
	return false;
}

static struct ht_op_cost cost_of_activity(struct maker *m, uint32_t row)
{
	struct ht_op_cost cost = { .state = HT_COST_NO_OPERATOR };
	int64_t bytes = ht_arg_cursor_i64(&m->bytes, row, -1);
	bool memory = m->t->kind[row] == HT_KIND_MEMCPY || m->t->kind[row] == HT_KIND_MEMSET;
	if (!memory || bytes < 0 || bytes > INT64_MAX / 2)
		return cost;
	cost.state = HT_COST_KNOWN;
	cost.has_bytes = true;
	cost.is_copy = m->t->kind[row] == HT_KIND_MEMCPY;
	cost.bytes = (uint64_t)bytes
	             << (m->t->kind[row] == HT_KIND_MEMCPY && !is_link_copy(m->t, row));
	cost.bytes_max = cost.bytes;
	return cost;
}

/* ---- roofs ---- */

/* Float products run on tensor cores only where the kernel's name says so. */
static enum ht_dtype compute_type(const struct ht_trace *t, const struct ht_op_call *call)
{
	static const char *const marks[] = { "tf32", "s1688" };
	const char *kernel = ht_str(t, t->name[call->longest]);
	if (!call->cost.is_matrix || call->cost.dtype != HT_DTYPE_F32)
		return (enum ht_dtype)call->cost.dtype;
	for (size_t i = 0; i < HT_COUNT(marks); i++)
		if (strstr(kernel, marks[i]))
			return HT_DTYPE_TF32;
	return HT_DTYPE_F32;
}

/* The product of the three sizes of a grid or block, 0 when not recorded. */
static double volume(struct ht_arg_cursor *cursor, uint32_t row)
{
	const char *text = ht_arg_cursor_str(cursor, row);
	double product = 1;
	if (!text || !ht_json_valid(text, strlen(text)))
		return 0;
	struct ht_json reader = { text };
	struct ht_json_value list = ht_json_next(&reader), item;
	if (list.type != HT_JSON_ARRAY)
		return 0;
	struct ht_json items = ht_json_enter(&list);
	int64_t size;
	while (ht_json_element(&items, &item))
		product *= ht_json_i64(&item, &size) && size > 0 ? (double)size : 0;
	return product;
}

static size_t device_of(const struct maker *m, const struct ht_op_call *call)
{
	int32_t device = m->t->gpu[m->ret->activities[call->first]].device;
	size_t i = 0;
	while (i < m->t->more->n_devices && m->t->more->devices[i].id != device)
		i++;
	return i;
}

static double wave_loss(struct maker *m, const struct ht_op_call *call, double blocks)
{
	double threads = volume(&m->block, call->longest);
	struct ht_launch_shape shape = { .blocks = blocks,
		.threads = threads < 1e6 ? (int64_t)threads : 0,
		.registers = ht_arg_cursor_i64(&m->registers, call->longest, 0),
		.shared_bytes = ht_arg_cursor_i64(&m->shared, call->longest, 0) };
	return ht_wave_loss(&m->ret->limits[device_of(m, call)], &shape);
}

static double seconds(double amount, double per_second)
{
	return amount > 0 ? amount / per_second : 0;
}

/* The first of two names that the row has; NAN: neither, or no ratio. */
static double ratio_of(struct ht_arg_cursor *cursors, uint32_t row)
{
	double ratio = ht_arg_cursor_f64(&cursors[0], row, NAN);
	if (isnan(ratio))
		ratio = ht_arg_cursor_f64(&cursors[1], row, NAN);
	return ratio >= 0 && ratio <= 1 ? ratio : NAN;
}

static void find_roof(struct maker *m, struct ht_op_call *call)
{
	const struct ht_op_cost *cost = &call->cost;
	const struct ht_peaks *peaks = ht_op_call_peaks(m->t, m->ret, call);
	call->dtype = compute_type(m->t, call);
	call->ideal_ns = HT_NO_I64;
	double blocks =
	        m->t->kind[call->longest] == HT_KIND_KERNEL ? volume(&m->grid, call->longest) : 0;
	call->wave_loss = blocks > 0 ? wave_loss(m, call, blocks) : NAN;
	call->cube_ratio = ratio_of(m->cube, call->longest);
	call->vector_ratio = ratio_of(m->vector, call->longest);
	if (is_link_copy(m->t, call->longest)) {
		call->bound = HT_BOUND_LINK;
		return;
	}
	if (!ht_cost_is_known((enum ht_cost_state)cost->state) || !peaks || !peaks->is_known ||
	        !cost->has_bytes || !peaks->bytes || (cost->flops && !peaks->flops[call->dtype]) ||
	        (cost->vector_flops && !peaks->vector_flops))
		return;
	double compute = seconds((double)cost->flops, peaks->flops[call->dtype]) +
	                 seconds((double)cost->vector_flops, peaks->vector_flops);
	double more = seconds((double)(cost->flops_max - cost->flops), peaks->flops[call->dtype]);
	double memory = seconds((double)cost->bytes, peaks->bytes);
	double memory_max = seconds((double)cost->bytes_max, peaks->bytes);
	double ideal = fmax(compute, memory) * 1e9;
	double attainable =
	        1e9 * fmax((compute + more) / ATTAINABLE_FLOPS, memory_max / ATTAINABLE_BYTES);
	call->ideal_ns = ht_round_sat(ideal);
	call->bound = ideal < SHORTEST_NS || (blocks > 0 && peaks->n_sms > 0 &&
	                                             blocks < (double)peaks->n_sms)
	                      ? HT_BOUND_LATENCY
	              : compute >= memory ? HT_BOUND_COMPUTE
	                                  : HT_BOUND_MEMORY;
	int64_t floor_ns = ht_round_sat(fmax(attainable, SHORTEST_NS));
	call->excess_ns = call->gpu_ns > floor_ns ? call->gpu_ns - floor_ns : 0;
}

const char *ht_op_call_name(const struct ht_op_call *call)
{
	return ht_str(call->op_trace, call->op_trace->name[call->op]);
}

const struct ht_peaks *ht_op_call_peaks(const struct ht_trace *trace,
        const struct ht_op_calls *calls, const struct ht_op_call *call)
{
	int32_t device = trace->gpu[calls->activities[call->first]].device;
	for (size_t i = 0; i < calls->n_peaks; i++)
		if (trace->more->devices[i].id == device)
			return &calls->peaks[i];
	/* one that the file does not list: what the user says of devices holds for it, too */
	return &calls->peaks[calls->n_peaks];
}

/* ---- calls ---- */

bool ht_op_is_recomputed(const struct ht_trace *t, struct ht_arg_cursor *sequence, uint32_t op)
{
	size_t n_numbered = 0;
	for (size_t i = 0; i < MAX_CLIMB_TO_NODE && op != HT_NONE; i++, op = t->parent[op]) {
		if (t->kind[op] != HT_KIND_CPU_OP)
			continue;
		if (ht_text_starts(ht_str(t, t->name[op]), BACKWARD_NODE))
			return n_numbered >
			       1; /* the node below it has the number of its forward operator */
		n_numbered += ht_arg_cursor_i64(sequence, op, -1) >= 0;
	}
	return false;
}

/* Whose row the owner of activities is. */
static struct source *find_owner(struct maker *m, uint64_t owner, struct ht_op_call *call)
{
	struct source *from = &m->sources[0];
	call->op = (uint32_t)owner;
	call->op_trace = m->t;
	if (owner <= HT_NONE)
		return from;
	struct ht_origin origin;
	ht_origin_get(&m->origins, m->ret->activities[call->first], &origin);
	from = source_of(m, origin.op_trace);
	call->op_trace = from->t;
	call->module = origin.module;
	return from;
}

static bool make_call(struct maker *m, uint64_t owner, size_t first, size_t n)
{
	const struct ht_trace *t = m->t;
	struct ht_op_call *call = &m->ret->list[m->ret->n++];
	*call = (struct ht_op_call){ .longest = HT_NONE, .first = first, .n = n };
	struct source *from = find_owner(m, owner, call);
	for (size_t i = 0; i < n; i++) {
		uint32_t row = t->gpu[m->ret->activities[first + i]].row;
		m->intervals[i] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
		if (call->longest == HT_NONE || t->dur_ns[row] > t->dur_ns[call->longest])
			call->longest = row;
	}
	size_t n_merged = ht_interval_merge(m->run->ctx->mem, m->intervals, n);
	call->start_ns = m->intervals[0].start;
	call->gpu_ns = ht_interval_length(m->intervals, n_merged);
	if (call->op == HT_NONE || is_link_copy(t, call->longest))
		call->cost = cost_of_activity(m, call->longest);
	else if (!cost_of(m, from, call->op, &call->cost))
		return false;
	call->is_recomputed = call->cost.flops && call->op_trace == t &&
	                      ht_op_is_recomputed(t, &m->sequence, call->op);
	find_roof(m, call);
	return true;
}

static enum ht_status find_peaks(struct maker *m)
{
	size_t n = m->t->more->n_devices;
	struct ht_peaks *peaks = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *peaks);
	m->ret->limits = ht_arena_alloc(m->run->scratch, (n + 1) * sizeof *m->ret->limits);
	if (!peaks || !m->ret->limits)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < n; i++)
		m->ret->limits[i] = ht_sm_limits_read(m->t, &m->t->more->devices[i]);
	for (size_t i = 0; i <= n; i++)
		HT_TRY(ht_peaks_find(m->run, i < n ? m->t->more->devices[i].id : HT_NO_I64,
		        m->options->device_spec, &peaks[i]));
	m->ret->peaks = peaks;
	m->ret->n_peaks = n;
	return HT_OK;
}

/* Activities by the operator that they count at; communication is none of them. */
static enum ht_status sort_activities(
        struct maker *m, const struct ht_frame *frame, uint64_t **ret_owners, size_t *ret_n)
{
	struct ht_arena *scratch = m->run->scratch;
	uint64_t *owners = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *owners);
	uint32_t *activities = ht_arena_room(scratch, (frame->n_gpu + 1) * sizeof *activities);
	size_t n = 0;
	if (!owners || !activities)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &m->t->gpu[frame->gpu[i]];
		if (gpu->class_ == HT_CLASS_COMM || gpu->class_ == HT_CLASS_SYNC)
			continue;
		activities[n] = frame->gpu[i];
		owners[n++] = owner_of_activity(m, frame->gpu[i]);
	}
	if (!ht_sort_keys(m->run->ctx->mem, owners, activities, n))
		return ht_fail_nomem(m->run->ctx);
	m->ret->activities = activities;
	*ret_owners = owners;
	*ret_n = n;
	return HT_OK;
}

static enum ht_status make_calls(struct maker *m, const struct ht_frame *frame)
{
	struct ht_arena *scratch = m->run->scratch;
	uint64_t *owners = NULL;
	size_t n = 0;
	HT_TRY(sort_activities(m, frame, &owners, &n));
	m->ret->list = ht_arena_room(scratch, (n + 1) * sizeof *m->ret->list);
	m->intervals = ht_arena_room(scratch, (n + 1) * sizeof *m->intervals);
	if (!m->ret->list || !m->intervals)
		return ht_fail_nomem(m->run->ctx);
	for (size_t first = 0, end; first < n; first = end) {
		end = first + 1;
		while (end < n && owners[first] != HT_NONE && owners[end] == owners[first])
			end++;
		if (!make_call(m, owners[first], first, end - first))
			return ht_fail_nomem(m->run->ctx);
	}
	return HT_OK;
}

enum ht_status ht_op_calls_make(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_efficiency_options *options, struct ht_op_calls *ret)
{
	const struct ht_trace *t = run->trace;
	struct maker m = { .run = run, .t = t, .options = options, .ret = ret };
	*ret = (struct ht_op_calls){ 0 };
	m.bytes = ht_arg_cursor(t, "bytes");
	m.grid = ht_arg_cursor(t, "grid");
	m.block = ht_arg_cursor(t, "block");
	m.registers = ht_arg_cursor(t, "registers per thread");
	m.shared = ht_arg_cursor(t, "shared memory");
	m.cube[0] = ht_arg_cursor(t, "aic_mac_ratio");
	m.cube[1] = ht_arg_cursor(t, "mac_ratio");
	m.vector[0] = ht_arg_cursor(t, "aiv_vec_ratio");
	m.vector[1] = ht_arg_cursor(t, "vec_ratio");
	m.sequence = ht_arg_cursor(t, "Sequence number");
	if (!source_of(&m, t))
		return ht_fail_nomem(run->ctx);
	if (ht_has_graph_launches(t))
		HT_TRY(ht_origins_make(run, false, &m.origins));
	HT_TRY(ht_op_rules_attached(run, &m.rules));
	HT_TRY(find_peaks(&m));
	return make_calls(&m, frame);
}
