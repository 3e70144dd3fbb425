/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_chakra.c - Chakra's messages (et_def.proto) read into the store of an execution trace.
 *
 *   length GlobalMetadata, length Node, length Node, ...
 *
 * Attributes that PyTorch's nodes have become their fields, all others are kept as JSON text with the type that
 * the message says. Inputs and outputs are Python's repr of the lists and become JSON, a string of JSON where they
 * are no repr. A file that is cut keeps the nodes before the cut.
 */
#include "et/et_reader.h"

#include "base/emit.h"
#include "et/et_convert.h"
#include "wire/wire.h"
#include "json/json_text.h"

#include <string.h>

struct chakra {
	ht_ctx *ctx;
	struct ht_et *et;
	struct ht_emit emit; /* JSON text of a value, drained into text */
	struct ht_vec text;
	struct ht_vec scratch; /* char, for strings of a repr */
	struct ht_et_reader r; /* for the tensors of nodes */
};

static enum ht_status flush(void *user, const void *bytes, size_t n)
{
	struct chakra *c = user;
	if (!ht_vec_reserve(c->ctx->mem, &c->text, 1, n + 1))
		return ht_fail_nomem(c->ctx);
	memcpy((char *)c->text.data + c->text.n, bytes, n);
	c->text.n += n;
	return HT_OK;
}

static bool intern(struct chakra *c, const void *bytes, size_t n, uint32_t *ret_id)
{
	return ht_et_intern(c->et, (const char *)bytes, n, ret_id);
}

/* The bytes of a field that has some. */
static struct ht_wire packed_of(const struct ht_wire_field *field)
{
	if (field->type != HT_WIRE_BYTES)
		return (struct ht_wire){ 0 };
	return (struct ht_wire){ field->bytes, field->bytes + field->n, false };
}

/* ---- values of attributes ---- */

enum value_kind { F64, F32, INT, UINT, SINT, SFIXED32, SFIXED64, BOOL, TEXT };
static const struct {
	const char *type;
	enum value_kind kind;
	enum ht_wire_type wire;
} value_types[] = { /* fields 3, 5, 7, ...; lists have the number behind */
	{ "double", F64, HT_WIRE_FIXED64 }, { "float", F32, HT_WIRE_FIXED32 },
	{ "int32", INT, HT_WIRE_VARINT }, { "int64", INT, HT_WIRE_VARINT },
	{ "uint32", UINT, HT_WIRE_VARINT }, { "uint64", UINT, HT_WIRE_VARINT },
	{ "sint32", SINT, HT_WIRE_VARINT }, { "sint64", SINT, HT_WIRE_VARINT },
	{ "fixed32", UINT, HT_WIRE_FIXED32 }, { "fixed64", UINT, HT_WIRE_FIXED64 },
	{ "sfixed32", SFIXED32, HT_WIRE_FIXED32 }, { "sfixed64", SFIXED64, HT_WIRE_FIXED64 },
	{ "bool", BOOL, HT_WIRE_VARINT }, { "string", TEXT, HT_WIRE_BYTES },
	{ "bytes", TEXT, HT_WIRE_BYTES }
};
#define FIRST_VALUE 3

static void emit_number(struct ht_emit *e, enum value_kind kind, uint64_t bits)
{
	double f64;
	float f32;
	uint32_t low = (uint32_t)bits;
	switch (kind) {
	case F64:
		memcpy(&f64, &bits, sizeof f64);
		ht_emit_f64(e, f64);
		break;
	case F32:
		memcpy(&f32, &low, sizeof f32);
		ht_emit_f64(e, (double)f32);
		break;
	case UINT: ht_emit_u64(e, bits); break;
	case SINT: ht_emit_i64(e, (int64_t)(bits >> 1 ^ (0 - (bits & 1)))); break;
	case SFIXED32: ht_emit_i64(e, (int32_t)low); break;
	case BOOL: ht_emit_text(e, bits ? "true" : "false", bits ? 4 : 5); break;
	case INT:
	case SFIXED64:
	case TEXT: ht_emit_i64(e, (int64_t)bits); break;
	}
}

/* A list message: field 1, packed or one by one. */
static void emit_list(struct ht_emit *e, size_t i, const struct ht_wire_field *list)
{
	struct ht_wire wire = packed_of(list);
	struct ht_wire_field field;
	uint64_t bits;
	const char *comma = "";
	ht_emit_char(e, '[');
	while (ht_wire_next(&wire, &field)) {
		if (field.number != 1)
			continue;
		if (value_types[i].kind == TEXT && field.type == HT_WIRE_BYTES) {
			ht_emit_text(e, comma, strlen(comma));
			ht_emit_string(e, (const char *)field.bytes, field.n);
			comma = ",";
			continue;
		}
		bool is_packed = field.type == HT_WIRE_BYTES;
		struct ht_wire packed = packed_of(&field);
		bits = field.value;
		while (!is_packed || ht_wire_packed(&packed, value_types[i].wire, &bits)) {
			ht_emit_text(e, comma, strlen(comma));
			emit_number(e, value_types[i].kind, bits);
			comma = ",";
			if (!is_packed)
				break;
		}
	}
	ht_emit_char(e, ']');
}

