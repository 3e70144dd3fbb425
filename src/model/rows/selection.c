/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c - see selection.h.
 */
#include "model/rows/selection.h"

#include "base/list.h"
#include "base/sort.h"
#include "model/numbers/interval.h"
#include "model/policy.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

static bool is_text(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

bool ht_steps_are_named(const char *text)
{
	return text && *text && strcmp(text, "all") != 0;
}

enum ht_status ht_steps_check(ht_ctx *ctx, const char *option, const char *text)
{
	struct ht_list list = { 0 };
	if (is_text(text, "last"))
		return HT_OK;
	HT_TRY(ht_list_parse(ctx, option, text, &list));
	ht_list_done(ctx, &list);
	return HT_OK;
}

/* ---- one rank ---- */

static bool any_complete(const struct ht_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i].is_complete)
			return true;
	return false;
}

static bool are_in_turn(const struct ht_step *steps, size_t n)
{
	struct ht_depth depth = { 0 };
	for (size_t i = 0; i < n; i++)
		ht_depth_add(&depth, steps[i].ts_ns, steps[i].end_ns);
	return ht_depth_is_steps(&depth);
}

/* The number of the last step, of complete ones where there are any. */
static int64_t last_number(const struct ht_step *steps, size_t n)
{
	bool complete = any_complete(steps, n);
	int64_t last = HT_NO_I64;
	for (size_t i = 0; i < n; i++)
		if ((!complete || steps[i].is_complete) &&
		        (last == HT_NO_I64 || steps[i].number > last))
			last = steps[i].number;
	return last;
}

enum ht_status ht_selection_make(struct ht_run *run, const char *text, const struct ht_step *steps,
        size_t n, struct ht_selection *ret_selection)
{
	bool named = ht_steps_are_named(text), is_last = is_text(text, "last");
	struct ht_list list = { 0 };
	*ret_selection = (struct ht_selection){ .is_whole = true };
	if (!named && ((text && *text) || !any_complete(steps, n) || !are_in_turn(steps, n)))
		return HT_OK;
	bool *in = ht_arena_alloc(run->scratch, n + 1);
	if (!in)
		return ht_fail_nomem(run->ctx);
	if (named && !is_last)
		HT_TRY(ht_list_parse(run->ctx, "--step", text, &list));
	int64_t last = is_last ? last_number(steps, n) : HT_NO_I64;
	for (size_t i = 0; i < n; i++)
		in[i] = is_last ? steps[i].number == last
		        : named ? ht_list_has(&list, steps[i].number)
		                : steps[i].is_complete;
	ht_list_done(run->ctx, &list);
	*ret_selection = (struct ht_selection){ .in = in };
	return HT_OK;
}

enum ht_status ht_selection_of(struct ht_run *run, struct ht_selection *ret_selection)
{
	return ht_selection_make(
	        run, run->step, run->trace->steps, run->trace->n_steps, ret_selection);
}

/* ---- all ranks ---- */

/* A step of a rank. */
struct found {
	int64_t number;
	size_t i_rank; /* of the chosen ones */
	bool in, is_cut;
	uint32_t n_missing;
};

struct all_ranks {
	struct found *list; /* by number, then rank */
	size_t n;
	size_t n_ranks, n_whole; /* with steps; of them looked at whole, as no step is complete */
	size_t n_without;        /* without steps */
};

static int by_number(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	int order = ht_order_i64(a->number, b->number);
	return order ? order : (a->i_rank > b->i_rank) - (a->i_rank < b->i_rank);
}

static enum ht_status find_all(struct ht_run *run, size_t side, struct all_ranks *ret_all)
{
	struct all_ranks all = { 0 };
	size_t n = 0;
	for (size_t i = 0; i < run->chosen[side].n; i++)
		n += ht_run_chosen(run, side, i)->n_steps;
	all.list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *all.list);
	if (!all.list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < run->chosen[side].n; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, side, i);
		struct ht_selection selection;
		HT_TRY(ht_selection_make(
		        run, run->steps[side], rank->steps, rank->n_steps, &selection));
		*(rank->n_steps ? &all.n_ranks : &all.n_without) += 1;
		all.n_whole += rank->n_steps && selection.is_whole;
		for (uint32_t k = 0; k < rank->n_steps; k++)
			all.list[all.n++] = (struct found){ rank->steps[k].number, i,
				ht_selection_has(&selection, k) && !selection.is_whole,
				!rank->steps[k].is_complete, rank->steps[k].n_missing };
	}
	qsort(all.list, all.n, sizeof *all.list, by_number);
	*ret_all = all;
	return HT_OK;
}

enum ht_status ht_common_steps_make(
        struct ht_run *run, size_t side, struct ht_common_steps *ret_common)
{
	struct ht_common_steps common = { .is_any = true };
	struct all_ranks all;
	*ret_common = common;
	/* what the user lists is looked at where it is */
	if (ht_steps_are_named(run->steps[side]) && !is_text(run->steps[side], "last"))
		return HT_OK;
	HT_TRY(find_all(run, side, &all));
	common.numbers = ht_arena_alloc(run->scratch, (all.n + 1) * sizeof *common.numbers);
	if (!common.numbers)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0, end; i < all.n; i = end) {
		size_t n_in = 0;
		for (end = i; end < all.n && all.list[end].number == all.list[i].number; end++)
			n_in += all.list[end].in &&
			        (end == i || !all.list[end - 1].in ||
			                all.list[end - 1].i_rank != all.list[end].i_rank);
		if (n_in == all.n_ranks)
			common.numbers[common.n++] = all.list[i].number;
	}
	common.is_any = !common.n;
	*ret_common = common;
	return HT_OK;
}

