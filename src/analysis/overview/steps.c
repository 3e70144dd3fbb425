/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - how long each step takes, and what its time goes to: kernels, memcpy, communication, calls, loading, the CPU.
 *
 * step_time_ns runs from the completion of the step before to its own, latency_ns from its start (timed_steps.h). The
 * breakdown is of total_ns, which is TensorBoard's: from its start on the host, or the end of the step before when that is
 * later, to the last GPU work that it launched (step_roles.h); a first step whose work waits behind what was launched before
 * the recording begins with that work. Every moment of it goes to the first of these that is active on any thread or
 * stream, so the parts add up to the step:
 *   kernel > memcpy > memset > communication > runtime > dataloader > cpu_exec > other
 *   communication  kernels of collectives; of Gloo, MPI and UCC, and where no kernel communicates, host operators gloo:..., nccl:...,
 *                  record_param_comms
 *   runtime        calls of the CUDA runtime and driver and their like
 *   cpu_exec       other operators and annotations
 * View gpu: how well each GPU was used from the first step's start to the last one's end (gpu_summary.h).
 * Looked at whole (--step all), a trace with steps has one more row, "outside steps": what is in none of them, so that the
 * rows add up to the trace.
 * Reads all of these, O(n log n).
 * Example: one step [0,100) us; kernel [40,90), its launch [10,20) inside an operator [5,30): kernel 50, runtime 10,
 * cpu_exec 15, other 25. step_time_ns and latency_ns are 100: it is the first step.
 */
#include "analysis/analysis.h"
#include "model/communication/exporter.h"
#include "model/device/gpu_summary.h"
#include "model/numbers/stats.h"
#include "model/steps/step_roles.h"
#include "model/steps/timed_steps.h"
#include "store/trace_meta.h"

#include <math.h>

static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

