/*
 * annotation.c - see annotation.h.
 */
#include "wire/annotation.h"

#include "json/text.h"
#include "wire/perfetto.h"

/* Containers inside each other: what real args have is below ten. */
#define MAX_NESTED 64

/* ---- to messages ---- */

struct putting {
	ht_ctx *ctx;
	struct ht_mem *mem;
};

static void put_value(
        struct putting *p, struct ht_message *m, const struct ht_json_value *value, unsigned depth);

static void put_number(struct ht_message *m, const struct ht_json_value *value)
{
	struct ht_number number = ht_number_parse(value->text);
	if (number.type == HT_NUMBER_I64)
		ht_message_u64(m, HT_PF_ARG_I64, (uint64_t)number.i);
	else if (number.type == HT_NUMBER_U64)
		ht_message_u64(m, HT_PF_ARG_U64, number.u);
	else if (number.type == HT_NUMBER_F64)
		ht_message_f64(m, HT_PF_ARG_F64, number.f);
}

/* A decoded text is never longer than its spelling, but for what is no UTF-8. */
static void put_text(
        struct ht_message *m, uint32_t field, const struct ht_json_value *value, struct ht_mem *mem)
{
	struct ht_vec text = { 0 };
	size_t bad, quotes = value->type == HT_JSON_STRING && *value->text == '"';
	if (!ht_vec_reserve(mem, &text, 1, value->n * 3 + 1)) {
		m->failed = true;
		return;
	}
	size_t n = ht_json_decode(value->text + quotes, value->n - 2 * quotes, text.data, &bad);
	ht_message_bytes(m, field, text.data, n);
	ht_vec_free(mem, &text, 1);
}

static void put_members(
        struct putting *p, struct ht_message *m, const struct ht_json_value *value, unsigned depth)
{
	struct ht_message inner = { .mem = p->mem };
	struct ht_json reader = ht_json_enter(value);
	struct ht_json_value key, item;
	bool is_list = value->type == HT_JSON_ARRAY;
	while (is_list ? ht_json_element(&reader, &item) : ht_json_member(&reader, &key, &item)) {
		if (!is_list)
			put_text(&inner, HT_PF_ARG_NAME, &key, p->mem);
		put_value(p, &inner, &item, depth + 1);
		ht_message_end(m, is_list ? HT_PF_ARG_ELEMENT : HT_PF_ARG_ENTRY, &inner);
	}
	ht_message_done(&inner);
}

static void put_value(
        struct putting *p, struct ht_message *m, const struct ht_json_value *value, unsigned depth)
{
	bool holds = value->type == HT_JSON_ARRAY || value->type == HT_JSON_OBJECT;
	if (holds && (value->n == 2 || depth >= MAX_NESTED)) {
		ht_message_bytes(m, HT_PF_ARG_JSON, value->text, value->n);
		return;
	}
	switch (value->type) {
	case HT_JSON_ARRAY:
	case HT_JSON_OBJECT: put_members(p, m, value, depth); break;
	case HT_JSON_STRING: put_text(m, HT_PF_ARG_TEXT, value, p->mem); break;
	case HT_JSON_NUMBER: put_number(m, value); break;
	case HT_JSON_TRUE: ht_message_u64(m, HT_PF_ARG_BOOL, 1); break;
	case HT_JSON_FALSE: ht_message_u64(m, HT_PF_ARG_BOOL, 0); break;
	default: break;
	}
}

static enum ht_status append(void *user, const void *bytes, size_t n)
{
	struct ht_message *m = user;
	ht_message_raw(m, bytes, n);
	return m->failed ? HT_NOMEM : HT_OK;
}

/* Does what was put read back as the text? */
static bool reads_back(ht_ctx *ctx, struct ht_message *text, const struct ht_message *m,
        size_t from, const char *json, size_t n)
{
	char room[HT_EMIT_PIECE * 8];
	struct ht_emit emit;
	const struct ht_annotation_texts none = { 0 };
	text->bytes.n = 0;
	ht_emit_begin(&emit, ctx, append, text, room, sizeof room);
	bool ok = ht_annotation_print(
	        &emit, (const unsigned char *)m->bytes.data + from, m->bytes.n - from, &none);
	ht_emit_drain(&emit);
	return ok && emit.status == HT_OK && text->bytes.n == n &&
	       !memcmp(text->bytes.data, json, n);
}

enum ht_status ht_annotation_put(ht_ctx *ctx, struct ht_message *m, const char *json, size_t n)
{
	struct putting p = { ctx, m->mem };
	struct ht_message text = { .mem = m->mem };
	size_t from = m->bytes.n;
	bool ok = false;
	for (unsigned compact = 0; compact < 2 && !ok && ht_json_valid(json, n); compact++) {
		struct ht_json reader = { json };
		struct ht_json_value value = ht_json_next(&reader);
		m->bytes.n = from;
		if (compact)
			ht_message_u64(m, HT_PF_ARG_OWN_COMPACT, 1);
		put_value(&p, m, &value, 0);
		ok = !m->failed && reads_back(ctx, &text, m, from, json, n);
	}
	if (!ok) {
		m->bytes.n = from;
		ht_message_bytes(m, HT_PF_ARG_JSON, json, n);
	}
	ht_message_done(&text);
	return m->failed ? ht_fail_nomem(ctx) : HT_OK;
}

/* ---- to text ---- */

struct printing {
	struct ht_emit *emit;
	const struct ht_annotation_texts *texts;
	bool compact, bad;
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
	ht_emit_char(p->emit, ':');
	if (!p->compact)
		ht_emit_char(p->emit, ' ');
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
			ht_emit_text(p->emit, ", ", p->compact ? 1 : 2);
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
	struct ht_wire wire = { .p = bytes, .end = bytes + n };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field))
		p.compact |= field.number == HT_PF_ARG_OWN_COMPACT;
	print_value(&p, bytes, n, 0);
	return !p.bad;
}
