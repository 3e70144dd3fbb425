/*
 * cache_write.c - storing and evicting; see cache.h and cache_file.h.
 *
 * The file takes its name when it is complete (base/temp.h), so a killed writer leaves nothing under the
 * name. The checksum is written last: even a file renamed by hand is not believed.
 */
#define _GNU_SOURCE
#include "store/cache.h"

#include "base/temp.h"
#include "store/cache_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	ht_ctx *ctx;
	int fd;
	char *block;
	size_t n_block;
	uint64_t n_total; /* bytes taken so far */
	struct ht_vec hashes;
	bool failed;
};

static bool write_all(struct output *out, const char *bytes, size_t n)
{
	while (n) {
		ssize_t n_done = ht_io_should_fail(out->ctx) ? -1 : write(out->fd, bytes, n);
		if (n_done < 0 && errno == EINTR)
			continue;
		if (n_done <= 0)
			return false;
		bytes += n_done;
		n -= (size_t)n_done;
	}
	return true;
}

static void end_block(struct output *out)
{
	uint64_t hash = ht_cache_hash(out->block, out->n_block);
	if (!write_all(out, out->block, out->n_block) ||
	        !HT_VEC_PUSH(out->ctx->mem, &out->hashes, uint64_t, hash))
		out->failed = true;
	out->n_block = 0;
}

static void put(struct output *out, const void *bytes, size_t n)
{
	const char *at = bytes;
	out->n_total += n;
	while (n && !out->failed) {
		size_t piece = HT_CACHE_BLOCK - out->n_block;
		if (piece > n)
			piece = n;
		memcpy(out->block + out->n_block, at, piece);
		out->n_block += piece;
		at += piece;
		n -= piece;
		if (out->n_block == HT_CACHE_BLOCK)
			end_block(out);
	}
}

static void pad(struct output *out)
{
	static const char zeros[HT_CACHE_ALIGN];
	put(out, zeros, ht_cache_align(out->n_total) - out->n_total);
}

