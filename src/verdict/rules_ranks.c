/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_ranks.c - rules of advice about ranks that communicate: what that takes, and who keeps whom waiting.
 */
#include "verdict/rules.h"

#include <inttypes.h>

/* Waits of a rank for others, never more than it communicates alone; HT_NO_I64: not known. */
static int64_t waits_of(const struct ht_advice *a, const struct ht_rule_fact *comm)
{
	int64_t wait_ns = a->f.waits_ns[comm->i_part];
	return wait_ns == HT_NO_I64 || wait_ns < comm->part ? wait_ns : comm->part;
}

int64_t ht_rule_transfer_ns(const struct ht_advice *a, size_t i_part)
{
	struct ht_rule_fact comm = ht_rule_fact_of(a, i_part, HT_METRIC_COMM);
	int64_t wait_ns = comm.is_known ? waits_of(a, &comm) : HT_NO_I64;
	return comm.is_known ? comm.part - (wait_ns == HT_NO_I64 ? 0 : wait_ns) : HT_NO_I64;
}

/* The rank that communicates alone most, waits not counted; or that waits most. */
static struct ht_rule_fact most_communication(const struct ht_advice *a, bool waiting)
{
	struct ht_rule_fact most = { .row = HT_NO_I64 };
	for (size_t p = 0; p < a->parts->n; p++) {
		struct ht_rule_fact comm = ht_rule_fact_of(a, p, HT_METRIC_COMM);
		int64_t wait_ns = comm.is_known ? waits_of(a, &comm) : HT_NO_I64;
		if (!comm.is_known || (waiting && wait_ns == HT_NO_I64))
			continue;
		comm.part = waiting ? wait_ns : ht_rule_transfer_ns(a, p);
		if (!most.is_known || ht_rule_share(a, &comm) > ht_rule_share(a, &most))
			most = comm;
	}
	return most;
}

struct ht_rule_verdict ht_rule_communication(struct ht_advice *a)
{
	struct ht_rule_fact most = most_communication(a, false);
	bool split = most.is_known && a->f.waits_ns[most.i_part] != HT_NO_I64;
	struct ht_rule_verdict v = ht_rule_judge(a, most, 0.1, ht_rule_steps(a));
	ht_finding_text(&v.f, "transfer", split ? "" : NULL);
	return v;
}

struct ht_rule_verdict ht_rule_waiting(struct ht_advice *a)
{
	struct ht_rule_verdict v =
	        ht_rule_judge(a, most_communication(a, true), 0.1, ht_rule_steps(a));
	if (v.f.state != HT_STATE_FOUND)
		return v;
	if (a->f.latest) {
		v.f.state = HT_STATE_NONE;
		v.f.n_values = 0; /* it is above the threshold */
		ht_finding_text(&v.f, "slow_rank", "");
	} else if (a->f.compares && a->f.has_steps) {
		ht_finding_text(&v.f, "even", "");
	} else if (!a->f.compares) {
		v.f.variant = "p2p";
		ht_finding_text(&v.f, "p2p", "");
	}
	return v;
}

struct ht_rule_verdict ht_rule_slow_rank(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const struct ht_late_rank *rank = a->f.latest;
	if (!a->f.compares || a->f.stragglers.n_steps < 2 || (!rank && *a->f.stragglers.missing))
		return v;
	v.f.state = HT_STATE_NONE;
	if (!rank)
		return v;
	const struct ht_verdict *late = &a->f.stragglers.verdicts[rank->i_part];
	if (ht_straggler_finding(&a->f.stragglers, rank, &v.f) != HT_OK)
		ht_words_keep(&a->words, NULL);
	v.i_part = rank->i_part;
	v.row = v.f.n_events ? v.f.events[0].row : HT_NO_I64;
	v.f.n_events = 0;
	v.step_cost_ns = ht_straggler_cost_ns(late);
	return v;
}

