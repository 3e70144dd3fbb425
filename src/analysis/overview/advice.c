/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - what could be done about the time of a step, where the data supports it.
 *
 * A rule fires when what it measures (model/advice/rule_facts.h, verdict/findings.h) passes its threshold on some rank; the rank
 * where it does most is shown, with the events behind it, what it costs of a step, and the verb that shows more. A rule
 * whose data a trace lacks does not fire; --view rules lists all with why.
 *
 *   data-loading       alone in data loaders > 5 % of the steps
 *   slow-loader        one call of a data loader > 10 ms
 *   communication      alone in communication > 10 % of the steps, without waits for ranks where those are known
 *   waiting            waits for ranks that nothing hides > 10 % of the steps, and no rank is a straggler
 *   small-messages     > 20 % of collectives move less than 1 MiB, and communication alone > 5 % of the steps
 *   slow-rank          a straggler (own_time.h)
 *   late-votes         one rank's duration is the shortest beyond chance (votes.h) in three collectives, in 10 % of them
 *                      and three times as often as any other's
 *   imbalance          most - least computing, idle time or communication over ranks > 5 % of the mean span; idle time not where it is the other
 *                      side of computing less; waits for ranks do not count, and where they are not known communication must be twice as far apart as the others
 *   gpu-use            kernels run < 50 % of the steps on a device
 *   tensor-cores       compute capability 7 and more, no kernel runs on tensor cores, operators that could do have GPU time; or a tenth of the kernel
 *                      time is in kernels of such operators that run on other cores
 *   layout-changes     kernels that convert between NCHW and NHWC > 5 % of the kernel time
 *   misaligned-products  products on tensor cores with rows of no multiple of 16 bytes lose > 5 % of the GPU time to well-tuned ones (use_table.h)
 *   type-casts         dtype conversions (copies to another dtype) > 10 % of the GPU time
 *   below-roof         an operator loses > 10 % of the GPU time to well-tuned kernels (worst_op.h)
 *   launch             > 20 % of the device's time idle because nothing was launched, waits for data not counted; what is advised
 *                      depends on what the CPU does meanwhile (host_doing.h)
 *   tiny-kernels       > half of the kernels < 10 us, and > 10 % idle so or while launches are under way
 *   sync               idle after calls that wait for the device, no longer than those, > 5 % of the steps
 *   slow-step          a step takes 1.5 times the median of its rank's steps, of which there are three
 *   slow-launch        > 5 % of the steps the device idles in calls that launch a kernel and take longer than launches do
 *   allocation         calls that allocate or free device memory > 1 % of the steps
 *   memcpy             copies while no kernel runs > 10 % of the steps, most of them not from or to pageable memory
 *   pageable           copies from or to pageable memory > 1 % of the steps
 *   small-grids        > 20 % of kernel time, times the share of SMs without a block
 *   memory-limit       peak allocated > 90 % of the device's memory
 *   memory-growth      each of three steps and more leaves more memory allocated, by 0.1 % of the peak at least
 *   data-parallel      DataParallel.forward with several devices
 *   ddp-backend        DistributedDataParallel.forward over Gloo or MPI on GPUs, and no NCCL
 *   sync-batchnorm     20 calls of SyncBatchNorm or more
 * and with memory snapshots (mem_findings.h), as memory-snapshot tells it:
 *   out-of-memory      a request failed
 *   memory-leak        blocks of one stack pile up from step to step
 *   fragmentation      a segment was taken while four times as much was free in pieces
 *   idle-pools         private pools keep 64 MiB or more idle
 * and on NPUs (npu_facts.h):
 *   uneven-steps       as imbalance, of the exporter's steps: computing, else free time, else communication > 5 % apart
 *   free-time          neither computing nor communicating > 10 % of the exporter's steps
 *   ai-cpu             kernels on the AI CPU, one of them >= 20 us
 *   no-bound           kernels > 20 us without a pipe that is busy > 0.8 of the time
 *   vector-use         types of kernels on vector cores with room: no pipe at 0.7, all together below 0.9
 *   cube-use           matrix products of 100 MB below 0.8 of the cube's and 0.95 of memory's time
 *   flash-attention    flash attention below 0.8 of memory's and 0.75 of vectors' (backward: fixpipe's) time
 *   format-changes     TransData > 5 % of the kernel time
 *   dynamic-shapes     no kernel of static shape
 *   core-clock         kernels lose > 5 % to a clock below its highest
 *   op-compile         20 calls of aclopCompileAndExecute or more
 *   launch-blocking    > half of the launches are followed by waiting for the stream
 *   gc                 garbage collections > 1 ms
 *   fused-optimizer    an optimizer that is not NpuFused
 *   slow-link          GB/s of ranks >= 5 % of the mean apart, over SDMA or RDMA
 *   small-packets      > 20 % of packets small (exporter.h), and communication alone > 5 % of the steps
 *   unaligned          transfers over SDMA that are no multiple of 512 bytes
 *   contention         transfers over SDMA below 14.4 GB/s while a matrix product runs
 *   rdma-retries       an operation that moves data over RDMA for > 4 s
 *   environment        recorded settings that are not as recommended
 * What costs less than 1 % of a step does not fire. Costs are of a step of the rank, at most: rules overlap, so costs do not add up. O(n log n).
 *
 * Example: steps of 100 us, of which 40 are in a data loader and nothing else: data-loading fires with 40 us, 40 %.
 */
#include "analysis/analysis.h"
#include "base/checked.h"
#include "verdict/make_findings.h"
#include "verdict/rank_facts.h"
#include "verdict/rules.h"
#include "table/optional.h"
#include "model/advice/npu_facts.h"
#include "model/clocks/clocks.h"
#include "model/rows/name_traits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status look(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);
static bool are_facts(const struct ht_part *part);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RULE, "rule", HT_STR, HT_KEY, "name of the check", NULL)                        \
	COLUMN(COL_FINDING, "finding", HT_STR, HT_MEASURE,                                         \
	        "what it found, or why it found nothing", NULL)                                    \
	COLUMN(COL_ADVICE, "advice", HT_STR, HT_MEASURE, "what could be done", NULL)               \
	HT_FINDING_COLUMNS(COLUMN, COL)                                                            \
	COLUMN(COL_COST_NS, "cost_ns", HT_DURATION, HT_DETAIL,                                     \
	        "upper_bound_ns under its former name", NULL)                                      \
	COLUMN(COL_RANK, "rank", HT_I64, HT_DETAIL, "rank where it does most", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "view", HT_STR, "fired", "checks that found something, or all with why they did not",
	        "fired|rules" },
};

