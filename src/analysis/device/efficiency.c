/* SPDX-License-Identifier: Apache-2.0 */
/*
 * efficiency.c - how close operators come to what the device can do, and what they could save.
 *
 * Every call that launched GPU activity (op_calls.h) has, where the trace has the shapes of its arguments, a number of
 * operations F and of bytes Q (op_cost.h). With the dense peak P of its type and the memory bandwidth B of the device
 * (peaks.h) it cannot take less than  ideal = max(F / P, Q / B);  efficiency = ideal / time. It is bound by compute or
 * memory, whichever is larger, or by latency where the ideal is below 2 us or the kernel has fewer blocks than the device
 * has SMs.
 *   excess       time above max(F / 0.8 P, Q / 0.9 B, 2 us), which well-tuned kernels attain
 *   could save   what of that would make steps shorter, by the critical path (graph/roof_savings.h)
 *   HFU          sum of F / P over matrix products, of the step time: what was executed, recomputation included
 *   MFU          the same without recomputation; with --model by PaLM's formula (6 N + 12 L H Q T) per token
 * Reads kernels, memcpy, memset and the operators that launched them; communication is left out. O(n log n).
 * Example, H200: aten::addmm of (2048, 512) x (512, 8192) in bf16 has 17.18 GFLOP and 44.06 MB; 17.36 us at 989.4 TFLOP/s,
 * 9.18 us at 4.8 TB/s; it took 29.15 us: bound by compute, efficiency 59.6 %, excess 29.15 - 17.36 / 0.8 = 7.45 us.
 */
#include "analysis/analysis.h"
#include "graph/roof_savings.h"
#include "model/utilisation/use_table.h"
#include "model/finding/hint.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <math.h>
#include <string.h>

