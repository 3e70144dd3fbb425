/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_pairs.c - see wait_pairs.h.
 */
#include "model/communication/wait_pairs.h"

#include <stdlib.h>

/* When a rank came. */
struct arrival {
	int64_t start_ns;
	size_t i_rank;
};

static int by_start(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->i_rank < b->i_rank ? -1 : a->i_rank > b->i_rank;
}

static int by_ranks(const void *left, const void *right)
{
	const struct ht_wait_pair *a = left, *b = right;
	if (a->i_rank != b->i_rank)
		return a->i_rank < b->i_rank ? -1 : 1;
	return a->i_last < b->i_last ? -1 : a->i_last > b->i_last;
}

/* Room for those of the largest collective. */
static enum ht_status make_arrivals(struct ht_run *run, const struct ht_chosen_call *calls,
        size_t n, struct arrival **ret_arrivals)
{
	size_t most = 0;
	for (size_t i = 0; i < n; i++)
		most = calls[i].collective->n > most ? calls[i].collective->n : most;
	*ret_arrivals = ht_arena_alloc(run->scratch, (most + 1) * sizeof **ret_arrivals);
	return *ret_arrivals ? HT_OK : ht_fail_nomem(run->ctx);
}

static void sort_arrivals(const struct ht_collective *c, struct arrival *arrivals)
{
	for (size_t i = 0; i < c->n; i++)
		arrivals[i] = (struct arrival){ c->calls[i].start_ns, c->calls[i].i_rank };
	qsort(arrivals, c->n, sizeof *arrivals, by_start);
}

/* Who came when the wait was over; the first by number where several came at once. */
static size_t waited_for(const struct arrival *arrivals, size_t n, const struct ht_comm_call *call)
{
	int64_t over_ns = ht_add_sat(call->start_ns, call->wait_ns);
	size_t low = 0, high = n;
	if (call->wait_ns == 0)
		return call->i_rank;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (arrivals[middle].start_ns < over_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n ? arrivals[low].i_rank : call->i_rank;
}

/* Neighbours of one pair become one. */
static size_t add_up(struct ht_wait_pair *pairs, size_t n)
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		if (!used || by_ranks(&pairs[used - 1], &pairs[i])) {
			pairs[used++] = pairs[i];
			continue;
		}
		struct ht_wait_pair *pair = &pairs[used - 1];
		pair->n_calls++;
		ht_comm_sum_known(&pair->bytes, pairs[i].bytes);
		ht_sum(&pair->wait_ns, pairs[i].wait_ns);
		ht_sum(&pair->transfer_ns, pairs[i].transfer_ns);
	}
	return used;
}

enum ht_status ht_wait_pairs_make(struct ht_run *run, const struct ht_chosen_call *calls, size_t n,
        const struct ht_wait_pair **ret_pairs, size_t *ret_n)
{
	struct arrival *arrivals = NULL;
	struct ht_wait_pair *pairs = ht_arena_alloc(run->scratch, (n + 1) * sizeof *pairs);
	const struct ht_collective *in_hand = NULL;
	size_t n_pairs = 0;
	if (!pairs)
		return ht_fail_nomem(run->ctx);
	HT_TRY(make_arrivals(run, calls, n, &arrivals));
	for (size_t i = 0; i < n; i++) {
		const struct ht_comm_call *call = calls[i].call;
		if (call->wait_ns == HT_NO_I64)
			continue;
		if (calls[i].collective != in_hand) {
			in_hand = calls[i].collective;
			sort_arrivals(in_hand, arrivals);
		}
		pairs[n_pairs++] = (struct ht_wait_pair){ .i_rank = call->i_rank,
			.i_last = waited_for(arrivals, in_hand->n, call),
			.n_calls = 1,
			.bytes = call->bytes,
			.wait_ns = call->wait_ns,
			.transfer_ns = ht_comm_transfer_ns(call) };
	}
	qsort(pairs, n_pairs, sizeof *pairs, by_ranks);
	*ret_pairs = pairs;
	*ret_n = add_up(pairs, n_pairs);
	return HT_OK;
}
