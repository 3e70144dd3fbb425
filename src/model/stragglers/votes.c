/* SPDX-License-Identifier: Apache-2.0 */
/*
 * votes.c - see votes.h.
 */
#include "model/stragglers/votes.h"

#include "model/numbers/stats.h"

#include <math.h>

/* Critical values at 99.5 %, one-sided; between two numbers of ranks in proportion. */
static double critical(size_t n)
{
	static const struct {
		size_t n;
		double value;
	} table[] = { { 3, .994 }, { 4, .920 }, { 5, .823 }, { 6, .744 }, { 7, .680 }, { 8, .723 },
		{ 9, .676 }, { 10, .638 }, { 11, .707 }, { 12, .675 }, { 13, .649 }, { 16, .629 },
		{ 32, .473 }, { 64, .382 }, { 100, .341 } };
	size_t k = 1;
	while (table[k].n < n && k + 1 < HT_COUNT(table))
		k++;
	double part = (double)(n - table[k - 1].n) / (double)(table[k].n - table[k - 1].n);
	return table[k - 1].value + part * (table[k].value - table[k - 1].value);
}

static bool is_far_below(const int64_t *sorted, size_t n)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)sorted[i];
	double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)sorted[i] - mean) * ((double)sorted[i] - mean);
	return (double)sorted[0] < mean - 3 * sqrt(squares / (double)n);
}

bool ht_shortest_is_odd(int64_t *durations, size_t n)
{
	size_t n_different = 1;
	ht_sort_i64(durations, n);
	for (size_t i = 1; i < n; i++)
		n_different += durations[i] != durations[i - 1];
	if (n_different <= 3)
		return false;
	if (n > 100)
		return is_far_below(durations, n);
	size_t near = n <= 10 ? 1 : 2, far = n <= 7 ? n - 1 : n <= 13 ? n - 2 : n - 3;
	int64_t range = durations[far] - durations[0];
	return range > 0 && (double)(durations[near] - durations[0]) / (double)range > critical(n);
}

/* The calls of one collective. */
static void vote(
        const struct ht_chosen_call *calls, size_t n, int64_t *durations, struct ht_votes *votes)
{
	size_t shortest = 0;
	for (size_t i = 0; i < n; i++) {
		durations[i] = ht_comm_duration_ns(calls[i].call);
		if (durations[i] < durations[shortest])
			shortest = i;
	}
	votes->n_judged++;
	if (!ht_shortest_is_odd(durations, n))
		return;
	struct ht_vote *mine = &votes->of[calls[shortest].i_part];
	int64_t more = durations[1] - durations[0];
	mine->n++;
	ht_sum(&mine->ns, more);
	if (!mine->call || more > mine->most_ns) {
		mine->call = calls[shortest].call;
		mine->most_ns = more;
	}
}

enum ht_status ht_votes_count(struct ht_run *run, const struct ht_parts *parts, size_t calls_k,
        struct ht_votes *ret_votes)
{
	const struct ht_chosen_call *calls = NULL;
	size_t n = 0;
	HT_TRY(ht_chosen_calls_get(run, parts, calls_k, &calls, &n));
	int64_t *durations = ht_arena_alloc(run->scratch, (n + 1) * sizeof *durations);
	struct ht_votes votes = { 0 };
	votes.of = ht_arena_alloc(run->scratch, (parts->n + 1) * sizeof *votes.of);
	if (!durations || !votes.of)
		return ht_fail_nomem(run->ctx);
	for (size_t first = 0, end; first < n; first = end) {
		const struct ht_collective *collective = calls[first].collective;
		for (end = first + 1; end < n && calls[end].collective == collective; end++)
			;
		if (end - first > 2 && end - first == collective->n && collective->complete &&
		        ht_comm_kind_synchronises(collective->kind))
			vote(calls + first, end - first, durations, &votes);
	}
	*ret_votes = votes;
	return HT_OK;
}
