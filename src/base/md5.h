/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5.h - the checksum that logs carry of their payloads (RFC 1321). Not for anything that must be safe.
 */
#ifndef HT_BASE_MD5_H
#define HT_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

/* As 32 hexadecimal digits and a byte of 0. */
void ht_md5(const void *bytes, size_t n, char ret_hex[static 33]);

#endif
