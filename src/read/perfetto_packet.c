/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_packet.c - one packet of a Perfetto trace: the state of its writer, tracks, events; see perfetto.h.
 */
#include "read/perfetto.h"

#include "json/json_text.h"

#include <stdio.h>
#include <string.h>

/* ---- writers ---- */

static struct ht_pf_writer *writer_of(struct ht_pf *pf, uint64_t id)
{
	uint32_t at = ht_map64_find(&pf->writer_of, id);
	if (at == HT_NONE) {
		struct ht_pf_writer w = { .id = id, .last_number = -1 };
		at = (uint32_t)pf->writers.n;
		if (!HT_VEC_PUSH(pf->ctx->mem, &pf->writers, struct ht_pf_writer, w) ||
		        !ht_map64_put(pf->ctx->mem, &pf->writer_of, id, at)) {
			pf->failed = true;
			return NULL;
		}
	}
	return (struct ht_pf_writer *)pf->writers.data + at;
}

static void clear_state(struct ht_pf_writer *w)
{
	for (int kind = 0; kind < HT_PF_N_KINDS; kind++)
		ht_map64_clear(&w->texts[kind]);
	ht_map64_clear(&w->jsons);
	ht_map64_clear(&w->gpus);
	ht_map64_clear(&w->clocks);
	w->default_clock = w->default_track = 0;
	w->has_thread = false;
	w->last_us = 0;
	w->is_valid = true;
}

static uint32_t number_text(struct ht_pf *pf, uint64_t iid)
{
	char text[40];
	ht_pf_count(pf, HT_STAT_unknown_iid);
	int n = snprintf(text, sizeof text, "<iid %llu>", (unsigned long long)iid);
	return ht_rows_text(&pf->rows, text, (size_t)n);
}

uint32_t ht_pf_text(
        struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind, uint64_t iid)
{
	uint32_t text = ht_map64_find(&w->texts[kind], iid);
	return text != HT_NONE ? text : number_text(pf, iid);
}

/* Texts that others are made of may come to so many bytes in one, and to so many times the file in all. */
#define MAX_REPEATED_IN_ONE ((uint64_t)1 << 20)
#define MAX_REPEATED        ((uint64_t)16 << 20)
#define MAX_REPEATED_RATIO  64
/* Of shorter ones the number is as long. */
#define MIN_REPEATED 40

const char *ht_pf_text_in(struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind,
        uint64_t iid, uint64_t *n_repeated, size_t *ret_n)
{
	const char *text = ht_rows_text_at(&pf->rows, ht_pf_text(pf, w, kind, iid), ret_n);
	if (*ret_n < MIN_REPEATED)
		return text;
	if (*ret_n + *n_repeated > MAX_REPEATED_IN_ONE ||
	        *ret_n + pf->n_repeated > MAX_REPEATED + pf->n_file * MAX_REPEATED_RATIO)
		return ht_rows_text_at(&pf->rows, number_text(pf, iid), ret_n);
	*n_repeated += *ret_n;
	pf->n_repeated += *ret_n;
	return text;
}

void ht_pf_text_put(struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind,
        uint64_t iid, uint32_t text)
{
	pf->failed |= !ht_map64_put(pf->ctx->mem, &w->texts[kind], iid, text);
}

static void take_text(struct ht_pf *pf, struct ht_pf_writer *w, enum ht_pf_text_kind kind,
        const struct ht_wire_field *entry)
{
	struct ht_wire wire = { .p = entry->bytes, .end = entry->bytes + entry->n };
	struct ht_wire_field field;
	uint64_t iid = 0;
	uint32_t text = HT_NO_STR;
	bool is_json = false;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_IID)
			iid = field.value;
		else if (field.number == HT_PF_IID_TEXT && field.type == HT_WIRE_BYTES)
			text = ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		else if (field.number == HT_PF_IID_OWN_JSON)
			is_json = true;
	if (wire.bad || text == HT_NO_STR)
		return;
	ht_pf_text_put(pf, w, kind, iid, text);
	if (kind != HT_PF_KIND_VALUE)
		return;
	if (is_json) {
		size_t n;
		const char *json = ht_rows_text_at(&pf->rows, text, &n);
		is_json = ht_json_valid(json, n);
	}
	/* the number may have been that of another text */
	if (is_json || ht_map64_find(&w->jsons, iid) != HT_NONE)
		pf->failed |= !ht_map64_put(pf->ctx->mem, &w->jsons, iid, is_json);
}

