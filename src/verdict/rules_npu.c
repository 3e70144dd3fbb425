/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_npu.c - rules of advice about NPUs; what they are decided by is in model/advice/npu_facts.h.
 */
#include "verdict/rules.h"

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

static void put_counts(struct ht_finding *f, int64_t count, int64_t whole)
{
	ht_finding_count(f, "count", count);
	ht_finding_count(f, "whole", whole);
}

/* ---- kernels ---- */

static struct ht_rule_verdict ai_cpu(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_AI_CPU);
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.count && fact.row_ns >= 20000);
	ht_finding_subject(&v.f, "kernel", fact.name);
	ht_finding_count(&v.f, "count", fact.count);
	ht_finding_text(&v.f, "name", fact.count ? fact.name : NULL);
	ht_finding_ns(&v.f, "longest", fact.row_ns);
	return v;
}

static struct ht_rule_verdict dynamic_shapes(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = spread_of(a, HT_METRIC_STATIC, part_of).least;
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(!fact.part);
	put_counts(&v.f, fact.part, fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

/* Rules of time that a metric adds up. */
static struct ht_rule_verdict of_kernels(struct ht_advice *a, enum ht_metric metric)
{
	struct ht_rule_fact fact = ht_rule_worst(a, metric);
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.part);
	ht_finding_value(&v.f, (double)fact.part, "ns");
	ht_finding_subject(&v.f, "kernel", fact.part ? fact.name : NULL);
	ht_finding_text(&v.f, "name", fact.part ? fact.name : NULL);
	return v;
}

static struct ht_rule_verdict no_bound(struct ht_advice *a)
{
	return of_kernels(a, HT_METRIC_NO_BOUND);
}

static struct ht_rule_verdict vector_use(struct ht_advice *a)
{
	return of_kernels(a, HT_METRIC_VECTOR);
}

/* With how many of the kernels have a shape that does not fit. */
static struct ht_rule_verdict of_shapes(struct ht_advice *a, enum ht_metric metric)
{
	struct ht_rule_verdict v = of_kernels(a, metric);
	int64_t count = ht_rule_worst(a, metric).count;
	if (v.f.state == HT_STATE_FOUND)
		ht_finding_count(&v.f, "count", count ? count : HT_NO_I64);
	return v;
}

static struct ht_rule_verdict cube_use(struct ht_advice *a)
{
	return of_shapes(a, HT_METRIC_CUBE);
}

static struct ht_rule_verdict flash_attention(struct ht_advice *a)
{
	return of_shapes(a, HT_METRIC_ATTENTION);
}

static struct ht_rule_verdict block_dim(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BLOCKS);
	struct ht_rule_verdict v = of_kernels(a, HT_METRIC_BLOCKS);
	ht_finding_count(&v.f, "count", fact.count);
	ht_finding_count(&v.f, "blocks", fact.aux[0]);
	ht_finding_count(&v.f, "cores", fact.aux[1]);
	return v;
}

static struct ht_rule_verdict sequences(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_SEQUENCES);
	struct ht_rule_verdict v = of_kernels(a, HT_METRIC_SEQUENCES);
	ht_finding_count(&v.f, "count", fact.count);
	ht_finding_text(&v.f, "by_host", fact.aux[0] ? "" : NULL);
	ht_finding_ratio(&v.f, "run_share", 1e-6 * (double)fact.aux[1]);
	return v;
}

static struct ht_rule_verdict affinity(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_AFFINITY);
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.part);
	ht_finding_subject(&v.f, "operator", fact.name);
	ht_finding_text(&v.f, "name", fact.name);
	return v;
}

static struct ht_rule_verdict format_changes(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_FORMAT, 0.05, "of.kernel_time");
}

static struct ht_rule_verdict core_clock(struct ht_advice *a)
{
	return ht_rule_above(a, HT_METRIC_FREQUENCY, 0.05, "of.kernel_time");
}

/* ---- the host ---- */

static struct ht_rule_verdict op_compile(struct ht_advice *a)
{
	struct ht_rule_fact most = spread_of(a, HT_METRIC_COMPILE, count_of).most;
	struct ht_rule_verdict v = ht_rule_verdict_on(&most);
	if (!most.is_known)
		return v;
	v.f.state = ht_rule_state(most.count >= 20);
	ht_finding_count(&v.f, "count", most.count);
	return v;
}

static struct ht_rule_verdict launch_blocking(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_BLOCKING);
	if (!fact.is_known)
		return v;
	int64_t launches = ht_rule_fact_of(a, fact.i_part, HT_METRIC_LAUNCHES).count;
	if (!launches)
		return v;
	v.f.state = ht_rule_state(fact.count > launches / 2);
	put_counts(&v.f, fact.count, launches);
	v.i_part = fact.i_part;
	v.row = fact.row;
	v.cost_ns = fact.part;
	return v;
}

