/*
 * values.c - see values.h.
 */
#include "record/values.h"

#include "record/stream.h"
#include "table/utf8.h"

#include <math.h>
#include <stdio.h>

static bool read_tensor(struct ht_values *values, struct ht_bytes *bytes, uint8_t bits, size_t i)
{
	struct ht_value *v = (struct ht_value *)values->list.data + i;
	bool has_storage = (bits & HT_TENSOR_STORAGE) != 0;
	v->object = ht_get_u64(bytes);
	v->storage = has_storage ? ht_get_u64(bytes) : 0;
	v->offset = has_storage ? ht_get_i64(bytes) : 0;
	v->item_bytes = ht_get_u64(bytes);
	v->type = ht_get_u64(bytes);
	v->device = ht_get_u64(bytes);
	uint64_t n = ht_get_u64(bytes);
	if (n > HT_TENSOR_DIMS)
		bytes->bad = true;
	v->n = bytes->bad ? 0 : (uint32_t)n;
	v->i_dims = values->dims.n;
	if (!ht_vec_reserve(values->mem, &values->dims, sizeof(int64_t), 2 * (size_t)v->n))
		return false;
	int64_t *dims = (int64_t *)values->dims.data + values->dims.n, *strides = dims + v->n;
	values->dims.n += 2 * (size_t)v->n;
	for (uint32_t j = 0; j < v->n; j++)
		dims[j] = ht_get_i64(bytes);
	uint64_t product = 1; /* unsigned: a damaged file may hold anything */
	for (uint32_t j = v->n; j-- > 0;) {
		strides[j] = (int64_t)product;
		product *= (uint64_t)dims[j];
	}
	for (uint32_t j = 0; bits & HT_TENSOR_STRIDES && j < v->n; j++)
		strides[j] = ht_get_i64(bytes);
	v->n_elements = bits & HT_TENSOR_COUNT ? ht_get_i64(bytes) : (int64_t)product;
	return true;
}

static bool read_list(struct ht_values *values, struct ht_bytes *bytes, unsigned depth, uint64_t n,
        uint32_t *ret_n);

/* Only what its kind has is set; see emit_tensor for what an undefined tensor has. */
static bool read_value(struct ht_values *values, struct ht_bytes *bytes, unsigned depth)
{
	if (!ht_vec_reserve(values->mem, &values->list, sizeof(struct ht_value), 1))
		return false;
	size_t i = values->list.n++;
	struct ht_value *v = (struct ht_value *)values->list.data + i;
	uint8_t tag = ht_get_byte(bytes);
	uint32_t n = 0;
	v->kind = tag & 15;
	v->truth = (tag & HT_VALUE_TRUE) != 0;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_INT: v->integer = ht_get_i64(bytes); break;
	case HT_RECORD_DOUBLE: {
		const void *raw = ht_get_raw(bytes, sizeof v->real);
		v->real = 0;
		if (raw)
			memcpy(&v->real, raw, sizeof v->real);
		break;
	}
	case HT_RECORD_STRING:
		n = (uint32_t)ht_get_u64(bytes);
		v->bytes = ht_get_raw(bytes, n);
		v->n = v->bytes ? n : 0;
		break;
	case HT_RECORD_DEVICE:
	case HT_RECORD_OTHER: v->name = ht_get_u64(bytes); break;
	case HT_RECORD_UNDEFINED:
		*v = (struct ht_value){ .kind = HT_RECORD_UNDEFINED, .object = ht_get_u64(bytes) };
		break;
	case HT_RECORD_TENSOR: return read_tensor(values, bytes, tag, i);
	case HT_RECORD_LIST:
	case HT_RECORD_TUPLE:
		if (!read_list(values, bytes, depth, ht_get_u64(bytes), &n))
			return false;
		((struct ht_value *)values->list.data)[i].n = n;
		break;
	case HT_RECORD_NONE:
	case HT_RECORD_BOOL: break;
	default: v->kind = HT_RECORD_NONE; bytes->bad = true;
	}
	return true;
}

static bool read_list(struct ht_values *values, struct ht_bytes *bytes, unsigned depth, uint64_t n,
        uint32_t *ret_n)
{
	uint32_t i = 0;
	if (depth > HT_VALUE_DEPTH)
		bytes->bad = true;
	for (; i < n && !bytes->bad; i++)
		if (!read_value(values, bytes, depth + 1))
			return false;
	*ret_n = i;
	return true;
}

