/* SPDX-License-Identifier: Apache-2.0 */
/*
 * et_sync.h - calls that wait for the GPU: which work the next call of the thread depends on.
 */
#ifndef HT_ET_ET_SYNC_H
#define HT_ET_ET_SYNC_H

#include "et/et_linked.h"

/* Adds the dependencies to a link that has its GPU work. */
enum ht_status ht_et_sync_add(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena,
        struct ht_et_link *link) HT_MUST_USE;
/* The same as Chakra does it, of the waits that the options have. */
enum ht_status ht_et_sync_add_waits(ht_ctx *ctx, const struct ht_trace *trace,
        const struct ht_et_link_options *options, struct ht_arena *arena,
        struct ht_et_link *link) HT_MUST_USE;

#endif
