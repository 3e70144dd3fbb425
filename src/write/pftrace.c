/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pftrace.c - traces as Perfetto's packets, for ui.perfetto.dev and trace_processor, and back to Holotrace.
 *
 *   clock, attributes ─ tracks ─ texts ─ rows without a time ─ events by time        one sequence per trace
 *
 * Times are differences on a clock of the sequence that begins with the first event of the file. Texts have numbers, which
 * packets before the first event give them. Args are debug annotations, arrows are flows, and what of a row Perfetto has no
 * place for stands in fields of our own (wire/perfetto_fields.h), so that reading a file gives the trace that it was made of.
 * Memory: the bodies of one trace at a time, about a quarter of its JSON.
 */
#include "store/trace.h"
#include "write/pft.h"

#include "base/mem.h"
#include "base/sort.h"
#include "store/trace_meta.h"

#include <stdio.h>

/* Bytes of texts in one packet, at about. */
#define TEXTS_BYTES 32768

uint32_t ht_pft_text(struct ht_pft *p, enum ht_pft_texts which, const char *text, size_t n)
{
	uint32_t id;
	if (p->failed || !ht_intern(&p->texts[which], n ? text : "", n, &id)) {
		p->failed = true;
		return 0;
	}
	return id + 1;
}

uint32_t ht_pft_value_text(struct ht_pft *p, char kind, const char *text, size_t n)
{
	p->text.bytes.n = 0;
	ht_message_raw(&p->text, &kind, 1);
	ht_message_raw(&p->text, text, n);
	p->failed |= p->text.failed;
	return ht_pft_text(p, HT_PFT_VALUES, p->text.bytes.data, p->text.bytes.n);
}

void ht_pft_push_op(struct ht_pft *p, int64_t ts_ns, struct ht_pft_op op)
{
	uint64_t time = (uint64_t)ts_ns - (uint64_t)p->out->file->zero_ns;
	p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->ops, struct ht_pft_op, op) ||
	             !HT_VEC_PUSH(p->ctx->mem, &p->times, uint64_t, time);
}

/* ---- packets ---- */

static void end_packet(struct ht_pft *p)
{
	unsigned char head[16];
	size_t n = ht_wire_put_varint(head, HT_PF_PACKET << 3 | HT_WIRE_BYTES);
	n += ht_wire_put_varint(head + n, p->packet.bytes.n);
	ht_emit_text(p->out->emit, (const char *)head, n);
	ht_emit_text(p->out->emit, p->packet.bytes.data, p->packet.bytes.n);
	p->failed |= p->packet.failed;
	p->packet.bytes.n = 0;
}

static void begin_packet(struct ht_pft *p, unsigned flags)
{
	ht_message_u64(&p->packet, HT_PF_SEQUENCE, p->sequence);
	ht_message_u64(&p->packet, HT_PF_FLAGS, flags);
}

static void put_clock(struct ht_pft *p, uint32_t id, uint64_t time, bool is_incremental)
{
	ht_message_u64(&p->inner, HT_PF_CLOCK_ID, id);
	ht_message_u64(&p->inner, HT_PF_CLOCK_TIME, time);
	if (is_incremental)
		ht_message_u64(&p->inner, HT_PF_CLOCK_INCREMENTAL, 1);
	ht_message_end(&p->event, HT_PF_SNAPSHOT_CLOCK, &p->inner);
}

/* What the zero of the file is on the clock of the world, as far as the trace knows. */
static uint64_t unix_zero(const struct ht_pft *p)
{
	int64_t base_ns = p->t->meta->base_ns, zero_ns = p->out->file->zero_ns, sum;
	if (base_ns == HT_NO_I64)
		base_ns = 0;
	return __builtin_add_overflow(base_ns, zero_ns, &sum) || sum < 0 ? 0 : (uint64_t)sum;
}

