/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - loading; see cache.h and cache_file.h.
 *
 * A file is believed only after, in this order: its head fits this program and the key, its sections fill
 * it, its numbers are sound (sections.h) and its checksum is right. The last two are one pass over the bytes.
 */
#include "store/cache.h"

#include "base/folder.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/cache_file.h"
#include "store/cache_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A first section that is longer is no small one. */
#define MAX_PEEK_BYTES ((uint64_t)1 << 20)

bool ht_cache_path(const char *dir, const struct ht_cache_key *key, const struct ht_sections *kind,
        char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/%016llx.%s" HT_CACHE_SUFFIX, dir,
	        (unsigned long long)ht_cache_key_place(key).place, kind->name);
	return n > 0 && (size_t)n < cap;
}

uint64_t ht_cache_first_section(const struct ht_sections *kind, size_t n_path)
{
	return ht_cache_align(sizeof(struct ht_cache_head) + kind->n * sizeof(uint64_t) + n_path);
}

static bool is_zero(const char *bytes, size_t n)
{
	char any = 0;
	for (size_t i = 0; i < n; i++)
		any |= bytes[i];
	return !any;
}

bool ht_cache_place(const struct ht_sections *kind, const char *bytes, size_t n, void *store)
{
	const struct ht_cache_head *head = (const void *)bytes;
	const uint64_t *lengths = (const void *)(head + 1);
	if (n < ht_cache_first_section(kind, 0) || n < ht_cache_first_section(kind, head->n_path))
		return false;
	uint64_t at = ht_cache_first_section(kind, head->n_path);
	for (size_t i = 0; i < kind->n; i++) {
		size_t elem_bytes = kind->list[i].elem_bytes;
		uint64_t start = ht_cache_align(at);
		if (start > n || lengths[i] > (n - start) / elem_bytes ||
		        !is_zero(bytes + at, start - at))
			return false;
		ht_section_set(store, &kind->list[i],
		        (struct ht_section){ bytes + start, (size_t)lengths[i] });
		at = start + lengths[i] * elem_bytes;
	}
	return at == n;
}

/* ---- checksum ---- */

struct hashing {
	const struct ht_sections *kind;
	uint64_t *hashes; /* of the head, then of each part */
	size_t n;
};

static void hash_part(void *user, size_t i_part, const struct ht_section_part *part)
{
	struct hashing *h = user;
	h->hashes[1 + i_part] = ht_cache_hash(part->bytes, part->n * part->info->elem_bytes);
}

static uint64_t join_hashes(struct hashing *h, const char *bytes)
{
	const struct ht_cache_head *head = (const void *)bytes;
	h->hashes[0] = ht_hash(bytes + HT_CACHE_COVERED,
	        ht_cache_first_section(h->kind, head->n_path) - HT_CACHE_COVERED);
	return ht_hash(h->hashes, h->n * sizeof *h->hashes);
}

uint64_t ht_cache_checksum(const struct ht_sections *kind, const char *bytes, const void *store)
{
	struct hashing h = { .kind = kind, .n = 1 + ht_sections_n_parts(kind, store) };
	h.hashes = malloc(h.n * sizeof *h.hashes);
	if (!h.hashes)
		return 0;
	for (size_t i = 0; i + 1 < h.n; i++) {
		struct ht_section_part part = ht_sections_part(kind, store, i);
		hash_part(&h, i, &part);
	}
	uint64_t checksum = join_hashes(&h, bytes);
	free(h.hashes);
	return checksum;
}

/* ---- loading ---- */

/* bytes has all up to the first section of a file of file_bytes, or the whole of a shorter one. */
static bool head_fits(const char *bytes, uint64_t file_bytes, const struct ht_sections *kind,
        const struct ht_cache_key *key)
{
	struct ht_cache_head head;
	size_t n_path = strlen(key->path);
	char name[sizeof head.kind] = "";
	snprintf(name, sizeof name, "%s", kind->name);
	if (file_bytes < ht_cache_first_section(kind, n_path))
		return false;
	memcpy(&head, bytes, sizeof head);
	return !memcmp(head.magic, HT_CACHE_MAGIC, sizeof head.magic) &&
	       head.version == HT_CACHE_VERSION && head.byte_order == HT_CACHE_ORDER &&
	       !memcmp(head.kind, name, sizeof name) && head.layout == ht_sections_layout(kind) &&
	       head.file_bytes == file_bytes && head.n_sections == kind->n &&
	       head.n_path == n_path && ht_cache_id_fits(&head.id, &key->id) &&
	       !memcmp(bytes + sizeof head + kind->n * sizeof(uint64_t), key->path, n_path);
}

