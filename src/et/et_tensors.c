/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_tensors.c - the tensors that a node takes and gives, found by the types of its arguments.
 *
 * Types repeat, so a list of types is taken apart once, into the steps that lead to its tensors; each node's values
 * are then walked by these steps.
 */
#include "et/et_args.h"
#include "et/et_reader.h"

#include <string.h>

/* Behind the tensor; NULL when it is none. */
static const char *add_tensor(struct ht_et_reader *r, const char *value)
{
	struct ht_et_tensor tensor;
	struct ht_et_piece device;
	int n_fields;
	const char *end = ht_et_tensor_parse(value, &tensor, &device, &n_fields);
	if (!end)
		return NULL;
	uint32_t known = r->last_device;
	if (device.text && known != HT_ET_NO_STR && ht_et_str_len(r->et, known) == device.n &&
	        !memcmp(ht_et_str(r->et, known), device.text, device.n))
		tensor.device = known;
	else if (device.text && !ht_et_intern(r->et, device.text, device.n, &tensor.device))
		r->out_of_memory = true;
	r->last_device = tensor.device;
	if (!HT_VEC_PUSH(r->et->mem, &r->et->tensors, struct ht_et_tensor, tensor))
		r->out_of_memory = true;
	return end;
}

/* ---- what a list of types asks for ---- */

/* Steps through a list of values: a tensor, something else, into a list and out of it. */
enum step { END = 0, TENSOR = 'T', OTHER = 'x', ENTER = '[', LEAVE = ']' };

static void add_step(struct ht_et_reader *r, char step)
{
	if (!HT_VEC_PUSH(r->ctx->mem, &r->steps, char, step))
		r->out_of_memory = true;
}

/* What a type asks for: lists are entered only for the tensors in them. */
static void add_type(struct ht_et_reader *r, const struct ht_et_type_piece *type, int depth)
{
	struct ht_et_piece types = type->inner;
	struct ht_et_type_piece inner;
	bool is_list = type->kind == HT_ET_LIST || type->kind == HT_ET_TUPLE;
	if (type->kind == HT_ET_TENSOR) {
		add_step(r, TENSOR);
	} else if (is_list && depth < HT_ET_MAX_NESTING &&
	           memmem(types.text, types.n, "Tensor(", 7)) {
		add_step(r, ENTER);
		while (ht_et_type_next(&types, &inner))
			add_type(r, &inner, depth + 1);
		add_step(r, LEAVE);
	} else {
		add_step(r, OTHER);
	}
}

/* The steps for a list of types; their place among all steps. */
static uint32_t compile(struct ht_et_reader *r, const char *types)
{
	struct ht_et_list list = ht_et_list(types);
	struct ht_et_piece text;
	size_t first = r->steps.n;
	bool any = strstr(types, "Tensor(") != NULL;
	while (any && ht_et_list_next(&list, &text)) {
		struct ht_et_type_piece type = { .kind = HT_ET_SCALAR };
		struct ht_et_piece inner = { text.text + 1, text.n - 1 };
		if (text.n >= 2 && text.text[0] == '"') {
			inner.n--;
			(void)ht_et_type_next(&inner, &type);
		}
		add_type(r, &type, 0);
	}
	/* nothing is asked of what stands behind the last tensor */
	while (r->steps.n > first && ((const char *)r->steps.data)[r->steps.n - 1] == OTHER)
		r->steps.n--;
	add_step(r, END);
	return (uint32_t)first;
}

/* The steps for an interned list of types, made once. NULL: none. */
static const char *steps_of(struct ht_et_reader *r, uint32_t types)
{
	if (types == HT_ET_NO_STR)
		return NULL;
	if (types >= r->lists.n) {
		size_t extra = types + 1 - r->lists.n;
		if (!ht_vec_reserve(r->ctx->mem, &r->lists, sizeof(uint32_t), extra)) {
			r->out_of_memory = true;
			return NULL;
		}
		memset((uint32_t *)r->lists.data + r->lists.n, 0, extra * sizeof(uint32_t));
		r->lists.n += extra;
	}
	uint32_t *first_1 = (uint32_t *)r->lists.data + types;
	if (!*first_1)
		*first_1 = compile(r, ht_et_str(r->et, types)) + 1;
	return r->out_of_memory ? NULL : (const char *)r->steps.data + *first_1 - 1;
}

/* ---- values ---- */

/* Take the steps of one list; behind its last step. The list ends where it does: what is missing is not there. */
static const char *walk(struct ht_et_reader *r, const char *step, struct ht_et_list *list)
{
	struct ht_et_piece skipped;
	for (; *step != END && *step != LEAVE; step++) {
		const char *at = ht_et_list_peek(list), *end = NULL;
		if (*step == TENSOR && at) {
			end = add_tensor(r, at);
		} else if (*step == ENTER) {
			struct ht_et_list inner = ht_et_list(at);
			step = walk(r, step + 1, &inner);
			while (ht_et_list_next(&inner, &skipped))
				;
			end = inner.end && *inner.end == ']' ? inner.end + 1 : NULL;
		}
		if (end)
			list->p = end;
		else if (at)
			(void)ht_et_list_next(list, &skipped);
	}
	return step;
}

/* Tensors of the inputs or the outputs; their number. */
static uint32_t add_tensors_of(struct ht_et_reader *r, const struct ht_et_io *io)
{
	const char *steps = steps_of(r, io->types);
	size_t n_before = r->et->tensors.n;
	if (steps && *steps != END) {
		struct ht_et_list list = ht_et_list(ht_et_str(r->et, io->values));
		(void)walk(r, steps, &list);
	}
	return (uint32_t)(r->et->tensors.n - n_before);
}

bool ht_et_add_tensors(struct ht_et_reader *r, struct ht_et_node *node, uint32_t row)
{
	const struct ht_vec *tensors = &r->et->tensors;
	size_t first = tensors->n;
	node->first_tensor = (uint32_t)first;
	node->n_in = add_tensors_of(r, &node->in);
	node->n_out = add_tensors_of(r, &node->out);
	for (size_t i = first; i < tensors->n; i++)
		((struct ht_et_tensor *)tensors->data)[i].node = row;
	return !r->out_of_memory;
}