const struct ht_analysis ht_analysis_advice = {
	.info = { .name = "advice",
	        .group = "conclusions",
	        .page_view = "overview",
	        .title = "Advice",
	        .question = "What could be done to make a step shorter, and what would that save?",
	        .method = "Checks with thresholds over what was measured; each finding shows its "
	                  "events and an upper bound on savings per step.",
	        HT_ONE_SCHEMA(columns),
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { HT_FINDINGS_FACTS, [HT_ADVICE_FACTS] = { "rules", ht_rule_fact_columns,
	                                      HT_N_FACT_COLUMNS } },
	.across = true,
	.common = &ht_findings_common,
	.is_sound = are_facts,
	.per_rank = look,
	.finish = finish,
};

/* What is counted can be divided by. */
static bool are_facts(const struct ht_part *part)
{
	return ht_findings_are_sound(part) &&
	       ht_facts_below(part->facts[HT_ADVICE_FACTS], HT_FACT_COUNT, INT64_MAX);
}

static enum ht_status look(struct ht_run *run, struct ht_part *part)
{
	struct ht_bounds bounds = { 0 };
	HT_TRY(ht_findings_bounds(run, &bounds));
	HT_TRY(ht_rule_facts_put(run, &bounds, part->facts[HT_ADVICE_FACTS]));
	return ht_npu_facts_put(run, &bounds, part->facts[HT_ADVICE_FACTS]);
}

/* What costs less of a step is not worth doing. */
#define WORTH_IT 0.01
/* What has more than this of the host's time on the path is its name. */
#define HALF 0.5

/* ---- rules ---- */

static bool has_events(const struct ht_advice *a, enum ht_metric metric)
{
	bool any = false;
	for (size_t p = 0; p < a->parts->n; p++)
		any |= ht_rule_fact_of(a, p, metric).count > 0;
	return any;
}

static struct ht_rule_verdict data_loading(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_LOADER, 0.05, ht_rule_steps(a));
}

static struct ht_rule_verdict slow_loader(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact longest = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact fact = ht_rule_fact_of(a, p, HT_METRIC_LOADS);
		if (fact.is_known && (!longest.is_known || fact.row_ns > longest.row_ns))
			longest = fact;
	}
	if (!longest.is_known)
		return v;
	v.f.state = ht_rule_state(longest.row_ns > 10000000);
	ht_finding_count(&v.f, "count", longest.count);
	ht_finding_value(&v.f, (double)longest.row_ns, "ns");
	v.i_part = longest.i_part;
	v.row = longest.row;
	v.cost_ns = ht_rule_fact_of(a, longest.i_part, HT_METRIC_LOADER).part;
	return v;
}

