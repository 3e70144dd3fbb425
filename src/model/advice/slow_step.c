/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_step.c - see slow_step.h.
 */
#include "model/advice/slow_step.h"

#include "base/sort.h"
#include "model/numbers/stats.h"
#include "model/rows/addresses.h"
#include "model/rows/work_names.h"
#include "model/steps/step_profile.h"
#include "store/earlier_work.h"

#include <inttypes.h>
#include <string.h>

/* The step to compare with: of those that are nearest to the median the first. */
static size_t find_typical(const struct ht_bounds *bounds, int64_t median_ns)
{
	size_t best = 0;
	int64_t best_ns = INT64_MAX;
	for (size_t i = 0; i < bounds->n; i++) {
		if (bounds->list[i].is_first)
			continue;
		int64_t ns = ht_sub_sat(ht_bound_ns(&bounds->list[i]), median_ns);
		ns = ns < 0 ? -ns : ns;
		if (ns < best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	return best;
}

bool ht_step_is_behind(const struct ht_bound *bound, int64_t unlaunched_ns)
{
	return bound->is_first && unlaunched_ns != HT_NO_I64 && unlaunched_ns > bound->start;
}

/* The longest, and what all slow ones have above the median. */
static enum ht_status find_longest(
        struct ht_run *run, const struct ht_bounds *bounds, struct ht_slow_step *slow)
{
	int64_t *lengths = ht_arena_alloc(run->scratch, (bounds->n + 1) * sizeof *lengths);
	int64_t longest_ns = 0, unlaunched_ns;
	size_t n = 0;
	if (!lengths)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_unlaunched_end(run->ctx, run->scratch, run->trace, &unlaunched_ns));
	for (size_t i = 0; i < bounds->n; i++)
		if (!bounds->list[i].is_first)
			lengths[n++] = ht_bound_ns(&bounds->list[i]);
	if (n < HT_SLOW_STEPS_LEAST)
		return HT_OK;
	slow->median_ns = ht_middle_i64(lengths, n);
	for (size_t i = 0; i < bounds->n; i++) {
		int64_t ns = ht_bound_ns(&bounds->list[i]);
		if (!ht_step_is_slow(ns, slow->median_ns) ||
		        ht_step_is_behind(&bounds->list[i], unlaunched_ns))
			continue;
		ht_sum(&slow->excess_ns, ns - slow->median_ns);
		slow->n++;
		if (ns > longest_ns) {
			longest_ns = ns;
			slow->i_bound = i;
		}
	}
	return HT_OK;
}

static enum ht_busy grown_role(
        const struct ht_bounds *bounds, const int64_t (*ns)[HT_N_BUSY], size_t slow)
{
	enum ht_busy most = HT_BUSY_OTHER;
	int64_t most_ns = 0;
	for (int role = 0; role < HT_N_BUSY; role++) {
		int64_t others_ns = 0;
		for (size_t i = 0; i < bounds->n; i++)
			ht_sum(&others_ns, i == slow ? 0 : ns[i][role]);
		int64_t more_ns = ns[slow][role] - others_ns / (int64_t)(bounds->n - 1);
		if (more_ns > most_ns) {
			most_ns = more_ns;
			most = role;
		}
	}
	return most;
}

/* Communication on the host, where there is no kernel of it, is on the host as well. */
static bool runs_in(enum ht_busy role, int64_t place)
{
	switch (role) {
	case HT_BUSY_KERNEL: return place == HT_PLACE_KERNEL;
	case HT_BUSY_MEMCPY:
	case HT_BUSY_MEMSET: return place == HT_PLACE_COPY;
	case HT_BUSY_COMM: return place == HT_PLACE_COMM || place == HT_PLACE_BACKGROUND;
	default: return place == HT_PLACE_CPU;
	}
}

struct share {
	const char *name;
	int64_t ns; /* of the slow step; of the typical one negative */
};

static int by_name(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	return strcmp(a->name, b->name);
}

/* What is around an event, and at most so much longer, is the same thing under the name that the program has for it. */
#define AROUND 1.25

static uint32_t outermost(const struct ht_trace *t, uint32_t row)
{
	const double most_ns = AROUND * (double)t->dur_ns[row];
	for (uint32_t up = t->parent[row]; up != HT_NONE && !ht_kind_is_gpu_work(t->kind[row]);
	        up = t->parent[up]) {
		bool is_step = t->name[up] != HT_NO_STR &&
		               (ht_name_traits(ht_str(t, t->name[up])) & HT_TRAIT_STEP);
		if (!ht_is_span(t, up) || is_step || (double)t->dur_ns[up] > most_ns)
			break;
		row = up;
	}
	return row;
}

/* The event behind the name that grew. */
static enum ht_status find_event(struct ht_run *run, const struct ht_bound *step, const char *name,
        struct ht_arena *arena, struct ht_slow_step *slow)
{
	const struct ht_trace *t = run->trace;
	/* on the host it begins while the step before may still be at work */
	int64_t start_ns = t->steps[step->i_step].ts_ns;
	for (uint32_t row = 0; row < t->n_kind; row++)
		if (ht_is_span(t, row) && t->name[row] != HT_NO_STR && t->ts_ns[row] >= start_ns &&
		        t->ts_ns[row] < step->end &&
		        (slow->row == HT_NONE || t->dur_ns[row] > t->dur_ns[slow->row]) &&
		        !strcmp(ht_str(t, t->name[row]), name))
			slow->row = row;
	if (slow->row == HT_NONE)
		return HT_OK;
	uint32_t around = outermost(t, slow->row);
	if (around != slow->row && t->name[around] != HT_NO_STR &&
	        t->name[around] != t->name[slow->row]) {
		const char *text =
		        ht_copy_without_addresses(run->scratch, ht_str(t, t->name[around]));
		slow->around = text ? ht_arena_printf(arena, "%s", text) : NULL;
		if (!slow->around)
			return ht_fail_nomem(run->ctx);
	}
	slow->row = around;
	return HT_OK;
}

/* A name that grew by less than the least explains nothing. */
static enum ht_status find_name(struct ht_run *run, const ht_table *names,
        const struct ht_bound *step, int64_t excess_ns, struct ht_arena *arena,
        struct ht_slow_step *slow)
{
	size_t n_rows = ht_table_n_rows(names), n = 0;
	struct share *shares = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof *shares);
	const char *most = NULL;
	if (!shares)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n_rows; i++) {
		int64_t ns = ht_table_i64(names, i, HT_PROFILE_NS);
		bool own = ht_table_i64(names, i, HT_PROFILE_STEP) == step->number;
		if (runs_in(slow->role, ht_table_i64(names, i, HT_PROFILE_PLACE)))
			shares[n++] = (struct share){ ht_table_str(names, i, HT_PROFILE_NAME),
				own ? ns : -ns };
	}
	ht_sort_items(run->ctx->mem, shares, n, sizeof *shares, by_name);
	for (size_t first = 0, end; first < n; first = end) {
		int64_t more_ns = 0;
		for (end = first; end < n && !by_name(&shares[first], &shares[end]); end++)
			ht_sum(&more_ns, shares[end].ns);
		if (more_ns > slow->name_ns) {
			slow->name_ns = more_ns;
			most = shares[first].name;
		}
	}
	if (!most || slow->name_ns < excess_ns / 2)
		return HT_OK;
	/* work of the device may hide a part of it */
	slow->name_ns = slow->name_ns < excess_ns ? slow->name_ns : excess_ns;
	const char *brief = ht_name_shorten(run, most);
	brief = brief ? ht_copy_without_addresses(run->scratch, brief) : NULL;
	slow->name = brief ? ht_arena_printf(arena, "%s", brief) : NULL;
	if (!slow->name)
		return ht_fail_nomem(run->ctx);
	return find_event(run, step, most, arena, slow);
}

