/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unzstd.h - zstd data that are in memory.
 */
#ifndef HT_BASE_UNZSTD_H
#define HT_BASE_UNZSTD_H

#include "base/status.h"

/* Append what they expand to, to a vector of bytes that the caller frees, also on failure. HT_FORMAT, without an error that is set:
 * they are damaged, or expand to more than max_bytes. */
enum ht_status ht_unzstd(ht_ctx *ctx, const void *bytes, size_t n, uint64_t max_bytes,
        struct ht_vec *out) HT_MUST_USE;

#endif
