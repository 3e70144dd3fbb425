/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - see unpack.h.
 *
 * On disk and not in memory: a database of some gigabytes is mostly read once, from its start to its end, and the memory limit is for
 * what is made of it. How much may come of it is bounded as for every compressed file (HT_SOURCE_LIMITS).
 */
#include "read/unpack.h"

#include "base/door.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/platform.h"
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

bool ht_is_packed(int fd)
{
	char bytes[4];
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);
	return n > 0 && ht_compression_of(bytes, (size_t)n) != HT_PLAIN;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno != EINTR)
			return false;
		n -= done > 0 ? (size_t)done : 0;
		bytes += done > 0 ? done : 0;
	}
	return true;
}

static enum ht_status fail_in(ht_ctx *ctx, const char *path, const char *dir, int error)
{
	char text[128];
	return ht_fail(ctx, HT_IO, path, -1,
	        "free some space there, or decompress the file elsewhere",
	        "cannot decompress it into %s: %s", dir, ht_errno_text(error, text, sizeof text));
}

static enum ht_status copy(
        ht_ctx *ctx, const char *path, struct ht_source *source, const char *dir, int fd)
{
	char *piece = ht_mem_alloc(ctx->mem, PIECE_BYTES);
	enum ht_status status = piece ? HT_OK : ht_fail_nomem(ctx);
	size_t n = PIECE_BYTES;
	while (status == HT_OK && n == PIECE_BYTES) {
		status = ht_source_read(ctx, source, piece, PIECE_BYTES, &n);
		if (status == HT_OK && !write_all(fd, piece, n))
			status = fail_in(ctx, path, dir, errno);
		if (status == HT_OK)
			status = ht_progress(ctx, path, ht_source_file_pos(source),
			        ht_source_info(source)->file_bytes);
	}
	ht_mem_free(ctx->mem, piece, PIECE_BYTES);
	return status;
}

/* ---- what is kept ---- */

/* One file of the process: contexts come and go with the ranks that they read. */
static struct {
	pthread_mutex_t lock;
	struct stat of; /* the compressed one */
	int fd;
	bool is_kept;
	size_t n_left; /* times that it will be asked for */
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void let_go(void)
{
	if (kept.is_kept)
		close(kept.fd);
	kept.is_kept = false;
	kept.n_left = 0;
}

/* A descriptor of what is kept of the file, -1: nothing. */
static int take_kept(const struct stat *of)
{
	int fd = -1;
	pthread_mutex_lock(&kept.lock);
	if (kept.is_kept && kept.n_left && is_same(&kept.of, of)) {
		fd = fcntl(kept.fd, F_DUPFD_CLOEXEC, 0);
		if (!--kept.n_left)
			let_go();
	}
	pthread_mutex_unlock(&kept.lock);
	return fd;
}

/* Until it was asked for as often as somebody says, or the next one comes. */
static void keep(const struct stat *of, int fd)
{
	pthread_mutex_lock(&kept.lock);
	let_go();
	kept.of = *of;
	kept.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	kept.is_kept = kept.fd >= 0;
	pthread_mutex_unlock(&kept.lock);
}

void ht_unpack_again(ht_ctx *ctx, const char *path, size_t n)
{
	struct stat of;
	int fd = ht_door_open(ctx, path, O_NONBLOCK | O_NOCTTY);
	bool is_there = fd >= 0 && !fstat(fd, &of);
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(&kept.lock);
	if (is_there && kept.is_kept && is_same(&kept.of, &of))
		kept.n_left = n;
	pthread_mutex_unlock(&kept.lock);
}

void ht_unpack_done(void)
{
	pthread_mutex_lock(&kept.lock);
	if (!kept.n_left)
		let_go();
	pthread_mutex_unlock(&kept.lock);
}

static enum ht_status unpack(ht_ctx *ctx, const char *path, int *ret_fd)
{
	/* for large files first: the other one may be memory */
	static const char *const dirs[] = { "/var/tmp", "/tmp" };
	struct ht_source *source;
	const char *dir = dirs[0];
	int fd, error = ht_temp_unnamed(dir, &fd);
	if (error) {
		dir = dirs[1];
		error = ht_temp_unnamed(dir, &fd);
	}
	if (error)
		return fail_in(ctx, path, dir, error);
	enum ht_status status = ht_source_open(ctx, path, &source);
	if (status == HT_OK) {
		status = copy(ctx, path, source, dir, fd);
		ht_source_close(source);
	}
	if (status != HT_OK)
		close(fd);
	else
		*ret_fd = fd;
	return status;
}

enum ht_status ht_unpack(ht_ctx *ctx, const char *path, int packed_fd, int *ret_fd)
{
	struct stat of;
	if (fstat(packed_fd, &of))
		return ht_fail_errno(ctx, path, "cannot read", errno);
	*ret_fd = take_kept(&of);
	if (*ret_fd >= 0)
		return HT_OK;
	HT_TRY(unpack(ctx, path, ret_fd));
	keep(&of, *ret_fd);
	return HT_OK;
}