/* The parts of a step: by number of the first, by type, and what is said before each. */
#define PARTS(COLUMN, OF, TYPE, of)                                                                 \
	COLUMN(OF##_TOTAL, "total_ns", TYPE, HT_MEASURE,                                            \
	        of                                                                                  \
	        "from its start or the end of the one before, the later, to its last GPU activity", \
	        NULL)                                                                               \
	COLUMN(OF##_KERNEL, "kernel_ns", TYPE, HT_MEASURE, of "time with a kernel that computes",   \
	        NULL)                                                                               \
	COLUMN(OF##_MEMCPY, "memcpy_ns", TYPE, HT_MEASURE,                                          \
	        of "time with a copy and none of the above", NULL)                                  \
	COLUMN(OF##_MEMSET, "memset_ns", TYPE, HT_DETAIL,                                           \
	        of "time with a fill and none of the above", NULL)                                  \
	COLUMN(OF##_COMMUNICATION, "exposed_ns", TYPE, HT_MEASURE,                                  \
	        of "time with communication and none of the above", NULL)                           \
	COLUMN(OF##_RUNTIME, "runtime_ns", TYPE, HT_MEASURE,                                        \
	        of "time with a runtime or driver call and none of the above", NULL)                \
	COLUMN(OF##_DATALOADER, "dataloader_ns", TYPE, HT_MEASURE,                                  \
	        of "time in a data loader and none of the above", NULL)                             \
	COLUMN(OF##_CPU_EXEC, "cpu_exec_ns", TYPE, HT_MEASURE,                                      \
	        of "time in another operator or annotation and none of the above", NULL)            \
	COLUMN(OF##_OTHER, "other_ns", TYPE, HT_MEASURE, of "time with nothing of the above", NULL)

#define STEP_COLUMNS(COLUMN)                                                                        \
	COLUMN(STEP_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(STEP_STEP, "step", HT_I64, HT_KEY,                                                   \
	        "profiler step; 0 for a trace without steps, null outside steps (--step all)",      \
	        NULL)                                                                               \
	COLUMN(STEP_TIME, "step_time_ns", HT_DURATION, HT_MEASURE,                                  \
	        "from the completion of the step before to its own; the first one from its start, " \
	        "or from the end of GPU activity of before that it waits for",                      \
	        NULL)                                                                               \
	COLUMN(STEP_LATENCY, "latency_ns", HT_DURATION, HT_DETAIL,                                  \
	        "from its start to its completion", NULL)                                           \
	PARTS(COLUMN, STEP, HT_DURATION, "")                                                        \
	COLUMN(STEP_KERNEL_SHARE, "kernel_share", HT_RATIO, HT_DETAIL, "kernel_ns over total_ns",   \
	        NULL)                                                                               \
	COLUMN(STEP_N_WORK, "n_work", HT_I64, HT_DETAIL, "GPU activities that belong to the step",  \
	        NULL)                                                                               \
	COLUMN(STEP_PART, "part", HT_STR, HT_DETAIL,                                                \
	        "first: no step before it tells when it began; cut: not recorded whole; "           \
	        "outside steps: the rest of the trace",                                             \
	        NULL)
HT_COLUMNS(of_steps, STEP_COLUMNS);

#define MEAN_COLUMNS(COLUMN)                                                                       \
	COLUMN(MEAN_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(MEAN_N_STEPS, "n_steps", HT_I64, HT_KEY, "steps that the means are over", NULL)     \
	COLUMN(MEAN_TIME, "step_time_ns", HT_DURATION_F64, HT_MEASURE,                             \
	        "median step time, without the first step when there is another", NULL)            \
	COLUMN(MEAN_LATENCY, "latency_ns", HT_DURATION_F64, HT_DETAIL, "mean latency", NULL)       \
	PARTS(COLUMN, MEAN, HT_DURATION_F64, "mean ")                                              \
	COLUMN(MEAN_KERNEL_SHARE, "kernel_share", HT_RATIO, HT_DETAIL, "kernel_ns over total_ns",  \
	        NULL)                                                                              \
	COLUMN(MEAN_PERIOD, "period", HT_I64, HT_DETAIL,                                           \
	        "steps after which step times repeat, as with gradient accumulation; null: none",  \
	        NULL)                                                                              \
	COLUMN(MEAN_PERIOD_TIME, "period_time_ns", HT_DURATION, HT_DETAIL,                         \
	        "mean time of so many steps", NULL)
HT_COLUMNS(of_means, MEAN_COLUMNS);

#define GPU_COLUMNS(COLUMN)                                                                        \
	COLUMN(GPU_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(GPU_DEVICE, "device", HT_I64, HT_KEY, "GPU index, null when the file does not say", \
	        NULL)                                                                              \
	COLUMN(GPU_NAME, "name", HT_STR, HT_KEY, "name of the device", NULL)                       \
	COLUMN(GPU_MEMORY_BYTES, "memory_bytes", HT_BYTES, HT_DETAIL, "its memory", NULL)          \
	COLUMN(GPU_COMPUTE_CAPABILITY, "compute_capability", HT_STR, HT_DETAIL,                    \
	        "its compute capability", NULL)                                                    \
	COLUMN(GPU_UTILIZATION, "utilization", HT_RATIO, HT_MEASURE,                               \
	        "time with a kernel running, of the window", NULL)                                 \
	COLUMN(GPU_SM_EFFICIENCY, "sm_efficiency", HT_RATIO, HT_MEASURE,                           \
	        "estimate: blocks per SM of what runs, at most 1, over the window", NULL)          \
	COLUMN(GPU_OCCUPANCY_PCT, "occupancy_pct", HT_F64, HT_MEASURE,                             \
	        "estimated achieved occupancy of the kernels, weighted by their time", "%")        \
	COLUMN(GPU_TENSOR_CORE_SHARE, "tensor_core_share", HT_RATIO, HT_MEASURE,                   \
	        "time of kernels that are known to run on tensor cores, of the time of all "       \
	        "kernels",                                                                         \
	        NULL)                                                                              \
	COLUMN(GPU_WINDOW_NS, "window_ns", HT_DURATION, HT_DETAIL,                                 \
	        "first step's start to last step's end", NULL)                                     \
	COLUMN(GPU_BUSY_NS, "busy_ns", HT_DURATION, HT_DETAIL, "time in it with a kernel running", \
	        NULL)                                                                              \
	COLUMN(GPU_KERNEL_NS, "kernel_ns", HT_DURATION, HT_DETAIL,                                 \
	        "sum of the durations of kernels", NULL)                                           \
	COLUMN(GPU_TENSOR_CORE_NS, "tensor_core_ns", HT_DURATION, HT_DETAIL,                       \
	        "of that, on tensor cores", NULL)                                                  \
	COLUMN(GPU_TENSOR_CORE_UNKNOWN_NS, "tensor_core_unknown_ns", HT_DURATION, HT_DETAIL,       \
	        "of that, in products of matrices of which nothing says what they ran on", NULL)   \
	COLUMN(GPU_N_KERNELS, "n_kernels", HT_I64, HT_DETAIL, "kernels", NULL)
HT_COLUMNS(of_gpus, GPU_COLUMNS);

static const struct ht_schema schemas[] = {
	{ "steps", of_steps, HT_COUNT(of_steps) },
	{ "mean", of_means, HT_COUNT(of_means) },
	{ "gpu", of_gpus, HT_COUNT(of_gpus) },
};

static const struct ht_param params[] = {
	{ "view", HT_STR, "steps", "each step, the mean step of each rank, or how GPUs were used",
	        "steps|mean|gpu" },
};

const struct ht_analysis ht_analysis_steps = {
	.info = {
		.name = "steps",
		.group = "views",
		.title = "Steps",
		.question = "What does the time of a step go to, and how well is the GPU used?",
		.method = "Step time runs from the completion of the step before to its own; completion is the later of "
			  "the end of its host span and of its last activity. The breakdown is of total_ns, as "
			  "TensorBoard has it: each moment goes to the first of kernel, memcpy, memset, "
			  "communication, runtime call, data loader, other operators, nothing.",
		.schemas = schemas,
		.n_schemas = HT_COUNT(schemas),
		.chosen_by = "view",
		.charts = "mean|gpu",
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.per_rank = break_down,
	.finish = finish,
};

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* What of the trace is in no step, as one row. */
static enum ht_status put_outside(struct ht_run *run, ht_table *table,
        const struct ht_bounds *bounds, const struct ht_busy_times *times)
{
	const struct ht_trace_meta *meta = run->trace->meta;
	struct ht_bounds gaps = { .list = ht_arena_alloc(
		                          run->scratch, (bounds->n + 1) * sizeof *gaps.list) };
	int64_t at = meta->min_ts_ns, sums[HT_N_BUSY] = { 0 }, total = 0;
	int64_t n_work = (int64_t)run->trace->n_gpu;
	int64_t(*ns)[HT_N_BUSY] = NULL;
	if (!gaps.list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i <= bounds->n; i++) {
		int64_t end = i < bounds->n ? bounds->list[i].start : meta->max_end_ns;
		if (end > at)
			gaps.list[gaps.n++] = (struct ht_bound){ .start = at, .end = end };
		if (i < bounds->n && bounds->list[i].end > at)
			at = bounds->list[i].end;
		n_work -= i < bounds->n ? bounds->list[i].n_work : 0;
	}
	HT_TRY(ht_busy_split(run, &gaps, times, &ns));
	for (size_t i = 0; i < gaps.n; i++) {
		ht_sum(&total, ht_sub_sat(gaps.list[i].end, gaps.list[i].start));
		for (size_t k = 0; k < HT_N_BUSY; k++)
			ht_sum(&sums[k], ns[i][k]);
	}
	ht_table_row(table);
	ht_table_put_i64(table, STEP_RANK, run->rank);
	for (size_t k = STEP_STEP; k <= STEP_LATENCY; k++)
		ht_table_put_null(table, k);
	ht_table_put_i64(table, STEP_TOTAL, total);
	for (size_t k = 0; k < HT_N_BUSY; k++)
		ht_table_put_i64(table, STEP_KERNEL + k, sums[k]);
	ht_table_put_f64(table, STEP_KERNEL_SHARE, share(sums[HT_BUSY_KERNEL], total));
	ht_table_put_i64(table, STEP_N_WORK, n_work);
	ht_table_put_str(table, STEP_PART, "outside steps");
	return HT_OK;
}

/* What is said of a step, NULL: nothing. */
static const char *part_of(const struct ht_run *run, const struct ht_bound *b)
{
	if (b->i_step == HT_NONE)
		return NULL;
	if (!run->trace->steps[b->i_step].is_complete)
		return "cut";
	return b->is_first ? "first" : NULL;
}

static enum ht_status put_steps(struct ht_run *run, ht_table *table, const struct ht_bounds *bounds,
        const struct ht_busy_times *times, int64_t (*ns)[HT_N_BUSY])
{
	for (size_t i = 0; i < bounds->n; i++) {
		const struct ht_bound *b = &bounds->list[i];
		int64_t total = ht_sub_sat(b->end, b->start);
		bool is_step = b->i_step != HT_NONE;
		ht_table_row(table);
		ht_table_put_i64(table, STEP_RANK, run->rank);
		ht_table_put_i64(table, STEP_STEP, b->number);
		ht_table_put_known(table, STEP_TIME, is_step ? b->time_ns : HT_NO_I64, HT_NO_I64);
		ht_table_put_known(
		        table, STEP_LATENCY, is_step ? b->latency_ns : HT_NO_I64, HT_NO_I64);
		ht_table_put_i64(table, STEP_TOTAL, total);
		for (size_t k = 0; k < HT_N_BUSY; k++)
			ht_table_put_i64(table, STEP_KERNEL + k, ns[i][k]);
		ht_table_put_f64(table, STEP_KERNEL_SHARE, share(ns[i][HT_BUSY_KERNEL], total));
		ht_table_put_i64(
		        table, STEP_N_WORK, is_step ? b->n_work : (int64_t)run->trace->n_gpu);
		ht_table_put_str(table, STEP_PART, part_of(run, b));
	}
	return bounds->is_all && !bounds->is_whole ? put_outside(run, table, bounds, times) : HT_OK;
}

/* The median step time of a rank, and its period. */
struct typical {
	int64_t time_ns; /* HT_NO_I64: no steps */
	struct ht_period period;
};

static enum ht_status find_typical(
        struct ht_run *run, const struct ht_bounds *bounds, struct typical *ret)
{
	int64_t *times = ht_arena_alloc(run->scratch, (bounds->n + 1) * sizeof *times);
	size_t n = 0;
	if (!times)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < bounds->n; i++)
		if (bounds->list[i].i_step != HT_NONE &&
		        (!bounds->list[i].is_first || bounds->n == 1))
			times[n++] = bounds->list[i].time_ns;
	*ret = (struct typical){ HT_NO_I64, ht_period_find(times, n) };
	if (n)
		ret->time_ns = ht_middle_i64(times, n);
	return HT_OK;
}

static enum ht_status put_mean(struct ht_run *run, ht_table *table, const struct ht_bounds *bounds,
        int64_t (*ns)[HT_N_BUSY])
{
	int64_t sums[HT_N_BUSY] = { 0 }, total = 0, latency = 0;
	struct typical typical = { 0 };
	HT_TRY(find_typical(run, bounds, &typical));
	for (size_t i = 0; i < bounds->n; i++) {
		ht_sum(&latency, bounds->list[i].latency_ns);
		ht_sum(&total, ht_sub_sat(bounds->list[i].end, bounds->list[i].start));
		for (size_t k = 0; k < HT_N_BUSY; k++)
			ht_sum(&sums[k], ns[i][k]);
	}
	if (!bounds->n)
		return HT_OK;
	bool known = typical.time_ns != HT_NO_I64, repeats = typical.period.n_steps > 0;
	ht_table_row(table);
	ht_table_put_i64(table, MEAN_RANK, run->rank);
	ht_table_put_i64(table, MEAN_N_STEPS, (int64_t)bounds->n);
	ht_table_put_f64(table, MEAN_TIME, known ? (double)typical.time_ns : NAN);
	ht_table_put_f64(table, MEAN_LATENCY, known ? (double)latency / (double)bounds->n : NAN);
	ht_table_put_f64(table, MEAN_TOTAL, (double)total / (double)bounds->n);
	for (size_t k = 0; k < HT_N_BUSY; k++)
		ht_table_put_f64(table, MEAN_KERNEL + k, (double)sums[k] / (double)bounds->n);
	ht_table_put_f64(table, MEAN_KERNEL_SHARE, share(sums[HT_BUSY_KERNEL], total));
	ht_table_put_known(table, MEAN_PERIOD,
	        repeats ? (int64_t)typical.period.n_steps : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        table, MEAN_PERIOD_TIME, repeats ? typical.period.mean_ns : HT_NO_I64, HT_NO_I64);
	return HT_OK;
}

/* A time, or its mean over so many steps. */
static void put_part(ht_table *table, size_t column, int64_t ns, size_t n_steps)
{
	if (n_steps)
		ht_table_put_f64(table, column, (double)ns / (double)n_steps);
	else
		ht_table_put_i64(table, column, ns);
}

static enum ht_status put_gpus(struct ht_run *run, struct ht_traits *traits,
        const struct ht_bounds *bounds, ht_table *table)
{
	struct ht_gpu_summary *list = NULL;
	size_t n = 0;
	if (!bounds->n)
		return HT_OK;
	const struct ht_gpu_window window = { bounds->list[0].start,
		bounds->list[bounds->n - 1].end, false };
	HT_TRY(ht_gpu_summary_make(run, traits, &window, &list, &n));
	for (size_t i = 0; i < n; i++) {
		const struct ht_gpu_summary *s = &list[i];
		const struct ht_device *device = s->properties;
		ht_table_row(table);
		ht_table_put_i64(table, GPU_RANK, run->rank);
		ht_table_put_known(table, GPU_DEVICE, s->device, -1);
		ht_table_put_str(table, GPU_NAME,
		        device && device->name != HT_NO_STR ? ht_str(run->trace, device->name)
		                                            : NULL);
		ht_table_put_known(table, GPU_MEMORY_BYTES,
		        device ? device->total_memory_bytes : HT_NO_I64, HT_NO_I64);
		ht_table_put_str(
		        table, GPU_COMPUTE_CAPABILITY, ht_gpu_capability(run, run->trace, device));
		ht_table_put_f64(table, GPU_UTILIZATION, share(s->busy_ns, s->window_ns));
		ht_table_put_f64(table, GPU_SM_EFFICIENCY, s->sm_efficiency);
		ht_table_put_f64(table, GPU_OCCUPANCY_PCT, s->occupancy_pct);
		ht_table_put_f64(table, GPU_TENSOR_CORE_SHARE, share(s->tc_ns, s->kernel_ns));
		ht_table_put_i64(table, GPU_WINDOW_NS, s->window_ns);
		ht_table_put_i64(table, GPU_BUSY_NS, s->busy_ns);
		ht_table_put_i64(table, GPU_KERNEL_NS, s->kernel_ns);
		ht_table_put_i64(table, GPU_TENSOR_CORE_NS, s->tc_ns);
		ht_table_put_i64(table, GPU_TENSOR_CORE_UNKNOWN_NS, s->unclear_ns);
		ht_table_put_i64(table, GPU_N_KERNELS, s->n_kernels);
	}
	return HT_OK;
}

static enum ht_status add_notes(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	if (bounds->is_whole && bounds->n)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld has no profiler steps: one row, from its first operator to the end of its last work",
		        (long long)run->rank));
	if (bounds->is_named)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld has no profiler steps: those that its work names, from first to last "
		        "work",
		        (long long)run->rank));
	return HT_OK;
}

