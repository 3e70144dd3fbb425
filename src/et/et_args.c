/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_args.c - see et_args.h.
 */
#include "et/et_args.h"

#include "base/checked.h"
#include "base/number.h"

#include <string.h>

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
		p++;
	return p;
}

/* Behind the string whose quote is at p. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Behind the value at p, at the latest at the NUL. */
static const char *skip_value(const char *p)
{
	size_t depth = 0;
	for (;;) {
		if (!*p)
			return p;
		if (*p == '"') {
			p = skip_string(p);
		} else if (*p == '[' || *p == '{') {
			depth++;
			p++;
			continue;
		} else if (*p == ']' || *p == '}') {
			if (!depth)
				return p;
			depth--;
			p++;
		} else if (depth) {
			p++;
			continue;
		} else {
			while (*p && *p != ',' && *p != ']' && *p != '}')
				p++;
			return p;
		}
		if (!depth)
			return p;
	}
}

struct ht_et_list ht_et_list(const char *text)
{
	const char *p = text ? skip_blanks(text) : NULL;
	return (struct ht_et_list){ p && *p == '[' ? p + 1 : NULL, NULL };
}

const char *ht_et_list_peek(struct ht_et_list *list)
{
	if (!list->p)
		return NULL;
	const char *p = skip_blanks(list->p);
	if (*p == ',')
		p = skip_blanks(p + 1);
	bool ends = !*p || *p == ']' || *p == '}';
	list->end = ends ? p : NULL;
	list->p = ends ? NULL : p;
	return list->p;
}

bool ht_et_list_next(struct ht_et_list *list, struct ht_et_piece *ret_element)
{
	const char *p = ht_et_list_peek(list);
	if (!p)
		return false;
	const char *end = skip_value(p), *last = end;
	while (last > p && (last[-1] == ' ' || last[-1] == '\n'))
		last--;
	*ret_element = (struct ht_et_piece){ p, (size_t)(last - p) };
	list->p = end;
	return true;
}

size_t ht_et_list_count(const char *text)
{
	struct ht_et_list list = ht_et_list(text);
	struct ht_et_piece piece;
	size_t n = 0;
	while (ht_et_list_next(&list, &piece))
		n++;
	return n;
}

/* ---- types ---- */

/* The end of the type at p: the comma at its own level, or the end of the text. Parentheses and square brackets
 * must match; angle brackets are the dtype's own business. */
static size_t type_end(const char *p, size_t n, bool *ret_balanced)
{
	char closing[HT_ET_MAX_NESTING];
	size_t depth = 0, i;
	*ret_balanced = true;
	for (i = 0; i < n; i++) {
		if (p[i] == '(' || p[i] == '[') {
			if (depth == HT_ET_MAX_NESTING) {
				*ret_balanced = false;
				return n;
			}
			closing[depth++] = p[i] == '(' ? ')' : ']';
		} else if (p[i] == ')' || p[i] == ']') {
			if (!depth || closing[depth - 1] != p[i]) {
				*ret_balanced = false;
				return n;
			}
			depth--;
		} else if (p[i] == ',' && !depth) {
			break;
		}
	}
	*ret_balanced = !depth;
	return i;
}

static bool starts(struct ht_et_piece text, const char *prefix, size_t n)
{
	return text.n > n && !memcmp(text.text, prefix, n);
}

bool ht_et_type_next(struct ht_et_piece *types, struct ht_et_type_piece *ret_type)
{
	static const struct {
		const char *prefix;
		size_t n;
		enum ht_et_type kind;
	} forms[] = { { "Tensor(", 7, HT_ET_TENSOR }, { "GenericList[", 12, HT_ET_LIST },
		{ "Tuple[", 6, HT_ET_TUPLE } };
	bool balanced;
	if (!types->n)
		return false;
	size_t n = type_end(types->text, types->n, &balanced);
	struct ht_et_type_piece type = { balanced ? HT_ET_SCALAR : HT_ET_BAD_TYPE,
		{ types->text, n }, { NULL, 0 } };
	for (size_t i = 0; balanced && i < HT_COUNT(forms); i++) {
		if (!starts(type.text, forms[i].prefix, forms[i].n))
			continue;
		type.kind = forms[i].kind;
		type.inner = (struct ht_et_piece){ type.text.text + forms[i].n,
			type.text.n - forms[i].n - 1 };
	}
	n += n < types->n;
	types->text += n;
	types->n -= n;
	*ret_type = type;
	return true;
}