/* The value as JSON text in c->text. */
static enum ht_status value_text(
        struct chakra *c, const struct ht_wire_field *value, const char **ret_type)
{
	size_t i = value->number < FIRST_VALUE ? SIZE_MAX : (value->number - FIRST_VALUE) / 2;
	c->text.n = 0;
	if (i >= HT_COUNT(value_types)) {
		*ret_type = "";
		HT_EMIT(&c->emit, "null");
	} else if ((value->number - FIRST_VALUE) % 2) {
		*ret_type = value_types[i].type;
		emit_list(&c->emit, i, value);
	} else {
		*ret_type = value_types[i].type;
		if (value->type == HT_WIRE_BYTES)
			ht_emit_string(&c->emit, (const char *)value->bytes, value->n);
		else
			emit_number(&c->emit, value_types[i].kind, value->value);
	}
	ht_emit_drain(&c->emit);
	return c->emit.status;
}

struct attr {
	struct ht_wire_field name, value; /* number 0: absent */
};

static struct attr parse_attr(const struct ht_wire_field *message)
{
	struct attr attr = { { 0 }, { 0 } };
	struct ht_wire wire = { message->bytes, message->bytes + message->n, false };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		if (field.number == 1 && field.type == HT_WIRE_BYTES)
			attr.name = field;
		else if (field.number >= FIRST_VALUE)
			attr.value = field;
	}
	return attr;
}

/* ---- fields of nodes ---- */

static const struct {
	const char *name;
	size_t offset;
	unsigned flag;
	bool is_text;
} node_attrs[] = {
	{ "rf_id", offsetof(struct ht_et_node, rf_id), HT_ET_RF_ID, false },
	{ "fw_parent", offsetof(struct ht_et_node, fw_parent), HT_ET_FW_PARENT, false },
	{ "seq_id", offsetof(struct ht_et_node, seq_id), HT_ET_SEQ_ID, false },
	{ "scope", offsetof(struct ht_et_node, scope), HT_ET_SCOPE, false },
	{ "tid", offsetof(struct ht_et_node, tid), HT_ET_TID, false },
	{ "fw_tid", offsetof(struct ht_et_node, fw_tid), HT_ET_FW_TID, false },
	{ "op_schema", offsetof(struct ht_et_node, op_schema), HT_ET_OP_SCHEMA, true },
};

static enum ht_status add_attr(
        struct chakra *c, const struct ht_wire_field *message, struct ht_et_node *node)
{
	struct ht_et *et = c->et;
	struct attr attr = parse_attr(message);
	struct ht_et_attr extra;
	const char *type;
	if (attr.name.number != 1)
		return HT_OK;
	for (size_t i = 0; i < HT_COUNT(node_attrs); i++) {
		void *field = (char *)node + node_attrs[i].offset;
		if (strlen(node_attrs[i].name) != attr.name.n ||
		        memcmp(node_attrs[i].name, attr.name.bytes, attr.name.n) != 0 ||
		        node_attrs[i].is_text != (attr.value.type == HT_WIRE_BYTES))
			continue;
		node->flags |= node_attrs[i].flag;
		if (!node_attrs[i].is_text)
			memcpy(field, &attr.value.value, sizeof attr.value.value);
		else if (!intern(c, attr.value.bytes, attr.value.n, field))
			return ht_fail_nomem(c->ctx);
		return HT_OK;
	}
	HT_TRY(value_text(c, &attr.value, &type));
	if (!intern(c, attr.name.bytes, attr.name.n, &extra.name) ||
	        !intern(c, type, strlen(type), &extra.type) ||
	        !intern(c, c->text.data, c->text.n, &extra.value) ||
	        !HT_VEC_PUSH(et->mem, &et->attrs, struct ht_et_attr, extra))
		return ht_fail_nomem(c->ctx);
	node->n_attrs++;
	return HT_OK;
}

/* Arguments as JSON text in c->text. */
static enum ht_status argument_text(struct chakra *c, const struct ht_wire_field *field)
{
	const char *repr = (const char *)field->bytes;
	c->text.n = 0;
	bool valid = ht_et_repr_read(c->ctx->mem, &c->emit, &c->scratch, repr, field->n);
	ht_emit_char(&c->emit, '\0');
	ht_emit_drain(&c->emit);
	HT_TRY(c->emit.status);
	c->text.n--;
	if (valid && ht_json_valid(c->text.data, c->text.n))
		return HT_OK;
	c->text.n = 0;
	ht_emit_string(&c->emit, repr, field->n);
	ht_emit_drain(&c->emit);
	return c->emit.status;
}

