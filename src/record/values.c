/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - see values.h.
 */
#include "record/values.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "record/any_text.h"
#include "record/stream.h"

#include <math.h>
#include <stdio.h>

#define NUMBER_BYTES 21  /* with a comma */
#define DOUBLE_BYTES 330 /* 1e308 with six decimals */
#define VALUE_BYTES  96  /* brackets, quotes, commas and the longest kind's own words */

/* ---- reading ----------------------------------------------------------------------------------- */

static struct ht_mem *mem_of(const struct ht_values *values)
{
	return values->image->ctx->mem;
}

static size_t name_bytes(const struct ht_values *values, uint64_t name)
{
	return ht_image_name(values->image, name).n;
}

static char *put_tensor(char *at, const struct ht_values *values, const struct ht_value *v);
static char *put_tensor_dims(
        char *at, const struct ht_values *values, const struct ht_value *v, bool strides);
static char *put_tensor_type(char *at, const struct ht_values *values, const struct ht_value *v);

static bool read_dims(
        struct ht_values *values, struct ht_bytes *bytes, uint8_t bits, struct ht_value *v)
{
	/* one more, so that there is a place also for the dimensions of a number */
	size_t n_most = 2 * (size_t)v->n + 1;
	if (values->dims.cap - values->dims.n < n_most &&
	        !ht_vec_reserve(mem_of(values), &values->dims, sizeof(int64_t), n_most))
		return false;
	int64_t *dims = (int64_t *)values->dims.data + values->dims.n, *strides = dims + v->n;
	v->i_dims = values->dims.n;
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

static bool read_tensor(
        struct ht_values *values, struct ht_bytes *bytes, uint8_t bits, struct ht_value *v)
{
	bool has_storage = (bits & HT_TENSOR_STORAGE) != 0;
	v->object = ht_get_word(bytes);
	v->storage = has_storage ? ht_get_word(bytes) : 0;
	v->offset = has_storage ? ht_get_i64(bytes) : 0;
	v->item_bytes = ht_get_u64(bytes);
	v->type = ht_get_u64(bytes);
	v->device = ht_get_u64(bytes);
	uint64_t n = ht_get_u64(bytes);
	if (n > HT_TENSOR_DIMS)
		bytes->bad = true;
	v->n = bytes->bad ? 0 : (uint32_t)n;
	v->storage_id = 0;
	return read_dims(values, bytes, bits, v) &&
	       (!values->ids || ht_ids_of(values->ids, v->object, &v->object_id)) &&
	       (!values->ids || !v->storage || ht_ids_of(values->ids, v->storage, &v->storage_id));
}

/* The place for a tensor's texts, NULL when there is none for it: too long, or taken by this list. */
static struct ht_known_tensor *find_known(
        struct ht_values *values, const uint8_t *key, size_t n_key, bool *ret_hit)
{
	struct ht_known_tensor *k = &values->known[ht_hash(key, n_key) & (HT_N_KNOWN - 1)];
	*ret_hit = k->n_key == n_key && k->generation == values->ids->generation &&
	           memcmp(k->key, key, n_key) == 0;
	if (!*ret_hit && k->stamp == values->stamp)
		return NULL;
	k->stamp = values->stamp;
	return k;
}

static size_t tensor_bound(const struct ht_values *values, const struct ht_value *v)
{
	return (5 + 2 * (size_t)v->n) * NUMBER_BYTES + name_bytes(values, v->type) +
	       name_bytes(values, v->device);
}

/* Keep its texts, when they can be short enough. */
static void keep_known(struct ht_values *values, struct ht_known_tensor *k, const uint8_t *key,
        size_t n_key, const struct ht_value *v)
{
	char text[4 * HT_KNOWN_TEXT], *at = text; /* most numbers are shorter than they could be */
	k->n_key = 0;
	if (tensor_bound(values, v) + VALUE_BYTES > sizeof text)
		return;
	at = put_tensor(text, values, v);
	char *shape = at, *type = at = put_tensor_dims(at, values, v, false);
	char *stride = at = put_tensor_type(at, values, v);
	at = put_tensor_dims(at, values, v, true);
	if (at - text > HT_KNOWN_TEXT)
		return;
	memcpy(k->text, text, (size_t)(at - text));
	memcpy(k->key, key, n_key);
	k->generation = values->ids->generation;
	k->n_value = (uint8_t)(shape - text);
	k->n_shape = (uint8_t)(type - shape);
	k->n_type = (uint8_t)(stride - type);
	k->n_stride = (uint8_t)(at - stride);
	k->n_key = (uint8_t)n_key;
}

/* tag, length, fields: a tensor whose very bytes were read before is not read again. */
static bool take_tensor(struct ht_values *values, struct ht_bytes *bytes, uint8_t bits, size_t i)
{
	struct ht_value *v = (struct ht_value *)values->list.data + i;
	const uint8_t *key = bytes->at - 1; /* from its tag on */
	size_t n_key = (size_t)ht_get_byte(bytes) + 2;
	struct ht_known_tensor *k = NULL;
	bool hit = false;
	v->known = NULL;
	if (n_key > 2 && n_key <= HT_KNOWN_KEY && n_key - 2 <= (size_t)(bytes->end - bytes->at) &&
	        values->ids && values->known)
		k = find_known(values, key, n_key, &hit);
	if (hit) {
		bytes->at += n_key - 2;
		v->known = k;
		values->bound += HT_KNOWN_TEXT;
		return true;
	}
	if (!read_tensor(values, bytes, bits, v))
		return false;
	values->bound += tensor_bound(values, v);
	if (k)
		keep_known(values, k, key, n_key, v);
	return true;
}

static bool is_plain(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)bytes[i] < 0x20 || (unsigned char)bytes[i] >= 0x7f ||
		        bytes[i] == '"' || bytes[i] == '\\')
			return false;
	return true;
}

