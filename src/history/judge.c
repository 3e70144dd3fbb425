/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - see history.h: which changes are worth a word.
 *
 * A change went away when the mean of the last runs, 5 or a fifth of all, is nearer to the level before it. It is part of another when the next
 * series above it in the tree changed likewise, at most one run apart. It is a shift of cost when the one above hardly changed, by a quarter of it at
 * most, and a sibling changed the other way by half of it or more. It is weak when it does not stand
 * out among all series: chances (p times the places that a change and its level can begin at) are judged together by Benjamini and Hochberg at 5 %, the level at which runs
 * that do not differ raise an alarm. All else is a regression or an improvement of its own.
 */
#include "history/history.h"

#include "base/sort.h"
#include "model/numbers/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAST_RUNS    5
#define LAST_SHARE   0.2
#define SAME_SHARE   0.25
#define SHIFT_SHARE  0.5
#define MAX_CHILDREN 3
#define ALARM_LEVEL  0.05

const char *ht_change_kind_name(enum ht_change_kind kind)
{
	static const char *const names[HT_CHANGE_N_KINDS] = { "regression", "improvement",
		"cost shift", "part", "went away", "weak" };
	return names[kind];
}

struct judging {
	const struct ht_history_data *data;
	struct ht_judged *list;
	size_t n;
	double limit;                           /* of chances; -1: none counts */
	const struct ht_history_series **above; /* by series: the next one up; NULL: none */
	size_t *by_above;                       /* changes by the series above them, then index */
};

/* ---- the tree ---- */

static const struct ht_history_series *find_series(const struct ht_history_data *data,
        const char *path, size_t n_path, const struct ht_measure *like)
{
	size_t low = 0, high = data->n_series;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(data->series[middle].about.path, path, n_path);
		if (!order)
			order = data->series[middle].about.path[n_path] ? 1 : 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct ht_history_series *found = NULL;
	for (size_t i = low; i < data->n_series; i++) {
		const struct ht_measure *about = &data->series[i].about;
		if (strncmp(about->path, path, n_path) != 0 || about->path[n_path])
			break;
		if (!strcmp(about->metric, like->metric))
			return &data->series[i];
		if (!found && !strcmp(about->unit, like->unit))
			found = &data->series[i];
	}
	return found;
}

static const struct ht_history_series *find_above(
        const struct ht_history_data *data, const struct ht_measure *about)
{
	const struct ht_history_series *found = NULL;
	for (size_t n = strlen(about->path); n && !found; n--)
		if (about->path[n - 1] == '/')
			found = find_series(data, about->path, n - 1, about);
	return found;
}

/* ---- one change ---- */

static double mean_of(const double *values, size_t from, size_t to)
{
	double sum = 0;
	for (size_t i = from; i < to; i++)
		sum += values[i];
	return to > from ? sum / (double)(to - from) : 0;
}

static bool went_away(const struct judging *j, const struct ht_judged *judged)
{
	size_t n = j->data->n_runs, last = (size_t)ceil(LAST_SHARE * (double)n);
	last = last < LAST_RUNS ? LAST_RUNS : last;
	double now = mean_of(judged->series->values, n > last ? n - last : 0, n);
	return fabs(now - judged->change->mean_before) < fabs(now - judged->change->mean_after);
}

static const struct ht_history_series *above_of(
        const struct judging *j, const struct ht_judged *judged)
{
	return j->above[judged->series - j->data->series];
}

static bool find_limit(struct judging *j, struct ht_arena *arena)
{
	size_t n = j->data->n_series;
	double *chances = ht_arena_alloc(arena, (n + 1) * sizeof *chances);
	if (!chances)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct ht_history_series *s = &j->data->series[i];
		chances[i] = 1;
		for (size_t k = 0; k < s->n_changes; k++)
			chances[i] =
			        fmin(chances[i], ht_change_chance(&s->changes[k], j->data->n_runs));
	}
	/* further changes of a series that has one count up to the level that the series were held to */
	double largest = ht_false_discovery_limit(chances, n, ALARM_LEVEL);
	size_t n_found = 0;
	while (n_found < n && chances[n_found] <= largest)
		n_found++;
	j->limit = n_found ? ALARM_LEVEL * (double)n_found / (double)n : -1;
	return true;
}

/* A change of the series above at the same run, in the same direction. */
static bool is_part(const struct judging *j, const struct ht_judged *judged)
{
	const struct ht_history_series *above = above_of(j, judged);
	for (size_t i = 0; above && i < above->n_changes; i++) {
		const struct ht_change *c = &above->changes[i];
		if (c->index + 1 >= judged->change->index &&
		        c->index <= judged->change->index + 1 &&
		        (c->mean_after > c->mean_before) == (judged->cost > 0))
			return true;
	}
	return false;
}

/* The change of the series above over the same runs. */
static double change_above(
        const struct ht_history_series *above, const struct ht_judged *judged, size_t n_runs)
{
	const struct ht_history_series *s = judged->series;
	size_t at = (size_t)(judged->change - s->changes), index = judged->change->index;
	size_t start = at ? s->changes[at - 1].index : 0;
	size_t end = at + 1 < s->n_changes ? s->changes[at + 1].index : n_runs;
	return mean_of(above->values, index, end) - mean_of(above->values, start, index);
}

/* ---- siblings: slices of by_above ---- */

struct slice {
	size_t first, end;
};

/* Changes below a series at runs from index - 1 to index + 1. */
static struct slice find_below(
        const struct judging *j, const struct ht_history_series *above, size_t index)
{
	size_t ends[2];
	for (int k = 0; k < 2; k++) {
		size_t low = 0, high = j->n, limit = k ? index + 2 : index ? index - 1 : 0;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			const struct ht_judged *other = &j->list[j->by_above[middle]];
			const struct ht_history_series *its = above_of(j, other);
			bool before = its != above ? its < above : other->change->index < limit;
			if (before)
				low = middle + 1;
			else
				high = middle;
		}
		ends[k] = low;
	}
	return (struct slice){ ends[0], ends[1] };
}

