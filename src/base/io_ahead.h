/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_ahead.h - one gzip member inflated by several threads. Private to base/io.c.
 *
 * The compressed data are cut into chunks. Threads that have nothing better to do turn chunks into tokens (deflate.h),
 * each from the first block that they find in it; one thread, in order, turns tokens into text. It checks that each
 * chunk starts where the one before ended, and CRC and length at the end. Whatever is not in order, it gives up: then
 * the decoder for one thread (io_gzip.c) reads it all again, and decides what is wrong. So text is only delivered when
 * that one would deliver it, too.
 */
#ifndef HT_BASE_IO_AHEAD_H
#define HT_BASE_IO_AHEAD_H

#include "base/status.h"

struct ht_ahead;

struct ht_ahead_file {
	int fd; /* read at any place */
	uint64_t n_bytes;
	size_t chunk_bytes;
	uint64_t
	        max_ratio; /* text over compressed that is not to be looked at more closely, 0: any */
};

/* NULL when there is no memory, or the file is not plainly one member of four chunks or more. */
struct ht_ahead *ht_ahead_open(ht_ctx *ctx, const struct ht_ahead_file *file, size_t n_threads);
void ht_ahead_close(struct ht_ahead *ahead);

/* These are for any number of threads at once. */

/* Is there a chunk to be worked on? Or, when urgent, one that will be waited for? */
bool ht_ahead_wants_help(struct ht_ahead *ahead, bool urgent);
/* Work on one chunk. */
void ht_ahead_help(ht_ctx *ctx, struct ht_ahead *ahead);

/* These for one at a time. */

/* Can n bytes be read without working on a chunk, or waiting for one that is worked on? */
bool ht_ahead_is_ready(struct ht_ahead *ahead, size_t n);
/* The next cap bytes of text; fewer at the end of the file, where all is checked. False: it gave up, for good, after the
 * bytes that it answers. */
bool ht_ahead_read(
        ht_ctx *ctx, struct ht_ahead *ahead, uint8_t *out, size_t cap, size_t *ret_n) HT_MUST_USE;
/* Text read so far, and about so much of the file. */
uint64_t ht_ahead_pos(const struct ht_ahead *ahead);
uint64_t ht_ahead_file_pos(const struct ht_ahead *ahead);

#endif
