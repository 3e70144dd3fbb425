/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.c - see vec.h.
 */
#include "base/vec.h"

#include "base/mem.h"

#include <string.h>

bool ht_vec_reserve(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, size_t extra)
{
	if (vec->cap - vec->n >= extra)
		return true;
	size_t cap = vec->cap ? vec->cap + vec->cap / 2 : 16;
	if (cap < vec->n + extra)
		cap = vec->n + extra;
	if (cap > SIZE_MAX / elem_bytes)
		return false;
	void *data = ht_mem_realloc(mem, vec->data, vec->cap * elem_bytes, cap * elem_bytes);
	if (!data)
		return false;
	vec->data = data;
	vec->cap = cap;
	return true;
}

bool ht_vec_reach(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes, size_t n)
{
	if (n <= vec->n)
		return true;
	if (!ht_vec_reserve(mem, vec, elem_bytes, n - vec->n))
		return false;
	memset((char *)vec->data + vec->n * elem_bytes, 0, (n - vec->n) * elem_bytes);
	vec->n = n;
	return true;
}

void ht_vec_free(struct ht_mem *mem, struct ht_vec *vec, size_t elem_bytes)
{
	ht_mem_free(mem, vec->data, vec->cap * elem_bytes);
	*vec = (struct ht_vec){ 0 };
}
