/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded_trace.c - see timeline.h.
 *
 * Times in the file count from a base of whole seconds, as Kineto's do. A call's own id is both its
 * "External id" and its "Record function id", so execution trace, host and GPU events join on one number.
 */
#include "record/recorded_trace.h"

#include "base/checked.h"

#include <stdio.h>

void ht_rec_timeline_init(
        struct ht_rec_timeline *timeline, const struct ht_image *image, struct ht_emit *out)
{
	*timeline = (struct ht_rec_timeline){ .ctx = image->ctx,
		.image = image,
		.out = out,
		.values.image = image,
		.first_ns = INT64_MAX };
	for (size_t i = 0; i < image->n_streams; i++)
		timeline->has_gpu |= image->streams[i].kind == HT_CHUNK_GPU;
}

void ht_rec_timeline_done(struct ht_rec_timeline *timeline)
{
	ht_values_done(&timeline->values);
	ht_vec_free(timeline->ctx->mem, &timeline->spans, sizeof(struct ht_rec_span));
}

/* The recorder's clock to the wall clock, and that less the base. */
static int64_t base_ns(const struct ht_rec_timeline *timeline)
{
	return timeline->image->header->wall_ns / 1000000000 * 1000000000;
}

void ht_rec_timeline_ts(struct ht_rec_timeline *timeline, int64_t ns)
{
	const struct ht_part_header *header = timeline->image->header;
	ht_emit_us(timeline->out,
	        ht_add_sat(ht_sub_sat(ns, header->start_ns), header->wall_ns - base_ns(timeline)));
}

void ht_rec_timeline_open(struct ht_rec_timeline *timeline, const char *category)
{
	struct ht_emit *out = timeline->out;
	if (timeline->n_events++)
		HT_EMIT(out, ",\n");
	HT_EMIT(out, "{\"ph\":\"X\",\"cat\":\"");
	ht_emit_text(out, category, strlen(category));
	HT_EMIT(out, "\",\"name\":\"");
}

void ht_rec_timeline_at(struct ht_rec_timeline *timeline, int64_t pid, int64_t tid,
        int64_t begin_ns, int64_t end_ns)
{
	struct ht_emit *out = timeline->out;
	HT_EMIT(out, "\",\"pid\":");
	ht_emit_i64(out, pid);
	HT_EMIT(out, ",\"tid\":");
	ht_emit_i64(out, tid);
	HT_EMIT(out, ",\"ts\":");
	ht_rec_timeline_ts(timeline, begin_ns);
	HT_EMIT(out, ",\"dur\":");
	ht_emit_us(out, end_ns > begin_ns ? ht_sub_sat(end_ns, begin_ns) : 0);
	HT_EMIT(out, ",\"args\":{");
	if (begin_ns < timeline->first_ns)
		timeline->first_ns = begin_ns;
}

static bool keep_span(struct ht_rec_timeline *timeline, const struct ht_op *op, uint32_t thread)
{
	struct ht_rec_span span = { op->begin_ns, op->end_ns, op->record_id, op->name, thread,
		op->scope == HT_RECORD_ANNOTATION };
	return !timeline->has_gpu ||
	       HT_VEC_PUSH(timeline->ctx->mem, &timeline->spans, struct ht_rec_span, span);
}

static enum ht_status end(
        void *user, struct ht_replay *replay, struct ht_op *op, struct ht_bytes *outputs)
{
	struct ht_rec_timeline *timeline = user;
	struct ht_emit *out = timeline->out;
	const struct ht_image_stream *s = replay->streams[op->i_stream].cursor.stream;
	struct ht_name name = ht_image_name(timeline->image, op->name);
	struct ht_bytes inputs = op->inputs;
	(void)outputs;
	if (!keep_span(timeline, op, s->os_thread))
		return ht_fail_nomem(timeline->ctx);
	HT_TRY(ht_values_read(&timeline->values, &inputs));
	ht_rec_timeline_open(
	        timeline, op->scope == HT_RECORD_ANNOTATION ? "user_annotation" : "cpu_op");
	ht_emit_text(out, name.bytes, name.n);
	ht_rec_timeline_at(
	        timeline, timeline->image->header->pid, s->os_thread, op->begin_ns, op->end_ns);
	HT_EMIT(out, "\"External id\":");
	ht_emit_u64(out, op->record_id);
	HT_EMIT(out, ",\"Record function id\":");
	ht_emit_u64(out, op->record_id);
	if (op->sequence >= 0) {
		HT_EMIT(out, ",\"Sequence number\":");
		ht_emit_i64(out, op->sequence);
		HT_EMIT(out, ",\"Fwd thread id\":");
		ht_emit_u64(out, op->forward_thread);
	}
	if (timeline->values.n_top)
		ht_values_emit_kineto(out, &timeline->values);
	HT_EMIT(out, "}}");
	return out->status;
}

