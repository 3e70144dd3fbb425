/*
 * straggler.c - see straggler.h.
 */
#include "model/stragglers/straggler.h"

#include "model/hint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static const char *spread_text(struct ht_run *run, int64_t least_ns, int64_t most_ns)
{
	/* as few digits as tell the two apart */
	double least = (double)least_ns / 1e6, most = (double)most_ns / 1e6;
	int digits = most >= 10 ? 0 : most >= 0.1 ? 2 : 4;
	char low[32], high[32];
	snprintf(low, sizeof low, "%.*f", digits, least);
	snprintf(high, sizeof high, "%.*f", digits, most);
	if (!strcmp(low, high))
		return ht_arena_printf(run->scratch, "%s ms", low);
	return ht_arena_printf(run->scratch, "%s\u2013%s ms", low, high);
}

const char *ht_straggler_names(const struct ht_stragglers *a, const struct ht_late_rank *rank)
{
	const struct ht_late_set *set = a->verdicts[rank->i_part].set;
	return set ? ht_late_set_text(a->run, a->parts, &a->lateness, set)
	           : ht_ranks_text(a->run->scratch, &rank->rank, 1);
}

const char *ht_straggler_sentence(const struct ht_stragglers *a, const struct ht_late_rank *rank)
{
	struct ht_arena *scratch = a->run->scratch;
	const struct ht_verdict *v = &a->verdicts[rank->i_part];
	struct ht_straggler_cause cause = ht_straggler_cause_of(a, rank);
	const char *waiting = spread_text(a->run, v->least_ns, v->most_ns);
	const char *steps = v->n_late_steps == v->n_steps
	                            ? ht_arena_printf(scratch, "in each of %zu steps", v->n_steps)
	                            : ht_arena_printf(scratch, "in %zu of %zu steps",
	                                      v->n_late_steps, v->n_steps);
	const char *who = ht_straggler_names(a, rank);
	const char *verb = v->set && v->set->n > 1 ? "keep" : "keeps";
	if (!waiting || !steps || !who)
		return NULL;
	if (!cause.side)
		return ht_arena_printf(scratch,
		        "%s %s the others waiting %s %s: no GPU work and no annotation "
		        "takes that much more than on the other ranks (event %" PRId64
		        " waited last)",
		        who, verb, waiting, steps, rank->worst_call->row);
	int64_t ns = cause.in_all ? cause.excess->total_ns : cause.excess->ns;
	const char *more = spread_text(a->run, ns, ns);
	bool is_step = !strcmp(cause.excess->name, "ProfilerStep");
	const char *name = is_step ? "what no annotation names"
	                           : ht_hint_name(a->run->scratch, cause.excess->name);
	if (!more || !name)
		return NULL;
	bool gpu = cause.excess == &a->gpu[rank->i_part];
	return ht_arena_printf(scratch,
	        "%s %s the others waiting %s %s: %s%s%s takes %s a step more than on "
	        "the other ranks (event %" PRId64 ")",
	        who, verb, waiting, steps,
	        !cause.in_all ? (gpu ? "kernel " : "on the host ")
	        : gpu         ? "its GPU work, most of all "
	                      : "its host, most of all in ",
	        name, cause.in_all ? "," : "", more, cause.excess->row);
}

enum ht_status ht_stragglers_find(struct ht_run *run, const struct ht_parts *parts,
        const struct ht_straggler_facts *at, struct ht_stragglers *ret_stragglers)
{
	struct ht_stragglers a = { .run = run, .parts = parts };
	HT_TRY(ht_lateness_find(run, parts, at->calls, &a.lateness));
	if (a.lateness.n) {
		struct ht_rank_waits *waits = NULL;
		HT_TRY(ht_waits_find(run, parts, at->exposed, at->gaps, &a.lateness, &waits));
		HT_TRY(ht_own_time_judge(run, parts, at->steps, &a.lateness, waits, &a.verdicts));
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
