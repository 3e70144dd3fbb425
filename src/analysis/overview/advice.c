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
 *   imbalance          most - least computing, idle time or communication over ranks > 5 % of the mean span; waits for ranks
 *                      do not count, and where they are not known communication must be twice as far apart as the others
 *   gpu-use            kernels run < 50 % of the steps on a device
 *   tensor-cores       compute capability 7 and more, no kernel runs on tensor cores, operators that could do have GPU time
 *   launch             > 20 % of the device's time idle because nothing was launched, waits for data not counted
 *   tiny-kernels       > half of the kernels < 10 us, and > 10 % idle so or while launches are under way
 *   sync               idle after calls that wait for the device, no longer than those, > 5 % of the steps
 *   slow-step          a step takes 1.5 times the median of its rank's steps, of which there are three
 *   slow-launch        > 5 % of the steps the device idles in calls that launch a kernel and take longer than launches do
 *   allocation         calls that allocate or free device memory > 1 % of the steps
 *   pageable           copies from or to pageable memory > 1 % of the steps
 *   small-grids        > 20 % of kernel time with less than a block per SM
 *   memory-limit       peak allocated > 90 % of the device's memory
 *   memory-growth      each of three steps and more leaves more memory allocated, by 0.1 % of the peak at least
 *   data-parallel      DataParallel.forward with several devices
 *   ddp-backend        DistributedDataParallel.forward over Gloo or MPI on GPUs, and no NCCL
 *   sync-batchnorm     20 calls of SyncBatchNorm or more
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
#include "verdict/rules.h"
#include "model/advice/npu_facts.h"
#include "model/rows/name_traits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status look(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);
static bool are_facts(const struct ht_part *part);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RULE, "rule", HT_STR, HT_KEY, "name of the rule", NULL)                         \
	COLUMN(COL_FINDING, "finding", HT_STR, HT_MEASURE, "what fired it, or why it does not",    \
	        NULL)                                                                              \
	COLUMN(COL_ADVICE, "advice", HT_STR, HT_MEASURE, "what could be done", NULL)               \
	COLUMN(COL_EVIDENCE, "evidence", HT_STR, HT_MEASURE, "events behind it, as rank:row",      \
	        NULL)                                                                              \
	COLUMN(COL_NEXT, "next", HT_STR, HT_MEASURE, "verb and options that show more", NULL)      \
	COLUMN(COL_COST_NS, "cost_ns", HT_DURATION, HT_MEASURE,                                    \
	        "what it costs of a step, at most; null: no time", NULL)                           \
	COLUMN(COL_SHARE, "share", HT_RATIO, HT_MEASURE, "that over the rank's mean step", NULL)   \
	COLUMN(COL_RANK, "rank", HT_I64, HT_MEASURE, "rank where it does most", NULL)              \
	COLUMN(COL_STATE, "state", HT_STR, HT_DETAIL, "fires, no, or cannot tell", NULL)
HT_COLUMNS(columns, COLUMNS);

static const struct ht_param params[] = {
	{ "view", HT_STR, "fired", "rules that fire, or all with why they do not", "fired|rules" },
};

const struct ht_analysis ht_analysis_advice = {
	.info = { .name = "advice",
	        .group = "conclusions",
	        .title = "Advice",
	        .question = "What could be done to make a step shorter, and what would that save?",
	        .method = "Rules with thresholds over what was measured; each that fires shows its "
	                  "events and what it costs of a step, at most.",
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
	return ht_rule_above(
	        a, HT_METRIC_LOADER, 0.05, "nothing but data loading has", ht_rule_steps(a));
}

static struct ht_rule_verdict slow_loader(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact longest = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact fact = ht_rule_fact_of(a, p, HT_METRIC_LOADS);
		if (fact.is_known && (!longest.is_known || fact.row_ns > longest.row_ns))
			longest = fact;
	}
	if (!longest.is_known)
		return v;
	v.state = longest.row_ns > 10000000 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "the longest of %" PRId64 " calls of the data loader takes %s",
	        longest.count, ht_words_time(&a->words, longest.row_ns));
	v.i_part = longest.i_part;
	v.row = longest.row;
	v.cost_ns = ht_rule_fact_of(a, longest.i_part, HT_METRIC_LOADER).part;
	return v;
}

