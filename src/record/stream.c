/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - see stream.h.
 */
#include "record/stream.h"

#define SMALLEST_CHUNK ((size_t)4 << 10)
#define LARGEST_CHUNK  ((size_t)64 << 10)

void ht_stream_init(struct ht_stream *s, struct ht_part_file *part, uint32_t kind, uint32_t index)
{
	*s = (struct ht_stream){ .part = part, .kind = kind, .index = index };
}

bool ht_stream_grow(struct ht_stream *s, size_t n)
{
	if (s->failed)
		return false;
	size_t n_partial = (size_t)(s->at - s->record);
	/* Threads that record little are many; so chunks start small. */
	size_t wanted = SMALLEST_CHUNK << (s->n_chunks < 4 ? s->n_chunks : 4);
	if (wanted > LARGEST_CHUNK)
		wanted = LARGEST_CHUNK;
	wanted -= sizeof(struct ht_part_chunk);
	if (wanted < (n_partial + n) * 2)
		wanted = (n_partial + n) * 2;
	struct ht_part_chunk head = { .kind = s->kind,
		.stream = s->index,
		.number = s->n_chunks,
		.start_ns = s->last_ns,
		.start_id = s->last_id };
	struct ht_part_chunk *chunk = n_partial + n < HT_RECORD_LONGEST
	                                      ? ht_part_file_chunk(s->part, &head, wanted)
	                                      : NULL;
	if (!chunk) {
		s->failed = true;
		return false;
	}
	uint8_t *bytes = (uint8_t *)(chunk + 1);
	if (n_partial)
		memcpy(bytes, s->record, n_partial);
	s->chunk = chunk;
	s->n_chunks++;
	s->record = bytes;
	s->at = bytes + n_partial;
	s->end = (uint8_t *)chunk + chunk->n_bytes;
	return true;
}

void ht_stream_open_record(struct ht_stream *s)
{
	s->record = s->at;
	s->failed = false;
	if (ht_stream_room(s, HT_RECORD_HEAD))
		s->at += HT_RECORD_HEAD;
}

bool ht_stream_commit(struct ht_stream *s, enum ht_record_type type)
{
	size_t n = (size_t)(s->at - s->record);
	if (s->failed) {
		s->at = s->record;
		ht_counter_add(&s->n_lost, 1);
		return false;
	}
	uint32_t head = (uint32_t)(n - HT_RECORD_HEAD) << 4 | type;
	memcpy(s->record, &head, sizeof head);
	ht_counter_add(&s->n_bytes, n);
	s->record = s->at;
	atomic_store_explicit(&s->chunk->used, (uint64_t)(s->at - (uint8_t *)(s->chunk + 1)),
	        memory_order_release);
	return true;
}

void ht_stream_put_text(struct ht_stream *s, const void *text, size_t n)
{
	if (!ht_stream_room(s, n + HT_VARINT_MAX))
		return;
	s->at = ht_put_u64(s->at, n);
	if (n)
		memcpy(s->at, text, n);
	s->at += n;
}

/* What a reader can work out is not written: strides of memory without gaps, the product of sizes. */
static uint8_t tensor_bits(const struct ht_record_tensor *t)
{
	bool contiguous = true, counted = true;
	int64_t product = 1;
	for (uint32_t i = t->n_dims; i-- > 0;) {
		contiguous &= !t->strides || t->strides[i] == product;
		if (__builtin_mul_overflow(product, t->dims[i], &product))
			contiguous = counted = false;
	}
	return (uint8_t)(HT_RECORD_TENSOR | (t->storage ? HT_TENSOR_STORAGE : 0) |
	                 (contiguous || !t->strides ? 0 : HT_TENSOR_STRIDES) |
	                 (counted && product == t->n_elements ? 0 : HT_TENSOR_COUNT));
}

