/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - one trace file, from the cache or from its text.
 */
#ifndef HT_READ_READ_H
#define HT_READ_READ_H

#include "store/kernel_rules.h"
#include "store/set.h"

/* How large the cache may grow. */
static inline uint64_t ht_cache_max_bytes(const struct ht_open_options *options)
{
	return options->cache_max_bytes ? options->cache_max_bytes : (uint64_t)8 << 30;
}

/* Open one file as a sealed trace; the caller frees it with ht_trace_release. ret_cached: where the cache has it now, NULL:
 * nobody asks. */
enum ht_status ht_read_trace(ht_ctx *ctx, const char *path, const struct ht_open_options *options,
        const struct ht_kernel_rules *rules, struct ht_trace **ret_trace,
        struct ht_cached *ret_cached) HT_MUST_USE;
/* What the cache knows of a file whose trace it has, without opening that. Lists go to the arena. */
enum ht_status ht_read_known(ht_ctx *ctx, const char *path, const struct ht_open_options *options,
        const struct ht_kernel_rules *rules, struct ht_arena *arena, struct ht_rank *ret_rank,
        struct ht_cached *ret_cached, bool *ret_known) HT_MUST_USE;

#endif
