/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - the life of a builder: begun, sealed into a trace, ended.
 */
#ifndef HT_STORE_BUILD_H
#define HT_STORE_BUILD_H

#include "store/builder.h"
#include "store/kernel_rules.h"

void ht_builder_init(struct ht_builder *builder, ht_ctx *ctx, const char *path);
void ht_builder_done(struct ht_builder *builder);

/* Make the trace of what was read and find its links. The builder is empty afterwards. */
enum ht_status ht_builder_seal(struct ht_builder *builder, const struct ht_kernel_rules *rules,
        struct ht_trace *trace) HT_MUST_USE;

#endif
