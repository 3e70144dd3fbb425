/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation.c - see annotation.h.
 */
#include "wire/annotation.h"

#include "json/json_text.h"
#include "wire/perfetto_fields.h"

/* Containers inside each other: what real args have is below ten. */
#define MAX_NESTED 64

struct printing {
	struct ht_emit *emit;
	const struct ht_annotation_texts *texts;
	bool bad;
};

static void print_value(struct printing *p, const unsigned char *bytes, size_t n, unsigned depth);

static void print_name(struct printing *p, const unsigned char *bytes, size_t n)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	const char *name = "";
	size_t n_name = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == HT_PF_ARG_NAME && field.type == HT_WIRE_BYTES) {
			name = (const char *)field.bytes;
			n_name = field.n;
		} else if (field.number == HT_PF_ARG_NAME_IID && p->texts->name) {
			name = p->texts->name(p->texts->user, field.value, &n_name);
		}
	ht_emit_string(p->emit, name, n_name);
	HT_EMIT(p->emit, ": ");
}

/* The fields of one number in a message, as a list or dictionary. */
static void print_members(
        struct printing *p, const unsigned char *bytes, size_t n, uint32_t number, unsigned depth)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	bool is_list = number == HT_PF_ARG_ELEMENT, first = true;
	ht_emit_char(p->emit, is_list ? '[' : '{');
	while (ht_wire_next(&wire, &field)) {
		if (field.number != number || field.type != HT_WIRE_BYTES)
			continue;
		if (!first)
			HT_EMIT(p->emit, ", ");
		first = false;
		if (!is_list)
			print_name(p, field.bytes, field.n);
		print_value(p, field.bytes, field.n, depth + 1);
	}
	ht_emit_char(p->emit, is_list ? ']' : '}');
}

static void print_json(struct printing *p, const struct ht_wire_field *field)
{
	struct ht_message copy = { .mem = p->emit->ctx->mem };
	ht_message_raw(&copy, field->bytes, field->n);
	ht_message_raw(&copy, "", 1);
	if (!copy.failed && ht_json_valid(copy.bytes.data, field->n))
		ht_emit_text(p->emit, copy.bytes.data, field->n);
	else
		ht_emit_string(p->emit, (const char *)field->bytes, field->n);
	ht_message_done(&copy);
}

static void print_text_iid(struct printing *p, uint64_t iid)
{
	size_t n = 0;
	const char *text = p->texts->text ? p->texts->text(p->texts->user, iid, &n) : "";
	ht_emit_string(p->emit, text, n);
}

/* One field that is a value; false for others. */
static bool print_field(struct printing *p, const struct ht_wire_field *field)
{
	double real;
	bool is_bytes = field->type == HT_WIRE_BYTES;
	switch (field->number) {
	case HT_PF_ARG_BOOL:
		ht_emit_text(p->emit, field->value ? "true" : "false", field->value ? 4 : 5);
		return true;
	case HT_PF_ARG_I64: ht_emit_i64(p->emit, (int64_t)field->value); return true;
	case HT_PF_ARG_U64:
	case HT_PF_ARG_POINTER: ht_emit_u64(p->emit, field->value); return true;
	case HT_PF_ARG_F64:
		memcpy(&real, &field->value, sizeof real);
		ht_emit_f64(p->emit, real);
		return true;
	case HT_PF_ARG_TEXT:
		if (is_bytes)
			ht_emit_string(p->emit, (const char *)field->bytes, field->n);
		return is_bytes;
	case HT_PF_ARG_JSON:
		if (is_bytes)
			print_json(p, field);
		return is_bytes;
	case HT_PF_ARG_TEXT_IID: print_text_iid(p, field->value); return true;
	default: return false;
	}
}

static void print_value(struct printing *p, const unsigned char *bytes, size_t n, unsigned depth)
{
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	while (depth <= MAX_NESTED && ht_wire_next(&wire, &field)) {
		bool holds = field.number == HT_PF_ARG_ENTRY || field.number == HT_PF_ARG_ELEMENT;
		if (holds && field.type == HT_WIRE_BYTES) {
			print_members(p, bytes, n, field.number, depth);
			return;
		}
		if (print_field(p, &field))
			return;
	}
	p->bad |= wire.bad || depth > MAX_NESTED;
	HT_EMIT(p->emit, "null");
}

bool ht_annotation_print(struct ht_emit *emit, const unsigned char *bytes, size_t n,
        const struct ht_annotation_texts *texts)
{
	struct printing p = { .emit = emit, .texts = texts };
	print_value(&p, bytes, n, 0);
	return !p.bad;
}
