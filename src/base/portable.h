/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portable.h - given to the compiler with -include in the portable build.
 *
 * memmem is in POSIX.1-2024 and in every C library, but glibc declares it among its own additions only.
 */
#ifndef HT_BASE_PORTABLE_H
#define HT_BASE_PORTABLE_H

#include <string.h>

void *memmem(const void *bytes, size_t n_bytes, const void *wanted, size_t n_wanted);

#endif
