/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_ties.c - see clock_ties.h.
 */
#include "model/clocks/clock_ties.h"

/* Times further out are no clock's; sums of a few stay within 64 bits. */
#define MAX_TIME_NS ((int64_t)1 << 60)

static bool is_usable(const struct ht_comm_call *call)
{
	return call->tie && call->start_ns > -MAX_TIME_NS && call->end_ns < MAX_TIME_NS;
}

/* Somebody arrives whom somebody else waits for. */
static bool ties_ranks(const struct ht_collective *c)
{
	size_t n_arrive = 0, n_leave = 0, n = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (!is_usable(&c->calls[i]))
			continue;
		n++;
		n_arrive += (c->calls[i].tie & HT_TIE_ARRIVES) != 0;
		n_leave += (c->calls[i].tie & HT_TIE_LEAVES) != 0;
	}
	return n > 1 && n_arrive && n_leave;
}

bool ht_ties_collect(struct ht_arena *arena, const struct ht_matches *matches, size_t n_ranks,
        struct ht_ties *ret_ties)
{
	struct ht_ties ties = { .n_ranks = n_ranks };
	ties.calls = ht_arena_alloc(arena, (matches->n_calls + 1) * sizeof *ties.calls);
	ties.first = ht_arena_alloc(arena, (matches->n + 2) * sizeof *ties.first);
	if (!ties.calls || !ties.first)
		return false;
	for (size_t i = 0; i < matches->n; i++) {
		const struct ht_collective *c = &matches->collectives[i];
		if (!ties_ranks(c))
			continue;
		size_t n = ties.first[ties.n];
		for (size_t k = 0; k < c->n; k++)
			if (is_usable(&c->calls[k]))
				ties.calls[n++] = (struct ht_tied_call){ c->calls[k].i_rank,
					c->calls[k].start_ns, c->calls[k].end_ns, c->calls[k].tie };
		ties.first[++ties.n] = n;
	}
	*ret_ties = ties;
	return true;
}

int64_t ht_ties_excess_ns(const struct ht_ties *ties, size_t t)
{
	int64_t arrived = INT64_MIN / 2, left = INT64_MAX / 2;
	for (size_t i = ties->first[t]; i < ties->first[t + 1]; i++) {
		const struct ht_tied_call *call = &ties->calls[i];
		if (call->tie & HT_TIE_ARRIVES && call->start_ns > arrived)
			arrived = call->start_ns;
		if (call->tie & HT_TIE_LEAVES && call->end_ns < left)
			left = call->end_ns;
	}
	return ht_sub_sat(arrived, left);
}

size_t ht_ties_broken(const struct ht_ties *ties, int64_t tolerance_ns, int64_t *ret_worst_ns)
{
	size_t n = 0;
	*ret_worst_ns = 0;
	for (size_t t = 0; t < ties->n; t++) {
		int64_t ns = ht_ties_excess_ns(ties, t);
		n += ns > tolerance_ns;
		*ret_worst_ns = ns > *ret_worst_ns ? ns : *ret_worst_ns;
	}
	return n;
}

void ht_ties_drop_broken(struct ht_ties *ties, int64_t tolerance_ns)
{
	size_t n = 0, n_calls = 0;
	for (size_t t = 0; t < ties->n; t++) {
		size_t from = ties->first[t], to = ties->first[t + 1];
		if (ht_ties_excess_ns(ties, t) > tolerance_ns)
			continue;
		ties->first[n++] = n_calls;
		for (size_t i = from; i < to; i++)
			ties->calls[n_calls++] = ties->calls[i];
	}
	ties->first[n] = n_calls;
	ties->n = n;
}

/* ---- borders ---- */

/* Lower d where a rank would arrive after another left; unknown d are INT64_MAX. from[i]: who lowered that of rank i
 * last; NULL: nobody asks. */
static bool pull_back(const struct ht_ties *ties, int64_t tolerance_ns, int64_t *d, size_t *from)
{
	bool changed = false;
	for (size_t t = 0; t < ties->n; t++) {
		int64_t left = INT64_MAX;
		size_t first_left = 0;
		for (size_t i = ties->first[t]; i < ties->first[t + 1]; i++) {
			const struct ht_tied_call *c = &ties->calls[i];
			int64_t end_ns = ht_add_sat(c->end_ns, d[c->i_rank]);
			if (c->tie & HT_TIE_LEAVES && d[c->i_rank] != INT64_MAX && end_ns < left) {
				left = end_ns;
				first_left = c->i_rank;
			}
		}
		for (size_t i = ties->first[t]; left != INT64_MAX && i < ties->first[t + 1]; i++) {
			const struct ht_tied_call *c = &ties->calls[i];
			int64_t limit = ht_add_sat(ht_sub_sat(left, c->start_ns), tolerance_ns);
			if (!(c->tie & HT_TIE_ARRIVES) || d[c->i_rank] <= limit)
				continue;
			d[c->i_rank] = limit;
			if (from)
				from[c->i_rank] = first_left;
			changed = true;
		}
	}
	return changed;
}

