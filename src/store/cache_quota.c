/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_quota.c - room in the cache directory for what is to be stored; see cache_file.h.
 *
 * The files used longest ago go. What was stored or used since the context was made stays: a run over more than the
 * cache takes would otherwise drive out what it stored itself, before it is used again. When such files fill the cache,
 * nothing more is stored, and the context counts what was not.
 */
#include "base/mem.h"
#include "base/platform.h"
#include "holotrace/own.h"
#include "base/temp.h"
#include "store/cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Times of files are those of the kernel's last tick. */
#define TICK_NS      20000000

#define MANY_ENTRIES 64
#define ALLOWANCE    "room"

struct entry {
	char name[64];
	uint64_t bytes;
	struct timespec used;
};

/* Of a context and its tasks. */
struct quota {
	pthread_mutex_t lock;
	uint64_t in_flight; /* bytes of files that are being written and have no name yet */
	atomic_ullong n_refused;
};

static void *make_quota(void)
{
	struct quota *quota = calloc(1, sizeof *quota);
	if (quota)
		pthread_mutex_init(&quota->lock, NULL);
	return quota;
}

static void end_quota(void *slot)
{
	struct quota *quota = slot;
	pthread_mutex_destroy(&quota->lock);
	free(quota);
}

/* NULL: there is no memory for it, and nothing is stored. */
static struct quota *quota_of(const ht_ctx *ctx)
{
	return ht_ctx_slot(ctx, make_quota, end_quota);
}

uint64_t ht_ctx_n_not_cached(const ht_ctx *ctx)
{
	struct quota *quota = quota_of(ctx);
	return quota ? atomic_load(&quota->n_refused) : 0;
}

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
static uint64_t list_entries(ht_ctx *ctx, DIR *stream, struct ht_vec *entries)
{
	uint64_t total = 0;
	for (struct dirent *item; (item = readdir(stream));) {
		size_t n = strlen(item->d_name), n_suffix = strlen(HT_CACHE_SUFFIX);
		struct stat st;
		bool is_temp = strstr(item->d_name, HT_CACHE_SUFFIX ".") != NULL;
		bool is_ours = n < sizeof((struct entry *)0)->name && n > n_suffix &&
		               !strcmp(item->d_name + n - n_suffix, HT_CACHE_SUFFIX);
		if ((!is_temp && !is_ours) ||
		        fstatat(dirfd(stream), item->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		        !S_ISREG(st.st_mode))
			continue;
		if (is_temp && ht_temp_remove_dead(dirfd(stream), item->d_name))
			continue;
		total += (uint64_t)st.st_size;
		if (is_temp)
			continue;
		struct entry entry = { .bytes = (uint64_t)st.st_size,
			.used = later(HT_STAT_ATIME(&st), HT_STAT_MTIME(&st)) };
		memcpy(entry.name, item->d_name, n + 1);
		if (!HT_VEC_PUSH(ctx->mem, entries, struct entry, entry))
			break;
	}
	return total;
}

static bool is_of_this_run(const ht_ctx *ctx, struct timespec used)
{
	int64_t used_ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
	return used_ns >= ctx->made_unix_ns - TICK_NS;
}

static bool is_beside(const struct entry *entry)
{
	return !strncmp(
	        entry->name + HT_CACHE_PLACE_CHARS, HT_CACHE_BESIDE, strlen(HT_CACHE_BESIDE));
}

static int compare_places(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return strncmp(a->name, b->name, HT_CACHE_PLACE_CHARS);
}

/* What is kept beside traces that are gone, the first n of the list, goes with them. */
static uint64_t remove_beside(
        DIR *stream, struct entry *list, size_t n, size_t n_all, uint64_t total)
{
	if (n)
		qsort(list, n, sizeof *list, compare_places);
	for (size_t i = n; n && i < n_all; i++)
		if (is_beside(&list[i]) &&
		        bsearch(&list[i], list, n, sizeof *list, compare_places)) {
			unlinkat(dirfd(stream), list[i].name, 0);
			total -= list[i].bytes;
		}
	return total;
}

/* Remove files until at most wanted bytes are left. Returns how many there are then. */
static uint64_t remove_oldest(
        ht_ctx *ctx, DIR *stream, struct ht_vec *entries, uint64_t total, uint64_t wanted)
{
	struct entry *list = entries->data;
	size_t n_traces = 0;
	if (total <= wanted || !entries->n)
		return total;
	qsort(list, entries->n, sizeof *list, compare_use);
	size_t i = 0;
	for (; i < entries->n && total > wanted && !is_of_this_run(ctx, list[i].used); i++) {
		unlinkat(dirfd(stream), list[i].name, 0);
		total -= list[i].bytes;
		if (!is_beside(&list[i]))
			list[n_traces++] = list[i];
	}
	/* between the two are those that went by themselves */
	memmove(list + n_traces, list + i, (entries->n - i) * sizeof *list);
	return remove_beside(stream, list, n_traces, entries->n - i + n_traces, total);
}

/* Of the file that is replaced. */
static uint64_t bytes_of(const struct ht_vec *entries, const char *name)
{
	const struct entry *list = entries->data;
	for (size_t i = 0; i < entries->n; i++)
		if (!strcmp(list[i].name, name))
			return list[i].bytes;
	return 0;
}

/* What the last look into a directory left, in a file of it: to look takes time with each file that is there, and whoever
 * asks for one trace among thousands stores a file or two. Nobody waits for its lock: who does not get it looks. */
struct allowance {
	uint64_t max_bytes; /* of the directory, as it was looked at */
	uint64_t bytes;     /* so much may be stored before it is looked at again */
};

static int open_allowance(int folder, int flags)
{
	struct stat st;
	int fd = openat(
	        folder, ALLOWANCE, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || flock(fd, LOCK_EX | LOCK_NB))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool write_allowance(int fd, struct allowance allowance)
{
	return pwrite(fd, &allowance, sizeof allowance, 0) == (ssize_t)sizeof allowance;
}

static bool take_allowance(int folder, uint64_t bytes, uint64_t max_bytes)
{
	struct allowance left;
	int fd = open_allowance(folder, 0);
	if (fd < 0)
		return false;
	bool fits = pread(fd, &left, sizeof left, 0) == (ssize_t)sizeof left &&
	            left.max_bytes == max_bytes && left.bytes <= max_bytes / 2 &&
	            left.bytes >= bytes &&
	            write_allowance(fd, (struct allowance){ max_bytes, left.bytes - bytes });
	close(fd);
	return fits;
}

static void leave_allowance(int folder, uint64_t bytes, uint64_t max_bytes)
{
	int fd = open_allowance(folder, bytes ? O_CREAT : 0);
	if (fd < 0)
		return;
	if (!write_allowance(fd, (struct allowance){ max_bytes, bytes }))
		unlinkat(folder, ALLOWANCE, 0);
	close(fd);
}

/* Called with the lock held. Looking at every file for every file is quadratic: among many, the next look is when half
 * the room there was is used up. */
static bool look_for_room(ht_ctx *ctx, int folder, const char *name, uint64_t bytes,
        uint64_t max_bytes, uint64_t in_flight)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return true; /* may be written to, not looked at */
	}
	struct ht_vec entries = { 0 };
	uint64_t total = list_entries(ctx, stream, &entries) + in_flight;
	uint64_t wanted = max_bytes - bytes + bytes_of(&entries, name);
	bool many = entries.n > MANY_ENTRIES;
	/* of many files some more go, so that not every one to come needs another look */
	if (total > wanted)
		total = remove_oldest(ctx, stream, &entries, total,
		        many && wanted > max_bytes / 16 ? wanted - max_bytes / 16 : wanted);
	bool fits = total <= wanted;
	leave_allowance(folder, fits && many ? (wanted - total) / 2 : 0, max_bytes);
	ht_vec_free(ctx->mem, &entries, sizeof(struct entry));
	closedir(stream);
	return fits;
}

