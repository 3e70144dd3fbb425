/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_groups.c - what lives at a moment, by key, and which moment is meant. See mem_view.h.
 */
#include "model/snapshot/mem_steps.h"
#include "model/snapshot/mem_view.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include "base/list.h"
#include "base/literal.h"
#include "base/search.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

int64_t ht_mem_view_time(const struct ht_mem_view *v, const struct ht_mem_device *d, int64_t event)
{
	const struct ht_mem_event *events = v->run->trace->more->mem_events;
	if (event < d->first || event >= d->end || events[event].time_ns == HT_NO_I64 ||
	        events[d->first].time_ns == HT_NO_I64)
		return HT_NO_I64;
	return events[event].time_ns - events[d->first].time_ns;
}

int64_t ht_mem_capacity(const struct ht_trace *t, uint32_t device)
{
	for (size_t i = 0; i < t->more->n_devices; i++)
		if (t->more->devices[i].id == (int64_t)device)
			return t->more->devices[i].total_memory_bytes;
	return HT_NO_I64;
}

/* "1.5s" as nanoseconds; a number without a unit is that of an event. */
static bool parse_time(const char *text, int64_t *ret_ns)
{
	struct ht_literal literal;
	if (!ht_literal_parse(text, &literal) || literal.kind != HT_UNIT_TIME)
		return false;
	ht_i128 ns = ht_literal_round(&literal);
	*ret_ns = ns > HT_MAX_TIME_NS ? HT_MAX_TIME_NS : ns < 0 ? 0 : (int64_t)ns;
	return true;
}

static bool is_moment(const char *at)
{
	int64_t number;
	return !strcmp(at, "peak") || !strcmp(at, "end") || !strcmp(at, "oom") ||
	       ht_parse_i64(at, &number) || parse_time(at, &number);
}

enum ht_status ht_mem_moment_check(struct ht_run *run, const char *at)
{
	if (is_moment(at))
		return HT_OK;
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "give peak, end, oom, the number of an event, or a time such as 1.5s",
	        "\"%s\" is no moment of a memory snapshot", at);
}

/* The event of a moment, HT_MEM_BEFORE: before the first; false: the device has no such moment. */
static bool find_moment(const struct ht_mem_view *v, const struct ht_mem_device *d, const char *at,
        int64_t *ret_event)
{
	const struct ht_mem_event *events = v->run->trace->more->mem_events;
	const struct ht_mem_span span = ht_mem_view_span(v, d);
	int64_t number;
	*ret_event = span.end > d->first ? span.end - 1 : HT_MEM_BEFORE;
	if (!strcmp(at, "end"))
		return true;
	if (!strcmp(at, "peak")) {
		*ret_event = d->peak_at;
		return true;
	}
	if (!strcmp(at, "oom")) {
		for (int64_t k = span.first; k < span.end; k++)
			if (events[k].action == HT_MEM_OOM) {
				*ret_event = k;
				return true;
			}
		return false;
	}
	if (ht_parse_i64(at, &number)) {
		*ret_event = number < 0 ? HT_MEM_BEFORE : ht_add_sat(d->first, number);
		return *ret_event < d->end;
	}
	int64_t ns = 0;
	(void)parse_time(at, &ns);
	size_t n = (size_t)(d->end - d->first);
	size_t found = HT_LOWER_BOUND(k, n, ht_mem_view_time(v, d, d->first + (int64_t)k) <= ns);
	*ret_event = found ? d->first + (int64_t)found - 1 : HT_MEM_BEFORE;
	return true;
}

bool ht_mem_view_moment(
        const struct ht_mem_view *v, const struct ht_mem_device *d, int64_t *ret_event)
{
	const char *at = ht_run_str(v->run, "at");
	const struct ht_mem_span span = ht_mem_view_span(v, d);
	/* of a part without events nothing is known */
	if (v->spans && span.first >= span.end)
		return false;
	return find_moment(v, d, at ? at : "end", ret_event);
}

#define MAX_MOMENT_BYTES 64

/* The two moments of "A:B", "" where one is missing. */
static bool split_range(const char *range, char moments[2][MAX_MOMENT_BYTES])
{
	const char *colon = strchr(range, ':');
	size_t n = colon ? (size_t)(colon - range) : SIZE_MAX, rest = colon ? strlen(colon + 1) : 0;
	if (n >= MAX_MOMENT_BYTES || rest >= MAX_MOMENT_BYTES)
		return false;
	memcpy(moments[0], range, n);
	moments[0][n] = '\0';
	memcpy(moments[1], colon + 1, rest + 1);
	return (!n || is_moment(moments[0])) && (!rest || is_moment(moments[1]));
}

enum ht_status ht_mem_range_check(struct ht_run *run, const char *range)
{
	char moments[2][MAX_MOMENT_BYTES];
	if (split_range(range, moments))
		return HT_OK;
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "give two moments with a colon, such as 1s:1.5s, 4000:5000 or peak:",
	        "\"%s\" is no range of a memory snapshot", range);
}

struct ht_mem_span ht_mem_view_span(const struct ht_mem_view *v, const struct ht_mem_device *d)
{
	return v->spans ? v->spans[d - v->history->devices]
	                : (struct ht_mem_span){ d->first, d->end };
}

