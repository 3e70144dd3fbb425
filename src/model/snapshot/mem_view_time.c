/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_view_time.c - memory over time: events, churn per step, and the timeline by key. See mem_view.h.
 *
 * The timeline has a point per so many events: the event of the piece after which most is allocated, with what lives then.
 * So every maximum of the pieces is shown, the peak among them, at any number of points.
 */
#include "model/snapshot/mem_steps.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/search.h"
#include "model/snapshot/mem_columns.h"
#include "model/snapshot/mem_view.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum ht_status ht_mem_view_events(struct ht_mem_view *v)
{
	const struct ht_trace *t = v->run->trace;
	ht_table *table = v->table;
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		const struct ht_mem_span span = ht_mem_view_span(v, d);
		for (int64_t k = span.first; k < span.end; k++) {
			const struct ht_mem_event *e = &t->more->mem_events[k];
			ht_table_row(table);
			ht_table_put_i64(table, EVENT_RANK, v->run->rank);
			ht_table_put_i64(table, EVENT_DEVICE, d->device);
			ht_table_put_i64(table, EVENT_EVENT, k - d->first);
			ht_table_put_known(
			        table, EVENT_TIME_NS, ht_mem_view_time(v, d, k), HT_NO_I64);
			ht_table_put_str(table, EVENT_ACTION,
			        ht_mem_action_name((enum ht_mem_action)e->action));
			ht_table_put_str(table, EVENT_ADDRESS,
			        ht_arena_printf(v->run->scratch, "0x%" PRIx64, e->addr));
			ht_table_put_i64(table, EVENT_BYTES, e->size);
			ht_table_put_i64(table, EVENT_STREAM, e->stream);
			ht_table_put_i64(table, EVENT_ALLOCATED_BYTES, v->history->allocated[k]);
			ht_table_put_i64(table, EVENT_ACTIVE_BYTES, v->history->active[k]);
			ht_table_put_i64(table, EVENT_RESERVED_BYTES, v->history->reserved[k]);
			ht_table_put_str(table, EVENT_KEY, ht_mem_user_text(v->run, e->stack));
			ht_table_put_str(table, EVENT_ANNOTATION,
			        ht_mem_scope_path(
			                v->run, &v->names.scopes, v->names.scopes.of_event[k]));
			ht_table_put_str(table, EVENT_COMPILE_CONTEXT,
			        e->context == HT_NO_STR ? NULL : ht_str(t, e->context));
			ht_table_put_str(table, EVENT_USER_METADATA,
			        e->metadata == HT_NO_STR ? NULL : ht_str(t, e->metadata));
		}
	}
	return HT_OK;
}

/* ---- churn ---- */

struct churn {
	int64_t allocations, bytes, releases, segments, segment_bytes, longest_ns;
};

static void count_event(const struct ht_mem_event *e, struct churn *c)
{
	switch ((enum ht_mem_action)e->action) {
	case HT_MEM_ALLOC:
		c->allocations++;
		ht_sum(&c->bytes, e->size);
		break;
	case HT_MEM_FREE:
	case HT_MEM_FREE_COMPLETED: c->releases++; break;
	case HT_MEM_SEGMENT_ALLOC:
	case HT_MEM_SEGMENT_MAP:
		c->segments++;
		ht_sum(&c->segment_bytes, e->size);
		break;
	default: break;
	}
}

/* How long released blocks waited for other streams, at most, by the step of their release. */
static void count_waits(const struct ht_mem_view *v, const struct ht_mem_device *d,
        const struct ht_mem_steps *steps, struct churn *list)
{
	const struct ht_mem_event *events = v->run->trace->more->mem_events;
	const struct ht_mem_span span = ht_mem_view_span(v, d);
	for (size_t i = 0; i < d->n_lives; i++) {
		const struct ht_mem_life *life = &d->lives[i];
		if (life->free_completed < span.first || life->free_completed >= span.end ||
		        life->free_requested < 0)
			continue;
		struct churn *c = &list[HT_LOWER_BOUND(
		        k, steps->n, steps->list[k].last < life->free_completed)];
		int64_t waited = ht_sub_sat(
		        events[life->free_completed].time_ns, events[life->free_requested].time_ns);
		c->longest_ns = waited > c->longest_ns ? waited : c->longest_ns;
	}
}

