/* SPDX-License-Identifier: Apache-2.0 */
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

/* ---- how kernels were launched ---- */

void ht_pf_gpu_kernel(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *kernel)
{
	struct ht_wire wire = { .p = kernel->bytes, .end = kernel->bytes + kernel->n };
	struct ht_wire_field field, name = { 0 };
	uint64_t iid = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_IID)
			iid = field.value;
		else if (field.type == HT_WIRE_BYTES && field.n &&
		         (field.number == HT_PF_KERNEL_DEMANGLED ||
		                 (field.number == HT_PF_KERNEL_NAME && !name.bytes)))
			name = field;
	if (!wire.bad && name.bytes)
		ht_pf_text_put(pf, w, HT_PF_KIND_KERNEL, iid,
		        ht_rows_text(&pf->rows, (const char *)name.bytes, name.n));
}

/* Three numbers as the list that Kineto writes; those that are not there are 1. */
static void put_sizes(struct ht_pf *pf, const char *key, const struct ht_wire_field *sizes)
{
	struct ht_wire wire = { .p = sizes->bytes, .end = sizes->bytes + sizes->n };
	struct ht_wire_field field;
	uint32_t of[3] = { 1, 1, 1 };
	char text[48];
	while (ht_wire_next(&wire, &field))
		if (field.number >= 1 && field.number <= 3 && field.type != HT_WIRE_BYTES)
			of[field.number - 1] = (uint32_t)field.value;
	int n = snprintf(text, sizeof text, "[%u, %u, %u]", of[0], of[1], of[2]);
	ht_pf_put_arg(pf, ht_rows_text(&pf->rows, key, strlen(key)), HT_ARG_JSON,
	        ht_rows_text(&pf->rows, text, (size_t)n));
}

static void put_launch_arg(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *arg)
{
	struct ht_wire wire = { .p = arg->bytes, .end = arg->bytes + arg->n };
	struct ht_wire_field field, value = { 0 };
	uint32_t key = HT_NO_STR;
	while (ht_wire_next(&wire, &field)) {
		bool is_bytes = field.type == HT_WIRE_BYTES;
		if (field.number == HT_PF_LAUNCH_NAME_IID && !is_bytes)
			key = ht_pf_text(pf, w, HT_PF_KIND_LAUNCH_ARG, field.value);
		else if (field.number == HT_PF_LAUNCH_NAME && is_bytes)
			key = ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		else if (field.number >= HT_PF_LAUNCH_I64 &&
		         field.number <= HT_PF_LAUNCH_TEXT_IID &&
		         is_bytes == (field.number == HT_PF_LAUNCH_TEXT))
			value = field;
	}
	if (wire.bad || key == HT_NO_STR || !value.number)
		return;
	if (value.number == HT_PF_LAUNCH_TEXT)
		ht_pf_put_arg(pf, key, HT_ARG_STR,
		        ht_rows_text(&pf->rows, (const char *)value.bytes, value.n));
	else if (value.number == HT_PF_LAUNCH_TEXT_IID)
		ht_pf_put_arg(
		        pf, key, HT_ARG_STR, ht_pf_text(pf, w, HT_PF_KIND_VALUE, value.value));
	else if (value.number == HT_PF_LAUNCH_F64)
		ht_pf_put_arg(pf, key, HT_ARG_F64, value.value);
	else
		ht_pf_put_arg(pf, key,
		        value.number == HT_PF_LAUNCH_U64 && value.value > INT64_MAX ? HT_ARG_U64
		                                                                    : HT_ARG_I64,
		        value.value);
}

static void put_launch(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *launch)
{
	struct ht_wire wire = { .p = launch->bytes, .end = launch->bytes + launch->n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		if (field.type != HT_WIRE_BYTES)
			continue;
		if (field.number == HT_PF_LAUNCH_GRID)
			put_sizes(pf, "grid", &field);
		else if (field.number == HT_PF_LAUNCH_BLOCK)
			put_sizes(pf, "block", &field);
		else if (field.number == HT_PF_LAUNCH_ARG)
			put_launch_arg(pf, w, &field);
	}
}

/* ---- who started it ---- */

static uint32_t correlation_key(struct ht_pf *pf)
{
	return ht_rows_text(&pf->rows, "correlation", 11);
}

