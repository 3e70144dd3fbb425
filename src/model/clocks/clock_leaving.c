/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_leaving.c - see clock_leaving.h.
 */
#include "model/clocks/clock_leaving.h"

#include "model/numbers/stats.h"

#define LEAST_CALLS 8

static int64_t size_of(int64_t ns)
{
	return ns == INT64_MIN ? INT64_MAX : ns < 0 ? -ns : ns;
}

/* The end of a call less the median of those of the other ranks; 0 when those do not leave together themselves. */
static int64_t later_than_others(const struct ht_call_place *place, int64_t *ends)
{
	const struct ht_collective *c = place->collective;
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++)
		if (&c->calls[i] != place->call)
			ends[n++] = c->calls[i].end_ns;
	ht_sort_i64(ends, n);
	int64_t later_ns = ht_sub_sat(place->call->end_ns, ends[(n - 1) / 2]);
	bool together = ht_sub_sat(ends[n - 1], ends[0]) <= size_of(later_ns) / 10;
	return together ? later_ns : 0;
}

static bool tells(const struct ht_call_place *place)
{
	const struct ht_collective *c = place->collective;
	return c->complete && c->n > 2 && ht_comm_kind_synchronises(c->kind) &&
	       place->call->launch_ns != HT_NO_I64;
}

enum ht_status ht_clock_leaving(struct ht_run *run, size_t i_rank, int64_t *ret_ns)
{
	const struct ht_clocks *clocks = run->clocks[0];
	const struct ht_matches *matches = &clocks->matches;
	size_t n_places = matches->n_places[i_rank], n = 0;
	int64_t *later = ht_arena_alloc(run->scratch, (n_places + 1) * sizeof *later);
	int64_t *ends = ht_arena_alloc(run->scratch, (clocks->n + 1) * sizeof *ends);
	*ret_ns = HT_NO_I64;
	if (!later || !ends)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_places; i++)
		if (tells(&matches->places[i_rank][i]))
			later[n++] = later_than_others(&matches->places[i_rank][i], ends);
	if (n < LEAST_CALLS)
		return HT_OK;
	ht_sort_i64(later, n);
	int64_t median = later[n / 2], size = size_of(median);
	if (size >= HT_LEAVING_LEAST_NS && later[n - 1 - n / 8] - later[n / 8] <= size / 10)
		*ret_ns = median;
	return HT_OK;
}