static struct ht_rule_verdict small_messages(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_MESSAGES),
	                    comm = ht_rule_worst(a, HT_METRIC_COMM);
	struct ht_rule_verdict v = ht_rule_no_verdict();
	if (!fact.is_known)
		return v;
	bool many = ht_rule_share(a, &fact) > 0.2,
	     matters = comm.is_known && ht_rule_share(a, &comm) > 0.05;
	v.f.state = ht_rule_state(many && matters);
	ht_finding_count(&v.f, "count", fact.part);
	ht_finding_count(&v.f, "whole", fact.whole);
	ht_finding_share(&v.f, comm.is_known ? ht_rule_share(a, &comm) : 0, ht_rule_steps(a),
	        comm.is_known ? ht_rule_rank(a, comm.i_part) : HT_NO_I64);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

/* Whether what the CPU does in the gaps of a device is mostly nothing that was recorded, or Python. */
static const char *quiet_variant(const struct ht_rule_fact *launch)
{
	return ht_ratio(launch->aux[0], launch->part) > HALF   ? "nothing"
	       : ht_ratio(launch->aux[1], launch->part) > HALF ? "python"
	                                                       : "";
}

/* What has more than half of the time in which no kernel runs: advice depends on it. */
static const char *not_busy_with(const struct ht_advice *a, size_t p)
{
	const struct ht_findings *f = &a->f;
	double half = HALF * (1 - f->gpu.least);
	struct ht_rule_fact copy = ht_rule_fact_of(a, p, HT_METRIC_COPY);
	struct ht_rule_fact launch = ht_rule_fact_of(a, p, HT_METRIC_LAUNCH);
	if (copy.is_known && ht_rule_share(a, &copy) > half)
		return "memcpy";
	if (ht_ratio(f->between_ns, ht_add_sat(f->path_ns, f->between_ns)) > half)
		return "between";
	return launch.is_known && ht_rule_share(a, &launch) > half ? quiet_variant(&launch) : "";
}

/* A share of a rank's steps, as it is of those that take as long as most: what a slow one takes longer has a rule of its own. */
static double without_slow_steps(const struct ht_advice *a, size_t p, double share)
{
	struct ht_rule_fact slow = ht_rule_fact_of(a, p, HT_METRIC_SLOW_STEP);
	const ht_table *steps = a->parts->list[p].facts[HT_FOUND_STEPS];
	int64_t all_ns = 0;
	for (size_t i = 0; i < ht_table_n_rows(steps); i++)
		ht_sum(&all_ns, ht_table_i64_or(steps, i, HT_FOUND_STEP_TIME_NS, 0));
	bool is_part = slow.is_known && slow.count && slow.part > 0 && slow.part < all_ns;
	return is_part ? share * (double)all_ns / (double)(all_ns - slow.part) : share;
}

static struct ht_rule_verdict gpu_use(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const struct ht_gpu_use *gpu = &a->f.gpu;
	if (!gpu->window_ns)
		return v;
	size_t p = 0;
	while (p < a->parts->n && a->parts->list[p].rank != gpu->least_rank)
		p++;
	struct ht_rule_fact launch = ht_rule_fact_of(a, p, HT_METRIC_LAUNCH);
	if (launch.row == HT_NO_I64)
		launch = ht_rule_fact_of(a, p, HT_METRIC_UNDER_WAY);
	bool is_slow_step = gpu->least < 0.5 && without_slow_steps(a, p, gpu->least) >= 0.5;
	v.f.state = ht_rule_state(gpu->least < 0.5 && !is_slow_step);
	v.f.variant = not_busy_with(a, p);
	ht_finding_share(&v.f, gpu->least, ht_rule_steps(a), gpu->least_rank);
	ht_finding_text(&v.f, "slow_step", is_slow_step ? "" : NULL);
	ht_finding_count(&v.f, "device", gpu->least_device);
	ht_finding_ratio(&v.f, "threshold", 0.5);
	v.i_part = p;
	v.row = launch.is_known ? launch.row : HT_NO_I64;
	v.step_cost_ns = ht_cut_sat((1 - gpu->least) * (double)ht_findings_mean_step(&a->f));
	return v;
}