static enum ht_status believe(ht_ctx *ctx, const struct ht_map *map, const struct ht_sections *kind,
        const struct ht_cache_key *key, void *store, bool *ret_hit)
{
	const struct ht_cache_head *head = (const void *)map->bytes;
	if (!head_fits(map->bytes, map->n, kind, key) ||
	        !ht_cache_place(kind, map->bytes, map->n, store))
		return HT_OK;
	struct hashing h = { .kind = kind, .n = 1 + ht_sections_n_parts(kind, store) };
	h.hashes = ht_mem_alloc(ctx->mem, h.n * sizeof *h.hashes);
	if (!h.hashes)
		return ht_fail_nomem(ctx);
	bool sound = false;
	enum ht_status status = ht_sections_check(ctx, kind, store, hash_part, &h, &sound);
	*ret_hit = status == HT_OK && sound && head->checksum == join_hashes(&h, map->bytes);
	ht_mem_free(ctx->mem, h.hashes, h.n * sizeof *h.hashes);
	return status;
}

/* The folder, the name in it and the file of a key; false when there is none. Links are not cache files. */
struct opened {
	int folder, fd;
	char path[PATH_MAX];
	const char *name;
};

static bool open_file(const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, struct opened *ret_file)
{
	if (!key->path[0] || !ht_cache_path(dir, key, kind, ret_file->path, sizeof ret_file->path))
		return false;
	ret_file->folder = ht_folder_of(ret_file->path, &ret_file->name);
	if (ret_file->folder < 0)
		return false;
	ret_file->fd = openat(ret_file->folder, ret_file->name,
	        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (ret_file->fd < 0)
		close(ret_file->folder);
	return ret_file->fd >= 0;
}

/* Eviction goes by last use. The time of writing stays: it tells when the file was made. */
static void touch(const struct opened *file)
{
	utimensat(file->folder, file->name,
	        (struct timespec[]){ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } },
	        AT_SYMLINK_NOFOLLOW);
}

/* The file is the map's from here on. */
static enum ht_status load(ht_ctx *ctx, const struct opened *file, const struct ht_cache_key *key,
        const struct ht_sections *kind, void *store, struct ht_map *ret_map, bool *ret_hit)
{
	struct ht_map map;
	HT_TRY(ht_map_open(ctx, file->fd, &map));
	enum ht_status status = HT_OK;
	if (map.bytes)
		status = believe(ctx, &map, kind, key, store, ret_hit);
	if (*ret_hit) {
		*ret_map = map;
		touch(file);
		return HT_OK;
	}
	for (size_t i = 0; i < kind->n; i++)
		ht_section_set(store, &kind->list[i], (struct ht_section){ 0 });
	ht_map_close(&map);
	return status;
}

enum ht_status ht_cache_load(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, void *store, struct ht_map *ret_map, bool *ret_hit)
{
	struct opened file;
	*ret_hit = false;
	if (!open_file(dir, key, kind, &file))
		return HT_OK;
	enum ht_status status = load(ctx, &file, key, kind, store, ret_map, ret_hit);
	close(file.folder);
	return status;
}

/* ---- the first section ---- */

/* What is there is read again by ht_cache_load, which believes nothing that is said here. */
static enum ht_status peek(ht_ctx *ctx, int fd, const struct ht_cache_key *key,
        const struct ht_sections *kind, struct ht_arena *arena, struct ht_section *ret_section)
{
	struct stat st;
	size_t n_head = ht_cache_first_section(kind, strlen(key->path)), n_read = 0;
	char *head = ht_arena_alloc(arena, n_head);
	if (!head)
		return ht_fail_nomem(ctx);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	        !ht_cache_read_at(ctx, fd, head, n_head, 0, &n_read) || n_read < n_head ||
	        !head_fits(head, (uint64_t)st.st_size, kind, key))
		return HT_OK;
	uint64_t n;
	memcpy(&n, head + sizeof(struct ht_cache_head), sizeof n);
	if (n > MAX_PEEK_BYTES / kind->list[0].elem_bytes)
		return HT_OK;
	size_t n_bytes = (size_t)n * kind->list[0].elem_bytes;
	char *bytes = ht_arena_alloc(arena, n_bytes + 1);
	if (!bytes)
		return ht_fail_nomem(ctx);
	if (ht_cache_read_at(ctx, fd, bytes, n_bytes, n_head, &n_read) && n_read == n_bytes)
		*ret_section = (struct ht_section){ bytes, (size_t)n };
	return HT_OK;
}

enum ht_status ht_cache_peek(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_sections *kind, struct ht_arena *arena, struct ht_section *ret_section)
{
	struct opened file;
	*ret_section = (struct ht_section){ 0 };
	if (!open_file(dir, key, kind, &file))
		return HT_OK;
	enum ht_status status = peek(ctx, file.fd, key, kind, arena, ret_section);
	/* it may be all that is asked: the rest is known from what is kept beside */
	if (ret_section->n)
		touch(&file);
	close(file.fd);
	close(file.folder);
	return status;
}