static void take_texts(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *interned)
{
	struct ht_wire wire = { .p = interned->bytes, .end = interned->bytes + interned->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		if (field.type != HT_WIRE_BYTES)
			continue;
		switch (field.number) {
		case HT_PF_CATEGORIES: take_text(pf, w, HT_PF_KIND_CATEGORY, &field); break;
		case HT_PF_EVENT_NAMES: take_text(pf, w, HT_PF_KIND_NAME, &field); break;
		case HT_PF_ARG_NAMES: take_text(pf, w, HT_PF_KIND_KEY, &field); break;
		case HT_PF_ARG_TEXTS: take_text(pf, w, HT_PF_KIND_VALUE, &field); break;
		case HT_PF_FUNCTION_NAMES: take_text(pf, w, HT_PF_KIND_FUNCTION, &field); break;
		case HT_PF_FRAMES: ht_pf_frame(pf, w, &field); break;
		case HT_PF_CALLSTACKS: ht_pf_stack(pf, w, &field); break;
		case HT_PF_GPU_SPECIFICATIONS: take_text(pf, w, HT_PF_KIND_GPU, &field); break;
		case HT_PF_COUNTER_DESCRIPTORS: ht_pf_gpu_descriptor(pf, w, &field); break;
		case HT_PF_COMPUTE_KERNELS: ht_pf_gpu_kernel(pf, w, &field); break;
		case HT_PF_COMPUTE_ARG_NAMES:
			take_text(pf, w, HT_PF_KIND_LAUNCH_ARG, &field);
			break;
		default: break;
		}
	}
}

static void take_defaults(struct ht_pf_writer *w, const struct ht_wire_field *defaults)
{
	struct ht_wire wire = { .p = defaults->bytes, .end = defaults->bytes + defaults->n };
	struct ht_wire_field field, inner;
	while (ht_wire_next(&wire, &field)) {
		if (field.number == HT_PF_DEFAULT_CLOCK)
			w->default_clock = field.value;
		if (field.number != HT_PF_DEFAULT_EVENT || field.type != HT_WIRE_BYTES)
			continue;
		struct ht_wire event = { .p = field.bytes, .end = field.bytes + field.n };
		while (ht_wire_next(&event, &inner))
			if (inner.number == HT_PF_EVENT_TRACK)
				w->default_track = inner.value;
	}
}

/* ---- tracks ---- */

struct ht_pf_line *ht_pf_line(struct ht_pf *pf, uint32_t track)
{
	return (struct ht_pf_line *)pf->tracks.data + track;
}

uint32_t ht_pf_track(struct ht_pf *pf, uint64_t uuid)
{
	uint32_t at = ht_map64_find(&pf->track_of, uuid);
	if (at != HT_NONE)
		return at;
	struct ht_pf_line line = { .uuid = uuid,
		.name = HT_NO_STR,
		.process_name = HT_NO_STR,
		.pid_text = HT_NO_STR,
		.tid_text = HT_NO_STR,
		.multiplier = 1 };
	at = (uint32_t)pf->tracks.n;
	pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->tracks, struct ht_pf_line, line) ||
	              !ht_map64_put(pf->ctx->mem, &pf->track_of, uuid, at);
	return pf->failed ? HT_NONE : at;
}

uint32_t ht_pf_thread_track(struct ht_pf *pf, int64_t pid, int64_t tid)
{
	/* uuids of Perfetto's have all bits in use */
	uint32_t at =
	        ht_pf_track(pf, ht_hash_mix(ht_hash_mix(0x7412EAD, (uint64_t)pid), (uint64_t)tid));
	if (at != HT_NONE) {
		struct ht_pf_line *line = ht_pf_line(pf, at);
		line->has_pid = line->has_tid = line->is_thread = line->is_known = true;
		line->pid = pid;
		line->tid = tid;
	}
	return at;
}

