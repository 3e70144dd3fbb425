/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - files of a folder that is open already; those of a path are in holotrace.h, ht_writer_open and so on.
 */
#ifndef HT_BASE_WRITER_H
#define HT_BASE_WRITER_H

#include "base/status.h"

/* By the last name of path; the rest of it is for messages. A link that has the name is replaced, never followed. */
enum ht_status ht_writer_open_at(
        ht_ctx *ctx, int folder, const char *path, struct ht_writer **ret_writer) HT_MUST_USE;

#endif