/* Idle with nothing launched, but for what a data loader or communication kept the host from launching; or what fewer launches
 * would help with: with launches under way, too, and not while the host does nothing of the kind for long. */
static struct ht_rule_fact idle_of_host(const struct ht_advice *a, bool under_way)
{
	struct ht_rule_fact most = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact idle = ht_rule_fact_of(a, p, HT_METRIC_LAUNCH);
		struct ht_rule_fact way = ht_rule_fact_of(a, p, HT_METRIC_UNDER_WAY);
		if (under_way)
			idle.part = ht_add_sat(
			        ht_sub_sat(ht_sub_sat(idle.part, idle.aux[0]), idle.aux[1]),
			        way.part);
		if (under_way && idle.row == HT_NO_I64)
			idle.row = way.row;
		if (idle.is_known &&
		        (!most.is_known || ht_rule_share(a, &idle) > ht_rule_share(a, &most)))
			most = idle;
	}
	return most;
}

/* Is half of a time, of what slow steps take longer or devices idle, spent on compiling again? Then that is the cause, and no part of it. */
static bool is_recompiling(const struct ht_advice *a, const struct ht_rule_fact *fact)
{
	int64_t ns = ht_found_compile_ns(&a->f);
	return ns > 0 && (__int128)2 * ns >= fact->part;
}

static struct ht_rule_verdict launch(struct ht_advice *a)
{
	struct ht_rule_fact idle = idle_of_host(a, false);
	struct ht_rule_verdict v = ht_rule_judge(a, idle, 0.2, "of.gpu_span");
	const struct ht_path_bound *host = &a->f.path[HT_CP_BOUND_CPU];
	/* idle time is without slow steps, and the path is not where those recur */
	double share = a->f.slow.recurs ? 0 : ht_ratio(host->most.ns, host->ns - host->slow_ns);
	if (v.f.state != HT_STATE_FOUND)
		return v;
	const char *quiet = quiet_variant(&idle);
	v.f.variant = is_recompiling(a, &idle) ? "recompile" : quiet;
	if (*quiet)
		ht_finding_ratio(
		        &v.f, "quiet_share", ht_ratio(idle.aux[0] + idle.aux[1], idle.part));
	ht_finding_count(&v.f, "device", idle.aux[3] > 1 ? idle.aux[2] : HT_NO_I64);
	ht_finding_text(&v.f, "no_slow",
	        ht_rule_fact_of(a, idle.i_part, HT_METRIC_SLOW_STEP).count > 0 ? "" : NULL);
	if (host->most.name && share > HALF) {
		ht_finding_text(&v.f, "hot", host->most.name);
		ht_finding_ratio(&v.f, "hot_share", share);
	}
	return v;
}

static struct ht_rule_verdict tiny_kernels(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_TINY), idle = idle_of_host(a, true);
	struct ht_rule_verdict v = ht_rule_no_verdict();
	if (!fact.is_known || !idle.is_known)
		return v;
	bool many = ht_rule_share(a, &fact) > 0.5, matters = ht_rule_share(a, &idle) > 0.1;
	struct ht_rule_fact steps = ht_rule_fact_of(a, fact.i_part, HT_METRIC_STEPS);
	v.f.state = ht_rule_state(many && matters);
	ht_finding_count(&v.f, "count", steps.count ? fact.part / steps.count : fact.part);
	ht_finding_count(&v.f, "whole", steps.count ? fact.whole / steps.count : fact.whole);
	ht_finding_share(
	        &v.f, ht_rule_share(a, &idle), "of.gpu_span", ht_rule_rank(a, idle.i_part));
	v.i_part = idle.i_part;
	v.row = idle.row;
	v.cost_ns = idle.part;
	return v;
}

static struct ht_rule_verdict sync_calls(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_SYNC, 0.05, ht_rule_steps(a));
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SYNC);
	if (v.f.state == HT_STATE_FOUND) {
		ht_finding_count(&v.f, "count", fact.count);
		ht_finding_text(&v.f, "name", fact.name);
	}
	return v;
}

static struct ht_rule_verdict slow_launch(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_SLOW_CALL, 0.05, ht_rule_steps(a));
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SLOW_CALL);
	if (v.f.state == HT_STATE_FOUND) {
		ht_finding_count(&v.f, "count", fact.count);
		ht_finding_text(&v.f, "name", fact.name);
		ht_finding_ns(&v.f, "longest", fact.row_ns);
	}
	return v;
}