static void take_process(
        struct ht_pf *pf, struct ht_pf_line *line, const struct ht_wire_field *process)
{
	struct ht_wire wire = { .p = process->bytes, .end = process->bytes + process->n };
	struct ht_wire_field field;
	line->is_process = true;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_PROCESS_PID) {
			line->pid = (int32_t)field.value;
			line->has_pid = true;
		} else if (field.number == HT_PF_PROCESS_NAME && field.type == HT_WIRE_BYTES) {
			line->process_name =
			        ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		}
}

static void take_thread(
        struct ht_pf *pf, struct ht_pf_line *line, const struct ht_wire_field *thread)
{
	struct ht_wire wire = { .p = thread->bytes, .end = thread->bytes + thread->n };
	struct ht_wire_field field;
	line->is_thread = true;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_THREAD_PID) {
			line->pid = (int32_t)field.value;
			line->has_pid = true;
		} else if (field.number == HT_PF_THREAD_TID) {
			line->tid = (int64_t)field.value;
			line->has_tid = true;
		} else if (field.number == HT_PF_THREAD_NAME && field.type == HT_WIRE_BYTES) {
			line->name = ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		}
}

static void take_counter(struct ht_pf_line *line, const struct ht_wire_field *counter)
{
	struct ht_wire wire = { .p = counter->bytes, .end = counter->bytes + counter->n };
	struct ht_wire_field field;
	line->is_counter = true;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_COUNTER_INCREMENTAL)
			line->is_incremental = field.value != 0;
		else if (field.number == HT_PF_COUNTER_MULTIPLIER)
			line->multiplier = (int64_t)field.value;
}

static void take_own_id(
        struct ht_pf *pf, struct ht_pf_line *line, const struct ht_wire_field *field)
{
	bool is_text = field->type == HT_WIRE_BYTES;
	uint32_t text =
	        is_text ? ht_rows_text(&pf->rows, (const char *)field->bytes, field->n) : HT_NO_STR;
	if (!line->has_own)
		line->has_pid = line->has_tid = false;
	line->has_own = true;
	switch (field->number) {
	case HT_PF_TRACK_OWN_PID:
		line->pid = ht_wire_unzigzag(field->value);
		line->has_pid = true;
		break;
	case HT_PF_TRACK_OWN_TID:
		line->tid = ht_wire_unzigzag(field->value);
		line->has_tid = true;
		break;
	case HT_PF_TRACK_OWN_PID_TEXT: line->pid_text = text; break;
	case HT_PF_TRACK_OWN_TID_TEXT: line->tid_text = text; break;
	default:
		line->document = (uint16_t)(field->value < UINT16_MAX ? field->value : UINT16_MAX);
		break;
	}
}

static void take_track_field(
        struct ht_pf *pf, struct ht_pf_line *line, const struct ht_wire_field *field)
{
	bool is_bytes = field->type == HT_WIRE_BYTES;
	switch (field->number) {
	case HT_PF_TRACK_PARENT: line->parent = field->value; break;
	case HT_PF_TRACK_NAME:
	case HT_PF_TRACK_STATIC_NAME:
		if (is_bytes)
			line->name = ht_rows_text(&pf->rows, (const char *)field->bytes, field->n);
		break;
	case HT_PF_TRACK_PROCESS:
		if (is_bytes)
			take_process(pf, line, field);
		break;
	case HT_PF_TRACK_THREAD:
		if (is_bytes)
			take_thread(pf, line, field);
		break;
	case HT_PF_TRACK_COUNTER:
		if (is_bytes)
			take_counter(line, field);
		break;
	case HT_PF_TRACK_OWN_PID:
	case HT_PF_TRACK_OWN_PID_TEXT:
	case HT_PF_TRACK_OWN_TID:
	case HT_PF_TRACK_OWN_TID_TEXT:
	case HT_PF_TRACK_OWN_DOCUMENT: take_own_id(pf, line, field); break;
	default: break;
	}
}