/* The correlation among the args from one on, NULL: there is none. */
static const struct ht_pf_arg *find_correlation(struct ht_pf *pf, uint64_t first_arg)
{
	const struct ht_pf_arg *args = pf->args.data;
	uint32_t key = correlation_key(pf);
	for (uint64_t i = first_arg; i < pf->args.n; i++)
		if (args[i].key == key)
			return &args[i];
	return NULL;
}

/* A call that has no correlation gets the number of the first work that it started. */
void ht_pf_gpu_started(
        struct ht_pf *pf, uint64_t first_arg, const struct ht_wire_field *correlation)
{
	struct ht_wire wire = { .p = correlation->bytes,
		.end = correlation->bytes + correlation->n };
	struct ht_wire_field field;
	const struct ht_pf_arg *own = find_correlation(pf, first_arg);
	bool is_number = own && own->type == HT_ARG_I64 && own->value < HT_NONE;
	uint32_t number = is_number ? (uint32_t)own->value : HT_NONE;
	if (own && !is_number)
		return;
	while (ht_wire_next(&wire, &field)) {
		if (field.number != 1 || field.type == HT_WIRE_BYTES || field.value >= HT_NONE)
			continue;
		number = number == HT_NONE ? (uint32_t)field.value : number;
		pf->failed |= !ht_map64_put(pf->ctx->mem, &pf->started_by, field.value, number);
	}
	if (!own && number != HT_NONE)
		ht_pf_put_arg(pf, correlation_key(pf), HT_ARG_I64, number);
}

static void put_starter(struct ht_pf *pf, uint64_t first_arg, uint64_t event_id)
{
	uint32_t by = ht_map64_find(&pf->started_by, event_id);
	if (by != HT_NONE && !find_correlation(pf, first_arg))
		ht_pf_put_arg(pf, correlation_key(pf), HT_ARG_I64, by);
}

/* ---- work ---- */

/* With a start and a duration: the queue is the stream. */
void ht_pf_gpu_stage(struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_pf_head *packet,
        const struct ht_wire_field *stage)
{
	struct ht_wire wire = { .p = stage->bytes, .end = stage->bytes + stage->n };
	struct ht_wire_field field;
	struct ht_pf_record record = ht_pf_record_begin(pf);
	uint64_t gpu = 0, queue = 0, stage_iid = 0, kernel_iid = 0, event_id = 0;
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
		else if (field.number == HT_PF_STAGE_KERNEL_IID)
			kernel_iid = field.value;
		else if (field.number == HT_PF_STAGE_ID)
			event_id = field.value;
		else if (field.number == HT_PF_STAGE_LAUNCH && is_bytes)
			put_launch(pf, w, &field);
	}
	if (wire.bad) {
		pf->args.n = record.first_arg;
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	if (record.name == HT_NO_STR && kernel_iid)
		record.name = ht_pf_text(pf, w, HT_PF_KIND_KERNEL, kernel_iid);
	if (event_id)
		put_starter(pf, record.first_arg, event_id);
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

void ht_pf_gpu_descriptor(
        struct ht_pf *pf, struct ht_pf_writer *w, const struct ht_wire_field *descriptor)
{
	struct ht_wire wire = { .p = descriptor->bytes, .end = descriptor->bytes + descriptor->n };
	struct ht_wire_field field, specs = { 0 };
	uint64_t iid = 0, gpu = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_IID)
			iid = field.value;
		else if (field.number == HT_PF_IID_GPU)
			gpu = (uint32_t)field.value & INT32_MAX;
		else if (field.number == HT_PF_IID_DESCRIPTOR && field.type == HT_WIRE_BYTES)
			specs = field;
	if (wire.bad)
		return;
	pf->failed |= !ht_map64_put(pf->ctx->mem, &w->gpus, iid, (uint32_t)gpu);
	if (specs.bytes)
		take_specs(pf, gpu, &specs);
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
	struct ht_wire_field field, descriptor = { 0 };
	uint64_t gpu = 0;
	ht_pf_record_time(pf, w, packet, &record);
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_GPU_ID)
			gpu = field.value;
		else if (field.number == HT_PF_GPU_DESCRIPTOR_IID)
			descriptor = field;
	if (descriptor.number) {
		uint32_t known = ht_map64_find(&w->gpus, descriptor.value);
		if (known == HT_NONE)
			ht_pf_count(pf, HT_STAT_unknown_iid);
		else
			gpu = known;
	}
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
