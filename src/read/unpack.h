/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - a compressed file for those who need any place of it: unpacked into a file without a name.
 *
 * A database of several ranks is opened once for each of them. Who has looked how many there are says so, and then it is unpacked once for
 * all: the next ht_unpack of the same file, so many times, gives what is there already.
 */
#ifndef HT_READ_UNPACK_H
#define HT_READ_UNPACK_H

#include "base/status.h"

/* Whether the file behind the descriptor is compressed in a way that can be read. */
bool ht_is_packed(int fd);
/* What is behind the descriptor of a path, which stays the caller's; in /var/tmp, or /tmp; gone with its descriptor, which the caller
 * closes. Of damaged data, what comes before the damage. */
enum ht_status ht_unpack(ht_ctx *ctx, const char *path, int packed_fd, int *ret_fd) HT_MUST_USE;
/* The file that was unpacked last, if it is that of the path, will be asked for n times more: it is kept for them, or until another one is
 * unpacked. */
void ht_unpack_again(ht_ctx *ctx, const char *path, size_t n);
/* Who unpacked a file is done with it: it goes, unless it will be asked for again. */
void ht_unpack_done(void);

#endif
