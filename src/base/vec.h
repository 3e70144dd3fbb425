/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h - growable arrays.
 */
#ifndef HT_BASE_VEC_H
#define HT_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ht_mem;

/* A growable array of fixed-size elements. Zero-initialise; elem is set on first push. */
struct ht_vec {
	void *data;
	size_t n, cap; /* in elements */
};

/* Room for extra more elements; false when out of memory. */
bool ht_vec_reserve(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, size_t extra);
/* At least n elements, new ones of zeros; false when out of memory. */
bool ht_vec_reach(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, size_t n);
void ht_vec_free(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes);

/* Append one value of type. Evaluates to false when out of memory. */
#define HT_VEC_PUSH(mem, vec, type, value)                                                         \
	((vec)->n < (vec)->cap || ht_vec_reserve((mem), (vec), sizeof(type), 1)                    \
	                ? (((type *)(vec)->data)[(vec)->n++] = (value), true)                      \
	                : false)

#endif
