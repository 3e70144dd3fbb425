/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - Protocol Buffers being written: a message is bytes that fields are put behind.
 *
 * Calls do not answer a status: memory that runs out is remembered in `failed`, and what follows goes nowhere. A message
 * inside another is written first, as a message of its own, and then put as bytes.
 */
#ifndef HT_WIRE_MESSAGE_H
#define HT_WIRE_MESSAGE_H

#include "base/vec.h"
#include "wire/wire.h"

/* Zero-initialise but for mem; ht_message_done frees. */
struct ht_message {
	struct ht_mem *mem;
	struct ht_vec bytes; /* unsigned char */
	bool failed;
};

void ht_message_done(struct ht_message *message);

/* Room for n more bytes; NULL when there is none. The caller adds what it used to bytes.n. */
unsigned char *ht_message_grow(struct ht_message *message, size_t n);
static inline unsigned char *ht_message_room(struct ht_message *m, size_t n)
{
	return m->bytes.cap - m->bytes.n >= n ? (unsigned char *)m->bytes.data + m->bytes.n
	                                      : ht_message_grow(m, n);
}

static inline size_t ht_wire_put_varint(unsigned char *to, uint64_t value)
{
	size_t n = 0;
	while (value > 0x7f) {
		to[n++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	to[n++] = (unsigned char)value;
	return n;
}

static inline void ht_message_varint(struct ht_message *m, uint64_t value)
{
	unsigned char *to = ht_message_room(m, 10);
	if (to)
		m->bytes.n += ht_wire_put_varint(to, value);
}

/* Bytes as they are, without a field around them. */
static inline void ht_message_raw(struct ht_message *m, const void *bytes, size_t n)
{
	unsigned char *to = ht_message_room(m, n);
	if (to && n) {
		memcpy(to, bytes, n);
		m->bytes.n += n;
	}
}

static inline void ht_message_u64(struct ht_message *m, uint32_t field, uint64_t value)
{
	unsigned char *to = ht_message_room(m, 20);
	if (!to)
		return;
	size_t n = ht_wire_put_varint(to, (uint64_t)field << 3 | HT_WIRE_VARINT);
	m->bytes.n += n + ht_wire_put_varint(to + n, value);
}

/* A number of small absolute value, of either sign, in few bytes. */
static inline uint64_t ht_wire_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t ht_wire_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

void ht_message_fixed64(struct ht_message *message, uint32_t field, uint64_t value);
void ht_message_f64(struct ht_message *message, uint32_t field, double value);

static inline void ht_message_bytes(
        struct ht_message *m, uint32_t field, const void *bytes, size_t n)
{
	unsigned char *to = ht_message_room(m, 20 + n);
	if (!to)
		return;
	size_t n_head = ht_wire_put_varint(to, (uint64_t)field << 3 | HT_WIRE_BYTES);
	n_head += ht_wire_put_varint(to + n_head, n);
	if (n)
		memcpy(to + n_head, bytes, n);
	m->bytes.n += n_head + n;
}

void ht_message_text(struct ht_message *message, uint32_t field, const char *text);

/* Put a message into a field of another, and empty it. */
static inline void ht_message_end(
        struct ht_message *outer, uint32_t field, struct ht_message *inner)
{
	ht_message_bytes(outer, field, inner->bytes.data, inner->bytes.n);
	outer->failed |= inner->failed;
	inner->bytes.n = 0;
}

#endif