bool ht_values_read(struct ht_values *values, struct ht_bytes *bytes)
{
	values->list.n = values->dims.n = 0;
	uint32_t n = 0;
	bool done = read_list(values, bytes, 0, ht_get_u64(bytes), &n);
	values->n_top = n;
	return done;
}

void ht_values_done(struct ht_values *values)
{
	ht_vec_free(values->mem, &values->list, sizeof(struct ht_value));
	ht_vec_free(values->mem, &values->dims, sizeof(int64_t));
}

void ht_emit_fixed(struct ht_emit *emit, double value, bool exact)
{
	char text[400];
	if (isnan(value) && signbit(value))
		HT_EMIT(emit, "\"-nan\"");
	else if (exact || !isfinite(value))
		ht_emit_f64(emit, value);
	else
		ht_emit_text(emit, text, (size_t)snprintf(text, sizeof text, "%f", value));
}

void ht_emit_any(struct ht_emit *emit, const char *bytes, size_t n)
{
	char piece[3 * 256];
	if (!n || ht_utf8_valid(bytes, n)) {
		ht_emit_string(emit, bytes, n);
		return;
	}
	ht_emit_char(emit, '"');
	for (size_t at = 0; at < n;) {
		size_t step = n - at < 256 ? n - at : 256;
		/* Not in the middle of a character. */
		while (step > 1 && at + step < n && ((unsigned char)bytes[at + step] & 0xc0) == 0x80)
			step--;
		ht_emit_escaped(emit, piece, ht_utf8_repair(bytes + at, step, piece));
		at += step;
	}
	ht_emit_char(emit, '"');
}

static void emit_name(struct ht_emit *emit, const struct ht_value_style *style, uint64_t number)
{
	struct ht_name name = ht_image_name(style->image, number);
	ht_emit_text(emit, name.bytes, name.n);
}

/* At most 20 bytes. Most numbers here have one digit or two. */
static inline char *put_number(char *at, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[20];
	unsigned n = 0;
	if (value < 0)
		*at++ = '-';
	while (left >= 10) {
		digits[n++] = (char)('0' + left % 10);
		left /= 10;
	}
	*at++ = (char)('0' + left);
	while (n)
		*at++ = digits[--n];
	return at;
}

static void emit_tensor(
        struct ht_emit *emit, const struct ht_value *v, const struct ht_value_style *style)
{
	char *start = ht_emit_room(emit), *at = start;
	*at++ = '[';
	at = put_number(at, (int64_t)v->object_id);
	*at++ = ',';
	at = put_number(at, (int64_t)v->storage_id);
	*at++ = ',';
	emit->n += (size_t)(at - start);
	start = at = ht_emit_room(emit);
	at = put_number(at, v->offset);
	*at++ = ',';
	at = put_number(at, v->n_elements);
	*at++ = ',';
	emit->n += (size_t)(at - start);
	start = at = ht_emit_room(emit);
	at = put_number(at, (int64_t)v->item_bytes);
	*at++ = ',';
	*at++ = '"';
	emit->n += (size_t)(at - start);
	emit_name(emit, style, v->device);
	HT_EMIT(emit, "\"]");
}

/* One value, and where the next one stands. */
static const struct ht_value *emit_value(
        struct ht_emit *emit, const struct ht_value *v, const struct ht_value_style *style)
{
	const struct ht_value *next = v + 1;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_NONE: HT_EMIT(emit, "\"<None>\""); break;
	case HT_RECORD_INT: ht_emit_i64(emit, v->integer); break;
	case HT_RECORD_BOOL: v->truth ? HT_EMIT(emit, "true") : HT_EMIT(emit, "false"); break;
	case HT_RECORD_DOUBLE: ht_emit_fixed(emit, v->real, style->exact_doubles); break;
	case HT_RECORD_STRING: ht_emit_any(emit, v->bytes, v->n); break;
	case HT_RECORD_DEVICE:
		ht_emit_char(emit, '"');
		emit_name(emit, style, v->name);
		ht_emit_char(emit, '"');
		break;
	case HT_RECORD_OTHER:
		HT_EMIT(emit, "\"<");
		emit_name(emit, style, v->name);
		HT_EMIT(emit, ">\"");
		break;
	case HT_RECORD_UNDEFINED:
	case HT_RECORD_TENSOR: emit_tensor(emit, v, style); break;
	case HT_RECORD_LIST:
	case HT_RECORD_TUPLE:
		ht_emit_char(emit, '[');
		for (uint32_t i = 0; i < v->n; i++) {
			if (i)
				ht_emit_char(emit, ',');
			next = emit_value(emit, next, style);
		}
		ht_emit_char(emit, ']');
		break;
	}
	return next;
}

