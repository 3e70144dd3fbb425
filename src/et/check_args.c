/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_args.c - rules about arguments: ET020 to ET026.
 */
#include "et/et_findings.h"

#include "base/sort.h"
#include "et/et_args.h"
#include "et/et_schema.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names as compilers spell the element types of tensors. */
static const struct {
	const char *name;
	uint64_t bytes;
} dtypes[] = { { "float", 4 }, { "double", 8 }, { "int", 4 }, { "long", 8 }, { "long int", 8 },
	{ "long long", 8 }, { "short", 2 }, { "short int", 2 }, { "bool", 1 },
	{ "unsigned char", 1 }, { "signed char", 1 }, { "char", 1 }, { "unsigned short", 2 },
	{ "short unsigned int", 2 }, { "unsigned int", 4 }, { "unsigned long", 8 },
	{ "long unsigned int", 8 }, { "c10::Half", 2 }, { "c10::BFloat16", 2 },
	{ "c10::complex<float>", 8 }, { "c10::complex<double>", 16 },
	{ "c10::complex<c10::Half>", 4 }, { "c10::Float8_e5m2", 1 }, { "c10::Float8_e4m3fn", 1 },
	{ "c10::Float8_e5m2fnuz", 1 }, { "c10::Float8_e4m3fnuz", 1 }, { "c10::Float8_e8m0fnu", 1 },
	{ "c10::Float4_e2m1fn_x2", 1 }, { "c10::qint8", 1 }, { "c10::quint8", 1 },
	{ "c10::qint32", 4 }, { "c10::quint4x2", 1 }, { "c10::quint2x4", 1 } };

struct args {
	struct ht_et_check *c;
	const struct ht_et_node *node;
	uint32_t row;
	const char *side; /* "inputs" or "outputs" */
};

/* ---- lengths ---- */

static void check_lengths(const struct args *a, const struct ht_et_io *io)
{
	const struct ht_et *et = a->c->et;
	const uint32_t ids[] = { io->values, io->shapes, io->types, io->strides };
	static const char *const names[] = { "values", "shapes", "types", "strides" };
	size_t counts[4];
	bool is_triton = !strcmp(ht_et_str(et, a->node->kernel_backend), "triton");
	for (size_t i = 0; i < 4; i++)
		counts[i] = ht_et_list_count(ht_et_str(et, ids[i]));
	for (size_t i = 1; i < 4; i++) {
		if (counts[i] == counts[0] || (i == 3 && ids[i] == HT_ET_NO_STR))
			continue;
		bool known = i == 3 && is_triton && counts[i] + 1 == counts[0];
		ht_et_report(a->c, HT_ET020, known ? HT_ET_WARNING : HT_ET_ERROR, a->row,
		        "%s: %zu values but %zu %s%s", a->side, counts[0], counts[i], names[i],
		        known ? ", as the stream of a Triton launch has none" : "");
	}
}

/* ---- types ---- */

static size_t count_types(struct ht_et_piece types)
{
	struct ht_et_type_piece type;
	size_t n = 0;
	while (ht_et_type_next(&types, &type))
		n++;
	return n;
}

/* Lists and tuples inside each other: as many values and shapes as types, all the way down. */
static void check_type(const struct args *a, const struct ht_et_arg *arg, int depth)
{
	if (arg->type.kind == HT_ET_BAD_TYPE) {
		ht_et_report(a->c, HT_ET021, HT_ET_ERROR, a->row,
		        "%s: the brackets of type %.*s do not match", a->side,
		        (int)(arg->type.text.n < 80 ? arg->type.text.n : 80), arg->type.text.text);
		return;
	}
	if ((arg->type.kind != HT_ET_LIST && arg->type.kind != HT_ET_TUPLE) ||
	        depth >= HT_ET_MAX_NESTING)
		return;
	size_t n = count_types(arg->type.inner);
	const struct ht_et_piece pieces[] = { arg->value, arg->shape };
	for (size_t i = 0; i < 2; i++)
		if (pieces[i].text &&
		        (pieces[i].text[0] != '[' || ht_et_list_count(pieces[i].text) != n)) {
			ht_et_report(a->c, HT_ET021, HT_ET_ERROR, a->row,
			        "%s: argument %zu is a %s of %zu but has %zu %s", a->side,
			        arg->index, arg->type.kind == HT_ET_LIST ? "list" : "tuple", n,
			        ht_et_list_count(pieces[i].text), i ? "shapes" : "values");
			return;
		}
	struct ht_et_piece types = arg->type.inner;
	struct ht_et_list values = ht_et_list(arg->value.text),
	                  shapes = ht_et_list(arg->shape.text);
	struct ht_et_arg element = { .index = arg->index };
	while (ht_et_type_next(&types, &element.type)) {
		if (!ht_et_list_next(&values, &element.value))
			element.value = (struct ht_et_piece){ NULL, 0 };
		if (!ht_et_list_next(&shapes, &element.shape))
			element.shape = (struct ht_et_piece){ NULL, 0 };
		check_type(a, &element, depth + 1);
	}
}

