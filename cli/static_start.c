/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_start.c - how a static program starts its threads. Only in builds with -Dstatic=true.
 *
 * glibc starts a thread with clone3, and with clone where the kernel does not know clone3 (ENOSYS). Container
 * runtimes from before 2021 answer EPERM to calls that they do not know, which glibc takes for a failure. A
 * static program brings its glibc to all of them; this definition, which the linker prefers to the one in
 * libc.a, makes it use clone at once.
 */
#include <errno.h>
#include <stddef.h>

int __clone3(void *clone_args, size_t n_bytes, int (*start)(void *), void *arg);

int __clone3(void *clone_args, size_t n_bytes, int (*start)(void *), void *arg)
{
	(void)clone_args;
	(void)n_bytes;
	(void)start;
	(void)arg;
	errno = ENOSYS;
	return -1;
}
