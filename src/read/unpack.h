/*
 * unpack.h - a compressed file for those who need any place of it: unpacked into a file without a name.
 */
#ifndef HT_READ_UNPACK_H
#define HT_READ_UNPACK_H

#include "base/status.h"

/* Whether the file behind the descriptor is compressed in a way that can be read. */
bool ht_is_packed(int fd);
/* In /var/tmp, or /tmp; gone with its descriptor, which the caller closes. Of damaged data, what comes before the damage. */
enum ht_status ht_unpack(ht_ctx *ctx, const char *path, int *ret_fd) HT_MUST_USE;

#endif
