/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flatbuf.c - see flatbuf.h.
 */
#include "table/flatbuf.h"

#include <string.h>

/* Position of n new zero bytes, so placed that position + skew is a multiple of align. */
static size_t extend(struct ht_flatbuf *fb, size_t n, size_t align, size_t skew)
{
	size_t pad = (align - (fb->bytes.n + skew) % align) % align;
	if (fb->failed || !ht_vec_reserve(fb->mem, &fb->bytes, 1, pad + n)) {
		fb->failed = true;
		return 0;
	}
	memset((char *)fb->bytes.data + fb->bytes.n, 0, pad + n);
	size_t at = fb->bytes.n + pad;
	fb->bytes.n = at + n;
	return at;
}

static void set(struct ht_flatbuf *fb, size_t at, const void *value, size_t n)
{
	if (!fb->failed)
		memcpy((char *)fb->bytes.data + at, value, n);
}

static void fill_hole(struct ht_flatbuf *fb, size_t hole, size_t target)
{
	uint32_t offset = (uint32_t)(target - hole);
	set(fb, hole, &offset, sizeof offset);
}

void ht_flatbuf_init(struct ht_flatbuf *fb, struct ht_mem *mem)
{
	*fb = (struct ht_flatbuf){ .mem = mem };
	extend(fb, sizeof(uint32_t), 8, 0);
}

void ht_flatbuf_done(struct ht_flatbuf *fb)
{
	ht_vec_free(fb->mem, &fb->bytes, 1);
}

void ht_flatbuf_table(struct ht_flatbuf *fb, size_t hole, const struct ht_flatbuf_field *fields,
        size_t n_fields, size_t *ret_at)
{
	/* Fields of eight bytes come first after the vtable offset, so that all are aligned. */
	uint16_t vtable[2 + HT_FLATBUF_MAX_FIELDS] = { 0 };
	size_t n_vtable = (2 + n_fields) * sizeof *vtable, used = sizeof(int32_t);
	for (size_t size = 8; size; size /= 2)
		for (size_t i = 0; i < n_fields; i++)
			if (fields[i].n_bytes == size) {
				used = (used + size - 1) / size * size;
				vtable[2 + i] = (uint16_t)used;
				used += size;
			}
	vtable[0] = (uint16_t)n_vtable;
	vtable[1] = (uint16_t)used;
	size_t at = extend(fb, n_vtable + used, 8, n_vtable);
	size_t table = at + n_vtable;
	int32_t back = (int32_t)n_vtable;
	set(fb, at, vtable, n_vtable);
	set(fb, table, &back, sizeof back);
	fill_hole(fb, hole, table);
	for (size_t i = 0; i < n_fields; i++) {
		ret_at[i] = table + vtable[2 + i];
		set(fb, ret_at[i], &fields[i].value, fields[i].n_bytes);
	}
}

size_t ht_flatbuf_vector(
        struct ht_flatbuf *fb, size_t hole, size_t n, size_t elem_bytes, size_t align)
{
	uint32_t count = (uint32_t)n;
	size_t at = extend(fb, sizeof count + n * elem_bytes, align, sizeof count);
	set(fb, at, &count, sizeof count);
	fill_hole(fb, hole, at);
	return at + sizeof count;
}

void ht_flatbuf_string(struct ht_flatbuf *fb, size_t hole, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	size_t at = extend(fb, sizeof n + n + 1, sizeof n, 0);
	set(fb, at, &n, sizeof n);
	set(fb, at + sizeof n, text, n);
	fill_hole(fb, hole, at);
}

void ht_flatbuf_set_i64(struct ht_flatbuf *fb, size_t at, int64_t value)
{
	set(fb, at, &value, sizeof value);
}
