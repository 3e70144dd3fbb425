/*
 * steps.c - what the time of each step goes to: kernels, copies, communication, calls, loading, the host.
 *
 * A step lasts from its start on the host, or the end of the step before when that is later, to the last GPU work
 * that it launched (step_roles.h). Every moment of it goes to the first of these that is active on any thread or
 * stream, so the parts add up to the step:
 *   kernel > memcpy > memset > communication > runtime > dataloader > cpu_exec > other
 *   communication  kernels of collectives, and host operators nccl:..., gloo:..., record_param_comms
 *   runtime        calls of the CUDA runtime and driver and their like
 *   cpu_exec       other operators and annotations
 * View gpu: how well each GPU was used from the first step's start to the last one's end (gpu_summary.h).
 * Unless steps are chosen, trailing steps that the profiler cut off are left out, and a note says so.
 * Reads all of these, O(n log n).
 * Example: one step [0,100) us; kernel [40,90), its launch [10,20) inside an operator [5,30): kernel 50, runtime 10,
 * cpu_exec 15, other 25.
 */
#include "analysis/analysis.h"
#include "model/communication/exporter.h"
#include "model/device/gpu_summary.h"
#include "model/steps/step_roles.h"

#include <math.h>

static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

/* The parts of a step: by number of the first, by type, and what is said before each. */
#define PARTS(COLUMN, OF, TYPE, of)                                                                \
	COLUMN(OF##_TOTAL, "total_ns", TYPE, HT_MEASURE, of "length of the step", NULL)            \
	COLUMN(OF##_KERNEL, "kernel_ns", TYPE, HT_MEASURE, of "time with a kernel that computes",  \
	        NULL)                                                                              \
	COLUMN(OF##_MEMCPY, "memcpy_ns", TYPE, HT_MEASURE,                                         \
	        of "time with a copy and none of the above", NULL)                                 \
	COLUMN(OF##_MEMSET, "memset_ns", TYPE, HT_DETAIL,                                          \
	        of "time with a fill and none of the above", NULL)                                 \
	COLUMN(OF##_COMMUNICATION, "communication_ns", TYPE, HT_MEASURE,                           \
	        of "time with communication and none of the above", NULL)                          \
	COLUMN(OF##_RUNTIME, "runtime_ns", TYPE, HT_MEASURE,                                       \
	        of "time with a runtime or driver call and none of the above", NULL)               \
	COLUMN(OF##_DATALOADER, "dataloader_ns", TYPE, HT_MEASURE,                                 \
	        of "time in a data loader and none of the above", NULL)                            \
	COLUMN(OF##_CPU_EXEC, "cpu_exec_ns", TYPE, HT_MEASURE,                                     \
	        of "time in another operator or annotation and none of the above", NULL)           \
	COLUMN(OF##_OTHER, "other_ns", TYPE, HT_MEASURE, of "time with nothing of the above", NULL)

#define STEP_COLUMNS(COLUMN)                                                                       \
	COLUMN(STEP_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(STEP_STEP, "step", HT_I64, HT_KEY, "profiler step; 0 for a trace without steps",    \
	        NULL)                                                                              \
	PARTS(COLUMN, STEP, HT_DURATION, "")                                                       \
	COLUMN(STEP_KERNEL_SHARE, "kernel_share", HT_RATIO, HT_DETAIL, "kernel_ns over total_ns",  \
	        NULL)                                                                              \
	COLUMN(STEP_N_WORK, "n_work", HT_I64, HT_DETAIL,                                           \
	        "kernels, memcpy and memset launched in the step", NULL)
HT_COLUMNS(of_steps, STEP_COLUMNS);

#define MEAN_COLUMNS(COLUMN)                                                                       \
	COLUMN(MEAN_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                       \
	COLUMN(MEAN_N_STEPS, "n_steps", HT_I64, HT_KEY, "steps that the means are over", NULL)     \
	PARTS(COLUMN, MEAN, HT_DURATION_F64, "mean ")                                              \
	COLUMN(MEAN_KERNEL_SHARE, "kernel_share", HT_RATIO, HT_DETAIL, "kernel_ns over total_ns",  \
	        NULL)
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
	        "time of kernels that run on tensor cores, of the time of all kernels", NULL)      \
	COLUMN(GPU_WINDOW_NS, "window_ns", HT_DURATION, HT_DETAIL,                                 \
	        "first step's start to last step's end", NULL)                                     \
	COLUMN(GPU_BUSY_NS, "busy_ns", HT_DURATION, HT_DETAIL, "time in it with a kernel running", \
	        NULL)                                                                              \
	COLUMN(GPU_KERNEL_NS, "kernel_ns", HT_DURATION, HT_DETAIL,                                 \
	        "sum of the durations of kernels", NULL)                                           \
	COLUMN(GPU_TENSOR_CORE_NS, "tensor_core_ns", HT_DURATION, HT_DETAIL,                       \
	        "of that, on tensor cores", NULL)                                                  \
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
		.method = "A step ends with the last GPU activity that it launched. Each moment of it goes to the first "
			  "of kernel, copy, fill, communication, runtime call, data loader, other host work, "
			  "nothing; the parts add up to the step.",
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

static void put_steps(struct ht_run *run, ht_table *table, const struct ht_bounds *bounds,
        int64_t (*ns)[HT_N_BUSY])
{
	for (size_t i = 0; i < bounds->n; i++) {
		const struct ht_bound *b = &bounds->list[i];
		int64_t total = ht_sub_sat(b->end, b->start);
		ht_table_row(table);
		ht_table_put_i64(table, STEP_RANK, run->rank);
		ht_table_put_i64(table, STEP_STEP, b->number);
		ht_table_put_i64(table, STEP_TOTAL, total);
		for (size_t k = 0; k < HT_N_BUSY; k++)
			ht_table_put_i64(table, STEP_KERNEL + k, ns[i][k]);
		ht_table_put_f64(table, STEP_KERNEL_SHARE, share(ns[i][HT_BUSY_KERNEL], total));
		ht_table_put_i64(table, STEP_N_WORK, b->n_work);
	}
}

static void put_mean(struct ht_run *run, ht_table *table, const struct ht_bounds *bounds,
        int64_t (*ns)[HT_N_BUSY])
{
	int64_t sums[HT_N_BUSY] = { 0 }, total = 0;
	for (size_t i = 0; i < bounds->n; i++) {
		ht_sum(&total, ht_sub_sat(bounds->list[i].end, bounds->list[i].start));
		for (size_t k = 0; k < HT_N_BUSY; k++)
			ht_sum(&sums[k], ns[i][k]);
	}
	if (!bounds->n)
		return;
	ht_table_row(table);
	ht_table_put_i64(table, MEAN_RANK, run->rank);
	ht_table_put_i64(table, MEAN_N_STEPS, (int64_t)bounds->n);
	ht_table_put_f64(table, MEAN_TOTAL, (double)total / (double)bounds->n);
	for (size_t k = 0; k < HT_N_BUSY; k++)
		ht_table_put_f64(table, MEAN_KERNEL + k, (double)sums[k] / (double)bounds->n);
	ht_table_put_f64(table, MEAN_KERNEL_SHARE, share(sums[HT_BUSY_KERNEL], total));
}

/* A time, or its mean over so many steps. */
static void put_part(ht_table *table, size_t column, int64_t ns, size_t n_steps)
{
	if (n_steps)
		ht_table_put_f64(table, column, (double)ns / (double)n_steps);
	else
		ht_table_put_i64(table, column, ns);
}

static enum ht_status put_gpus(struct ht_run *run, const struct ht_frame *frame,
        struct ht_traits *traits, const struct ht_bounds *bounds, ht_table *table)
{
	struct ht_gpu_summary *list = NULL;
	size_t n = 0;
	if (!bounds->n)
		return HT_OK;
	const struct ht_gpu_window window = { bounds->list[0].start,
		bounds->list[bounds->n - 1].end, false };
	HT_TRY(ht_gpu_summary_make(run, frame, traits, &window, &list, &n));
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
		ht_table_put_i64(table, GPU_N_KERNELS, s->n_kernels);
	}
	return HT_OK;
}

static enum ht_status add_notes(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	if (bounds->is_whole && bounds->n)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld has no profiler steps: all of it is one step",
		        (long long)run->rank));
	if (bounds->is_named)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld has no profiler steps: those that its work names, from first to last "
		        "work",
		        (long long)run->rank));
	if (bounds->n_left_out)
		HT_TRY(ht_table_add_note(table,
		        "rank %lld: last %zu step%s left out, the profiler stopped before all GPU activity "
		        "was recorded; --step all shows every step",
		        (long long)run->rank, bounds->n_left_out,
		        bounds->n_left_out == 1 ? "" : "s"));
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
		put_part(table, STEP_TOTAL, step->step_ns, mean ? n_steps : 0);
		for (size_t k = 0; k < HT_N_BUSY; k++)
			if (is_known[k])
				put_part(table, STEP_KERNEL + k, known[k], mean ? n_steps : 0);
			else
				ht_table_put_null(table, STEP_KERNEL + k);
		ht_table_put_f64(
		        table, STEP_KERNEL_SHARE, share(step->computing_ns, step->step_ns));
		if (!mean)
			ht_table_put_null(table, STEP_N_WORK);
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
	HT_TRY(ht_bounds_make(run, run->step == NULL, &bounds));
	HT_TRY(add_notes(run, &bounds, table));
	if (!bounds.n && !ht_run_is(run, "view", "gpu"))
		return put_exported(run, ht_run_is(run, "view", "mean"), table);
	HT_TRY(ht_bounds_choose(run, &bounds));
	if (ht_run_is(run, "view", "gpu"))
		return put_gpus(run, &frame, &traits, &bounds, table);
	HT_TRY(ht_busy_make(run, &frame, &traits, &times));
	HT_TRY(ht_busy_split(run, &bounds, &times, &ns));
	(ht_run_is(run, "view", "mean") ? put_mean : put_steps)(run, table, &bounds, ns);
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool gpu = ht_run_is(run, "view", "gpu");
	const char *method = ht_arena_printf(run->scratch, "%zu rank%s · %s", run->chosen[0].n,
	        run->chosen[0].n == 1 ? "" : "s",
	        gpu ? "first step's start to last step's end"
	            : "each moment goes to the first that is active, from left to right");
	if (!method)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_table_set_method(table, method));
	ht_table_set_bar(table, gpu ? "utilization" : "kernel_share");
	HT_TRY(ht_parts_rows_or(run, parts, table,
	        gpu ? "no kernels in the trace: record with ProfilerActivity.CUDA"
	            : "no steps, operators or GPU activity in the trace"));
	return ht_frame_note_last(run, table);
}
