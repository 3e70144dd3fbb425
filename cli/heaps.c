/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heaps.c - the allocator of the C library, set up for threads that fill tables of their own.
 */
#include "cli.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

void heaps_set_up(void)
{
#ifdef __GLIBC__
	/* glibc asks the kernel for each page of a table, under a lock that all page faults of the process wait for: 16
	 * threads were slower than 4. It asks for more at once, which costs addresses and no memory. */
	(void)mallopt(M_TOP_PAD, 16 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}
