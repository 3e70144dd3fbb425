/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - the files that sources of attachments mean, and of which kind each is.
 */
#ifndef HT_ATTACH_FIND_H
#define HT_ATTACH_FIND_H

#include "base/status.h"

/* Append struct ht_attachment for the sources of a list, a line each; texts are in the arena. */
enum ht_status ht_attach_find(
        ht_ctx *ctx, const char *list, struct ht_arena *arena, struct ht_vec *found) HT_MUST_USE;
/* The same for what lies beside a trace under a name that a kind looks for. What is of no kind there, or cannot be read,
 * is nobody's. */
enum ht_status ht_attach_find_beside(ht_ctx *ctx, const char *trace_path, struct ht_arena *arena,
        struct ht_vec *found) HT_MUST_USE;

#endif
