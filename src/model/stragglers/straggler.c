/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler.c - see straggler.h.
 */
#include "model/stragglers/straggler.h"

#include "model/finding/hint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Ranks always differ a little: less of a step, or fewer steps, say nothing. */
#define SPREAD_SHARE 0.05
#define SPREAD_STEPS 4

enum ht_status ht_stragglers_put(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_straggler_facts *at, struct ht_part *part)
{
	HT_TRY(ht_chosen_calls_put(run, frame, part->facts[at->calls]));
	HT_TRY(ht_excess_put(run, frame, part->facts[at->profiles]));
	return ht_step_work_put(run, frame, part->facts[at->steps]);
}

/* Of the ranks of a group whose verdict is from that group. */
static enum ht_status find_excess_in(struct ht_stragglers *a, const struct ht_straggler_facts *at,
        struct ht_members members, bool *done)
{
	struct ht_excess *host = ht_arena_alloc(a->run->scratch, (members.n + 1) * sizeof *host);
	struct ht_excess *gpu = ht_arena_alloc(a->run->scratch, (members.n + 1) * sizeof *gpu);
	if (!host || !gpu)
		return ht_fail_nomem(a->run->ctx);
	HT_TRY(ht_excess_find(a->run, a->parts, at->profiles, at->steps, &members, host, gpu));
	for (size_t m = 0; m < members.n; m++) {
		size_t p = members.parts[m];
		const size_t *from = a->verdicts[p].members;
		if (done[p] || (from && from != members.parts))
			continue;
		a->host[p] = host[m];
		a->gpu[p] = gpu[m];
		done[p] = true;
	}
	return HT_OK;
}

/* Against the ranks that wait for it; against all where nothing says who does. */
static enum ht_status find_excess(struct ht_stragglers *a, const struct ht_straggler_facts *at)
{
	size_t n = a->parts->n;
	size_t *all = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *all);
	bool *done = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *done);
	bool *is_late = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *is_late);
	a->host = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *a->host);
	a->gpu = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *a->gpu);
	if (!all || !done || !is_late || !a->host || !a->gpu)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < n; i++) {
		all[i] = i;
		is_late[i] = a->verdicts[i].is_candidate;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ht_verdict *v = &a->verdicts[i];
		struct ht_members members = { all, n, is_late };
		if (v->members)
			members = (struct ht_members){ v->members, v->n_members, is_late };
		if (!done[i])
			HT_TRY(find_excess_in(a, at, members, done));
	}
	return HT_OK;
}

int64_t ht_straggler_cost_ns(const struct ht_verdict *verdict)
{
	if (!verdict->is_candidate)
		return HT_NO_I64;
	return verdict->set->lost_ns / (int64_t)verdict->set->n_steps;
}

struct ht_straggler_cause ht_straggler_cause_of(
        const struct ht_stragglers *a, const struct ht_late_rank *rank)
{
	const struct ht_excess *gpu = &a->gpu[rank->i_part], *host = &a->host[rank->i_part];
	const struct ht_verdict *verdict = &a->verdicts[rank->i_part];
	int64_t half_ns = verdict->lateness_ns / 2;
	const struct ht_excess *larger = host->ns > gpu->ns ? host : gpu;
	if (!verdict->is_candidate)
		return (struct ht_straggler_cause){ 0 };
	if (larger->name && larger->ns >= half_ns)
		return (struct ht_straggler_cause){ larger == gpu ? "kernel" : "host", larger,
			false };
	larger = host->total_ns > gpu->total_ns ? host : gpu;
	if (larger->name && larger->total_ns >= half_ns)
		return (struct ht_straggler_cause){ larger == gpu ? "kernel" : "host", larger,
			true };
	return (struct ht_straggler_cause){ 0 };
}

/* What takes longer on that rank. */
static const char *name_cause(
        struct ht_run *run, const struct ht_straggler_cause *cause, struct ht_finding *f)
{
	bool is_kernel = !strcmp(cause->side, "kernel");
	f->variant = cause->in_all ? (is_kernel ? "all_kernels" : "all_host")
	                           : (is_kernel ? "kernel" : "host");
	return strcmp(cause->excess->name, "ProfilerStep") != 0
	               ? ht_hint_name(run->scratch, cause->excess->name)
	               : ht_term("unannotated");
}

const char *ht_straggler_names(const struct ht_stragglers *a, const struct ht_late_rank *rank)
{
	const struct ht_late_set *set = a->verdicts[rank->i_part].set;
	return set ? ht_late_set_text(a->run, a->parts, &a->lateness, set)
	           : ht_ranks_text(a->run->scratch, &rank->rank, 1);
}