/* Whether a sibling changed the other way, by enough. */
static bool has_shift(const struct judging *j, const struct ht_judged *judged)
{
	const struct ht_history_series *above = above_of(j, judged);
	if (!above || fabs(change_above(above, judged, j->data->n_runs)) >
	                      SAME_SHARE * fabs(judged->cost))
		return false;
	struct slice slice = find_below(j, above, judged->change->index);
	for (size_t i = slice.first; i < slice.end; i++) {
		const struct ht_judged *other = &j->list[j->by_above[i]];
		if ((other->cost > 0) != (judged->cost > 0) &&
		        fabs(other->cost) >= SHIFT_SHARE * fabs(judged->cost))
			return true;
	}
	return false;
}

static const char *list_children(
        const struct judging *j, const struct ht_judged *judged, struct ht_arena *arena)
{
	struct slice slice = find_below(j, judged->series, judged->change->index);
	const char *text = "";
	double limit = INFINITY;
	for (size_t k = 0; k < MAX_CHILDREN && text; k++) {
		const struct ht_judged *best = NULL;
		for (size_t i = slice.first; i < slice.end; i++) {
			const struct ht_judged *other = &j->list[j->by_above[i]];
			bool fits = other->kind == HT_CHANGE_PART && fabs(other->cost) < limit &&
			            (!best || fabs(other->cost) > fabs(best->cost));
			best = fits ? other : best;
		}
		if (!best)
			break;
		limit = fabs(best->cost);
		text = ht_arena_printf(arena, "%s%s%s %+.1f %%", text, *text ? ", " : "",
		        best->series->about.path,
		        100 * (best->change->mean_after / best->change->mean_before - 1));
	}
	return text;
}

/* ---- all of them ---- */

/* For qsort, which passes nothing along: pairs with what they are sorted by. */
struct key {
	const struct ht_history_series *above;
	size_t index, at;
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	if (a->above != b->above)
		return a->above < b->above ? -1 : 1;
	return a->index != b->index ? ht_order_i64((int64_t)a->index, (int64_t)b->index)
	                            : ht_order_i64((int64_t)a->at, (int64_t)b->at);
}

static bool sort_below(struct judging *j, struct ht_arena *arena)
{
	struct key *keys = ht_arena_alloc(arena, (j->n + 1) * sizeof *keys);
	j->by_above = ht_arena_alloc(arena, (j->n + 1) * sizeof *j->by_above);
	if (!keys || !j->by_above)
		return false;
	for (size_t i = 0; i < j->n; i++)
		keys[i] = (struct key){ above_of(j, &j->list[i]), j->list[i].change->index, i };
	qsort(keys, j->n, sizeof *keys, compare_keys);
	for (size_t i = 0; i < j->n; i++)
		j->by_above[i] = keys[i].at;
	return true;
}

static int compare_judged(const void *left, const void *right)
{
	const struct ht_judged *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (fabs(a->cost) != fabs(b->cost))
		return fabs(a->cost) > fabs(b->cost) ? -1 : 1;
	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	return ht_order_i64((int64_t)a->change->index, (int64_t)b->change->index);
}

static bool list_changes(struct judging *j, struct ht_arena *arena)
{
	size_t n = 0;
	for (size_t i = 0; i < j->data->n_series; i++)
		n += j->data->series[i].n_changes;
	j->list = ht_arena_alloc(arena, (n + 1) * sizeof *j->list);
	j->above = ht_arena_alloc(arena, (j->data->n_series + 1) * sizeof *j->above);
	if (!j->list || !j->above)
		return false;
	for (size_t i = 0; i < j->data->n_series; i++) {
		const struct ht_history_series *s = &j->data->series[i];
		j->above[i] = s->n_changes ? find_above(j->data, &s->about) : NULL;
		for (size_t k = 0; k < s->n_changes; k++) {
			const struct ht_change *c = &s->changes[k];
			j->list[j->n++] = (struct ht_judged){ s, c, HT_CHANGE_REGRESSION,
				c->mean_after - c->mean_before, "" };
		}
	}
	return true;
}

enum ht_status ht_history_judge(ht_ctx *ctx, const struct ht_history_data *data,
        struct ht_arena *arena, struct ht_judged **ret_list, size_t *ret_n)
{
	struct judging j = { .data = data };
	if (!list_changes(&j, arena) || !sort_below(&j, arena) || !find_limit(&j, arena))
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < j.n; i++) {
		struct ht_judged *judged = &j.list[i];
		HT_TRY(ht_progress(ctx, "judging changes", i, j.n));
		bool worse = (judged->cost > 0) != judged->series->about.higher_is_better;
		judged->kind = went_away(&j, judged)   ? HT_CHANGE_GONE
		               : is_part(&j, judged)   ? HT_CHANGE_PART
		               : has_shift(&j, judged) ? HT_CHANGE_SHIFT
		               : ht_change_chance(judged->change, data->n_runs) > j.limit
		                       ? HT_CHANGE_WEAK
		               : worse ? HT_CHANGE_REGRESSION
		                       : HT_CHANGE_IMPROVEMENT;
	}
	for (size_t i = 0; i < j.n; i++)
		if (j.list[i].kind <= HT_CHANGE_IMPROVEMENT &&
		        !(j.list[i].children = list_children(&j, &j.list[i], arena)))
			return ht_fail_nomem(ctx);
	qsort(j.list, j.n, sizeof *j.list, compare_judged);
	*ret_list = j.list;
	*ret_n = j.n;
	return HT_OK;
}
