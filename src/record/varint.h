/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint.h - how records are spelt: numbers of seven bits a byte, small ones first, signs folded in.
 *
 * A record is a word (kind in four bits, length of the rest above them) and the rest. Readers check
 * every step, for they also read what killed processes leave behind: a bad byte sets `bad`, and zeros
 * follow.
 */
#ifndef HT_RECORD_VARINT_H
#define HT_RECORD_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HT_VARINT_MAX     10
#define HT_RECORD_HEAD    4
#define HT_RECORD_LONGEST ((size_t)1 << 28)

enum ht_record_type {
	HT_TYPE_BEGIN = 1,
	HT_TYPE_END,
	HT_TYPE_WINDOW, /* the first record of this stream since a start */
	HT_TYPE_THREAD,
	HT_TYPE_FREED,
	HT_TYPE_NAME,
	HT_TYPE_GPU,
};

static inline uint8_t *ht_put_u64(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *ht_put_i64(uint8_t *at, int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;
	return ht_put_u64(at, value < 0 ? ~twice : twice);
}

struct ht_bytes {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint8_t ht_get_byte(struct ht_bytes *bytes)
{
	if (bytes->at < bytes->end)
		return *bytes->at++;
	bytes->bad = true;
	return 0;
}

/* Eight bytes as they are: for addresses, which are always long. */
static inline uint8_t *ht_put_word(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
	return at + sizeof value;
}

static inline uint64_t ht_get_word(struct ht_bytes *bytes)
{
	uint64_t value = 0;
	if ((size_t)(bytes->end - bytes->at) < sizeof value) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, sizeof value);
	bytes->at += sizeof value;
	return value;
}

static inline uint64_t ht_get_u64(struct ht_bytes *bytes)
{
	if (bytes->at < bytes->end && *bytes->at < 0x80)
		return *bytes->at++;
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = ht_get_byte(bytes);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	bytes->bad = true;
	return 0;
}

static inline int64_t ht_get_i64(struct ht_bytes *bytes)
{
	uint64_t value = ht_get_u64(bytes);
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* n raw bytes, or NULL. */
static inline const void *ht_get_raw(struct ht_bytes *bytes, uint64_t n)
{
	if (n > (uint64_t)(bytes->end - bytes->at)) {
		bytes->bad = true;
		bytes->at = bytes->end;
		return NULL;
	}
	const void *raw = bytes->at;
	bytes->at += n;
	return raw;
}

/* The next record of a chunk's bytes: its type, 0 at the end or where it makes no sense. */
static inline unsigned ht_get_record(struct ht_bytes *chunk, struct ht_bytes *ret_record)
{
	uint32_t head;
	if ((size_t)(chunk->end - chunk->at) < sizeof head)
		return 0;
	memcpy(&head, chunk->at, sizeof head);
	size_t n = head >> 4;
	if (n > (size_t)(chunk->end - chunk->at) - sizeof head)
		return 0;
	*ret_record =
	        (struct ht_bytes){ chunk->at + sizeof head, chunk->at + sizeof head + n, false };
	chunk->at += sizeof head + n;
	return head & 15;
}

#endif
