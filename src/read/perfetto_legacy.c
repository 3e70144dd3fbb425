/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_legacy.c - what is rare in events of a Perfetto trace, or of old producers; see perfetto.h.
 *
 * Chrome's own events (legacy_event) have a phase: B and E are begins and ends like others, i is an instant, the rest becomes the row
 * that Chrome's JSON has for it, id included. Their times may be microseconds since the event before, on the sequence's thread and the
 * monotonic clock.
 */
#include "read/perfetto.h"

#include <string.h>

/* ---- fields ---- */

static void keep(uint64_t *list, uint32_t *n, const struct ht_wire_field *field)
{
	if (field->type != HT_WIRE_BYTES) {
		if (*n < HT_PF_MAX_EXTRA)
			list[(*n)++] = field->value;
		return;
	}
	/* one list of them: numbers, or eight bytes each */
	struct ht_wire_field one = { .type = HT_WIRE_VARINT };
	bool is_f64 = field->number == HT_PF_EVENT_EXTRA_COUNTER_F64;
	for (size_t at = 0; at < field->n && *n < HT_PF_MAX_EXTRA;) {
		size_t used =
		        is_f64 ? 8 : ht_wire_varint(field->bytes + at, field->n - at, &one.value);
		if (!used || used > field->n - at)
			return;
		if (is_f64)
			memcpy(&one.value, field->bytes + at, 8);
		list[(*n)++] = one.value;
		at += used;
	}
}

void ht_pf_more_take(struct ht_pf *pf, struct ht_pf_writer *w, struct ht_pf_more *more,
        const struct ht_wire_field *field)
{
	bool is_bytes = field->type == HT_WIRE_BYTES;
	switch (field->number) {
	case HT_PF_EVENT_DELTA_US:
	case HT_PF_EVENT_ABSOLUTE_US:
		more->has_delta = field->number == HT_PF_EVENT_DELTA_US;
		more->has_absolute = !more->has_delta;
		more->us = (int64_t)field->value;
		break;
	case HT_PF_EVENT_LEGACY:
		more->has_legacy = is_bytes;
		more->legacy = *field;
		break;
	case HT_PF_EVENT_EXTRA_TRACK: keep(more->tracks[0], &more->n_tracks[0], field); break;
	case HT_PF_EVENT_EXTRA_TRACK_F64: keep(more->tracks[1], &more->n_tracks[1], field); break;
	case HT_PF_EVENT_EXTRA_COUNTER: keep(more->values[0], &more->n_values[0], field); break;
	case HT_PF_EVENT_EXTRA_COUNTER_F64: keep(more->values[1], &more->n_values[1], field); break;
	case HT_PF_EVENT_CALLSTACK_IID:
		ht_pf_put_arg(pf, ht_rows_text(&pf->rows, "Call stack", 10), HT_ARG_STR,
		        ht_pf_text(pf, w, HT_PF_KIND_STACK, field->value));
		break;
	case HT_PF_EVENT_CALLSTACK:
		if (is_bytes)
			ht_pf_inline_stack(pf, field);
		break;
	case HT_PF_EVENT_GPU_CORRELATION:
		if (is_bytes && !pf->is_own)
			more->started = *field;
		break;
	default:
		if (!more->has_unread && !pf->is_own)
			ht_pf_count(pf, HT_STAT_field_unread);
		more->has_unread = true;
		break;
	}
}

/* ---- events of Chrome ---- */

static void put_top(struct ht_pf *pf, const char *key, enum ht_arg_type type, uint64_t value)
{
	ht_pf_put_arg(pf, ht_rows_text(&pf->rows, key, strlen(key)), type, value);
	if (!pf->failed)
		((struct ht_pf_arg *)pf->args.data)[pf->args.n - 1].is_top = true;
}

/* What the row of a phase is called in JSON of today; 0: nothing that is an event. */
static char phase_of(uint64_t phase)
{
	static const char old[] = "STpFIR", now[] = "bnneii";
	const char *at = phase && phase < 128 ? strchr(old, (int)phase) : NULL;
	char c = at ? now[at - old] : (char)(phase < 128 ? phase : 0);
	return c && strchr("BEXibenstfCMNOD", c) ? c : '\0';
}

struct legacy {
	uint64_t phase, id, bind, flow;
	int64_t dur_us, pid, tid;
	bool has_id, has_pid, has_tid;
	struct ht_wire_field scope;
};

