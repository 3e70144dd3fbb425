/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what the fuzz targets share: bytes as a file, a set from it, outputs to compare.
 *
 * A target is one file with LLVMFuzzerTestOneInput. Inputs become files in memory. A broken promise of the
 * library aborts, which the fuzzer reports with the input.
 * replay_test.c compiles the targets too and feeds them the corpora, without clang.
 */
#ifndef HT_FUZZ_H
#define HT_FUZZ_H

#include "../test_file.h"
#include "holotrace.h"
#include "holotrace/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(condition)                                                                    \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Growing bytes, to compare outputs. */
struct fuzz_text {
	char *bytes;
	size_t n, cap;
};

static inline bool fuzz_append(void *user, const void *bytes, size_t n)
{
	struct fuzz_text *text = user;
	if (text->n + n > text->cap) {
		text->cap = (text->n + n) * 2;
		text->bytes = realloc(text->bytes, text->cap);
		FUZZ_REQUIRE(text->bytes);
	}
	if (n)
		memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	return true;
}

static inline bool fuzz_same(const struct fuzz_text *a, const struct fuzz_text *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->bytes, b->bytes, a->n));
}

/* A folder of its own for the name of the file: a text that is a list of files names others of its folder, and those of
 * /proc/self/fd are the fuzzer's pipes, which never end. */
static char fuzz_folder[TEST_FILE_PATH], fuzz_name[TEST_FILE_PATH];

static inline void fuzz_remove_folder(void)
{
	(void)unlink(fuzz_name);
	(void)rmdir(fuzz_folder);
}

static inline void fuzz_move_name(char *path)
{
	if (!*fuzz_folder) {
		strcpy(fuzz_folder, "/tmp/holotrace-fuzz-XXXXXX");
		FUZZ_REQUIRE(mkdtemp(fuzz_folder));
		snprintf(fuzz_name, sizeof fuzz_name, "%.40s/trace", fuzz_folder);
		atexit(fuzz_remove_folder);
	}
	(void)unlink(fuzz_name);
	FUZZ_REQUIRE(!symlink(path, fuzz_name));
	strcpy(path, fuzz_name);
}

/* A file with a prefix and the data, for test_file_close. */
static inline int fuzz_file(
        const void *prefix, size_t n_prefix, const uint8_t *data, size_t size, char *path)
{
	int fd = test_file_open(path);
	FUZZ_REQUIRE(fd >= 0);
#ifdef TEST_FILE_IN_MEMORY
	fuzz_move_name(path);
#endif
	FUZZ_REQUIRE(write(fd, prefix, n_prefix) == (ssize_t)n_prefix);
	FUZZ_REQUIRE(write(fd, data, size) == (ssize_t)size);
	return fd;
}

static inline ht_ctx *fuzz_ctx(int n_jobs)
{
	ht_ctx *ctx;
	FUZZ_REQUIRE(ht_ctx_new(&ctx) == HT_OK);
	ht_ctx_set_jobs(ctx, n_jobs);
	ht_ctx_set_memory_limit(ctx, (uint64_t)1 << 30);
	return ctx;
}

static inline enum ht_status fuzz_open(
        ht_ctx *ctx, const char *path, size_t chunk_bytes, const char *cache_dir, ht_set **ret_set)
{
	const struct ht_open_own own = { .chunk_bytes = chunk_bytes };
	struct ht_open_options options = {
		.no_cache = !cache_dir, .cache_dir = cache_dir, .own = &own
	};
	enum ht_status status = ht_open(ctx, &path, 1, &options, ret_set);
	if (status != HT_OK)
		FUZZ_REQUIRE(ht_error(ctx)->message && *ht_error(ctx)->message);
	return status;
}

static inline void fuzz_dump(ht_ctx *ctx, const ht_set *set, struct fuzz_text *ret_text)
{
	struct ht_sink sink = { fuzz_append, ret_text };
	FUZZ_REQUIRE(ht_dump(ctx, set, &sink) == HT_OK);
}