static void put_clocks(struct ht_pft *p)
{
	uint64_t zero = unix_zero(p);
	begin_packet(p, HT_PF_CLEARS_STATE);
	put_clock(p, HT_PF_BOOTTIME, zero, false);
	put_clock(p, HT_PF_REALTIME, zero, false);
	put_clock(p, HT_PF_OWN_CLOCK, 0, true);
	ht_message_end(&p->packet, HT_PF_CLOCK_SNAPSHOT, &p->event);
	ht_message_u64(&p->event, HT_PF_DEFAULT_CLOCK, HT_PF_OWN_CLOCK);
	ht_message_u64(&p->inner, HT_PF_EVENT_TRACK, p->main_track);
	ht_message_end(&p->event, HT_PF_DEFAULT_EVENT, &p->inner);
	ht_message_end(&p->packet, HT_PF_DEFAULTS, &p->event);
	end_packet(p);
}

/* ---- the start of a file ---- */

static void put_attribute(struct ht_pft *p, const char *key, size_t n_key, const char *value,
        size_t n, unsigned place)
{
	ht_message_bytes(&p->inner, HT_PF_ATTRIBUTE_KEY, key, n_key);
	ht_message_bytes(&p->inner, HT_PF_ATTRIBUTE_TEXT, value, n);
	ht_message_u64(&p->inner, HT_PF_ATTRIBUTE_OWN_PLACE, place);
	ht_message_end(&p->event, HT_PF_ATTRIBUTE, &p->inner);
}

static enum ht_status to_message(void *user, const void *bytes, size_t n)
{
	ht_message_raw(user, bytes, n);
	return HT_OK;
}

/* The name of a file is a JSON string like all other values. */
static void put_derived_from(struct ht_pft *p, unsigned document)
{
	char room[HT_EMIT_PIECE * 2];
	struct ht_message text = { .mem = p->ctx->mem };
	struct ht_emit emit;
	ht_emit_begin(&emit, p->ctx, to_message, &text, room, sizeof room);
	ht_emit_string(&emit, p->out->derived_from, strlen(p->out->derived_from));
	ht_emit_drain(&emit);
	put_attribute(p, HT_DERIVED_FROM_KEY, sizeof HT_DERIVED_FROM_KEY - 1, text.bytes.data,
	        text.bytes.n, document * 2);
	p->failed |= text.failed;
	ht_message_done(&text);
}

static void put_headers(struct ht_pft *p, uint16_t document, uint8_t after)
{
	const struct ht_trace *t = p->t;
	for (size_t i = 0; i < t->more->n_headers; i++) {
		const struct ht_header *h = &t->more->headers[i];
		if (h->document == document && h->after_events == after)
			put_attribute(p, ht_str(t, h->key), ht_str_len(t, h->key),
			        ht_str(t, h->value), ht_str_len(t, h->value),
			        p->documents[document] * 2u + after);
	}
}

/* more_header is `"key":value,` as JSON has it. */
static void put_more_header(struct ht_pft *p, const char *more_header)
{
	const char *key = strchr(more_header, '"'), *colon = key ? strchr(key, ':') : NULL;
	const char *end = strrchr(more_header, ',');
	if (colon && end > colon)
		put_attribute(p, key + 1, (size_t)(colon - key - 2), colon + 1,
		        (size_t)(end - colon - 1), 0);
}

static void put_file(struct ht_pft *p, const char *more_header, uint16_t n_documents)
{
	const struct ht_list *wanted = &p->out->filter->filter->documents;
	ht_message_text(&p->event, HT_PF_FILE_VERSION, ht_version());
	ht_message_u64(&p->event, HT_PF_FILE_ZERO, ht_wire_zigzag(p->out->file->zero_ns));
	ht_message_u64(&p->event, HT_PF_FILE_DOCUMENTS, n_documents);
	ht_message_end(&p->packet, HT_PF_OWN_FILE, &p->event);
	end_packet(p);
	for (uint32_t i = 0; i < (more_header ? 1 : p->t->meta->n_documents); i++) {
		if (!more_header && !ht_list_has(wanted, i))
			continue;
		if (p->out->derived_from)
			put_derived_from(p, p->documents[i]);
		put_headers(p, (uint16_t)i, 0);
		if (more_header)
			put_more_header(p, more_header);
		put_headers(p, (uint16_t)i, 1);
	}
	ht_message_end(&p->packet, HT_PF_ATTRIBUTES, &p->event);
	end_packet(p);
}

