/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.h - a look into a file that may be a trace: which reader knows it.
 */
#ifndef HT_READ_LOOK_H
#define HT_READ_LOOK_H

#include "read/reader.h"

struct ht_look {
	const struct ht_reader *reader; /* NULL: nobody knows it */
	const char *what;               /* what it is then */
	bool is_plain;                  /* not compressed */
	size_t n;                       /* bytes that were looked at */
	const char *derived_from; /* the file it was made from by drawing into it; NULL: none */
};

/* What the file holds; its first bytes are put into the buffer of HT_SNIFF_BYTES. Data damaged from the first byte on count
 * as an answer. */
enum ht_status ht_look_into(ht_ctx *ctx, const char *path, struct ht_arena *arena, char *buffer,
        struct ht_look *ret_look) HT_MUST_USE;

#endif
