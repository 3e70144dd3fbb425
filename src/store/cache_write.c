/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_write.c - storing; see cache.h and cache_file.h. Room is made by cache_quota.c.
 *
 * The file takes its name when it is complete (base/temp.h), so a killed writer leaves nothing under the
 * name. The checksum is written last: even a file renamed by hand is not believed.
 */
#include "store/cache.h"

#include "base/folder.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/platform.h"
#include "base/temp.h"
#include "base/thread.h"
#include "store/cache_file.h"
#include "store/cache_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef IOV_MAX
#define MAX_PIECES IOV_MAX
#else
#define MAX_PIECES 16 /* as many as every system takes */
#endif
#define PARTS_AT_ONCE 16

/* Head, lengths and path with their pad, in one block; the size of the file is in the head. */
static char *make_front(ht_ctx *ctx, const struct ht_cache_key *key, const struct ht_sections *kind,
        const void *store, size_t n_front)
{
	char *front = ht_mem_zalloc(ctx->mem, n_front);
	if (!front)
		return NULL;
	struct ht_cache_head head = { .version = HT_CACHE_VERSION,
		.byte_order = HT_CACHE_ORDER,
		.layout = ht_sections_layout(kind),
		.id = key->id,
		.n_path = (uint32_t)strlen(key->path),
		.n_sections = (uint32_t)kind->n };
	memcpy(head.magic, HT_CACHE_MAGIC, sizeof head.magic);
	snprintf(head.kind, sizeof head.kind, "%s", kind->name);
	uint64_t *lengths = (void *)(front + sizeof head), at = n_front;
	for (size_t i = 0; i < kind->n; i++) {
		lengths[i] = ht_section_get(store, &kind->list[i]).n;
		at = ht_cache_align(at) + lengths[i] * kind->list[i].elem_bytes;
	}
	head.file_bytes = at;
	memcpy(front, &head, sizeof head);
	memcpy(front + sizeof head + kind->n * sizeof *lengths, key->path, head.n_path);
	return front;
}

/* ---- the file ---- */

struct writing {
	ht_ctx *ctx;
	int fd;
	const char *front;
	size_t n_front;
	const struct ht_sections *kind;
	const void *store;
	uint64_t *hashes; /* of the front, then of each part */
	size_t n_parts;
	bool written;
};

/* Front, sections and the pads between them as one list. Returns how many pieces. */
static size_t list_pieces(const struct writing *w, struct iovec *pieces)
{
	static const char zeros[HT_CACHE_ALIGN];
	uint64_t at = w->n_front;
	size_t n_pieces = 0;
	pieces[n_pieces++] = (struct iovec){ (void *)(uintptr_t)w->front, w->n_front };
	for (size_t i = 0; i < w->kind->n; i++) {
		struct ht_section section = ht_section_get(w->store, &w->kind->list[i]);
		size_t n = section.n * w->kind->list[i].elem_bytes;
		pieces[n_pieces++] =
		        (struct iovec){ (void *)(uintptr_t)zeros, ht_cache_align(at) - at };
		pieces[n_pieces++] = (struct iovec){ (void *)(uintptr_t)section.data, n };
		at = ht_cache_align(at) + n;
	}
	return n_pieces;
}

/* As few writes as can be: the larger they are and the rounder their places in the file, the larger the pieces of
 * the page cache in which systems keep it. Those of 2 MiB are mapped as one page each. */
static bool write_pieces(ht_ctx *ctx, int fd, struct iovec *pieces, size_t n)
{
	while (n) {
		int n_now = n < MAX_PIECES ? (int)n : MAX_PIECES;
		ssize_t n_done = ht_io_should_fail(ctx) ? -1 : writev(fd, pieces, n_now);
		if (n_done < 0 && errno == EINTR)
			continue;
		if (n_done < 0)
			return false;
		size_t left = (size_t)n_done;
		for (; n && pieces->iov_len <= left; pieces++, n--)
			left -= pieces->iov_len;
		if (n && !n_done)
			return false;
		if (n) {
			pieces->iov_base = (char *)pieces->iov_base + left;
			pieces->iov_len -= left;
		}
	}
	return true;
}

/* A cache that cannot be written is no error. */
static void write_all(struct writing *w)
{
	size_t n = (1 + 2 * w->kind->n) * sizeof(struct iovec);
	struct iovec *pieces = ht_mem_alloc(w->ctx->mem, n);
	if (pieces)
		w->written = write_pieces(w->ctx, w->fd, pieces, list_pieces(w, pieces));
	ht_mem_free(w->ctx->mem, pieces, n);
}

