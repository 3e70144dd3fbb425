/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost_groups.c - see cost_groups.h.
 */
#include "model/efficiency/cost_groups.h"

#include "base/checked.h"
#include "base/intern.h"
#include "model/calls/row_owners.h"
#include "store/args.h"

#include <inttypes.h>
#include <math.h>

struct grouper {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_op_calls *calls;
	enum ht_cost_by by;
	struct ht_pool keys;
	struct ht_vec
	        texts; /* const char *, of each group its key, in the order in which they were met */
	uint32_t nameless; /* place + 1 of the one of no key; 0: none yet */
	struct ht_attribution attribution;
	struct ht_arg_cursor dims;
};

/* ---- keys ---- */

static const char *shape_key(struct grouper *g, const struct ht_op_call *call)
{
	const char *dims = call->op_trace == g->t
	                           ? ht_arg_cursor_str(&g->dims, call->op)
	                           : ht_arg_str(call->op_trace, "Input Dims", call->op);
	return dims ? ht_arena_printf(g->run->scratch, "%s %s", ht_op_call_name(call), dims)
	            : ht_op_call_name(call);
}

/* The step in which the activity was launched. */
static const char *step_key(struct grouper *g, const struct ht_op_call *call)
{
	const struct ht_gpu *gpu = &g->t->gpu[g->calls->activities[call->first]];
	uint32_t row = gpu->launch != HT_NONE ? gpu->launch : gpu->row;
	uint32_t step = ht_step_of(g->t, row);
	return step == HT_NONE
	               ? NULL
	               : ht_arena_printf(g->run->scratch, "%" PRId64, g->t->steps[step].number);
}

static const char *module_key(struct grouper *g, const struct ht_op_call *call)
{
	bool own = call->op != HT_NONE && call->op_trace == g->t;
	uint32_t row = own ? call->op : call->longest;
	if (call->module)
		return call->module;
	uint32_t module = g->attribution.modules ? g->attribution.modules[row] : HT_NONE;
	return module == HT_NONE ? NULL : g->attribution.module_texts[module];
}

/* False when out of memory; NULL is a key, too. */
static bool key_of(struct grouper *g, const struct ht_op_call *call, const char **ret_key)
{
	bool by_op = g->by == HT_COST_BY_OP || g->by == HT_COST_BY_SHAPE;
	switch (by_op && call->op == HT_NONE ? HT_COST_BY_KERNEL : g->by) {
	case HT_COST_BY_OP: *ret_key = ht_op_call_name(call); return true;
	case HT_COST_BY_SHAPE: *ret_key = shape_key(g, call); return *ret_key != NULL;
	case HT_COST_BY_MODULE: *ret_key = module_key(g, call); return true;
	case HT_COST_BY_STEP: *ret_key = step_key(g, call); return true;
	case HT_COST_BY_RANK: *ret_key = "all"; return true;
	case HT_COST_BY_DTYPE: *ret_key = ht_dtype_name(call->dtype); return true;
	case HT_COST_BY_KERNEL: *ret_key = ht_str(g->t, g->t->name[call->longest]); return true;
	}
	return true;
}

/* The place of the group of a key; HT_NONE when out of memory. */
static uint32_t place_of(struct grouper *g, const char *key)
{
	uint32_t n_groups = (uint32_t)g->texts.n, at = n_groups;
	struct ht_text text;
	if (key) {
		size_t n = strlen(key), n_before = g->keys.texts.n;
		if (!ht_pool_add(&g->keys, key, n, ht_hash(key, n), &text))
			return HT_NONE;
		if (g->keys.texts.n == n_before)
			at = text.id + (g->nameless && text.id + 1 >= g->nameless);
	} else if (g->nameless) {
		at = g->nameless - 1;
	} else {
		g->nameless = n_groups + 1;
	}
	if (at == n_groups && !HT_VEC_PUSH(g->run->ctx->mem, &g->texts, const char *, key))
		return HT_NONE;
	return at;
}

/* ---- sums ---- */

