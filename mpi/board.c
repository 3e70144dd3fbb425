/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.c - see board.h.
 */
#include "board.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BOARD_BYTES (BOARD_FILES * sizeof(_Atomic uint32_t))

int board_make(char *ret_name)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(ret_name, BOARD_LETTER, "/holotrace-mpi-%ld-%ld", (long)getpid(),
	        (long)now.tv_nsec);
	int fd = shm_open(ret_name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0) {
		*ret_name = '\0';
		return -1;
	}
	bool ok = ftruncate(fd, (off_t)BOARD_BYTES) == 0;
#ifdef __linux__
	/* with its memory: a page that cannot be had later would be the end of who touches it */
	ok = ok && posix_fallocate(fd, 0, (off_t)BOARD_BYTES) == 0;
#endif
	if (!ok) {
		close(fd);
		board_forget(ret_name);
		*ret_name = '\0';
		return -1;
	}
	return fd;
}

int board_open(const char *name)
{
	return name[0] != '\0' ? shm_open(name, O_RDWR, 0) : -1;
}

void board_forget(const char *name)
{
	if (name[0] != '\0')
		(void)shm_unlink(name);
}

_Atomic uint32_t *board_map(int fd)
{
	void *marks = fd >= 0 ? mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
	                      : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	return marks != MAP_FAILED ? marks : NULL;
}

bool board_claim(void *user, size_t i_source)
{
	struct claims *claims = user;
	uint32_t was = atomic_exchange(&claims->marks[claims->files[i_source]], claims->number);
	claims->taken[i_source] = was != claims->number;
	return claims->taken[i_source];
}
