/*
 * sort.c - see sort.h.
 */
#include "base/sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define N_DIGITS   ((size_t)1 << DIGIT_BITS)
#define SMALL      48

static void insertion_sort(uint64_t *keys, uint32_t *indexes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		uint32_t index = indexes[i];
		size_t j = i;
		for (; j > 0 && keys[j - 1] > key; j--) {
			keys[j] = keys[j - 1];
			indexes[j] = indexes[j - 1];
		}
		keys[j] = key;
		indexes[j] = index;
	}
}

static void radix_pass(const uint64_t *from, const uint32_t *from_i, uint64_t *to, uint32_t *to_i,
        size_t n, unsigned shift)
{
	size_t start[N_DIGITS] = { 0 };
	for (size_t i = 0; i < n; i++)
		start[from[i] >> shift & (N_DIGITS - 1)]++;
	for (size_t d = 0, at = 0; d < N_DIGITS; d++) {
		size_t count = start[d];
		start[d] = at;
		at += count;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = start[from[i] >> shift & (N_DIGITS - 1)]++;
		to[at] = from[i];
		to_i[at] = from_i[i];
	}
}

bool ht_sort_keys(struct ht_mem *mem, uint64_t *keys, uint32_t *indexes, size_t n)
{
	uint64_t differ = 0;
	bool sorted = true;
	for (size_t i = 1; i < n; i++) {
		differ |= keys[i] ^ keys[0];
		sorted &= keys[i - 1] <= keys[i];
	}
	if (sorted)
		return true;
	if (n <= SMALL) {
		insertion_sort(keys, indexes, n);
		return true;
	}
	uint64_t *spare = ht_mem_alloc(mem, n * sizeof *spare);
	uint32_t *spare_i = ht_mem_alloc(mem, n * sizeof *spare_i);
	if (spare && spare_i) {
		uint64_t *from = keys, *to = spare;
		uint32_t *from_i = indexes, *to_i = spare_i;
		for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
			if (!(differ >> shift & (N_DIGITS - 1)))
				continue;
			radix_pass(from, from_i, to, to_i, n, shift);
			uint64_t *k = from;
			uint32_t *i = from_i;
			from = to;
			from_i = to_i;
			to = k;
			to_i = i;
		}
		if (from != keys) {
			memcpy(keys, from, n * sizeof *keys);
			memcpy(indexes, from_i, n * sizeof *indexes);
		}
	}
	bool ok = spare && spare_i;
	ht_mem_free(mem, spare, n * sizeof *spare);
	ht_mem_free(mem, spare_i, n * sizeof *spare_i);
	return ok;
}