bool ht_cache_find_room(
        ht_ctx *ctx, int folder, const char *name, uint64_t bytes, uint64_t max_bytes)
{
	struct quota *quota = quota_of(ctx);
	if (!quota)
		return false;
	pthread_mutex_lock(&quota->lock);
	bool fits = bytes <= max_bytes && !atomic_load(&quota->n_refused);
	if (fits && !take_allowance(folder, bytes, max_bytes))
		fits = look_for_room(ctx, folder, name, bytes, max_bytes, quota->in_flight);
	if (fits)
		quota->in_flight += bytes;
	pthread_mutex_unlock(&quota->lock);
	return fits;
}

bool ht_cache_make_room(
        ht_ctx *ctx, int folder, const char *name, uint64_t bytes, uint64_t max_bytes)
{
	bool fits = ht_cache_find_room(ctx, folder, name, bytes, max_bytes);
	struct quota *quota = fits ? NULL : quota_of(ctx);
	if (quota)
		atomic_fetch_add(&quota->n_refused, 1);
	return fits;
}

bool ht_cache_land(ht_ctx *ctx, struct ht_temp *temp, uint64_t bytes, bool is_good)
{
	struct quota *quota = quota_of(ctx); /* room was found with it */
	/* whoever looks sees it as one of both: on its way, or there */
	pthread_mutex_lock(&quota->lock);
	if (temp && is_good)
		is_good = !ht_temp_commit(temp);
	else if (temp)
		ht_temp_abort(temp);
	quota->in_flight -= bytes;
	pthread_mutex_unlock(&quota->lock);
	return is_good;
}
