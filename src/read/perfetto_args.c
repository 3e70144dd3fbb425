/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_args.c - debug annotations as args, attributes as headers; see perfetto.h.
 */
#include "read/perfetto.h"
#include "store/trace.h"

#include "base/emit.h"
#include "json/json_text.h"
#include "store/trace_meta.h"
#include "wire/annotation.h"

#include <string.h>

void ht_pf_put_arg(struct ht_pf *pf, uint32_t key, enum ht_arg_type type, uint64_t value)
{
	struct ht_pf_arg arg = { .key = key, .type = (uint8_t)type, .value = value };
	pf->failed |=
	        key == HT_NO_STR || !HT_VEC_PUSH(pf->ctx->mem, &pf->args, struct ht_pf_arg, arg);
}

struct texts {
	struct ht_pf *pf;
	struct ht_pf_writer *w;
	uint64_t n_repeated;
};

static const char *key_text(void *user, uint64_t iid, size_t *ret_n)
{
	struct texts *t = user;
	return ht_pf_text_in(t->pf, t->w, HT_PF_KIND_KEY, iid, &t->n_repeated, ret_n);
}

static const char *value_text(void *user, uint64_t iid, size_t *ret_n)
{
	struct texts *t = user;
	return ht_pf_text_in(t->pf, t->w, HT_PF_KIND_VALUE, iid, &t->n_repeated, ret_n);
}

static enum ht_status append(void *user, const void *bytes, size_t n)
{
	struct ht_pf *pf = user;
	if (!ht_vec_reserve(pf->ctx->mem, &pf->text, 1, n + 1)) {
		pf->failed = true;
		return HT_NOMEM;
	}
	memcpy((char *)pf->text.data + pf->text.n, bytes, n);
	pf->text.n += n;
	return HT_OK;
}

/* A list or dictionary, as JSON text. */
static void put_nested(struct ht_pf *pf, struct ht_pf_writer *w, uint32_t key,
        const unsigned char *bytes, size_t n)
{
	char room[HT_EMIT_PIECE * 8];
	struct texts user = { pf, w, 0 };
	struct ht_annotation_texts texts = { &user, key_text, value_text };
	struct ht_emit emit;
	pf->text.n = 0;
	ht_emit_begin(&emit, pf->ctx, append, pf, room, sizeof room);
	if (!ht_annotation_print(&emit, bytes, n, &texts))
		ht_pf_count(pf, HT_STAT_too_deep);
	ht_emit_drain(&emit);
	if (!pf->failed)
		ht_pf_put_arg(
		        pf, key, HT_ARG_JSON, ht_rows_text(&pf->rows, pf->text.data, pf->text.n));
}

static void put_text(
        struct ht_pf *pf, uint32_t key, enum ht_arg_type type, const struct ht_wire_field *field)
{
	ht_pf_put_arg(pf, key, type, ht_rows_text(&pf->rows, (const char *)field->bytes, field->n));
}

/* JSON as text: a list, dictionary or string is what it says, anything else is left as text. */
static void put_json(struct ht_pf *pf, uint32_t key, const struct ht_wire_field *field)
{
	pf->text.n = 0;
	if (append(pf, field->bytes, field->n) != HT_OK)
		return;
	((char *)pf->text.data)[field->n] = '\0';
	bool is_valid = ht_json_valid(pf->text.data, field->n);
	put_text(pf, key, is_valid ? HT_ARG_JSON : HT_ARG_STR, field);
}

