/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - see changes.h.
 *
 * Sums are made in the order of Otava's, so that of splits that are equally good the same one is chosen.
 */
#include "job/changes.h"

#include "job/pairwise.h"
#include "model/numbers/sampling.h"

#include <math.h>
#include <string.h>

bool ht_changes_fill(double *values, size_t n)
{
	size_t first = 0;
	while (first < n && isnan(values[first]))
		first++;
	if (first == n)
		return false;
	for (size_t i = 0; i < first; i++)
		values[i] = values[first];
	for (size_t i = first + 1; i < n; i++)
		if (isnan(values[i]))
			values[i] = values[i - 1];
	return true;
}

/* ---- two sides ---- */

struct side {
	double mean, std;
};

static struct side side_of(const double *values, size_t n, double *room)
{
	struct side side = { ht_pairwise_sum(values, n) / (double)n, 0 };
	for (size_t i = 0; i < n; i++)
		room[i] = (values[i] - side.mean) * (values[i] - side.mean);
	if (n > 1)
		side.std = sqrt(ht_pairwise_sum(room, n) / (double)n);
	return side;
}

/* The change at index between start and end. */
static struct ht_change compare(
        const double *values, size_t start, size_t index, size_t end, double *room)
{
	double n_before = (double)(index - start), n_after = (double)(end - index);
	struct side before = side_of(values + start, index - start, room);
	struct side after = side_of(values + index, end - index, room);
	double df = n_before + n_after - 2, p = 1;
	if (df > 0) {
		double variance = ((n_before - 1) * (before.std * before.std) +
		                          (n_after - 1) * (after.std * after.std)) /
		                  df;
		double t =
		        (before.mean - after.mean) / sqrt(variance * (1 / n_before + 1 / n_after));
		p = isnan(t) ? NAN : 2 * ht_student_t_sf(fabs(t), df);
	}
	return (struct ht_change){ index, p, before.mean, after.mean, before.std, after.std };
}

double ht_change_magnitude(const struct ht_change *c)
{
	double forward = c->mean_before == 0 ? 0 : c->mean_after / c->mean_before - 1;
	double backward = c->mean_after == 0 ? 0 : c->mean_before / c->mean_after - 1;
	return fmax(fabs(forward), fabs(backward));
}

double ht_change_chance(const struct ht_change *change, size_t n)
{
	double places = n > 1 ? (double)(n - 1) : 1;
	return fmin(1, change->p * places * fmin(places, HT_CHANGES_WINDOW));
}

/* ---- the best split of a window ---- */

struct window {
	const double *values;
	size_t n;
	double *distance;             /* n x n */
	double *to_right;             /* n x n: of i to those from i + 1 up to column + 1 */
	double *to_left;              /* of i + 1 to all before it */
	double *above, *below, *left; /* n: sums of a column so far, and all of them */
	double *room;
	size_t *found; /* changes, ascending */
	size_t n_found;
};

static void measure(struct window *w)
{
	size_t n = w->n, last = n ? n - 1 : 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			w->distance[i * n + k] = fabs(w->values[i] - w->values[k]);
	memset(w->to_left, 0, last * sizeof(double));
	for (size_t i = 0; i < last; i++) {
		double sum = 0;
		for (size_t k = i; k < last; k++) {
			sum += w->distance[i * n + k + 1];
			w->to_right[i * n + k] = sum;
			w->to_left[k] += w->distance[i * n + k + 1];
		}
	}
}

struct split {
	size_t index;
	double q;
};

/* The divergence of row i, column j of a part: tau = start + i + 1, kappa = start + j + 2. */
static double divergence(const struct window *w, size_t i, size_t j)
{
	double before = i ? w->left[i - 1] : 0;
	double across = 2 / (double)(j + 2) * (w->above[j] - before);
	double inside = i ? (double)(2 * (j + 1 - i)) / (double)((j + 2) * i) * before : 0;
	double behind =
	        j > i ? (double)(2 * (i + 1)) / (double)((j + 2) * (j - i)) * w->below[j] : 0;
	return across - inside - behind;
}

/* Sums of the columns of to_right over the rows behind row i, from the last one up. */
static double sum_below(const struct window *w, size_t start, size_t i, size_t j)
{
	double sum = 0;
	for (size_t t = j; t > i; t--)
		sum += w->to_right[(start + t) * w->n + start + j];
	return sum;
}

static struct split best_split(struct window *w, size_t start, size_t end)
{
	size_t m = end - 1 - start;
	struct split best = { start + 1, -INFINITY };
	double sum = 0;
	for (size_t k = 0; k < m; k++) {
		double earlier = 0;
		for (size_t i = 0; i < start; i++)
			earlier += w->distance[i * w->n + start + k + 1];
		sum += w->to_left[start + k] - earlier;
		w->left[k] = sum;
		w->above[k] = 0;
	}
	for (size_t i = 0; i < m; i++)
		for (size_t j = i; j < m; j++) {
			/* rows are added from the first one on, so every row up to i is in it */
			if (i == 0)
				w->above[j] = w->to_right[start * w->n + start + j];
			else
				w->above[j] += w->to_right[(start + i) * w->n + start + j];
			w->below[j] = sum_below(w, start, i, j);
			double q = divergence(w, i, j);
			if (q > best.q)
				best = (struct split){ start + i + 1, q };
		}
	return best;
}