static enum ht_status set_io(
        struct chakra *c, const struct ht_wire_field *message, struct ht_et_io *io)
{
	uint32_t *const fields[] = { &io->values, &io->shapes, &io->types };
	struct ht_wire wire = { message->bytes, message->bytes + message->n, false };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		if (field.number < 1 || field.number > 3 || field.type != HT_WIRE_BYTES)
			continue;
		HT_TRY(argument_text(c, &field));
		if (!intern(c, c->text.data, c->text.n, fields[field.number - 1]))
			return ht_fail_nomem(c->ctx);
	}
	return HT_OK;
}

/* Ids, packed or one by one. */
static enum ht_status add_deps(struct chakra *c, const struct ht_wire_field *field, uint32_t *n)
{
	bool is_packed = field->type == HT_WIRE_BYTES;
	struct ht_wire packed = packed_of(field);
	uint64_t id = field->value;
	while (!is_packed || ht_wire_packed(&packed, HT_WIRE_VARINT, &id)) {
		if (c->et->deps.n >= HT_ET_NONE - 1 ||
		        !HT_VEC_PUSH(c->et->mem, &c->et->deps, uint64_t, id))
			return ht_fail_nomem(c->ctx);
		++*n;
		if (!is_packed)
			break;
	}
	return HT_OK;
}

/* Dependencies of one of the two kinds: first where they start, then how many. */
static enum ht_status read_deps(struct chakra *c, const struct ht_wire_field *message,
        uint32_t number, uint32_t *ret_first, uint32_t *ret_n)
{
	struct ht_wire wire = { message->bytes, message->bytes + message->n, false };
	struct ht_wire_field field;
	*ret_first = (uint32_t)c->et->deps.n;
	*ret_n = 0;
	while (ht_wire_next(&wire, &field))
		if (field.number == number && field.type <= HT_WIRE_BYTES)
			HT_TRY(add_deps(c, &field, ret_n));
	return HT_OK;
}

static enum ht_status read_fields(struct chakra *c, const struct ht_wire_field *message,
        struct ht_et_node *node, struct ht_et_chakra *chakra, bool *ret_bad)
{
	struct ht_wire wire = { message->bytes, message->bytes + message->n, false };
	struct ht_wire_field f;
	while (ht_wire_next(&wire, &f)) {
		bool is_bytes = f.type == HT_WIRE_BYTES;
		if (f.number == 1 && !is_bytes)
			node->id = f.value;
		else if (f.number == 2 && is_bytes && !intern(c, f.bytes, f.n, &node->name))
			return ht_fail_nomem(c->ctx);
		else if (f.number == 3 && !is_bytes)
			chakra->type = f.value < UINT32_MAX ? (uint32_t)f.value : 0;
		else if (f.number == 6 && !is_bytes)
			chakra->start_us = f.value;
		else if (f.number == 7 && !is_bytes)
			chakra->dur_us = f.value;
		else if ((f.number == 8 || f.number == 9) && is_bytes)
			HT_TRY(set_io(c, &f, f.number == 8 ? &node->in : &node->out));
		else if (f.number == 10 && is_bytes)
			HT_TRY(add_attr(c, &f, node));
	}
	*ret_bad = wire.bad;
	return HT_OK;
}

static enum ht_status read_node(
        struct chakra *c, const struct ht_wire_field *message, int64_t offset, bool *ret_bad)
{
	static const struct ht_et_io no_io = { HT_ET_NO_STR, HT_ET_NO_STR, HT_ET_NO_STR,
		HT_ET_NO_STR };
	struct ht_et *et = c->et;
	struct ht_et_chakra chakra = { 0 };
	struct ht_et_node node = { .name = HT_ET_NO_STR,
		.op_schema = HT_ET_NO_STR,
		.kernel_backend = HT_ET_NO_STR,
		.kernel_file = HT_ET_NO_STR,
		.tensor_range = HT_ET_NO_STR,
		.seq_id = -1,
		.in = no_io,
		.out = no_io,
		.flags = HT_ET_ID | HT_ET_NAME,
		.first_attr = (uint32_t)et->attrs.n,
		.first_tensor = (uint32_t)et->tensors.n,
		.offset = offset };
	if (et->nodes.n >= HT_ET_NONE - 1 || et->attrs.n >= HT_ET_NONE / 2 ||
	        et->tensors.n >= HT_ET_NONE / 2)
		return ht_fail_nomem(c->ctx);
	HT_TRY(read_fields(c, message, &node, &chakra, ret_bad));
	HT_TRY(read_deps(c, message, 4, &chakra.first_ctrl, &chakra.n_ctrl));
	HT_TRY(read_deps(c, message, 5, &chakra.first_dep, &chakra.n_deps));
	if (chakra.n_ctrl) {
		node.parent_id = ((const uint64_t *)et->deps.data)[chakra.first_ctrl];
		node.flags |= HT_ET_PARENT;
	}
	if (node.name == HT_ET_NO_STR && !intern(c, "", 0, &node.name))
		return ht_fail_nomem(c->ctx);
	if (!ht_et_add_tensors(&c->r, &node, (uint32_t)et->nodes.n) ||
	        !HT_VEC_PUSH(et->mem, &et->nodes, struct ht_et_node, node) ||
	        !HT_VEC_PUSH(et->mem, &et->chakra, struct ht_et_chakra, chakra))
		return ht_fail_nomem(c->ctx);
	return HT_OK;
}

