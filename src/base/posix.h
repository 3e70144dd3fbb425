/* SPDX-License-Identifier: Apache-2.0 */
/*
 * posix.h - given to the compiler with -include: what POSIX has and the C library declares only with its own additions.
 *
 * memmem is in POSIX.1-2024 and in every C library, but glibc declares it for _GNU_SOURCE alone.
 */
#ifndef HT_BASE_POSIX_H
#define HT_BASE_POSIX_H

#include <string.h>

void *memmem(const void *bytes, size_t n_bytes, const void *wanted, size_t n_wanted);

#endif
