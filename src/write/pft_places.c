/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pft_places.c - tracks of a Perfetto trace: processes, threads and streams, lanes beside them, counters; see pft.h.
 */
#include "store/columns.h"
#include "write/pft.h"

#include "base/checked.h"
#include "base/mem.h"
#include "base/sort.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers for pids and tids that are texts, out of the way of real ones. */
#define MADE_PID ((int64_t)1 << 30)
#define MADE_TID ((int64_t)1 << 40)

/* Lanes in which spans may be inside each other; further ones have one span at a time, found by the end of the last. */
#define NESTED_LANES 16

struct process {
	uint16_t document;
	uint8_t type;
	int64_t pid;
	uint32_t track;
};

static int compare_processes(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	if (a->document != b->document)
		return a->document < b->document ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->pid != b->pid ? ht_order_i64(a->pid, b->pid)
	                        : (a->track > b->track) - (a->track < b->track);
}

/* ---- descriptors ---- */

static uint64_t new_track(struct ht_pft *p)
{
	return ++p->out->file->n_tracks;
}

/* The descriptor in p->event becomes a packet. */
static void end_track(struct ht_pft *p)
{
	ht_message_u64(&p->packet, HT_PF_SEQUENCE, p->sequence);
	ht_message_end(&p->packet, HT_PF_TRACK, &p->event);
	ht_message_end(&p->tracks, HT_PF_PACKET, &p->packet);
	p->failed |= p->tracks.failed;
}

static void put_own_id(
        struct ht_pft *p, uint32_t field, uint32_t text_field, const struct ht_cell *cell)
{
	if (cell->type == HT_ARG_I64)
		ht_message_u64(&p->event, field, ht_wire_zigzag(cell->i64));
	else if (cell->type == HT_ARG_STR)
		ht_message_bytes(&p->event, text_field, cell->text, cell->n);
}

static bool is_small(int64_t value)
{
	return value >= 0 && value <= INT32_MAX;
}

static const char *process_label(
        const struct ht_pft *p, const struct ht_track *track, char *to, size_t n)
{
	const char *name =
	        track->process_name == HT_NO_STR ? "" : ht_str(p->t, track->process_name);
	if (track->device >= 0)
		snprintf(to, n, "rank %lld GPU %d", (long long)p->out->rank, (int)track->device);
	else if (*name)
		snprintf(to, n, "rank %lld %.200s", (long long)p->out->rank, name);
	else if (track->pid_type == HT_ID_STR)
		snprintf(to, n, "rank %lld %.200s", (long long)p->out->rank,
		        ht_str(p->t, (uint32_t)track->pid));
	else
		snprintf(to, n, "rank %lld process %lld", (long long)p->out->rank,
		        (long long)track->pid);
	return to;
}

/* A process, of which i is the first track; its number for viewers. */
static int64_t put_process(
        struct ht_pft *p, uint32_t i_track, uint64_t uuid, const char *name, int device)
{
	struct ht_cell pid;
	ht_pid_cell(p->out, i_track, &pid);
	int64_t number =
	        pid.type == HT_ARG_I64 && is_small(pid.i64) ? pid.i64 : MADE_PID + (int64_t)uuid;
	ht_message_u64(&p->inner, HT_PF_PROCESS_PID, (uint64_t)number);
	ht_message_text(&p->inner, HT_PF_PROCESS_NAME, name);
	ht_message_u64(&p->event, HT_PF_TRACK_UUID, uuid);
	ht_message_end(&p->event, HT_PF_TRACK_PROCESS, &p->inner);
	ht_message_u64(&p->event, HT_PF_TRACK_CHILD_ORDER, HT_PF_EXPLICIT_ORDER);
	ht_message_u64(&p->event, HT_PF_TRACK_RANK, device < 0 ? 0 : 100 + (uint64_t)device);
	put_own_id(p, HT_PF_TRACK_OWN_PID, HT_PF_TRACK_OWN_PID_TEXT, &pid);
	end_track(p);
	return number;
}