static struct ht_rule_verdict small_messages(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_MESSAGES),
	                    comm = ht_rule_worst(a, HT_METRIC_COMM);
	struct ht_rule_verdict v = HT_NO_VERDICT;
	if (!fact.is_known)
		return v;
	bool many = ht_rule_share(a, &fact) > 0.2,
	     matters = comm.is_known && ht_rule_share(a, &comm) > 0.05;
	v.state = many && matters ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a,
	        "%" PRId64 " of %" PRId64
	        " collectives move less than 1 MiB, and communication that "
	        "nothing hides has %s of %s",
	        fact.part, fact.whole,
	        ht_rule_percent(a, comm.is_known ? ht_rule_share(a, &comm) : 0), ht_rule_steps(a));
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict gpu_use(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	const struct ht_gpu_use *gpu = &a->f.gpu;
	if (!gpu->window_ns)
		return v;
	size_t p = 0;
	while (p < a->parts->n && a->parts->list[p].rank != gpu->least_rank)
		p++;
	struct ht_rule_fact launch = ht_rule_fact_of(a, p, HT_METRIC_LAUNCH);
	if (launch.row == HT_NO_I64)
		launch = ht_rule_fact_of(a, p, HT_METRIC_UNDER_WAY);
	v.state = gpu->least < 0.5 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "kernels run %s of %s%s", ht_rule_percent(a, gpu->least),
	        a->f.has_steps ? "the steps' time" : ht_rule_steps(a),
	        a->parts->n > 1 ? HT_SAY(a, " on rank %" PRId64, gpu->least_rank) : "");
	v.i_part = p;
	v.row = launch.is_known ? launch.row : HT_NO_I64;
	v.step_cost_ns = (int64_t)((1 - gpu->least) * (double)ht_findings_mean_step(&a->f));
	return v;
}

/* There capabilities are numbers of another kind, and names of kernels say of matrix cores that they run, never that they do
 * not. */
static bool is_amd(const struct ht_advice *a)
{
	const struct ht_roster *roster = a->run->rosters[0];
	for (size_t i = 0; i < roster->n; i++)
		if (ht_job_is_amd(&roster->ranks[i].job))
			return true;
	return false;
}

/* Do kernels multiply matrices and not say on what? */
static bool has_unclear_kernels(const struct ht_advice *a)
{
	const struct ht_tops *kernels = &a->f.tops[HT_TOP_KERNEL];
	for (size_t i = 0; i < kernels->n; i++)
		if (ht_name_traits(kernels->list[i].name) & HT_TRAIT_TC_UNCLEAR)
			return true;
	return false;
}

static struct ht_rule_verdict tensor_cores(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	const struct ht_gpu_use *gpu = &a->f.gpu;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_TENSOR);
	if (!gpu->kernel_ns || gpu->major == HT_NO_I64 ||
	        (!gpu->tc_ns && (is_amd(a) || has_unclear_kernels(a))))
		return v;
	double share = fact.is_known ? ht_rule_share(a, &fact) : 0;
	bool could = gpu->major >= 7 && !gpu->tc_ns && share > 0;
	v.state = could ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding =
	        could ? HT_SAY(a,
	                        "no kernel runs on tensor cores, and %s of the GPU time is of operators that could use "
	                        "them",
	                        ht_rule_percent(a, share))
	              : HT_SAY(a, "%s of kernel time is on tensor cores",
	                        ht_rule_percent(a, ht_ratio(gpu->tc_ns, gpu->kernel_ns)));
	v.i_part = fact.is_known ? fact.i_part : SIZE_MAX;
	v.row = fact.is_known ? fact.row : HT_NO_I64;
	v.cost_ns = fact.is_known ? fact.part : HT_NO_I64;
	return v;
}