static void put_churn(
        struct ht_mem_view *v, const struct ht_mem_device *d, int64_t step, const struct churn *c)
{
	ht_table *table = v->table;
	ht_table_row(table);
	ht_table_put_i64(table, CHURN_RANK, v->run->rank);
	ht_table_put_i64(table, CHURN_DEVICE, d->device);
	ht_table_put_known(table, CHURN_STEP, step, HT_NO_I64);
	ht_table_put_i64(table, CHURN_ALLOCATIONS, c->allocations);
	ht_table_put_i64(table, CHURN_ALLOCATED_BYTES, c->bytes);
	ht_table_put_i64(table, CHURN_RELEASES, c->releases);
	ht_table_put_i64(table, CHURN_SEGMENTS, c->segments);
	ht_table_put_i64(table, CHURN_SEGMENT_BYTES, c->segment_bytes);
	ht_table_put_i64(table, CHURN_LONGEST_WAIT_NS, c->longest_ns);
}

enum ht_status ht_mem_view_churn(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		struct ht_mem_steps steps;
		const struct ht_mem_span span = ht_mem_view_span(v, d);
		HT_TRY(ht_mem_view_steps(v, d, &steps));
		struct churn *list = ht_arena_alloc(v->run->scratch, (steps.n + 1) * sizeof *list);
		if (!list)
			return ht_fail_nomem(v->run->ctx);
		int64_t at = span.first;
		for (size_t k = 0; k <= steps.n; k++)
			for (int64_t end = k < steps.n ? steps.list[k].last + 1 : span.end;
			        at < end; at++)
				count_event(&v->run->trace->more->mem_events[at], &list[k]);
		count_waits(v, d, &steps, list);
		for (size_t k = 0; k < steps.n; k++)
			put_churn(v, d, steps.list[k].number, &list[k]);
		if (span.end > (steps.n ? steps.list[steps.n - 1].last + 1 : span.first))
			put_churn(v, d, HT_NO_I64, &list[steps.n]);
	}
	return HT_OK;
}

/* ---- the timeline ---- */

struct band {
	const char *key;
	double weight; /* bytes times events */
	int64_t bytes; /* now */
};

struct bands {
	struct ht_mem_view *v;
	const struct ht_mem_device *d;
	struct ht_mem_span span; /* events that are looked at */
	struct band *list;
	uint32_t *of_life; /* by life */
	size_t n, n_shown;
	struct band **shown;
};

static int by_weight(const void *x, const void *y)
{
	const struct band *a = *(const struct band *const *)x, *b = *(const struct band *const *)y;
	return a->weight != b->weight ? (a->weight < b->weight) - (a->weight > b->weight)
	                              : strcmp(a->key, b->key);
}

static double weight_of(const struct bands *s, const struct ht_mem_life *life)
{
	int64_t from = life->alloc < s->span.first ? s->span.first : life->alloc;
	int64_t to = life->free_requested > s->span.end ? s->span.end : life->free_requested;
	return to > from ? (double)(to - from) * (double)life->size : 0;
}

/* The band of a key, a new one where there is none yet; slots has a power of two of places, 1 + band each. */
static uint32_t band_of(struct bands *s, const char *key, uint32_t *slots, size_t n_slots)
{
	size_t at = HT_PROBE(k, n_slots, ht_hash(key, strlen(key)),
	        !slots[k] || !strcmp(s->list[slots[k] - 1].key, key));
	if (!slots[at]) {
		s->list[s->n] = (struct band){ .key = key };
		slots[at] = (uint32_t)++s->n;
	}
	return slots[at] - 1;
}

static enum ht_status make_bands(struct bands *s, size_t n_shown)
{
	size_t n = s->d->n_lives, n_slots = 16;
	struct ht_arena *arena = s->v->run->scratch;
	while (n_slots < 2 * n)
		n_slots *= 2;
	uint32_t *slots = ht_arena_alloc(arena, n_slots * sizeof *slots);
	s->of_life = ht_arena_room(arena, (n + 1) * sizeof *s->of_life);
	s->list = ht_arena_room(arena, (n + 1) * sizeof *s->list);
	if (!slots || !s->of_life || !s->list)
		return ht_fail_nomem(s->v->run->ctx);
	for (size_t i = 0; i < n; i++) {
		const char *key = ht_mem_name_of(&s->v->names, &s->d->lives[i]);
		if (!key)
			return ht_fail_nomem(s->v->run->ctx);
		s->of_life[i] = band_of(s, key, slots, n_slots);
		s->list[s->of_life[i]].weight += weight_of(s, &s->d->lives[i]);
	}
	s->shown = ht_arena_room(arena, (s->n + 1) * sizeof(*s->shown));
	if (!s->shown)
		return ht_fail_nomem(s->v->run->ctx);
	for (size_t i = 0; i < s->n; i++)
		s->shown[i] = &s->list[i];
	qsort(s->shown, s->n, sizeof(*s->shown), by_weight);
	s->n_shown = s->n < n_shown ? s->n : n_shown;
	return HT_OK;
}