static void name_thread(const struct ht_pft *p, uint32_t i_track, char *to, size_t n)
{
	const struct ht_track *track = &p->t->tracks[i_track];
	if (track->name != HT_NO_STR)
		snprintf(to, n, "%.200s", ht_str(p->t, track->name));
	else if (track->tid_type == HT_ID_STR)
		snprintf(to, n, "%.200s", ht_str(p->t, (uint32_t)track->tid));
	else
		snprintf(to, n, "%s %lld", track->device >= 0 ? "stream" : "thread",
		        (long long)track->tid);
}

/* What a row of the track says of its process and thread. */
static void put_own_ids(struct ht_pft *p, uint32_t i_track)
{
	struct ht_cell cell;
	uint16_t document = p->out->pids ? 0 : p->documents[p->t->tracks[i_track].document];
	ht_pid_cell(p->out, i_track, &cell);
	put_own_id(p, HT_PF_TRACK_OWN_PID, HT_PF_TRACK_OWN_PID_TEXT, &cell);
	ht_tid_cell(p->out, i_track, &cell);
	put_own_id(p, HT_PF_TRACK_OWN_TID, HT_PF_TRACK_OWN_TID_TEXT, &cell);
	ht_message_u64(&p->event, HT_PF_TRACK_OWN_DOCUMENT, document);
}

static void put_thread(struct ht_pft *p, uint32_t i_track, int64_t pid, uint64_t order)
{
	const struct ht_track *track = &p->t->tracks[i_track];
	char name[256];
	int64_t tid = track->tid_type == HT_ID_INT && track->tid >= 0
	                      ? track->tid
	                      : MADE_TID + (int64_t)p->track_of[i_track];
	name_thread(p, i_track, name, sizeof name);
	ht_message_u64(&p->inner, HT_PF_THREAD_PID, (uint64_t)pid);
	ht_message_u64(&p->inner, HT_PF_THREAD_TID, (uint64_t)tid);
	ht_message_text(&p->inner, HT_PF_THREAD_NAME, name);
	ht_message_u64(&p->event, HT_PF_TRACK_UUID, p->track_of[i_track]);
	ht_message_u64(&p->event, HT_PF_TRACK_PARENT, p->process_of[i_track]);
	ht_message_end(&p->event, HT_PF_TRACK_THREAD, &p->inner);
	ht_message_u64(&p->event, HT_PF_TRACK_RANK, order);
	put_own_ids(p, i_track);
	end_track(p);
}

/* Tracks that have rows, those of one process behind each other. */
static size_t list_tracks(struct ht_pft *p, struct process *list)
{
	const struct ht_trace *t = p->t;
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		uint32_t i = t->track[row];
		const struct ht_track *track = &t->tracks[i];
		if (p->item_of[row] == HT_NONE || p->track_of[i])
			continue;
		p->track_of[i] = 1;
		list[n++] = (struct process){ track->document, track->pid_type, track->pid, i };
	}
	qsort(list, n, sizeof *list, compare_processes);
	return n;
}

static void put_root(struct ht_pft *p)
{
	if (p->out->file->n_tracks)
		return;
	ht_message_u64(&p->event, HT_PF_TRACK_UUID, HT_PF_ROOT_TRACK);
	ht_message_u64(&p->event, HT_PF_TRACK_PROCESS_ORDER, 1);
	ht_message_u64(&p->event, HT_PF_TRACK_THREAD_ORDER, 1);
	end_track(p);
}