static enum ht_status check(struct ht_run *run);
static enum ht_status measure(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                                                  \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                                              \
	COLUMN(COL_KEY, "key", HT_STR, HT_KEY,                                                                           \
	        "operator, operator and shapes, module, step, type, or longest kernel; null: none",                      \
	        NULL)                                                                                                    \
	COLUMN(COL_CALLS, "calls", HT_I64, HT_MEASURE, "calls that launched GPU activity", NULL)                         \
	COLUMN(COL_GPU_NS, "gpu_ns", HT_DURATION, HT_MEASURE,                                                            \
	        "GPU time: union of the activities of a call, summed over calls", NULL)                                  \
	COLUMN(COL_FLOPS, "flops", HT_I64, HT_MEASURE,                                                                   \
	        "floating-point operations of GEMM, convolution and attention; a multiply-add is two",                   \
	        "FLOP")                                                                                                  \
	COLUMN(COL_BYTES, "bytes", HT_BYTES, HT_MEASURE,                                                                 \
	        "compulsory memory traffic: inputs read and results written once", NULL)                                 \
	COLUMN(COL_INTENSITY, "intensity", HT_F64, HT_DETAIL, "flops over bytes", "FLOP/byte")                           \
	COLUMN(COL_DTYPE, "dtype", HT_STR, HT_MEASURE, "type that most of the time computes with",                       \
	        NULL)                                                                                                    \
	COLUMN(COL_BOUND, "bound", HT_STR, HT_MEASURE,                                                                   \
	        "what limits most of the time at best: compute, memory, latency, link", NULL)                            \
	COLUMN(COL_IDEAL_NS, "ideal_ns", HT_DURATION, HT_MEASURE,                                                        \
	        "least time at the peaks of the device, of the calls that have one", NULL)                               \
	COLUMN(COL_EFFICIENCY, "efficiency", HT_RATIO, HT_MEASURE,                                                       \
	        "ideal_ns over the GPU time of those calls", NULL)                                                       \
	COLUMN(COL_COULD_SAVE_NS, "could_save_ns", HT_DURATION, HT_MEASURE,                                              \
	        "of excess_ns, what the steps would be shorter by: an upper bound, by the what-if of the critical path", \
	        NULL)                                                                                                    \
	COLUMN(COL_METHOD, "method", HT_STR, HT_MEASURE,                                                                 \
	        "how flops and bytes are known: formula, interval (lower bounds are shown), or why not",                 \
	        NULL)                                                                                                    \
	COLUMN(COL_VECTOR_FLOPS, "vector_flops", HT_I64, HT_DETAIL,                                                      \
	        "operations of elementwise, norm and reduction work, outside of flops, HFU and MFU",                     \
	        "FLOP")                                                                                                  \
	COLUMN(COL_EXCESS_NS, "excess_ns", HT_DURATION, HT_MEASURE,                                                      \
	        "GPU time above what well-tuned kernels attain", NULL)                                                   \
	COLUMN(COL_FLOPS_MAX, "flops_max", HT_I64, HT_DETAIL, "upper bound of flops", "FLOP")                            \
	COLUMN(COL_BYTES_MAX, "bytes_max", HT_BYTES, HT_DETAIL, "upper bound of bytes", NULL)                            \
	COLUMN(COL_MODELLED_NS, "modelled_ns", HT_DURATION, HT_DETAIL,                                                   \
	        "GPU time of the calls that have a formula", NULL)                                                       \
	COLUMN(COL_FLOPS_PER_S, "flops_per_s", HT_F64, HT_DETAIL, "flops over modelled_ns",                              \
	        "FLOP/s")                                                                                                \
	COLUMN(COL_ABOVE_PEAK, "above_peak", HT_BOOL, HT_DETAIL,                                                         \
	        "efficiency above 105 %: remark has the likely reason", NULL)                                            \
	COLUMN(COL_CEILING, "ceiling", HT_RATIO, HT_DETAIL,                                                              \
	        "best efficiency of a call of this run with the same bound and type", NULL)                              \
	COLUMN(COL_WAVE_LOSS, "wave_loss", HT_RATIO, HT_DETAIL,                                                          \
	        "of the time of its kernels, block slots that are empty in the last wave, or SMs without a block",       \
	        NULL)                                                                                                    \
	COLUMN(COL_MISALIGNED_NS, "misaligned_ns", HT_DURATION, HT_DETAIL,                                               \
	        "GPU time of products on Tensor Cores with rows of no multiple of 16 bytes", NULL)                       \
	COLUMN(COL_CUBE_RATIO, "cube_ratio", HT_RATIO, HT_DETAIL,                                                        \
	        "of the time of its kernels, the Cube unit of an NPU works, by the vendor's PMU",                        \
	        NULL)                                                                                                    \
	COLUMN(COL_VECTOR_RATIO, "vector_ratio", HT_RATIO, HT_DETAIL,                                                    \
	        "of the time of its kernels, the Vector unit of an NPU works, by the vendor's PMU",                      \
	        NULL)                                                                                                    \
	COLUMN(COL_REMARK, "remark", HT_STR, HT_DETAIL,                                                                  \
	        "why efficiency is above the peak, most likely", NULL)                                                   \
	COLUMN(COL_EVENT, "event", HT_EVENT, HT_DETAIL, "longest activity", NULL)
HT_COLUMNS(columns, COLUMNS);

#define ROOF_COLUMNS(COLUMN)                                                                       \
	COLUMN(ROOF_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(ROOF_DEVICE, "device", HT_I64, HT_KEY, "number of the device", NULL)                \
	COLUMN(ROOF_NAME, "name", HT_STR, HT_KEY, "name of the device as the trace has it", NULL)  \
	COLUMN(ROOF_DTYPE, "dtype", HT_STR, HT_KEY, "type of matrix products", NULL)               \
	COLUMN(ROOF_PEAK_FLOPS_PER_S, "peak_flops_per_s", HT_F64, HT_MEASURE,                      \
	        "dense peak of matrix products; null: not known", "FLOP/s")                        \
	COLUMN(ROOF_MEMORY_BYTES_PER_S, "memory_bytes_per_s", HT_F64, HT_MEASURE,                  \
	        "peak memory bandwidth", "byte/s")                                                 \
	COLUMN(ROOF_RIDGE, "ridge", HT_F64, HT_MEASURE, "intensity from which on compute limits",  \
	        "FLOP/byte")                                                                       \
	COLUMN(ROOF_FABRIC_BYTES_PER_S, "fabric_bytes_per_s", HT_F64, HT_DETAIL,                   \
	        "peak bandwidth to other devices, both directions together", "byte/s")             \
	COLUMN(ROOF_ACHIEVED, "achieved_flops_per_s", HT_F64, HT_DETAIL,                           \
	        "what large products are published to attain, where somebody did", "FLOP/s")       \
	COLUMN(ROOF_PART, "part", HT_RATIO, HT_DETAIL,                                             \
	        "SMs of the trace over those of the whole device", NULL)                           \
	COLUMN(ROOF_SOURCE, "source", HT_STR, HT_MEASURE, "where the peaks are from", NULL)
HT_COLUMNS(roof_columns, ROOF_COLUMNS);

/* The tables of a part: those of the view are filled. */
enum { FACTS_GROUPS, FACTS_TOTALS, FACTS_UNMODELLED, FACTS_ROOFS };

static const struct ht_schema schemas[] = {
	{ "groups", columns, HT_COUNT(columns) },
	{ "totals", ht_use_columns, HT_N_USE_COLUMNS },
	{ "unmodelled", ht_unmodelled_columns, HT_N_UNMODELLED_COLUMNS },
	{ "roofs", roof_columns, HT_COUNT(roof_columns) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "groups",
	        "rows by what --by says, utilisation of steps, what has no formula, or the peaks that are used",
	        "groups|totals|unmodelled|roofs" },
	{ "by", HT_STR, "op", "what makes a row", "op|shape|module|step|rank|dtype|kernel" },
	{ "causal", HT_STR, "exact",
	        "pairs that causal attention counts: those below the diagonal, half of all, or all",
	        "exact|half|full" },
	{ "device-spec", HT_STR, NULL,
	        "peaks of a device: name=X,bf16=TFLOP/s,hbm=GB/s, also fp64, fp32, tf32, fp16, fp8, fp4, int8, cube (bf16 and fp16), vector, fabric",
	        NULL },
	{ "model", HT_STR, NULL,
	        "totals: MFU by PaLM's definition, of n=parameters,layers=,heads=,head=size,seq=length and "
	        "tokens=per rank and step, which is counted where there is an embedding",
	        NULL },
};

const struct ht_analysis ht_analysis_efficiency = {
	.info = {
		.name = "efficiency",
		.group = "gpu",
		.page_view = "efficiency",
		.title = "Efficiency",
		.question = "How close do operators come to what the device can do, and what could they save?",
		.method = "FLOPs and bytes from the recorded shapes, against the dense peaks of the device; GPU time "
			  "is the union of the activities that a call launched. Largest could_save_ns first, then "
			  "excess_ns and gpu_ns.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { [FACTS_GROUPS] = { "rows", columns, HT_COUNT(columns) },
	        [FACTS_TOTALS] = { "totals", ht_use_columns, HT_N_USE_COLUMNS },
	        [FACTS_UNMODELLED] = { "unmodelled", ht_unmodelled_columns,
	                HT_N_UNMODELLED_COLUMNS },
	        [FACTS_ROOFS] = { "roofs", roof_columns, HT_COUNT(roof_columns) } },
	.choose = check,
	.per_rank = measure,
	.finish = finish,
};

static enum ht_status check(struct ht_run *run)
{
	struct ht_model_spec spec;
	HT_TRY(ht_model_spec_read(run, ht_run_str(run, "model"), &spec));
	return ht_peaks_check(run, ht_run_str(run, "device-spec"));
}

static enum ht_cost_by by_of(const struct ht_run *run)
{
	static const char *const names[] = { "op", "shape", "module", "step", "rank", "dtype",
		"kernel" };
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (ht_run_is(run, "by", names[i]))
			return (enum ht_cost_by)i;
	return HT_COST_BY_OP;
}

static struct ht_efficiency_options options_of(const struct ht_run *run)
{
	return (struct ht_efficiency_options){
		.causal = ht_run_is(run, "causal", "full")   ? HT_CAUSAL_FULL
		          : ht_run_is(run, "causal", "half") ? HT_CAUSAL_HALF
		                                             : HT_CAUSAL_EXACT,
		.device_spec = ht_run_str(run, "device-spec"),
	};
}

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : NAN;
}

static void put_losses(struct ht_run *run, const struct ht_cost_groups *groups,
        const struct ht_cost_group *g, ht_table *table)
{
	size_t dtype = ht_cost_most(g->dtype_ns, HT_DTYPE_UNKNOWN + 1, HT_N_DTYPES);
	size_t bound = ht_cost_most(g->bound_ns, HT_BOUND_UNKNOWN + 1, HT_N_BOUND);
	/* of what no roof explains no call is a measure */
	double ceiling = bound == HT_BOUND_LATENCY ? 0 : groups->ceiling[bound][dtype];
	const char *remark = ht_cost_group_remark(g, options_of(run).causal);
	ht_table_put_i64(table, COL_ABOVE_PEAK, remark != NULL);
	ht_table_put_f64(table, COL_CEILING, ceiling > 0 && g->roofed_ns > 0 ? ceiling : NAN);
	ht_table_put_f64(
	        table, COL_WAVE_LOSS, g->wave_ns > 0 ? g->wave_lost_ns / (double)g->wave_ns : NAN);
	ht_table_put_known(
	        table, COL_MISALIGNED_NS, g->flops > 0 ? g->misaligned_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(
	        table, COL_CUBE_RATIO, g->cube_ns > 0 ? g->cube_busy_ns / (double)g->cube_ns : NAN);
	ht_table_put_f64(table, COL_VECTOR_RATIO,
	        g->vector_ns > 0 ? g->vector_busy_ns / (double)g->vector_ns : NAN);
	ht_table_put_str(table, COL_REMARK, remark);
}

static void put_group(struct ht_run *run, const struct ht_cost_groups *groups,
        const struct ht_cost_group *g, ht_table *table)
{
	size_t dtype = ht_cost_most(g->dtype_ns, HT_DTYPE_UNKNOWN + 1, HT_N_DTYPES);
	size_t bound = ht_cost_most(g->bound_ns, HT_BOUND_UNKNOWN + 1, HT_N_BOUND);
	size_t state = 0;
	for (size_t i = 1; i < HT_N_COST_STATES; i++)
		if (g->state_ns[i] > g->state_ns[state])
			state = i;
	bool has_bytes = g->n_with_bytes > 0 && g->n_with_bytes == g->n_modelled;
	double efficiency = ratio(g->ideal_ns, g->roofed_ns);
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, run->rank);
	ht_table_put_str(table, COL_KEY, g->key);
	ht_table_put_i64(table, COL_CALLS, g->calls);
	ht_table_put_i64(table, COL_GPU_NS, g->gpu_ns);
	ht_table_put_known(table, COL_FLOPS, g->n_modelled ? g->flops : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(table, COL_BYTES, has_bytes ? g->bytes : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(table, COL_INTENSITY, has_bytes ? ratio(g->flops, g->bytes) : NAN);
	ht_table_put_str(table, COL_DTYPE, ht_dtype_name((enum ht_dtype)dtype));
	ht_table_put_str(table, COL_BOUND, ht_roof_bound_name((enum ht_roof_bound)bound));
	ht_table_put_known(
	        table, COL_IDEAL_NS, g->roofed_ns > 0 ? g->ideal_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(table, COL_EFFICIENCY, efficiency);
	ht_table_put_known(table, COL_COULD_SAVE_NS,
	        g->roofed_ns > 0 ? g->could_save_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_str(table, COL_METHOD, ht_cost_method((enum ht_cost_state)state));
	ht_table_put_known(
	        table, COL_VECTOR_FLOPS, g->n_modelled ? g->vector_flops : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        table, COL_EXCESS_NS, g->roofed_ns > 0 ? g->excess_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        table, COL_FLOPS_MAX, g->n_modelled ? g->flops_max : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(table, COL_BYTES_MAX, has_bytes ? g->bytes_max : HT_NO_I64, HT_NO_I64);
	ht_table_put_i64(table, COL_MODELLED_NS, g->modelled_ns);
	ht_table_put_f64(
	        table, COL_FLOPS_PER_S, g->flops ? 1e9 * ratio(g->flops, g->modelled_ns) : NAN);
	put_losses(run, groups, g, table);
	ht_table_put_known(table, COL_EVENT,
	        g->longest == HT_NONE ? HT_NO_I64 : ht_event_id(run->rank, g->longest), HT_NO_I64);
}

static double known(double value)
{
	return value > 0 ? value : NAN;
}

static void put_roofs(struct ht_run *run, const struct ht_op_calls *calls, ht_table *table)
{
	static const uint8_t types[] = { HT_DTYPE_F64, HT_DTYPE_F32, HT_DTYPE_TF32, HT_DTYPE_BF16,
		HT_DTYPE_F16, HT_DTYPE_F8, HT_DTYPE_F4, HT_DTYPE_I8 };
	for (size_t i = 0; i < calls->n_peaks; i++)
		for (size_t k = 0; k < HT_COUNT(types); k++) {
			const struct ht_peaks *peaks = &calls->peaks[i];
			double peak = known(peaks->flops[types[k]]), bytes = known(peaks->bytes);
			ht_table_row(table);
			ht_table_put_i64(table, ROOF_RANK, run->rank);
			ht_table_put_i64(table, ROOF_DEVICE, run->trace->more->devices[i].id);
			ht_table_put_str(table, ROOF_NAME, peaks->name);
			ht_table_put_str(table, ROOF_DTYPE, ht_dtype_name((enum ht_dtype)types[k]));
			ht_table_put_f64(table, ROOF_PEAK_FLOPS_PER_S, peak);
			ht_table_put_f64(table, ROOF_MEMORY_BYTES_PER_S, bytes);
			ht_table_put_f64(table, ROOF_RIDGE, peak / bytes);
			ht_table_put_f64(
			        table, ROOF_FABRIC_BYTES_PER_S, known(peaks->fabric_bytes));
			bool half = types[k] == HT_DTYPE_BF16 || types[k] == HT_DTYPE_F16;
			ht_table_put_f64(table, ROOF_ACHIEVED, half ? known(peaks->achieved) : NAN);
			ht_table_put_f64(table, ROOF_PART, peaks->is_known ? peaks->part : NAN);
			ht_table_put_str(
			        table, ROOF_SOURCE, peaks->is_known ? peaks->source : NULL);
		}
}

static enum ht_status put_totals(
        struct ht_run *run, const struct ht_op_calls *calls, struct ht_part *part)
{
	struct ht_model_spec spec;
	struct ht_step_uses uses;
	struct ht_cost_groups groups = { 0 };
	HT_TRY(ht_model_spec_read(run, ht_run_str(run, "model"), &spec));
	HT_TRY(ht_step_uses_make(run, calls, &spec, &uses));
	HT_TRY(ht_cost_groups_make(run, calls, HT_COST_BY_OP, &groups));
	ht_step_uses_put(run, &uses, &spec, part->facts[FACTS_TOTALS]);
	return ht_unmodelled_put(run, &groups, part->facts[FACTS_UNMODELLED]);
}

static enum ht_status measure(struct ht_run *run, struct ht_part *part)
{
	struct ht_efficiency_options options = options_of(run);
	struct ht_frame frame = { 0 };
	struct ht_op_calls calls = { 0 };
	struct ht_cost_groups groups = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_op_calls_make(run, &frame, &options, &calls));
	put_roofs(run, &calls, part->facts[FACTS_ROOFS]);
	if (ht_run_is(run, "view", "roofs"))
		return HT_OK;
	if (!ht_run_is(run, "view", "groups"))
		return put_totals(run, &calls, part);
	HT_TRY(ht_cost_groups_make(run, &calls, by_of(run), &groups));
	HT_TRY(ht_roof_savings_find(run, &calls, &groups));
	for (size_t i = 0; i < groups.n; i++)
		put_group(run, &groups, &groups.list[i], part->facts[FACTS_GROUPS]);
	return HT_OK;
}

/* What is unmodelled on all ranks, for a note. */
static enum ht_status note_totals(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	ht_table *unmodelled = NULL;
	HT_TRY(ht_table_new(
	        run->ctx, "", ht_unmodelled_columns, HT_N_UNMODELLED_COLUMNS, &unmodelled));
	enum ht_status status = ht_parts_rows(run, parts, FACTS_UNMODELLED, 0, unmodelled);
	if (status == HT_OK)
		status = ht_use_note(run, unmodelled, table);
	ht_table_free(unmodelled);
	return status;
}

/* Devices without peaks, and parts of devices: once for each name. */
static enum ht_status note_roofs(const struct ht_parts *parts, ht_table *table)
{
	const char *said = NULL;
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *roofs = parts->list[p].facts[FACTS_ROOFS];
		for (size_t i = 0; i < ht_table_n_rows(roofs); i++) {
			const char *name = ht_table_str(roofs, i, ROOF_NAME);
			bool known = !ht_table_is_null(roofs, i, ROOF_SOURCE);
			double part = known ? ht_table_f64(roofs, i, ROOF_PART) : 1;
			if ((known && part >= 1) || (said && !strcmp(said, name)))
				continue;
			said = name;
			if (known)
				HT_TRY(ht_table_add_note(table,
				        "%s has %s of the SMs of a whole one: its peaks are as much of those",
				        name, ht_share_text(part).text));
			else
				HT_TRY(ht_table_add_warning(table,
				        "no peaks are known for \"%s\": --device-spec "
				        "\"name=%s,bf16=TFLOP/s,fp32=TFLOP/s,hbm=GB/s\" gives them",
				        name, name));
		}
	}
	return HT_OK;
}

/* Steps that wait for something else. */
static enum ht_status note_savings(ht_table *table)
{
	int64_t saved = 0, excess = 0;
	for (size_t i = 0; i < ht_table_n_rows(table); i++) {
		if (ht_table_is_null(table, i, COL_COULD_SAVE_NS))
			continue;
		ht_sum(&saved, ht_table_i64(table, i, COL_COULD_SAVE_NS));
		ht_sum(&excess, ht_table_i64(table, i, COL_EXCESS_NS));
	}
	if (saved > 0 || excess <= 0)
		return HT_OK;
	return ht_table_add_note(table,
	        "faster kernels would not make the steps shorter, which wait for something else: see "
	        "critical-path; excess is GPU time alone");
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(note_roofs(parts, table));
	if (ht_run_is(run, "view", "roofs")) {
		HT_TRY(ht_table_set_method(table, "dense peaks, without sparsity"));
		return ht_parts_rows(run, parts, FACTS_ROOFS, 0, table);
	}
	if (ht_run_is(run, "view", "totals")) {
		HT_TRY(ht_parts_rows(run, parts, FACTS_TOTALS, 0, table));
		HT_TRY(ht_frame_set_method(run, table, "of step time, at the dense peaks"));
		return note_totals(run, parts, table);
	}
	if (ht_run_is(run, "view", "unmodelled")) {
		HT_TRY(ht_parts_rows(run, parts, FACTS_UNMODELLED, 0, table));
		return ht_frame_set_method(run, table, "most GPU time without a formula");
	}
	HT_TRY(ht_parts_rows(run, parts, FACTS_GROUPS, 0, table));
	HT_TRY(ht_frame_set_method(run, table, "of the dense peaks"));
	HT_TRY(note_savings(table));
	return ht_table_sort(run->ctx, table, "rank,-could_save_ns,-excess_ns,-gpu_ns,key");
}
