/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_sides.c - see diff_sides.h.
 */
#include "model/compare/diff_sides.h"
#include "base/list.h"
#include "model/policy.h"
#include "model/rows/selection.h"
#include "base/sort.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

/* The user's --rank restricts the first set; the same ranks are meant in the second. */
static bool is_chosen(const struct ht_run *run, int64_t rank)
{
	size_t at = ht_roster_find(run->rosters[0], rank);
	for (size_t i = 0; i < run->chosen[0].n; i++)
		if (run->chosen[0].at[i] == at)
			return true;
	return false;
}

/* Whether every set has the rank. */
static bool all_have(const struct ht_run *run, int64_t rank)
{
	for (size_t side = 0; side < run->n_sets; side++)
		if (ht_roster_find(run->rosters[side], rank) == SIZE_MAX)
			return false;
	return true;
}

static bool share_a_rank(const struct ht_run *run)
{
	for (size_t i = 0; i < run->chosen[0].n; i++)
		if (all_have(run, ht_run_chosen(run, 0, i)->number))
			return true;
	return false;
}

/* text is the list of ranks that the user gave, option where; or NULL. */
static enum ht_status choose_ranks(struct ht_run *run, size_t side, const char *option,
        const char *text, struct ht_chosen *ret_chosen)
{
	const struct ht_roster *roster = run->rosters[side];
	struct ht_list list = { 0 };
	size_t *at = ht_arena_alloc(run->scratch, (roster->n + 1) * sizeof *at), n = 0;
	if (!at)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_list_parse(run->ctx, option, text, &list));
	bool only_first = !text && (run->policy->compares_counts || !share_a_rank(run));
	for (size_t i = 0; i < roster->n; i++) {
		int64_t rank = roster->ranks[i].number;
		bool wanted = text         ? ht_list_has(&list, rank)
		              : only_first ? i == 0
		                           : is_chosen(run, rank) && all_have(run, rank);
		if (wanted)
			at[n++] = i;
	}
	ht_list_done(run->ctx, &list);
	*ret_chosen = (struct ht_chosen){ at, n };
	if (n == 0 && roster->n)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "run info on the traces to see their ranks", "%s %s: no such rank", option,
		        text ? text : "");
	return HT_OK;
}

/* ---- steps ---- */

/* Step numbers of all chosen ranks, ascending, each once. */
static enum ht_status list_steps(
        struct ht_run *run, size_t side, int64_t **ret_numbers, size_t *ret_n)
{
	size_t n = 0, n_kept = 0;
	for (size_t i = 0; i < run->chosen[side].n; i++)
		n += ht_run_chosen(run, side, i)->n_steps;
	int64_t *numbers = ht_arena_alloc(run->scratch, (n + 1) * sizeof *numbers);
	if (!numbers)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t i = 0; i < run->chosen[side].n; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, side, i);
		for (size_t k = 0; k < rank->n_steps; k++)
			numbers[n++] = rank->steps[k].number;
	}
	qsort(numbers, n, sizeof *numbers, ht_compare_i64);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || numbers[i] != numbers[i - 1])
			numbers[n_kept++] = numbers[i];
	*ret_numbers = numbers;
	*ret_n = n_kept;
	return HT_OK;
}

/* "1,2,5-9": three and more that follow each other become a range. */
static const char *spell_numbers(struct ht_arena *arena, const int64_t *numbers, size_t n)
{
	char *text = ht_arena_alloc(arena, n * 21 + 1), *at = text;
	for (size_t i = 0, end; text && i < n; i = end) {
		for (end = i + 1; end < n && numbers[end] == numbers[end - 1] + 1;)
			end++;
		if (end - i < 3)
			end = i + 1;
		const char *comma = i ? "," : "";
		const char *item =
		        end > i + 1
		                ? ht_arena_printf(arena, "%s%lld-%lld", comma,
		                          (long long)numbers[i], (long long)numbers[end - 1])
		                : ht_arena_printf(arena, "%s%lld", comma, (long long)numbers[i]);
		if (!item)
			return NULL;
		at = stpcpy(at, item);
	}
	return text;
}

/* Where counts are compared, the first step of every set without a choice of its own. */
static enum ht_status choose_steps(struct ht_run *run)
{
	for (size_t i = 0; i < run->n_sets && run->policy->compares_counts; i++) {
		int64_t *numbers = NULL;
		size_t n = 0;
		if (run->steps[i])
			continue;
		HT_TRY(list_steps(run, i, &numbers, &n));
		run->steps[i] = n ? spell_numbers(run->scratch, numbers, 1) : "all";
		if (!run->steps[i])
			return ht_fail_nomem(run->ctx);
	}
	return HT_OK;
}

const char *ht_diff_describe(struct ht_run *run, size_t side)
{
	size_t n = run->chosen[side].n;
	int64_t *numbers = ht_arena_alloc(run->scratch, (n + 1) * sizeof *numbers);
	for (size_t i = 0; numbers && i < n; i++)
		numbers[i] = ht_run_chosen(run, side, i)->number;
	const char *ranks = numbers ? spell_numbers(run->scratch, numbers, n) : NULL;
	const char *steps = ranks ? ht_selection_text(run, side) : NULL;
	return steps ? ht_arena_printf(
	                       run->scratch, "%s %s, %s", n == 1 ? "rank" : "ranks", ranks, steps)
	             : NULL;
}

enum ht_status ht_diff_choose(struct ht_run *run)
{
	static const char *const rank_options[2] = { "--control-rank", "--test-rank" };
	static const char *const step_options[2] = { "--control-step", "--test-step" };
	const char *ranks[2] = { ht_run_str(run, "control-rank"), ht_run_str(run, "test-rank") };
	const char *steps[2] = { ht_run_str(run, "control-step"), ht_run_str(run, "test-step") };
	struct ht_chosen chosen[2];
	if (run->n_sets != 2)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "give the traces of the baseline and of this run",
		        "a comparison needs two sets of traces");
	for (size_t i = 0; i < 2; i++) {
		HT_TRY(choose_ranks(run, i, rank_options[i], ranks[i], &chosen[i]));
		HT_TRY(ht_steps_check(run->ctx, step_options[i], steps[i]));
		run->steps[i] = steps[i] ? steps[i] : run->step;
	}
	memcpy(run->chosen, chosen, sizeof chosen);
	return choose_steps(run);
}

enum ht_status ht_sides_choose(struct ht_run *run)
{
	struct ht_chosen chosen[HT_MAX_SETS] = { { NULL, 0 } };
	for (size_t i = 0; i < run->n_sets; i++)
		HT_TRY(choose_ranks(run, i, "--rank", NULL, &chosen[i]));
	memcpy(run->chosen, chosen, run->n_sets * sizeof *chosen);
	return choose_steps(run);
}
