/*
 * rules_npu.c - rules of advice about NPUs; what they are decided by is in model/advice/npu_facts.h.
 */
#include "verdict/rules.h"

#include <inttypes.h>
#include <math.h>

/* ---- ranks ---- */

/* What ranks are compared by; NAN: the fact does not say. */
typedef double (*value_fn)(const struct ht_rule_fact *fact);

/* A metric over the ranks that know it, the first of equals. */
struct spread {
	size_t n;
	struct ht_rule_fact least, most; /* not known when n is 0 */
	double sum;
};

static struct spread spread_of(const struct ht_advice *a, enum ht_metric metric, value_fn value)
{
	struct spread s = { .least = { .row = HT_NO_I64 }, .most = { .row = HT_NO_I64 } };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact fact = ht_rule_fact_of(a, p, metric);
		double here = value(&fact);
		if (!fact.is_known || isnan(here))
			continue;
		if (!s.n || here < value(&s.least))
			s.least = fact;
		if (!s.n || here > value(&s.most))
			s.most = fact;
		s.sum += here;
		s.n++;
	}
	return s;
}

static double part_of(const struct ht_rule_fact *fact)
{
	return (double)fact->part;
}

static double count_of(const struct ht_rule_fact *fact)
{
	return (double)fact->count;
}

static double rate_of(const struct ht_rule_fact *fact)
{
	return ht_ratio(fact->part, fact->whole);
}

static double part_per_step(const struct ht_rule_fact *fact)
{
	return fact->count > 0 ? (double)fact->part / (double)fact->count : NAN;
}

static double whole_per_step(const struct ht_rule_fact *fact)
{
	return fact->count > 0 ? (double)fact->whole / (double)fact->count : NAN;
}

/* A verdict about what was measured, which costs its part; none when it was not. */
static struct ht_rule_verdict verdict_on(const struct ht_rule_fact *fact)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	if (!fact->is_known)
		return v;
	v.i_part = fact->i_part;
	v.row = fact->row;
	v.cost_ns = fact->part;
	return v;
}

/* ---- kernels ---- */

static struct ht_rule_verdict ai_cpu(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_AI_CPU);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.count && fact.row_ns >= 20000 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%" PRId64 " kernels run on the AI CPU%s", fact.count,
	        fact.count ? HT_SAY(a, ", the longest, %s, for %s", fact.name ? fact.name : "one",
	                             ht_words_time(&a->words, fact.row_ns))
	                   : "");
	return v;
}

static struct ht_rule_verdict dynamic_shapes(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = spread_of(a, HT_METRIC_STATIC, part_of).least;
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_NO : HT_RULE_FIRES;
	v.finding = HT_SAY(
	        a, "%" PRId64 " of %" PRId64 " kernels have static shapes", fact.part, fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

/* Rules of time that a metric adds up, with how many kernels it is of. */
static struct ht_rule_verdict of_kernels(
        struct ht_advice *a, enum ht_metric metric, const char *what)
{
	struct ht_rule_fact fact = ht_rule_worst(a, metric);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%s %s%s", what, ht_words_time(&a->words, fact.part),
	        fact.part && fact.name ? HT_SAY(a, ", %s most of all", fact.name) : "");
	return v;
}

static struct ht_rule_verdict no_bound(struct ht_advice *a)
{
	return of_kernels(a, HT_METRIC_NO_BOUND,
	        "no pipe is busy more than 80 % of the time in some kernels of more than 20 µs: even the "
	        "busiest one rests");
}

static struct ht_rule_verdict vector_use(struct ht_advice *a)
{
	return of_kernels(a, HT_METRIC_VECTOR,
	        "vector cores neither compute nor move data, in types of kernels with 1 % of the time, for");
}

static struct ht_rule_verdict cube_use(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_CUBE);
	struct ht_rule_verdict v = of_kernels(a, HT_METRIC_CUBE,
	        "to be bound by the cube (80 %) or by memory (95 %) matrix products of 100 MB lack");
	if (v.state == HT_RULE_FIRES)
		v.finding = HT_SAY(a,
		        "%s; %" PRId64 " of them have an inner axis that is no multiple of 256",
		        v.finding, fact.count);
	return v;
}

static struct ht_rule_verdict flash_attention(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_ATTENTION);
	struct ht_rule_verdict v = of_kernels(a, HT_METRIC_ATTENTION,
	        "to be bound by memory (80 %), vectors (forward) or fixpipe (backward, 75 %) kernels of "
	        "flash attention lack");
	if (v.state == HT_RULE_FIRES && fact.count)
		v.finding = HT_SAY(a,
		        "%s; in %" PRId64 " of them a head or the sequence is no multiple of 128",
		        v.finding, fact.count);
	return v;
}

