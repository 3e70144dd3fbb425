/*
 * hta_facts.c - see hta_facts.h.
 */
#include "hta/hta_facts.h"

#include "base/thread.h"

#include <stdio.h>
#include <string.h>

bool ht_hta_is_step_name(const char *name)
{
	static const char prefix[] = "ProfilerStep#";
	return !strncmp(name, prefix, sizeof prefix - 1) && name[sizeof prefix - 1] >= '0' &&
	       name[sizeof prefix - 1] <= '9';
}

/* One rank's share. */
struct finding {
	int64_t first_ts_ns, first_timed_ns, first_span_ns; /* INT64_MAX: no such row */
	char step[64];                                      /* the first name met, "" for none */
	bool two_steps;
};

static void add_step(struct finding *f, const char *name)
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

static void look_at(const struct ht_trace *t, struct finding *f)
{
	*f = (struct finding){ INT64_MAX, INT64_MAX, INT64_MAX, "", false };
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
	struct finding *findings;
};

static enum ht_status look_at_rank(void *user, size_t i, int i_worker)
{
	struct search *search = user;
	const struct ht_trace *trace = NULL;
	ht_ctx child;
	(void)i_worker;
	ht_ctx_begin_task(search->ctx, &child);
	enum ht_status status = ht_set_acquire(&child, search->set, i, &trace);
	if (status == HT_OK) {
		look_at(trace, &search->findings[i]);
		ht_trace_release(trace);
	}
	return ht_ctx_end_task(search->ctx, &child, status);
}

static struct ht_set_facts sum_up(const struct ht_roster *roster, const struct finding *findings)
{
	struct ht_set_facts facts = { false, INT64_MAX, INT64_MAX, INT64_MAX };
	struct finding steps = { .step = "" };
	for (size_t i = 0; i < roster->n; i++) {
		const struct finding *f = &findings[i];
		if (*f->step)
			add_step(&steps, f->step);
		facts.two_steps |= f->two_steps;
		lower(&facts.first_ts_ns, f->first_ts_ns);
		lower(&facts.first_timed_ns, f->first_timed_ns);
		if (f->first_span_ns != INT64_MAX)
			lower(&facts.zero_ns, f->first_span_ns + roster->ranks[i].offset_ns);
	}
	facts.two_steps |= steps.two_steps;
	int64_t *times[] = { &facts.first_ts_ns, &facts.first_timed_ns, &facts.zero_ns };
	for (size_t k = 0; k < HT_COUNT(times); k++)
		if (*times[k] == INT64_MAX)
			*times[k] = 0;
	return facts;
}

enum ht_status ht_hta_facts_find(
        struct ht_run *run, const struct ht_set *set, const struct ht_set_facts **ret_facts)
{
	static const char kind;
	struct ht_memo_key key = { SIZE_MAX, &kind, 0 };
	const struct ht_set_facts *kept = set->memo ? ht_memo_find(set->memo, key) : NULL;
	if (kept) {
		*ret_facts = kept;
		return HT_OK;
	}
	size_t n = set->roster.n;
	struct search search = { run->ctx, set,
		ht_arena_alloc(run->scratch, (n + 1) * sizeof *search.findings) };
	struct ht_set_facts *facts = ht_arena_alloc(run->scratch, sizeof *facts), *copy = NULL;
	if (!search.findings || !facts)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_parallel(run->ctx, n, look_at_rank, &search));
	*facts = sum_up(&set->roster, search.findings);
	*ret_facts = facts;
	/* under a limit nothing is kept, or what one run keeps could make another fail */
	if (!set->memo || set->memo->mem->limit)
		return HT_OK;
	struct ht_arena arena;
	ht_arena_init(&arena, set->memo->mem);
	copy = ht_arena_alloc(&arena, sizeof *copy);
	if (!copy)
		return HT_OK;
	*copy = *facts;
	kept = ht_memo_keep(set->memo, key, &arena, copy);
	if (!kept)
		ht_arena_done(&arena);
	*ret_facts = kept ? kept : facts;
	return HT_OK;
}
