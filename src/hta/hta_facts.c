/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_facts.c - see hta_facts.h.
 */
#include "hta/hta_facts.h"

#include "base/checked.h"
#include "base/mem.h"
#include "base/thread.h"
#include "store/set.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include <stdio.h>
#include <string.h>

bool ht_hta_is_step_name(const char *name)
{
	static const char prefix[] = "ProfilerStep#";
	return !strncmp(name, prefix, sizeof prefix - 1) && name[sizeof prefix - 1] >= '0' &&
	       name[sizeof prefix - 1] <= '9';
}

static void add_step(struct ht_hta_finding *f, const char *name)
{
	if (!*f->step)
		snprintf(f->step, sizeof f->step, "%s", name);
	else
		f->two_steps |= strncmp(f->step, name, sizeof f->step - 1) != 0;
}

static void lower(int64_t *least, int64_t value)
{
	if (value < *least)
		*least = value;
}

static void look_at(const struct ht_trace *t, struct ht_hta_finding *f)
{
	*f = (struct ht_hta_finding){ INT64_MAX, INT64_MAX, INT64_MAX, "", false };
	for (size_t k = 0; k < t->n_steps; k++)
		add_step(f, ht_str(t, t->name[t->steps[k].row]));
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->categories[t->cat[row]].name == HT_NO_STR ||
		        t->kind[row] == HT_KIND_TRACE_SPAN)
			continue;
		int64_t ts = t->ts_ns[row];
		if (ht_is_span(t, row))
			lower(&f->first_span_ns, ts);
		if (t->flags[row] & HT_EV_NO_DUR)
			continue;
		lower(&f->first_ts_ns, ts);
		if (!(t->flags[row] & HT_EV_NO_TS))
			lower(&f->first_timed_ns, ts);
		/* the GPU may show a step that no host row does; without any step nobody asks */
		if (t->kind[row] == HT_KIND_GPU_ANNOTATION && *f->step && !f->two_steps &&
		        ht_hta_is_step_name(ht_str(t, t->name[row])))
			add_step(f, ht_str(t, t->name[row]));
	}
}

struct search {
	ht_ctx *ctx;
	const struct ht_set *set;
	struct ht_hta_finding *findings;
	atomic_ullong done; /* bytes of JSON behind the ranks that were looked at */
};

static enum ht_status look_at_rank(void *user, size_t i, int i_worker)
{
	struct search *search = user;
	const struct ht_trace *trace = NULL;
	ht_ctx child;
	(void)i_worker;
	ht_ctx_begin_task(search->ctx, &child);
	enum ht_status status = ht_set_acquire(&child, search->set, i, &trace);
	atomic_fetch_add(&search->done, search->set->roster.ranks[i].json_bytes);
	if (status == HT_OK) {
		look_at(trace, &search->findings[i]);
		ht_trace_release(trace);
	}
	return ht_ctx_end_task(search->ctx, &child, status);
}

static struct ht_set_facts sum_up(
        const struct ht_roster *roster, const struct ht_hta_finding *findings)
{
	struct ht_set_facts facts = { false, INT64_MAX, INT64_MAX, INT64_MAX };
	struct ht_hta_finding steps = { .step = "" };
	for (size_t i = 0; i < roster->n; i++) {
		const struct ht_hta_finding *f = &findings[i];
		if (*f->step)
			add_step(&steps, f->step);
		facts.two_steps |= f->two_steps;
		lower(&facts.first_ts_ns, f->first_ts_ns);
		lower(&facts.first_timed_ns, f->first_timed_ns);
		if (f->first_span_ns != INT64_MAX)
			lower(&facts.zero_ns,
			        ht_add_sat(f->first_span_ns, roster->ranks[i].offset_ns));
	}
	facts.two_steps |= steps.two_steps;
	int64_t *times[] = { &facts.first_ts_ns, &facts.first_timed_ns, &facts.zero_ns };
	for (size_t k = 0; k < HT_COUNT(times); k++)
		if (*times[k] == INT64_MAX)
			*times[k] = 0;
	return facts;
}

enum ht_status ht_hta_findings(ht_ctx *ctx, struct ht_arena *arena, const struct ht_set *set,
        struct ht_hta_finding **ret_findings)
{
	size_t n = set->roster.n;
	struct search search = { ctx, set, ht_arena_alloc(arena, (n + 1) * sizeof *search.findings),
		0 };
	struct ht_watch watch = { .what = "Facts of all ranks", .done = &search.done };
	if (!search.findings)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		watch.total += set->roster.ranks[i].json_bytes;
	HT_TRY(ht_parallel_watched(ctx, n, look_at_rank, &search, &watch));
	*ret_findings = search.findings;
	return HT_OK;
}

static const char kind;
static const struct ht_memo_key key = { SIZE_MAX, &kind, 0 };

/* NULL when they cannot be kept. */
static const struct ht_set_facts *keep(struct ht_memo *memo, const struct ht_set_facts *facts)
{
	struct ht_arena arena;
	ht_arena_init(&arena, memo->mem);
	struct ht_set_facts *copy = ht_arena_alloc(&arena, sizeof *copy);
	if (!copy)
		return NULL;
	*copy = *facts;
	const struct ht_set_facts *kept = ht_memo_keep(memo, key, &arena, copy);
	if (!kept)
		ht_arena_done(&arena);
	return kept;
}

enum ht_status ht_hta_facts_keep(
        ht_ctx *ctx, struct ht_set *set, const struct ht_hta_finding *findings)
{
	struct ht_set_facts facts = sum_up(&set->roster, findings);
	set->has_facts = keep(set->memo, &facts) != NULL;
	return set->has_facts ? HT_OK : ht_fail_nomem(ctx);
}

enum ht_status ht_hta_facts_find(
        struct ht_run *run, const struct ht_set *set, const struct ht_set_facts **ret_facts)
{
	const struct ht_set_facts *kept = set->memo ? ht_memo_find(set->memo, key) : NULL;
	if (kept) {
		*ret_facts = kept;
		return HT_OK;
	}
	struct ht_hta_finding *findings;
	struct ht_set_facts *facts = ht_arena_alloc(run->scratch, sizeof *facts);
	if (!facts)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_hta_findings(run->ctx, run->scratch, set, &findings));
	*facts = sum_up(&set->roster, findings);
	/* under a limit nothing is kept, or what one run keeps could make another fail */
	if (set->memo && !set->memo->mem->limit)
		kept = keep(set->memo, facts);
	*ret_facts = kept ? kept : facts;
	return HT_OK;
}