/* Run one analysis and render it; any status but a crash is fine for odd views. */
static inline enum ht_status fuzz_run(
        ht_ctx *ctx, ht_set *set, const char *name, const char *format, const struct ht_view *view)
{
	ht_table *table;
	enum ht_status status = ht_ask(ctx, &set, 1,
	        &(struct ht_query){ sizeof(struct ht_query), name, NULL, 0, view }, &table);
	if (status != HT_OK)
		return status;
	struct fuzz_text text = { 0 };
	struct ht_sink sink = { fuzz_append, &text };
	status = ht_render(ctx, table, format, NULL, &sink);
	ht_table_free(table);
	free(text.bytes);
	return status;
}

/* Nothing that the context counts may be left when its sets and tables are gone. */
static inline void fuzz_ctx_done(ht_ctx *ctx)
{
	uint64_t now, peak;
	ht_ctx_memory(ctx, &now, &peak);
	FUZZ_REQUIRE(now == 0);
	ht_ctx_free(ctx);
}

/* Two readings of one file are the same store. */
static inline void fuzz_require_equal(
        ht_ctx *one, const ht_set *whole, ht_ctx *two, const ht_set *cut)
{
	struct fuzz_text x = { 0 }, y = { 0 };
	fuzz_dump(one, whole, &x);
	fuzz_dump(two, cut, &y);
	FUZZ_REQUIRE(fuzz_same(&x, &y));
	free(x.bytes);
	free(y.bytes);
}

/* Read the same bytes whole on one thread, and in small chunks on two: one answer, one store. */
static inline void fuzz_trace(const void *prefix, size_t n_prefix, const uint8_t *data, size_t size)
{
	char path[TEST_FILE_PATH];
	int fd = fuzz_file(prefix, n_prefix, data, size, path);
	ht_ctx *one = fuzz_ctx(1), *two = fuzz_ctx(2);
	ht_set *whole = NULL, *cut = NULL;
	enum ht_status a = fuzz_open(one, path, 0, NULL, &whole);
	enum ht_status b = fuzz_open(two, path, 1 + size % 61, NULL, &cut);
	FUZZ_REQUIRE(a == b);
	if (a == HT_OK) {
		fuzz_require_equal(one, whole, two, cut);
		FUZZ_REQUIRE(fuzz_run(one, whole, "events", "csv", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "health", "json", NULL) == HT_OK);
		FUZZ_REQUIRE(fuzz_run(one, whole, "info", "text", NULL) == HT_OK);
		ht_close(whole);
		ht_close(cut);
	}
	fuzz_ctx_done(one);
	fuzz_ctx_done(two);
	test_file_close(fd, path);
}

/* Any bytes as a file of one reader. What is read is dumped twice, the second time from another reading: the same. */
static inline void fuzz_read_twice(const char *reader, const uint8_t *data, size_t size)
{
	struct fuzz_text texts[2] = { 0 };
	char path[TEST_FILE_PATH];
	int fd = fuzz_file("", 0, data, size, path);
	bool opened[2];
	for (int i = 0; i < 2; i++) {
		ht_ctx *ctx = fuzz_ctx(1);
		const char *source = path;
		struct ht_open_options options = {
			.struct_size = sizeof options, .no_cache = true, .reader = reader
		};
		struct ht_sink sink = { fuzz_append, &texts[i] };
		ht_set *set = NULL;
		opened[i] = ht_open(ctx, &source, 1, &options, &set) == HT_OK;
		if (opened[i]) {
			FUZZ_REQUIRE(ht_dump(ctx, set, &sink) == HT_OK);
			ht_close(set);
		}
		ht_ctx_free(ctx);
	}
	FUZZ_REQUIRE(opened[0] == opened[1] && fuzz_same(&texts[0], &texts[1]));
	free(texts[0].bytes);
	free(texts[1].bytes);
	test_file_close(fd, path);
}

#endif
