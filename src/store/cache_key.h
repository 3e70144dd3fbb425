/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_key.h - which file, in which state, a cache file stands for.
 */
#ifndef HT_STORE_CACHE_KEY_H
#define HT_STORE_CACHE_KEY_H

#include "base/status.h"

#include <limits.h>

/* What tells one state of a file from another. A file that was replaced by one of the same size and times
 * has another inode or another time of change; one that was changed in place within the clock's resolution
 * has other bytes. */
struct ht_cache_id {
	uint64_t size, inode;
	int64_t mtime_ns, ctime_ns;
	uint64_t sample;  /* hash of pieces spread over the file, more of them in a larger one */
	uint64_t content; /* hash of all of it; 0: not asked for */
	uint64_t options; /* hash of all that changes the result: kernel rules */
};

/* Where the cache has a trace, and of which state of its file. */
struct ht_cached {
	uint64_t place; /* hash of the path; 0: it has none */
	struct ht_cache_id id;
	const char *
	        dir; /* of the cache, and how large that may grow; as whoever opened the file says */
	uint64_t max_bytes;
};

/* What a cache file stands for. */
struct ht_cache_key {
	char path
	        [PATH_MAX]; /* absolute, links resolved; "": cannot be cached (pipe, gone, unreadable) */
	struct ht_cache_id id;
	const char *const *files; /* what it is made of, when the path is a directory; else NULL */
	size_t n_files;
};

/* With whole the key also holds the hash of the whole file, and only a cache file that was stored with
 * such a key fits it. Without, any fits. */
enum ht_status ht_cache_key_make(ht_ctx *ctx, const char *path, uint64_t options, bool whole,
        struct ht_cache_key *ret_key) HT_MUST_USE;

/* The key of a directory as these files of it, which the caller keeps while the key is used. */
enum ht_status ht_cache_key_join(ht_ctx *ctx, const char *dir, const char *const *files,
        size_t n_files, uint64_t options, bool whole, struct ht_cache_key *ret_key) HT_MUST_USE;

/* The place of a key that can be cached. */
struct ht_cached ht_cache_key_place(const struct ht_cache_key *key);
/* Is what was stored what is wanted? */
bool ht_cache_id_fits(const struct ht_cache_id *stored, const struct ht_cache_id *wanted);
/* Up to n bytes from a place on; fewer at the end of the file. False when they cannot be read. */
bool ht_cache_read_at(ht_ctx *ctx, int fd, char *bytes, size_t n, uint64_t offset, size_t *ret_n);

#endif
