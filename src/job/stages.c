/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.c - see stages.h.
 */
#include "job/stages.h"

#include "base/sort.h"
#include "job/axes.h"
#include "model/communication/collective_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A transfer between two ranks, by index. */
struct transfer {
	uint32_t low, high; /* ranks */
	bool goes_up;       /* from low to high */
	double start;
};

static int compare_transfers(const void *left, const void *right)
{
	const struct transfer *a = left, *b = right;
	if (a->low != b->low)
		return ht_order_i64(a->low, b->low);
	if (a->high != b->high)
		return ht_order_i64(a->high, b->high);
	return a->start != b->start ? (a->start < b->start ? -1 : 1)
	                            : (int)b->goes_up - (int)a->goes_up;
}

/* Sends and receives as transfers; the group of one says who sends. */
static size_t list_transfers(const struct ht_event_job *job, struct transfer *transfers)
{
	size_t n = 0;
	for (uint32_t u = 0; u < job->n_units; u++) {
		const struct ht_event_unit *unit = &job->units[u];
		int64_t from, to;
		if (unit->n != 2 || unit->of->kind != HT_COMM_SEND_RECV ||
		        sscanf(unit->of->group, "%" SCNd64 "->%" SCNd64, &from, &to) != 2)
			continue;
		uint32_t a = job->members[unit->first], b = job->members[unit->first + 1];
		uint32_t low = job->i_rank[a], high = job->i_rank[b];
		if (low == high || job->ranks[low].number == job->ranks[high].number)
			continue;
		if (low > high) {
			uint32_t other = low;
			low = high;
			high = other;
		}
		double start =
		        job->recorded[a] > job->recorded[b] ? job->recorded[a] : job->recorded[b];
		transfers[n++] =
		        (struct transfer){ low, high, job->ranks[low].number == from, start };
	}
	qsort(transfers, n, sizeof *transfers, compare_transfers);
	return n;
}

/* The first of each pair. */
static size_t keep_firsts(struct transfer *transfers, size_t n)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!n_kept || transfers[n_kept - 1].low != transfers[i].low ||
		        transfers[n_kept - 1].high != transfers[i].high)
			transfers[n_kept++] = transfers[i];
	return n_kept;
}

/* Longest ways, a link further each round; in a circle there is no end to them. */
static void find_depths(struct ht_event_job *job, const struct transfer *pairs, size_t n)
{
	bool grows = true;
	for (size_t round = 0; round <= job->n_ranks && grows; round++) {
		grows = false;
		for (size_t i = 0; i < n; i++) {
			uint32_t from = pairs[i].goes_up ? pairs[i].low : pairs[i].high;
			uint32_t to = pairs[i].goes_up ? pairs[i].high : pairs[i].low;
			if (job->ranks[to].stage > job->ranks[from].stage)
				continue;
			job->ranks[to].stage = job->ranks[from].stage + 1;
			grows = true;
		}
	}
	for (size_t i = 0; i < job->n_ranks && grows; i++)
		job->ranks[i].stage = 0;
}

/* Ranks of one stage and share are numbered in their own order. */
static enum ht_status number_replicas(struct ht_event_job *job)
{
	struct ht_event_rank *ranks = job->ranks;
	int64_t n_shares = 1, most = 4 * (int64_t)job->n_ranks + 64;
	for (size_t i = 0; i < job->n_ranks; i++) {
		n_shares = ranks[i].share + 1 > n_shares ? ranks[i].share + 1 : n_shares;
		job->n_stages =
		        ranks[i].stage + 1 > job->n_stages ? ranks[i].stage + 1 : job->n_stages;
	}
	/* lists of ranks that fit no job get no memory for it */
	if (n_shares > most || job->n_stages > most || n_shares * job->n_stages > most)
		n_shares = job->n_stages = 1;
	size_t n = (size_t)(n_shares * job->n_stages);
	int64_t *counts = ht_arena_alloc(job->run->scratch, (n + 1) * sizeof *counts);
	if (!counts)
		return ht_fail_nomem(job->run->ctx);
	for (size_t i = 0; i < job->n_ranks; i++) {
		if (n == 1)
			ranks[i].stage = ranks[i].share = 0;
		ranks[i].replica = counts[ranks[i].stage * n_shares + ranks[i].share]++;
		job->n_replicas = ranks[i].replica + 1 > job->n_replicas ? ranks[i].replica + 1
		                                                         : job->n_replicas;
	}
	return HT_OK;
}

enum ht_status ht_event_job_stages(struct ht_event_job *job)
{
	bool has_stages;
	job->n_stages = job->n_replicas = 1;
	HT_TRY(ht_event_job_axes(job, &has_stages));
	if (!has_stages) {
		struct transfer *transfers =
		        ht_arena_room(job->run->scratch, (job->n_units + 1) * sizeof *transfers);
		if (!transfers)
			return ht_fail_nomem(job->run->ctx);
		find_depths(job, transfers, keep_firsts(transfers, list_transfers(job, transfers)));
	}
	return number_replicas(job);
}