/* By how little time a rank spends in collectives: needs no steps and no clocks. */
struct ht_rule_verdict ht_rule_late_votes(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	const struct ht_votes *votes = &a->votes;
	size_t most = 0, second = 0;
	for (size_t p = 1; votes->of && p < a->parts->n; p++)
		most = votes->of[p].n > votes->of[most].n ? p : most;
	for (size_t p = 0; votes->of && p < a->parts->n; p++)
		second = p != most && votes->of[p].n > second ? votes->of[p].n : second;
	if (!votes->of || !votes->n_judged || !a->f.n_steps)
		return v;
	const struct ht_vote *mine = &votes->of[most];
	bool clear = mine->n >= 3 && 10 * mine->n >= votes->n_judged && mine->n >= 3 * second;
	v.f.state = ht_rule_state(clear);
	ht_rule_subject_rank(a, &v.f, ht_rule_rank(a, most));
	ht_finding_count(&v.f, "count", (int64_t)mine->n);
	ht_finding_count(&v.f, "whole", (int64_t)votes->n_judged);
	v.i_part = most;
	v.row = mine->call ? mine->call->row : HT_NO_I64;
	v.step_cost_ns = ht_findings_late_cost(&a->f, most, mine->ns / (int64_t)a->f.n_steps);
	return v;
}

static int64_t of_rank(const struct ht_advice *a, size_t p, size_t column)
{
	int64_t n;
	return ht_findings_of_rank(&a->f, p, column, &n);
}

/* The longest of the kernels that take a rank's GPU most time; HT_NO_I64: none. */
static int64_t longest_kernel(const struct ht_advice *a, size_t p)
{
	const ht_table *tops = a->parts->list[p].facts[HT_FOUND_TOPS];
	int64_t row = HT_NO_I64, most = 0;
	for (size_t i = 0; i < ht_table_n_rows(tops); i++) {
		int64_t ns = ht_table_i64(tops, i, HT_TOP_NS);
		if (ht_table_i64(tops, i, HT_TOP_KIND) == HT_TOP_KERNEL && ns > most) {
			most = ns;
			row = ht_table_i64(tops, i, HT_TOP_ROW);
		}
	}
	return row;
}

/* What ranks can have more of than others, and the event that stands for it. */
static const struct {
	size_t column;
	const char *term;
	enum ht_metric metric; /* HT_N_METRICS: the longest kernel */
} uneven[] = { { HT_BREAKDOWN_COMPUTE, "uneven.compute", HT_N_METRICS },
	{ HT_BREAKDOWN_IDLE, "uneven.idle", HT_METRIC_LAUNCH },
	{ HT_BREAKDOWN_COMM, "uneven.communication", HT_METRIC_COMM } };

struct gap {
	int64_t ns;
	size_t kind, most, least;
};

static int64_t uneven_ns(const struct ht_advice *a, size_t p, size_t kind, bool without_waits)
{
	int64_t ns = of_rank(a, p, uneven[kind].column);
	return without_waits ? ht_sub_sat(ns, a->f.waits_ns[p]) : ns;
}

static struct gap gap_of(const struct ht_advice *a, size_t kind, bool without_waits)
{
	struct gap gap = { .kind = kind };
	for (size_t p = 1; p < a->parts->n; p++) {
		int64_t ns = uneven_ns(a, p, kind, without_waits);
		gap.most = ns > uneven_ns(a, gap.most, kind, without_waits) ? p : gap.most;
		gap.least = ns < uneven_ns(a, gap.least, kind, without_waits) ? p : gap.least;
	}
	gap.ns = ht_sub_sat(uneven_ns(a, gap.most, kind, without_waits),
	        uneven_ns(a, gap.least, kind, without_waits));
	return gap;
}

/* Whether a rank idles for longer because the other one computes for longer: that is most of the difference. */
static bool is_other_side(const struct ht_advice *a, const struct gap *idle)
{
	int64_t more_ns =
	        ht_sub_sat(uneven_ns(a, idle->least, 0, false), uneven_ns(a, idle->most, 0, false));
	return more_ns >= idle->ns / 2;
}

