/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.c - see align.h.
 *
 *     forward[i][j]   length of the longest common subsequence of a[0, i) and b[0, j)
 *     backward[i][j]  the same of a[i, n) and b[j, m)
 *
 * a[i] and b[j] pair in some longest one when forward[i][j] + 1 + backward[i+1][j+1] is its length, and a[i] is left out of
 * some when forward[i][j] + backward[i+1][j] is, for some j. O(n m) time and memory.
 */
#include "model/origin/align.h"

#include "base/mem.h"

#include <string.h>

/* Enough positions that agree to take the others for swapped ones. */
#define MIN_SAME 0.8

static size_t pair_by_position(const uint64_t *a, const uint64_t *b, size_t n, uint32_t *partner)
{
	size_t n_same = 0;
	for (size_t i = 0; i < n; i++) {
		partner[i] = a[i] == b[i] ? (uint32_t)i : UINT32_MAX;
		n_same += a[i] == b[i];
	}
	return n_same;
}

static uint16_t larger(uint16_t x, uint16_t y)
{
	return x > y ? x : y;
}

static void fill_tables(const uint64_t *a, size_t n, const uint64_t *b, size_t m, uint16_t *forward,
        uint16_t *backward)
{
	size_t w = m + 1;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++)
			forward[i * w + j] =
			        a[i - 1] == b[j - 1]
			                ? (uint16_t)(forward[(i - 1) * w + j - 1] + 1)
			                : larger(forward[(i - 1) * w + j], forward[i * w + j - 1]);
	for (size_t i = n; i-- > 0;)
		for (size_t j = m; j-- > 0;)
			backward[i * w + j] =
			        a[i] == b[j] ? (uint16_t)(backward[(i + 1) * w + j + 1] + 1)
			                     : larger(backward[(i + 1) * w + j],
			                               backward[i * w + j + 1]);
}

/* The one place of a[i] in every longest common subsequence, or UINT32_MAX. */
static uint32_t certain_place(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
        const uint16_t *forward, const uint16_t *backward, size_t i)
{
	size_t w = m + 1, longest = forward[n * w + m];
	uint32_t place = UINT32_MAX;
	for (size_t j = 0; j <= m; j++) {
		if ((size_t)forward[i * w + j] + backward[(i + 1) * w + j] == longest)
			return UINT32_MAX; /* some longest one does without it */
		if (j == m || a[i] != b[j] ||
		        (size_t)forward[i * w + j] + 1 + backward[(i + 1) * w + j + 1] != longest)
			continue;
		if (place != UINT32_MAX)
			return UINT32_MAX;
		place = (uint32_t)j;
	}
	return place;
}

static enum ht_status pair_by_sequence(ht_ctx *ctx, const uint64_t *a, size_t n, const uint64_t *b,
        size_t m, uint32_t *partner, size_t *ret_n)
{
	size_t n_bytes = (n + 1) * (m + 1) * sizeof(uint16_t);
	uint16_t *forward = ht_mem_zalloc(ctx->mem, n_bytes);
	uint16_t *backward = ht_mem_zalloc(ctx->mem, n_bytes);
	bool ok = forward && backward;
	*ret_n = 0;
	if (ok) {
		fill_tables(a, n, b, m, forward, backward);
		for (size_t i = 0; i < n; i++) {
			partner[i] = certain_place(a, n, b, m, forward, backward, i);
			*ret_n += partner[i] != UINT32_MAX;
		}
	}
	ht_mem_free(ctx->mem, forward, n_bytes);
	ht_mem_free(ctx->mem, backward, n_bytes);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

enum ht_status ht_align(ht_ctx *ctx, const uint64_t *a, size_t n, const uint64_t *b, size_t m,
        uint32_t *ret_partner, size_t *ret_n)
{
	memset(ret_partner, 0xff, n * sizeof *ret_partner);
	*ret_n = 0;
	if (n == m) {
		*ret_n = pair_by_position(a, b, n, ret_partner);
		if ((double)*ret_n >= MIN_SAME * (double)n)
			return HT_OK;
	}
	if (!n || !m || n >= UINT16_MAX || m >= UINT16_MAX ||
	        (n + 1) * (m + 1) > HT_ALIGN_MAX_CELLS)
		return HT_OK;
	return pair_by_sequence(ctx, a, n, b, m, ret_partner, ret_n);
}
