/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - opening a set for those who look at each trace while it is at hand. What else opens sets is public.
 */
#ifndef HT_READ_OPEN_H
#define HT_READ_OPEN_H

#include "store/set.h"

/* ht_open, with somebody who is shown the traces and stays with the set (ended with it, or when opening fails); at most
 * keep_bytes of them are kept then. NULL: nobody. It is shown none where one file is read at a time. */
enum ht_status ht_open_visited(ht_ctx *ctx, const char *const *sources, size_t n_sources,
        const struct ht_open_options *options, const struct ht_visitor *visitor,
        uint64_t keep_bytes, ht_set **ret_set) HT_MUST_USE;

#endif
