/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - arguments and results of a call, from their bytes to the spelling of execution traces.
 *
 * They are decoded once into a flat list (a list's children follow it), which also says how long their text
 * can be; then they are written four times, as values, shapes, types and strides, without further checks.
 * Finishing a recording spends most of its time here. A tensor is met several times, as somebody's result
 * and others' argument; so the texts of the last few thousand are kept, by the very bytes of their record.
 */
#ifndef HT_RECORD_VALUES_H
#define HT_RECORD_VALUES_H

#include "record/ids.h"
#include "record/image.h"
#include "base/emit.h"

#include "holotrace-record.h"

struct ht_value {
	uint8_t kind; /* enum ht_record_kind */
	bool truth;
	bool escaped; /* a text that is not in the record but at `offset` in ht_values.escaped */
	uint32_t n;   /* children, bytes of a text, sizes of a tensor */
	union {
		int64_t integer;
		double real;
		const char *bytes;
		uint64_t name;
		uint64_t object; /* of a tensor */
	};
	uint64_t storage; /* the rest: of a tensor */
	int64_t offset, n_elements;
	uint64_t item_bytes, type, device;
	size_t i_dims; /* into ht_values.dims: sizes, then strides */
	uint64_t object_id, storage_id;
	const struct ht_known_tensor *known; /* its texts; then nothing else is set */
};

#define HT_KNOWN_KEY  62
#define HT_KNOWN_TEXT 176
struct ht_known_tensor {
	uint64_t stamp;      /* the last list that uses it */
	uint64_t generation; /* of the ids */
	uint8_t n_key;       /* 0: free */
	uint8_t n_value, n_shape, n_type, n_stride;
	uint8_t key[HT_KNOWN_KEY];
	char text[HT_KNOWN_TEXT]; /* the four, one after the other */
};
#define HT_N_KNOWN 4096 /* power of two */

/* What doubles look like: few are distinct, all are slow. */
struct ht_known_double {
	uint64_t bits;
	uint8_t n; /* 0: free */
	char text[23];
};

struct ht_values {
	const struct ht_image *image;
	bool exact_doubles;
	struct ht_ids *ids;            /* NULL: tensors get no ids, and no texts are kept */
	struct ht_known_tensor *known; /* made at the first tensor */
	uint64_t stamp;                /* counts lists */
	struct ht_vec list;            /* struct ht_value */
	struct ht_vec dims;            /* int64_t */
	struct ht_vec escaped;         /* char */
	size_t n_top;                  /* values that are not inside another */
	size_t bound;                  /* bytes that ht_values_put needs at most */
	struct ht_known_double doubles[256];
};

/* Read a count and as many values. What is damaged ends the list. */
enum ht_status ht_values_read(struct ht_values *values, struct ht_bytes *bytes) HT_MUST_USE;
void ht_values_done(struct ht_values *values);

/* `{"values":[..],"shapes":[..],"types":[..],"strides":[..]}` at `at`; where it ends. */
char *ht_values_put(char *at, struct ht_values *values);
/* The same as arguments of a timeline: `,"Input Dims":[...],...`, as the profiler's record_shapes. */
void ht_values_emit_kineto(struct ht_emit *emit, const struct ht_values *values);

/* ---- writing without checks: the caller has made room ----------------------------------------------- */

#define HT_PUT(at, literal)                                                                        \
	((char *)memcpy((at), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* At most 20 bytes. Most numbers here have one digit or two. */
static inline char *ht_put_number(char *at, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[20], *first = digits + sizeof digits;
	if (value < 0)
		*at++ = '-';
	if (left < 10) {
		*at++ = (char)('0' + left);
		return at;
	}
	for (; left; left /= 10)
		*--first = (char)('0' + left % 10);
	while (first < digits + sizeof digits)
		*at++ = *first++;
	return at;
}

/* Short texts are many: two moves that overlap instead of a call. */
static inline char *ht_put_bytes(char *at, const char *bytes, size_t n)
{
	uint64_t first, last;
	uint32_t first_half, last_half;
	if (n > 16) {
		memcpy(at, bytes, n);
	} else if (n >= 8) {
		memcpy(&first, bytes, 8);
		memcpy(&last, bytes + n - 8, 8);
		memcpy(at, &first, 8);
		memcpy(at + n - 8, &last, 8);
	} else if (n >= 4) {
		memcpy(&first_half, bytes, 4);
		memcpy(&last_half, bytes + n - 4, 4);
		memcpy(at, &first_half, 4);
		memcpy(at + n - 4, &last_half, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			at[i] = bytes[i];
	}
	return at + n;
}

static inline char *ht_put_name(char *at, struct ht_name name)
{
	return ht_put_bytes(at, name.bytes, name.n);
}

#endif