static void take_track(struct ht_pf *pf, const struct ht_wire_field *track)
{
	struct ht_wire wire = { .p = track->bytes, .end = track->bytes + track->n };
	struct ht_wire_field field;
	uint64_t uuid = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_TRACK_UUID)
			uuid = field.value;
	if (wire.bad) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	uint32_t at = ht_pf_track(pf, uuid);
	if (at == HT_NONE)
		return;
	ht_pf_line(pf, at)->is_known = true;
	wire.p = track->bytes;
	while (ht_wire_next(&wire, &field))
		take_track_field(pf, ht_pf_line(pf, at), &field);
}

/* ---- times ---- */

void ht_pf_record_time(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        struct ht_pf_record *record)
{
	uint64_t id = packet->has_clock ? packet->clock : w->default_clock;
	record->clock = HT_NONE;
	if (!packet->has_time)
		return;
	if (!id)
		id = HT_PF_BOOTTIME;
	uint32_t at = ht_map64_find(&w->clocks, id);
	record->time = packet->time;
	if (at != HT_NONE) {
		struct ht_pf_increment *step = (struct ht_pf_increment *)pf->increments.data + at;
		record->time = packet->time * step->multiplier;
		if (step->is_incremental)
			record->time = step->last += record->time;
	}
	record->clock = ht_pf_clock(pf, w->id, id);
}

/* ---- events ---- */

static void take_event_field(struct ht_pf *pf, struct ht_pf_writer *w, struct ht_pf_record *record,
        const struct ht_wire_field *field, struct ht_pf_more *more)
{
	bool is_bytes = field->type == HT_WIRE_BYTES;
	switch (field->number) {
	case HT_PF_EVENT_TYPE:
		record->type = field->value > HT_PF_COUNTER ? UINT8_MAX : (uint8_t)field->value;
		break;
	case HT_PF_EVENT_TRACK: record->track = ht_pf_track(pf, field->value); break;
	case HT_PF_EVENT_NAME_IID:
		record->name = ht_pf_text(pf, w, HT_PF_KIND_NAME, field->value);
		break;
	case HT_PF_EVENT_NAME:
		if (is_bytes)
			record->name =
			        ht_rows_text(&pf->rows, (const char *)field->bytes, field->n);
		break;
	case HT_PF_EVENT_CATEGORY_IID:
		if (record->cat == HT_NO_STR && !is_bytes)
			record->cat = ht_pf_text(pf, w, HT_PF_KIND_CATEGORY, field->value);
		break;
	case HT_PF_EVENT_CATEGORY:
		if (record->cat == HT_NO_STR && is_bytes)
			record->cat = ht_rows_text(&pf->rows, (const char *)field->bytes, field->n);
		break;
	case HT_PF_EVENT_ANNOTATION:
		if (is_bytes)
			ht_pf_annotation(pf, w, field->bytes, field->n);
		break;
	case HT_PF_EVENT_OLD_FLOW:
	case HT_PF_EVENT_OLD_FLOW_END:
	case HT_PF_EVENT_FLOW:
	case HT_PF_EVENT_FLOW_END:
		if (!is_bytes && !pf->is_own)
			pf->failed |=
			        !HT_VEC_PUSH(pf->ctx->mem, &pf->flows, uint64_t, field->value);
		break;
	case HT_PF_EVENT_OWN_DURATION: record->dur_ns = (int64_t)field->value; break;
	case HT_PF_EVENT_COUNTER:
	case HT_PF_EVENT_COUNTER_F64: break;
	default: ht_pf_more_take(pf, w, more, field); break;
	}
}

void ht_pf_record_end(struct ht_pf *pf, struct ht_pf_record *record)
{
	record->n_args = (uint32_t)(pf->args.n - record->first_arg);
	record->n_flows = (uint32_t)(pf->flows.n - record->first_flow);
	pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->records, struct ht_pf_record, *record);
}

struct ht_pf_record ht_pf_record_begin(struct ht_pf *pf)
{
	return (struct ht_pf_record){ .dur_ns = -1,
		.number = -1,
		.first_arg = pf->args.n,
		.first_flow = pf->flows.n,
		.track = HT_NONE,
		.name = HT_NO_STR,
		.cat = HT_NO_STR,
		.end = HT_NONE };
}

