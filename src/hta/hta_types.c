/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_types.c - types of GPU work that run at once, as HTA adds them up. See hta_work.h.
 */
#include "hta/hta_work.h"

#include "hta/hta_facts.h"
#include "hta/hta_frame.h"
#include "model/rows/work_names.h"

#include <stdlib.h>

/* HTA's clock: doubles of microseconds from the first event of all ranks. */
struct border {
	double time_us;
	int step; /* +bit where the type starts, -bit where it ends */
};

static int compare_border(const void *left, const void *right)
{
	const struct border *a = left, *b = right;
	if (a->time_us != b->time_us)
		return a->time_us < b->time_us ? -1 : 1;
	return (a->step > b->step) - (a->step < b->step);
}

/* Merged borders of one type, appended. Work is sorted by start. */
static size_t type_borders(
        const struct ht_work_list *work, double zero_us, unsigned bit, struct border *borders)
{
	size_t n = 0;
	double end = 0;
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (1u << ht_work_type_of_class((enum ht_class)w->class_) != bit)
			continue;
		double start = ht_hta_us(w->start) - zero_us;
		double stop = start + ht_hta_us(w->end - w->start);
		if (n && start <= end) {
			end = stop > end ? stop : end;
			borders[n - 1].time_us = end;
			continue;
		}
		end = stop;
		borders[n++] = (struct border){ start, (int)bit };
		borders[n++] = (struct border){ end, -(int)bit };
	}
	return n;
}

enum ht_status ht_hta_work_types(struct ht_run *run, const struct ht_work_list *work,
        unsigned types, int64_t *sums_ns, bool *seen)
{
	double zero_us = ht_hta_us(run->facts->first_ts_ns);
	struct border *borders = ht_arena_alloc(run->scratch, (2 * work->n + 1) * sizeof *borders);
	if (!borders)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (unsigned k = 0; k < HT_WORK_N_TYPES; k++) {
		if (types & 1u << k)
			n += type_borders(work, zero_us, 1u << k, borders + n);
	}
	qsort(borders, n, sizeof *borders, compare_border);
	int active = 0;
	for (size_t i = 0; i + 1 < n; i++) {
		active += borders[i].step;
		double length_us = borders[i + 1].time_us - borders[i].time_us;
		if (active <= 0 || length_us <= 0)
			continue;
		seen[active] = true;
		sums_ns[active] += (int64_t)length_us * 1000;
	}
	return HT_OK;
}