/* Section entries and the size of the file. */
static uint64_t lay_out(const struct ht_trace *t, size_t n_path, struct ht_cache_section *sections)
{
	uint64_t at = sizeof(struct ht_cache_head) +
	              HT_N_SECTIONS * sizeof(struct ht_cache_section) + n_path;
#define SECTION(name_, type)                                                                       \
	at = ht_cache_align(at);                                                                   \
	sections[HT_SECTION_##name_] = (struct ht_cache_section){ at, t->n_##name_ };              \
	at += t->n_##name_ * sizeof(type);
#include "store/sections.def"
#undef SECTION
	return at;
}

static void put_sections(struct output *out, const struct ht_trace *t)
{
#define SECTION(name_, type)                                                                       \
	pad(out);                                                                                  \
	put(out, t->name_, t->n_##name_ * sizeof(type));
#include "store/sections.def"
#undef SECTION
}

static bool write_file(struct output *out, const struct ht_cache_key *key,
        const struct ht_trace *trace, struct ht_cache_section *sections, uint64_t file_bytes)
{
	size_t n_path = strlen(key->path);
	struct ht_cache_head head = { .magic = HT_CACHE_MAGIC,
		.file_bytes = file_bytes,
		.version = HT_CACHE_VERSION,
		.byte_order = HT_CACHE_ORDER,
		.layout = ht_cache_layout(),
		.id = key->id,
		.n_path = (uint32_t)n_path,
		.n_sections = HT_N_SECTIONS };
	if (!write_all(out, (const char *)&head, HT_CACHE_COVERED))
		return false;
	out->n_total = HT_CACHE_COVERED;
	put(out, (const char *)&head + HT_CACHE_COVERED, sizeof head - HT_CACHE_COVERED);
	put(out, sections, HT_N_SECTIONS * sizeof *sections);
	put(out, key->path, n_path);
	put_sections(out, trace);
	if (out->n_block && !out->failed)
		end_block(out);
	if (out->failed || out->n_total != file_bytes || ht_io_should_fail(out->ctx))
		return false;
	uint64_t checksum = ht_hash(out->hashes.data, out->hashes.n * sizeof(uint64_t));
	return pwrite(out->fd, &checksum, sizeof checksum,
	               offsetof(struct ht_cache_head, checksum)) == sizeof checksum;
}

/* ---- directory ---- */

static bool make_directory(const char *dir)
{
	char path[PATH_MAX];
	size_t n = strlen(dir);
	if (!n || n >= sizeof path)
		return false;
	memcpy(path, dir, n + 1);
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			if (mkdir(path, 0700) && errno != EEXIST)
				return false;
			*p = '/';
		}
	return !mkdir(path, 0700) || errno == EEXIST;
}

struct entry {
	char name[32];
	uint64_t bytes;
	struct timespec used;
};

static int compare_use(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct timespec later(struct timespec a, struct timespec b)
{
	bool a_later = a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
	return a_later ? a : b;
}

/* List the cache files, and remove temporary ones that nobody is writing. What is being written counts. */
static uint64_t list_entries(ht_ctx *ctx, const char *dir, DIR *stream, struct ht_vec *entries)
{
	uint64_t total = 0;
	for (struct dirent *item; (item = readdir(stream));) {
		size_t n = strlen(item->d_name), n_suffix = strlen(HT_CACHE_SUFFIX);
		struct stat st;
		char path[PATH_MAX];
		bool is_temp = strstr(item->d_name, HT_CACHE_SUFFIX ".") != NULL;
		bool is_ours = n < sizeof((struct entry *)0)->name && n > n_suffix &&
		               !strcmp(item->d_name + n - n_suffix, HT_CACHE_SUFFIX);
		if ((!is_temp && !is_ours) ||
		        fstatat(dirfd(stream), item->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		        !S_ISREG(st.st_mode))
			continue;
		int n_path = snprintf(path, sizeof path, "%s/%s", dir, item->d_name);
		if (is_temp && n_path > 0 && (size_t)n_path < sizeof path &&
		        ht_temp_remove_dead(path))
			continue;
		total += (uint64_t)st.st_size;
		if (is_temp)
			continue;
		struct entry entry = { .bytes = (uint64_t)st.st_size,
			.used = later(st.st_atim, st.st_mtim) };
		memcpy(entry.name, item->d_name, n + 1);
		if (!HT_VEC_PUSH(ctx->mem, entries, struct entry, entry))
			break;
	}
	return total;
}

void ht_cache_evict(ht_ctx *ctx, const char *dir, const char *keep, uint64_t max_bytes)
{
	DIR *stream = opendir(dir);
	if (!stream)
		return;
	struct ht_vec entries = { 0 };
	uint64_t total = list_entries(ctx, dir, stream, &entries);
	struct entry *list = entries.data;
	if (total > max_bytes && entries.n)
		qsort(list, entries.n, sizeof *list, compare_use);
	for (size_t i = 0; i < entries.n && total > max_bytes; i++) {
		if (!strcmp(list[i].name, keep))
			continue;
		unlinkat(dirfd(stream), list[i].name, 0);
		total -= list[i].bytes;
	}
	ht_vec_free(ctx->mem, &entries, sizeof(struct entry));
	closedir(stream);
}

/* ---- storing ---- */

static bool has_changed(ht_ctx *ctx, const struct ht_cache_key *key)
{
	struct ht_cache_key now;
	return ht_cache_key_make(ctx, key->path, key->id.options, key->id.content, &now) != HT_OK ||
	       !now.path[0] || !ht_cache_id_fits(&now.id, &key->id);
}

static bool write_whole(ht_ctx *ctx, const char *path, const struct ht_cache_key *key,
        const struct ht_trace *trace, struct ht_cache_section *sections, uint64_t file_bytes)
{
	struct ht_temp temp;
	struct output out = { .ctx = ctx };
	out.block = ht_mem_alloc(ctx->mem, HT_CACHE_BLOCK);
	bool good = out.block && !ht_io_should_fail(ctx) && !ht_temp_open(path, 0600, &temp);
	if (good) {
		out.fd = temp.fd;
		good = write_file(&out, key, trace, sections, file_bytes) && !has_changed(ctx, key);
		if (good)
			good = !ht_temp_commit(&temp);
		else
			ht_temp_abort(&temp);
	}
	ht_vec_free(ctx->mem, &out.hashes, sizeof(uint64_t));
	ht_mem_free(ctx->mem, out.block, HT_CACHE_BLOCK);
	return good;
}

enum ht_status ht_cache_store(ht_ctx *ctx, const char *dir, const struct ht_cache_key *key,
        const struct ht_trace *trace, uint64_t max_bytes, bool *ret_stored)
{
	char path[PATH_MAX];
	struct ht_cache_section sections[HT_N_SECTIONS];
	*ret_stored = false;
	if (!key->path[0] || !ht_cache_path(dir, key, path, sizeof path))
		return HT_OK;
	uint64_t file_bytes = lay_out(trace, strlen(key->path), sections);
	if (file_bytes > max_bytes || !make_directory(dir))
		return HT_OK;
	*ret_stored = write_whole(ctx, path, key, trace, sections, file_bytes);
	ht_cache_evict(ctx, dir, strrchr(path, '/') + 1, max_bytes);
	return HT_OK;
}