/* The track of an event that names none. */
static uint32_t default_track(struct ht_pf *pf, const struct ht_pf_writer *w)
{
	if (!w->default_track && w->has_thread)
		return ht_pf_thread_track(pf, w->pid, w->tid);
	return ht_pf_track(pf, w->default_track);
}

static void put_event(struct ht_pf *pf, struct ht_pf_writer *w, struct ht_pf_record *record)
{
	if (record->track != HT_NONE && record->clock != HT_NONE) {
		w->is_unsorted |= record->time < w->last_time;
		w->last_time = record->time;
		ht_pf_line(pf, record->track)->writer =
		        (uint32_t)(w - (struct ht_pf_writer *)pf->writers.data);
	}
	ht_pf_record_end(pf, record);
}

/* Of ours: which row it is, and the keys that it has. */
static void number_own(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        struct ht_pf_record *record)
{
	if (record->type == HT_PF_END || record->type == HT_PF_COUNTER)
		return;
	if (packet->layout)
		w->last_layout[record->type] = packet->layout;
	w->last_number =
	        (int64_t)((uint64_t)w->last_number + (packet->has_row ? (uint64_t)packet->row : 1));
	record->number = w->last_number;
	record->layout =
	        ht_map64_find(&pf->layout_of, ht_hash_mix(w->id, w->last_layout[record->type]));
}

static void take_event(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *event)
{
	struct ht_wire wire = { .p = event->bytes, .end = event->bytes + event->n };
	struct ht_wire_field field, value = { 0 };
	struct ht_pf_record record = ht_pf_record_begin(pf);
	struct ht_pf_more more = { .has_delta = false };
	ht_pf_record_time(pf, w, packet, &record);
	while (ht_wire_next(&wire, &field)) {
		take_event_field(pf, w, &record, &field, &more);
		if (field.number == HT_PF_EVENT_COUNTER || field.number == HT_PF_EVENT_COUNTER_F64)
			value = field;
	}
	if (wire.bad || record.type > HT_PF_COUNTER || !ht_pf_more_apply(pf, w, &more, &record)) {
		pf->args.n = record.first_arg;
		pf->flows.n = record.first_flow;
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	if (record.track == HT_NONE)
		record.track = default_track(pf, w);
	if (more.started.number)
		ht_pf_gpu_started(pf, record.first_arg, &more.started);
	if (pf->is_own)
		number_own(pf, w, packet, &record);
	/* of ours, flows and counters are drawn beside rows that say the same */
	if (pf->is_own && record.number < 0 && record.type != HT_PF_END)
		return;
	if (record.track != HT_NONE && record.type == HT_PF_COUNTER && value.number)
		ht_pf_counter_value(
		        pf, record.track, value.number == HT_PF_EVENT_COUNTER_F64, value.value);
	put_event(pf, w, &record);
	ht_pf_more_counters(pf, &more, &record);
}

/* ---- ours ---- */

static void take_layout(struct ht_pf *pf, uint64_t sequence, const struct ht_wire_field *layout)
{
	static const char *const names[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur",
		"args" };
	struct ht_wire wire = { .p = layout->bytes, .end = layout->bytes + layout->n };
	struct ht_wire_field field;
	struct ht_pf_layout one = { .first_key = (uint32_t)pf->keys.n };
	uint64_t iid = 0;
	while (ht_wire_next(&wire, &field)) {
		if (field.number == HT_PF_LAYOUT_IID)
			iid = field.value;
		if (field.type != HT_WIRE_BYTES)
			continue;
		if (field.number == HT_PF_LAYOUT_PHASE && field.n == 1)
			one.phase = (char)*field.bytes;
		if (field.number != HT_PF_LAYOUT_KEY)
			continue;
		uint32_t key = HT_FIELD_COUNT;
		for (uint32_t i = 0; i < HT_COUNT(names); i++)
			if (strlen(names[i]) == field.n && !memcmp(names[i], field.bytes, field.n))
				key = i;
		if (key == HT_FIELD_COUNT)
			key += ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		pf->failed |= !HT_VEC_PUSH(pf->ctx->mem, &pf->keys, uint32_t, key);
	}
	one.n_keys = (uint32_t)pf->keys.n - one.first_key;
	pf->failed |= !ht_map64_put(pf->ctx->mem, &pf->layout_of, ht_hash_mix(sequence, iid),
	                      (uint32_t)pf->layouts.n) ||
	              !HT_VEC_PUSH(pf->ctx->mem, &pf->layouts, struct ht_pf_layout, one);
}

static void take_file(struct ht_pf *pf, const struct ht_wire_field *file)
{
	struct ht_wire wire = { .p = file->bytes, .end = file->bytes + file->n };
	struct ht_wire_field field;
	pf->is_own = true;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_FILE_VERSION && field.type == HT_WIRE_BYTES)
			snprintf(pf->version, sizeof pf->version, "%.*s",
			        (int)(field.n < 32 ? field.n : 32), (const char *)field.bytes);
		else if (field.number == HT_PF_FILE_ZERO)
			pf->zero_ns = ht_wire_unzigzag(field.value);
		else if (field.number == HT_PF_FILE_DOCUMENTS && field.value &&
		         field.value <= UINT16_MAX)
			pf->n_documents = (uint16_t)field.value;
}