static void check_types(const struct args *a, const struct ht_et_io *io)
{
	const struct ht_et *et = a->c->et;
	struct ht_et_list types = ht_et_list(ht_et_str(et, io->types));
	struct ht_et_list values = ht_et_list(ht_et_str(et, io->values));
	struct ht_et_list shapes = ht_et_list(ht_et_str(et, io->shapes));
	struct ht_et_piece text;
	for (size_t i = 0; ht_et_list_next(&types, &text); i++) {
		struct ht_et_arg arg = { .index = i };
		if (!ht_et_list_next(&values, &arg.value))
			arg.value = (struct ht_et_piece){ NULL, 0 };
		if (!ht_et_list_next(&shapes, &arg.shape))
			arg.shape = (struct ht_et_piece){ NULL, 0 };
		if (text.n < 2 || text.text[0] != '"') {
			ht_et_report(a->c, HT_ET021, HT_ET_ERROR, a->row,
			        "%s: type %zu is no string", a->side, i);
			continue;
		}
		struct ht_et_piece type = { text.text + 1, text.n - 2 };
		if (!ht_et_type_next(&type, &arg.type))
			continue;
		if (type.n || arg.type.kind == HT_ET_BAD_TYPE)
			arg.type.kind = HT_ET_BAD_TYPE;
		check_type(a, &arg, 0);
	}
}

/* ---- tensors ---- */

static uint64_t dtype_bytes(struct ht_et_piece dtype)
{
	for (size_t i = 0; i < HT_COUNT(dtypes); i++)
		if (strlen(dtypes[i].name) == dtype.n &&
		        !memcmp(dtypes[i].name, dtype.text, dtype.n))
			return dtypes[i].bytes;
	return 0;
}

/* The product of a list of sizes; false when it is no list of numbers. */
static bool product(const char *shape, uint64_t *ret_product)
{
	struct ht_et_list list = ht_et_list(shape);
	struct ht_et_piece size;
	uint64_t value = 1;
	if (!list.p)
		return false;
	while (ht_et_list_next(&list, &size)) {
		struct ht_number number = ht_number_parse(size.text);
		if (number.type != HT_NUMBER_I64 || number.i < 0 ||
		        __builtin_mul_overflow(value, (uint64_t)number.i, &value))
			return false;
	}
	*ret_product = value;
	return true;
}

static void check_sizes(
        const struct args *a, const struct ht_et_arg *arg, const struct ht_et_tensor *tensor)
{
	static const char uninitialised[] = "nullptr (uninitialized)";
	uint64_t elements, bytes = dtype_bytes(arg->type.inner);
	int n_dtype = (int)(arg->type.inner.n < 80 ? arg->type.inner.n : 80);
	if (tensor->storage && arg->shape.text && product(arg->shape.text, &elements) &&
	        elements != tensor->numel)
		ht_et_report(a->c, HT_ET023, HT_ET_ERROR, a->row,
		        "%s: tensor %llu has %llu elements but sizes of %llu", a->side,
		        (unsigned long long)tensor->id, (unsigned long long)tensor->numel,
		        (unsigned long long)elements);
	if (arg->type.inner.n == sizeof uninitialised - 1 &&
	        !memcmp(arg->type.inner.text, uninitialised, sizeof uninitialised - 1))
		return;
	if (!bytes)
		ht_et_report(a->c, HT_ET023, HT_ET_WARNING, a->row, "%s: dtype %.*s is unknown",
		        a->side, n_dtype, arg->type.inner.text);
	else if (tensor->storage && bytes != tensor->itemsize)
		ht_et_report(a->c, HT_ET023, HT_ET_ERROR, a->row,
		        "%s: an element of tensor %llu has %llu bytes, one of %.*s has %llu",
		        a->side, (unsigned long long)tensor->id,
		        (unsigned long long)tensor->itemsize, n_dtype, arg->type.inner.text,
		        (unsigned long long)bytes);
}

static bool check_tensor(void *user, const struct ht_et_arg *arg)
{
	const struct args *a = user;
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	if (!arg->value.text)
		return true;
	if (!ht_et_tensor_parse(arg->value.text, &tensor, &device, &n_fields)) {
		ht_et_report(a->c, HT_ET022, HT_ET_ERROR, a->row,
		        "%s: argument %zu is not [id, storage, offset, elements, bytes, device]",
		        a->side, arg->index);
		return true;
	}
	if (n_fields == 5)
		ht_et_report(a->c, HT_ET022, HT_ET_WARNING, a->row,
		        "%s: argument %zu has five fields, as in old files", a->side, arg->index);
	check_sizes(a, arg, &tensor);
	if (arg->stride.text && arg->shape.text &&
	        ht_et_list_count(arg->stride.text) != ht_et_list_count(arg->shape.text))
		ht_et_report(a->c, HT_ET024, HT_ET_WARNING, a->row,
		        "%s: argument %zu has %zu sizes but %zu strides", a->side, arg->index,
		        ht_et_list_count(arg->shape.text), ht_et_list_count(arg->stride.text));
	return true;
}

