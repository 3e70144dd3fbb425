/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c - see waits.h.
 */
#include "model/stragglers/waits.h"
#include "model/communication/exposed.h"

#include <string.h>

struct waiting {
	struct ht_run *run;
	const struct ht_parts *parts;
	const struct ht_lateness *lateness;
	int64_t *wait_ns; /* by chosen call */
	struct ht_interval *
	        *of_part; /* waits of each part in collectives, its calls, its waits in pairs */
	size_t *n_found, *n_calls; /* by part */
};

static void measure_waits_of(struct waiting *w, const struct ht_chosen_call *calls, size_t n)
{
	size_t first = (size_t)(calls - w->lateness->calls);
	int64_t transfer_ns = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		int64_t ns = ht_comm_duration_ns(calls[i].call);
		transfer_ns = ns < transfer_ns ? ns : transfer_ns;
	}
	for (size_t i = 0; i < n; i++)
		w->wait_ns[first + i] = ht_comm_duration_ns(calls[i].call) - transfer_ns;
}

static void measure_waits(struct waiting *w)
{
	const struct ht_lateness *l = w->lateness;
	for (size_t k = 0; k < l->n; k++)
		measure_waits_of(w, l->arrivals[k].calls, l->arrivals[k].n);
	for (size_t i = 0; i + 1 < l->n_calls; i++) {
		const struct ht_collective *c = l->calls[i].collective;
		if (c->kind == HT_COMM_SEND_RECV && c->n == 2 && l->calls[i + 1].collective == c)
			measure_waits_of(w, &l->calls[i], 2);
	}
}

/* Three intervals per call of a part: its wait in a collective, the call, its wait for its counterpart. */
static enum ht_status sort_by_part(struct waiting *w)
{
	const struct ht_lateness *l = w->lateness;
	for (size_t i = 0; i < l->n_calls; i++)
		w->n_calls[l->calls[i].i_part]++;
	for (size_t p = 0; p < w->parts->n; p++) {
		w->of_part[p] = ht_arena_room(
		        w->run->scratch, (3 * w->n_calls[p] + 1) * sizeof **w->of_part);
		if (!w->of_part[p])
			return ht_fail_nomem(w->run->ctx);
	}
	for (size_t i = 0; i < l->n_calls; i++) {
		const struct ht_comm_call *call = l->calls[i].call;
		size_t p = l->calls[i].i_part, at = w->n_found[p]++;
		bool is_pair = l->calls[i].collective->kind == HT_COMM_SEND_RECV;
		const struct ht_interval none = { call->start_ns, call->start_ns };
		const struct ht_interval wait = { call->start_ns,
			ht_add_sat(call->start_ns, w->wait_ns[i]) };
		w->of_part[p][at] = is_pair ? none : wait;
		w->of_part[p][w->n_calls[p] + at] =
		        (struct ht_interval){ call->start_ns, call->end_ns };
		w->of_part[p][2 * w->n_calls[p] + at] = is_pair ? wait : none;
	}
	return HT_OK;
}

/* The times in which communication is exposed, as exposed.h has them: key, start, end. */
static enum ht_status list_gaps(
        struct waiting *w, size_t p, const ht_table *facts, struct ht_times *ret_times)
{
	struct ht_run *run = w->run;
	size_t n = ht_table_n_rows(facts);
	size_t i_rank = ht_roster_find(run->rosters[0], w->parts->list[p].rank);
	struct ht_interval *list = ht_arena_room(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i_rank != SIZE_MAX && i < n; i++) {
		const struct ht_time_move *move = &run->moves[0][i_rank];
		list[i] = (struct ht_interval){
			ht_time_moved(move, ht_table_i64(facts, i, HT_EXPOSED_GAP_START_NS)),
			ht_time_moved(move, ht_table_i64(facts, i, HT_EXPOSED_GAP_END_NS))
		};
	}
	*ret_times = (struct ht_times){ list,
		i_rank == SIZE_MAX ? 0 : ht_interval_merge(run->ctx->mem, list, n) };
	return HT_OK;
}

/* A receive is posted early and waits behind kernels as long as they run: only what is exposed of that is time of the rank. */
static enum ht_status add_pairs(
        struct waiting *w, size_t p, const struct ht_times *exposed, struct ht_times *waits)
{
	struct ht_mem *mem = w->run->ctx->mem;
	struct ht_interval *pairs = w->of_part[p] + 2 * w->n_calls[p];
	size_t n_pairs = ht_interval_merge(mem, pairs, w->n_calls[p]), n = n_pairs + exposed->n;
	struct ht_interval *hidden = ht_arena_room(w->run->scratch, (n + 1) * sizeof *hidden);
	struct ht_interval *all =
	        ht_arena_room(w->run->scratch, (2 * n_pairs + n + waits->n + 1) * sizeof *all);
	if (!hidden || !all)
		return ht_fail_nomem(w->run->ctx);
	size_t n_hidden = ht_interval_subtract(pairs, n_pairs, exposed->list, exposed->n, hidden);
	size_t n_shown = ht_interval_subtract(pairs, n_pairs, hidden, n_hidden, all);
	if (waits->n)
		memcpy(all + n_shown, waits->list, waits->n * sizeof *all);
	*waits = (struct ht_times){ all, ht_interval_merge(mem, all, n_shown + waits->n) };
	return HT_OK;
}

static enum ht_status find_rank(struct waiting *w, size_t p, size_t exposed_k, size_t gaps_k,
        struct ht_rank_waits *ret_waits)
{
	const struct ht_part *part = &w->parts->list[p];
	struct ht_mem *mem = w->run->ctx->mem;
	struct ht_interval *waits = w->of_part[p], *calls = waits + w->n_calls[p];
	ret_waits->waits = (struct ht_times){ waits, ht_interval_merge(mem, waits, w->n_calls[p]) };
	if (ht_table_n_rows(part->facts[exposed_k]))
		HT_TRY(list_gaps(w, p, part->facts[gaps_k], &ret_waits->exposed));
	else
		ret_waits->exposed =
		        (struct ht_times){ calls, ht_interval_merge(mem, calls, w->n_calls[p]) };
	return add_pairs(w, p, &ret_waits->exposed, &ret_waits->waits);
}

enum ht_status ht_waits_find(struct ht_run *run, const struct ht_parts *parts, size_t exposed_k,
        size_t gaps_k, const struct ht_lateness *lateness, struct ht_rank_waits **ret_waits)
{
	size_t n = parts->n + 1;
	struct waiting w = { .run = run, .parts = parts, .lateness = lateness };
	struct ht_rank_waits *waits = ht_arena_alloc(run->scratch, n * sizeof *waits);
	w.wait_ns = ht_arena_alloc(run->scratch, (lateness->n_calls + 1) * sizeof *w.wait_ns);
	w.of_part = ht_arena_alloc(run->scratch, n * sizeof *w.of_part);
	w.n_found = ht_arena_alloc(run->scratch, n * sizeof *w.n_found);
	w.n_calls = ht_arena_alloc(run->scratch, n * sizeof *w.n_calls);
	if (!waits || !w.wait_ns || !w.of_part || !w.n_found || !w.n_calls)
		return ht_fail_nomem(run->ctx);
	measure_waits(&w);
	HT_TRY(sort_by_part(&w));
	for (size_t p = 0; p < parts->n; p++)
		HT_TRY(find_rank(&w, p, exposed_k, gaps_k, &waits[p]));
	*ret_waits = waits;
	return HT_OK;
}