/* The changes of a window, one after the other: the best split of all parts, as long as it is one. */
static void divide(struct window *w, double max_p)
{
	w->n_found = 0;
	measure(w);
	for (;;) {
		struct split best = { 0, -INFINITY };
		size_t from = 0, to = 0, at = 0;
		for (size_t k = 0; k <= w->n_found; k++) {
			size_t start = k ? w->found[k - 1] : 0;
			size_t end = k < w->n_found ? w->found[k] : w->n;
			if (end - start < 2)
				continue;
			struct split split = best_split(w, start, end);
			if (split.q > best.q)
				best = split, from = start, to = end, at = k;
		}
		if (!best.index)
			return;
		struct ht_change change = compare(w->values, from, best.index, to, w->room);
		if (!(change.p <= max_p))
			return;
		memmove(w->found + at + 1, w->found + at, (w->n_found - at) * sizeof *w->found);
		w->found[at] = best.index;
		w->n_found++;
	}
}

/* ---- all windows ---- */

struct finding {
	const double *values;
	size_t n;
	double *room;
	struct ht_change *list;
	size_t n_list;
};

/* Keep a place once, in order. */
static void keep(struct finding *f, size_t index)
{
	size_t at = f->n_list;
	while (at && f->list[at - 1].index >= index)
		at--;
	if (at < f->n_list && f->list[at].index == index)
		return;
	memmove(f->list + at + 1, f->list + at, (f->n_list - at) * sizeof *f->list);
	f->list[at] = (struct ht_change){ .index = index };
	f->n_list++;
}

static void find_in_windows(struct finding *f, struct window *w, size_t length, double max_p)
{
	for (size_t start = 0; start < f->n;) {
		w->values = f->values + start;
		w->n = f->n - start < length ? f->n - start : length;
		divide(w, max_p);
		for (size_t i = 0; i < w->n_found; i++)
			keep(f, start + w->found[i]);
		size_t last = w->n_found ? start + w->found[w->n_found - 1] : 0,
		       next = start + length / 2;
		start = last > next ? last : next;
	}
}

static void test_again(struct finding *f, size_t i)
{
	if (i >= f->n_list)
		return;
	size_t start = i ? f->list[i - 1].index : 0;
	size_t end = i + 1 < f->n_list ? f->list[i + 1].index : f->n;
	f->list[i] = compare(f->values, start, f->list[i].index, end, f->room);
}

/* Drop the weakest until all are strong. Of the neighbours of one that goes, that behind it and the next are tested anew, as Otava
 * does: the one before keeps what it had. */
static void merge(struct finding *f, double max_p, double min_magnitude)
{
	while (f->n_list) {
		size_t weakest = 0;
		for (size_t i = 1; i < f->n_list; i++)
			if (f->list[i].p > f->list[weakest].p)
				weakest = i;
		if (f->list[weakest].p < max_p) {
			weakest = 0;
			for (size_t i = 1; i < f->n_list; i++)
				if (ht_change_magnitude(&f->list[i]) <
				        ht_change_magnitude(&f->list[weakest]))
					weakest = i;
			if (ht_change_magnitude(&f->list[weakest]) > min_magnitude)
				return;
		}
		f->n_list--;
		memmove(f->list + weakest, f->list + weakest + 1,
		        (f->n_list - weakest) * sizeof *f->list);
		test_again(f, weakest);
		test_again(f, weakest + 1);
	}
}

static bool make_window(struct ht_arena *arena, size_t n, struct window *w)
{
	double **lists[] = { &w->to_left, &w->above, &w->below, &w->left, &w->room };
	w->distance = ht_arena_alloc(arena, n * n * sizeof(double));
	w->to_right = ht_arena_alloc(arena, n * n * sizeof(double));
	w->found = ht_arena_alloc(arena, (n + 1) * sizeof *w->found);
	for (size_t i = 0; i < HT_COUNT(lists); i++)
		if (!(*lists[i] = ht_arena_alloc(arena, (n + 1) * sizeof(double))))
			return false;
	return w->distance && w->to_right && w->found;
}

enum ht_status ht_changes_find(ht_ctx *ctx, struct ht_arena *arena, const double *values, size_t n,
        const struct ht_changes_options *options, struct ht_change **ret_changes, size_t *ret_n)
{
	struct window window = { 0 };
	struct finding f = { .values = values, .n = n };
	size_t length = options->window < n ? options->window : n;
	double loose = options->max_pvalue;
	loose *= loose < 0.05 ? 10 : loose < 0.5 ? 2 : 1;
	f.room = ht_arena_alloc(arena, (n + 1) * sizeof(double));
	f.list = ht_arena_alloc(arena, (n + 1) * sizeof *f.list);
	if (!f.room || !f.list || !make_window(arena, length, &window))
		return ht_fail_nomem(ctx);
	find_in_windows(&f, &window, options->window, loose);
	for (size_t i = 0; i < f.n_list; i++)
		test_again(&f, i);
	merge(&f, options->max_pvalue, options->min_magnitude);
	*ret_changes = f.list;
	*ret_n = f.n_list;
	return HT_OK;
}