/* ---- addresses that are used again ---- */

struct use {
	uint64_t storage;
	struct ht_et_piece dtype;
	uint32_t row;
};

struct uses {
	struct ht_et_check *c;
	uint64_t *ids;
	uint32_t *order;
	struct use *list;
	size_t n, room;
	uint32_t row;
};

static bool add_use(void *user, const struct ht_et_arg *arg)
{
	struct uses *u = user;
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	if (!arg->value.text || !ht_et_tensor_parse(arg->value.text, &tensor, &device, &n_fields) ||
	        !tensor.storage || u->n == u->room)
		return true;
	u->ids[u->n] = tensor.id;
	u->order[u->n] = (uint32_t)u->n;
	u->list[u->n++] = (struct use){ tensor.storage, arg->type.inner, u->row };
	return true;
}

static bool is_same(const struct use *a, const struct use *b)
{
	return a->storage == b->storage && a->dtype.n == b->dtype.n &&
	       !memcmp(a->dtype.text, b->dtype.text, a->dtype.n);
}

static enum ht_status check_reuse(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	struct uses u = { .c = c, .room = et->tensors.n };
	u.ids = ht_arena_alloc(c->scratch, (u.room + 1) * sizeof *u.ids);
	u.order = ht_arena_alloc(c->scratch, (u.room + 1) * sizeof *u.order);
	u.list = ht_arena_alloc(c->scratch, (u.room + 1) * sizeof *u.list);
	if (!u.ids || !u.order || !u.list)
		return ht_fail_nomem(c->ctx);
	for (u.row = 0; u.row < ht_et_n(et); u.row++) {
		ht_et_each_tensor(et, &ht_et_nodes(et)[u.row].in, add_use, &u);
		ht_et_each_tensor(et, &ht_et_nodes(et)[u.row].out, add_use, &u);
	}
	if (!ht_sort_keys(c->ctx->mem, u.ids, u.order, u.n))
		return ht_fail_nomem(c->ctx);
	for (size_t i = 1, told = 0; i < u.n; i++) {
		const struct use *before = &u.list[u.order[i - 1]], *now = &u.list[u.order[i]];
		if (u.ids[i] != u.ids[i - 1])
			told = 0;
		else if (!told && !is_same(before, now)) {
			told = 1;
			ht_et_report(c, HT_ET025, HT_ET_WARNING, now->row,
			        "tensor id %llu now stands for another tensor: its address was used "
			        "again",
			        (unsigned long long)u.ids[i]);
		}
	}
	return HT_OK;
}

/* ---- precision ---- */

/* A default that six decimals print as zero. */
static bool is_tiny(struct ht_et_piece text)
{
	char digits[40];
	if (!text.text || !text.n || text.n >= sizeof digits)
		return false;
	memcpy(digits, text.text, text.n);
	digits[text.n] = '\0';
	/* whole numbers are zero or not tiny */
	struct ht_number number = ht_number_parse(digits);
	return number.type == HT_NUMBER_F64 && !*number.end && number.f != 0 &&
	       fabs(number.f) < 5e-7;
}

static void check_precision(struct ht_et_check *c, uint32_t row)
{
	const struct ht_et *et = c->et;
	const struct ht_et_node *node = &ht_et_nodes(et)[row];
	const char *text = ht_et_str(et, node->op_schema);
	/* a default in scientific notation, or very many zeros */
	if (!strstr(text, "=1e-") && !strstr(text, "=0.000000") && !strstr(text, "e-"))
		return;
	struct ht_et_schema schema = ht_et_schema_enter(text);
	struct ht_et_list values = ht_et_list(ht_et_str(et, node->in.values));
	struct ht_et_schema_arg arg;
	struct ht_et_piece value;
	while (ht_et_schema_next(&schema, &arg) && ht_et_list_next(&values, &value)) {
		bool is_zero = (value.n == 8 && !memcmp(value.text, "0.000000", 8)) ||
		               (value.n == 9 && !memcmp(value.text, "-0.000000", 9));
		if (is_zero && is_tiny(arg.default_value))
			ht_et_report(c, HT_ET026, HT_ET_INFO, row,
			        "%.*s is printed as zero; its default is %.*s", (int)arg.name.n,
			        arg.name.text, (int)arg.default_value.n, arg.default_value.text);
	}
}

enum ht_status ht_et_check_args(struct ht_et_check *c)
{
	const struct ht_et *et = c->et;
	if (et->format == HT_ET_CHAKRA)
		return HT_OK;
	for (uint32_t row = 0; row < ht_et_n(et); row++) {
		const struct ht_et_node *node = &ht_et_nodes(et)[row];
		struct args in = { c, node, row, "inputs" }, out = { c, node, row, "outputs" };
		check_lengths(&in, &node->in);
		check_lengths(&out, &node->out);
		check_types(&in, &node->in);
		check_types(&out, &node->out);
		ht_et_each_tensor(et, &node->in, check_tensor, &in);
		ht_et_each_tensor(et, &node->out, check_tensor, &out);
		check_precision(c, row);
	}
	return check_reuse(c);
}
