/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a file's bytes as memory that nobody can take away or change.
 *
 * Memory that is mapped from a file is the file's: whoever cuts the file ends the process (SIGBUS), whoever
 * writes to it changes what was checked. A copy is safe, but copying 73 MB takes 15 ms and mapping them 1.
 * So the file is mapped under a lease, which makes the kernel hold back whoever wants to write to it or cut
 * it until the bytes have been copied into memory of our own. A copy is made at once where there are no
 * leases (network file systems, files of other users), of small files, and when many files are mapped.
 */
#ifndef HT_BASE_MAP_H
#define HT_BASE_MAP_H

#include "base/status.h"

struct ht_map {
	const char *bytes; /* aligned to 16; NULL: none */
	size_t n;
	struct ht_mem *mem; /* where a copy is from; NULL: mapped */
};

/* Take a file that is open for reading; its descriptor is closed sooner or later. bytes is NULL when it is
 * empty, no regular file or cannot be read, or somebody changes it just now. */
enum ht_status ht_map_open(ht_ctx *ctx, int fd, struct ht_map *ret_map) HT_MUST_USE;
/* The same, always as a copy. */
enum ht_status ht_map_copy(ht_ctx *ctx, int fd, struct ht_map *ret_map) HT_MUST_USE;
/* Give the pages of a mapped file back; they come again when they are looked at. False when the bytes are a
 * copy, which has nothing to come from. */
bool ht_map_rest(const struct ht_map *map);
/* One without bytes is fine. */
void ht_map_close(struct ht_map *map);

#endif