enum ht_status ht_pft_name_tracks(struct ht_pft *p)
{
	const struct ht_trace *t = p->t;
	size_t n_bytes = (t->n_tracks + 1) * sizeof(struct process);
	struct process *list = ht_mem_alloc(p->ctx->mem, n_bytes);
	int64_t pid = 0;
	uint64_t process = 0;
	if (!list)
		return ht_fail_nomem(p->ctx);
	put_root(p);
	size_t n = list_tracks(p, list);
	for (size_t i = 0; i < n; i++) {
		const struct process *one = &list[i];
		const struct ht_track *track = &t->tracks[one->track];
		bool is_new = !i || one->document != one[-1].document ||
		              one->type != one[-1].type || one->pid != one[-1].pid;
		if (is_new) {
			char name[256];
			process = new_track(p);
			int device = track->device;
			/* a GPU's rows may be behind those that only name it */
			for (size_t k = i;
			        k < n && list[k].pid == one->pid && list[k].type == one->type &&
			        list[k].document == one->document && device < 0;
			        k++)
				if (t->tracks[list[k].track].device >= 0)
					track = &t->tracks[list[k].track], device = track->device;
			pid = put_process(p, one->track, process,
			        process_label(p, track, name, sizeof name), device);
		}
		p->process_of[one->track] = process;
		p->track_of[one->track] = new_track(p);
		put_thread(p, one->track, pid, i);
	}
	ht_mem_free(p->ctx->mem, list, n_bytes);
	return p->failed ? ht_fail_nomem(p->ctx) : HT_OK;
}

/* ---- added ones ---- */

uint64_t ht_pft_process(struct ht_pft *p, int64_t pid)
{
	struct ht_cell cell;
	for (uint32_t i = 0; i < p->t->n_tracks; i++) {
		if (!p->process_of[i])
			continue;
		ht_pid_cell(p->out, i, &cell);
		if (cell.type == HT_ARG_I64 && cell.i64 == pid)
			return p->process_of[i];
	}
	return 0;
}

uint64_t ht_pft_extra_track(struct ht_pft *p, int64_t pid, const int64_t *tid)
{
	int64_t key[3] = { pid, tid ? *tid : 0, tid != NULL };
	size_t n_before = p->pools[HT_PFT_COUNTERS].texts.n;
	uint32_t id = ht_pft_text(p, HT_PFT_COUNTERS, (const char *)key, sizeof key);
	if (!id)
		return 0;
	if (p->pools[HT_PFT_COUNTERS].texts.n > n_before) {
		uint64_t uuid = new_track(p);
		p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->counters, uint64_t, uuid);
		ht_message_u64(&p->event, HT_PF_TRACK_UUID, uuid);
		ht_message_u64(&p->event, HT_PF_TRACK_OWN_PID, ht_wire_zigzag(pid));
		if (tid)
			ht_message_u64(&p->event, HT_PF_TRACK_OWN_TID, ht_wire_zigzag(*tid));
		end_track(p);
	}
	return p->failed ? 0 : ((const uint64_t *)p->counters.data)[id - 1];
}

/* "NAME", or "NAME KEY" where the key says more; a number where several have the name. */
static void name_counter(struct ht_pft *p, const char *name, const char *key, int64_t id)
{
	char text[512];
	bool says_more = strcmp(key, "value") != 0 && strcmp(key, name) != 0;
	size_t n = (size_t)snprintf(text, sizeof text, "%.200s", name);
	if (id >= 0)
		n += (size_t)snprintf(text + n, sizeof text - n, " %lld", (long long)id);
	if (says_more)
		snprintf(text + n, sizeof text - n, " %.200s", key);
	ht_message_text(&p->event, HT_PF_TRACK_NAME, text);
}