/* ---- texts ---- */

static void put_texts(struct ht_pft *p, enum ht_pft_texts which, uint32_t field)
{
	const struct ht_text *texts = p->pools[which].texts.data;
	for (size_t i = 0; i < p->pools[which].texts.n; i++) {
		ht_message_u64(&p->inner, HT_PF_IID, i + 1);
		size_t n_kind = which == HT_PFT_VALUES;
		ht_message_bytes(
		        &p->inner, HT_PF_IID_TEXT, texts[i].bytes + n_kind, texts[i].n - n_kind);
		if (n_kind && *texts[i].bytes == 'J')
			ht_message_u64(&p->inner, HT_PF_IID_OWN_JSON, 1);
		ht_message_end(&p->event, field, &p->inner);
		if (p->event.bytes.n < TEXTS_BYTES && i + 1 < p->pools[which].texts.n)
			continue;
		begin_packet(p, HT_PF_NEEDS_STATE);
		ht_message_end(&p->packet, HT_PF_INTERNED, &p->event);
		end_packet(p);
	}
}

static void put_layouts(struct ht_pft *p)
{
	const struct ht_text *texts = p->pools[HT_PFT_LAYOUTS].texts.data;
	for (size_t i = 0; i < p->pools[HT_PFT_LAYOUTS].texts.n; i++) {
		begin_packet(p, HT_PF_NEEDS_STATE);
		ht_message_u64(&p->event, HT_PF_LAYOUT_IID, i + 1);
		ht_message_raw(&p->event, texts[i].bytes, texts[i].n);
		ht_message_end(&p->packet, HT_PF_OWN_LAYOUT, &p->event);
		end_packet(p);
	}
}

/* ---- events ---- */

/* What follows from the row before is not said. */
static void put_row_number(struct ht_pft *p, uint32_t item, uint32_t layout, uint32_t type)
{
	int64_t number = (int64_t)p->out->file->n_events + item;
	if (number != p->last_number + 1)
		ht_message_u64(&p->packet, HT_PF_OWN_ROW, ht_wire_zigzag(number - p->last_number));
	p->last_number = number;
	if (layout != p->last_layout[type])
		ht_message_u64(&p->packet, HT_PF_OWN_KEYS, layout);
	p->last_layout[type] = layout;
}

static const struct ht_pft_item *item_at(const struct ht_pft *p, uint32_t item)
{
	if (item < p->n_kept)
		return (const struct ht_pft_item *)p->items.data + item;
	return &((const struct ht_pft_extra *)p->extras.data)[item - p->n_kept].item;
}

static void put_op(struct ht_pft *p, const struct ht_pft_op *op)
{
	struct ht_message *e = &p->event;
	if (op->type)
		ht_message_u64(e, HT_PF_EVENT_TYPE, op->type);
	if (op->track != p->main_track)
		ht_message_u64(e, HT_PF_EVENT_TRACK, op->track);
	if (op->type == HT_PF_COUNTER) {
		const struct ht_pft_value *value =
		        (const struct ht_pft_value *)p->values.data + op->item;
		if (value->is_f64)
			ht_message_f64(e, HT_PF_EVENT_COUNTER_F64, value->f64);
		else
			ht_message_u64(e, HT_PF_EVENT_COUNTER, (uint64_t)value->i64);
	} else if (op->type != HT_PF_END) {
		const struct ht_pft_item *item = item_at(p, op->item);
		ht_message_raw(e, (const char *)p->bodies.bytes.data + item->at, item->n);
		put_row_number(p, op->item, item->layout, op->type);
	}
	ht_message_end(&p->packet, op->type ? HT_PF_TRACK_EVENT : HT_PF_OWN_EVENT, e);
	end_packet(p);
}

