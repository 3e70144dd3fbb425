/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lateness.c - see lateness.h.
 */
#include "model/stragglers/lateness.h"
#include "model/clocks/clocks.h"
#include "base/sort.h"
#include "model/numbers/stats.h"

#include <stdlib.h>
#include <string.h>

struct lateness {
	struct ht_run *run;
	const struct ht_parts *parts;
	struct ht_lateness found;
	int64_t *
	        apart_ns; /* by part: how far from the others it leaves collectives of a group at most */
	int64_t *values; /* room for a number per rank */
};

/* ---- arrivals ---- */

static bool makes_wait(const struct ht_clocks *clocks, const struct ht_chosen_call *calls, size_t n)
{
	enum ht_comm_kind kind = calls[0].collective->kind;
	if (n < 2 || !(ht_comm_kind_synchronises(kind) || kind == HT_COMM_OTHER))
		return false;
	/* ranks that nothing ties to the reference may be tied to each other: pairs behind the pairs of a pipeline */
	for (size_t i = 1; !clocks->from_files && i < n; i++)
		if (clocks->of[calls[i].call->i_rank].component !=
		        clocks->of[calls[0].call->i_rank].component)
			return false;
	return true;
}

static void arrive(struct ht_arrival *a)
{
	const struct ht_chosen_call *calls = a->calls;
	for (size_t i = 1; i < a->n; i++) {
		if (calls[i].call->start_ns < calls[a->first].call->start_ns)
			a->first = i;
		if (calls[i].call->start_ns > calls[a->last].call->start_ns)
			a->last = i;
	}
	a->before_ns = INT64_MIN;
	for (size_t i = 0; i < a->n; i++)
		if (i != a->last && calls[i].call->start_ns > a->before_ns)
			a->before_ns = calls[i].call->start_ns;
	a->late_ns = ht_sub_sat(calls[a->last].call->start_ns, calls[a->first].call->start_ns);
	a->delay_ns = ht_sub_sat(calls[a->last].call->start_ns, a->before_ns);
}

static enum ht_status list_arrivals(struct lateness *l, size_t k)
{
	struct ht_lateness *found = &l->found;
	HT_TRY(ht_chosen_calls_get(l->run, l->parts, k, &found->calls, &found->n_calls));
	const struct ht_chosen_call *calls = found->calls;
	size_t n = found->n_calls;
	found->arrivals = ht_arena_alloc(l->run->scratch, (n + 1) * sizeof *found->arrivals);
	if (!found->arrivals)
		return ht_fail_nomem(l->run->ctx);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && calls[end].collective == calls[i].collective; end++)
			;
		if (!ht_collective_is_matched(calls[i].collective))
			for (size_t c = i; c < end; c++)
				ht_alone_calls_add(&found->alone, calls[c].call);
		if (!makes_wait(l->run->clocks[0], calls + i, end - i))
			continue;
		found->arrivals[found->n] = (struct ht_arrival){
			.collective = calls[i].collective, .calls = calls + i, .n = end - i
		};
		arrive(&found->arrivals[found->n++]);
	}
	return HT_OK;
}

/* ---- uncertainty ---- */

