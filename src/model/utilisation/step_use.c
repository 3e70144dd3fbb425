/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_use.c - see step_use.h.
 */
#include "model/utilisation/step_use.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/steps/step_roles.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <math.h>
#include <string.h>

#define EMBEDDING "aten::embedding"

struct maker {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_op_calls *calls;
	const struct ht_bounds *bounds;
	struct ht_step_use *list; /* by bound */
	size_t *bound_of;         /* by step of the trace: its bound, or how many there are */
	int64_t *rows_of_table;   /* by bound: rows of the largest table of embeddings */
	struct ht_arg_cursor dims, types, sequence;
};

/* ---- which step ---- */

/* Steps of other threads belong to the step of the same number. */
static enum ht_status number_steps(struct maker *m)
{
	const struct ht_trace *t = m->t;
	struct ht_arena *scratch = m->run->scratch;
	size_t n = m->bounds->n;
	uint64_t *keys = ht_arena_alloc(scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(scratch, (n + 1) * sizeof *order);
	m->bound_of = ht_arena_alloc(scratch, (t->n_steps + 1) * sizeof *m->bound_of);
	if (!keys || !order || !m->bound_of)
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(m->bounds->list[i].number);
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(m->run->ctx->mem, keys, order, n))
		return ht_fail_nomem(m->run->ctx);
	for (size_t i = 0; i < t->n_steps; i++) {
		uint64_t key = ht_sort_key_i64(t->steps[i].number);
		size_t at = HT_LOWER_BOUND(k, n, keys[k] < key);
		m->bound_of[i] = at < n && keys[at] == key ? order[at] : n;
	}
	return HT_OK;
}

/* The step that a row of the host, or a device without host, belongs to; NULL: none that is looked at. */
static struct ht_step_use *use_of(struct maker *m, uint32_t row)
{
	uint32_t step = ht_step_of(m->t, row);
	if (m->bounds->is_whole)
		return m->bounds->n ? &m->list[0] : NULL;
	size_t at = step == HT_NONE ? m->bounds->n : m->bound_of[step];
	return at < m->bounds->n ? &m->list[at] : NULL;
}

/* ---- tokens ---- */

/* Indices that are looked up in the largest table; several micro-batches add up. */
static void add_tokens(struct maker *m, uint32_t row, struct ht_step_use *use)
{
	struct ht_op_args args;
	struct ht_op_texts texts = { ht_arg_cursor_str(&m->dims, row),
		ht_arg_cursor_str(&m->types, row), NULL, NULL };
	ht_op_args_read(&texts, &args);
	const struct ht_op_tensor *table = ht_op_tensor(&args, 0, 2),
	                          *indices = ht_op_tensor(&args, 1, -1);
	if (!table || !indices || indices->is_bad || indices->n_elements > (uint64_t)HT_OP_MAX_DIM)
		return;
	int64_t *rows = &m->rows_of_table[use - m->list];
	if (table->dims[0] > *rows) {
		*rows = table->dims[0];
		use->tokens = 0;
	}
	if (table->dims[0] == *rows)
		ht_sum(&use->tokens, (int64_t)indices->n_elements);
}

static void count_tokens(struct maker *m)
{
	const struct ht_trace *t = m->t;
	uint32_t name = ht_str_find(t, EMBEDDING);
	for (uint32_t row = 0; name != HT_NO_STR && row < t->n_kind; row++) {
		if (t->name[row] != name || t->kind[row] != HT_KIND_CPU_OP)
			continue;
		struct ht_step_use *use = use_of(m, row);
		if (use && !ht_op_is_recomputed(t, &m->sequence, row))
			add_tokens(m, row, use);
	}
}

/* ---- sums ---- */

static void find_peak(const struct ht_op_calls *calls, struct ht_step_use *use)
{
	use->dtype =
	        (enum ht_dtype)ht_cost_most(use->sum.flops_of, HT_DTYPE_UNKNOWN + 1, HT_N_DTYPES);
	for (size_t i = 0; i <= calls->n_peaks; i++)
		if (calls->peaks[i].is_known && (!use->peak || i < calls->n_peaks))
			use->peak = calls->peaks[i].flops[use->dtype];
}

/* Devices that any call ran on: a rank mostly has one. */
static int64_t count_devices(const struct maker *m)
{
	int64_t n = 0;
	for (size_t i = 0; i < m->t->more->n_devices; i++) {
		bool works = false;
		for (size_t k = 0; k < m->calls->n && !works; k++)
			works = m->t->gpu[m->calls->activities[m->calls->list[k].first]].device ==
			        m->t->more->devices[i].id;
		n += works;
	}
	return n ? n : 1;
}

static void add_use(struct ht_step_use *all, const struct ht_step_use *one)
{
	all->n_steps += one->n_steps;
	ht_sum(&all->time_ns, one->time_ns);
	if (one->tokens != HT_NO_I64 && all->tokens != HT_NO_I64)
		ht_sum(&all->tokens, one->tokens);
	else
		all->tokens = HT_NO_I64;
}

