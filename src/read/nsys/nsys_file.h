/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_file.h - an export of Nsight Systems as the reader sees it: one process of it, and which there are.
 */
#ifndef HT_READ_NSYS_NSYS_FILE_H
#define HT_READ_NSYS_NSYS_FILE_H

#include "store/builder.h"

/* Whether a database is an export, by its tables; what cannot be opened is none. */
bool ht_nsys_is_file(ht_ctx *ctx, const char *path);
/* Read the process of a number that ht_nsys_list_parts gave, or HT_NO_I64: the only one, or the first. */
enum ht_status ht_nsys_read_file(
        struct ht_builder *builder, const char *path, int64_t part) HT_MUST_USE;
/* The numbers of its processes when there are several, in the arena; else none. What is no export has none. */
enum ht_status ht_nsys_list_parts(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        int64_t **ret_parts, size_t *ret_n) HT_MUST_USE;

#endif