static int by_group(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	int order = strcmp(a->collective->group, b->collective->group);
	if (order)
		return order;
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

static int by_collective(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	return a->collective < b->collective ? -1 : a->collective > b->collective;
}

/* How far each rank leaves from the middle of all, at most. */
static void measure_ends(struct lateness *l, const struct ht_arrival *a)
{
	for (size_t i = 0; i < a->n; i++)
		l->values[i] = a->calls[i].call->end_ns;
	int64_t middle_ns = ht_median_i64(l->values, a->n);
	for (size_t i = 0; i < a->n; i++) {
		int64_t ns = ht_sub_sat(a->calls[i].call->end_ns, middle_ns);
		ns = ns < 0 ? ht_sub_sat(0, ns) : ns;
		int64_t *apart_ns = &l->apart_ns[a->calls[i].i_part];
		*apart_ns = ns > *apart_ns ? ns : *apart_ns;
	}
}

static int64_t between_ns(
        const struct lateness *l, const struct ht_chosen_call *a, const struct ht_chosen_call *b)
{
	int64_t clocks_ns =
	        ht_clocks_between_ns(l->run->clocks[0], a->call->i_rank, b->call->i_rank);
	int64_t ends_ns = ht_add_sat(l->apart_ns[a->i_part], l->apart_ns[b->i_part]);
	return clocks_ns != HT_NO_I64 && clocks_ns < ends_ns ? clocks_ns : ends_ns;
}

/* Of the last rank against whom it is compared with; the larger of the two. */
static void find_uncertainty(const struct lateness *l, struct ht_arrival *a)
{
	const struct ht_chosen_call *last = &a->calls[a->last];
	for (size_t i = 0; i < a->n; i++) {
		bool is_before =
		        ht_sub_sat(last->call->start_ns, a->calls[i].call->start_ns) == a->delay_ns;
		if (i == a->last || (i != a->first && !is_before))
			continue;
		int64_t ns = between_ns(l, last, &a->calls[i]);
		a->uncertainty_ns = ns > a->uncertainty_ns ? ns : a->uncertainty_ns;
	}
}

static void compare_ends(struct lateness *l)
{
	ht_sort_items(l->run->ctx->mem, l->found.arrivals, l->found.n, sizeof *l->found.arrivals,
	        by_group);
	for (size_t i = 0, end; i < l->found.n; i = end) {
		const char *group = l->found.arrivals[i].collective->group;
		memset(l->apart_ns, 0, l->parts->n * sizeof *l->apart_ns);
		for (end = i; end < l->found.n &&
		              !strcmp(l->found.arrivals[end].collective->group, group);
		        end++)
			measure_ends(l, &l->found.arrivals[end]);
		for (size_t k = i; k < end; k++)
			find_uncertainty(l, &l->found.arrivals[k]);
	}
	ht_sort_items(l->run->ctx->mem, l->found.arrivals, l->found.n, sizeof *l->found.arrivals,
	        by_collective);
}

/* ---- sums ---- */

static void add_up(struct ht_late_rank *ranks, const struct ht_arrival *a)
{
	int64_t first_ns = a->calls[a->first].call->start_ns;
	for (size_t i = 0; i < a->n; i++) {
		const struct ht_comm_call *call = a->calls[i].call;
		struct ht_late_rank *rank = &ranks[a->calls[i].i_part];
		int64_t late_ns = ht_sub_sat(call->start_ns, first_ns);
		rank->n_collectives++;
		ht_sum(&rank->late_ns, late_ns);
		if (!rank->worst || late_ns > rank->late_max_ns) {
			rank->worst = a->collective;
			rank->worst_call = call;
			rank->late_max_ns = late_ns;
		}
	}
	if (!a->late_ns)
		return;
	ranks[a->calls[a->last].i_part].n_last++;
}

static int by_wait(const void *left, const void *right)
{
	const struct ht_arrival *a = left, *b = right;
	size_t a_part = a->calls[a->last].i_part, b_part = b->calls[b->last].i_part;
	if (a_part != b_part)
		return a_part < b_part ? -1 : 1;
	if (a->before_ns != b->before_ns)
		return a->before_ns < b->before_ns ? -1 : 1;
	return by_collective(left, right);
}

/* The collectives of several buckets wait for a rank at the same time: what they lose is lost once. */
static void add_delays(struct lateness *l)
{
	struct ht_lateness *found = &l->found;
	const struct ht_late_rank *now = NULL;
	int64_t until_ns = INT64_MIN;
	ht_sort_items(
	        l->run->ctx->mem, found->arrivals, found->n, sizeof *found->arrivals, by_wait);
	for (size_t i = 0; i < found->n; i++) {
		const struct ht_arrival *a = &found->arrivals[i];
		const struct ht_chosen_call *last = &a->calls[a->last];
		struct ht_late_rank *rank = &found->ranks[last->i_part];
		if (rank != now)
			until_ns = INT64_MIN;
		now = rank;
		int64_t from_ns = a->before_ns > until_ns ? a->before_ns : until_ns;
		if (last->call->start_ns <= from_ns)
			continue;
		ht_sum(&rank->delay_ns, ht_sub_sat(last->call->start_ns, from_ns));
		ht_sum(&rank->uncertainty_ns, a->uncertainty_ns);
		until_ns = last->call->start_ns;
	}
	ht_sort_items(l->run->ctx->mem, found->arrivals, found->n, sizeof *found->arrivals,
	        by_collective);
}

enum ht_status ht_lateness_find(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        struct ht_lateness *ret_lateness)
{
	struct lateness l = { .run = run, .parts = parts };
	l.found.ranks = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *l.found.ranks);
	l.apart_ns = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *l.apart_ns);
	l.values = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *l.values);
	if (!l.found.ranks || !l.apart_ns || !l.values)
		return ht_fail_nomem(run->ctx);
	for (size_t p = 0; p < parts->n; p++)
		l.found.ranks[p] =
		        (struct ht_late_rank){ .i_part = p, .rank = parts->list[p].rank };
	HT_TRY(list_arrivals(&l, calls_k));
	compare_ends(&l);
	for (size_t i = 0; i < l.found.n; i++)
		add_up(l.found.ranks, &l.found.arrivals[i]);
	add_delays(&l);
	*ret_lateness = l.found;
	return HT_OK;
}