/* Sizes or strides: dims points at the sizes, and strides follow each tensor's sizes. */
static const struct ht_value *emit_dims(
        struct ht_emit *emit, const struct ht_value *v, const int64_t *dims, bool strides)
{
	const struct ht_value *next = v + 1;
	ht_emit_char(emit, '[');
	if (v->kind == HT_RECORD_TENSOR && v->n) {
		const int64_t *sizes = dims + v->i_dims + (strides ? v->n : 0);
		for (uint32_t i = 0; i < v->n; i++) {
			char *start = ht_emit_room(emit), *at = put_number(start, sizes[i]);
			*at = ','; /* replaced by the bracket after the last */
			emit->n += (size_t)(at - start) + (i + 1 < v->n);
		}
	} else if (v->kind == HT_RECORD_LIST || v->kind == HT_RECORD_TUPLE) {
		for (uint32_t i = 0; i < v->n; i++) {
			if (i)
				ht_emit_char(emit, ',');
			next = emit_dims(emit, next, dims, strides);
		}
	}
	ht_emit_char(emit, ']');
	return next;
}

static const struct ht_value *emit_type(
        struct ht_emit *emit, const struct ht_value *v, const struct ht_value_style *style)
{
	const struct ht_value *next = v + 1;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_NONE: HT_EMIT(emit, "None"); break;
	case HT_RECORD_INT: HT_EMIT(emit, "Int"); break;
	case HT_RECORD_BOOL: HT_EMIT(emit, "Bool"); break;
	case HT_RECORD_DOUBLE: HT_EMIT(emit, "Double"); break;
	case HT_RECORD_STRING: HT_EMIT(emit, "String"); break;
	case HT_RECORD_DEVICE: HT_EMIT(emit, "Device"); break;
	case HT_RECORD_OTHER: emit_name(emit, style, v->name); break;
	case HT_RECORD_UNDEFINED: HT_EMIT(emit, "Tensor(nullptr (uninitialized))"); break;
	case HT_RECORD_TENSOR:
		HT_EMIT(emit, "Tensor(");
		emit_name(emit, style, v->type);
		ht_emit_char(emit, ')');
		break;
	case HT_RECORD_LIST:
	case HT_RECORD_TUPLE:
		v->kind == HT_RECORD_LIST ? HT_EMIT(emit, "GenericList[") : HT_EMIT(emit, "Tuple[");
		for (uint32_t i = 0; i < v->n; i++) {
			if (i)
				ht_emit_char(emit, ',');
			next = emit_type(emit, next, style);
		}
		ht_emit_char(emit, ']');
		break;
	}
	return next;
}

void ht_values_emit(struct ht_emit *emit, const struct ht_values *values,
        const struct ht_value_style *style)
{
	const struct ht_value *v = values->list.data;
	ht_emit_char(emit, '[');
	for (size_t i = 0; i < values->n_top; i++) {
		if (i)
			ht_emit_char(emit, ',');
		v = emit_value(emit, v, style);
	}
	ht_emit_char(emit, ']');
}

static void emit_all_dims(struct ht_emit *emit, const struct ht_values *values, bool strides)
{
	const struct ht_value *v = values->list.data;
	ht_emit_char(emit, '[');
	for (size_t i = 0; i < values->n_top; i++) {
		if (i)
			ht_emit_char(emit, ',');
		v = emit_dims(emit, v, values->dims.data, strides);
	}
	ht_emit_char(emit, ']');
}

void ht_values_emit_shapes(struct ht_emit *emit, const struct ht_values *values)
{
	emit_all_dims(emit, values, false);
}

void ht_values_emit_strides(struct ht_emit *emit, const struct ht_values *values)
{
	emit_all_dims(emit, values, true);
}

void ht_values_emit_types(struct ht_emit *emit, const struct ht_values *values,
        const struct ht_value_style *style)
{
	const struct ht_value *v = values->list.data;
	ht_emit_char(emit, '[');
	for (size_t i = 0; i < values->n_top; i++) {
		if (i)
			ht_emit_char(emit, ',');
		ht_emit_char(emit, '"');
		v = emit_type(emit, v, style);
		ht_emit_char(emit, '"');
	}
	ht_emit_char(emit, ']');
}