/* Writing is the kernel's work and one thread's; the others hash meanwhile. */
static enum ht_status write_or_hash(void *user, size_t i_task, int i_worker)
{
	struct writing *w = user;
	(void)i_worker;
	if (!i_task) {
		write_all(w);
		return HT_OK;
	}
	size_t end = i_task * PARTS_AT_ONCE < w->n_parts ? i_task * PARTS_AT_ONCE : w->n_parts;
	for (size_t i = (i_task - 1) * PARTS_AT_ONCE; i < end; i++) {
		struct ht_section_part part = ht_sections_part(w->kind, w->store, i);
		w->hashes[1 + i] = ht_cache_hash(part.bytes, part.n * part.info->elem_bytes);
	}
	return HT_OK;
}

static bool write_file(struct writing *w)
{
	w->n_parts = ht_sections_n_parts(w->kind, w->store);
	size_t n_hashes = (1 + w->n_parts) * sizeof *w->hashes;
	w->hashes = ht_mem_alloc(w->ctx->mem, n_hashes);
	if (!w->hashes)
		return false;
	w->hashes[0] = ht_hash(w->front + HT_CACHE_COVERED, w->n_front - HT_CACHE_COVERED);
	size_t n_tasks = 1 + (w->n_parts + PARTS_AT_ONCE - 1) / PARTS_AT_ONCE;
	bool good = ht_parallel(w->ctx, n_tasks, write_or_hash, w) == HT_OK && w->written &&
	            !ht_io_should_fail(w->ctx);
	uint64_t checksum = ht_hash(w->hashes, n_hashes);
	ht_mem_free(w->ctx->mem, w->hashes, n_hashes);
	return good && pwrite(w->fd, &checksum, sizeof checksum,
	                       offsetof(struct ht_cache_head, checksum)) == sizeof checksum;
}

/* ---- storing ---- */

static bool has_changed(ht_ctx *ctx, const struct ht_cache_key *key)
{
	struct ht_cache_key now;
	enum ht_status status =
	        key->files
	                ? ht_cache_key_join(ctx, key->path, key->files, key->n_files,
	                          key->id.options, key->id.content, &now)
	                : ht_cache_key_make(ctx, key->path, key->id.options, key->id.content, &now);
	return status != HT_OK || !now.path[0] || !ht_cache_id_fits(&now.id, &key->id);
}

static bool write_whole(ht_ctx *ctx, int folder, const char *name, const struct ht_cache_key *key,
        const struct ht_sections *kind, const void *store, const char *front, size_t n_front)
{
	const struct ht_cache_head *head = (const void *)front;
	struct ht_temp temp;
	if (ht_io_should_fail(ctx) || ht_temp_open_at(folder, name, 0600, &temp))
		return ht_cache_land(ctx, NULL, head->file_bytes, false);
	struct writing w = { .ctx = ctx,
		.fd = temp.fd,
		.front = front,
		.n_front = n_front,
		.kind = kind,
		.store = store };
	bool good = write_file(&w) && !has_changed(ctx, key);
	return ht_cache_land(ctx, &temp, head->file_bytes, good);
}

enum ht_status ht_cache_store(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, const void *store, uint64_t max_bytes, bool *ret_stored)
{
	char path[PATH_MAX];
	*ret_stored = false;
	if (!key->path[0] || !ht_cache_path(dir, key, kind, path, sizeof path))
		return HT_OK;
	const char *name = strrchr(path, '/') + 1;
	size_t n_front = ht_cache_first_section(kind, strlen(key->path));
	char *front = make_front(ctx, key, kind, store, n_front);
	const struct ht_cache_head *head = (const void *)front;
	/* looked at, made room in and written to as one folder, whatever its path leads to meanwhile */
	int folder =
	        front && head->file_bytes <= max_bytes && dir[0] ? ht_folder_open(dir, 0700) : -1;
	if (folder >= 0) {
		if (ht_cache_make_room(ctx, folder, name, head->file_bytes, max_bytes))
			*ret_stored =
			        write_whole(ctx, folder, name, key, kind, store, front, n_front);
		close(folder);
	}
	ht_mem_free(ctx->mem, front, n_front);
	return HT_OK;
}
