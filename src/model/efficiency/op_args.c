/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_args.c - see op_args.h.
 */
#include "model/efficiency/op_args.h"

#include "base/checked.h"
#include "json/json_text.h"

#include <string.h>

static bool enter(const char *text, struct ht_json *ret_items)
{
	/* a text of the trace may be anything, and the reader takes only what is JSON */
	if (!text || !ht_json_valid(text, strlen(text)))
		return false;
	struct ht_json reader = { text };
	struct ht_json_value list = ht_json_next(&reader);
	if (list.type != HT_JSON_ARRAY)
		return false;
	*ret_items = ht_json_enter(&list);
	return true;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Sizes of one tensor; false when an element of the list is a list itself. */
static bool read_sizes(const struct ht_json_value *list, struct ht_op_tensor *tensor)
{
	struct ht_json items = ht_json_enter(list);
	struct ht_json_value item;
	int64_t size;
	tensor->n_dims = 0;
	while (ht_json_element(&items, &item)) {
		if (item.type == HT_JSON_ARRAY)
			return false;
		bool fits = tensor->n_dims < HT_OP_MAX_DIMS && ht_json_i64(&item, &size);
		tensor->is_bad |= !fits || size < 0 || size > HT_OP_MAX_DIM;
		if (fits)
			tensor->dims[tensor->n_dims++] = size;
	}
	return true;
}

static void count_elements(struct ht_op_tensor *tensor)
{
	tensor->n_elements = tensor->n_unique = 1;
	for (size_t k = 0; k < tensor->n_dims && !tensor->is_bad; k++) {
		uint64_t size = (uint64_t)tensor->dims[k];
		bool expanded = tensor->has_strides && tensor->strides[k] == 0 && size > 0;
		tensor->n_elements = multiply(tensor->n_elements, size);
		tensor->n_unique = multiply(tensor->n_unique, expanded ? 1 : size);
	}
}

/* Sizes of a list of tensors: what they have together. */
static void read_list(const struct ht_json_value *list, struct ht_op_tensor *tensor)
{
	struct ht_json items = ht_json_enter(list);
	struct ht_json_value item;
	uint64_t sum = 0, matrices = 0;
	while (ht_json_element(&items, &item)) {
		struct ht_op_tensor one = { 0 };
		one.is_bad = item.type != HT_JSON_ARRAY || !read_sizes(&item, &one);
		count_elements(&one);
		tensor->is_bad |= one.is_bad || __builtin_add_overflow(sum, one.n_elements, &sum);
		matrices += one.n_dims > 1 ? one.n_elements : 0; /* no more than the sum */
	}
	tensor->is_list = tensor->is_tensor = true;
	tensor->n_dims = 0;
	tensor->n_elements = tensor->n_unique = sum;
	tensor->n_matrix = matrices;
}

static void read_dims(const char *text, struct ht_op_args *args)
{
	struct ht_json items;
	struct ht_json_value item;
	if (!enter(text, &items))
		return;
	args->has_dims = true;
	while (args->n < HT_OP_MAX_ARGS && ht_json_element(&items, &item)) {
		struct ht_op_tensor *tensor = &args->list[args->n++];
		if (item.type != HT_JSON_ARRAY)
			continue;
		if (!read_sizes(&item, tensor))
			read_list(&item, tensor);
		else
			tensor->is_tensor = tensor->n_dims > 0;
	}
}

static void read_types(const char *text, struct ht_op_args *args)
{
	struct ht_json items;
	struct ht_json_value item;
	if (!enter(text, &items))
		return;
	for (size_t i = 0; i < args->n && ht_json_element(&items, &item); i++) {
		struct ht_op_tensor *tensor = &args->list[i];
		tensor->dtype = item.type == HT_JSON_STRING && item.n >= 2
		                        ? (uint8_t)ht_dtype_of(item.text + 1, item.n - 2)
		                        : HT_DTYPE_UNKNOWN;
		tensor->is_tensor |= tensor->dtype != HT_DTYPE_UNKNOWN;
	}
}

static void read_strides(const char *text, struct ht_op_args *args)
{
	struct ht_json items;
	struct ht_json_value item;
	if (!enter(text, &items))
		return;
	for (size_t i = 0; i < args->n && ht_json_element(&items, &item); i++) {
		struct ht_op_tensor *tensor = &args->list[i], strides = { 0 };
		if (item.type != HT_JSON_ARRAY || tensor->is_list || !read_sizes(&item, &strides))
			continue;
		tensor->has_strides = strides.n_dims == tensor->n_dims && !strides.is_bad;
		memcpy(tensor->strides, strides.dims, sizeof tensor->strides);
	}
}

static void read_concrete(const char *text, struct ht_op_args *args)
{
	struct ht_json items;
	struct ht_json_value item;
	if (!enter(text, &items))
		return;
	for (size_t i = 0; i < args->n && ht_json_element(&items, &item); i++) {
		bool is_text = item.type == HT_JSON_STRING && item.n > 2;
		args->list[i].concrete = is_text ? item.text + 1 : NULL;
		args->list[i].n_concrete = is_text ? item.n - 2 : 0;
	}
}

void ht_op_args_read(const struct ht_op_texts *texts, struct ht_op_args *ret_args)
{
	memset(ret_args, 0, sizeof *ret_args);
	read_dims(texts->dims, ret_args);
	read_types(texts->types, ret_args);
	read_strides(texts->strides, ret_args);
	read_concrete(texts->concrete, ret_args);
	for (size_t i = 0; i < ret_args->n; i++)
		if (!ret_args->list[i].is_list)
			count_elements(&ret_args->list[i]);
}

/* ---- asking ---- */

const struct ht_op_tensor *ht_op_tensor(const struct ht_op_args *args, int i, int n_dims)
{
	if (i < 0 || (size_t)i >= args->n)
		return NULL;
	const struct ht_op_tensor *tensor = &args->list[i];
	return tensor->is_tensor && !tensor->is_list && !tensor->is_bad &&
	                       (n_dims < 0 || tensor->n_dims == n_dims)
	               ? tensor
	               : NULL;
}

static const char *concrete(const struct ht_op_args *args, int i)
{
	return i >= 0 && (size_t)i < args->n ? args->list[i].concrete : NULL;
}

int64_t ht_op_int(const struct ht_op_args *args, int i, int64_t fallback)
{
	const char *text = concrete(args, i);
	struct ht_number number = { 0 };
	if (text)
		number = ht_number_parse(text);
	return number.type == HT_NUMBER_I64 ? number.i : fallback;
}

bool ht_op_bool(const struct ht_op_args *args, int i, bool fallback)
{
	const char *text = concrete(args, i);
	return !text || (*text != 'T' && *text != 'F') ? fallback : *text == 'T';
}

size_t ht_op_ints(const struct ht_op_args *args, int i, int64_t *ret_values, size_t max)
{
	const char *text = concrete(args, i);
	size_t n = 0;
	if (!text || *text != '[')
		return 0;
	const char *end = text + args->list[i].n_concrete;
	for (const char *p = text + 1; p < end && *p != ']' && n < max;) {
		if (*p == ' ' || *p == ',') {
			p++;
			continue;
		}
		struct ht_number number = ht_number_parse(p);
		if (*p != 'T' && *p != 'F' && number.type != HT_NUMBER_I64)
			return 0;
		ret_values[n++] = *p == 'T' ? 1 : *p == 'F' ? 0 : number.i;
		while (p < end && *p != ',' && *p != ']')
			p++;
	}
	return n;
}