static void put_point(struct bands *s, int64_t k, const char *key, int64_t bytes)
{
	ht_table *table = s->v->table;
	ht_table_row(table);
	ht_table_put_i64(table, TIMELINE_RANK, s->v->run->rank);
	ht_table_put_i64(table, TIMELINE_DEVICE, s->d->device);
	ht_table_put_i64(table, TIMELINE_EVENT, k - s->d->first);
	ht_table_put_known(table, TIMELINE_TIME_NS, ht_mem_view_time(s->v, s->d, k), HT_NO_I64);
	ht_table_put_str(table, TIMELINE_KEY, key);
	ht_table_put_i64(table, TIMELINE_BYTES, bytes);
	ht_table_put_i64(table, TIMELINE_ALLOCATED_BYTES, s->v->history->allocated[k]);
	ht_table_put_i64(table, TIMELINE_RESERVED_BYTES, s->v->history->reserved[k]);
}

static void put_points(struct bands *s, int64_t k)
{
	int64_t others = s->v->history->allocated[k];
	for (size_t i = 0; i < s->n_shown; i++) {
		put_point(s, k, s->shown[i]->key, s->shown[i]->bytes);
		others -= s->shown[i]->bytes;
	}
	if (s->n > s->n_shown)
		put_point(s, k, "(others)", others);
}

/* What an event begins and ends. */
struct walk {
	uint32_t *ends; /* 1 + the life whose tensor dies, by event of the device; 0: none */
	size_t i_life;  /* the next that begins */
};

static void step_over(struct bands *s, struct walk *w, int64_t k)
{
	const struct ht_mem_device *d = s->d;
	uint32_t ended = w->ends[k - d->first];
	if (ended)
		s->list[s->of_life[ended - 1]].bytes -= d->lives[ended - 1].size;
	if (w->i_life < d->n_lives && d->lives[w->i_life].alloc == k) {
		s->list[s->of_life[w->i_life]].bytes += d->lives[w->i_life].size;
		w->i_life++;
	}
}

/* One walk: bytes of each band after each event, told at the chosen ones. */
static enum ht_status walk_bands(struct bands *s, int64_t n_points)
{
	const struct ht_mem_device *d = s->d;
	const int64_t *allocated = s->v->history->allocated;
	int64_t n = s->span.end - s->span.first, k = d->first;
	struct walk w = { .ends = ht_arena_alloc(s->v->run->scratch,
		                  (size_t)(d->end - d->first + 1) * sizeof *w.ends) };
	if (!w.ends)
		return ht_fail_nomem(s->v->run->ctx);
	for (uint32_t i = 0; i < d->n_lives; i++)
		if (d->lives[i].free_requested >= d->first &&
		        d->lives[i].free_requested != HT_MEM_NEVER)
			w.ends[d->lives[i].free_requested - d->first] = i + 1;
	for (; w.i_life < d->n_lives && d->lives[w.i_life].alloc == HT_MEM_BEFORE; w.i_life++)
		if (d->lives[w.i_life].free_requested != HT_MEM_BEFORE)
			s->list[s->of_life[w.i_life]].bytes += d->lives[w.i_life].size;
	for (; k < s->span.first; k++)
		step_over(s, &w, k);
	for (int64_t point = 0; point < n_points; point++) {
		int64_t end = s->span.first + n * (point + 1) / n_points, highest = k;
		for (int64_t i = k; i < end; i++)
			highest = allocated[i] > allocated[highest] ? i : highest;
		for (; k < end; k++) {
			step_over(s, &w, k);
			if (k == highest)
				put_points(s, k);
		}
	}
	return HT_OK;
}

static enum ht_status put_timeline(struct ht_mem_view *v, const struct ht_mem_device *d)
{
	int64_t n_points = ht_run_i64(v->run, "points"), n_bands = ht_run_i64(v->run, "bands");
	struct bands s = { .v = v, .d = d, .span = ht_mem_view_span(v, d) };
	int64_t n = s.span.end - s.span.first;
	if (n <= 0)
		return HT_OK;
	HT_TRY(make_bands(&s, (size_t)(n_bands < 1 ? 1 : n_bands)));
	return walk_bands(&s, n_points < 1 ? 1 : n_points < n ? n_points : n);
}

enum ht_status ht_mem_view_timeline(struct ht_mem_view *v)
{
	for (size_t i = 0; i < v->history->n_devices; i++)
		HT_TRY(put_timeline(v, &v->history->devices[i]));
	return HT_OK;
}

enum ht_status ht_mem_view_fullest(struct ht_mem_view *v)
{
	const struct ht_mem_device *most = NULL;
	for (size_t i = 0; i < v->history->n_devices; i++) {
		const struct ht_mem_device *d = &v->history->devices[i];
		most = !most || d->peak_allocated > most->peak_allocated ? d : most;
	}
	return most ? put_timeline(v, most) : HT_OK;
}