static bool read_text(struct ht_values *values, struct ht_bytes *bytes, size_t i)
{
	struct ht_value *v = (struct ht_value *)values->list.data + i;
	uint32_t n = (uint32_t)ht_get_u64(bytes);
	const char *text_bytes = ht_get_raw(bytes, n);
	v->bytes = text_bytes ? text_bytes : "";
	v->n = text_bytes ? n : 0;
	v->escaped = !is_plain(v->bytes, v->n);
	if (v->escaped) {
		size_t first = values->escaped.n;
		if (ht_rec_escape(values->image->ctx, v->bytes, v->n, &values->escaped) != HT_OK)
			return false;
		v->offset = (int64_t)first;
		v->n = (uint32_t)(values->escaped.n - first);
	}
	values->bound += v->n;
	return true;
}

static bool read_list(struct ht_values *values, struct ht_bytes *bytes, unsigned depth, uint64_t n,
        uint32_t *ret_n);

/* Only what its kind has is set. */
static bool read_value(struct ht_values *values, struct ht_bytes *bytes, unsigned depth)
{
	if (values->list.n == values->list.cap &&
	        !ht_vec_reserve(mem_of(values), &values->list, sizeof(struct ht_value), 1))
		return false;
	size_t i = values->list.n++;
	struct ht_value *v = (struct ht_value *)values->list.data + i;
	uint8_t tag = ht_get_byte(bytes);
	uint32_t n = 0;
	v->kind = tag & 15;
	v->truth = (tag & HT_VALUE_TRUE) != 0;
	values->bound += VALUE_BYTES;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_INT: v->integer = ht_get_i64(bytes); break;
	case HT_RECORD_DOUBLE:
		v->integer = (int64_t)ht_get_word(bytes);
		values->bound += DOUBLE_BYTES;
		break;
	case HT_RECORD_STRING: return read_text(values, bytes, i);
	case HT_RECORD_DEVICE:
	case HT_RECORD_OTHER:
		v->name = ht_get_u64(bytes);
		values->bound += 2 * name_bytes(values, v->name);
		break;
	case HT_RECORD_UNDEFINED:
		*v = (struct ht_value){ .kind = HT_RECORD_UNDEFINED, .object = ht_get_word(bytes) };
		values->bound += 5 * NUMBER_BYTES;
		return !values->ids || ht_ids_of(values->ids, v->object, &v->object_id);
	case HT_RECORD_TENSOR: return take_tensor(values, bytes, tag, i);
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

enum ht_status ht_values_read(struct ht_values *values, struct ht_bytes *bytes)
{
	values->list.n = values->dims.n = values->escaped.n = 0;
	values->bound = VALUE_BYTES;
	values->stamp++;
	/* Without it all is the same, only slower. */
	if (!values->known && values->ids)
		values->known = ht_mem_zalloc(mem_of(values), HT_N_KNOWN * sizeof *values->known);
	uint32_t n = 0;
	bool done = read_list(values, bytes, 0, ht_get_u64(bytes), &n);
	values->n_top = n;
	return done ? HT_OK : ht_fail_nomem(values->image->ctx);
}

void ht_values_done(struct ht_values *values)
{
	ht_vec_free(mem_of(values), &values->list, sizeof(struct ht_value));
	ht_vec_free(mem_of(values), &values->dims, sizeof(int64_t));
	ht_vec_free(mem_of(values), &values->escaped, 1);
	ht_mem_free(mem_of(values), values->known, HT_N_KNOWN * sizeof *values->known);
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Six decimals, or exact; what is not a number in quotes. At most DOUBLE_BYTES. */
static char *put_double(char *at, struct ht_values *values, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	struct ht_known_double *known = &values->doubles[(bits ^ bits >> 32 ^ bits >> 52) & 255];
	if (known->n && known->bits == bits) {
		memcpy(at, known->text, sizeof known->text);
		return at + known->n;
	}
	size_t n;
	if (isfinite(value))
		n = (size_t)(values->exact_doubles ? ht_double_print(at, value)
		                                   : snprintf(at, DOUBLE_BYTES, "%f", value));
	else
		n = (size_t)snprintf(at, DOUBLE_BYTES, "\"%s%s\"", signbit(value) ? "-" : "",
		        isnan(value) ? "nan" : "inf");
	if (n <= sizeof known->text) {
		*known = (struct ht_known_double){ .bits = bits, .n = (uint8_t)n };
		memcpy(known->text, at, n);
	}
	return at + n;
}

static char *put_tensor(char *at, const struct ht_values *values, const struct ht_value *v)
{
	*at++ = '[';
	at = ht_put_number(at, (int64_t)v->object_id);
	*at++ = ',';
	at = ht_put_number(at, (int64_t)v->storage_id);
	*at++ = ',';
	at = ht_put_number(at, v->offset);
	*at++ = ',';
	at = ht_put_number(at, v->n_elements);
	*at++ = ',';
	at = ht_put_number(at, (int64_t)v->item_bytes);
	at = HT_PUT(at, ",\"");
	at = ht_put_name(at, ht_image_name(values->image, v->device));
	return HT_PUT(at, "\"]");
}

static char *put_text(char *at, const struct ht_values *values, const struct ht_value *v)
{
	const char *text = v->escaped ? (const char *)values->escaped.data + v->offset : v->bytes;
	*at++ = '"';
	if (v->n)
		memcpy(at, text, v->n);
	at += v->n;
	*at++ = '"';
	return at;
}

/* One value; *next moves past it and what is inside it. */
static char *put_value(char *at, struct ht_values *values, const struct ht_value **next)
{
	const struct ht_value *v = (*next)++;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_NONE: return HT_PUT(at, "\"<None>\"");
	case HT_RECORD_INT: return ht_put_number(at, v->integer);
	case HT_RECORD_BOOL: return v->truth ? HT_PUT(at, "true") : HT_PUT(at, "false");
	case HT_RECORD_DOUBLE: return put_double(at, values, v->real);
	case HT_RECORD_STRING: return put_text(at, values, v);
	case HT_RECORD_DEVICE:
		*at++ = '"';
		at = ht_put_name(at, ht_image_name(values->image, v->name));
		*at++ = '"';
		return at;
	case HT_RECORD_OTHER:
		at = HT_PUT(at, "\"<");
		at = ht_put_name(at, ht_image_name(values->image, v->name));
		return HT_PUT(at, ">\"");
	case HT_RECORD_TENSOR:
		if (v->known)
			return ht_put_bytes(at, v->known->text, v->known->n_value);
		return put_tensor(at, values, v);
	case HT_RECORD_UNDEFINED: return put_tensor(at, values, v);
	case HT_RECORD_LIST:
	case HT_RECORD_TUPLE: break;
	}
	*at++ = '[';
	for (uint32_t i = 0; i < v->n; i++) {
		if (i)
			*at++ = ',';
		at = put_value(at, values, next);
	}
	*at++ = ']';
	return at;
}

static char *put_tensor_dims(
        char *at, const struct ht_values *values, const struct ht_value *v, bool strides)
{
	*at++ = '[';
	for (uint32_t i = 0; i < v->n; i++) {
		const int64_t *dims =
		        (const int64_t *)values->dims.data + v->i_dims + (strides ? v->n : 0);
		at = ht_put_number(at, dims[i]);
		*at++ = ',';
	}
	at -= v->n != 0;
	*at++ = ']';
	return at;
}

static char *put_tensor_type(char *at, const struct ht_values *values, const struct ht_value *v)
{
	at = HT_PUT(at, "Tensor(");
	at = ht_put_name(at, ht_image_name(values->image, v->type));
	*at++ = ')';
	return at;
}

/* Sizes, or the strides that follow them. */
static char *put_dims(
        char *at, const struct ht_values *values, bool strides, const struct ht_value **next)
{
	const struct ht_value *v = (*next)++;
	if (v->kind == HT_RECORD_TENSOR) {
		const struct ht_known_tensor *k = v->known;
		if (!k)
			return put_tensor_dims(at, values, v, strides);
		return strides ? ht_put_bytes(at, k->text + k->n_value + k->n_shape + k->n_type,
		                         k->n_stride)
		               : ht_put_bytes(at, k->text + k->n_value, k->n_shape);
	}
	*at++ = '[';
	for (uint32_t i = 0; (v->kind == HT_RECORD_LIST || v->kind == HT_RECORD_TUPLE) && i < v->n;
	        i++) {
		if (i)
			*at++ = ',';
		at = put_dims(at, values, strides, next);
	}
	*at++ = ']';
	return at;
}

static char *put_type(char *at, const struct ht_values *values, const struct ht_value **next)
{
	const struct ht_value *v = (*next)++;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_NONE: return HT_PUT(at, "None");
	case HT_RECORD_INT: return HT_PUT(at, "Int");
	case HT_RECORD_BOOL: return HT_PUT(at, "Bool");
	case HT_RECORD_DOUBLE: return HT_PUT(at, "Double");
	case HT_RECORD_STRING: return HT_PUT(at, "String");
	case HT_RECORD_DEVICE: return HT_PUT(at, "Device");
	case HT_RECORD_OTHER: return ht_put_name(at, ht_image_name(values->image, v->name));
	case HT_RECORD_UNDEFINED: return HT_PUT(at, "Tensor(nullptr (uninitialized))");
	case HT_RECORD_TENSOR:
		if (v->known)
			return ht_put_bytes(at,
			        v->known->text + v->known->n_value + v->known->n_shape,
			        v->known->n_type);
		return put_tensor_type(at, values, v);
	case HT_RECORD_LIST: at = HT_PUT(at, "GenericList["); break;
	case HT_RECORD_TUPLE: at = HT_PUT(at, "Tuple["); break;
	}
	for (uint32_t i = 0; i < v->n; i++) {
		if (i)
			*at++ = ',';
		at = put_type(at, values, next);
	}
	*at++ = ']';
	return at;
}

char *ht_values_put(char *at, struct ht_values *values)
{
	const struct ht_value *first = values->list.data, *next = first;
	size_t n = values->n_top;
	if (!n)
		return HT_PUT(at, "{\"values\":[],\"shapes\":[],\"types\":[],\"strides\":[]}");
	at = HT_PUT(at, "{\"values\":[");
	for (size_t i = 0; i < n; i++, *at++ = ',')
		at = put_value(at, values, &next);
	at = HT_PUT(at - 1, "],\"shapes\":[");
	next = first;
	for (size_t i = 0; i < n; i++, *at++ = ',')
		at = put_dims(at, values, false, &next);
	at = HT_PUT(at - 1, "],\"types\":[");
	next = first;
	for (size_t i = 0; i < n; i++, *at++ = ',') {
		*at++ = '"';
		at = put_type(at, values, &next);
		*at++ = '"';
	}
	at = HT_PUT(at - 1, "],\"strides\":[");
	next = first;
	for (size_t i = 0; i < n; i++, *at++ = ',')
		at = put_dims(at, values, true, &next);
	return HT_PUT(at - 1, "]}");
}