/* Idle with nothing launched, but for what a data loader kept the host from launching; or with launches under way, too. */
static struct ht_rule_fact idle_of_host(const struct ht_advice *a, bool under_way)
{
	struct ht_rule_fact most = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact idle = ht_rule_fact_of(a, p, HT_METRIC_LAUNCH);
		struct ht_rule_fact way = ht_rule_fact_of(a, p, HT_METRIC_UNDER_WAY);
		if (under_way)
			ht_sum(&idle.part, way.part);
		if (under_way && idle.row == HT_NO_I64)
			idle.row = way.row;
		if (idle.is_known &&
		        (!most.is_known || ht_rule_share(a, &idle) > ht_rule_share(a, &most)))
			most = idle;
	}
	return most;
}

static struct ht_rule_verdict launch(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_judge(a, idle_of_host(a, false), 0.2,
	        "with nothing launched the device idles",
	        "the time from its first to its last work, without waits for data");
	const struct ht_path_bound *host = &a->f.path[HT_CP_BOUND_CPU];
	double share = ht_ratio(host->most.ns, host->ns - host->slow_ns);
	if (v.state == HT_RULE_FIRES && host->most.name && share > HALF)
		v.finding = HT_SAY(a, "%s; of the host on the critical path %s is %s", v.finding,
		        ht_rule_percent(a, share), host->most.name);
	return v;
}

static struct ht_rule_verdict tiny_kernels(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_TINY), idle = idle_of_host(a, true);
	struct ht_rule_verdict v = HT_NO_VERDICT;
	if (!fact.is_known || !idle.is_known)
		return v;
	bool many = ht_rule_share(a, &fact) > 0.5, matters = ht_rule_share(a, &idle) > 0.1;
	struct ht_rule_fact steps = ht_rule_fact_of(a, fact.i_part, HT_METRIC_STEPS);
	v.state = many && matters ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a,
	        "%" PRId64 " of %" PRId64 " kernels a step take less than 10 µs, and with nothing "
	        "launched, or launches under way, the device idles %s of its time",
	        steps.count ? fact.part / steps.count : fact.part,
	        steps.count ? fact.whole / steps.count : fact.whole,
	        ht_rule_percent(a, ht_rule_share(a, &idle)));
	v.i_part = idle.i_part;
	v.row = idle.row;
	v.cost_ns = idle.part;
	return v;
}

static struct ht_rule_verdict sync_calls(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_SYNC, 0.05,
	        "after calls that wait for the device it idles, no longer than they took,",
	        a->f.has_steps ? "the steps until the next work" : "the time until the next work");
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SYNC);
	if (v.state == HT_RULE_FIRES)
		v.finding = HT_SAY(a, "%s: %" PRId64 " such calls, %s most of all", v.finding,
		        fact.count, fact.name ? fact.name : "one");
	return v;
}

static struct ht_rule_verdict slow_launch(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_SLOW_CALL, 0.05,
	        "in calls that launch a kernel and take long the device idles", ht_rule_steps(a));
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SLOW_CALL);
	if (v.state == HT_RULE_FIRES)
		v.finding = HT_SAY(a, "%s: %s%s of %s", v.finding,
		        fact.count > 1
		                ? HT_SAY(a, "%" PRId64 " such calls, the longest ", fact.count)
		                : "",
		        fact.name ? fact.name : "one", ht_words_time(&a->words, fact.row_ns));
	return v;
}

/* Of several ranks the one that has more of something else than communication: the others wait for it. */
static struct ht_rule_verdict slow_step(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SLOW_STEP);
	struct ht_rule_fact comm = ht_rule_worst(a, HT_METRIC_SLOW_COMM);
	if (!fact.is_known)
		return v;
	if (!fact.count && comm.is_known)
		fact = comm;
	v.state = fact.count ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = fact.count ? fact.name : "no step takes 1.5 times the median of its rank";
	if (fact.count && a->parts->n > 1)
		v.finding = HT_SAY(
		        a, "on rank %" PRId64 " %s", a->parts->list[fact.i_part].rank, v.finding);
	if (fact.count > 1)
		v.finding = HT_SAY(a, "%s; it is the longest of %" PRId64, v.finding, fact.count);
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

static struct ht_rule_verdict allocation(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_MALLOC, 0.01,
	        "calls that allocate or free device memory have", ht_rule_steps(a));
}

static struct ht_rule_verdict pageable(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_PAGEABLE, 0.01, "copies from or to pageable memory have",
	        ht_rule_steps(a));
}