static bool read_legacy(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *event,
        struct ht_pf_record *record, struct legacy *l)
{
	struct ht_wire wire = { .p = event->bytes, .end = event->bytes + event->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		switch (field.number) {
		case HT_PF_LEGACY_NAME_IID:
			if (record->name == HT_NO_STR)
				record->name = ht_pf_text(pf, w, HT_PF_KIND_NAME, field.value);
			break;
		case HT_PF_LEGACY_PHASE: l->phase = field.value; break;
		case HT_PF_LEGACY_DURATION_US: l->dur_us = (int64_t)field.value; break;
		case HT_PF_LEGACY_ID:
		case HT_PF_LEGACY_LOCAL_ID:
		case HT_PF_LEGACY_GLOBAL_ID:
			l->id = field.value;
			l->has_id = true;
			break;
		case HT_PF_LEGACY_SCOPE: l->scope = field; break;
		case HT_PF_LEGACY_BIND_ID: l->bind = field.value; break;
		case HT_PF_LEGACY_FLOW: l->flow = field.value; break;
		case HT_PF_LEGACY_PID:
			l->pid = (int32_t)field.value;
			l->has_pid = true;
			break;
		case HT_PF_LEGACY_TID:
			l->tid = (int32_t)field.value;
			l->has_tid = true;
			break;
		default: break;
		}
	return !wire.bad;
}

static void put_legacy(struct ht_pf *pf, struct ht_pf_writer *w, const struct legacy *l, char phase,
        struct ht_pf_record *record)
{
	const int64_t most_us = INT64_MAX / 1000;
	if (phase == 'B' || phase == 'E')
		record->type = phase == 'B' ? HT_PF_BEGIN : HT_PF_END;
	else if (phase == 'i')
		record->type = HT_PF_INSTANT;
	else
		record->phase = phase;
	if (phase == 'X')
		record->dur_ns = l->dur_us < 0         ? 0
		                 : l->dur_us < most_us ? l->dur_us * 1000
		                                       : INT64_MAX;
	if (record->phase && l->has_id)
		put_top(pf, "id", HT_ARG_I64, l->id);
	if (record->phase && l->scope.type == HT_WIRE_BYTES && l->scope.n)
		put_top(pf, "scope", HT_ARG_STR,
		        ht_rows_text(&pf->rows, (const char *)l->scope.bytes, l->scope.n));
	if (l->bind && l->flow)
		pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->flows, uint64_t, l->bind);
	if (l->has_pid || l->has_tid)
		record->track = ht_pf_thread_track(
		        pf, l->has_pid ? l->pid : w->pid, l->has_tid ? l->tid : w->tid);
}

bool ht_pf_more_apply(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_more *more,
        struct ht_pf_record *record)
{
	struct legacy l = { 0 };
	if (more->has_delta || more->has_absolute) {
		uint64_t us = (uint64_t)more->us + (more->has_delta ? w->last_us : 0);
		if (more->has_delta)
			w->last_us = us;
		record->time = us * 1000;
		record->clock = ht_pf_clock(pf, w->id, HT_PF_MONOTONIC);
	}
	if (!more->has_legacy || pf->is_own)
		return true;
	if (!read_legacy(pf, w, &more->legacy, record, &l))
		return false;
	/* an event that has a type has the rest of its fields for older programs */
	char phase = phase_of(l.phase);
	if (record->type && !phase)
		return true;
	if (!phase)
		return false;
	put_legacy(pf, w, &l, phase, record);
	return true;
}

/* ---- counters ---- */

void ht_pf_counter_value(struct ht_pf *pf, uint32_t track, bool is_f64, uint64_t bits)
{
	struct ht_pf_line *line = ht_pf_line(pf, track);
	uint32_t key = ht_rows_text(&pf->rows, "value", 5);
	double value = (double)(int64_t)bits;
	if (is_f64)
		memcpy(&value, &bits, sizeof value);
	bool is_plain = !line->is_incremental && line->multiplier == 1;
	if (line->is_incremental)
		value = line->sum += value;
	value *= (double)line->multiplier;
	if (!is_f64 && is_plain) {
		ht_pf_put_arg(pf, key, HT_ARG_I64, bits);
		return;
	}
	memcpy(&bits, &value, sizeof bits);
	ht_pf_put_arg(pf, key, HT_ARG_F64, bits);
}

void ht_pf_more_counters(
        struct ht_pf *pf, const struct ht_pf_more *more, const struct ht_pf_record *record)
{
	for (int kind = 0; kind < 2; kind++)
		for (uint32_t i = 0; i < more->n_tracks[kind] && i < more->n_values[kind]; i++) {
			struct ht_pf_record counter = ht_pf_record_begin(pf);
			counter.time = record->time;
			counter.clock = record->clock;
			counter.type = HT_PF_COUNTER;
			counter.track = ht_pf_track(pf, more->tracks[kind][i]);
			if (counter.track == HT_NONE)
				return;
			ht_pf_counter_value(pf, counter.track, kind == 1, more->values[kind][i]);
			ht_pf_record_end(pf, &counter);
		}
}

/* ---- threads of sequences ---- */