static void name_slow_step(
        const struct ht_advice *a, const struct ht_rule_fact *fact, struct ht_finding *f)
{
	if (is_recompiling(a, fact)) {
		int64_t ns = ht_found_compile_ns(&a->f) / fact->count;
		int64_t more_ns = ht_sub_sat(fact->row_ns, fact->aux[1]);
		ht_finding_text(f, "name", ht_term("recompiling"));
		ht_finding_ns(f, "more", ns < more_ns ? ns : more_ns);
		f->variant = "recompile";
	} else if (fact->name && *fact->name) {
		ht_finding_text(f, "name", fact->name);
		ht_finding_ns(f, "more", fact->aux[2]);
		ht_finding_text(f, "around", fact->more);
	}
}

/* Of several ranks the one that has more of something else than communication: the others wait for it. */
static struct ht_rule_verdict slow_step(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SLOW_STEP);
	struct ht_rule_fact comm = ht_rule_worst(a, HT_METRIC_SLOW_COMM);
	if (!fact.is_known)
		return ht_rule_no_verdict();
	if (!fact.count && comm.is_known)
		fact = comm;
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	/* ranks that take turns at being slow make each step of the job as long */
	bool of_job = fact.count && a->parts->n > 1 && !a->f.slow.n;
	v.f.state = ht_rule_state(fact.count && !of_job);
	ht_finding_text(&v.f, "job", of_job ? "" : NULL);
	if (v.f.state != HT_STATE_FOUND)
		return v;
	ht_rule_subject_rank(a, &v.f, ht_rule_rank(a, fact.i_part));
	ht_finding_value(&v.f, (double)fact.row_ns, "ns");
	ht_finding_count(&v.f, "rank", a->parts->n > 1 ? ht_rule_rank(a, fact.i_part) : HT_NO_I64);
	ht_finding_count(&v.f, "longest", fact.aux[0]);
	ht_finding_ns(&v.f, "length", fact.row_ns);
	ht_finding_ns(&v.f, "median", fact.aux[1]);
	ht_finding_text(
	        &v.f, "times", HT_SAY(a, "%.1f", (double)fact.row_ns / (double)fact.aux[1]));
	name_slow_step(a, &fact, &v.f);
	ht_finding_count(&v.f, "n_slow", fact.count > 1 ? fact.count : HT_NO_I64);
	return v;
}

static struct ht_rule_verdict allocation(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_MALLOC, 0.01, ht_rule_steps(a));
}

/* Copies from and to pageable memory have a cause of their own. */
static struct ht_rule_verdict copies(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_COPY, 0.1, ht_rule_steps(a));
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_COPY);
	if (v.f.state != HT_STATE_FOUND || !fact.name)
		return v;
	double rate = fact.aux[1] ? 1e9 * (double)fact.aux[0] / (double)fact.aux[1] : 0;
	if (strstr(fact.name, "Pageable"))
		v.f.state = HT_STATE_NONE;
	ht_finding_text(&v.f, "name", fact.name);
	ht_finding_text(&v.f, "rate", rate > 0 ? HT_SAY(a, "%.3g GB/s", rate / 1e9) : NULL);
	if (rate > 0 && fact.aux[2]) {
		ht_finding_text(&v.f, "link", HT_SAY(a, "%.3g GB/s", (double)fact.aux[2] / 1e9));
		ht_finding_ratio(&v.f, "link_share", rate / (double)fact.aux[2]);
	}
	return v;
}

static struct ht_rule_verdict pageable(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_PAGEABLE, 0.01, ht_rule_steps(a));
}

static struct ht_rule_verdict memory_limit(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_MEMORY, 0.9, "of.memory");
	v.cost_ns = HT_NO_I64;
	return v;
}

