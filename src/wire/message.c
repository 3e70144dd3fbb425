/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - see message.h.
 */
#include "wire/message.h"

void ht_message_done(struct ht_message *m)
{
	ht_vec_free(m->mem, &m->bytes, 1);
}

unsigned char *ht_message_grow(struct ht_message *m, size_t n)
{
	if (m->failed || !ht_vec_reserve(m->mem, &m->bytes, 1, n + 1)) {
		m->failed = true;
		return NULL;
	}
	return (unsigned char *)m->bytes.data + m->bytes.n;
}

void ht_message_fixed64(struct ht_message *m, uint32_t field, uint64_t value)
{
	unsigned char bytes[8];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	ht_message_varint(m, (uint64_t)field << 3 | HT_WIRE_FIXED64);
	ht_message_raw(m, bytes, sizeof bytes);
}

void ht_message_f64(struct ht_message *m, uint32_t field, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	ht_message_fixed64(m, field, bits);
}

void ht_message_text(struct ht_message *m, uint32_t field, const char *text)
{
	ht_message_bytes(m, field, text, strlen(text));
}