/* ---- tensors ---- */

/* Behind the number at p; NULL when it is none or too large. */
static const char *parse_u64(const char *p, uint64_t *ret_value)
{
	const char *start = p;
	uint64_t value = 0;
	/* nineteen digits fit into 64 bits */
	for (; ht_is_digit(*p) && p - start < 19; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	for (; ht_is_digit(*p); p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		        __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return NULL;
	*ret_value = value;
	return p > start ? p : NULL;
}

const char *ht_et_tensor_parse(const char *text, struct ht_et_tensor *ret_tensor,
        struct ht_et_piece *ret_device, int *ret_n_fields)
{
	uint64_t fields[5];
	const char *p = text;
	if (*p++ != '[')
		return NULL;
	*ret_n_fields = 5;
	*ret_device = (struct ht_et_piece){ NULL, 0 };
	for (int i = 0; i < 5; i++) {
		p = parse_u64(skip_blanks(p), &fields[i]);
		if (!p)
			return NULL;
		p = skip_blanks(p);
		if (*p == ']' && i == 4)
			break;
		if (*p++ != ',')
			return NULL;
		if (i < 4)
			continue;
		p = skip_blanks(p);
		if (*p != '"')
			return NULL;
		const char *end = skip_string(p);
		*ret_device = (struct ht_et_piece){ p + 1, (size_t)(end - p) - 2 };
		*ret_n_fields = 6;
		if (end - p < 2 || *(p = skip_blanks(end)) != ']')
			return NULL;
	}
	*ret_tensor = (struct ht_et_tensor){ .id = fields[0],
		.storage = fields[1],
		.offset = fields[2],
		.numel = fields[3],
		.itemsize = fields[4],
		.device = HT_ET_NO_STR };
	return p + 1;
}

/* ---- walking ---- */

struct walk {
	ht_et_tensor_fn fn;
	void *user;
	bool stopped;
};

static struct ht_et_piece next_of(struct ht_et_list *list)
{
	struct ht_et_piece piece;
	return ht_et_list_next(list, &piece) ? piece : (struct ht_et_piece){ NULL, 0 };
}

static void walk_arg(struct walk *walk, const struct ht_et_arg *arg, int depth);

/* The elements of a list or tuple. */
static void walk_list(struct walk *walk, const struct ht_et_arg *arg, int depth)
{
	struct ht_et_piece types = arg->type.inner;
	struct ht_et_list values = ht_et_list(arg->value.text);
	struct ht_et_list shapes = ht_et_list(arg->shape.text);
	struct ht_et_list strides = ht_et_list(arg->stride.text);
	struct ht_et_arg element = { .index = arg->index };
	while (!walk->stopped && ht_et_type_next(&types, &element.type)) {
		element.value = next_of(&values);
		element.shape = next_of(&shapes);
		element.stride = next_of(&strides);
		walk_arg(walk, &element, depth + 1);
	}
}

static void walk_arg(struct walk *walk, const struct ht_et_arg *arg, int depth)
{
	if (arg->type.kind == HT_ET_TENSOR)
		walk->stopped = !walk->fn(walk->user, arg);
	else if ((arg->type.kind == HT_ET_LIST || arg->type.kind == HT_ET_TUPLE) &&
	         depth < HT_ET_MAX_NESTING)
		walk_list(walk, arg, depth);
}

void ht_et_each_tensor(
        const struct ht_et *et, const struct ht_et_io *io, ht_et_tensor_fn fn, void *user)
{
	struct walk walk = { fn, user, false };
	struct ht_et_list types = ht_et_list(ht_et_str(et, io->types));
	struct ht_et_list values = ht_et_list(ht_et_str(et, io->values));
	struct ht_et_list shapes = ht_et_list(ht_et_str(et, io->shapes));
	struct ht_et_list strides = ht_et_list(ht_et_str(et, io->strides));
	struct ht_et_piece text;
	for (size_t i = 0; !walk.stopped && ht_et_list_next(&types, &text); i++) {
		struct ht_et_arg arg = { .index = i };
		arg.value = next_of(&values);
		arg.shape = next_of(&shapes);
		arg.stride = next_of(&strides);
		if (text.n < 2 || text.text[0] != '"')
			continue;
		struct ht_et_piece type = { text.text + 1, text.n - 2 };
		if (ht_et_type_next(&type, &arg.type))
			walk_arg(&walk, &arg, 0);
	}
}
