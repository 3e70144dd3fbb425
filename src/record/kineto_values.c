/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kineto_values.c - arguments of a call as the profiler writes them into a timeline.
 *
 *   Input Dims       sizes of tensors and lists of tensors, [] for all else
 *   Input Strides    likewise
 *   Input type       "float", "TensorList", "Scalar", "ScalarList", ""
 *   Concrete Inputs  texts: "1", "True", "[2, 3]", and "" for tensors
 */
#include "record/values.h"

static bool is_list(const struct ht_value *v)
{
	return v->kind == HT_RECORD_LIST || v->kind == HT_RECORD_TUPLE;
}

static bool is_tensor(const struct ht_value *v)
{
	return v->kind == HT_RECORD_TENSOR || v->kind == HT_RECORD_UNDEFINED;
}

static const struct ht_value *skip(const struct ht_value *v)
{
	const struct ht_value *next = v + 1;
	for (uint32_t i = 0; is_list(v) && i < v->n; i++)
		next = skip(next);
	return next;
}

static bool is_tensor_list(const struct ht_value *v)
{
	return is_list(v) && v->n && is_tensor(v + 1);
}

static void emit_tensor_dims(struct ht_emit *emit, const struct ht_value *v, const int64_t *dims)
{
	ht_emit_char(emit, '[');
	for (uint32_t i = 0; v->kind == HT_RECORD_TENSOR && i < v->n; i++) {
		if (i)
			ht_emit_char(emit, ',');
		ht_emit_i64(emit, dims[i]);
	}
	ht_emit_char(emit, ']');
}

static void emit_dims(
        struct ht_emit *emit, const struct ht_value *v, const int64_t *dims, bool strides)
{
	const struct ht_value *item = is_tensor_list(v) ? v + 1 : v;
	uint32_t n = is_tensor_list(v) ? v->n : 1;
	if (item != v)
		ht_emit_char(emit, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			ht_emit_char(emit, ',');
		bool sized = item->kind == HT_RECORD_TENSOR && item->n;
		emit_tensor_dims(
		        emit, item, sized ? dims + item->i_dims + (strides ? item->n : 0) : NULL);
		item = skip(item);
	}
	if (is_tensor_list(v))
		ht_emit_char(emit, ']');
}

static void emit_type(struct ht_emit *emit, const struct ht_value *v, const struct ht_image *image)
{
	if (v->kind == HT_RECORD_TENSOR) {
		struct ht_name name = ht_image_name(image, v->type);
		ht_emit_char(emit, '"');
		ht_emit_text(emit, name.bytes, name.n);
		ht_emit_char(emit, '"');
	} else if (is_tensor_list(v)) {
		HT_EMIT(emit, "\"TensorList\"");
	} else if (is_list(v)) {
		HT_EMIT(emit, "\"ScalarList\"");
	} else if (v->kind == HT_RECORD_INT || v->kind == HT_RECORD_BOOL ||
	           v->kind == HT_RECORD_DOUBLE) {
		HT_EMIT(emit, "\"Scalar\"");
	} else {
		HT_EMIT(emit, "\"\"");
	}
}

/* A number as text inside a string. */
static void emit_scalar(struct ht_emit *emit, const struct ht_value *v)
{
	if (v->kind == HT_RECORD_INT)
		ht_emit_i64(emit, v->integer);
	else if (v->kind == HT_RECORD_BOOL)
		v->truth ? HT_EMIT(emit, "True") : HT_EMIT(emit, "False");
	else if (v->kind == HT_RECORD_DOUBLE && v->real - v->real == 0)
		ht_emit_f64(emit, v->real);
}

static void emit_concrete(
        struct ht_emit *emit, const struct ht_values *values, const struct ht_value *v)
{
	ht_emit_char(emit, '"');
	if (v->kind == HT_RECORD_STRING) {
		const char *text =
		        v->escaped ? (const char *)values->escaped.data + v->offset : v->bytes;
		ht_emit_text(emit, text, v->n);
	} else if (is_list(v) && !is_tensor_list(v)) {
		const struct ht_value *item = v + 1;
		ht_emit_char(emit, '[');
		for (uint32_t i = 0; i < v->n; i++, item = skip(item)) {
			if (i)
				HT_EMIT(emit, ", ");
			emit_scalar(emit, item);
		}
		ht_emit_char(emit, ']');
	} else {
		emit_scalar(emit, v);
	}
	ht_emit_char(emit, '"');
}

enum part { DIMS, STRIDES, TYPES, CONCRETE };

static void emit_part(struct ht_emit *emit, const struct ht_values *values, enum part part)
{
	const struct ht_value *v = values->list.data;
	ht_emit_char(emit, '[');
	for (size_t i = 0; i < values->n_top; i++, v = skip(v)) {
		if (i)
			ht_emit_char(emit, ',');
		switch (part) {
		case DIMS:
		case STRIDES: emit_dims(emit, v, values->dims.data, part == STRIDES); break;
		case TYPES: emit_type(emit, v, values->image); break;
		case CONCRETE: emit_concrete(emit, values, v); break;
		}
	}
	ht_emit_char(emit, ']');
}

void ht_values_emit_kineto(struct ht_emit *emit, const struct ht_values *values)
{
	HT_EMIT(emit, ",\"Input Dims\":");
	emit_part(emit, values, DIMS);
	HT_EMIT(emit, ",\"Input Strides\":");
	emit_part(emit, values, STRIDES);
	HT_EMIT(emit, ",\"Input type\":");
	emit_part(emit, values, TYPES);
	HT_EMIT(emit, ",\"Concrete Inputs\":");
	emit_part(emit, values, CONCRETE);
}