static struct ht_rule_verdict block_dim(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BLOCKS);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding =
	        fact.part ? HT_SAY(a,
	                            "the blocks of %" PRId64
	                            " kernels are no multiple of the cores, of which some rest: %s "
	                            "of these kernels' time, most of all %s",
	                            fact.count, ht_words_time(&a->words, fact.part),
	                            fact.name ? fact.name : "one")
	                  : "the blocks of all kernels fill the cores";
	return v;
}

static struct ht_rule_verdict sequences(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SEQUENCES);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding =
	        fact.part ? HT_SAY(a, "%" PRId64 " times follow each other %s", fact.count,
	                            fact.name ? fact.name : "kernels")
	                  : "no sequence of kernels comes more than 5 times, has 1 % of the steps "
	                    "and is bound by the host or by memory";
	return v;
}

static struct ht_rule_verdict affinity(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_AFFINITY);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = fact.count ? HT_SAY(a, "torch_npu has a fused operator: %s",
	                                 fact.name ? fact.name : "")
	                       : "no operators that torch_npu has a fused one for";
	return v;
}

static struct ht_rule_verdict format_changes(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_FORMAT, 0.05,
	        "kernels that only change formats (TransData) have", "the kernel time");
}

static struct ht_rule_verdict core_clock(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_FREQUENCY, 0.05,
	        "as the AI core's clock is below its highest kernels lose", "their time");
}

/* ---- the host ---- */

static struct ht_rule_verdict op_compile(struct ht_advice *a)
{
	struct ht_rule_fact most = spread_of(a, HT_METRIC_COMPILE, count_of).most;
	struct ht_rule_verdict v = verdict_on(&most);
	if (!most.is_known)
		return v;
	v.state = most.count >= 20 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(
	        a, "%" PRId64 " calls compile operators (aclopCompileAndExecute)", most.count);
	return v;
}

static struct ht_rule_verdict launch_blocking(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BLOCKING);
	if (!fact.is_known)
		return v;
	int64_t launches = ht_rule_fact_of(a, fact.i_part, HT_METRIC_LAUNCHES).count;
	if (!launches)
		return v;
	v.state = fact.count > launches / 2 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding =
	        HT_SAY(a, "after %" PRId64 " of %" PRId64 " launches the host waits for the stream",
	                fact.count, launches);
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

static struct ht_rule_verdict garbage(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_GC);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.count ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%" PRId64 " garbage collections of more than a millisecond take %s",
	        fact.count, ht_words_time(&a->words, fact.part));
	return v;
}

static struct ht_rule_verdict fused_optimizer(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_OPTIMIZER);
	struct ht_rule_verdict v = verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.state = fact.count ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = fact.count ? HT_SAY(a, "%s takes %s on the host, and is not fused for NPUs",
	                                 fact.name ? fact.name : "the optimizer",
	                                 ht_words_time(&a->words, fact.part))
	                       : "the optimizer is fused for NPUs";
	return v;
}

static struct ht_rule_verdict free_time(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_FREE);
	if (!fact.is_known || !fact.count)
		return v;
	/* the exporter's step begins with the first work, ours with the host's */
	v.state = ht_rule_share(a, &fact) > 0.1 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a,
	        "as the exporter says the device neither computes nor communicates for %s of the %s from "
	        "a step's first work to its last",
	        ht_words_time(&a->words, fact.part / fact.count),
	        ht_words_time(&a->words, fact.whole / fact.count));
	v.i_part = fact.i_part;
	v.step_cost_ns = fact.part / fact.count;
	return v;
}

static struct ht_rule_verdict environment(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact most = spread_of(a, HT_METRIC_ENVIRONMENT, count_of).most;
	if (!most.is_known)
		return v;
	v.state = most.count ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = most.count ? HT_SAY(a, "not as recommended: %s", most.name ? most.name : "")
	                       : "all recorded settings are as recommended";
	v.i_part = most.i_part;
	return v;
}

/* ---- communication ---- */

static struct ht_rule_verdict small_packets(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact sdma = ht_rule_worst(a, HT_METRIC_SMALL_SDMA);
	struct ht_rule_fact rdma = ht_rule_worst(a, HT_METRIC_SMALL_RDMA);
	struct ht_rule_fact comm = ht_rule_worst(a, HT_METRIC_COMM);
	if (!sdma.is_known && !rdma.is_known)
		return v;
	bool over_rdma = rdma.is_known &&
	                 (!sdma.is_known || ht_rule_share(a, &rdma) > ht_rule_share(a, &sdma));
	struct ht_rule_fact fact = over_rdma ? rdma : sdma;
	double exposed = comm.is_known ? ht_rule_share(a, &comm) : 0;
	bool many = ht_rule_share(a, &fact) > 0.2;
	v.state = many && exposed > 0.05 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a,
	        "%" PRId64 " of %" PRId64
	        " packets over %s have less than %s, and communication that "
	        "nothing hides has %s of the steps",
	        fact.part, fact.whole, over_rdma ? "RDMA" : "SDMA", over_rdma ? "1 MB" : "16 MB",
	        ht_rule_percent(a, exposed));
	v.i_part = fact.i_part;
	return v;
}

