/*
 * diff_sides.c - see diff_sides.h.
 */
#include "model/diff_sides.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

static bool set_has_rank(const struct ht_set *set, int64_t rank)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->ranks[i] == rank)
			return true;
	return false;
}

/* The user's --rank restricts the first set; the same ranks are meant in the second. */
static bool is_chosen(const struct ht_run *run, int64_t rank)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->ranks[i] == rank)
			return true;
	return false;
}

static bool shares_a_rank(const struct ht_run *run)
{
	for (size_t i = 0; i < run->n; i++)
		if (set_has_rank(run->sets[1], run->ranks[i]))
			return true;
	return false;
}

static enum ht_status allocate_ranks(struct ht_run *side, size_t n)
{
	side->traces = ht_arena_alloc(side->scratch, (n + 1) * sizeof *side->traces);
	side->ranks = ht_arena_alloc(side->scratch, (n + 1) * sizeof *side->ranks);
	side->offset_ns = ht_arena_alloc(side->scratch, (n + 1) * sizeof *side->offset_ns);
	side->n = 0;
	return side->traces && side->ranks && side->offset_ns ? HT_OK : ht_fail_nomem(side->ctx);
}

/* text is the list of ranks that the user gave, or NULL. */
static enum ht_status choose_ranks(
        struct ht_run *run, size_t i_side, const char *text, struct ht_run *side)
{
	static const char *const options[2] = { "--control-rank", "--test-rank" };
	const struct ht_set *set = run->sets[i_side], *other = run->sets[1 - i_side];
	HT_TRY(allocate_ranks(side, set->n));
	struct ht_list list = { 0 };
	HT_TRY(ht_list_parse(run->ctx, options[i_side], text, &list));
	bool only_first = !text && (run->hta_compat || !shares_a_rank(run));
	for (size_t i = 0; i < set->n; i++) {
		int64_t rank = set->ranks[i];
		bool wanted = text         ? ht_list_has(&list, rank)
		              : only_first ? i == 0
		                           : is_chosen(run, rank) && set_has_rank(other, rank);
		if (!wanted)
			continue;
		side->traces[side->n] = set->traces[i];
		side->ranks[side->n] = rank;
		side->offset_ns[side->n++] = set->offset_ns[i];
	}
	ht_list_done(run->ctx, &list);
	side->set = set;
	if (side->n == 0 && set->n)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1,
		        "run info on the traces to see their ranks", "%s %s: no such rank",
		        options[i_side], text ? text : "");
	return HT_OK;
}

/* ---- steps ---- */

static int compare_numbers(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* Step numbers of all chosen ranks, ascending, each once. */
static enum ht_status list_steps(const struct ht_run *side, int64_t **ret_numbers, size_t *ret_n)
{
	size_t n = 0, n_kept = 0;
	for (size_t i = 0; i < side->n; i++)
		n += side->traces[i]->n_steps;
	int64_t *numbers = ht_arena_alloc(side->scratch, (n + 1) * sizeof *numbers);
	if (!numbers)
		return ht_fail_nomem(side->ctx);
	n = 0;
	for (size_t i = 0; i < side->n; i++)
		for (size_t k = 0; k < side->traces[i]->n_steps; k++)
			numbers[n++] = side->traces[i]->steps[k].number;
	qsort(numbers, n, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || numbers[i] != numbers[i - 1])
			numbers[n_kept++] = numbers[i];
	*ret_numbers = numbers;
	*ret_n = n_kept;
	return HT_OK;
}

static const char *spell_numbers(struct ht_arena *arena, const int64_t *numbers, size_t n)
{
	char *text = ht_arena_alloc(arena, n * 21 + 1), *at = text;
	for (size_t i = 0; text && i < n; i++) {
		const char *item =
		        ht_arena_printf(arena, i ? ",%lld" : "%lld", (long long)numbers[i]);
		if (!item)
			return NULL;
		at = stpcpy(at, item);
	}
	return text;
}

/* The default steps of both sides, as many on one as on the other. */
static enum ht_status balance_steps(struct ht_run *run, struct ht_diff_side sides[2])
{
	int64_t *numbers[2] = { NULL, NULL };
	size_t n[2] = { 0, 0 };
	for (size_t i = 0; i < 2; i++) {
		HT_TRY(list_steps(&sides[i].run, &numbers[i], &n[i]));
		if (n[i] > 1 && !run->hta_compat)
			n[i]--;
		if (n[i] > 1 && run->hta_compat)
			n[i] = 1;
	}
	bool both_open = !sides[0].run.step && !sides[1].run.step;
	size_t n_common = n[0] < n[1] ? n[0] : n[1];
	for (size_t i = 0; i < 2; i++) {
		if (sides[i].run.step)
			continue;
		if (both_open && n_common)
			n[i] = n_common;
		sides[i].run.step = n[i] ? spell_numbers(run->scratch, numbers[i], n[i]) : "all";
		if (!sides[i].run.step)
			return ht_fail_nomem(run->ctx);
	}
	return HT_OK;
}

static enum ht_status describe(struct ht_run *run, struct ht_diff_side *side)
{
	const char *ranks = spell_numbers(run->scratch, side->run.ranks, side->run.n);
	const char *step = side->run.step;
	if (!ranks)
		return ht_fail_nomem(run->ctx);
	side->ranks_text =
	        ht_arena_printf(run->scratch, side->run.n == 1 ? "rank %s" : "ranks %s", ranks);
	side->steps_text = strcmp(step, "all") == 0
	                           ? "whole trace"
	                           : ht_arena_printf(run->scratch,
	                                     strpbrk(step, ",-") ? "steps %s" : "step %s", step);
	return side->ranks_text && side->steps_text ? HT_OK : ht_fail_nomem(run->ctx);
}

enum ht_status ht_diff_sides_make(struct ht_run *run, struct ht_diff_side ret_sides[2])
{
	const char *ranks[2] = { ht_run_str(run, "control-rank"), ht_run_str(run, "test-rank") };
	const char *steps[2] = { ht_run_str(run, "control-step"), ht_run_str(run, "test-step") };
	static const char *const options[2] = { "--control-step", "--test-step" };
	for (size_t i = 0; i < 2; i++) {
		struct ht_diff_side *side = &ret_sides[i];
		*side = (struct ht_diff_side){ .run = *run };
		HT_TRY(choose_ranks(run, i, ranks[i], &side->run));
		struct ht_list list = { 0 };
		HT_TRY(ht_list_parse(run->ctx, options[i], steps[i], &list));
		ht_list_done(run->ctx, &list);
		side->run.step = steps[i] ? steps[i] : run->step;
	}
	HT_TRY(balance_steps(run, ret_sides));
	for (size_t i = 0; i < 2; i++)
		HT_TRY(describe(run, &ret_sides[i]));
	return HT_OK;
}