uint64_t ht_pft_counter_track(
        struct ht_pft *p, uint64_t process, const char *name, const char *key, int64_t id)
{
	size_t n_before = p->pools[HT_PFT_COUNTERS].texts.n;
	p->event.bytes.n = 0;
	ht_message_u64(&p->event, HT_PF_TRACK_PARENT, process);
	ht_message_u64(&p->event, HT_PF_TRACK_RANK, (uint64_t)id);
	ht_message_text(&p->event, HT_PF_TRACK_STATIC_NAME, name);
	ht_message_text(&p->event, HT_PF_TRACK_NAME, key);
	uint32_t number = ht_pft_text(p, HT_PFT_COUNTERS, p->event.bytes.data, p->event.bytes.n);
	p->event.bytes.n = 0;
	if (!number)
		return 0;
	if (p->pools[HT_PFT_COUNTERS].texts.n > n_before) {
		uint64_t uuid = new_track(p);
		bool is_bytes =
		        strstr(key, "bytes") || strstr(key, "Bytes") || !strcmp(name, "Memory");
		p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->counters, uint64_t, uuid);
		ht_message_u64(&p->inner, HT_PF_COUNTER_UNIT,
		        is_bytes ? HT_PF_UNIT_BYTES : HT_PF_UNIT_COUNT);
		ht_message_u64(&p->event, HT_PF_TRACK_UUID, uuid);
		if (process)
			ht_message_u64(&p->event, HT_PF_TRACK_PARENT, process);
		name_counter(p, name, key, id);
		ht_message_end(&p->event, HT_PF_TRACK_COUNTER, &p->inner);
		end_track(p);
	}
	return p->failed ? 0 : ((const uint64_t *)p->counters.data)[number - 1];
}

/* ---- lanes ---- */

struct open_span {
	int64_t end_ns;
	uint32_t item;
};

struct lane {
	uint64_t uuid;
	struct ht_vec open; /* struct open_span, innermost last */
};

/* A lane of one span at a time, by when that ends. */
struct single {
	int64_t end_ns;
	uint64_t uuid;
};

struct lanes {
	struct ht_pft *p;
	uint32_t i_track;
	struct lane nested[NESTED_LANES];
	size_t n_nested;
	struct ht_vec singles; /* struct single, a heap with the earliest end first */
};

static uint64_t new_lane(struct lanes *l)
{
	struct ht_pft *p = l->p;
	char name[256];
	uint64_t uuid = new_track(p);
	name_thread(p, l->i_track, name, sizeof name);
	ht_message_u64(&p->event, HT_PF_TRACK_UUID, uuid);
	ht_message_u64(&p->event, HT_PF_TRACK_PARENT, p->track_of[l->i_track]);
	ht_message_text(&p->event, HT_PF_TRACK_NAME, name);
	put_own_ids(p, l->i_track);
	end_track(p);
	return uuid;
}

static void close_until(struct lanes *l, struct lane *lane, int64_t ts_ns)
{
	struct open_span *open = lane->open.data;
	while (lane->open.n && open[lane->open.n - 1].end_ns <= ts_ns) {
		struct open_span span = open[--lane->open.n];
		ht_pft_push_op(
		        l->p, span.end_ns, (struct ht_pft_op){ lane->uuid, span.item, HT_PF_END });
	}
}

static bool try_lane(struct lanes *l, struct lane *lane, int64_t ts_ns, struct open_span span)
{
	close_until(l, lane, ts_ns);
	const struct open_span *open = lane->open.data;
	if (lane->open.n && open[lane->open.n - 1].end_ns < span.end_ns)
		return false;
	ht_pft_push_op(l->p, ts_ns, (struct ht_pft_op){ lane->uuid, span.item, HT_PF_BEGIN });
	l->p->failed |= !HT_VEC_PUSH(l->p->ctx->mem, &lane->open, struct open_span, span);
	return true;
}

static void sink_first(struct single *heap, size_t n)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && heap[child + 1].end_ns < heap[child].end_ns;
		if (heap[at].end_ns <= heap[child].end_ns)
			return;
		struct single swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
	}
}

static void raise_last(struct single *heap, size_t n)
{
	for (size_t at = n - 1; at && heap[at].end_ns < heap[(at - 1) / 2].end_ns;
	        at = (at - 1) / 2) {
		struct single swap = heap[at];
		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = swap;
	}
}

