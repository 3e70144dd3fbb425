/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what the fuzz targets share: bytes as a file, a trace or a set from it, outputs to compare.
 *
 * A target is one file with LLVMFuzzerTestOneInput. A broken promise of the library aborts, which the fuzzer reports
 * with the input. replay_test.c compiles the targets too and feeds them the corpora, without clang.
 *
 * How many inputs a second are tried decides what is found, so most of them are read once, in one way, on one thread, into
 * the file and with the context that the input before had. One in some dozens, which its hash chooses so that it is the same
 * one the next time, is read in every way, compared, and asked.
 */
#ifndef HT_FUZZ_H
#define HT_FUZZ_H

#include "holotrace.h"
#include "holotrace/own.h"

#include "store/trace_refs.h"
#include "base/hash.h"
#include "base/io.h"
#include "read/read.h"

#include <fcntl.h>
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

/* Set where there are few inputs: all of them are looked at in every way. */
static bool fuzz_spares_nothing;

/* Is this one of the inputs that are looked at in every way? */
static inline bool fuzz_is_chosen(const uint8_t *data, size_t size, uint64_t one_in)
{
	return fuzz_spares_nothing || (size && ht_hash(data, size) % one_in == 0);
}

/* One in so many, unless the target has a reason for another number. */
#define FUZZ_ONE_IN 32

/* Files of a folder of their own, in memory where the system has such folders: a text that is a list of files names others of
 * its folder. Each is made once, and overwritten by the next input. */
#define FUZZ_PATH 64
static char fuzz_folder[32];
static struct {
	char path[FUZZ_PATH];
	int fd; /* 0: not open */
} fuzz_files[2];

static inline void fuzz_remove_folder(void)
{
	for (size_t i = 0; i < 2; i++)
		if (fuzz_files[i].fd)
			(void)unlink(fuzz_files[i].path);
	(void)rmdir(fuzz_folder);
}

static inline void fuzz_make_folder(void)
{
	strcpy(fuzz_folder, "/dev/shm/holotrace-fuzz-XXXXXX");
	if (!mkdtemp(fuzz_folder)) {
		strcpy(fuzz_folder, "/tmp/holotrace-fuzz-XXXXXX");
		FUZZ_REQUIRE(mkdtemp(fuzz_folder));
	}
	atexit(fuzz_remove_folder);
}

static inline const char *fuzz_file_at(
        size_t i, const void *prefix, size_t n_prefix, const void *data, size_t size)
{
	if (!*fuzz_folder)
		fuzz_make_folder();
	int *fd = &fuzz_files[i].fd;
	char *path = fuzz_files[i].path;
	if (!*fd) {
		snprintf(path, FUZZ_PATH, "%.31s/%s", fuzz_folder, i ? "other" : "trace");
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		FUZZ_REQUIRE(*fd > 0);
	}
	if (n_prefix)
		FUZZ_REQUIRE(pwrite(*fd, prefix, n_prefix, 0) == (ssize_t)n_prefix);
	if (size)
		FUZZ_REQUIRE(pwrite(*fd, data, size, (off_t)n_prefix) == (ssize_t)size);
	FUZZ_REQUIRE(!ftruncate(*fd, (off_t)(n_prefix + size)));
	return path;
}

/* A file of a prefix and the data, until the next one. */
static inline const char *fuzz_file(
        const void *prefix, size_t n_prefix, const uint8_t *data, size_t size)
{
	return fuzz_file_at(0, prefix, n_prefix, data, size);
}

static inline ht_ctx *fuzz_ctx(int n_jobs)
{
	ht_ctx *ctx;
	FUZZ_REQUIRE(ht_ctx_new(&ctx) == HT_OK);
	ht_ctx_set_jobs(ctx, n_jobs);
	ht_ctx_set_memory_limit(ctx, (uint64_t)1 << 30);
	return ctx;
}