static enum ht_status look_into(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_profile_tables *tables, struct ht_arena *arena, struct ht_slow_step *slow)
{
	const struct ht_profile_options options = { .by = HT_BY_NAME, .cpu = true, .gpu = true };
	int64_t number = bounds->list[slow->i_bound].number;
	int64_t typical = bounds->list[find_typical(bounds, slow->median_ns)].number;
	struct ht_run two_steps = *run;
	two_steps.step = ht_arena_printf(run->scratch, "%" PRId64 ",%" PRId64, number, typical);
	if (!two_steps.step)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_profile_put(&two_steps, &options, tables));
	HT_TRY(ht_table_finish(run->ctx, tables->names));
	int64_t excess_ns = ht_bound_ns(&bounds->list[slow->i_bound]) - slow->median_ns;
	return find_name(run, tables->names, &bounds->list[slow->i_bound], excess_ns, arena, slow);
}

enum ht_status ht_slow_step_find(struct ht_run *run, const struct ht_bounds *bounds,
        const int64_t (*ns)[HT_N_BUSY], struct ht_arena *arena, struct ht_slow_step *ret_slow)
{
	struct ht_profile_tables tables = { 0 };
	*ret_slow = (struct ht_slow_step){ .i_bound = SIZE_MAX, .row = HT_NONE };
	if (bounds->n < HT_SLOW_STEPS_LEAST)
		return HT_OK;
	HT_TRY(find_longest(run, bounds, ret_slow));
	if (ret_slow->i_bound == SIZE_MAX)
		return HT_OK;
	ret_slow->role = grown_role(bounds, ns, ret_slow->i_bound);
	HT_TRY(ht_table_new(
	        run->ctx, NULL, ht_profile_columns, HT_N_PROFILE_COLUMNS, &tables.names));
	enum ht_status status = ht_table_new(
	        run->ctx, NULL, ht_profile_step_columns, HT_N_PROFILE_STEP_COLUMNS, &tables.steps);
	if (status == HT_OK)
		status = look_into(run, bounds, &tables, arena, ret_slow);
	ht_table_free(tables.steps);
	ht_table_free(tables.names);
	return status;
}
