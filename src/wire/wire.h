/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - Protocol Buffers as bytes: numbers of seven bits a byte, fields of a message.
 */
#ifndef HT_WIRE_WIRE_H
#define HT_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum ht_wire_type {
	HT_WIRE_VARINT = 0,
	HT_WIRE_FIXED64 = 1,
	HT_WIRE_BYTES = 2,
	HT_WIRE_FIXED32 = 5
};

/* Bytes that the number at p takes, 0 when there is none within n. */
static inline size_t ht_wire_varint(const unsigned char *p, size_t n, uint64_t *ret_value)
{
	uint64_t value = 0;
	for (size_t i = 0; i < n && i < 10; i++) {
		value |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (p[i] < 0x80) {
			*ret_value = value;
			return i + 1;
		}
	}
	return 0;
}

struct ht_wire_field {
	uint32_t number;
	enum ht_wire_type type;
	uint64_t value;             /* of numbers, as bits */
	const unsigned char *bytes; /* of strings and messages */
	size_t n;
};

struct ht_wire {
	const unsigned char *p, *end;
	bool bad; /* what is at p is no field */
};

/* The next field; false at the end or when bad. */
static inline bool ht_wire_next(struct ht_wire *wire, struct ht_wire_field *ret_field)
{
	uint64_t key;
	if (wire->p >= wire->end)
		return false;
	size_t used = ht_wire_varint(wire->p, (size_t)(wire->end - wire->p), &key);
	wire->bad = true;
	if (!used || key >> 3 == 0 || key >> 3 > (1 << 29) - 1)
		return false;
	const unsigned char *p = wire->p + used;
	size_t left = (size_t)(wire->end - p);
	struct ht_wire_field field = { .number = (uint32_t)(key >> 3), .type = key & 7 };
	switch (key & 7) {
	case HT_WIRE_VARINT:
		used = ht_wire_varint(p, left, &field.value);
		if (!used)
			return false;
		break;
	case HT_WIRE_FIXED64:
	case HT_WIRE_FIXED32:
		used = field.type == HT_WIRE_FIXED64 ? 8 : 4;
		if (left < used)
			return false;
		for (size_t i = 0; i < used; i++)
			field.value |= (uint64_t)p[i] << 8 * i;
		break;
	case HT_WIRE_BYTES: {
		uint64_t n;
		size_t n_length = ht_wire_varint(p, left, &n);
		if (!n_length || n > left - n_length)
			return false;
		field.bytes = p + n_length;
		field.n = (size_t)n;
		used = n_length + field.n;
		break;
	}
	default: return false;
	}
	wire->bad = false;
	wire->p = p + used;
	*ret_field = field;
	return true;
}

/* Numbers of one wire type written one behind the other. */
static inline bool ht_wire_packed(struct ht_wire *wire, enum ht_wire_type type, uint64_t *ret_value)
{
	size_t left = (size_t)(wire->end - wire->p);
	size_t used = type == HT_WIRE_FIXED64 ? 8 : type == HT_WIRE_FIXED32 ? 4 : 0;
	uint64_t value = 0;
	if (!left)
		return false;
	if (!used)
		used = ht_wire_varint(wire->p, left, &value);
	else
		for (size_t i = 0; i < used && used <= left; i++)
			value |= (uint64_t)wire->p[i] << 8 * i;
	wire->bad = !used || used > left;
	if (wire->bad)
		return false;
	wire->p += used;
	*ret_value = value;
	return true;
}

#endif