static void place_single(struct lanes *l, int64_t ts_ns, struct open_span span)
{
	struct single *heap = l->singles.data, lane = { span.end_ns, 0 };
	if (l->singles.n && heap[0].end_ns <= ts_ns) {
		lane.uuid = heap[0].uuid;
		heap[0] = lane;
		sink_first(heap, l->singles.n);
	} else {
		lane.uuid = new_lane(l);
		l->p->failed |= !HT_VEC_PUSH(l->p->ctx->mem, &l->singles, struct single, lane);
		if (!l->p->failed)
			raise_last(l->singles.data, l->singles.n);
	}
	ht_pft_push_op(l->p, ts_ns, (struct ht_pft_op){ lane.uuid, span.item, HT_PF_BEGIN });
	ht_pft_push_op(l->p, span.end_ns, (struct ht_pft_op){ lane.uuid, span.item, HT_PF_END });
}

static void place_span(struct lanes *l, int64_t ts_ns, struct open_span span)
{
	for (size_t i = 0; i < NESTED_LANES && !l->p->failed; i++) {
		if (i == l->n_nested)
			l->nested[l->n_nested++].uuid =
			        i ? new_lane(l) : l->p->track_of[l->i_track];
		if (try_lane(l, &l->nested[i], ts_ns, span))
			return;
	}
	place_single(l, ts_ns, span);
}

static bool is_instant(const struct ht_trace *t, uint32_t row)
{
	char ph = t->ph[row];
	return (ph == 'i' || ph == 'I' || ph == 'R') && ht_pft_is_timed(t, row) &&
	       !ht_pft_has_duration(t, row);
}

static void place_track(struct ht_pft *p, uint32_t i_track, uint8_t *is_placed)
{
	const struct ht_trace *t = p->t;
	const struct ht_track *track = &t->tracks[i_track];
	struct lanes l = { .p = p, .i_track = i_track };
	for (uint32_t i = track->first; i < track->first + track->n && !p->failed; i++) {
		uint32_t row = t->track_rows[i], item = p->item_of[row];
		if (item == HT_NONE || !(ht_is_span(t, row) || is_instant(t, row)))
			continue;
		int64_t ts_ns = ht_time_moved(&p->out->move, t->ts_ns[row]);
		is_placed[row] = 1;
		if (ht_is_span(t, row))
			place_span(&l, ts_ns,
			        (struct open_span){ ht_add_sat(ts_ns, t->dur_ns[row]), item });
		else
			ht_pft_push_op(p, ts_ns,
			        (struct ht_pft_op){ p->track_of[i_track], item, HT_PF_INSTANT });
	}
	for (size_t i = 0; i < l.n_nested; i++) {
		close_until(&l, &l.nested[i], INT64_MAX);
		ht_vec_free(p->ctx->mem, &l.nested[i].open, sizeof(struct open_span));
	}
	ht_vec_free(p->ctx->mem, &l.singles, sizeof(struct single));
}

enum ht_status ht_pft_place_rows(struct ht_pft *p)
{
	const struct ht_trace *t = p->t;
	size_t n = ht_n_events(t);
	uint8_t *is_placed = ht_mem_zalloc(p->ctx->mem, n + 1);
	if (!is_placed)
		return ht_fail_nomem(p->ctx);
	for (uint32_t i = 0; i < t->n_tracks; i++)
		if (p->track_of[i])
			place_track(p, i, is_placed);
	for (uint32_t row = 0; row < n && !p->failed; row++) {
		struct ht_pft_op op = { p->track_of[t->track[row]], p->item_of[row], 0 };
		if (op.item == HT_NONE || is_placed[row])
			continue;
		if (ht_pft_is_timed(t, row))
			ht_pft_push_op(p, ht_time_moved(&p->out->move, t->ts_ns[row]), op);
		else
			p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->untimed, struct ht_pft_op, op);
	}
	ht_mem_free(p->ctx->mem, is_placed, n + 1);
	return p->failed ? ht_fail_nomem(p->ctx) : HT_OK;
}
