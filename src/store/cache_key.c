/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_key.c - what a file is known by; see cache.h.
 *
 * Pieces grow with the square root of the file: 16 in 1 MB, 256 in 240 MB, 4096 at most. That is some
 * 0.2 ms for 240 MB, and little even when every piece has to come from a disk. Small files are hashed whole.
 */
#include "store/cache_key.h"

#include "base/door.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/platform.h"
#include "base/thread.h"
#include "store/cache_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES  1024
#define MIN_PIECES   16
#define MAX_PIECES   4096
#define SQUARE_BYTES 4096 /* pieces = square root of this many bytes each */
#define WHOLE_BYTES  ((size_t)64 << 10)
#define BLOCK_BYTES  ((size_t)1 << 20)

bool ht_cache_read_at(ht_ctx *ctx, int fd, char *bytes, size_t n, uint64_t offset, size_t *ret_n)
{
	size_t n_done = 0;
	while (n_done < n) {
		ssize_t got = ht_io_should_fail(ctx) ? -1
		                                     : pread(fd, bytes + n_done, n - n_done,
		                                               (off_t)(offset + n_done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			break;
		n_done += (size_t)got;
	}
	*ret_n = n_done;
	return true;
}

static bool hash_pieces(ht_ctx *ctx, int fd, uint64_t size, uint64_t *ret_hash)
{
	char bytes[WHOLE_BYTES];
	uint64_t n_pieces = 1, hash = size;
	size_t n_piece = sizeof bytes, n;
	if (size > sizeof bytes) {
		n_piece = PIECE_BYTES;
		for (n_pieces = MIN_PIECES;
		        n_pieces < MAX_PIECES && n_pieces * n_pieces * SQUARE_BYTES < size;)
			n_pieces *= 2;
	}
	for (uint64_t i = 0; i < n_pieces; i++) {
		/* the first at the start, the last at the end; in steps, as the product may overflow */
		uint64_t step = n_pieces > 1 ? (size - n_piece) / (n_pieces - 1) : 0;
		uint64_t offset = i && i + 1 == n_pieces ? size - n_piece : step * i;
		if (!ht_cache_read_at(ctx, fd, bytes, n_piece, offset, &n))
			return false;
		hash = ht_hash_mix(hash, ht_hash(bytes, n));
	}
	*ret_hash = hash;
	return true;
}

struct whole {
	ht_ctx *ctx;
	int fd;
	uint64_t size;
	char *buffers;    /* one block per worker */
	uint64_t *hashes; /* one per block of the file */
	atomic_bool failed;
};

static enum ht_status hash_block(void *user, size_t i_task, int i_worker)
{
	struct whole *w = user;
	char *bytes = w->buffers + (size_t)i_worker * BLOCK_BYTES;
	size_t n = 0;
	if (!ht_cache_read_at(
	            w->ctx, w->fd, bytes, BLOCK_BYTES, (uint64_t)i_task * BLOCK_BYTES, &n))
		atomic_store(&w->failed, true);
	w->hashes[i_task] = ht_cache_hash(bytes, n);
	return HT_OK;
}

static enum ht_status hash_whole(
        ht_ctx *ctx, int fd, uint64_t size, uint64_t *ret_hash, bool *ret_done)
{
	size_t n_blocks = (size_t)(size / BLOCK_BYTES) + 1;
	size_t n_buffers = (size_t)ht_ctx_jobs(ctx) * BLOCK_BYTES;
	struct whole w = { .ctx = ctx, .fd = fd, .size = size };
	w.buffers = ht_mem_alloc(ctx->mem, n_buffers);
	w.hashes = ht_mem_alloc(ctx->mem, n_blocks * sizeof *w.hashes);
	enum ht_status status = w.buffers && w.hashes ? HT_OK : ht_fail_nomem(ctx);
	if (status == HT_OK)
		status = ht_parallel(ctx, n_blocks, hash_block, &w);
	if (status == HT_OK) {
		*ret_hash = ht_hash(w.hashes, n_blocks * sizeof *w.hashes) | 1;
		*ret_done = !atomic_load(&w.failed);
	}
	ht_mem_free(ctx->mem, w.hashes, n_blocks * sizeof *w.hashes);
	ht_mem_free(ctx->mem, w.buffers, n_buffers);
	return status;
}

static int64_t to_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

enum ht_status ht_cache_key_make(
        ht_ctx *ctx, const char *path, uint64_t options, bool whole, struct ht_cache_key *ret_key)
{
	memset(&ret_key->id, 0, sizeof ret_key->id);
	ret_key->path[0] = '\0';
	ret_key->files = NULL;
	ret_key->n_files = 0;
	/* a named pipe must not be waited for */
	int fd = ht_door_open(ctx, path, O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return HT_OK;
	struct stat st;
	struct ht_cache_id *id = &ret_key->id;
	enum ht_status status = HT_OK;
	bool known = !fstat(fd, &st) && S_ISREG(st.st_mode) && realpath(path, ret_key->path) &&
	             hash_pieces(ctx, fd, (uint64_t)st.st_size, &id->sample);
	if (known && whole)
		status = hash_whole(ctx, fd, (uint64_t)st.st_size, &id->content, &known);
	close(fd);
	if (!known || status != HT_OK) {
		ret_key->path[0] = '\0';
		return status;
	}
	id->size = (uint64_t)st.st_size;
	id->inode = (uint64_t)st.st_ino;
	id->mtime_ns = to_ns(HT_STAT_MTIME(&st));
	id->ctime_ns = to_ns(HT_STAT_CTIME(&st));
	id->options = options;
	return HT_OK;
}

enum ht_status ht_cache_key_join(ht_ctx *ctx, const char *dir, const char *const *files,
        size_t n_files, uint64_t options, bool whole, struct ht_cache_key *ret_key)
{
	struct ht_cache_id all = { .options = options };
	struct ht_cache_key *one = ht_mem_alloc(ctx->mem, sizeof *one);
	enum ht_status status = one ? HT_OK : ht_fail_nomem(ctx);
	bool known = true;
	for (size_t i = 0; status == HT_OK && known && i < n_files; i++) {
		status = ht_cache_key_make(ctx, files[i], options, whole, one);
		known = status == HT_OK && one->path[0];
		uint64_t sample = ht_hash_mix(one->id.sample, ht_hash(files[i], strlen(files[i])));
		all.size += one->id.size;
		all.inode = ht_hash_mix(all.inode, one->id.inode);
		all.mtime_ns ^= (int64_t)ht_hash_mix((uint64_t)one->id.mtime_ns, i);
		all.ctime_ns ^= (int64_t)ht_hash_mix((uint64_t)one->id.ctime_ns, i);
		all.sample = ht_hash_mix(all.sample, sample);
		all.content = whole ? ht_hash_mix(all.content, one->id.content) | 1 : 0;
	}
	ret_key->path[0] = '\0';
	ret_key->id = all;
	ret_key->files = files;
	ret_key->n_files = n_files;
	if (status == HT_OK && known && !realpath(dir, ret_key->path))
		ret_key->path[0] = '\0';
	ht_mem_free(ctx->mem, one, sizeof *one);
	return status;
}

struct ht_cached ht_cache_key_place(const struct ht_cache_key *key)
{
	return (struct ht_cached){ .place = ht_hash(key->path, strlen(key->path)), .id = key->id };
}

bool ht_cache_id_fits(const struct ht_cache_id *stored, const struct ht_cache_id *wanted)
{
	return stored->size == wanted->size && stored->inode == wanted->inode &&
	       stored->mtime_ns == wanted->mtime_ns && stored->ctime_ns == wanted->ctime_ns &&
	       stored->sample == wanted->sample && stored->options == wanted->options &&
	       (!wanted->content || stored->content == wanted->content);
}
