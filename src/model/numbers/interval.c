/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval.c - see interval.h.
 *
 * Rows of a trace arrive almost sorted by start, calls before what they call: so merging begins with neighbours, which
 * leaves few, and sorts only when needed.
 * Combinations are a sweep over the borders of all lists at once:
 *
 *   a  [----------)        [--)
 *   b       [--------)
 *      aaaaa ababa bbb      aa      length per mask; gaps (mask 0) are not counted
 */
#include "model/numbers/interval.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"

#include <assert.h>
#include <stdlib.h>

#define MAX_LISTS 8

static int compare(const void *left, const void *right)
{
	const struct ht_interval *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* Merge what follows and begins in the one before; false when one that follows begins before it. */
static bool merge_neighbours(struct ht_interval *intervals, size_t *n)
{
	bool ascends = true;
	size_t last = 0;
	for (size_t i = 1; i < *n; i++) {
		bool after = intervals[i].start >= intervals[last].start;
		ascends &= after;
		if (!after || intervals[i].start > intervals[last].end)
			intervals[++last] = intervals[i];
		else if (intervals[i].end > intervals[last].end)
			intervals[last].end = intervals[i].end;
	}
	*n = last + 1;
	return ascends;
}

size_t ht_interval_merge(struct ht_mem *mem, struct ht_interval *intervals, size_t n)
{
	if (!n || merge_neighbours(intervals, &n))
		return n;
	ht_sort_items(mem, intervals, n, sizeof *intervals, compare);
	(void)merge_neighbours(intervals, &n);
	return n;
}

bool ht_interval_has(const struct ht_interval *merged, size_t n, int64_t time)
{
	size_t low = HT_LOWER_BOUND(at, n, merged[at].end <= time);
	return low < n && merged[low].start <= time;
}

int64_t ht_interval_length(const struct ht_interval *merged, size_t n)
{
	int64_t length = 0;
	for (size_t i = 0; i < n; i++)
		ht_sum(&length, ht_sub_sat(merged[i].end, merged[i].start));
	return length;
}

int64_t ht_interval_overlap(
        const struct ht_interval *a, size_t n_a, const struct ht_interval *b, size_t n_b)
{
	int64_t length = 0;
	for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
		int64_t start = a[i].start > b[j].start ? a[i].start : b[j].start;
		int64_t end = a[i].end < b[j].end ? a[i].end : b[j].end;
		if (start < end)
			ht_sum(&length, ht_sub_sat(end, start));
		if (a[i].end < b[j].end)
			i++;
		else
			j++;
	}
	return length;
}

int64_t ht_interval_within(const struct ht_interval *merged, size_t n, int64_t from, int64_t to)
{
	int64_t length = 0;
	for (size_t i = HT_LOWER_BOUND(at, n, merged[at].end <= from);
	        i < n && merged[i].start < to; i++) {
		int64_t start = merged[i].start > from ? merged[i].start : from;
		int64_t end = merged[i].end < to ? merged[i].end : to;
		if (end > start)
			length = ht_add_sat(length, ht_sub_sat(end, start));
	}
	return length;
}

void ht_interval_sums(const struct ht_interval *merged, size_t n, int64_t *ret_sums)
{
	ret_sums[0] = 0;
	for (size_t i = 0; i < n; i++)
		ret_sums[i + 1] =
		        ht_add_sat(ret_sums[i], ht_sub_sat(merged[i].end, merged[i].start));
}

int64_t ht_interval_between(
        const struct ht_interval *merged, const int64_t *sums, size_t n, int64_t from, int64_t to)
{
	size_t first = HT_LOWER_BOUND(at, n, merged[at].end <= from);
	size_t end = HT_LOWER_BOUND(at, n, merged[at].start < to);
	if (first >= end || from >= to)
		return 0;
	int64_t length = ht_sub_sat(sums[end], sums[first]);
	if (merged[first].start < from)
		length = ht_sub_sat(length, ht_sub_sat(from, merged[first].start));
	if (merged[end - 1].end > to)
		length = ht_sub_sat(length, ht_sub_sat(merged[end - 1].end, to));
	return length;
}

const struct ht_interval *ht_interval_slice(
        const struct ht_interval *merged, size_t n, int64_t from, int64_t to, size_t *ret_n)
{
	size_t first = HT_LOWER_BOUND(at, n, merged[at].end <= from);
	size_t end = HT_LOWER_BOUND(at, n, merged[at].start < to);
	*ret_n = end > first ? end - first : 0;
	return merged + first;
}

size_t ht_interval_subtract(const struct ht_interval *a, size_t n_a, const struct ht_interval *b,
        size_t n_b, struct ht_interval *ret)
{
	size_t n = 0;
	for (size_t i = 0, j = 0; i < n_a; i++) {
		int64_t start = a[i].start;
		while (j < n_b && b[j].end <= start)
			j++;
		for (size_t k = j; k < n_b && b[k].start < a[i].end; k++) {
			if (b[k].start > start)
				ret[n++] = (struct ht_interval){ start, b[k].start };
			start = b[k].end;
		}
		if (start < a[i].end)
			ret[n++] = (struct ht_interval){ start, a[i].end };
	}
	return n;
}

/* Where list k changes next after having passed `border` of its borders: borders alternate start,
 * end, start, ... */
static int64_t border_time(const struct ht_interval *list, size_t border)
{
	return border % 2 ? list[border / 2].end : list[border / 2].start;
}

void ht_interval_combinations(const struct ht_interval *const *lists, const size_t *n,
        size_t n_lists, int64_t *ret_length)
{
	assert(n_lists <= MAX_LISTS);
	size_t border[MAX_LISTS] = { 0 };
	for (size_t mask = 0; mask < (size_t)1 << n_lists; mask++)
		ret_length[mask] = 0;

	int64_t previous = 0;
	size_t active = 0;
	for (;;) {
		int64_t now = INT64_MAX;
		bool more = false;
		for (size_t k = 0; k < n_lists; k++) {
			if (border[k] == 2 * n[k])
				continue;
			int64_t t = border_time(lists[k], border[k]);
			if (!more || t < now)
				now = t;
			more = true;
		}
		if (!more)
			break;
		if (active)
			ret_length[active] += now - previous;
		for (size_t k = 0; k < n_lists; k++) {
			while (border[k] < 2 * n[k] && border_time(lists[k], border[k]) == now) {
				border[k]++;
				active ^= (size_t)1 << k;
			}
		}
		previous = now;
	}
}

void ht_depth_add(struct ht_depth *depth, int64_t start, int64_t end)
{
	int64_t from = depth->sum > 0 && depth->until > start ? depth->until : start;
	if (end <= start)
		return;
	depth->sum += (double)end - (double)start;
	depth->covered += end > from ? (double)end - (double)from : 0;
	depth->until = end > from ? end : from;
}

bool ht_depth_is_steps(const struct ht_depth *depth)
{
	return depth->sum <= HT_MOST_DEEP * depth->covered;
}
