/*
 * et_tensors.c - the tensors that a node takes and gives, found by the types of its arguments.
 *
 * A list of types is looked at once: where it names tensors among its first 64 arguments, those values are parsed
 * in place; tensors inside of lists are found by walking types and values together.
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

static bool tell_tensor(void *user, const struct ht_et_arg *arg)
{
	struct ht_et_reader *r = user;
	if (arg->value.text)
		add_tensor(r, arg->value.text);
	return !r->out_of_memory;
}

/* Where an interned list of types names tensors; looked at once. */
static struct ht_et_type_list look_at_types(const char *types)
{
	struct ht_et_type_list known = { .state = 1 };
	struct ht_et_list list = ht_et_list(types);
	struct ht_et_piece type;
	if (!strstr(types, "Tensor("))
		return known;
	known.state = 3;
	for (size_t i = 0; ht_et_list_next(&list, &type); i++) {
		bool is_tensor = type.n > 8 && !memcmp(type.text, "\"Tensor(", 8);
		if (is_tensor && i < 64)
			known.mask |= (uint64_t)1 << i;
		else if (is_tensor ||
		         (type.n > 1 && memmem(type.text + 1, type.n - 1, "Tensor(", 7)))
			known.state = 2;
	}
	return known;
}

static const struct ht_et_type_list *type_list(struct ht_et_reader *r, uint32_t types)
{
	static const struct ht_et_type_list none = { .state = 1 };
	if (types == HT_ET_NO_STR)
		return &none;
	if (types >= r->lists.n) {
		size_t extra = types + 1 - r->lists.n;
		if (!ht_vec_reserve(r->ctx->mem, &r->lists, sizeof none, extra)) {
			r->out_of_memory = true;
			return &none;
		}
		memset((struct ht_et_type_list *)r->lists.data + r->lists.n, 0,
		        extra * sizeof none);
		r->lists.n += extra;
	}
	struct ht_et_type_list *known = (struct ht_et_type_list *)r->lists.data + types;
	if (!known->state)
		*known = look_at_types(ht_et_str(r->et, types));
	return known;
}

/* Tensors at the places of a mask. */
static void add_tensors_at(struct ht_et_reader *r, const char *values, uint64_t mask)
{
	struct ht_et_list list = ht_et_list(values);
	struct ht_et_piece skipped;
	for (; mask && ht_et_list_peek(&list) && !r->out_of_memory; mask >>= 1) {
		const char *end = mask & 1 ? add_tensor(r, list.p) : NULL;
		if (end)
			list.p = end;
		else
			(void)ht_et_list_next(&list, &skipped);
	}
}

/* Tensors of the inputs or the outputs; their number. */
static uint32_t add_tensors_of(struct ht_et_reader *r, const struct ht_et_io *io)
{
	const struct ht_et_type_list *known = type_list(r, io->types);
	size_t n_before = r->et->tensors.n;
	if (known->state == 2) {
		/* shapes and strides are not needed here */
		struct ht_et_io only = { io->values, HT_ET_NO_STR, io->types, HT_ET_NO_STR };
		ht_et_each_tensor(r->et, &only, tell_tensor, r);
	} else if (known->state == 3) {
		add_tensors_at(r, ht_et_str(r->et, io->values), known->mask);
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