static enum ht_status put_events(struct ht_pft *p)
{
	const struct ht_pft_op *ops = p->ops.data, *untimed = p->untimed.data;
	uint64_t *times = p->times.data;
	size_t n = p->ops.n, n_bytes = (n + 1) * sizeof(uint32_t);
	if (n >= UINT32_MAX)
		return ht_fail(p->ctx, HT_LIMIT, p->t->path, -1,
		        "write fewer steps or ranks at a time", "too many events for one file");
	uint32_t *order = ht_mem_alloc(p->ctx->mem, n_bytes);
	if (!order)
		return ht_fail_nomem(p->ctx);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	bool ok = ht_sort_keys(p->ctx->mem, times, order, n);
	for (size_t i = 0; i < p->untimed.n && ok; i++) {
		begin_packet(p, HT_PF_NEEDS_STATE);
		put_op(p, &untimed[i]);
	}
	for (size_t i = 0; i < n && ok && p->out->emit->status == HT_OK; i++) {
		ht_message_u64(&p->packet, HT_PF_TIMESTAMP, times[i] - p->last_time);
		p->last_time = times[i];
		/* that it needs the state says only what is to be left out where that was lost: nothing is in a file */
		ht_message_u64(&p->packet, HT_PF_SEQUENCE, p->sequence);
		put_op(p, &ops[order[i]]);
	}
	ht_mem_free(p->ctx->mem, order, n_bytes);
	return !ok || p->failed ? ht_fail_nomem(p->ctx) : p->out->emit->status;
}

/* ---- one trace ---- */

static bool init(struct ht_pft *p)
{
	const struct ht_trace *t = p->t;
	struct ht_arena *arena = &p->out->arena;
	struct ht_mem *mem = p->ctx->mem;
	struct ht_message *messages[] = { &p->packet, &p->event, &p->inner, &p->bodies, &p->tracks,
		&p->text };
	for (size_t i = 0; i < HT_COUNT(messages); i++)
		messages[i]->mem = mem;
	for (size_t i = 0; i < HT_PFT_N_TEXTS; i++) {
		ht_pool_init(&p->pools[i], mem);
		p->texts[i].pool = &p->pools[i];
	}
	p->item_of = ht_arena_room(arena, (t->n_ts_ns + 1) * sizeof *p->item_of);
	p->track_of = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *p->track_of);
	p->process_of = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *p->process_of);
	p->columns = ht_arena_alloc(arena, (t->n_arg_columns + 1) * sizeof *p->columns);
	p->shapes = ht_arena_alloc(arena, (t->n_shape_offsets + 1) * sizeof *p->shapes);
	p->shape_phases = ht_arena_alloc(arena, t->n_shape_offsets + 1);
	p->documents = ht_arena_alloc(arena, (UINT16_MAX + 1) * sizeof *p->documents);
	return p->item_of && p->track_of && p->process_of && p->columns && p->shapes &&
	       p->shape_phases && p->documents;
}

static void done(struct ht_pft *p)
{
	struct ht_mem *mem = p->ctx->mem;
	struct ht_message *messages[] = { &p->packet, &p->event, &p->inner, &p->bodies, &p->tracks,
		&p->text };
	for (size_t i = 0; i < HT_COUNT(messages); i++)
		ht_message_done(messages[i]);
	for (size_t i = 0; i < HT_PFT_N_TEXTS; i++) {
		ht_intern_done(&p->texts[i]);
		ht_pool_done(&p->pools[i]);
	}
	ht_vec_free(mem, &p->items, sizeof(struct ht_pft_item));
	ht_vec_free(mem, &p->extras, sizeof(struct ht_pft_extra));
	ht_vec_free(mem, &p->arrows, sizeof(struct ht_pft_arrow));
	ht_vec_free(mem, &p->values, sizeof(struct ht_pft_value));
	ht_vec_free(mem, &p->ops, sizeof(struct ht_pft_op));
	ht_vec_free(mem, &p->times, sizeof(uint64_t));
	ht_vec_free(mem, &p->untimed, sizeof(struct ht_pft_op));
	ht_vec_free(mem, &p->counters, sizeof(uint64_t));
	ht_vec_free(mem, &p->memory, sizeof(struct ht_pft_memory));
}