static struct ht_rule_verdict memory_growth(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_GROWTH);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.part > 0);
	ht_finding_count(&v.f, "n_steps", fact.count);
	ht_finding_bytes(&v.f, "least", fact.part);
	ht_finding_text(&v.f, "place", fact.place);
	ht_finding_text(&v.f, "name", fact.name && *fact.name ? fact.name : NULL);
	ht_finding_text(&v.f, "annotation", fact.more);
	ht_finding_bytes(&v.f, "kept", fact.aux[0]);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict data_parallel(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_DP);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.count && fact.whole > 1);
	ht_finding_count(&v.f, "count", fact.count);
	ht_finding_count(&v.f, "whole", fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict ddp_backend(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact ddp = ht_rule_worst(a, HT_METRIC_DDP),
	                    gloo = ht_rule_worst(a, HT_METRIC_GLOO);
	bool nccl = has_events(a, HT_METRIC_NCCL), other = has_events(a, HT_METRIC_GLOO);
	if (!ddp.is_known || a->f.gpu.major == HT_NO_I64 || !a->f.n_devices ||
	        (ddp.count && !nccl && !other))
		return v;
	v.f.state = ht_rule_state(ddp.count && other && !nccl && a->f.gpu.major > 3);
	ht_finding_text(&v.f, "no_ddp", ddp.count ? NULL : "");
	ht_finding_text(&v.f, "nccl", ddp.count && nccl ? "" : NULL);
	ht_finding_text(&v.f, "name", gloo.name ? gloo.name : "another backend");
	v.i_part = gloo.i_part;
	v.row = gloo.row;
	/* another backend waits for ranks as long */
	v.cost_ns = gloo.is_known ? ht_rule_transfer_ns(a, gloo.i_part) : HT_NO_I64;
	return v;
}

static struct ht_rule_verdict sync_batchnorm(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BATCHNORM);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.count >= 20);
	ht_finding_count(&v.f, "count", fact.count);
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

static const struct ht_rule rules[] = {
	{ "slow-rank", ht_rule_slow_rank, "stragglers", { { 0 } }, 0 },
	{ "late-votes", ht_rule_late_votes, "stragglers", { { "view", "collectives" } }, 0 },
	{ "data-loading", data_loading, "steps", { { 0 } }, HT_RULE_DATA },
	{ "slow-loader", slow_loader, "events", { { "where", "name ~ DataLoader" } },
	        HT_RULE_DATA },
	{ "slow-step", slow_step, "steps", { { "sort", "-total_ns" } }, 0 },
	{ "communication", ht_rule_communication, "comm-overlap", { { 0 } }, HT_RULE_COMM },
	{ "waiting", ht_rule_waiting, "what-if", { { "view", "slowdown" } }, 0 },
	{ "small-messages", small_messages, "collectives", { { 0 } }, HT_RULE_COMM },
	{ "launch", launch, "idle-breakdown", { { "by", "device" } }, HT_RULE_CPU },
	{ "tiny-kernels", tiny_kernels, "launch-stats", { { 0 } }, HT_RULE_CPU },
	{ "sync", sync_calls, "critical-path", { { 0 } }, HT_RULE_CPU },
	{ "slow-launch", slow_launch, "launch-stats", { { 0 } }, HT_RULE_CPU },
	{ "imbalance", ht_rule_imbalance, "temporal-breakdown", { { 0 } }, 0 },
	{ "gpu-use", gpu_use, "idle-breakdown", { { "by", "device" } }, HT_RULE_IDLE },
	{ "tensor-cores", ht_rule_tensor_cores, "operators", { { 0 } }, HT_RULE_DEVICE },
	{ "layout-changes", ht_rule_layout_changes, "kernels",
	        { { "where", "name ~ ToN or name ~ batched_transpose" } }, HT_RULE_DEVICE },
	{ "misaligned-products", ht_rule_misaligned_products, "efficiency", { { "by", "shape" } },
	        HT_RULE_DEVICE },
	{ "type-casts", ht_rule_type_casts, "efficiency", { { "by", "shape" } }, HT_RULE_DEVICE },
	{ "below-roof", ht_rule_below_roof, "efficiency", { { "by", "shape" } }, HT_RULE_DEVICE },
	{ "small-grids", ht_rule_small_grids, "kernels", { { 0 } }, HT_RULE_DEVICE },
	{ "allocation", allocation, "events", { { "where", "name ~ Malloc or name ~ Free" } },
	        HT_RULE_CPU },
	{ "memcpy", copies, "memory-bandwidth", { { 0 } }, HT_RULE_PATH(GPU_MEMORY) },
	{ "pageable", pageable, "memory-bandwidth", { { 0 } }, HT_RULE_COPY },
	{ "memory-limit", memory_limit, "memory-curve", { { "view", "peaks" } }, 0 },
	{ "memory-growth", memory_growth, "memory-stats", { { "sort", "-self_kept_bytes" } }, 0 },
	{ "data-parallel", data_parallel, "events", { { "where", "name ~ DataParallel" } }, 0 },
	{ "ddp-backend", ddp_backend, "events", { { "where", "name ~ gloo or name ~ mpi" } },
	        HT_RULE_COMM },
	{ "sync-batchnorm", sync_batchnorm, "operators", { { "where", "name ~ SyncBatchNorm" } },
	        0 },
};

/* ---- rows ---- */