/* Waiting for others is their doing, and who hides less of a transfer may wait less: communication is uneven where it is with
 * waits and without. Where they are not known, ranks that go on together communicate alone for as long as others have more to
 * do, so that it is the other side of computing or idling less, unless it is far more than that. */
static struct gap largest_gap(const struct ht_advice *a)
{
	struct gap computing = gap_of(a, 0, false), idle = gap_of(a, 1, false);
	struct gap comm = gap_of(a, 2, false);
	struct gap cause = idle.ns > computing.ns && !is_other_side(a, &idle) ? idle : computing;
	int64_t least_ns = cause.ns;
	if (a->f.knows_waits) {
		struct gap transfer = gap_of(a, 2, true);
		comm = transfer.ns < comm.ns ? transfer : comm;
	} else {
		least_ns = ht_add_sat(computing.ns, idle.ns);
		ht_sum(&least_ns, least_ns);
	}
	return comm.ns > least_ns ? comm : cause;
}

/* Whether they are ranks of one job at all: they wait for each other, or each says which it is. Recordings of one process that lie in
 * one folder do neither. */
static bool are_ranks(const struct ht_advice *a)
{
	const struct ht_roster *roster = a->run->rosters[0];
	for (size_t i = 0; !a->f.compares && i < roster->n; i++)
		if (ht_rank_claim(&roster->ranks[i]) == HT_NO_I64)
			return false;
	return true;
}

/* Whether ranks can be compared: each has GPU work, of as many steps, and nothing of it was lost. */
static bool are_alike(const struct ht_advice *a)
{
	const struct ht_rule_fact first = ht_rule_fact_of(a, 0, HT_METRIC_STEPS);
	for (size_t p = 0; p < a->parts->n; p++)
		if (of_rank(a, p, HT_BREAKDOWN_SPAN) == HT_NO_I64 ||
		        ht_rule_fact_of(a, p, HT_METRIC_STEPS).count != first.count)
			return false;
	return a->parts->n > 1 && a->f.n_steps && !a->run->rosters[0]->loss_note && are_ranks(a);
}

static int64_t at_most(int64_t ns, int64_t most_ns)
{
	return most_ns != HT_NO_I64 && ns > most_ns ? most_ns : ns;
}

struct ht_rule_verdict ht_rule_imbalance(struct ht_advice *a)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	int64_t span = 0;
	if (!are_alike(a))
		return v;
	for (size_t p = 0; p < a->parts->n; p++)
		ht_sum(&span, of_rank(a, p, HT_BREAKDOWN_SPAN));
	struct gap gap = largest_gap(a);
	double share = ht_ratio(gap.ns, span / (int64_t)a->parts->n);
	enum ht_metric metric = uneven[gap.kind].metric;
	v.f.state = ht_rule_state(share > 0.05);
	v.step_cost_ns = gap.ns / (int64_t)a->f.n_steps;
	ht_rule_subject_rank(a, &v.f, ht_rule_rank(a, gap.most));
	ht_finding_value(&v.f, (double)v.step_cost_ns, "ns");
	/* without it no step gets shorter by more than it waits for the rank */
	if (a->f.latest)
		v.step_cost_ns = at_most(v.step_cost_ns,
		        ht_straggler_cost_ns(&a->f.stragglers.verdicts[a->f.latest->i_part]));
	ht_finding_share(&v.f, share, "of.mean_span", HT_NO_I64);
	ht_finding_text(&v.f, "what", ht_term(uneven[gap.kind].term));
	ht_finding_count(&v.f, "least_rank", ht_rule_rank(a, gap.least));
	ht_finding_ratio(&v.f, "threshold", 0.05);
	v.i_part = gap.most;
	v.row = metric == HT_N_METRICS ? longest_kernel(a, gap.most)
	                               : ht_rule_fact_of(a, gap.most, metric).row;
	return v;
}
