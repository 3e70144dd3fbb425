/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flatbuf.h - the part of FlatBuffers that Arrow IPC headers need, written front to back.
 *
 *   [root offset] [vtable | table fields ... ] [vtable | table ...] [vector] [string] ...
 *
 * A table is written with holes for what it refers to; the target comes later in the buffer and fills
 * the hole, because offsets may only point forwards. Little-endian machines only.
 */
#ifndef HT_TABLE_FLATBUF_H
#define HT_TABLE_FLATBUF_H

#include "base/vec.h"

struct ht_flatbuf {
	struct ht_mem *mem;
	struct ht_vec bytes;
	bool failed; /* out of memory; further writes do nothing */
};

/* A field of a table: its bytes (1, 2, 4 or 8; 0: absent) and value; offsets are 4 with value 0. */
struct ht_flatbuf_field {
	uint8_t n_bytes;
	int64_t value;
};
#define HT_FLATBUF_MAX_FIELDS 8

/* Starts with the root offset's hole, at position 0. */
void ht_flatbuf_init(struct ht_flatbuf *fb, struct ht_mem *mem);
void ht_flatbuf_done(struct ht_flatbuf *fb);
/* Writes a table that fills the hole; ret_at gets the position of each field. */
void ht_flatbuf_table(struct ht_flatbuf *fb, size_t hole, const struct ht_flatbuf_field *fields,
        size_t n_fields, size_t *ret_at);
/* Writes a string or a vector that fills the hole. A vector's elements lie at the position returned,
 * zeroed: structs to be set, or holes of four bytes. */
void ht_flatbuf_string(struct ht_flatbuf *fb, size_t hole, const char *text);
size_t ht_flatbuf_vector(
        struct ht_flatbuf *fb, size_t hole, size_t n, size_t elem_bytes, size_t align);
void ht_flatbuf_set_i64(struct ht_flatbuf *fb, size_t at, int64_t value);

#endif