static void add_calls(struct maker *m, const struct ht_model_spec *spec)
{
	struct ht_step_use *all = &m->list[m->bounds->n];
	for (size_t i = 0; i < m->calls->n; i++) {
		const struct ht_op_call *call = &m->calls->list[i];
		const struct ht_gpu *gpu = &m->t->gpu[m->calls->activities[call->first]];
		struct ht_step_use *use =
		        use_of(m, gpu->launch != HT_NONE ? gpu->launch : gpu->row);
		if (!use)
			continue;
		ht_cost_group_add(m->t, m->calls, call, &use->sum);
		ht_cost_group_add(m->t, m->calls, call, &all->sum);
	}
	if (spec->is_given && spec->tokens <= 0)
		count_tokens(m);
	int64_t n_devices = count_devices(m);
	all->tokens = 0;
	for (size_t i = 0; i <= m->bounds->n; i++) {
		struct ht_step_use *use = &m->list[i];
		if (i < m->bounds->n) {
			use->number = m->bounds->is_whole ? HT_NO_I64 : m->bounds->list[i].number;
			use->time_ns = ht_bound_ns(&m->bounds->list[i]);
			use->n_steps = 1;
			if (spec->tokens > 0)
				use->tokens =
				        ht_round_sat(fmin(spec->tokens, (double)HT_OP_MAX_DIM));
			add_use(all, use);
		}
		use->n_devices = n_devices;
		find_peak(m->calls, use);
	}
}

enum ht_status ht_step_uses_make(struct ht_run *run, const struct ht_op_calls *calls,
        const struct ht_model_spec *spec, struct ht_step_uses *ret)
{
	struct ht_bounds bounds = { 0 };
	HT_TRY(ht_bounds_make(run, &bounds));
	HT_TRY(ht_bounds_choose(run, &bounds));
	struct maker m = { .run = run, .t = run->trace, .calls = calls, .bounds = &bounds };
	m.dims = ht_arg_cursor(run->trace, "Input Dims");
	m.types = ht_arg_cursor(run->trace, "Input type");
	m.sequence = ht_arg_cursor(run->trace, "Sequence number");
	m.list = ht_arena_alloc(run->scratch, (bounds.n + 1) * sizeof *m.list);
	m.rows_of_table = ht_arena_alloc(run->scratch, (bounds.n + 1) * sizeof *m.rows_of_table);
	if (!m.list || !m.rows_of_table)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i <= bounds.n; i++) {
		m.list[i].number = m.list[i].tokens = HT_NO_I64;
		m.list[i].sum.longest = HT_NONE;
	}
	HT_TRY(number_steps(&m));
	add_calls(&m, spec);
	*ret = (struct ht_step_uses){
		.list = m.list, .n = bounds.n + 1, .has_steps = !bounds.is_whole
	};
	HT_TRY(ht_worst_op_find(run, calls, &ret->worst));
	/* what is whole is there once */
	if (bounds.is_whole && bounds.n) {
		ret->list = &m.list[bounds.n];
		ret->n = 1;
	}
	return HT_OK;
}

/* ---- figures ---- */

const char *ht_use_why(enum ht_use_state state)
{
	static const char *const whys[HT_N_USE_STATES] = { [HT_USE_NO_TIME] = "no step time",
		[HT_USE_NO_PRODUCTS] = "no matrix products with recorded shapes",
		[HT_USE_NO_PEAK] = "the peak of the device is not known: --device-spec gives it",
		[HT_USE_NO_MODEL] = "needs --model",
		[HT_USE_NO_TOKENS] = "tokens of a step are not known: --model tokens= says it",
		[HT_USE_FP8] = "not defined for fp8: there is no one peak for all products" };
	return whys[state];
}

enum ht_use_state ht_step_use_state(const struct ht_step_use *use)
{
	if (use->time_ns <= 0)
		return HT_USE_NO_TIME;
	if (use->sum.flops <= 0)
		return HT_USE_NO_PRODUCTS;
	return use->sum.has_no_peak ? HT_USE_NO_PEAK : HT_USE_OK;
}

static double device_s(const struct ht_step_use *use)
{
	return (double)use->time_ns * 1e-9 * (double)use->n_devices;
}

double ht_step_hfu(const struct ht_step_use *use)
{
	return ht_step_use_state(use) == HT_USE_OK ? use->sum.roof_s / device_s(use) : NAN;
}

double ht_step_mfu(const struct ht_step_use *use)
{
	return ht_step_use_state(use) == HT_USE_OK
	               ? (use->sum.roof_s - use->sum.recomputed_s) / device_s(use)
	               : NAN;
}

double ht_step_mfu_of_one_peak(const struct ht_step_use *use)
{
	double flops = (double)(use->sum.flops - use->sum.recomputed_flops);
	return ht_step_use_state(use) == HT_USE_OK ? flops / use->peak / device_s(use) : NAN;
}

enum ht_use_state ht_step_palm_state(
        const struct ht_step_use *use, const struct ht_model_spec *spec)
{
	if (!spec->is_given)
		return HT_USE_NO_MODEL;
	if (use->time_ns <= 0)
		return HT_USE_NO_TIME;
	if (use->tokens == HT_NO_I64 || use->tokens <= 0)
		return HT_USE_NO_TOKENS;
	if (use->dtype == HT_DTYPE_F8 || use->dtype == HT_DTYPE_F4)
		return HT_USE_FP8;
	return use->peak > 0 ? HT_USE_OK : HT_USE_NO_PEAK;
}

double ht_step_palm_mfu(const struct ht_step_use *use, const struct ht_model_spec *spec)
{
	if (ht_step_palm_state(use, spec) != HT_USE_OK)
		return NAN;
	return (double)use->tokens * ht_model_flops_per_token(spec) / use->peak / device_s(use);
}