static struct ht_mem_span find_span(const struct ht_mem_view *v, const struct ht_mem_device *d,
        char moments[2][MAX_MOMENT_BYTES])
{
	struct ht_mem_span span = { d->first, d->end };
	int64_t from = HT_MEM_BEFORE, to = d->end - 1;
	/* a moment that the device does not have is behind its last event, or never came */
	if (*moments[0] && !find_moment(v, d, moments[0], &from))
		from = d->end;
	if (*moments[1] && !find_moment(v, d, moments[1], &to))
		to = d->end - 1;
	span.first = from > span.first ? from : span.first;
	span.end = to + 1 < span.end ? to + 1 : span.end;
	return span;
}

/* The peak of the part; what is there when it begins counts. */
static void find_peak(
        const struct ht_mem_history *h, struct ht_mem_device *d, const struct ht_mem_span *span)
{
	if (span->first >= span->end)
		return;
	d->peak_at = span->first;
	for (int64_t k = span->first; k < span->end; k++)
		if (h->allocated[k] > h->allocated[d->peak_at])
			d->peak_at = k;
	d->peak_allocated = h->allocated[d->peak_at];
}

enum ht_status ht_mem_view_narrow(struct ht_mem_view *v)
{
	const char *range = ht_run_str(v->run, "range");
	char moments[2][MAX_MOMENT_BYTES];
	size_t n = v->history->n_devices;
	if (!range || !split_range(range, moments))
		return HT_OK;
	struct ht_mem_history *h = ht_arena_room(v->run->scratch, sizeof *h);
	struct ht_mem_device *devices = ht_arena_room(v->run->scratch, (n + 1) * sizeof *devices);
	struct ht_mem_span *spans = ht_arena_room(v->run->scratch, (n + 1) * sizeof *spans);
	if (!h || !devices || !spans)
		return ht_fail_nomem(v->run->ctx);
	*h = *v->history;
	h->devices = devices;
	for (size_t i = 0; i < n; i++) {
		devices[i] = v->history->devices[i];
		spans[i] = find_span(v, &v->history->devices[i], moments);
		find_peak(h, &devices[i], &spans[i]);
	}
	v->history = v->names.history = h;
	v->spans = spans;
	return HT_OK;
}

enum ht_status ht_mem_view_steps(
        struct ht_mem_view *v, const struct ht_mem_device *d, struct ht_mem_steps *ret_steps)
{
	const struct ht_mem_span span = ht_mem_view_span(v, d);
	size_t n = 0;
	if (!v->steps) {
		v->steps = ht_arena_alloc(v->run->scratch, sizeof *v->steps);
		if (!v->steps)
			return ht_fail_nomem(v->run->ctx);
		HT_TRY(ht_mem_steps_list(v->run, &v->names.scopes, v->steps));
	}
	HT_TRY(ht_mem_steps_of(v->run, v->steps, v->history, d, v->every_ns, ret_steps));
	for (size_t i = 0; i < ret_steps->n; i++)
		if (ret_steps->list[i].last >= span.first && ret_steps->list[i].last < span.end)
			ret_steps->list[n++] = ret_steps->list[i];
	ret_steps->n = n;
	return HT_OK;
}

static int by_key(const void *x, const void *y)
{
	const struct ht_mem_group *a = x, *b = y;
	int by = strcmp(a->key, b->key);
	return by ? by : strcmp(a->source ? a->source : "", b->source ? b->source : "");
}

static int by_bytes(const void *x, const void *y)
{
	const struct ht_mem_group *a = x, *b = y;
	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : by_key(x, y);
}

enum ht_status ht_mem_groups_find(struct ht_mem_view *v, const struct ht_mem_device *d,
        int64_t event, struct ht_mem_group **ret_groups, size_t *ret_n)
{
	size_t n = 0, n_groups = 0;
	struct ht_mem_group *list = ht_arena_room(v->run->scratch, (d->n_lives + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(v->run->ctx);
	for (size_t i = 0; i < d->n_lives && d->lives[i].alloc <= event; i++) {
		const struct ht_mem_life *life = &d->lives[i];
		if (!ht_mem_life_allocated(life, event))
			continue;
		list[n] = (struct ht_mem_group){ ht_mem_name_of(&v->names, life),
			v->by_source ? ht_mem_source_of(&v->names, life) : NULL, life->size,
			life->requested, 1 };
		if (!list[n++].key)
			return ht_fail_nomem(v->run->ctx);
	}
	qsort(list, n, sizeof *list, by_key);
	for (size_t i = 0; i < n; i++) {
		struct ht_mem_group *last = n_groups ? &list[n_groups - 1] : NULL;
		if (!last || by_key(last, &list[i]) != 0) {
			list[n_groups++] = list[i];
			continue;
		}
		last->bytes += list[i].bytes;
		last->requested += list[i].requested;
		last->blocks++;
	}
	qsort(list, n_groups, sizeof *list, by_bytes);
	*ret_groups = list;
	*ret_n = n_groups;
	return HT_OK;
}