static enum ht_status read_metadata(struct chakra *c, const struct ht_wire_field *message)
{
	struct ht_et *et = c->et;
	struct ht_wire wire = { message->bytes, message->bytes + message->n, false };
	struct ht_wire_field field;
	while (ht_wire_next(&wire, &field)) {
		if (field.number != 2 || field.type != HT_WIRE_BYTES)
			continue;
		struct attr attr = parse_attr(&field);
		const char *name = (const char *)attr.name.bytes;
		size_t n = attr.name.n;
		bool is_text = attr.value.type == HT_WIRE_BYTES;
		int64_t number = (int64_t)attr.value.value;
		if (n == 3 && !memcmp(name, "pid", n) && !is_text) {
			et->pid = number;
			et->headers |= HT_ET_HAS_PID;
		} else if (n == 8 && !memcmp(name, "start_ts", n) && !is_text) {
			et->start_ts = number;
			et->headers |= HT_ET_HAS_START;
		} else if (n == 9 && !memcmp(name, "finish_ts", n) && !is_text) {
			et->finish_ts = number;
			et->headers |= HT_ET_HAS_FINISH;
		} else if (n == 6 && !memcmp(name, "schema", n) && is_text) {
			if (!intern(c, attr.value.bytes, attr.value.n, &et->schema))
				return ht_fail_nomem(c->ctx);
			et->headers |= HT_ET_HAS_SCHEMA;
		} else if (n == 4 && !memcmp(name, "time", n) && is_text) {
			if (!intern(c, attr.value.bytes, attr.value.n, &et->time))
				return ht_fail_nomem(c->ctx);
			et->headers |= HT_ET_HAS_TIME;
		}
	}
	return HT_OK;
}

static void count(struct ht_et *et, enum ht_et_stat_code code, size_t offset)
{
	if (!et->stats[code].count++)
		et->stats[code].first_offset = (int64_t)offset;
}

static enum ht_status read_messages(struct chakra *c, const unsigned char *bytes, size_t n)
{
	bool first = true;
	for (size_t at = 0; at < n; first = false) {
		uint64_t length;
		size_t used = ht_wire_varint(bytes + at, n - at, &length);
		if (!used || length > n - at - used) {
			count(c->et, HT_ET_STAT_not_finalised, at);
			return HT_OK;
		}
		struct ht_wire_field message = { .bytes = bytes + at + used, .n = (size_t)length };
		bool bad = false;
		if (first)
			HT_TRY(read_metadata(c, &message));
		else
			HT_TRY(read_node(c, &message, (int64_t)at, &bad));
		if (bad)
			count(c->et, HT_ET_STAT_nodes_lost, at);
		at += used + message.n;
	}
	return HT_OK;
}

enum ht_status ht_et_read_chakra(ht_ctx *ctx, const char *bytes, size_t n, struct ht_et *et)
{
	struct chakra c = {
		.ctx = ctx, .et = et, .r = { .ctx = ctx, .et = et, .last_device = HT_ET_NO_STR }
	};
	HT_TRY(ht_emit_init(&c.emit, ctx, flush, &c));
	enum ht_status status = read_messages(&c, (const unsigned char *)bytes, n);
	enum ht_status ended = ht_emit_done(&c.emit);
	ht_vec_free(ctx->mem, &c.text, 1);
	ht_vec_free(ctx->mem, &c.scratch, 1);
	ht_vec_free(ctx->mem, &c.r.lists, sizeof(uint32_t));
	ht_vec_free(ctx->mem, &c.r.steps, 1);
	et->headers |= HT_ET_HAS_NODES;
	return status != HT_OK ? status : ended;
}