static double spread_share(const struct ht_rank_spread *spread)
{
	return spread->span_ns > 0 ? (double)spread->lost_ns / (double)spread->span_ns : 0;
}

/* Whether ranks wait for another one in each step, for so much of it that it is worth a word. */
static bool is_spread(const struct ht_rank_spread *spread)
{
	return spread->n_steps >= SPREAD_STEPS && spread->n_latest > 1 &&
	       spread_share(spread) >= SPREAD_SHARE;
}

struct ht_finding ht_straggler_nobody(const struct ht_stragglers *a)
{
	bool is_known = a->n_steps >= 2 && !*a->missing;
	struct ht_finding f = ht_finding("slow-rank", is_known ? HT_STATE_NONE : HT_STATE_UNKNOWN);
	f.variant = is_known ? "" : a->n_steps < 2 ? "one_step" : "missing_rank";
	if (is_known && is_spread(&a->spread)) {
		const int64_t n = (int64_t)a->spread.n_steps;
		f.variant = "spread";
		ht_finding_ns(&f, "lost", a->spread.lost_ns / n);
		ht_finding_ratio(&f, "lost_share", spread_share(&a->spread));
		ht_finding_count(&f, "n_latest", (int64_t)a->spread.n_latest);
		ht_finding_count(&f, "n_steps", n);
	}
	ht_finding_text(&f, "missing", *a->missing ? a->missing : NULL);
	/* what is on no rank in most steps may be on a stage, a link or the batches */
	ht_finding_next(&f, is_known ? "what-if" : "stragglers");
	if (is_known)
		ht_finding_arg(&f, "view", "slowdown");
	return f;
}

enum ht_status ht_straggler_finding(const struct ht_stragglers *a, const struct ht_late_rank *rank,
        struct ht_finding *ret_finding)
{
	const struct ht_verdict *v = &a->verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(a, rank);
	struct ht_finding f = ht_finding("slow-rank", HT_STATE_FOUND);
	bool several = v->set && v->set->n > 1;
	const char *name = NULL, *who = ht_straggler_names(a, rank);
	const char *number = ht_arena_printf(a->run->scratch, "%" PRId64, rank->rank);
	f.variant = "unattributed";
	if (cause.side)
		name = name_cause(a->run, &cause, &f);
	if (!number || !who || (cause.side && !name))
		return ht_fail_nomem(a->run->ctx);
	ht_finding_subject(&f, several ? "ranks" : "rank", several ? who : number);
	ht_finding_text(&f, "who", who);
	ht_finding_text(&f, "several", several ? "" : NULL);
	ht_finding_value(&f, (double)ht_straggler_cost_ns(v), "ns");
	ht_finding_ns(&f, "least", v->least_ns);
	ht_finding_ns(&f, "most", v->most_ns);
	ht_finding_text(&f, "spread", v->most_ns > v->least_ns ? "" : NULL);
	ht_finding_count(&f, "n_late", (int64_t)v->n_late_steps);
	ht_finding_count(&f, "n_steps", (int64_t)v->n_steps);
	if (cause.side) {
		ht_finding_text(&f, "name", name);
		ht_finding_text(&f, "cause", cause.excess->name);
		ht_finding_ns(&f, "more", cause.in_all ? cause.excess->total_ns : cause.excess->ns);
	}
	ht_finding_event(&f, rank->rank, cause.side ? cause.excess->row : rank->worst_call->row);
	ht_finding_next(&f, "stragglers");
	*ret_finding = f;
	return HT_OK;
}

enum ht_status ht_stragglers_find(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_straggler_facts *at, struct ht_stragglers *ret_stragglers)
{
	struct ht_stragglers a = { .run = run, .parts = parts };
	HT_TRY(ht_lateness_find(run, parts, at->calls, &a.lateness));
	if (a.lateness.n) {
		struct ht_rank_waits *waits = NULL;
		HT_TRY(ht_waits_find(run, parts, at->exposed, at->gaps, &a.lateness, &waits));
		HT_TRY(ht_own_time_judge(
		        run, parts, at->steps, &a.lateness, waits, &a.verdicts, &a.spread));
		HT_TRY(find_excess(&a, at));
		for (size_t p = 0; p < parts->n; p++)
			if (a.verdicts[p].n_steps > a.n_steps)
				a.n_steps = a.verdicts[p].n_steps;
		a.missing = ht_missing_ranks_text(run, &a.lateness);
		if (!a.missing)
			return ht_fail_nomem(run->ctx);
	}
	*ret_stragglers = a;
	return HT_OK;
}