/* A rank without events: what its exporter says of kernels, communication and the rest. Both tables begin with the
 * same columns. */
static enum ht_status put_exported(struct ht_run *run, bool mean, ht_table *table)
{
	struct ht_exporter_step *steps = NULL;
	size_t n = 0, n_steps = 1;
	HT_TRY(ht_exporter_steps(run, false, &steps, &n_steps));
	HT_TRY(ht_exporter_steps(run, mean, &steps, &n));
	for (size_t i = 0; i < n; i++) {
		const struct ht_exporter_step *step = &steps[i];
		const int64_t known[HT_N_BUSY] = { [HT_BUSY_KERNEL] = step->computing_ns,
			[HT_BUSY_COMM] = step->exposed_ns,
			[HT_BUSY_OTHER] = step->free_ns };
		const bool is_known[HT_N_BUSY] = {
			[HT_BUSY_KERNEL] = true, [HT_BUSY_COMM] = true, [HT_BUSY_OTHER] = true
		};
		ht_table_row(table);
		ht_table_put_i64(table, STEP_RANK, run->rank);
		ht_table_put_known(
		        table, STEP_STEP, mean ? (int64_t)n_steps : step->number, HT_NO_I64);
		/* both views begin alike */
		put_part(table, STEP_TIME, step->step_ns, mean ? n_steps : 0);
		ht_table_put_null(table, STEP_LATENCY);
		put_part(table, STEP_TOTAL, step->step_ns, mean ? n_steps : 0);
		for (size_t k = 0; k < HT_N_BUSY; k++)
			if (is_known[k])
				put_part(table, STEP_KERNEL + k, known[k], mean ? n_steps : 0);
			else
				ht_table_put_null(table, STEP_KERNEL + k);
		ht_table_put_f64(
		        table, STEP_KERNEL_SHARE, share(step->computing_ns, step->step_ns));
		ht_table_put_null(table, STEP_N_WORK);
		ht_table_put_null(table, STEP_PART);
	}
	return n ? ht_exporter_note(run, table) : HT_OK;
}