static struct ht_rule_verdict garbage(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_GC);
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.count);
	ht_finding_count(&v.f, "count", fact.count);
	ht_finding_value(&v.f, (double)fact.part, "ns");
	return v;
}

static struct ht_rule_verdict fused_optimizer(struct ht_advice *a)
{
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_OPTIMIZER);
	struct ht_rule_verdict v = ht_rule_verdict_on(&fact);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.count);
	ht_finding_text(&v.f, "name", fact.name ? fact.name : "the optimizer");
	ht_finding_value(&v.f, (double)fact.part, "ns");
	return v;
}

static struct ht_rule_verdict free_time(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_FREE);
	if (!fact.is_known || !fact.count)
		return v;
	/* the exporter's step begins with the first work, ours with the host's */
	v.f.state = ht_rule_state(ht_rule_share(a, &fact) > 0.1);
	ht_finding_value(&v.f, (double)(fact.part / fact.count), "ns");
	ht_finding_share(
	        &v.f, ht_rule_share(a, &fact), "of.exporter_steps", ht_rule_rank(a, fact.i_part));
	ht_finding_ns(&v.f, "whole_ns", fact.whole / fact.count);
	ht_finding_ratio(&v.f, "threshold", 0.1);
	v.i_part = fact.i_part;
	v.step_cost_ns = fact.part / fact.count;
	return v;
}

static struct ht_rule_verdict environment(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact most = spread_of(a, HT_METRIC_ENVIRONMENT, count_of).most;
	if (!most.is_known)
		return v;
	v.f.state = ht_rule_state(most.count);
	ht_finding_text(&v.f, "name", most.name);
	v.i_part = most.i_part;
	return v;
}

/* ---- communication ---- */

static struct ht_rule_verdict small_packets(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
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
	v.f.state = ht_rule_state(many && exposed > 0.05);
	put_counts(&v.f, fact.part, fact.whole);
	ht_finding_text(&v.f, "link", over_rdma ? "RDMA" : "SDMA");
	ht_finding_text(&v.f, "size", over_rdma ? "1 MB" : "16 MB");
	ht_finding_share(&v.f, exposed, ht_rule_steps(a),
	        comm.is_known ? ht_rule_rank(a, comm.i_part) : HT_NO_I64);
	v.i_part = fact.i_part;
	return v;
}

static struct ht_rule_verdict slow_link(struct ht_advice *a)
{
	static const struct {
		enum ht_metric metric;
		const char *name;
	} kinds[] = { { HT_METRIC_SDMA_RATE, "SDMA" }, { HT_METRIC_RDMA_RATE, "RDMA" } };
	struct ht_rule_verdict v = ht_rule_no_verdict();
	double widest = -1;
	for (size_t k = 0; k < HT_COUNT(kinds); k++) {
		struct spread s = spread_of(a, kinds[k].metric, rate_of);
		double least = rate_of(&s.least), most = rate_of(&s.most);
		double gap = s.n > 1 ? (most - least) / (s.sum / (double)s.n) : -1;
		if (gap <= widest)
			continue;
		widest = gap;
		v = ht_rule_no_verdict();
		v.f.state = ht_rule_state(gap >= 0.05);
		v.i_part = s.least.i_part;
		ht_rule_subject_rank(a, &v.f, ht_rule_rank(a, s.least.i_part));
		ht_finding_share(&v.f, gap, "of.mean_rate", HT_NO_I64);
		ht_finding_text(&v.f, "link", kinds[k].name);
		ht_finding_number(&v.f, "least_rate", least);
		ht_finding_count(&v.f, "most_rank", ht_rule_rank(a, s.most.i_part));
		ht_finding_number(&v.f, "most_rate", most);
	}
	return v;
}

static struct ht_rule_verdict rdma_retries(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact most = spread_of(a, HT_METRIC_RDMA_LONGEST, part_of).most;
	if (!most.is_known)
		return v;
	v.f.state = ht_rule_state(most.part > 4000000000);
	ht_finding_text(&v.f, "name", most.name ? most.name : "an operation");
	ht_finding_value(&v.f, (double)most.part, "ns");
	v.i_part = most.i_part;
	v.cost_ns = most.part;
	return v;
}

static struct ht_rule_verdict unaligned(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	struct ht_rule_fact fact = ht_rule_worst(a, HT_METRIC_UNALIGNED);
	if (!fact.is_known)
		return v;
	v.f.state = ht_rule_state(fact.part);
	put_counts(&v.f, fact.part, fact.whole);
	v.i_part = fact.i_part;
	v.row = fact.row;
	return v;
}

