/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_beside.c - see cache_beside.h.
 */
#include "store/cache_beside.h"

#include "base/folder.h"
#include "base/mem.h"
#include "base/temp.h"
#include "store/cache_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer files were not written here. */
#define MAX_BYTES ((off_t)1 << 30)

/* The name of the file, and its folder held open, which the caller closes; -1: there is none. */
static int open_folder(const struct ht_cached *trace, uint64_t name, char *ret_name, size_t cap)
{
	int n = snprintf(ret_name, cap, "%016llx" HT_CACHE_BESIDE "%016llx" HT_CACHE_SUFFIX,
	        (unsigned long long)trace->place, (unsigned long long)name);
	return n > 0 && (size_t)n < cap ? ht_folder_open(trace->dir, 0) : -1;
}

static bool read_all(ht_ctx *ctx, int fd, struct ht_vec *ret_bytes)
{
	struct stat st;
	size_t n_read = 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > MAX_BYTES)
		return false;
	size_t n = (size_t)st.st_size;
	struct ht_vec bytes = { 0 };
	if (!ht_vec_reserve(ctx->mem, &bytes, 1, n))
		return false;
	if (!ht_cache_read_at(ctx, fd, bytes.data, n, 0, &n_read) || n_read != n) {
		ht_vec_free(ctx->mem, &bytes, 1);
		return false;
	}
	bytes.n = n;
	*ret_bytes = bytes;
	return true;
}

static int open_file(const struct ht_cached *trace, uint64_t name)
{
	char file[NAME_MAX];
	int folder = open_folder(trace, name, file, sizeof file);
	if (folder < 0)
		return -1;
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	close(folder);
	return fd;
}

bool ht_cache_beside_begins(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, const struct ht_vec *front)
{
	struct stat st;
	size_t n_read = 0;
	int fd = open_file(trace, name);
	char *bytes = fd < 0 ? NULL : ht_mem_alloc(ctx->mem, front->n);
	bool begins = bytes && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	              ht_cache_read_at(ctx, fd, bytes, front->n, 0, &n_read) &&
	              n_read == front->n && !memcmp(bytes, front->data, front->n);
	ht_mem_free(ctx->mem, bytes, front->n);
	if (fd >= 0)
		close(fd);
	return begins;
}

bool ht_cache_beside_read(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, struct ht_vec *ret_bytes)
{
	int fd = open_file(trace, name);
	if (fd < 0)
		return false;
	bool is_read = read_all(ctx, fd, ret_bytes);
	/* the time of use, by which files go */
	if (is_read)
		(void)futimens(fd,
		        (struct timespec[]){ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } });
	close(fd);
	return is_read;
}

static bool write_all(ht_ctx *ctx, int fd, const char *bytes, size_t n)
{
	for (size_t n_done = 0; n_done < n;) {
		ssize_t n_now = ht_io_should_fail(ctx) ? -1 : write(fd, bytes + n_done, n - n_done);
		if (n_now <= 0)
			return false;
		n_done += (size_t)n_now;
	}
	return true;
}

static void write_in(ht_ctx *ctx, int folder, const struct ht_cached *trace, const char *file,
        const struct ht_vec *bytes)
{
	struct ht_temp temp;
	if (!ht_cache_find_room(ctx, folder, file, bytes->n, trace->max_bytes))
		return;
	if (ht_io_should_fail(ctx) || ht_temp_open_at(folder, file, 0600, &temp)) {
		(void)ht_cache_land(ctx, NULL, bytes->n, false);
		return;
	}
	bool is_good = write_all(ctx, temp.fd, bytes->data, bytes->n);
	(void)ht_cache_land(ctx, &temp, bytes->n, is_good);
}

void ht_cache_beside_write(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, const struct ht_vec *bytes)
{
	char file[NAME_MAX];
	int folder = open_folder(trace, name, file, sizeof file);
	if (folder < 0)
		return;
	write_in(ctx, folder, trace, file, bytes);
	close(folder);
}