static struct ht_rule_verdict slow_link(struct ht_advice *a)
{
	static const struct {
		enum ht_metric metric;
		const char *name;
	} kinds[] = { { HT_METRIC_SDMA_RATE, "SDMA" }, { HT_METRIC_RDMA_RATE, "RDMA" } };
	struct ht_rule_verdict v = HT_NO_VERDICT;
	double widest = -1;
	for (size_t k = 0; k < HT_COUNT(kinds); k++) {
		struct spread s = spread_of(a, kinds[k].metric, rate_of);
		double least = rate_of(&s.least), most = rate_of(&s.most);
		double gap = s.n > 1 ? (most - least) / (s.sum / (double)s.n) : -1;
		if (gap <= widest)
			continue;
		widest = gap;
		v.state = gap >= 0.05 ? HT_RULE_FIRES : HT_RULE_NO;
		v.i_part = s.least.i_part;
		v.finding = HT_SAY(a,
		        "over %s rank %" PRId64 " has %.2f GB/s, rank %" PRId64
		        " %.2f GB/s: %s of the mean apart",
		        kinds[k].name, a->parts->list[s.least.i_part].rank, least,
		        a->parts->list[s.most.i_part].rank, most, ht_rule_percent(a, gap));
	}
	return v;
}

static struct ht_rule_verdict rdma_retries(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact most = spread_of(a, HT_METRIC_RDMA_LONGEST, part_of).most;
	if (!most.is_known)
		return v;
	v.state = most.part > 4000000000 ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a, "%s moves data over RDMA for %s",
	        most.name ? most.name : "an operation", ht_words_time(&a->words, most.part));
	v.i_part = most.i_part;
	v.cost_ns = most.part;
	return v;
}

static struct ht_rule_verdict unaligned(struct ht_advice *a)
{
	struct ht_rule_verdict v = HT_NO_VERDICT;
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_UNALIGNED);
	if (!fact.is_known)
		return v;
	v.state = fact.part ? HT_RULE_FIRES : HT_RULE_NO;
	v.finding = HT_SAY(a,
	        "%" PRId64 " of %" PRId64
	        " transfers over SDMA have a size that is no multiple of 512 bytes",
	        fact.part, fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict contention(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_CONTENTION, 0,
	        "below 14.4 GB/s while a matrix product runs are",
	        "the time of transfers over SDMA");
	/* transfers of several planes at once take no more of the step than the step has */
	v.cost_ns = HT_NO_I64;
	return v;
}

/* Of steps that only the exporter knows of some rank. */
static struct ht_rule_verdict uneven_steps(struct ht_advice *a)
{
	static const struct {
		enum ht_metric metric;
		const char *words;
	} kinds[] = { { HT_METRIC_COMPUTING, "computing" }, { HT_METRIC_FREE, "free time" },
		{ HT_METRIC_EXPOSED, "communication that nothing hides" } };
	struct ht_rule_verdict v = HT_NO_VERDICT;
	int64_t widest = -1;
	/* who computes less waits more: what differs first is the reason */
	for (size_t k = 0; k < HT_COUNT(kinds) && v.state != HT_RULE_FIRES; k++) {
		struct spread s = spread_of(a, kinds[k].metric, part_per_step);
		if (s.n < 2 || s.n < a->parts->n)
			continue;
		int64_t apart_ns =
		        ht_sub_sat(s.most.part / s.most.count, s.least.part / s.least.count);
		double all = spread_of(a, kinds[k].metric, whole_per_step).sum;
		if (apart_ns <= widest)
			continue;
		double share = all > 0 ? (double)apart_ns / (all / (double)s.n) : 0;
		widest = apart_ns;
		v.state = share > 0.05 ? HT_RULE_FIRES : HT_RULE_NO;
		v.i_part = s.most.i_part;
		v.step_cost_ns = widest;
		v.finding = HT_SAY(a,
		        "%s, as the exporter says: rank %" PRId64
		        " has %s a step more than rank %" PRId64 ", %s of the mean step",
		        kinds[k].words, a->parts->list[s.most.i_part].rank,
		        ht_words_time(&a->words, widest), a->parts->list[s.least.i_part].rank,
		        ht_rule_percent(a, share));
	}
	return v;
}

