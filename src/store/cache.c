/*
 * cache.c - loading; see cache.h and cache_file.h.
 *
 * A file is believed only after, in this order: its head fits this program and the key, its sections
 * lie inside it, its checksum is right, its numbers are sound (check.h).
 */
#include "store/cache.h"

#include "base/thread.h"
#include "store/cache_file.h"
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t ht_cache_layout(void)
{
	static const char *const texts[] = {
#define SECTION(name, type) #name,
#include "store/sections.def"
#undef SECTION
#define STAT(name, ...) #name,
#include "store/import_stats.def"
#undef STAT
#define CATEGORY(...) #__VA_ARGS__,
#include "store/kinds.def"
#undef CATEGORY
#define RULE(...) #__VA_ARGS__,
#include "store/kernel_rules.def"
#undef RULE
	};
	static const size_t sizes[] = {
		sizeof(void *),
		HT_N_KINDS,
		HT_N_CLASSES,
#define SECTION(name, type) sizeof(type),
#include "store/sections.def"
#undef SECTION
	};
	uint64_t hash = ht_hash_mix(
	        ht_hash(sizes, sizeof sizes), ht_hash(ht_version(), strlen(ht_version())));
	for (size_t i = 0; i < HT_COUNT(texts); i++)
		hash = ht_hash_mix(hash, ht_hash(texts[i], strlen(texts[i])));
	return hash;
}

uint64_t ht_cache_hash(const void *bytes, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return ht_cache_hash_avx2(bytes, n);
#endif
	return ht_hash(bytes, n);
}

bool ht_cache_path(const char *dir, const struct ht_cache_key *key, char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/%016llx" HT_CACHE_SUFFIX, dir,
	        (unsigned long long)ht_hash(key->path, strlen(key->path)));
	return n > 0 && (size_t)n < cap;
}

/* ---- loading ---- */

struct mapped {
	const char *bytes;
	size_t n;
	uint64_t *hashes; /* one per block */
	size_t n_blocks;
};

static enum ht_status hash_block(void *user, size_t i_task, int i_worker)
{
	struct mapped *map = user;
	(void)i_worker;
	size_t start = HT_CACHE_COVERED + i_task * HT_CACHE_BLOCK;
	size_t n = map->n - start < HT_CACHE_BLOCK ? map->n - start : HT_CACHE_BLOCK;
	map->hashes[i_task] = ht_cache_hash(map->bytes + start, n);
	return HT_OK;
}

static enum ht_status verify_checksum(ht_ctx *ctx, struct mapped *map, bool *ret_right)
{
	const struct ht_cache_head *head = (const void *)map->bytes;
	map->n_blocks = (map->n - HT_CACHE_COVERED + HT_CACHE_BLOCK - 1) / HT_CACHE_BLOCK;
	map->hashes = ht_mem_alloc(ctx->mem, map->n_blocks * sizeof *map->hashes);
	if (!map->hashes)
		return ht_fail_nomem(ctx);
	enum ht_status status = ht_parallel(ctx, map->n_blocks, hash_block, map);
	*ret_right = head->checksum == ht_hash(map->hashes, map->n_blocks * sizeof *map->hashes);
	ht_mem_free(ctx->mem, map->hashes, map->n_blocks * sizeof *map->hashes);
	return status;
}

static bool head_fits(const struct mapped *map, const struct ht_cache_key *key)
{
	struct ht_cache_head head;
	size_t n_path = strlen(key->path);
	if (map->n < sizeof head + HT_N_SECTIONS * sizeof(struct ht_cache_section) + n_path)
		return false;
	memcpy(&head, map->bytes, sizeof head);
	return !memcmp(head.magic, HT_CACHE_MAGIC, sizeof head.magic) &&
	       head.version == HT_CACHE_VERSION && head.byte_order == HT_CACHE_ORDER &&
	       head.layout == ht_cache_layout() && head.file_bytes == map->n &&
	       head.n_sections == HT_N_SECTIONS && head.n_path == n_path &&
	       ht_cache_id_fits(&head.id, &key->id) &&
	       !memcmp(map->bytes + sizeof head + HT_N_SECTIONS * sizeof(struct ht_cache_section),
	               key->path, n_path);
}

/* Where a section is; NULL when it is not inside the file. */
static const void *locate(const struct mapped *map, size_t i_section, size_t elem_bytes)
{
	const struct ht_cache_section *sections =
	        (const void *)(map->bytes + sizeof(struct ht_cache_head));
	const struct ht_cache_section *s = &sections[i_section];
	bool inside = s->offset % HT_CACHE_ALIGN == 0 && s->offset <= map->n &&
	              s->n <= (map->n - s->offset) / elem_bytes;
	return inside ? map->bytes + s->offset : NULL;
}

static bool place_sections(const struct mapped *map, struct ht_trace *trace)
{
	const struct ht_cache_section *sections =
	        (const void *)(map->bytes + sizeof(struct ht_cache_head));
#define SECTION(name_, type)                                                                       \
	trace->name_ = locate(map, HT_SECTION_##name_, sizeof(type));                              \
	trace->n_##name_ = sections[HT_SECTION_##name_].n;                                         \
	if (!trace->name_)                                                                         \
		return false;
#include "store/sections.def"
#undef SECTION
	return true;
}

static enum ht_status believe(ht_ctx *ctx, struct mapped *map, const struct ht_cache_key *key,
        struct ht_trace *trace, bool *ret_hit)
{
	if (!head_fits(map, key) || !place_sections(map, trace))
		return HT_OK;
	bool right = false;
	HT_TRY(verify_checksum(ctx, map, &right));
	if (right)
		HT_TRY(ht_trace_check_all(ctx, trace, ret_hit));
	return HT_OK;
}

static enum ht_status load_fd(ht_ctx *ctx, int fd, const struct ht_cache_key *key,
        struct ht_trace *ret_trace, bool *ret_hit)
{
	struct stat st;
	if (ht_io_should_fail(ctx) || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	        st.st_size < (off_t)sizeof(struct ht_cache_head))
		return HT_OK;
	size_t n = (size_t)st.st_size;
	void *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return HT_OK;
	struct mapped map = { .bytes = bytes, .n = n };
	struct ht_trace trace = *ret_trace;
	bool hit = false;
	enum ht_status status = believe(ctx, &map, key, &trace, &hit);
	if (status != HT_OK || !hit) {
		munmap(bytes, n);
		return status;
	}
	trace.map = bytes;
	trace.map_bytes = n;
	trace.meta = trace.meta_;
	*ret_trace = trace;
	*ret_hit = true;
	/* Eviction goes by last use. The time of writing stays: it tells when the file was made. */
	futimens(fd, (struct timespec[]){ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } });
	return HT_OK;
}

enum ht_status ht_cache_load(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        struct ht_trace *ret_trace, bool *ret_hit)
{
	char path[PATH_MAX];
	*ret_hit = false;
	if (!key->path[0] || !ht_cache_path(dir, key, path, sizeof path))
		return HT_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return HT_OK;
	enum ht_status status = load_fd(ctx, fd, key, ret_trace, ret_hit);
	close(fd);
	return status;
}