/* Raise d where a rank would leave before another arrived; unknown d are INT64_MIN. */
static bool push_on(const struct ht_ties *ties, int64_t tolerance_ns, int64_t *d, size_t *from)
{
	bool changed = false;
	for (size_t t = 0; t < ties->n; t++) {
		int64_t arrived = INT64_MIN;
		size_t last_arrived = 0;
		for (size_t i = ties->first[t]; i < ties->first[t + 1]; i++) {
			const struct ht_tied_call *c = &ties->calls[i];
			int64_t start_ns = ht_add_sat(c->start_ns, d[c->i_rank]);
			if (c->tie & HT_TIE_ARRIVES && d[c->i_rank] != INT64_MIN &&
			        start_ns > arrived) {
				arrived = start_ns;
				last_arrived = c->i_rank;
			}
		}
		for (size_t i = ties->first[t]; arrived != INT64_MIN && i < ties->first[t + 1];
		        i++) {
			const struct ht_tied_call *c = &ties->calls[i];
			int64_t limit = ht_sub_sat(ht_sub_sat(arrived, c->end_ns), tolerance_ns);
			if (!(c->tie & HT_TIE_LEAVES) || d[c->i_rank] >= limit)
				continue;
			d[c->i_rank] = limit;
			if (from)
				from[c->i_rank] = last_arrived;
			changed = true;
		}
	}
	return changed;
}

/* ---- moves ---- */

struct solver {
	const struct ht_ties *ties;
	int64_t tolerance_ns;
	size_t *from;  /* by rank: whose border moved its own; SIZE_MAX: nobody's */
	size_t *round; /* by rank: of the walk that has seen it */
};

/* Whether ranks move each other in a circle: then there is no end to it. */
static bool has_circle(struct solver *s)
{
	size_t n = s->ties->n_ranks;
	for (size_t i = 0; i < n; i++)
		s->round[i] = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t at = i;
		while (at != SIZE_MAX && s->round[at] == SIZE_MAX) {
			s->round[at] = i;
			at = s->from[at];
		}
		if (at != SIZE_MAX && s->round[at] == i)
			return true;
	}
	return false;
}

/* Move borders until nothing changes; false when that never happens. Where it does, it takes no more rounds than there
 * are ranks; a circle shows much sooner that it does not. */
static bool settle(struct solver *s,
        bool (*move)(const struct ht_ties *, int64_t, int64_t *, size_t *), int64_t *d)
{
	for (size_t i = 0; i < s->ties->n_ranks; i++)
		s->from[i] = SIZE_MAX;
	for (size_t n_rounds = 0; move(s->ties, s->tolerance_ns, d, s->from);)
		if (++n_rounds > s->ties->n_ranks || has_circle(s))
			return false;
	return true;
}

/* The greatest solution without a move forwards and the least without one back; their mean is a solution as
 * well, and no other has a smaller largest move. */
bool ht_ties_mend(struct ht_arena *scratch, const struct ht_ties *ties, int64_t tolerance_ns,
        int64_t *move_ns, bool *ret_nomem)
{
	size_t n = ties->n_ranks + 1;
	int64_t *back = ht_arena_alloc(scratch, n * sizeof *back);
	int64_t *forth = ht_arena_alloc(scratch, n * sizeof *forth);
	struct solver s = { ties, tolerance_ns, ht_arena_alloc(scratch, n * sizeof *s.from),
		ht_arena_alloc(scratch, n * sizeof *s.round) };
	*ret_nomem = !back || !forth || !s.from || !s.round;
	if (*ret_nomem || !settle(&s, pull_back, back) || !settle(&s, push_on, forth))
		return false;
	for (size_t i = 0; i < ties->n_ranks; i++)
		move_ns[i] = ht_add_sat(back[i], forth[i]) / 2;
	return true;
}

void ht_ties_slack(const struct ht_ties *ties, size_t from, int64_t tolerance_ns,
        int64_t *forward_ns, int64_t *back_ns)
{
	for (size_t i = 0; i < ties->n_ranks; i++) {
		forward_ns[i] = i == from ? 0 : INT64_MAX;
		back_ns[i] = i == from ? 0 : INT64_MIN;
	}
	while (pull_back(ties, tolerance_ns, forward_ns, NULL))
		;
	while (push_on(ties, tolerance_ns, back_ns, NULL))
		;
	for (size_t i = 0; i < ties->n_ranks; i++)
		back_ns[i] = back_ns[i] == INT64_MIN ? INT64_MAX : -back_ns[i];
}