static void take_attribute(struct ht_pf *pf, const struct ht_wire_field *attribute)
{
	struct ht_wire wire = { .p = attribute->bytes, .end = attribute->bytes + attribute->n };
	struct ht_wire_field field, key = { 0 }, value = { 0 };
	char number[24];
	struct ht_pf_header place = { 0 };
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_ATTRIBUTE_KEY && field.type == HT_WIRE_BYTES)
			key = field;
		else if (field.number == HT_PF_ATTRIBUTE_TEXT && field.type == HT_WIRE_BYTES)
			value = field;
		else if (field.number == HT_PF_ATTRIBUTE_NUMBER)
			value = field;
		else if (field.number == HT_PF_ATTRIBUTE_OWN_PLACE)
			place = (struct ht_pf_header){ true,
				(uint16_t)(field.value >> 1 < UINT16_MAX ? field.value >> 1
				                                         : UINT16_MAX),
				field.value & 1 };
	if (wire.bad || !key.bytes || !value.number) {
		ht_pf_count(pf, HT_STAT_header_lost);
		return;
	}
	if (!value.bytes) {
		snprintf(number, sizeof number, "%lld", (long long)(int64_t)value.value);
		value.bytes = (const unsigned char *)number;
		value.n = strlen(number);
		place.is_json = true;
	}
	ht_pf_header(pf, &key, &value, place);
}

static void take_attributes(struct ht_pf *pf, const struct ht_wire_field *attributes)
{
	struct ht_wire wire = { .p = attributes->bytes, .end = attributes->bytes + attributes->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_ATTRIBUTE && field.type == HT_WIRE_BYTES)
			take_attribute(pf, &field);
}

/* Who recorded it, where a service did. */
static void take_system(struct ht_pf *pf, const struct ht_wire_field *info)
{
	struct ht_wire wire = { .p = info->bytes, .end = info->bytes + info->n };
	struct ht_wire_field field;
	const struct ht_wire_field key = { .bytes = (const unsigned char *)"producer", .n = 8 };
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_SERVICE_VERSION && field.type == HT_WIRE_BYTES)
			ht_pf_header(pf, &key, &field, (struct ht_pf_header){ 0 });
}

/* ---- packets ---- */

static bool read_packet(const unsigned char *bytes, size_t n, struct ht_pf_head *p)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		bool is_bytes = field.type == HT_WIRE_BYTES;
		switch (field.number) {
		case HT_PF_TIMESTAMP:
			p->time = field.value;
			p->has_time = true;
			break;
		case HT_PF_CLOCK:
			p->clock = field.value;
			p->has_clock = true;
			break;
		case HT_PF_SEQUENCE: p->sequence = field.value; break;
		case HT_PF_FLAGS: p->flags = field.value; break;
		case HT_PF_STATE_CLEARED: p->is_cleared = field.value != 0; break;
		case HT_PF_DROPPED: p->dropped = field.value; break;
		case HT_PF_OWN_ROW:
			p->row = ht_wire_unzigzag(field.value);
			p->has_row = true;
			break;
		case HT_PF_OWN_KEYS: p->layout = field.value; break;
		case HT_PF_INTERNED:
			if (is_bytes)
				p->interned = field;
			break;
		case HT_PF_DEFAULTS:
			if (is_bytes)
				p->defaults = field;
			break;
		default: break;
		}
	}
	return !wire.bad;
}

