/*
 * perfetto_gpu.c - GPU work and GPU counters of a Perfetto trace; see perfetto.h.
 */
#include "read/perfetto.h"

#include <stdio.h>
#include <string.h>

/* ---- render stages ---- */

static void take_extra(struct ht_pf *pf, const struct ht_wire_field *extra)
{
	struct ht_wire wire = { .p = extra->bytes, .end = extra->bytes + extra->n };
	struct ht_wire_field field;
	uint32_t texts[2] = { HT_NO_STR, HT_NO_STR };
	while (ht_wire_next(&wire, &field))
		if (field.type == HT_WIRE_BYTES && (field.number == 1 || field.number == 2))
			texts[field.number - 1] =
			        ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
	if (texts[0] != HT_NO_STR && texts[1] != HT_NO_STR)
		ht_pf_put_arg(pf, texts[0], HT_ARG_STR, texts[1]);
}

static void put_number(struct ht_pf *pf, const char *key, uint64_t value)
{
	ht_pf_put_arg(pf, ht_rows_text(&pf->rows, key, strlen(key)), HT_ARG_I64, value);
}

/* With a start and a duration: the queue is the stream. */
void ht_pf_gpu_stage(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *stage)
{
	struct ht_wire wire = { .p = stage->bytes, .end = stage->bytes + stage->n };
	struct ht_wire_field field;
	struct ht_pf_record record = ht_pf_record_begin(pf);
	uint64_t gpu = 0, queue = 0, stage_iid = 0;
	record.is_stage = true;
	record.dur_ns = 0;
	ht_pf_record_time(pf, w, packet, &record);
	while (ht_wire_next(&wire, &field)) {
		bool is_bytes = field.type == HT_WIRE_BYTES;
		if (field.number == HT_PF_STAGE_DURATION)
			record.dur_ns = (int64_t)(field.value & INT64_MAX);
		else if (field.number == HT_PF_STAGE_GPU)
			gpu = field.value;
		else if (field.number == HT_PF_STAGE_QUEUE_IID)
			queue = field.value;
		else if (field.number == HT_PF_STAGE_IID)
			stage_iid = field.value;
		else if (field.number == HT_PF_STAGE_NAME && is_bytes)
			record.name = ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		else if (field.number == HT_PF_STAGE_NAME_IID)
			record.name = ht_pf_text(pf, w, HT_PF_KIND_NAME, field.value);
		else if (field.number == HT_PF_STAGE_SUBMISSION)
			put_number(pf, "correlation", field.value);
		else if (field.number == HT_PF_STAGE_EXTRA && is_bytes)
			take_extra(pf, &field);
	}
	if (wire.bad) {
		pf->args.n = record.first_arg;
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	if (record.name == HT_NO_STR && stage_iid)
		record.name = ht_pf_text(pf, w, HT_PF_KIND_GPU, stage_iid);
	put_number(pf, "device", gpu);
	put_number(pf, "stream", queue);
	/* a track of its own for each queue: uuids of Perfetto's have all bits in use */
	record.track = ht_pf_track(pf, ht_hash_mix(ht_hash_mix(0x57A6E, gpu), queue));
	if (record.track != HT_NONE) {
		struct ht_pf_line *line = ht_pf_line(pf, record.track);
		line->has_pid = line->has_tid = line->is_thread = line->is_known = true;
		line->pid = (int64_t)gpu;
		line->tid = (int64_t)queue;
		if (queue)
			line->name = ht_pf_text(pf, w, HT_PF_KIND_GPU, queue);
	}
	ht_pf_record_end(pf, &record);
}

/* ---- counters ---- */

static uint32_t counter_track(struct ht_pf *pf, uint64_t gpu, uint64_t id)
{
	char text[40];
	uint32_t at = ht_pf_track(pf, ht_hash_mix(ht_hash_mix(0xC0047E5, gpu), id));
	if (at == HT_NONE)
		return at;
	struct ht_pf_line *line = ht_pf_line(pf, at);
	line->has_pid = line->is_counter = line->is_known = true;
	line->pid = (int64_t)gpu;
	if (line->name == HT_NO_STR) {
		int n = snprintf(text, sizeof text, "GPU counter %llu", (unsigned long long)id);
		line->name = ht_rows_text(&pf->rows, text, (size_t)n);
	}
	return at;
}

static void take_spec(struct ht_pf *pf, uint64_t gpu, const struct ht_wire_field *spec)
{
	struct ht_wire wire = { .p = spec->bytes, .end = spec->bytes + spec->n };
	struct ht_wire_field field, name = { 0 };
	uint64_t id = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_SPEC_ID)
			id = field.value;
		else if (field.number == HT_PF_SPEC_NAME && field.type == HT_WIRE_BYTES)
			name = field;
	uint32_t track = counter_track(pf, gpu, id);
	if (name.bytes && track != HT_NONE)
		ht_pf_line(pf, track)->name =
		        ht_rows_text(&pf->rows, (const char *)name.bytes, name.n);
}

static void take_specs(struct ht_pf *pf, uint64_t gpu, const struct ht_wire_field *descriptor)
{
	struct ht_wire wire = { .p = descriptor->bytes, .end = descriptor->bytes + descriptor->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_GPU_SPEC && field.type == HT_WIRE_BYTES)
			take_spec(pf, gpu, &field);
}

static void take_value(struct ht_pf *pf, struct ht_pf_record record, uint64_t gpu,
        const struct ht_wire_field *counter)
{
	struct ht_wire wire = { .p = counter->bytes, .end = counter->bytes + counter->n };
	struct ht_wire_field field, value = { 0 };
	uint64_t id = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_VALUE_ID)
			id = field.value;
		else if (field.number == HT_PF_VALUE_I64 || field.number == HT_PF_VALUE_F64)
			value = field;
	record.first_arg = pf->args.n;
	record.type = HT_PF_COUNTER;
	record.track = counter_track(pf, gpu, id);
	if (!value.number || record.track == HT_NONE) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	ht_pf_counter_value(pf, record.track, value.number == HT_PF_VALUE_F64, value.value);
	ht_pf_record_end(pf, &record);
}

void ht_pf_gpu_counters(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *counters)
{
	struct ht_wire wire = { .p = counters->bytes, .end = counters->bytes + counters->n };
	struct ht_pf_record record = ht_pf_record_begin(pf);
	struct ht_wire_field field;
	uint64_t gpu = 0;
	ht_pf_record_time(pf, w, packet, &record);
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_GPU_ID)
			gpu = field.value;
	if (wire.bad) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	wire.p = counters->bytes;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_GPU_DESCRIPTOR && field.type == HT_WIRE_BYTES)
			take_specs(pf, gpu, &field);
		else if (field.number == HT_PF_GPU_VALUE && field.type == HT_WIRE_BYTES)
			take_value(pf, record, gpu, &field);
}