static void put_field(
        struct ht_pf *pf, struct ht_pf_writer *w, uint32_t key, const struct ht_wire_field *field)
{
	bool is_bytes = field->type == HT_WIRE_BYTES;
	switch (field->number) {
	case HT_PF_ARG_BOOL: ht_pf_put_arg(pf, key, HT_ARG_BOOL, field->value != 0); break;
	case HT_PF_ARG_U64:
	case HT_PF_ARG_POINTER:
		ht_pf_put_arg(pf, key,
		        field->value > INT64_MAX || pf->is_own ? HT_ARG_U64 : HT_ARG_I64,
		        field->value);
		break;
	case HT_PF_ARG_I64: ht_pf_put_arg(pf, key, HT_ARG_I64, field->value); break;
	case HT_PF_ARG_F64: ht_pf_put_arg(pf, key, HT_ARG_F64, field->value); break;
	case HT_PF_ARG_TEXT:
		if (is_bytes)
			put_text(pf, key, HT_ARG_STR, field);
		break;
	case HT_PF_ARG_JSON:
		if (is_bytes)
			put_json(pf, key, field);
		break;
	default:
		ht_pf_put_arg(pf, key,
		        ht_map64_find(&w->jsons, field->value) == 1 ? HT_ARG_JSON : HT_ARG_STR,
		        ht_pf_text(pf, w, HT_PF_KIND_VALUE, field->value));
		break;
	}
}

void ht_pf_annotation(
        struct ht_pf *pf, struct ht_pf_writer *w, const unsigned char *bytes, size_t n)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field, value = { 0 };
	uint32_t key = HT_NO_STR;
	bool is_nested = false;
	while (ht_wire_next(&wire, &field)) {
		bool is_bytes = field.type == HT_WIRE_BYTES;
		if (field.number == HT_PF_ARG_NAME_IID && !is_bytes)
			key = ht_pf_text(pf, w, HT_PF_KIND_KEY, field.value);
		else if (field.number == HT_PF_ARG_NAME && is_bytes)
			key = ht_rows_text(&pf->rows, (const char *)field.bytes, field.n);
		else if (is_bytes &&
		         (field.number == HT_PF_ARG_ENTRY || field.number == HT_PF_ARG_ELEMENT))
			is_nested = true;
		else if ((field.number >= HT_PF_ARG_BOOL && field.number <= HT_PF_ARG_POINTER) ||
		         field.number == HT_PF_ARG_JSON || field.number == HT_PF_ARG_TEXT_IID)
			value = field;
	}
	if (wire.bad) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		return;
	}
	if (key == HT_NO_STR)
		key = ht_rows_text(&pf->rows, "", 0);
	if (is_nested)
		put_nested(pf, w, key, bytes, n);
	else if (value.number)
		put_field(pf, w, key, &value);
	else
		ht_pf_put_arg(pf, key, HT_ARG_NULL, 0);
}

/* ---- headers ---- */

void ht_pf_header(struct ht_pf *pf, const struct ht_wire_field *key,
        const struct ht_wire_field *value, struct ht_pf_header place)
{
	char room[HT_EMIT_PIECE * 8];
	struct ht_emit emit;
	struct ht_header header = { .document = place.document,
		.after_events = place.after_events };
	pf->text.n = 0;
	ht_emit_begin(&emit, pf->ctx, append, pf, room, sizeof room);
	if (place.is_json)
		ht_emit_text(&emit, (const char *)value->bytes, value->n);
	else
		ht_emit_string(&emit, (const char *)value->bytes, value->n);
	ht_emit_drain(&emit);
	if (pf->failed || append(pf, "", 1) != HT_OK)
		return;
	if (!ht_json_valid(pf->text.data, --pf->text.n)) {
		ht_pf_count(pf, HT_STAT_header_lost);
		return;
	}
	header.key = ht_rows_text(&pf->rows, (const char *)key->bytes, key->n);
	header.value = ht_rows_text(&pf->rows, pf->text.data, pf->text.n);
	pf->failed |=
	        header.key == HT_NO_STR || header.value == HT_NO_STR ||
	        !HT_VEC_PUSH(pf->ctx->mem, &pf->builder->all.headers, struct ht_header, header);
}

uint16_t ht_pf_document(const struct ht_pf *pf, uint16_t document)
{
	uint16_t last = (uint16_t)(pf->n_documents - 1);
	return (uint16_t)(pf->builder->n_documents + (document < last ? document : last));
}

void ht_pf_place_headers(struct ht_pf *pf)
{
	struct ht_header *headers = pf->builder->all.headers.data;
	for (size_t i = pf->first_header; i < pf->builder->all.headers.n; i++)
		headers[i].document = ht_pf_document(pf, headers[i].document);
}