static void add_cost(
        const struct ht_peaks *peaks, const struct ht_op_call *call, struct ht_cost_group *group)
{
	const struct ht_op_cost *cost = &call->cost;
	double peak = peaks->is_known ? peaks->flops[call->dtype] : 0;
	group->n_modelled++;
	group->n_with_bytes += cost->has_bytes;
	ht_sum(&group->modelled_ns, call->gpu_ns);
	ht_sum(&group->flops, (int64_t)cost->flops);
	ht_sum(&group->flops_max, (int64_t)cost->flops_max);
	ht_sum(&group->vector_flops, (int64_t)cost->vector_flops);
	ht_sum(&group->bytes, (int64_t)cost->bytes);
	ht_sum(&group->bytes_max, (int64_t)cost->bytes_max);
	if (!cost->flops)
		return;
	double roof_s = peak > 0 ? (double)cost->flops / peak : 0;
	ht_sum(&group->flops_of[call->dtype], (int64_t)cost->flops);
	group->roof_s += roof_s;
	group->has_no_peak |= peak <= 0;
	if (!call->is_recomputed)
		return;
	ht_sum(&group->recomputed_flops, (int64_t)cost->flops);
	group->recomputed_s += roof_s;
}

static void add_misaligned(const struct ht_op_call *call, struct ht_cost_group *group)
{
	const struct ht_op_call *most = group->misaligned;
	ht_sum(&group->misaligned_ns, call->gpu_ns);
	ht_sum(&group->misaligned_excess_ns, call->excess_ns);
	if (!most || call->excess_ns > most->excess_ns)
		group->misaligned = call;
}

static double efficiency_of(const struct ht_op_call *call)
{
	return call->gpu_ns > 0 ? (double)call->ideal_ns / (double)call->gpu_ns : 0;
}

void ht_cost_group_add(const struct ht_trace *t, const struct ht_op_calls *calls,
        const struct ht_op_call *call, struct ht_cost_group *group)
{
	group->calls++;
	ht_sum(&group->gpu_ns, call->gpu_ns);
	ht_sum(&group->dtype_ns[call->dtype], call->gpu_ns);
	ht_sum(&group->bound_ns[call->bound], call->gpu_ns);
	ht_sum(&group->state_ns[call->cost.state], call->gpu_ns);
	if (t->dur_ns[call->longest] > group->longest_ns || group->calls == 1) {
		group->longest = call->longest;
		group->longest_ns = t->dur_ns[call->longest];
	}
	if (!isnan(call->wave_loss)) {
		ht_sum(&group->wave_ns, call->gpu_ns);
		group->wave_lost_ns += (double)call->gpu_ns * call->wave_loss;
	}
	if (!isnan(call->cube_ratio)) {
		ht_sum(&group->cube_ns, call->gpu_ns);
		group->cube_busy_ns += (double)call->gpu_ns * call->cube_ratio;
	}
	if (!isnan(call->vector_ratio)) {
		ht_sum(&group->vector_ns, call->gpu_ns);
		group->vector_busy_ns += (double)call->gpu_ns * call->vector_ratio;
	}
	if (ht_op_call_is_misaligned(call))
		add_misaligned(call, group);
	if (call->cost.cast_from) {
		ht_sum(&group->cast_ns, call->gpu_ns);
		if (!group->cast || call->gpu_ns > group->cast->gpu_ns)
			group->cast = call;
	}
	if (ht_cost_is_known((enum ht_cost_state)call->cost.state))
		add_cost(ht_op_call_peaks(t, calls, call), call, group);
	if (call->ideal_ns == HT_NO_I64)
		return;
	ht_sum(&group->roofed_ns, call->gpu_ns);
	ht_sum(&group->ideal_ns, call->ideal_ns);
	ht_sum(&group->excess_ns, call->excess_ns);
	double efficiency = efficiency_of(call);
	if (efficiency >= HT_NEAR_ROOF)
		ht_sum(&group->near_roof_ns, call->gpu_ns);
	if (efficiency > HT_ABOVE_ROOF) {
		ht_sum(&group->above_ns, call->gpu_ns);
		ht_sum(&group->above_causal_ns, call->cost.is_causal ? call->gpu_ns : 0);
	}
	if (call->cost.is_copy) {
		ht_sum(&group->copy_ns, call->gpu_ns);
		ht_sum(&group->copy_ideal_ns, call->ideal_ns);
	}
}

