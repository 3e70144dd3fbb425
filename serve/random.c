/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - see random.h.
 */
#include "random.h"

#include <fcntl.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

/* From the kernel, and where it has no call for that, or is too old for it, from its device. */
bool random_bytes(void *bytes, size_t n)
{
#ifdef SYS_getrandom
	if (syscall(SYS_getrandom, bytes, n, 0) == (long)n)
		return true;
#endif
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool is_full = fd >= 0 && read(fd, bytes, n) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return is_full;
}

bool random_hex(char *text, size_t n)
{
	unsigned char byte;
	for (size_t i = 0; i + 2 < n; i += 2) {
		if (!random_bytes(&byte, 1))
			return false;
		snprintf(text + i, 3, "%02x", byte);
	}
	return true;
}