struct line {
	const struct ht_rule *rule;
	struct ht_rule_verdict v;
	size_t order;    /* of the rules */
	bool is_symptom; /* says that something is wrong, and another rule or none says what */
};

/* Where nothing of the CPU was recorded, or no launch of what a device runs, the path does not show what it depends on. */
static bool knows_path(const struct ht_advice *a, size_t i_part)
{
	const struct ht_findings *f = &a->f;
	return f->path_ns > 0 && f->path[HT_CP_BOUND_CPU].ns > 0 &&
	       !f->path[HT_CP_BOUND_UNRECORDED].ns && i_part < a->parts->n &&
	       (!f->n_devices || ht_rule_fact_of(a, i_part, HT_METRIC_LAUNCH).is_known);
}

/* What it costs of a step, no more than the critical path would be shorter by without what the rule is about. */
static void bound_cost(struct ht_advice *a, const struct ht_rule *rule, struct ht_rule_verdict *v)
{
	struct ht_rule_fact steps = { .count = 0 };
	int64_t path_ns = 0;
	if (v->i_part < a->parts->n)
		steps = ht_rule_fact_of(a, v->i_part, HT_METRIC_STEPS);
	if (v->step_cost_ns != HT_NO_I64)
		v->f.upper_bound_ns = v->step_cost_ns;
	else if (v->cost_ns != HT_NO_I64 && steps.count > 0)
		v->f.upper_bound_ns = v->cost_ns / steps.count;
	for (int k = 0; k < HT_CP_N_BOUNDS; k++)
		if (rule->bounds & 1u << k)
			ht_sum(&path_ns, a->f.path[k].saved_ns);
	/* without all of it, and without what is between steps, which is on no path */
	if (rule->bounds == HT_RULE_IDLE)
		path_ns = ht_add_sat(a->f.idle_saved_ns, a->f.between_ns);
	int64_t most_ns = ht_findings_per_step(&a->f, path_ns);
	if (rule->bounds && knows_path(a, v->i_part) && v->f.upper_bound_ns > most_ns)
		v->f.upper_bound_ns = most_ns;
	if (v->f.upper_bound_ns != HT_NO_I64 && steps.count > 0)
		v->f.upper_bound_share = ht_ratio(v->f.upper_bound_ns, steps.part / steps.count);
}

/* The denominator of costs: the mean step of the rank. */
static void name_costs(struct ht_advice *a, struct ht_rule_verdict *v)
{
	int64_t rank = ht_rule_rank(a, v->i_part);
	const char *of = ht_term(ht_rule_steps(a));
	ht_finding_text(&v->f, "steps", a->f.has_steps ? "" : NULL);
	ht_finding_text(&v->f, "bound_of",
	        a->parts->n > 1 && rank != HT_NO_I64 ? HT_SAY(a, "%s, rank %" PRId64, of, rank)
	                                             : of);
	if (a->parts->n == 1)
		v->f.of_rank = HT_NO_I64;
}

/* What costs next to nothing is not found. */
static void drop_worthless(struct ht_advice *a, struct ht_finding *f)
{
	struct ht_sentence sentence;
	if (f->state != HT_STATE_FOUND || isnan(f->upper_bound_share) ||
	        f->upper_bound_share >= WORTH_IT)
		return;
	if (ht_finding_say(a->words.arena, f, &sentence) != HT_OK) {
		ht_words_keep(&a->words, NULL);
		return;
	}
	f->state = HT_STATE_NONE;
	f->variant = "worthless";
	ht_finding_text(f, "text", sentence.text);
}

static struct line judge(struct ht_advice *a, const struct ht_rule *rule, size_t order)
{
	struct line line = { .rule = rule, .v = rule->judge(a), .order = order };
	struct ht_finding *f = &line.v.f;
	f->kind = rule->name;
	line.is_symptom = rule->judge == gpu_use ||
	                  (rule->judge == ht_rule_waiting && a->f.slow.n) ||
	                  (rule->judge == ht_rule_imbalance && (a->f.latest || a->f.slow.n));
	bound_cost(a, rule, &line.v);
	name_costs(a, &line.v);
	drop_worthless(a, f);
	if (f->state == HT_STATE_FOUND) {
		if (!f->advice)
			f->advice = ht_finding_advice(f->kind, f->variant);
		/* kernels of communication alone overlap with anything */
		bool on_host = a->f.calls_host && !strcmp(rule->next, "comm-overlap");
		ht_finding_next(f, on_host ? "collectives" : rule->next);
		for (size_t i = 0; i < HT_COUNT(rule->args) && rule->args[i].name; i++)
			ht_finding_arg(f, rule->args[i].name, rule->args[i].value);
		if (line.v.i_part < a->parts->n)
			ht_finding_event(f, ht_rule_rank(a, line.v.i_part), line.v.row);
	} else {
		f->upper_bound_ns = HT_NO_I64;
	}
	return line;
}