/* What says something of the recording or the writer, and nothing that happened. */
static bool is_about(uint32_t number)
{
	static const uint32_t known[] = { HT_PF_INTERNED, HT_PF_DEFAULTS, HT_PF_MARKER, 33, 35, 46,
		69, 89, 100 };
	for (size_t i = 0; i < HT_COUNT(known); i++)
		if (number == known[i])
			return true;
	return false;
}

static enum ht_status take_payload(struct ht_pf *pf, struct ht_pf_writer *w,
        struct ht_pf_head *packet, const struct ht_wire_field *field, bool is_inner)
{
	switch (field->number) {
	case HT_PF_CLOCK_SNAPSHOT: ht_pf_snapshot(pf, w, field->bytes, field->n); break;
	case HT_PF_TRACK: take_track(pf, field); break;
	case HT_PF_TRACK_EVENT:
	case HT_PF_OWN_EVENT: take_event(pf, w, packet, field); break;
	case HT_PF_GPU_STAGE: ht_pf_gpu_stage(pf, w, packet, field); break;
	case HT_PF_GPU_COUNTERS: ht_pf_gpu_counters(pf, w, packet, field); break;
	case HT_PF_PROCESS_TREE: ht_pf_tree(pf, field); break;
	case HT_PF_THREAD_PACKET: ht_pf_legacy_thread(pf, w, field); break;
	case HT_PF_PROCESS_PACKET: ht_pf_legacy_process(pf, field); break;
	case HT_PF_OWN_LAYOUT: take_layout(pf, w->id, field); break;
	case HT_PF_OWN_FILE: take_file(pf, field); break;
	case HT_PF_SYSTEM_INFO: take_system(pf, field); break;
	case HT_PF_ATTRIBUTES: take_attributes(pf, field); break;
	case HT_PF_COMPRESSED:
	case HT_PF_ZSTD_COMPRESSED:
		if (!is_inner)
			return ht_pf_inflate(
			        pf, field->bytes, field->n, field->number == HT_PF_ZSTD_COMPRESSED);
		ht_pf_count(pf, HT_STAT_packet_lost);
		break;
	default:
		if (!is_about(field->number))
			ht_pf_count(pf, HT_STAT_packet_unread);
		break;
	}
	return HT_OK;
}

/* What the packet says of its writer; false when the rest cannot be understood. */
static bool take_state(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *p, bool is_known)
{
	if (p->dropped && is_known) {
		ht_pf_count(pf, HT_STAT_packets_dropped);
		w->is_valid = false;
	}
	if (p->is_cleared || p->flags & HT_PF_CLEARS_STATE)
		clear_state(w);
	if (p->flags & HT_PF_NEEDS_STATE && !w->is_valid) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return false;
	}
	if (p->interned.bytes)
		take_texts(pf, w, &p->interned);
	if (p->defaults.bytes)
		take_defaults(w, &p->defaults);
	return true;
}

enum ht_status ht_pf_packet(struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_inner)
{
	struct ht_pf_head packet = { 0 };
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	if (!read_packet(bytes, n, &packet)) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return HT_OK;
	}
	bool is_known = ht_map64_find(&pf->writer_of, packet.sequence) != HT_NONE;
	struct ht_pf_writer *w = writer_of(pf, packet.sequence);
	if (!w)
		return ht_fail_nomem(pf->ctx);
	if (!take_state(pf, w, &packet, is_known))
		return HT_OK;
	while (ht_wire_next(&wire, &field)) {
		if (field.type != HT_WIRE_BYTES)
			continue;
		HT_TRY(take_payload(pf, w, &packet, &field, is_inner));
		/* packets inside it may have had new writers */
		w = writer_of(pf, packet.sequence);
		if (!w)
			return ht_fail_nomem(pf->ctx);
	}
	return pf->failed || pf->rows.worker.out_of_memory ? ht_fail_nomem(pf->ctx) : HT_OK;
}
