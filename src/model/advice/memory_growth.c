/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_growth.c - see memory_growth.h.
 */
#include "model/advice/memory_growth.h"

#include "base/sort.h"
#include "model/numbers/interval.h"
#include "model/rows/around.h"

#include <string.h>

/* Memory is allocated by the host, where a step begins and ends at other times than on the device: a first step that waits for work of
 * before begins there in its midst. */
static struct ht_interval on_host(const struct ht_trace *t, const struct ht_bound *bound)
{
	if (bound->i_step == HT_NONE)
		return (struct ht_interval){ bound->start, bound->end };
	return (struct ht_interval){ t->steps[bound->i_step].ts_ns,
		t->steps[bound->i_step].end_ns };
}

/* By how much the least of the steps grows; HT_NO_I64: totals are missing. Events are by time. */
static int64_t least_growth(const struct ht_trace *t, const struct ht_memory_event *events,
        size_t n, const struct ht_bounds *bounds, int64_t *ret_peak)
{
	int64_t least = INT64_MAX, before = HT_NO_I64, now = HT_NO_I64;
	size_t at = 0;
	*ret_peak = 0;
	for (size_t i = 0; i < n; i++)
		*ret_peak = events[i].allocated > *ret_peak ? events[i].allocated : *ret_peak;
	for (size_t i = 0; i < bounds->n; i++) {
		struct ht_interval step = on_host(t, &bounds->list[i]);
		for (; at < n && events[at].ts_ns < step.start; at++)
			now = events[at].allocated != HT_NO_I64 ? events[at].allocated : now;
		/* what was there before the first event */
		if (!at && n && events[0].allocated != HT_NO_I64)
			now = ht_sub_sat(events[0].allocated, events[0].bytes);
		before = i ? before : now;
		for (; at < n && events[at].ts_ns < step.end; at++)
			now = events[at].allocated != HT_NO_I64 ? events[at].allocated : now;
		if (before == HT_NO_I64 || now == HT_NO_I64)
			return HT_NO_I64;
		int64_t grown = ht_sub_sat(now, before);
		least = grown < least ? grown : least;
		before = now;
	}
	return least;
}

/* An annotation that is no step. */
static bool is_note(const void *trace, uint32_t row)
{
	const struct ht_trace *t = trace;
	return t->kind[row] == HT_KIND_ANNOTATION && t->name[row] != HT_NO_STR &&
	       strncmp(ht_str(t, t->name[row]), "ProfilerStep", 12) != 0;
}

/* An allocation that stays. */
struct kept {
	const char *name, *annotation; /* annotation "": none */
	int64_t bytes, last_bytes;     /* the second: of the last step, the first of the others */
	uint32_t row;
};

static int by_names(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;
	int by = strcmp(a->name, b->name);
	return by ? by : strcmp(a->annotation, b->annotation);
}

static size_t list_kept(struct ht_around *notes, const struct ht_bounds *bounds,
        const struct ht_growth_look *look, size_t first, size_t end, struct kept *list)
{
	const struct ht_trace *t = notes->trace;
	int64_t start_ns = on_host(t, &bounds->list[0]).start;
	struct ht_interval last = on_host(t, &bounds->list[bounds->n - 1]);
	size_t n = 0;
	for (size_t i = first; i < end; i++) {
		const struct ht_memory_event *event = &look->events->list[i];
		const struct ht_memory_op *op = &look->ops[i];
		uint32_t note = HT_NONE;
		if (!look->is_kept[i] || !op->name || event->ts_ns < start_ns ||
		        event->ts_ns >= last.end)
			continue;
		if (op->node != HT_NONE)
			note = ht_around_find(notes, look->tree->nodes[op->node].row);
		list[n++] =
		        (struct kept){ op->name, note == HT_NONE ? "" : ht_str(t, t->name[note]),
			        event->ts_ns < last.start ? event->bytes : 0,
			        event->ts_ns < last.start ? 0 : event->bytes, event->row };
	}
	return n;
}

static enum ht_status find_keeper(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_growth_look *look, size_t first, size_t end, struct ht_memory_growth *ret)
{
	struct kept *list = ht_arena_alloc(run->scratch, (end - first + 1) * sizeof *list);
	struct ht_around notes;
	if (!list)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_around_init(run, run->trace, is_note, run->trace, &notes));
	size_t n = list_kept(&notes, bounds, look, first, end, list);
	ht_sort_items(run->ctx->mem, list, n, sizeof *list, by_names);
	for (size_t i = 0, next; i < n; i = next) {
		struct kept sum = list[i];
		int64_t largest = sum.bytes + sum.last_bytes;
		for (next = i + 1; next < n && !by_names(&list[i], &list[next]); next++) {
			int64_t own = list[next].bytes + list[next].last_bytes;
			ht_sum(&sum.bytes, list[next].bytes);
			ht_sum(&sum.last_bytes, list[next].last_bytes);
			if (own > largest) {
				largest = own;
				sum.row = list[next].row;
			}
		}
		/* what the last step has at its end the next one may release: no more of it than each of the others left */
		int64_t each = sum.bytes / (int64_t)(bounds->n - 1);
		ht_sum(&sum.bytes, sum.last_bytes < each ? sum.last_bytes : each);
		if (sum.bytes <= ret->kept_bytes)
			continue;
		ret->operator_ = sum.name;
		ret->annotation = *sum.annotation ? sum.annotation : NULL;
		ret->kept_bytes = sum.bytes;
		ret->row = sum.row;
	}
	return HT_OK;
}

enum ht_status ht_memory_growth_find(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_growth_look *look, size_t first, size_t end, struct ht_memory_growth *ret)
{
	*ret = (struct ht_memory_growth){ .row = HT_NONE };
	if (bounds->is_whole || bounds->n < 3)
		return HT_OK;
	int64_t least = least_growth(
	        run->trace, look->events->list + first, end - first, bounds, &ret->peak_bytes);
	ret->is_known = least != HT_NO_I64;
	if (!ret->is_known || least <= 0 ||
	        (double)least < HT_GROWTH_SHARE * (double)ret->peak_bytes)
		return HT_OK;
	ret->least_bytes = least;
	return find_keeper(run, bounds, look, first, end, ret);
}