/* Documents that are written are numbered from 0, rows that are written, too. */
static enum ht_status choose_rows(struct ht_pft *p, uint16_t *ret_n_documents)
{
	const struct ht_trace *t = p->t;
	const struct ht_list *wanted = &p->out->filter->filter->documents;
	uint32_t n_documents = t->meta->n_documents ? t->meta->n_documents : 1;
	uint16_t n = 0;
	for (uint32_t i = 0; i < n_documents; i++)
		if (ht_list_has(wanted, i))
			p->documents[i] = n++;
	if (!n)
		return ht_fail(p->ctx, HT_MISSING, t->path, -1, "documents count from 0",
		        "the file has %u documents and not the one asked for", n_documents);
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		p->item_of[row] = ht_trace_out_keeps(p->out, row) ? (uint32_t)p->n_kept++ : HT_NONE;
	*ret_n_documents = n;
	return HT_OK;
}

static enum ht_status add_extras(struct ht_pft *p)
{
	const struct ht_pft_extra *extras;
	p->out->own = p;
	HT_TRY(p->out->add_events(p->out));
	extras = p->extras.data;
	for (size_t i = 0; i < p->extras.n && !p->failed; i++) {
		struct ht_pft_op op = { extras[i].track, (uint32_t)(p->n_kept + i), 0 };
		if (extras[i].has_ts)
			ht_pft_push_op(p, extras[i].ts_ns, op);
		else
			p->failed |= !HT_VEC_PUSH(p->ctx->mem, &p->untimed, struct ht_pft_op, op);
	}
	return p->failed ? ht_fail_nomem(p->ctx) : HT_OK;
}

/* The track of most rows is the one that events need not name. */
static void find_main_track(struct ht_pft *p)
{
	uint32_t most = 0;
	for (size_t i = 0; i < p->t->n_tracks; i++)
		if (p->track_of[i] && p->t->tracks[i].n > most) {
			most = p->t->tracks[i].n;
			p->main_track = p->track_of[i];
		}
}

static enum ht_status write_trace(struct ht_pft *p, const char *more_header, bool is_first)
{
	uint16_t n_documents = 0;
	HT_TRY(choose_rows(p, &n_documents));
	HT_TRY(ht_pft_name_tracks(p));
	find_main_track(p);
	HT_TRY(ht_pft_find_arrows(p));
	HT_TRY(add_extras(p));
	HT_TRY(ht_pft_bodies(p));
	HT_TRY(ht_pft_place_rows(p));
	put_clocks(p);
	if (is_first)
		put_file(p, more_header, more_header ? 1 : n_documents);
	ht_emit_text(p->out->emit, p->tracks.bytes.data, p->tracks.bytes.n);
	put_texts(p, HT_PFT_CATEGORIES, HT_PF_CATEGORIES);
	put_texts(p, HT_PFT_NAMES, HT_PF_EVENT_NAMES);
	put_texts(p, HT_PFT_KEYS, HT_PF_ARG_NAMES);
	put_texts(p, HT_PFT_VALUES, HT_PF_ARG_TEXTS);
	put_layouts(p);
	HT_TRY(put_events(p));
	p->out->file->n_events += p->n_kept + p->extras.n;
	return HT_OK;
}

static enum ht_status write_one(struct ht_trace_out *out, const char *more_header, bool is_first)
{
	struct ht_pft p = { .out = out,
		.ctx = out->ctx,
		.t = out->trace,
		.sequence = ++out->file->n_sequences,
		.last_number = -1 };
	enum ht_status status =
	        init(&p) ? write_trace(&p, more_header, is_first) : ht_fail_nomem(out->ctx);
	done(&p);
	return status;
}

static enum ht_status write_alone(struct ht_trace_out *out)
{
	return write_one(out, NULL, true);
}

static enum ht_status write_merged(struct ht_trace_out *out, const char *more_header)
{
	return write_one(out, more_header, more_header != NULL);
}

/* Packets need no end. */
static void close_merged(struct ht_trace_out *out)
{
	(void)out;
}

const struct ht_trace_format ht_format_pftrace = {
	.ending = ".pftrace",
	.alone = write_alone,
	.merged = write_merged,
	.close = close_merged,
	.event = ht_pft_add_event,
};