struct ht_replay_sink ht_rec_timeline_sink(struct ht_rec_timeline *timeline)
{
	return (struct ht_replay_sink){ .user = timeline, .end = end };
}

enum ht_status ht_rec_timeline_head(struct ht_rec_timeline *timeline)
{
	const struct ht_part_header *header = timeline->image->header;
	struct ht_emit *out = timeline->out;
	HT_EMIT(out,
	        "{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ");
	ht_emit_i64(out, base_ns(timeline));
	if (header->n_ranks > 0) {
		HT_EMIT(out, ",\n\"distributedInfo\": {\"backend\": \"\", \"rank\": ");
		ht_emit_i64(out, header->rank);
		HT_EMIT(out, ", \"world_size\": ");
		ht_emit_i64(out, header->n_ranks);
		ht_emit_char(out, '}');
	}
	HT_EMIT(out, ",\n\"deviceProperties\": [");
	HT_TRY(ht_rec_timeline_devices(timeline));
	HT_EMIT(out, "],\n\"traceEvents\": [\n");
	return HT_OK;
}

void ht_rec_timeline_meta(struct ht_rec_timeline *timeline, const char *what, int64_t pid,
        int64_t tid, const char *key, const char *text)
{
	struct ht_emit *out = timeline->out;
	if (timeline->n_events++)
		HT_EMIT(out, ",\n");
	HT_EMIT(out, "{\"name\":\"");
	ht_emit_text(out, what, strlen(what));
	HT_EMIT(out, "\",\"ph\":\"M\",\"ts\":");
	ht_rec_timeline_ts(timeline, timeline->first_ns);
	HT_EMIT(out, ",\"pid\":");
	ht_emit_i64(out, pid);
	HT_EMIT(out, ",\"tid\":");
	ht_emit_i64(out, tid);
	HT_EMIT(out, ",\"args\":{\"");
	ht_emit_text(out, key, strlen(key));
	HT_EMIT(out, "\":");
	ht_emit_string(out, text, strlen(text));
	HT_EMIT(out, "}}");
}

static void name_threads(struct ht_rec_timeline *timeline)
{
	const struct ht_part_header *header = timeline->image->header;
	ht_rec_timeline_meta(timeline, "process_name", header->pid, 0, "name", header->program);
	ht_rec_timeline_meta(timeline, "process_labels", header->pid, 0, "labels", "CPU");
	for (size_t i = 0; i < timeline->image->n_streams; i++) {
		const struct ht_image_stream *s = &timeline->image->streams[i];
		char name[128];
		if (s->kind != HT_CHUNK_CALLS || !s->os_thread)
			continue;
		snprintf(name, sizeof name, "thread %u (%.*s)", s->os_thread, (int)s->name.n,
		        s->name.bytes ? s->name.bytes : "");
		ht_rec_timeline_meta(
		        timeline, "thread_name", header->pid, s->os_thread, "name", name);
	}
}

enum ht_status ht_rec_timeline_tail(struct ht_rec_timeline *timeline)
{
	struct ht_emit *out = timeline->out;
	if (timeline->has_gpu)
		HT_TRY(ht_rec_timeline_gpu(timeline));
	if (timeline->first_ns == INT64_MAX)
		timeline->first_ns = timeline->image->header->start_ns;
	name_threads(timeline);
	HT_EMIT(out, "\n],\n\"traceName\": ");
	ht_emit_string(out, timeline->image->header->trace, strlen(timeline->image->header->trace));
	HT_EMIT(out, "\n}\n");
	return out->status;
}