static struct ht_rule_verdict contention(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_above(a, HT_METRIC_CONTENTION, 0, "of.sdma_time");
	/* transfers of several planes at once take no more of the step than the step has */
	v.cost_ns = HT_NO_I64;
	return v;
}

/* Of steps that only the exporter knows of some rank. */
static struct ht_rule_verdict uneven_steps(struct ht_advice *a)
{
	static const struct {
		enum ht_metric metric;
		const char *term;
	} kinds[] = { { HT_METRIC_COMPUTING, "uneven.computing" },
		{ HT_METRIC_FREE, "uneven.free" }, { HT_METRIC_EXPOSED, "uneven.communication" } };
	struct ht_rule_verdict v = ht_rule_no_verdict();
	int64_t widest = -1;
	/* who computes less waits more: what differs first is the reason */
	for (size_t k = 0; k < HT_COUNT(kinds) && v.f.state != HT_STATE_FOUND; k++) {
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
		v = ht_rule_no_verdict();
		v.f.state = ht_rule_state(share > 0.05);
		v.i_part = s.most.i_part;
		v.step_cost_ns = widest;
		ht_rule_subject_rank(a, &v.f, ht_rule_rank(a, s.most.i_part));
		ht_finding_value(&v.f, (double)widest, "ns");
		ht_finding_share(&v.f, share, "of.mean_exporter_step", HT_NO_I64);
		ht_finding_text(&v.f, "what", ht_term(kinds[k].term));
		ht_finding_count(&v.f, "least_rank", ht_rule_rank(a, s.least.i_part));
		ht_finding_ratio(&v.f, "threshold", 0.05);
	}
	return v;
}

/* ---- the rules ---- */

static const struct ht_rule rules[] = {
	{ "uneven-steps", uneven_steps, "distributed", { { "view", "steps" } }, 0 },
	{ "free-time", free_time, "steps", { { 0 } }, HT_RULE_CPU },
	{ "ai-cpu", ai_cpu, "kernels", { { "by", "core" } }, HT_RULE_DEVICE },
	{ "no-bound", no_bound, "kernels", { { "by", "counters" } }, HT_RULE_DEVICE },
	{ "vector-use", vector_use, "kernels", { { "by", "counters" } }, HT_RULE_DEVICE },
	{ "cube-use", cube_use, "kernels", { { "by", "counters" } }, HT_RULE_DEVICE },
	{ "flash-attention", flash_attention, "kernels", { { "by", "counters" } }, HT_RULE_DEVICE },
	{ "block-dim", block_dim, "kernels", { { "by", "properties" } }, HT_RULE_DEVICE },
	{ "fusible-kernels", sequences, "kernels", { { "by", "type" } }, 0 },
	{ "fused-operators", affinity, "operators", { { 0 } }, 0 },
	{ "format-changes", format_changes, "kernels", { { "where", "name ~ TransData" } },
	        HT_RULE_DEVICE },
	{ "dynamic-shapes", dynamic_shapes, "kernels", { { 0 } }, 0 },
	{ "core-clock", core_clock, "events", { { "where", "name = \"AI Core Freq\"" } },
	        HT_RULE_DEVICE },
	{ "op-compile", op_compile, "events", { { "where", "name ~ aclopCompileAndExecute" } },
	        HT_RULE_CPU },
	{ "launch-blocking", launch_blocking, "events",
	        { { "where", "name ~ aclrtSynchronizeStream" } }, HT_RULE_CPU },
	{ "gc", garbage, "events", { { "where", "name = GC" } }, HT_RULE_CPU },
	{ "fused-optimizer", fused_optimizer, "operators", { { "where", "name ~ Optimizer" } },
	        HT_RULE_CPU },
	{ "slow-link", slow_link, "distributed", { { "view", "bandwidth" } }, 0 },
	{ "small-packets", small_packets, "distributed", { { "view", "bandwidth" } }, 0 },
	{ "unaligned", unaligned, "events", { { "where", "args.transport type = SDMA" } }, 0 },
	{ "contention", contention, "distributed", { { "view", "bandwidth" } }, 0 },
	{ "rdma-retries", rdma_retries, "distributed", { { "view", "bandwidth" } }, HT_RULE_COMM },
	{ "environment", environment, "info", { { 0 } }, 0 },
};

const struct ht_rule *ht_rules_npu(const struct ht_advice *a, size_t *ret_n)
{
	*ret_n = 0;
	for (int metric = HT_METRIC_AI_CPU; metric < HT_N_METRICS; metric++)
		if (ht_rule_worst(a, (enum ht_metric)metric).is_known)
			*ret_n = HT_COUNT(rules);
	return rules;
}
