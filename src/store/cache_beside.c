/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_beside.c - see cache_beside.h.
 */
#include "store/cache_beside.h"

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

static bool make_path(const struct ht_cached *trace, uint64_t name, char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/%016llx" HT_CACHE_BESIDE "%016llx" HT_CACHE_SUFFIX,
	        trace->dir, (unsigned long long)trace->place, (unsigned long long)name);
	return n > 0 && (size_t)n < cap;
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

bool ht_cache_beside_read(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, struct ht_vec *ret_bytes)
{
	char path[PATH_MAX];
	if (!make_path(trace, name, path, sizeof path))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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

void ht_cache_beside_write(
        ht_ctx *ctx, const struct ht_cached *trace, uint64_t name, const struct ht_vec *bytes)
{
	char path[PATH_MAX];
	struct ht_temp temp;
	if (!make_path(trace, name, path, sizeof path) ||
	        !ht_cache_find_room(
	                ctx, trace->dir, strrchr(path, '/') + 1, bytes->n, trace->max_bytes))
		return;
	if (ht_io_should_fail(ctx) || ht_temp_open(path, 0600, &temp)) {
		(void)ht_cache_land(ctx, NULL, bytes->n, false);
		return;
	}
	bool is_good = write_all(ctx, temp.fd, bytes->data, bytes->n);
	(void)ht_cache_land(ctx, &temp, bytes->n, is_good);
}