/* ---- the rules ---- */

static const struct ht_rule rules[] = {
	{ "uneven-steps", uneven_steps,
	        "divide the work evenly (stages of a pipeline, too), or compare the two ranks",
	        "distributed --view steps", "step_trace_time of two ranks and all" },
	{ "free-time", free_time, "look at what the host does meanwhile", "steps",
	        "step_trace_time" },
	{ "ai-cpu", ai_cpu,
	        "use types and operators that AI cores have: float for double, supported dtypes",
	        "kernels --by core", "kernels that say their Accelerator Core" },
	{ "no-bound", no_bound, "tune these operators: tiling, fusion, shapes",
	        "kernels --by counters", "ratios of pipes (aic_metrics=PipeUtilization)" },
	{ "vector-use", vector_use, "fuse these operators, or tune them", "kernels --by counters",
	        "ratios of pipes of vector cores" },
	{ "cube-use", cube_use, "pad inner axes to multiples of 256, tune the tiling",
	        "kernels --by counters", "matrix products of 100 MB with shapes and ratios" },
	{ "flash-attention", flash_attention,
	        "pad heads and sequences to multiples of 128, tune the tiling",
	        "kernels --by counters", "kernels of flash attention with ratios of pipes" },
	{ "block-dim", block_dim, "choose shapes or tilings whose blocks fill the cores",
	        "kernels --by properties", "cube_utilization(%), aicore_time(us) and Block Dim" },
	{ "fusible-kernels", sequences,
	        "fuse them (torch.compile, an operator of your own), or launch them faster",
	        "kernels --by type", "kernels that say their Type" },
	{ "fused-operators", affinity, "call these of torch_npu instead", "operators",
	        "operators that are linked to their work" },
	{ "format-changes", format_changes,
	        "torch.npu.config.allow_internal_format = False, or one memory format for the model",
	        "kernels --where 'name ~ TransData'", "kernels that say their Type" },
	{ "dynamic-shapes", dynamic_shapes,
	        "torch_npu.npu.set_compile_mode(jit_compile=False), allow_internal_format = False",
	        "kernels", "kernels that say their OP State" },
	{ "core-clock", core_clock, "check temperature and power of the device",
	        "events --where 'name = \"AI Core Freq\"'", "counters of AI Core Freq" },
	{ "op-compile", op_compile, "torch_npu.npu.set_compile_mode(jit_compile=False)",
	        "events --where 'name ~ aclopCompileAndExecute'", "calls of CANN in steps" },
	{ "launch-blocking", launch_blocking, "unset ASCEND_LAUNCH_BLOCKING",
	        "events --where 'name ~ aclrtSynchronizeStream'", "calls of CANN in steps" },
	{ "gc", garbage, "gc.freeze() after warm-up, gc.set_threshold, or collect between steps",
	        "events --where 'name = GC'", "garbage collections (gc_detect_threshold)" },
	{ "fused-optimizer", fused_optimizer, "use the NpuFused optimizer of the same kind",
	        "operators --where 'name ~ Optimizer'", "optimizers in steps" },
	{ "slow-link", slow_link, "check the links and network cards of that rank",
	        "distributed --view bandwidth", "communication.json of two ranks" },
	{ "small-packets", small_packets,
	        "larger batches or accumulation, less sharding (ZeRO-1 or 2), larger buckets",
	        "distributed --view bandwidth", "communication.json with sizes of packets" },
	{ "unaligned", unaligned, "make sizes of messages multiples of 512 bytes",
	        "events --where 'args.transport type = SDMA'", "transfers that say their size" },
	{ "contention", contention, "weigh overlapping against what it slows down",
	        "distributed --view bandwidth",
	        "transfers that say their speed, and matrix products" },
	{ "rdma-retries", rdma_retries,
	        "look for retransmission: network cards, switches, timeouts",
	        "distributed --view bandwidth", "communication.json with transfers over RDMA" },
	{ "environment", environment,
	        "ASCEND_GLOBAL_LOG_LEVEL=3, ACLNN_CACHE_LIMIT=100000, HOST_CACHE_CAPACITY=20, "
	        "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; ASCEND_LAUNCH_BLOCKING and HCCL_* unset",
	        "info", "profiler_metadata.json with ENV_VARIABLES" },
};

const struct ht_rule *ht_rules_npu(const struct ht_advice *a, size_t *ret_n)
{
	*ret_n = 0;
	for (int metric = HT_METRIC_AI_CPU; metric < HT_N_METRICS; metric++)
		if (ht_rule_worst(a, (enum ht_metric)metric).is_known)
			*ret_n = HT_COUNT(rules);
	return rules;
}
