/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_ring.c - what collectives would take in groups of another size. See event_edit.h.
 *
 * A ring of n ranks takes t = alpha + beta * S * (n - 1) / n for S bytes. alpha and beta are fitted, by least squares, to the transfers of the
 * collectives of one kind in one group, which have to have two sizes at least. A transfer then changes by what the model changes:
 * beta * S * ((m - 1) / m - (n - 1) / n) for m ranks, so that with m = n nothing does. Who waits for whom stays as it was.
 *
 * Example: all-reduces of 4 ranks take 1.75 ms for 1 MB and 3.25 ms for 2 MB, so alpha is 0.25 ms and beta 2 ms per MB: of 8 ranks they
 * take 0.25 ms more, and 0.5 ms.
 */
#include "base/hash.h"
#include "base/sort.h"
#include "job/event_edit.h"
#include "model/communication/collective_match.h"

#include <math.h>
#include <string.h>

static double ring_share(double n)
{
	return n > 1 ? (n - 1) / n : 0;
}

static double size_of(const struct ht_event_unit *unit)
{
	return unit->of->size != HT_NO_I64 ? (double)unit->of->size : (double)unit->n;
}

/* The least squares line through transfers over bytes; false: bytes are not known, or all the same. */
static bool fit(const struct ht_event_job *job, const uint32_t *units, size_t n, double *ret_beta)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ht_event_unit *unit = &job->units[units[i]];
		if (unit->of->bytes == HT_NO_I64)
			return false;
		mean_x += (double)unit->of->bytes * ring_share(size_of(unit)) / (double)n;
		mean_y += ht_event_unit_transfer(job, unit) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ht_event_unit *unit = &job->units[units[i]];
		double x = (double)unit->of->bytes * ring_share(size_of(unit)) - mean_x;
		xx += x * x;
		xy += x * (ht_event_unit_transfer(job, unit) - mean_y);
	}
	*ret_beta = xy / xx;
	/* sizes that are one but for rounding */
	return xx > 1e-12 * mean_x * mean_x * (double)n;
}

static uint64_t key_of(const struct ht_event_unit *unit)
{
	return ht_hash_mix(
	        (uint64_t)unit->of->kind + 1, ht_hash(unit->of->group, strlen(unit->of->group)));
}

static bool is_chosen(const struct ht_event_editor *e, const struct ht_event_unit *unit)
{
	for (uint32_t i = 0; i < unit->n; i++)
		if (e->is_chosen[e->job->members[unit->first + i]])
			return true;
	return false;
}

static void resize(
        struct ht_event_editor *e, const struct ht_event_unit *unit, double beta, double n)
{
	double more = beta * (double)unit->of->bytes * (ring_share(n) - ring_share(size_of(unit)));
	for (uint32_t i = 0; i < unit->n; i++) {
		uint32_t member = e->job->members[unit->first + i];
		if (e->is_chosen[member])
			e->dur[member] = fmax(e->dur[member] + more, 0);
	}
}

/* Those of one group and kind. */
static void resize_alike(struct ht_event_editor *e, const uint32_t *units, size_t n, double n_ranks,
        struct ht_event_unknown *unknown)
{
	double beta = 0;
	size_t n_chosen = 0;
	for (size_t i = 0; i < n; i++)
		n_chosen += is_chosen(e, &e->job->units[units[i]]);
	if (!n_chosen)
		return;
	const struct ht_collective *of = e->job->units[units[0]].of;
	if (of->kind == HT_COMM_SEND_RECV)
		*unknown = (struct ht_event_unknown){ "no_group", of->group };
	else if (!fit(e->job, units, n, &beta))
		*unknown = (struct ht_event_unknown){ "one_size", of->group };
	else if (beta < 0)
		*unknown = (struct ht_event_unknown){ "no_cost", of->group };
	for (size_t i = 0; i < n && !unknown->why; i++)
		resize(e, &e->job->units[units[i]], beta, n_ranks);
}

enum ht_status ht_event_resize_groups(
        struct ht_event_editor *e, double n_ranks, struct ht_event_unknown *ret)
{
	const struct ht_event_job *job = e->job;
	struct ht_arena *a = job->run->scratch;
	uint64_t *keys = ht_arena_room(a, (job->n_units + (size_t)1) * sizeof *keys);
	uint32_t *order = ht_arena_room(a, (job->n_units + (size_t)1) * sizeof *order);
	size_t n = 0;
	if (!keys || !order)
		return ht_fail_nomem(job->run->ctx);
	for (uint32_t i = 0; i < job->n_nodes; i++)
		if (e->is_chosen[i] && (job->flags[i] & HT_EVENT_COMM) && job->unit[i] == HT_NONE)
			*ret = (struct ht_event_unknown){ "unmatched", ht_event_job_name(job, i) };
	for (uint32_t u = 0; u < job->n_units; u++) {
		/* those that were taken apart have no members */
		if (!job->units[u].n)
			continue;
		keys[n] = key_of(&job->units[u]);
		order[n++] = u;
	}
	if (!ht_sort_keys(job->run->ctx->mem, keys, order, n))
		return ht_fail_nomem(job->run->ctx);
	for (size_t i = 0, end; i < n && !ret->why; i = end) {
		for (end = i; end < n && keys[end] == keys[i];)
			end++;
		resize_alike(e, order + i, end - i, n_ranks, ret);
	}
	return HT_OK;
}
