/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_ties_test.c - difference constraints against trying all small moves.
 */
#include "base/mem.h"
#include "model/clocks/clock_ties.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define N_RANKS 3
#define REACH   24

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Up to four ties of two or three ranks, some of a send and a receive. */
static void make_ties(uint32_t *seed, struct ht_ties *ties)
{
	ties->n = 1 + next_random(seed) % 4;
	ties->n_ranks = N_RANKS;
	ties->first[0] = 0;
	for (size_t t = 0; t < ties->n; t++) {
		size_t n = ties->first[t], skip = next_random(seed) % (N_RANKS + 1);
		bool pair = skip < N_RANKS && next_random(seed) % 3 == 0;
		for (size_t r = 0, k = 0; r < N_RANKS; r++) {
			if (r == skip)
				continue;
			int64_t start = next_random(seed) % 10, dur = next_random(seed) % 6;
			int tie = !pair ? HT_TIE_ARRIVES | HT_TIE_LEAVES
			          : k   ? HT_TIE_LEAVES
			                : HT_TIE_ARRIVES;
			ties->calls[n++] = (struct ht_tied_call){ r, start, start + dur, tie };
			k++;
		}
		ties->first[t + 1] = n;
	}
}

static bool holds(const struct ht_ties *ties, const int64_t *d, int64_t slack)
{
	for (size_t t = 0; t < ties->n; t++)
		for (size_t i = ties->first[t]; i < ties->first[t + 1]; i++)
			for (size_t k = ties->first[t]; k < ties->first[t + 1]; k++) {
				const struct ht_tied_call *a = &ties->calls[i],
				                          *b = &ties->calls[k];
				if (a->tie & HT_TIE_ARRIVES && b->tie & HT_TIE_LEAVES &&
				        a->start_ns + d[a->i_rank] >
				                b->end_ns + d[b->i_rank] + slack)
					return false;
			}
	return true;
}

/* By trying: the smallest largest move, INT64_MAX when there is none. */
static int64_t smallest_move(const struct ht_ties *ties)
{
	int64_t best = INT64_MAX, d[N_RANKS];
	for (d[0] = -REACH; d[0] <= REACH; d[0]++)
		for (d[1] = -REACH; d[1] <= REACH; d[1]++)
			for (d[2] = -REACH; d[2] <= REACH; d[2]++) {
				int64_t largest = 0;
				for (size_t i = 0; i < N_RANKS; i++) {
					int64_t size = d[i] < 0 ? -d[i] : d[i];
					largest = size > largest ? size : largest;
				}
				if (largest < best && holds(ties, d, 0))
					best = largest;
			}
	return best;
}

/* By trying: how far rank 1 can go against rank 0. */
static void try_slack(const struct ht_ties *ties, int64_t *ret_forward, int64_t *ret_back)
{
	int64_t d[N_RANKS] = { 0 };
	*ret_forward = *ret_back = 0;
	for (d[1] = -REACH; d[1] <= REACH; d[1]++)
		for (d[2] = -REACH; d[2] <= REACH; d[2]++)
			if (holds(ties, d, 0)) {
				*ret_forward = d[1] > *ret_forward ? d[1] : *ret_forward;
				*ret_back = -d[1] > *ret_back ? -d[1] : *ret_back;
			}
}

static void mends_by_the_smallest_moves(void **state)
{
	(void)state;
	uint32_t seed = 3;
	struct ht_mem *mem = ht_mem_new();
	struct ht_arena scratch;
	ht_arena_init(&scratch, mem);
	for (int round = 0; round < 150; round++) {
		struct ht_tied_call calls[12];
		size_t first[5];
		struct ht_ties ties = { .calls = calls, .first = first };
		int64_t move[N_RANKS] = { 0 };
		bool nomem = false;
		make_ties(&seed, &ties);
		int64_t expected = smallest_move(&ties);
		bool found = ht_ties_mend(&scratch, &ties, 0, move, &nomem);
		assert_false(nomem);
		assert_int_equal(found, expected != INT64_MAX);
		if (!found)
			continue;
		/* halves are cut off */
		assert_true(holds(&ties, move, 1));
		for (size_t i = 0; i < N_RANKS; i++)
			assert_true(move[i] <= expected && -move[i] <= expected);
	}
	ht_arena_done(&scratch);
	ht_mem_release(mem);
}

static void slack_is_how_far_a_rank_can_go(void **state)
{
	(void)state;
	uint32_t seed = 11;
	for (int round = 0; round < 300; round++) {
		struct ht_tied_call calls[12];
		size_t first[5];
		struct ht_ties ties = { .calls = calls, .first = first };
		int64_t forward[N_RANKS], back[N_RANKS], most, least, worst;
		const int64_t none[N_RANKS] = { 0 };
		make_ties(&seed, &ties);
		assert_int_equal(ht_ties_broken(&ties, 0, &worst) == 0, holds(&ties, none, 0));
		ht_ties_drop_broken(&ties, 0);
		assert_true(holds(&ties, none, 0));
		ht_ties_slack(&ties, 0, 0, forward, back);
		try_slack(&ties, &most, &least);
		assert_int_equal(forward[1] < REACH ? forward[1] : REACH, most);
		assert_int_equal(back[1] < REACH ? back[1] : REACH, least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mends_by_the_smallest_moves),
		cmocka_unit_test(slack_is_how_far_a_rank_can_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