static struct ht_rule_verdict small_grids(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_GRID, 0.2, "kernels with less than a block per SM have",
	        "the kernel time");
}

static struct ht_rule_verdict memory_limit(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(
	        a, HT_METRIC_MEMORY, 0.9, "the peak of allocated memory is", "the device's memory");
	v.cost_ns = HT_NO_I64;
	return v;
}

static struct ht_rule_verdict memory_growth(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_GROWTH);
	if (!fact.is_known)
		return v;
	v.state = fact.part > 0 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = fact.part > 0 ? fact.name : "memory does not grow from step to step";
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict data_parallel(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_DP);
	if (!fact.is_known)
		return v;
	v.state = fact.count && fact.whole > 1 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding =
	        HT_SAY(a, "DataParallel.forward runs %" PRId64 " times over %" PRId64 " devices",
	                fact.count, fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict ddp_backend(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact ddp = ht_rule_worst(a, HT_METRIC_DDP),
	                    gloo = ht_rule_worst(a, HT_METRIC_GLOO);
	bool nccl = has_events(a, HT_METRIC_NCCL), other = has_events(a, HT_METRIC_GLOO);
	if (!ddp.is_known || a->f.gpu.major == HT_NO_I64 || !a->f.n_devices ||
	        (ddp.count && !nccl && !other))
		return v;
	v.state = ddp.count && other && !nccl && a->f.gpu.major > 3 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = !ddp.count ? "no calls of DistributedDataParallel"
	            : nccl     ? "NCCL is used"
	                       : HT_SAY(a, "DistributedDataParallel communicates by %s",
                                     gloo.name ? gloo.name : "another backend");
	v.i_part = gloo.i_part;
	v.row = gloo.row;
	v.cost_ns = gloo.is_known ? gloo.part : HT_NO_I64;
	return v;
}

static struct ht_rule_verdict sync_batchnorm(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BATCHNORM);
	if (!fact.is_known)
		return v;
	v.state = fact.count >= 20 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%" PRId64 " calls of SyncBatchNorm", fact.count);
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

static const struct ht_rule rules[] = {
	{ "slow-rank", ht_rule_slow_rank,
	        "look at what that rank does more of: its data, its clocks, its neighbours on the host",
	        "stragglers", "all ranks, two steps, collectives" },
	{ "late-votes", ht_rule_late_votes, "look at what that rank does before the collective",
	        "stragglers --view collectives", "collectives on all of three and more ranks" },
	{ "data-loading", data_loading,
	        "raise num_workers of the DataLoader, prefetch, or do less in the main process",
	        "steps", "data loaders of PyTorch in steps" },
	{ "slow-loader", slow_loader,
	        "look at storage, decoding and pinning behind that call; pin_memory, more workers",
	        "events --where 'name ~ DataLoader'", "data loaders of PyTorch in steps" },
	{ "slow-step", slow_step,
	        "do such work beside the steps or less often: saving, evaluation, garbage collection, first calls",
	        "steps --sort -total_ns", "three steps" },
	{ "communication", ht_rule_communication,
	        "overlap it with the backward pass, larger batches, gradient accumulation or compression "
	        "(mind convergence)",
	        "comm-overlap", "communication in steps" },
	{ "waiting", ht_rule_waiting,
	        "even out what ranks do between collectives: lengths of inputs, garbage collection, shared hosts",
	        "collectives --view calls --sort -skew_ns", "collectives on all ranks" },
	{ "small-messages", small_messages,
	        "larger buckets (bucket_cap_mb), fused collectives, less sharding", "collectives",
	        "communication kernels that say their sizes" },
	{ "launch", launch,
	        "the host is too slow for the device: torch.compile, CUDA graphs, larger batches, less Python",
	        "idle-breakdown --by device", "GPU work with its launches" },
	{ "tiny-kernels", tiny_kernels,
	        "CUDA graphs or torch.compile: fewer launches, longer kernels", "launch-stats",
	        "kernels with their launches" },
	{ "sync", sync_calls,
	        "avoid .item(), .cpu(), printing and synchronising inside the step, or do it once at its end",
	        "critical-path", "calls that wait for the device" },
	{ "slow-launch", slow_launch,
	        "a first launch loads the kernel's code: warm up before recording; else look for threads "
	        "that hold the driver's lock, and for graphs that are uploaded again",
	        "launch-stats", "kernels with their launches" },
	{ "imbalance", ht_rule_imbalance, "divide the work evenly, or compare the two ranks",
	        "temporal-breakdown",
	        "two ranks with GPU work of as many steps, of which nothing was lost" },
	{ "gpu-use", gpu_use,
	        "larger batches (mind convergence), or remove what the device waits for",
	        "idle-breakdown --by device", "kernels" },
	{ "tensor-cores", tensor_cores,
	        "automatic mixed precision (torch.autocast), or TF32: torch.set_float32_matmul_precision",
	        "operators", "kernels and the compute capability of the device" },
	{ "small-grids", small_grids, "larger batches or fused kernels: SMs have nothing to do",
	        "kernels", "kernels that say their blocks per SM" },
	{ "allocation", allocation,
	        "no empty_cache() in steps; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; fixed shapes",
	        "events --where 'name ~ Malloc or name ~ Free'", "calls that allocate or free" },
	{ "pageable", pageable, "pin_memory=True in the DataLoader and non_blocking=True copies",
	        "memory-bandwidth", "copies that say their memory" },
	{ "memory-limit", memory_limit,
	        "activation checkpointing, mixed precision, a smaller batch, or sharding",
	        "memory-curve --view peaks",
	        "profile_memory, and the size of the device's memory" },
	{ "memory-growth", memory_growth,
	        "drop what steps leave behind: detach() or item() what is logged, clear lists and caches",
	        "memory-stats --sort -self_kept_bytes", "profile_memory, and three steps" },
	{ "data-parallel", data_parallel, "use DistributedDataParallel: one process per GPU",
	        "events --where 'name ~ DataParallel'", "calls of DataParallel" },
	{ "ddp-backend", ddp_backend, "use the NCCL backend on GPUs",
	        "events --where 'name ~ gloo or name ~ mpi'",
	        "calls of DistributedDataParallel and its backend" },
	{ "sync-batchnorm", sync_batchnorm,
	        "plain batch norm where batches are large enough, or fewer of them",
	        "operators --where 'name ~ SyncBatchNorm'", "calls of SyncBatchNorm" },
};

/* ---- rows ---- */

struct line {
	const struct ht_rule *rule;
	struct ht_rule_verdict v;
	int64_t cost_ns; /* of a step; HT_NO_I64: none */
	double share;    /* of a step; negative: none */
	size_t order;    /* of the rules */
	bool is_symptom; /* says that something is wrong, and another rule or none says what */
};

static struct line judge(struct ht_advice *a, const struct ht_rule *rule)
{
	struct line line = { rule, rule->judge(a), HT_NO_I64, -1, 0, false };
	line.is_symptom = rule->judge == gpu_use ||
	                  (rule->judge == ht_rule_imbalance && (a->f.latest || a->f.slow.n));
	struct ht_rule_fact steps = { .count = 0 };
	if (line.v.i_part < a->parts->n)
		steps = ht_rule_fact_of(a, line.v.i_part, HT_METRIC_STEPS);
	if (line.v.step_cost_ns != HT_NO_I64)
		line.cost_ns = line.v.step_cost_ns;
	else if (line.v.cost_ns != HT_NO_I64 && steps.count > 0)
		line.cost_ns = line.v.cost_ns / steps.count;
	if (line.cost_ns != HT_NO_I64 && steps.count > 0)
		line.share = ht_ratio(line.cost_ns, steps.part / steps.count);
	if (line.v.state == HT_RULE_FIRES && line.share >= 0 && line.share < WORTH_IT) {
		line.v.state = HT_RULE_NO;
		line.v.finding = HT_SAY(a, "%s, but that costs %s of a step", line.v.finding,
		        ht_rule_percent(a, line.share));
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

/* What fires comes first, then what costs most; symptoms after their causes. */
static int by_cost(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->v.state != b->v.state)
		return a->v.state > b->v.state ? -1 : 1;
	bool both_cost = a->cost_ns != HT_NO_I64 && b->cost_ns != HT_NO_I64;
	if (a->v.state == HT_RULE_FIRES && both_cost && a->is_symptom != b->is_symptom)
		return a->is_symptom ? 1 : -1;
	if (a->v.state == HT_RULE_FIRES && rounded(a->cost_ns) != rounded(b->cost_ns))
		return a->cost_ns > b->cost_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void put_line(struct ht_advice *a, const struct line *line)
{
	static const char *const states[] = { "cannot tell", "no", "fires" };
	const struct ht_rule_verdict *v = &line->v;
	bool fires = v->state == HT_RULE_FIRES, placed = v->i_part < a->parts->n;
	int64_t rank = placed ? a->parts->list[v->i_part].rank : HT_NO_I64;
	const char *why = v->state == HT_RULE_CANNOT_TELL
	                          ? HT_SAY(a, "cannot tell: needs %s", line->rule->needs)
	                          : v->finding;
	if (fires && line->share >= 0)
		why = HT_SAY(a, "%s; costs at most %s%s (%s)", why,
		        ht_words_time(&a->words, line->cost_ns), a->f.has_steps ? " of a step" : "",
		        ht_rule_percent(a, line->share));
	ht_table_row(a->table);
	ht_table_put_str(a->table, COL_RULE, line->rule->name);
	ht_table_put_str(a->table, COL_FINDING,
	        fires || v->state == HT_RULE_CANNOT_TELL ? why : HT_SAY(a, "no: %s", why));
	const char *advice = v->advice ? v->advice : line->rule->advice;
	ht_table_put_str(a->table, COL_ADVICE, fires ? advice : NULL);
	ht_table_put_str(a->table, COL_EVIDENCE,
	        fires && placed && v->row != HT_NO_I64
	                ? HT_SAY(a, "%" PRId64 ":%" PRId64, rank, v->row)
	                : NULL);
	ht_table_put_str(a->table, COL_NEXT, fires ? line->rule->next : NULL);
	ht_table_put_known(a->table, COL_COST_NS, fires ? line->cost_ns : HT_NO_I64, HT_NO_I64);
	if (fires && line->share >= 0)
		ht_table_put_f64(a->table, COL_SHARE, line->share);
	else
		ht_table_put_null(a->table, COL_SHARE);
	ht_table_put_known(a->table, COL_RANK, fires ? rank : HT_NO_I64, HT_NO_I64);
	ht_table_put_str(a->table, COL_STATE, states[v->state]);
}

static enum ht_status give(struct ht_advice *a)
{
	size_t n_fired = 0, n_unknown = 0, n_npu, n = HT_COUNT(rules);
	const struct ht_rule *npu = ht_rules_npu(a, &n_npu);
	struct line *lines = ht_arena_alloc(a->run->scratch, (n + n_npu) * sizeof *lines);
	if (!lines)
		return ht_fail_nomem(a->run->ctx);
	HT_TRY(ht_findings_make(a->run, a->parts, &a->f));
	if (a->run->clocks[0])
		HT_TRY(ht_votes_count(a->run, a->parts, HT_FOUND_CALLS, &a->votes));
	for (size_t i = 0; i < n + n_npu; i++) {
		lines[i] = judge(a, i < n ? &rules[i] : &npu[i - n]);
		lines[i].order = i;
		n_fired += lines[i].v.state == HT_RULE_FIRES;
		n_unknown += lines[i].v.state == HT_RULE_CANNOT_TELL;
	}
	n += n_npu;
	qsort(lines, n, sizeof *lines, by_cost);
	for (size_t i = 0; i < n; i++)
		if (a->all || lines[i].v.state == HT_RULE_FIRES)
			put_line(a, &lines[i]);
	if (a->words.no_memory)
		return ht_fail_nomem(a->run->ctx);
	HT_TRY(ht_table_add_note(a->table,
	        "%zu of %zu rules fire; for %zu the traces lack the data (--view rules)", n_fired,
	        n, n_unknown));
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
	HT_TRY(ht_frame_set_method(run, table, "costs are of a step, at most"));
	ht_table_set_prose(table);
	return give(&a);
}
