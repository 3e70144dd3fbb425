/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h - two sequences of names brought together, without guessing.
 *
 * Equal sequences pair by position. Otherwise a pair counts only when it is certain: by position where nearly all positions
 * agree (something was swapped), else where every longest common subsequence has it (something was left out). Of a run
 * of equal names that lost one nobody can say which, so none of them pairs.
 */
#ifndef HT_MODEL_ORIGIN_ALIGN_H
#define HT_MODEL_ORIGIN_ALIGN_H

#include "base/status.h"

/* Longer ones, as the product of both lengths, pair only by position. */
#define HT_ALIGN_MAX_CELLS ((size_t)25 << 20)

/* ret_partner[i] is the place in b of a[i], UINT32_MAX when none is certain. Returns how many pair through ret_n. */
enum ht_status ht_align(ht_ctx *ctx, const uint64_t *a, size_t n, const uint64_t *b, size_t m,
        uint32_t *ret_partner, size_t *ret_n) HT_MUST_USE;

#endif