/* To two digits, so that what costs the same in the end comes in the order of the rules. */
static int64_t rounded(int64_t cost_ns)
{
	int64_t unit = 1;
	while (cost_ns / unit >= 100)
		unit *= 10;
	return (cost_ns + unit / 2) / unit * unit;
}

/* What was found comes first, then what costs most; symptoms after their causes. */
static int by_cost(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int64_t cost_a = a->v.f.upper_bound_ns, cost_b = b->v.f.upper_bound_ns;
	bool found = a->v.f.state == HT_STATE_FOUND;
	if (a->v.f.state != b->v.f.state)
		return a->v.f.state > b->v.f.state ? -1 : 1;
	bool both_cost = cost_a != HT_NO_I64 && cost_b != HT_NO_I64;
	if (found && both_cost && a->is_symptom != b->is_symptom)
		return a->is_symptom ? 1 : -1;
	if (found && rounded(cost_a) != rounded(cost_b))
		return cost_a > cost_b ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static enum ht_status put_line(struct ht_advice *a, const struct line *line)
{
	const struct ht_finding *f = &line->v.f;
	bool found = f->state == HT_STATE_FOUND;
	static const struct ht_finding_places at = { .label = COL_RULE,
		.sentence = COL_FINDING,
		.advice = COL_ADVICE,
		.cells = COL_EVIDENCE };
	HT_TRY(ht_finding_row(a->words.arena, f, line->rule->name, &at, a->table));
	ht_table_put_known(a->table, COL_COST_NS, found ? f->upper_bound_ns : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(
	        a->table, COL_RANK, found ? ht_rule_rank(a, line->v.i_part) : HT_NO_I64, HT_NO_I64);
	return HT_OK;
}

static enum ht_status note_checks(struct ht_advice *a, size_t n_found, size_t n, size_t n_unknown)
{
	struct ht_finding f = ht_finding("checks", HT_STATE_FOUND);
	ht_finding_count(&f, "n_found", (int64_t)n_found);
	ht_finding_count(&f, "n", (int64_t)n);
	ht_finding_count(&f, "n_unknown", (int64_t)n_unknown);
	return ht_finding_note(a->words.arena, &f, a->table);
}

static enum ht_status give(struct ht_advice *a)
{
	size_t n_found = 0, n_unknown = 0, n = 0, counts[] = { HT_COUNT(rules), 0, 0 };
	const struct ht_rule *const lists[] = { rules, ht_rules_memory(a, &counts[1]),
		ht_rules_npu(a, &counts[2]) };
	struct line *lines = ht_arena_alloc(
	        a->run->scratch, (counts[0] + counts[1] + counts[2]) * sizeof *lines);
	if (!lines)
		return ht_fail_nomem(a->run->ctx);
	HT_TRY(ht_findings_make(a->run, a->parts, &a->f));
	if (a->run->clocks[0])
		HT_TRY(ht_votes_count(a->run, a->parts, HT_FOUND_CALLS, &a->votes));
	for (size_t list = 0; list < HT_COUNT(lists); list++)
		for (size_t i = 0; i < counts[list]; i++, n++) {
			lines[n] = judge(a, &lists[list][i], n);
			n_found += lines[n].v.f.state == HT_STATE_FOUND;
			n_unknown += lines[n].v.f.state == HT_STATE_UNKNOWN;
		}
	qsort(lines, n, sizeof *lines, by_cost);
	for (size_t i = 0; i < n; i++)
		if (a->all || lines[i].v.f.state == HT_STATE_FOUND)
			HT_TRY(put_line(a, &lines[i]));
	if (a->words.no_memory)
		return ht_fail_nomem(a->run->ctx);
	HT_TRY(note_checks(a, n_found, n, n_unknown));
	HT_TRY(ht_findings_note(a->run, a->table));
	return ht_clocks_note_odd(a->run, a->table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_advice a = { .run = run,
		.parts = parts,
		.table = table,
		.all = ht_run_is(run, "view", "rules"),
		.words = { .arena = run->scratch } };
	HT_TRY(ht_frame_set_method(run, table,
	        "upper bounds on savings per step, largest first, symptoms last; they overlap"));
	ht_table_set_prose(table);
	return give(&a);
}