static enum ht_status break_down(struct ht_run *run, struct ht_part *part)
{
	struct ht_run whole = *run;
	struct ht_frame frame = { 0 };
	struct ht_traits traits = { 0 };
	struct ht_bounds bounds = { 0 };
	struct ht_busy_times times = { 0 };
	int64_t(*ns)[HT_N_BUSY] = NULL;
	ht_table *table = part->facts[0];
	/* any row may fall into a step, whoever launched it */
	whole.step = "all";
	HT_TRY(ht_frame_make(&whole, &frame));
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_bounds_make(run, &bounds));
	HT_TRY(add_notes(run, &bounds, table));
	if (!bounds.n && !ht_run_is(run, "view", "gpu"))
		return put_exported(run, ht_run_is(run, "view", "mean"), table);
	HT_TRY(ht_bounds_choose(run, &bounds));
	if (ht_run_is(run, "view", "gpu"))
		return put_gpus(run, &traits, &bounds, table);
	HT_TRY(ht_busy_make(run, &frame, &traits, &times));
	HT_TRY(ht_busy_split(run, &bounds, &times, &ns));
	return ht_run_is(run, "view", "mean") ? put_mean(run, table, &bounds, ns)
	                                      : put_steps(run, table, &bounds, &times, ns);
}

/* Where the step times of the job repeat, what a turn of them takes. */
static enum ht_status note_period(struct ht_run *run, ht_table *table)
{
	struct ht_job_steps job;
	HT_TRY(ht_job_steps_make(run, 0, &job));
	if (!job.period.n_steps)
		return HT_OK;
	return ht_table_add_note(table,
	        "step times repeat every %zu steps, as with gradient accumulation or checkpoints: mean per period %.3f ms",
	        job.period.n_steps, (double)job.period.mean_ns / 1e6);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool gpu = ht_run_is(run, "view", "gpu");
	HT_TRY(ht_frame_set_method(run, table,
	        gpu ? "first step's start to last step's end"
	            : "each moment goes to the first that is active, from left to right"));
	ht_table_set_bar(table, gpu                              ? GPU_UTILIZATION
	                        : ht_run_is(run, "view", "mean") ? MEAN_KERNEL_SHARE
	                                                         : STEP_KERNEL_SHARE);
	HT_TRY(ht_parts_rows_or(run, parts, table,
	        gpu ? "no kernels in the trace: record with ProfilerActivity.CUDA"
	            : "no steps, operators or GPU activity in the trace"));
	return gpu ? HT_OK : note_period(run, table);
}