void ht_pf_legacy_thread(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *thread)
{
	struct ht_wire wire = { .p = thread->bytes, .end = thread->bytes + thread->n };
	struct ht_wire_field field, name = { 0 };
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_THREAD_PID)
			w->pid = (int32_t)field.value;
		else if (field.number == HT_PF_THREAD_TID)
			w->tid = (int32_t)field.value;
		else if (field.number == HT_PF_THREAD_NAME && field.type == HT_WIRE_BYTES)
			name = field;
		else if (field.number == HT_PF_THREAD_REFERENCE_US)
			w->last_us = field.value;
	w->has_thread = true;
	uint32_t track = ht_pf_thread_track(pf, w->pid, w->tid);
	if (track != HT_NONE && name.bytes)
		ht_pf_line(pf, track)->name =
		        ht_rows_text(&pf->rows, (const char *)name.bytes, name.n);
}

void ht_pf_legacy_process(struct ht_pf *pf, const struct ht_wire_field *process)
{
	struct ht_wire wire = { .p = process->bytes, .end = process->bytes + process->n };
	struct ht_wire_field field, name = { 0 };
	int64_t pid = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_PROCESS_PID)
			pid = (int32_t)field.value;
		else if (field.number == HT_PF_PROCESS_NAME && field.type == HT_WIRE_BYTES)
			name = field;
	uint32_t track = ht_pf_track(pf, ht_hash_mix(0x960CE55, (uint64_t)pid));
	if (track == HT_NONE)
		return;
	struct ht_pf_line *line = ht_pf_line(pf, track);
	line->has_pid = line->is_process = line->is_known = true;
	line->pid = pid;
	if (name.bytes)
		line->process_name = ht_rows_text(&pf->rows, (const char *)name.bytes, name.n);
}

/* ---- call stacks ---- */

void ht_pf_frame(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *frame)
{
	struct ht_wire wire = { .p = frame->bytes, .end = frame->bytes + frame->n };
	struct ht_wire_field field;
	uint64_t iid = 0, function = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_IID)
			iid = field.value;
		else if (field.number == HT_PF_FRAME_FUNCTION)
			function = field.value;
	if (!wire.bad && function)
		ht_pf_text_put(pf, w, HT_PF_KIND_FRAME, iid,
		        ht_pf_text(pf, w, HT_PF_KIND_FUNCTION, function));
}

#define MAX_FRAMES 256

/* Names of frames as a text, one a line. */
struct stack_text {
	char text[8192];
	size_t n;
	bool is_full;
};

static void add_frame(struct stack_text *s, const char *name, size_t n)
{
	s->is_full |= s->n + n + 1 > sizeof s->text;
	if (s->is_full)
		return;
	if (s->n)
		s->text[s->n++] = '\n';
	memcpy(s->text + s->n, name, n);
	s->n += n;
}

/* The innermost first: the order that frames of other recordings have. Of more frames, the innermost. */
void ht_pf_stack(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *stack)
{
	struct ht_wire wire = { .p = stack->bytes, .end = stack->bytes + stack->n };
	struct ht_wire_field field;
	uint64_t iid = 0, frames[MAX_FRAMES];
	struct stack_text s = { .n = 0 };
	uint64_t n_repeated = 0;
	uint32_t n = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_IID)
			iid = field.value;
		else if (field.number == HT_PF_CALLSTACK_FRAME && field.type != HT_WIRE_BYTES)
			frames[n++ % MAX_FRAMES] = field.value;
	if (wire.bad)
		return;
	for (uint32_t i = 0; i < n && i < MAX_FRAMES && !s.is_full; i++) {
		size_t n_name;
		const char *name = ht_pf_text_in(pf, w, HT_PF_KIND_FRAME,
		        frames[(n - 1 - i) % MAX_FRAMES], &n_repeated, &n_name);
		add_frame(&s, name, n_name);
	}
	ht_pf_text_put(pf, w, HT_PF_KIND_STACK, iid, ht_rows_text(&pf->rows, s.text, s.n));
}

void ht_pf_inline_stack(struct ht_pf *pf, const struct ht_wire_field *stack)
{
	struct ht_wire wire = { .p = stack->bytes, .end = stack->bytes + stack->n };
	struct ht_wire_field field, inner, frames[MAX_FRAMES];
	struct stack_text s = { .n = 0 };
	uint32_t n = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_INLINE_FRAME && field.type == HT_WIRE_BYTES)
			frames[n++ % MAX_FRAMES] = field;
	for (uint32_t i = 0; i < n && i < MAX_FRAMES; i++) {
		field = frames[(n - 1 - i) % MAX_FRAMES];
		struct ht_wire frame = { .p = field.bytes, .end = field.bytes + field.n };
		while (ht_wire_next(&frame, &inner))
			if (inner.number == HT_PF_INLINE_FUNCTION && inner.type == HT_WIRE_BYTES)
				add_frame(&s, (const char *)inner.bytes, inner.n);
	}
	if (s.n)
		ht_pf_put_arg(pf, ht_rows_text(&pf->rows, "Call stack", 10), HT_ARG_STR,
		        ht_rows_text(&pf->rows, s.text, s.n));
}