/* What is above the roof is no ceiling but a mistake about the roof. */
static void raise_ceiling(const struct ht_op_call *call, struct ht_cost_groups *groups)
{
	double *ceiling = &groups->ceiling[call->bound][call->dtype];
	if (call->ideal_ns == HT_NO_I64 || efficiency_of(call) > HT_ABOVE_ROOF)
		return;
	*ceiling = fmax(*ceiling, efficiency_of(call));
}

/* Which group each call is in. */
static enum ht_status find_groups(struct grouper *g, struct ht_cost_groups *ret)
{
	*ret = (struct ht_cost_groups){ .group_of = ht_arena_room(g->run->scratch,
		                                (g->calls->n + 1) * sizeof *ret->group_of) };
	if (!ret->group_of)
		return ht_fail_nomem(g->run->ctx);
	if (g->by == HT_COST_BY_MODULE)
		HT_TRY(ht_attribution_make(g->run, g->t, HT_ATTRIBUTE_MODULES, &g->attribution));
	for (size_t i = 0; i < g->calls->n; i++) {
		const char *key = NULL;
		if (!key_of(g, &g->calls->list[i], &key))
			return ht_fail_nomem(g->run->ctx);
		ret->group_of[i] = place_of(g, key);
		if (ret->group_of[i] == HT_NONE)
			return ht_fail_nomem(g->run->ctx);
	}
	ret->n = g->texts.n;
	return HT_OK;
}

/* A group is large, and where no two calls are alike there are as many: they are counted before there is room for them. */
static enum ht_status add_calls(struct grouper *g, struct ht_cost_groups *ret)
{
	const char *const *texts;
	HT_TRY(find_groups(g, ret));
	texts = g->texts.data;
	ret->list = ht_arena_room(g->run->scratch, (ret->n + 1) * sizeof *ret->list);
	if (!ret->list)
		return ht_fail_nomem(g->run->ctx);
	for (size_t i = 0; i < ret->n; i++)
		ret->list[i] = (struct ht_cost_group){
			.key = texts[i], .longest = HT_NONE, .could_save_ns = HT_NO_I64
		};
	for (size_t i = 0; i < g->calls->n; i++) {
		raise_ceiling(&g->calls->list[i], ret);
		ht_cost_group_add(g->t, g->calls, &g->calls->list[i], &ret->list[ret->group_of[i]]);
	}
	return HT_OK;
}

enum ht_status ht_cost_groups_make(struct ht_run *run, const struct ht_op_calls *calls,
        enum ht_cost_by by, struct ht_cost_groups *ret)
{
	struct grouper g = { .run = run, .t = run->trace, .calls = calls, .by = by };
	g.dims = ht_arg_cursor(run->trace, "Input Dims");
	ht_pool_init(&g.keys, run->ctx->mem);
	enum ht_status status = add_calls(&g, ret);
	ht_vec_free(run->ctx->mem, &g.texts, sizeof(const char *));
	ht_pool_done(&g.keys);
	return status;
}

const char *ht_cost_group_remark(const struct ht_cost_group *group, enum ht_causal causal)
{
	size_t bound = ht_cost_most(group->bound_ns, HT_BOUND_UNKNOWN + 1, HT_N_BOUND);
	size_t dtype = ht_cost_most(group->dtype_ns, HT_DTYPE_UNKNOWN + 1, HT_N_DTYPES);
	if (group->roofed_ns <= 0 ||
	        (double)group->ideal_ns <= HT_ABOVE_ROOF * (double)group->roofed_ns)
		return NULL;
	if (group->above_causal_ns * 2 > group->above_ns && causal != HT_CAUSAL_EXACT)
		return "above peak: causal attention counts pairs that the mask leaves out";
	if (bound == HT_BOUND_MEMORY || group->flops == 0)
		return "above peak: data comes from the cache";
	if (dtype == HT_DTYPE_F32)
		return "above peak: float products may run as TF32";
	return "above peak: another device, or sparse kernels";
}

size_t ht_cost_most(const int64_t *times_ns, size_t first, size_t n)
{
	size_t most = 0;
	for (size_t i = first; i < n; i++)
		if (times_ns[i] > 0 && (most == 0 || times_ns[i] > times_ns[most]))
			most = i;
	return most;
}
