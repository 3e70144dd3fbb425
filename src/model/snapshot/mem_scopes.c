/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_scopes.c - record_function scopes of a snapshot, and which events are inside them. See mem_names.h.
 *
 * The file has starts and ends without numbers: an end belongs to the latest open start of its name.
 */
#include "model/snapshot/mem_names.h"
#include "store/allocator_snapshot.h"
#include "store/trace.h"

#include "base/sort.h"

#include <string.h>

struct scoping {
	const struct ht_trace *t;
	struct ht_mem_scopes *scopes;
	uint32_t *open; /* scopes, the outermost first */
	size_t n_open;
};

static void open_scope(struct scoping *s, const struct ht_mem_annotation *note)
{
	uint32_t i = (uint32_t)s->scopes->n++;
	s->scopes->list[i] = (struct ht_mem_scope){ note->name,
		s->n_open ? s->open[s->n_open - 1] : HT_NONE, note->time_ns, INT64_MAX };
	s->open[s->n_open++] = i;
}

static void close_scope(struct scoping *s, const struct ht_mem_annotation *note)
{
	for (size_t i = s->n_open; i > 0; i--) {
		struct ht_mem_scope *scope = &s->scopes->list[s->open[i - 1]];
		if (scope->name != note->name)
			continue;
		scope->end_ns = note->time_ns;
		memmove(s->open + i - 1, s->open + i, (s->n_open - i) * sizeof *s->open);
		s->n_open--;
		return;
	}
}

/* Notes in order of time: by index, where times are equal. */
static enum ht_status order_notes(struct ht_run *run, uint32_t **ret_order)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->more->n_mem_annotations;
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_room(run->scratch, (n + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++) {
		keys[i] = ht_sort_key_i64(t->more->mem_annotations[i].time_ns);
		order[i] = i;
	}
	*ret_order = order;
	return ht_sort_keys(run->ctx->mem, keys, order, n) ? HT_OK : ht_fail_nomem(run->ctx);
}

/* Events of a device ascend in time, nearly: one cursor for each device. A scope that a note opens or closes at the
 * time of an event is there, or gone, for it. */
static void place_events(struct scoping *s, const uint32_t *order)
{
	const struct ht_trace *t = s->t;
	size_t next = 0;
	for (size_t k = 0; k < t->more->n_mem_events; k++) {
		const struct ht_mem_event *e = &t->more->mem_events[k];
		if (k && e->device != t->more->mem_events[k - 1].device)
			next = s->n_open = s->scopes->n = 0;
		while (next < t->more->n_mem_annotations &&
		        t->more->mem_annotations[order[next]].time_ns <= e->time_ns) {
			const struct ht_mem_annotation *note =
			        &t->more->mem_annotations[order[next++]];
			(note->is_end ? close_scope : open_scope)(s, note);
		}
		s->scopes->of_event[k] = s->n_open ? s->open[s->n_open - 1] : HT_NONE;
	}
	while (next < t->more->n_mem_annotations) {
		const struct ht_mem_annotation *note = &t->more->mem_annotations[order[next++]];
		(note->is_end ? close_scope : open_scope)(s, note);
	}
}

enum ht_status ht_mem_scopes_find(struct ht_run *run, struct ht_mem_scopes *ret_scopes)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->more->n_mem_annotations + 1;
	uint32_t *order = NULL;
	*ret_scopes = (struct ht_mem_scopes){ .list = ht_arena_alloc(
		                                      run->scratch, n * sizeof *ret_scopes->list) };
	ret_scopes->of_event =
	        ht_arena_room(run->scratch, (t->more->n_mem_events + 1) * sizeof(uint32_t));
	ret_scopes->paths = ht_arena_alloc(run->scratch, n * sizeof *ret_scopes->paths);
	struct scoping s = { .t = t,
		.scopes = ret_scopes,
		.open = ht_arena_room(run->scratch, n * sizeof *s.open) };
	if (!ret_scopes->list || !ret_scopes->of_event || !ret_scopes->paths || !s.open)
		return ht_fail_nomem(run->ctx);
	HT_TRY(order_notes(run, &order));
	place_events(&s, order);
	return HT_OK;
}

const char *ht_mem_scope_path(struct ht_run *run, struct ht_mem_scopes *scopes, uint32_t scope)
{
	if (scope == HT_NONE)
		return "(no annotation)";
	if (scopes->paths[scope])
		return scopes->paths[scope];
	const char *path = ht_str(run->trace, scopes->list[scope].name);
	size_t depth = 0;
	for (uint32_t up = scopes->list[scope].parent; path && up != HT_NONE && depth < 64;
	        up = scopes->list[up].parent, depth++)
		path = ht_arena_printf(
		        run->scratch, "%s > %s", ht_str(run->trace, scopes->list[up].name), path);
	scopes->paths[scope] = path;
	return path;
}
