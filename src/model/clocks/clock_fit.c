/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fit.c - see clock_fit.h.
 *
 * A line with drift r keeps all bounds when the room between them at that drift,
 *     room(r) = min(upper - r t) - max(lower - r t),
 * is not negative. It is concave in r, so the drifts that do are one interval: its peak by ternary search, its
 * borders by bisection. Within it the drift is the median of the slopes between pairs of ends (Theil-Sen), so a
 * third of the ends may lie anywhere.
 */
#include "model/clocks/clock_fit.h"

#include "base/sort.h"
#include "model/numbers/stats.h"

#include <string.h>

/* Slopes between so many ends are enough. */
#define MAX_SLOPE_POINTS 200

static int64_t drifted(int64_t drift_ppt, int64_t dt)
{
	return drift_ppt ? (int64_t)ht_time_drift(drift_ppt, dt) : 0;
}

/* What a point says about the constant of a line with this drift. */
static int64_t less_drift(const struct ht_clock_point *p, int64_t pivot_ns, int64_t drift_ppt)
{
	return ht_sub_sat(p->ns, drifted(drift_ppt, ht_sub_sat(p->at_ns, pivot_ns)));
}

/* Where the constant of a line with this drift may lie; a missing bound is INT64_MIN or INT64_MAX. */
static void find_room(const struct ht_clock_points *p, int64_t pivot_ns, int64_t drift_ppt,
        int64_t *ret_low, int64_t *ret_high)
{
	*ret_low = INT64_MIN;
	*ret_high = INT64_MAX;
	for (size_t i = 0; i < p->n_lower; i++) {
		int64_t ns = less_drift(&p->lower[i], pivot_ns, drift_ppt);
		*ret_low = ns > *ret_low ? ns : *ret_low;
	}
	for (size_t i = 0; i < p->n_upper; i++) {
		int64_t ns = less_drift(&p->upper[i], pivot_ns, drift_ppt);
		*ret_high = ns < *ret_high ? ns : *ret_high;
	}
}

static int64_t room(const struct ht_clock_points *p, int64_t pivot_ns, int64_t drift_ppt)
{
	int64_t low, high;
	find_room(p, pivot_ns, drift_ppt, &low, &high);
	return ht_sub_sat(high, low);
}

size_t ht_clock_broken(
        const struct ht_time_move *c, const struct ht_clock_points *p, int64_t tolerance_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_lower; i++)
		n += less_drift(&p->lower[i], c->pivot_ns, c->drift_ppt) >
		     ht_add_sat(c->shift_ns, tolerance_ns);
	for (size_t i = 0; i < p->n_upper; i++)
		n += less_drift(&p->upper[i], c->pivot_ns, c->drift_ppt) <
		     ht_sub_sat(c->shift_ns, tolerance_ns);
	return n;
}

/* The median of the ends within the bounds; without ends the middle of the bounds, and with one bound the
 * smallest correction. */
static bool fit_constant(
        struct ht_arena *scratch, const struct ht_clock_points *p, struct ht_time_move *c)
{
	int64_t low, high;
	int64_t *values = ht_arena_alloc(scratch, (p->n_ends + 1) * sizeof *values);
	if (!values)
		return false;
	find_room(p, c->pivot_ns, c->drift_ppt, &low, &high);
	if (p->n_ends) {
		for (size_t i = 0; i < p->n_ends; i++)
			values[i] = less_drift(&p->ends[i], c->pivot_ns, c->drift_ppt);
		c->shift_ns = ht_median_i64(values, p->n_ends);
	} else if (p->n_lower && p->n_upper) {
		c->shift_ns = (int64_t)(low + ((__int128)high - low) / 2);
	} else {
		c->shift_ns = 0;
	}
	if (low <= high) {
		c->shift_ns = c->shift_ns < low ? low : c->shift_ns;
		c->shift_ns = c->shift_ns > high ? high : c->shift_ns;
	} else if (!p->n_ends) {
		c->shift_ns = low / 2 + high / 2 + (low % 2 + high % 2) / 2;
	}
	return true;
}

/* ---- the bounds that count ---- */

static int by_time(const void *a, const void *b)
{
	const struct ht_clock_point *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The difference of two times; of those that are centuries apart, as much as products have room for. */
static __int128 apart(int64_t a, int64_t b)
{
	const int64_t most = (int64_t)1 << 62;
	int64_t ns = ht_sub_sat(a, b);
	return ns > most ? most : ns < -most ? -most : ns;
}

/* How far p lies above the line through a and b, times the time between those. */
static __int128 above(const struct ht_clock_point *a, const struct ht_clock_point *b,
        const struct ht_clock_point *p)
{
	return apart(b->at_ns, a->at_ns) * apart(p->ns, a->ns) -
	       apart(b->ns, a->ns) * apart(p->at_ns, a->at_ns);
}

/* Only points of the convex hull are ever the lowest over a line, whatever its drift; and as lines are rounded, those
 * less than 2 ns above it. Sorted by time, the hull is found by looking back; what does not count is dropped. */
static size_t keep_lowest(
        struct ht_mem *mem, struct ht_clock_point *p, size_t n, struct ht_clock_point *hull)
{
	size_t m = 0, n_kept = 0;
	ht_sort_items(mem, p, n, sizeof *p, by_time);
	for (size_t i = 0; i < n; i++) {
		if (m && hull[m - 1].at_ns == p[i].at_ns)
			continue;
		while (m > 1 && above(&hull[m - 2], &hull[m - 1], &p[i]) <= 0)
			m--;
		hull[m++] = p[i];
	}
	for (size_t i = 0, k = 0; i < n; i++) {
		while (k + 1 < m && hull[k + 1].at_ns <= p[i].at_ns)
			k++;
		bool near = k + 1 < m ? above(&hull[k], &hull[k + 1], &p[i]) <
		                                2 * apart(hull[k + 1].at_ns, hull[k].at_ns)
		                      : p[i].ns < ht_add_sat(hull[k].ns, 2);
		if (near)
			p[n_kept++] = p[i];
	}
	return n_kept;
}

static void mirror(struct ht_clock_point *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i].ns = ht_sub_sat(0, p[i].ns);
}