static void put_tensor(struct ht_stream *s, const struct ht_record_tensor *t)
{
	struct ht_record_tensor shapeless;
	if (t->n_dims > HT_TENSOR_DIMS) {
		shapeless = *t;
		shapeless.n_dims = 0;
		t = &shapeless;
	}
	if (!ht_stream_room(s, 2 + (8 + (size_t)t->n_dims * 2) * HT_VARINT_MAX))
		return;
	uint8_t *at = s->at, bits = tensor_bits(t);
	*at++ = bits;
	uint8_t *start = ++at; /* after the length of what follows; 0 when it is long */
	at = ht_put_word(at, (uintptr_t)t->object);
	if (t->storage) {
		at = ht_put_word(at, (uintptr_t)t->storage);
		at = ht_put_i64(at, t->offset);
	}
	at = ht_put_u64(at, t->item_bytes);
	at = ht_put_u64(at, t->type);
	at = ht_put_u64(at, t->device);
	at = ht_put_u64(at, t->n_dims);
	for (uint32_t i = 0; i < t->n_dims; i++)
		at = ht_put_i64(at, t->dims[i]);
	for (uint32_t i = 0; bits & HT_TENSOR_STRIDES && i < t->n_dims; i++)
		at = ht_put_i64(at, t->strides[i]);
	if (bits & HT_TENSOR_COUNT)
		at = ht_put_i64(at, t->n_elements);
	start[-1] = at - start < 256 ? (uint8_t)(at - start) : 0;
	s->at = at;
}

static void put_list(
        struct ht_stream *s, const struct ht_record_value *v, size_t max_elements, unsigned depth);

static void put_value(
        struct ht_stream *s, const struct ht_record_value *v, size_t max_elements, unsigned depth)
{
	if (!ht_stream_room(s, 1 + HT_VARINT_MAX))
		return;
	uint8_t tag = (uint8_t)v->kind;
	switch ((enum ht_record_kind)v->kind) {
	case HT_RECORD_INT:
		*s->at++ = tag;
		s->at = ht_put_i64(s->at, v->integer);
		return;
	case HT_RECORD_BOOL: *s->at++ = (uint8_t)(tag | (v->integer ? HT_VALUE_TRUE : 0)); return;
	case HT_RECORD_DOUBLE:
		*s->at++ = tag;
		memcpy(s->at, &v->real, sizeof v->real);
		s->at += sizeof v->real;
		return;
	case HT_RECORD_STRING:
		*s->at++ = tag;
		ht_stream_put_text(s, v->text.bytes, v->text.n);
		return;
	case HT_RECORD_DEVICE:
	case HT_RECORD_OTHER:
		*s->at++ = tag;
		s->at = ht_put_u64(s->at, v->name);
		return;
	case HT_RECORD_TENSOR: put_tensor(s, v->tensor); return;
	case HT_RECORD_UNDEFINED:
		*s->at++ = tag;
		s->at = ht_put_word(s->at, (uintptr_t)v->tensor->object);
		return;
	case HT_RECORD_LIST:
	case HT_RECORD_TUPLE:
		if (depth < HT_VALUE_DEPTH) {
			put_list(s, v, max_elements, depth);
			return;
		}
		break;
	case HT_RECORD_NONE: break;
	}
	*s->at++ = HT_RECORD_NONE;
}

static void put_list(
        struct ht_stream *s, const struct ht_record_value *v, size_t max_elements, unsigned depth)
{
	/* PyTorch looks after it has taken an element, so one more than the limit is written. */
	size_t n = v->kind == HT_RECORD_LIST && v->list.n > max_elements ? max_elements + 1
	                                                                 : v->list.n;
	*s->at++ = (uint8_t)v->kind;
	s->at = ht_put_u64(s->at, n);
	for (size_t i = 0; i < n; i++)
		put_value(s, &v->list.items[i], max_elements, depth + 1);
}

void ht_stream_put_values(
        struct ht_stream *s, const struct ht_record_value *values, size_t n, size_t max_elements)
{
	if (!ht_stream_room(s, HT_VARINT_MAX))
		return;
	s->at = ht_put_u64(s->at, n);
	for (size_t i = 0; i < n; i++)
		put_value(s, &values[i], max_elements, 0);
}

void ht_stream_put_attributes(
        struct ht_stream *s, const struct ht_record_attribute *attributes, size_t n)
{
	if (!ht_stream_room(s, HT_VARINT_MAX))
		return;
	s->at = ht_put_u64(s->at, n);
	for (size_t i = 0; i < n; i++) {
		const struct ht_record_attribute *a = &attributes[i];
		if (!ht_stream_room(s, 1 + 2 * HT_VARINT_MAX))
			return;
		*s->at++ = a->is_text != 0;
		s->at = ht_put_u64(s->at, a->name);
		if (a->is_text)
			ht_stream_put_text(s, a->bytes, a->n);
		else
			s->at = ht_put_i64(s->at, a->integer);
	}
}
