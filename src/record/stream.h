/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - append records to the chunks of one writer.
 *
 *     ht_stream_open_record(s);
 *     if (ht_stream_room(s, n)) s->at = ht_put_u64(s->at, ...);   as often as needed
 *     ht_stream_commit(s, HT_TYPE_X);                             lost when there was no room
 *
 * A record that meets the end of its chunk moves into a new one as far as it is written. Nothing is
 * seen by readers before commit.
 */
#ifndef HT_RECORD_STREAM_H
#define HT_RECORD_STREAM_H

#include "record/varint.h"
#include "record/part_file.h"

#include "holotrace-record.h"

struct ht_stream {
	struct ht_part_file *part;
	struct ht_part_chunk *chunk; /* NULL: none yet */
	uint8_t *record;             /* where the record in the making starts */
	uint8_t *at, *end;
	bool failed;    /* no room for the record in the making */
	uint32_t kind;  /* enum ht_chunk_kind */
	uint32_t index; /* per kind */
	uint32_t n_chunks;
	uint32_t window; /* the last one this stream has a mark of */
	int64_t last_ns; /* times and record ids are written as differences */
	uint64_t last_id;
	uint64_t number; /* logical, of the thread */
	/* Others may look at these at any time. */
	_Atomic uint64_t n_begins, n_lost, n_bytes;
};

/* For counters that one thread writes: no locked instruction. */
static inline uint64_t ht_counter_get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void ht_counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, ht_counter_get(counter) + n, memory_order_relaxed);
}

void ht_stream_init(struct ht_stream *s, struct ht_part_file *part, uint32_t kind, uint32_t index);

/* Room for n more bytes of the record; false when there is none, now and until the record ends. */
bool ht_stream_grow(struct ht_stream *s, size_t n);
static inline bool ht_stream_room(struct ht_stream *s, size_t n)
{
	return (!s->failed && (size_t)(s->end - s->at) >= n) || ht_stream_grow(s, n);
}

void ht_stream_open_record(struct ht_stream *s);
/* False when the record was lost. */
bool ht_stream_commit(struct ht_stream *s, enum ht_record_type type);

/* Text with its length. */
void ht_stream_put_text(struct ht_stream *s, const void *text, size_t n);
/* Values with their count; lists end after max_elements + 1. */
void ht_stream_put_values(
        struct ht_stream *s, const struct ht_record_value *values, size_t n, size_t max_elements);
void ht_stream_put_attributes(
        struct ht_stream *s, const struct ht_record_attribute *attributes, size_t n);

/* How a value starts: its kind in four bits, and above them what kind of tensor, or the truth. */
enum ht_tensor_bits {
	HT_TENSOR_STORAGE = 0x10, /* storage and offset follow */
	HT_TENSOR_STRIDES = 0x20, /* not contiguous: strides follow */
	HT_TENSOR_COUNT = 0x40, /* the count of elements is not the product of sizes, and follows */
	HT_VALUE_TRUE = 0x10,
};
#define HT_VALUE_DEPTH 64 /* deeper lists are cut off, as "<None>" */
#define HT_TENSOR_DIMS 64 /* more are left out */

/* Bits of what a BEGIN record holds beyond name, id and scope. */
enum ht_begin_bits {
	HT_BEGIN_SEQUENCE = 0x10, /* the low four are the scope */
	HT_BEGIN_FORWARD = 0x20,
	HT_BEGIN_SCHEMA = 0x40,
	HT_BEGIN_KERNEL = 0x80,
};

#endif