/* The same room at every drift from fewer bounds. */
static bool keep_nearest(struct ht_arena *scratch, struct ht_clock_points *p)
{
	size_t n = (p->n_lower > p->n_upper ? p->n_lower : p->n_upper) + 1;
	struct ht_clock_point *hull = ht_arena_alloc(scratch, n * sizeof *hull);
	struct ht_clock_point *lower = ht_arena_alloc(scratch, (p->n_lower + 1) * sizeof *lower);
	struct ht_clock_point *upper = ht_arena_alloc(scratch, (p->n_upper + 1) * sizeof *upper);
	if (!hull || !lower || !upper)
		return false;
	memcpy(upper, p->upper, p->n_upper * sizeof *upper);
	p->n_upper = keep_lowest(scratch->mem, upper, p->n_upper, hull);
	memcpy(lower, p->lower, p->n_lower * sizeof *lower);
	mirror(lower, p->n_lower);
	p->n_lower = keep_lowest(scratch->mem, lower, p->n_lower, hull);
	mirror(lower, p->n_lower);
	p->upper = upper;
	p->lower = lower;
	return true;
}

/* ---- drift ---- */

static int64_t peak(const struct ht_clock_points *p, int64_t pivot_ns)
{
	int64_t low = -HT_CLOCK_MAX_DRIFT_PPT, high = HT_CLOCK_MAX_DRIFT_PPT;
	while (high - low > 2) {
		int64_t third = (high - low) / 3;
		if (room(p, pivot_ns, low + third) < room(p, pivot_ns, high - third))
			low += third;
		else
			high -= third;
	}
	int64_t best = low;
	for (int64_t r = low + 1; r <= high; r++)
		best = room(p, pivot_ns, r) > room(p, pivot_ns, best) ? r : best;
	return best;
}

/* The drift furthest from one that has room, towards limit, that still has. */
static int64_t border(
        const struct ht_clock_points *p, int64_t pivot_ns, int64_t has_room, int64_t limit)
{
	if (room(p, pivot_ns, limit) >= 0)
		return limit;
	while (has_room - limit > 1 || limit - has_room > 1) {
		int64_t middle = has_room + (limit - has_room) / 2;
		if (room(p, pivot_ns, middle) >= 0)
			has_room = middle;
		else
			limit = middle;
	}
	return has_room;
}

/* Kept within the drifts that clocks have; most differences are small enough for 64 bits. */
static int64_t slope(int64_t rise_ns, int64_t dt)
{
	int64_t product;
	__int128 ppt = !__builtin_mul_overflow(rise_ns, INT64_C(1000000000000), &product)
	                       ? product / dt
	                       : (__int128)rise_ns * 1000000000000 / dt;
	if (ppt > HT_CLOCK_MAX_DRIFT_PPT)
		return HT_CLOCK_MAX_DRIFT_PPT;
	return ppt < -HT_CLOCK_MAX_DRIFT_PPT ? -HT_CLOCK_MAX_DRIFT_PPT : (int64_t)ppt;
}

static bool slope_of_ends(
        struct ht_arena *scratch, const struct ht_clock_points *p, int64_t *ret_ppt)
{
	size_t every = p->n_ends / MAX_SLOPE_POINTS + 1, m = p->n_ends / every + 1, n = 0;
	int64_t *slopes = ht_arena_alloc(scratch, (m * m / 2 + 1) * sizeof *slopes);
	if (!slopes)
		return false;
	for (size_t i = 0; i < p->n_ends; i += every) {
		for (size_t k = i + every; k < p->n_ends; k += every) {
			int64_t dt = ht_sub_sat(p->ends[k].at_ns, p->ends[i].at_ns);
			if (dt)
				slopes[n++] = slope(ht_sub_sat(p->ends[k].ns, p->ends[i].ns), dt);
		}
	}
	*ret_ppt = n ? ht_median_i64(slopes, n) : 0;
	return true;
}

bool ht_clock_fit(struct ht_arena *scratch, const struct ht_clock_points *p, int64_t tolerance_ns,
        struct ht_time_move *ret_move)
{
	struct ht_time_move c = { 0 };
	if (!fit_constant(scratch, p, &c))
		return false;
	*ret_move = c;
	if (!p->n_lower || !p->n_upper || !ht_clock_broken(&c, p, tolerance_ns))
		return true;
	c.pivot_ns = p->lower[p->n_lower / 2].at_ns;
	struct ht_clock_points near = *p;
	if (!keep_nearest(scratch, &near))
		return false;
	int64_t best = peak(&near, c.pivot_ns);
	if (room(&near, c.pivot_ns, best) < 0)
		return true;
	int64_t low = border(&near, c.pivot_ns, best, -HT_CLOCK_MAX_DRIFT_PPT);
	int64_t high = border(&near, c.pivot_ns, best, HT_CLOCK_MAX_DRIFT_PPT);
	if (!slope_of_ends(scratch, p, &c.drift_ppt))
		return false;
	c.drift_ppt = c.drift_ppt < low ? low : c.drift_ppt > high ? high : c.drift_ppt;
	if (!fit_constant(scratch, p, &c))
		return false;
	*ret_move = c;
	return true;
}