bool ht_common_steps_have(const struct ht_common_steps *common, int64_t number)
{
	return common->is_any ||
	       bsearch(&number, common->numbers, common->n, sizeof number, ht_compare_i64) != NULL;
}

/* ---- in words ---- */

/* A title is read: of steps with gaps between all of them the first ones do. */
#define MOST_RANGES 16

/* "3–4, 7" of numbers that ascend. */
static const char *list_text(struct ht_run *run, const int64_t *numbers, size_t n)
{
	const char *text = "";
	size_t n_ranges = 0;
	for (size_t i = 0, k; text && i < n; i = k) {
		if (n_ranges++ == MOST_RANGES)
			return ht_arena_printf(run->scratch, "%s and %zu more", text, n - i);
		for (k = i + 1; k < n && numbers[k] == numbers[k - 1] + 1;)
			k++;
		const char *comma = i ? ", " : "";
		long long first = numbers[i], last = numbers[k - 1];
		text = first == last ? ht_arena_printf(run->scratch, "%s%s%lld", text, comma, first)
		                     : ht_arena_printf(run->scratch, "%s%s%lld–%lld", text, comma,
		                               first, last);
	}
	return text;
}

/* Numbers of those that are in, or that are cut; each once. */
static int64_t *pick(struct ht_run *run, const struct all_ranks *all, bool cut, size_t *ret_n)
{
	int64_t *numbers = ht_arena_alloc(run->scratch, (all->n + 1) * sizeof *numbers);
	size_t n = 0;
	for (size_t i = 0; numbers && i < all->n; i++) {
		const struct found *f = &all->list[i];
		if ((cut ? f->is_cut : f->in) && (!n || numbers[n - 1] != f->number))
			numbers[n++] = f->number;
	}
	*ret_n = n;
	return numbers;
}

/* Where steps are cut: "", " on rank 3", " on 4 ranks". */
static const char *cut_where(struct ht_run *run, size_t side, const struct all_ranks *all)
{
	size_t n = 0, one = 0;
	bool *seen = ht_arena_alloc(run->scratch, run->chosen[side].n + 1);
	for (size_t i = 0; seen && i < all->n; i++) {
		const struct found *f = &all->list[i];
		if (!f->is_cut || seen[f->i_rank])
			continue;
		seen[f->i_rank] = true;
		one = f->i_rank;
		n++;
	}
	if (!seen)
		return NULL;
	if (run->chosen[side].n < 2)
		return "";
	if (n == 1)
		return ht_arena_printf(run->scratch, " on rank %lld",
		        (long long)ht_run_chosen(run, side, one)->number);
	return n == run->chosen[side].n ? " on all ranks"
	                                : ht_arena_printf(run->scratch, " on %zu ranks", n);
}

/* "; step 7 is cut: 41 launches without activity", or "". */
static const char *cut_text(struct ht_run *run, size_t side, const struct all_ranks *all)
{
	size_t n = 0;
	uint64_t n_missing = 0;
	const int64_t *numbers = pick(run, all, true, &n);
	const char *list = numbers ? list_text(run, numbers, n) : NULL;
	const char *where = list && n ? cut_where(run, side, all) : list;
	if (!where || !n)
		return where;
	for (size_t i = 0; i < all->n; i++)
		n_missing += all->list[i].is_cut ? all->list[i].n_missing : 0;
	const char *why = n_missing == 1 ? "1 launch without activity"
	                  : n_missing
	                          ? ht_arena_printf(run->scratch, "%llu launches without activity",
	                                    (unsigned long long)n_missing)
	                          : "no activity";
	return why ? ht_arena_printf(run->scratch, "; step%s %s %s cut%s: %s", n == 1 ? "" : "s",
	                     list, n == 1 ? "is" : "are", where, why)
	           : NULL;
}

const char *ht_selection_text(struct ht_run *run, size_t side)
{
	struct all_ranks all;
	size_t n = 0;
	const char *step = run->steps[side];
	if (run->policy->select_rows && !step && run->rosters[side]->has_two_steps)
		return "all but the last step";
	if (is_text(step, "all") || (run->policy->select_rows && !step))
		return "whole trace";
	if (find_all(run, side, &all) != HT_OK)
		return NULL;
	const int64_t *numbers = pick(run, &all, false, &n);
	const char *cut = numbers && !ht_steps_are_named(step) ? cut_text(run, side, &all) : "";
	if (!numbers || !cut)
		return NULL;
	if (!n && ht_steps_are_named(step))
		return "no steps";
	if (!n)
		return ht_arena_printf(run->scratch, "whole trace%s", cut);
	const char *list = list_text(run, numbers, n);
	const char *rest = all.n_whole + all.n_without && !ht_steps_are_named(step)
	                           ? ht_arena_printf(run->scratch, "; %zu rank%s whole",
	                                     all.n_whole + all.n_without,
	                                     all.n_whole + all.n_without == 1 ? "" : "s")
	                           : "";
	return list && rest ? ht_arena_printf(run->scratch, "step%s %s%s%s", n == 1 ? "" : "s",
	                              list, cut, rest)
	                    : NULL;
}