/* One for all inputs that are read once. What it counts is gone when it is asked for again. */
static inline ht_ctx *fuzz_common_ctx(void)
{
	static ht_ctx *common;
	uint64_t now, peak;
	if (!common)
		common = fuzz_ctx(1);
	ht_ctx_memory(common, &now, &peak);
	FUZZ_REQUIRE(now == 0);
	ht_error_clear(common);
	return common;
}

/* Bytes of a source at most: what more there is would be more of the same. */
#define FUZZ_MAX_TEXT   ((size_t)1 << 20)

#define FUZZ_EDIT_BYTES 5

/* Change a byte of good ones: an edit is where, four bytes, and the new one. */
static inline void fuzz_edit(void *bytes, size_t n, const uint8_t *edit)
{
	uint32_t at;
	memcpy(&at, edit, sizeof at);
	((uint8_t *)bytes)[at % n] = edit[4];
}

/* Inputs that were traces: a target that meets none tries nothing. */
static unsigned fuzz_n_read;

/* Read a file by one reader, NULL: by whoever knows it. */
static inline enum ht_status fuzz_read_once(const char *path, const char *reader)
{
	static const struct ht_kernel_rules rules;
	const struct ht_open_options options = {
		.struct_size = sizeof options, .no_cache = true, .reader = reader
	};
	ht_ctx *ctx = fuzz_common_ctx();
	struct ht_trace *trace;
	enum ht_status status = ht_read_trace(ctx, path, &options, &rules, &trace, NULL);
	fuzz_n_read += status == HT_OK;
	if (status == HT_OK)
		ht_trace_release(trace);
	else
		FUZZ_REQUIRE(ht_error(ctx)->message && *ht_error(ctx)->message);
	return status;
}

static inline enum ht_status fuzz_open(
        ht_ctx *ctx, const char *path, size_t chunk_bytes, const char *cache_dir, ht_set **ret_set)
{
	const struct ht_open_own own = { .chunk_bytes = chunk_bytes };
	struct ht_open_options options = {
		.no_cache = !cache_dir, .cache_dir = cache_dir, .own = &own
	};
	enum ht_status status = ht_open(ctx, &path, 1, &options, ret_set);
	fuzz_n_read += status == HT_OK;
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
static inline void fuzz_compare_trace(const char *path, size_t size)
{
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
}

static inline void fuzz_trace(const void *prefix, size_t n_prefix, const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(prefix, n_prefix, data, size);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		fuzz_compare_trace(path, size);
	else
		(void)fuzz_read_once(path, NULL);
}

/* What is read is dumped twice, the second time from another reading: the same. */
static inline void fuzz_read_twice(const char *reader, const char *path)
{
	struct fuzz_text texts[2] = { 0 };
	bool opened[2];
	for (int i = 0; i < 2; i++) {
		ht_ctx *ctx = fuzz_ctx(1);
		struct ht_open_options options = {
			.struct_size = sizeof options, .no_cache = true, .reader = reader
		};
		struct ht_sink sink = { fuzz_append, &texts[i] };
		ht_set *set = NULL;
		opened[i] = ht_open(ctx, &path, 1, &options, &set) == HT_OK;
		if (opened[i]) {
			FUZZ_REQUIRE(ht_dump(ctx, set, &sink) == HT_OK);
			ht_close(set);
		}
		ht_ctx_free(ctx);
	}
	FUZZ_REQUIRE(opened[0] == opened[1] && fuzz_same(&texts[0], &texts[1]));
	free(texts[0].bytes);
	free(texts[1].bytes);
}

/* Any bytes as a file of one reader. */
static inline void fuzz_reader(const char *reader, const uint8_t *data, size_t size)
{
	const char *path = fuzz_file("", 0, data, size);
	if (fuzz_is_chosen(data, size, FUZZ_ONE_IN))
		fuzz_read_twice(reader, path);
	else
		(void)fuzz_read_once(path, reader);
}

#endif
