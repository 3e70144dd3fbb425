/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - see phases.h.
 */
#include "model/serving/phases.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdlib.h>

static void add(int64_t *sum, int64_t value)
{
	if (value < 0)
		return;
	*sum = *sum < 0 ? 0 : *sum;
	ht_sum(sum, value);
}

static void add_up(const struct ht_iteration *it, struct ht_phase_sum *p)
{
	p->n++;
	add(&p->requests, it->name.requests);
	add(&p->tokens, it->name.tokens);
	add(&p->kv_tokens, it->name.kv_tokens);
	ht_sum(&p->wall_ns, it->wall_ns);
	ht_sum(&p->gpu_ns, it->gpu_ns);
	ht_sum(&p->gap_ns, it->gap_ns);
	if (it->name.padded > 0 && it->name.requests >= 0) {
		ht_sum(&p->filled, it->name.requests);
		ht_sum(&p->padded, it->name.padded);
	}
}

/* The value that so many percent of n sorted ones do not exceed. */
static int64_t percentile(const int64_t *sorted, size_t n, size_t percent)
{
	return sorted[(percent * n + 99) / 100 - 1];
}

static int64_t batch_of(const struct ht_iteration *it)
{
	return it->name.requests >= 0 ? it->name.requests : it->name.batch;
}

static bool is_near(int64_t batch, int64_t median)
{
	return batch >= 0 && 10 * llabs(batch - median) <= median;
}

/* The longest run near the median; room has n values. */
static void find_steady(
        const struct ht_iteration *list, size_t n, int64_t *room, struct ht_phase_sum *p)
{
	size_t n_decode = 0, n_room = 0, best = 0, best_at = 0, at = 0;
	size_t n_left_out = ((size_t)p->n + 9) / 10;
	for (size_t i = 0; i < n; i++) {
		bool counts = list[i].name.phase == HT_PHASE_DECODE && n_decode++ >= n_left_out;
		if (counts && batch_of(&list[i]) >= 0)
			room[n_room++] = batch_of(&list[i]);
	}
	if (!n_room)
		return;
	qsort(room, n_room, sizeof *room, ht_compare_i64);
	int64_t median = percentile(room, n_room, 50);
	n_decode = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_decode = list[i].name.phase == HT_PHASE_DECODE;
		n_decode += is_decode;
		if (!is_decode || n_decode <= n_left_out || !is_near(batch_of(&list[i]), median)) {
			at = i + 1;
			continue;
		}
		if (i + 1 - at > best) {
			best = i + 1 - at;
			best_at = at;
		}
	}
	for (size_t i = 0; i < best; i++) {
		const struct ht_iteration *it = &list[best_at + i];
		room[i] = it->wall_ns;
		ht_sum(&p->steady_tokens, it->name.tokens > 0 ? it->name.tokens : 0);
		ht_sum(&p->steady_wall_ns, it->wall_ns);
	}
	if (!best)
		return;
	qsort(room, best, sizeof *room, ht_compare_i64);
	p->steady_n = (int64_t)best;
	p->steady_p50_ns = percentile(room, best, 50);
	p->steady_p99_ns = percentile(room, best, 99);
}

static void sum_phase(
        const struct ht_iteration *list, size_t n, int64_t *room, struct ht_phase_sum *p)
{
	int64_t most = -1;
	size_t n_room = 0;
	for (size_t i = 0; i < n; i++) {
		if (list[i].name.phase != p->phase)
			continue;
		add_up(&list[i], p);
		room[n_room++] = list[i].wall_ns;
		if (list[i].wall_ns > most) {
			most = list[i].wall_ns;
			p->longest = list[i].row;
		}
	}
	if (!n_room)
		return;
	qsort(room, n_room, sizeof *room, ht_compare_i64);
	p->p50_ns = percentile(room, n_room, 50);
	p->p99_ns = percentile(room, n_room, 99);
	if (p->phase == HT_PHASE_DECODE)
		find_steady(list, n, room, p);
}

enum ht_status ht_phases_sum(struct ht_run *run, const struct ht_iteration *list, size_t n,
        struct ht_phase_sum ret_sums[static HT_MOST_PHASES], size_t *ret_n)
{
	static const enum ht_phase order[HT_MOST_PHASES] = { HT_PHASE_PREFILL, HT_PHASE_DECODE,
		HT_PHASE_MIXED, HT_PHASE_OTHER };
	int64_t *room = ht_arena_room(run->scratch, (n + 1) * sizeof *room);
	*ret_n = 0;
	if (!room)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < HT_MOST_PHASES; i++) {
		struct ht_phase_sum sum = {
			.phase = order[i], .requests = -1, .tokens = -1, .kv_tokens = -1
		};
		sum_phase(list, n, room, &sum);
		if (sum.n)
			ret_sums[(*ret_n)++] = sum;
	}
	return HT_OK;
}
