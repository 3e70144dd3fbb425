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

#define MAX_PATH_NAMES 65

/* An open scope in the list of all that are, and in that of its name; HT_NONE: none. */
struct open {
	uint32_t outer, inner, same_name;
};

struct scoping {
	const struct ht_trace *t;
	struct ht_mem_scopes *scopes;
	struct open *open;    /* by scope */
	uint32_t *last_named; /* by name: the latest open one */
	uint32_t innermost;
};

static void open_scope(struct scoping *s, const struct ht_mem_annotation *note)
{
	uint32_t i = (uint32_t)s->scopes->n++;
	s->scopes->list[i] =
	        (struct ht_mem_scope){ note->name, s->innermost, note->time_ns, INT64_MAX };
	s->open[i] = (struct open){ s->innermost, HT_NONE, s->last_named[note->name] };
	if (s->innermost != HT_NONE)
		s->open[s->innermost].inner = i;
	s->innermost = s->last_named[note->name] = i;
}

static void close_scope(struct scoping *s, const struct ht_mem_annotation *note)
{
	uint32_t i = s->last_named[note->name];
	if (i == HT_NONE)
		return;
	const struct open *open = &s->open[i];
	s->scopes->list[i].end_ns = note->time_ns;
	s->last_named[note->name] = open->same_name;
	if (open->outer != HT_NONE)
		s->open[open->outer].inner = open->inner;
	if (open->inner != HT_NONE)
		s->open[open->inner].outer = open->outer;
	else
		s->innermost = open->outer;
}

/* 0 to n - 1 in order of their keys: by index, where keys are equal. */
static enum ht_status order_by(struct ht_run *run, uint64_t *keys, size_t n, uint32_t **ret_order)
{
	uint32_t *order = ht_arena_room(run->scratch, (n + 1) * sizeof *order);
	if (!order)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	*ret_order = order;
	return ht_sort_keys(run->ctx->mem, keys, order, n) ? HT_OK : ht_fail_nomem(run->ctx);
}

static enum ht_status order_notes(struct ht_run *run, uint32_t **ret_order)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->more->n_mem_annotations;
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		keys[i] = ht_sort_key_i64(t->more->mem_annotations[i].time_ns);
	return order_by(run, keys, n, ret_order);
}

/* Events of a device ascend in time, nearly: one that does not is as late as those before it. keys: when that is. */
static enum ht_status order_events(struct ht_run *run, uint64_t **ret_keys, uint32_t **ret_order)
{
	const struct ht_trace *t = run->trace;
	const struct ht_mem_event *events = t->more->mem_events;
	size_t n = t->more->n_mem_events;
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < n; k++) {
		keys[k] = ht_sort_key_i64(events[k].time_ns);
		if (k && events[k].device == events[k - 1].device && keys[k] < keys[k - 1])
			keys[k] = keys[k - 1];
	}
	*ret_keys = keys;
	return order_by(run, keys, n, ret_order);
}

/* Notes up to a time, from the next one on. */
static size_t follow_notes(struct scoping *s, const uint32_t *order, size_t next, uint64_t until)
{
	const struct ht_mem_annotation *notes = s->t->more->mem_annotations;
	for (; next < s->t->more->n_mem_annotations; next++) {
		const struct ht_mem_annotation *note = &notes[order[next]];
		if (ht_sort_key_i64(note->time_ns) > until)
			break;
		(note->is_end ? close_scope : open_scope)(s, note);
	}
	return next;
}

/* A scope that a note opens or closes at the time of an event is there, or gone, for it. */
static enum ht_status place_events(struct ht_run *run, struct scoping *s)
{
	uint32_t *notes = NULL, *events = NULL;
	uint64_t *keys = NULL;
	size_t next = 0;
	HT_TRY(order_notes(run, &notes));
	HT_TRY(order_events(run, &keys, &events));
	for (size_t i = 0; i < s->t->more->n_mem_events; i++) {
		next = follow_notes(s, notes, next, keys[i]);
		s->scopes->of_event[events[i]] = s->innermost;
	}
	follow_notes(s, notes, next, UINT64_MAX);
	return HT_OK;
}

enum ht_status ht_mem_scopes_find(struct ht_run *run, struct ht_mem_scopes *ret_scopes)
{
	const struct ht_trace *t = run->trace;
	size_t n = t->more->n_mem_annotations + 1;
	*ret_scopes = (struct ht_mem_scopes){ .list = ht_arena_alloc(
		                                      run->scratch, n * sizeof *ret_scopes->list) };
	ret_scopes->of_event =
	        ht_arena_room(run->scratch, (t->more->n_mem_events + 1) * sizeof(uint32_t));
	ret_scopes->paths = ht_arena_alloc(run->scratch, n * sizeof *ret_scopes->paths);
	struct scoping s = { .t = t,
		.scopes = ret_scopes,
		.open = ht_arena_room(run->scratch, n * sizeof *s.open),
		.last_named = ht_arena_room(
		        run->scratch, (t->n_string_offsets + 1) * sizeof *s.last_named),
		.innermost = HT_NONE };
	if (!ret_scopes->list || !ret_scopes->of_event || !ret_scopes->paths || !s.open ||
	        !s.last_named)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->more->n_mem_annotations; i++)
		s.last_named[t->more->mem_annotations[i].name] = HT_NONE;
	return place_events(run, &s);
}

const char *ht_mem_scope_path(struct ht_run *run, struct ht_mem_scopes *scopes, uint32_t scope)
{
	if (scope == HT_NONE)
		return "(no annotation)";
	if (scopes->paths[scope])
		return scopes->paths[scope];
	/* from the innermost out, as far as it fits */
	const char *names[MAX_PATH_NAMES];
	size_t n = 0, n_bytes = 0;
	for (uint32_t at = scope; at != HT_NONE && n < MAX_PATH_NAMES;
	        at = scopes->list[at].parent) {
		const char *name = ht_str(run->trace, scopes->list[at].name);
		size_t n_name = strlen(name) + strlen(" > ");
		if (n && n_bytes + n_name > HT_MEM_MAX_TEXT)
			break;
		n_bytes += n_name;
		names[n++] = name;
	}
	char *path = ht_arena_room(run->scratch, n_bytes + 1), *to = path;
	for (size_t i = n; path && i > 0; i--) {
		size_t n_name = strlen(names[i - 1]);
		memcpy(to, names[i - 1], n_name);
		to += n_name;
		if (i > 1)
			memcpy(to, " > ", 3);
		to += i > 1 ? 3 : 0;
	}
	if (path)
		*to = '\0';
	scopes->paths[scope] = path;
	return path;
}
