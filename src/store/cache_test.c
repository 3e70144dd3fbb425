/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_test.c - the cache only ever gives back what was stored.
 */
#include "store/cache.h"

#include "holotrace/own.h"
#include "base/mem.h"
#include "base/platform.h"
#include "base/temp.h"
#include "store/cache_file.h"
#include "store/check.h"
#include "store/set.h"
#include "store/trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#define CAP (1 << 30)

static const char trace_text[] =
        "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":2},"
        "\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\",\"numSms\":132}],\"traceEvents\":[\n"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":9,\"tid\":9,"
        "\"ts\":1,\"dur\":90,\"args\":{\"External id\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(1): f\",\"pid\":9,\"tid\":9,"
        "\"ts\":2,\"dur\":80,\"args\":{\"Python id\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(2): g\",\"pid\":9,\"tid\":9,"
        "\"ts\":3,\"dur\":70,\"args\":{\"Python id\":2,\"Python parent id\":1}},\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,\"ts\":4,"
        "\"dur\":60,\"args\":{\"External id\":2,\"Input Dims\":[[2,3],[3,4]],\"x\":1.5}},\n"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
        "\"ts\":5,\"dur\":5,\"args\":{\"correlation\":7,\"External id\":2}},\n"
        "{\"ph\":\"s\",\"id\":7,\"pid\":9,\"tid\":9,\"ts\":5,\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":9,"
        "\"args\":{\"correlation\":7,\"stream\":7,\"device\":0,\"External id\":2}},\n"
        "{\"ph\":\"f\",\"id\":7,\"pid\":0,\"tid\":7,\"ts\":20,\"cat\":\"ac2g\",\"name\":\"ac2g\","
        "\"bp\":\"e\"},\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"tid\":0,\"args\":{\"name\":\"py\"}}]}\n";

/* One context, one directory with a trace, the trace as read from its text. */
struct fixture {
	ht_ctx *ctx;
	char dir[64], cache[96], source[96], file[PATH_MAX];
	ht_set *set;
	const struct ht_trace *trace;
	struct ht_cache_key key;
	char *good; /* the cache file as stored */
	size_t n_good;
};

static void write_bytes(const char *path, const void *bytes, size_t n)
{
	/* file systems flush a file that is written over, which takes time */
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static char *read_bytes(const char *path, size_t *ret_n)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &st));
	char *bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_n = (size_t)st.st_size;
	return bytes;
}

static bool store(struct fixture *f)
{
	bool stored = false;
	assert_int_equal(ht_cache_store(f->ctx, f->cache, &f->key, &ht_trace_sections, f->trace,
	                         CAP, &stored),
	        HT_OK);
	return stored;
}

/* The trace of the cache, or false. The caller unmaps. */
static bool load(struct fixture *f, struct ht_trace *ret_trace)
{
	bool hit = false;
	ht_whole_trace_init((struct ht_whole_trace *)(void *)ret_trace);
	assert_int_equal(ht_cache_load(f->ctx, f->cache, &f->key, &ht_trace_sections, ret_trace,
	                         &ht_more(ret_trace)->map, &hit),
	        HT_OK);
	return hit;
}

static void unmap(struct ht_trace *trace)
{
	ht_map_close(&ht_more(trace)->map);
}

static bool is_sound(struct fixture *f, const struct ht_trace *trace)
{
	bool sound;
	assert_int_equal(
	        ht_sections_check(f->ctx, &ht_trace_sections, trace, NULL, NULL, &sound), HT_OK);
	return sound;
}

static bool same_sections(const struct ht_trace *a, const struct ht_trace *b)
{
	for (size_t i = 0; i < ht_trace_sections.n; i++) {
		const struct ht_section_info *info = &ht_trace_sections.list[i];
		struct ht_section x = ht_section_get(a, info), y = ht_section_get(b, info);
		if (x.n != y.n || (x.n && memcmp(x.data, y.data, x.n * info->elem_bytes)))
			return false;
	}
	return true;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	assert_non_null(f);
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	ht_ctx_set_jobs(f->ctx, 1);
	snprintf(f->dir, sizeof f->dir, "/tmp/holotrace-cache-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->cache, sizeof f->cache, "%s/a/cache", f->dir);
	snprintf(f->source, sizeof f->source, "%s/whole.trace.json", f->dir);
	write_bytes(f->source, trace_text, sizeof trace_text - 1);
	const char *source = f->source;
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &f->set), HT_OK);
	f->trace = f->set->kept[0].trace;
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, false, &f->key), HT_OK);
	assert_true(ht_cache_path(f->cache, &f->key, &ht_trace_sections, f->file, sizeof f->file));
	assert_true(store(f));
	f->good = read_bytes(f->file, &f->n_good);
	*state = f;
	return 0;
}

static void clean_directory(const char *path)
{
	DIR *stream = opendir(path);
	for (struct dirent *item; stream && (item = readdir(stream));) {
		char name[PATH_MAX];
		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			continue;
		snprintf(name, sizeof name, "%s/%s", path, item->d_name);
		if (unlink(name))
			clean_directory(name);
	}
	if (stream)
		closedir(stream);
	rmdir(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	free(f->good);
	ht_close(f->set);
	ht_ctx_free(f->ctx);
	clean_directory(f->dir);
	free(f);
	return 0;
}

static size_t count_files(const char *path, const char *part)
{
	size_t n = 0;
	DIR *stream = opendir(path);
	for (struct dirent *item; stream && (item = readdir(stream));)
		n += strstr(item->d_name, part) != NULL;
	if (stream)
		closedir(stream);
	return n;
}

/* ---- tests ---- */

static void test_gives_back_what_was_stored(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	struct stat st;
	assert_true(is_sound(f, f->trace));
	assert_true(load(f, &whole.trace));
	assert_true(same_sections(f->trace, &whole.trace));
	assert_int_equal(whole.more.map.n, f->n_good);
	assert_true(is_sound(f, &whole.trace));
	unmap(&whole.trace);
	assert_int_equal(stat(f->cache, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_every_flipped_byte_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	for (size_t i = 0; i < f->n_good; i++) {
		char mask = (char)(1 << i % 8);
		f->good[i] ^= mask;
		write_bytes(f->file, f->good, f->n_good);
		assert_false(load(f, &whole.trace));
		f->good[i] ^= mask;
	}
}

static void test_every_cut_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	for (size_t n = 0; n < f->n_good; n++) {
		write_bytes(f->file, f->good, n);
		assert_false(load(f, &whole.trace));
	}
	write_bytes(f->file, f->good, f->n_good);
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
}

/* Make the checksum right again, as somebody else's program would; nothing can where the sections do not
 * even fill the file. */
static void reseal(char *bytes, size_t n)
{
	struct ht_whole_trace store;
	if (!ht_cache_place(&ht_trace_sections, bytes, n, &store))
		return;
	uint64_t checksum = ht_cache_checksum(&ht_trace_sections, bytes, &store);
	memcpy(bytes + offsetof(struct ht_cache_head, checksum), &checksum, sizeof checksum);
}

static void test_foreign_head_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	/* a key of the whole file, so that all of the head counts */
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, true, &f->key), HT_OK);
	assert_true(store(f));
	free(f->good);
	f->good = read_bytes(f->file, &f->n_good);
	for (size_t at = 0; at < sizeof(struct ht_cache_head); at++) {
		if (at >= offsetof(struct ht_cache_head, checksum) && at < HT_CACHE_COVERED)
			continue;
		f->good[at]++;
		reseal(f->good, f->n_good);
		write_bytes(f->file, f->good, f->n_good);
		assert_false(load(f, &whole.trace));
		f->good[at]--;
	}
	reseal(f->good, f->n_good);
	write_bytes(f->file, f->good, f->n_good);
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
}

static bool swallow(void *user, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)user += n;
	return true;
}

/* Whatever the numbers are, what is accepted can be read from end to end. */
static void walk(struct fixture *f, struct ht_trace *trace)
{
	size_t n = 0;
	trace->meta = trace->meta_;
	struct ht_rank rank = { .n_events = ht_n_events(trace) };
	struct ht_kept kept = { .trace = trace, .bytes = 1, .for_good = true };
	struct ht_set set = { .roster = { .ranks = &rank, .n = 1 },
		.kept = &kept,
		.lock = PTHREAD_MUTEX_INITIALIZER };
	struct ht_sink sink = { swallow, &n };
	assert_int_equal(ht_dump(f->ctx, &set, &sink), HT_OK);
	assert_true(n > 0);
	for (uint32_t row = 0; row < ht_n_events(trace); row++)
		for (uint32_t up = row; up != HT_NONE; up = trace->parent[up])
			assert_true(up < ht_n_events(trace));
}

static void test_foreign_numbers_are_harmless(void **state)
{
	struct fixture *f = *state;
	static const uint32_t values[] = { 0, 1, 6, 0x80, 0xffff, 0x7fffffff, 0xffffffff };
	size_t n_accepted = 0, first = sizeof(struct ht_cache_head);
	for (size_t at = first; at + 4 <= f->n_good; at += 4)
		for (size_t i = 0; i < HT_COUNT(values); i++) {
			struct ht_whole_trace whole;
			uint32_t before;
			memcpy(&before, f->good + at, sizeof before);
			memcpy(f->good + at, &values[i], sizeof before);
			reseal(f->good, f->n_good);
			write_bytes(f->file, f->good, f->n_good);
			if (load(f, &whole.trace)) {
				walk(f, &whole.trace);
				unmap(&whole.trace);
				n_accepted++;
			}
			memcpy(f->good + at, &before, sizeof before);
		}
	assert_true(n_accepted > 0);
}

/* A trace of many parts: frames within frames, each with a launch, its kernel and strings of its own. */
static char *large_text(size_t *ret_n)
{
	static const char event[] =
	        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f%d\",\"pid\":9,\"tid\":9,\"ts\":%d,"
	        "\"dur\":%d,\"args\":{\"Python id\":%d,\"Python parent id\":%d}},\n"
	        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":9,\"tid\":9,\"ts\":%d,"
	        "\"dur\":1,\"args\":{\"correlation\":%d}},\n"
	        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":1,"
	        "\"args\":{\"correlation\":%d,\"device\":0,\"stream\":7,\"s\":\"x%d\"}},\n";
	size_t cap = (size_t)40000 * 500, n = 0;
	char *text = malloc(cap);
	assert_non_null(text);
	n += (size_t)snprintf(text, cap, "{\"schemaVersion\":1,\"traceEvents\":[\n");
	for (int i = 1; i <= 40000; i++) {
		int in = i % 10, ts = i / 10 * 100 + in;
		n += (size_t)snprintf(text + n, cap - n, event, i, ts, 100 - 2 * in, i,
		        in ? i - 1 : i, ts, i, ts + 50, i, i);
	}
	n += (size_t)snprintf(
	        text + n, cap - n, "{\"ph\":\"M\",\"name\":\"x\",\"pid\":9,\"tid\":0}]}\n");
	*ret_n = n;
	return text;
}

/* Parents that exist and lead round; all is as before then. */
static void circles_are_seen(struct fixture *f)
{
	uint32_t *parents = (uint32_t *)(uintptr_t)f->trace->parent;
	uint32_t row = 100000;
	while (parents[row] == HT_NONE)
		row++;
	uint32_t top = parents[row], before = parents[top], next = parents[top + 1];
	parents[top] = row;
	assert_false(is_sound(f, f->trace));
	/* a way down that ends, and beside it, from an entry whose way is known by then, one that does not */
	uint32_t last = (uint32_t)ht_n_events(f->trace) - 1, far = last - 1;
	assert_true(parents[last] == HT_NONE && parents[far] == HT_NONE);
	parents[top] = far;
	parents[far] = last;
	assert_true(is_sound(f, f->trace));
	parents[last] = top + 1;
	parents[top + 1] = last;
	assert_false(is_sound(f, f->trace));
	parents[top + 1] = next;
	parents[last] = parents[far] = HT_NONE;
	parents[top] = before;
	uint32_t *python = (uint32_t *)(uintptr_t)f->trace->python_parent;
	const uint32_t *rows = f->trace->python_rows, at = 39995;
	assert_int_equal(python[at], rows[at - 1]);
	uint32_t *first = &python[at - 1], was = *first;
	*first = rows[at];
	assert_false(is_sound(f, f->trace));
	*first = was;
}

/* A number that leads nowhere, at the borders of parts and elsewhere, in every section of row, string and
 * other numbers; and an order that is broken there. */
static void test_every_part_is_checked(void **state)
{
	struct fixture *f = *state;
	size_t n_text, n_tried = 0;
	char *text = large_text(&n_text);
	write_bytes(f->source, text, n_text);
	free(text);
	ht_close(f->set);
	const char *source = f->source;
	assert_int_equal(ht_open(f->ctx, &source, 1, NULL, &f->set), HT_OK);
	f->trace = f->set->kept[0].trace;
	assert_int_equal(ht_n_events(f->trace), 120001);
	assert_true(is_sound(f, f->trace));
	for (size_t i = 0; i < ht_trace_sections.n; i++) {
		const struct ht_section_info *info = &ht_trace_sections.list[i];
		struct ht_section section = ht_section_get(f->trace, info);
		uint32_t *values = (uint32_t *)(uintptr_t)section.data;
		if (info->elem_bytes != 4 || !info->check || section.n < HT_PART_ELEMS)
			continue;
		size_t places[] = { 0, 1, HT_PART_ELEMS - 1, HT_PART_ELEMS, HT_PART_ELEMS + 1,
			section.n / 3, section.n - 1 };
		for (size_t k = 0; k < HT_COUNT(places); k++) {
			/* columns of args begin at even places, and nobody looks between them */
			bool gap = !strcmp(info->name, "arg_rows") && places[k] + 1 == section.n;
			uint32_t before = values[places[k]];
			values[places[k]] = HT_NONE - 1;
			assert_true(gap || !is_sound(f, f->trace));
			values[places[k]] = before;
			n_tried++;
		}
	}
	assert_true(n_tried > 60);
	circles_are_seen(f);
	assert_true(is_sound(f, f->trace));
}

static void test_another_key_is_a_miss(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	struct ht_cache_key key = f->key;
	/* every number of the id */
	for (size_t at = 0; at < sizeof key.id; at += 8) {
		uint64_t number;
		memcpy(&number, (char *)&f->key.id + at, sizeof number);
		number++;
		memcpy((char *)&f->key.id + at, &number, sizeof number);
		assert_false(load(f, &whole.trace));
		f->key = key;
	}
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
	f->key.path[0] = '\0';
	assert_false(load(f, &whole.trace));
	assert_false(store(f));
}

static bool is_known(struct fixture *f, bool whole)
{
	struct ht_whole_trace found;
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, whole, &f->key), HT_OK);
	bool hit = load(f, &found.trace);
	if (hit)
		unmap(&found.trace);
	return hit;
}

/* A large file, a copy of it with one other byte, and a way to swap them that keeps size and times. */
static void test_key_sees_every_replacement(void **state)
{
	struct fixture *f = *state;
	const size_t n = (size_t)3 << 20;
	char *text = malloc(n), other[128];
	struct stat st;
	assert_non_null(text);
	memset(text, ' ', n);
	memcpy(text, trace_text, sizeof trace_text - 1);
	snprintf(other, sizeof other, "%s/other.json", f->dir);
	for (size_t at = 12345; at < n; at += 567890) {
		write_bytes(f->source, text, n);
		assert_false(is_known(f, false));
		assert_true(store(f));
		assert_true(is_known(f, false));
		assert_int_equal(stat(f->source, &st), 0);
		struct timespec times[] = { HT_STAT_ATIME(&st), HT_STAT_MTIME(&st) };
		/* another file in its place */
		text[at] ^= 1;
		write_bytes(other, text, n);
		assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
		assert_int_equal(rename(other, f->source), 0);
		assert_false(is_known(f, false));
		assert_true(store(f));
		/* the same file, one byte of it, its time put back */
		int fd = open(f->source, O_WRONLY | O_CLOEXEC);
		usleep(10000); /* the clock of file systems ticks slowly */
		text[at] ^= 2;
		assert_int_equal(pwrite(fd, text + at, 1, (off_t)at), 1);
		close(fd);
		assert_int_equal(utimensat(AT_FDCWD, f->source, times, 0), 0);
		assert_false(is_known(f, false));
	}
	free(text);
}

/* What a key of the whole file is for: bytes that changed without anything else to tell it. */
static void test_whole_key_sees_every_byte(void **state)
{
	struct fixture *f = *state;
	struct ht_cache_key before, after;
	const size_t n = (size_t)3 << 20;
	char *text = calloc(1, n);
	assert_non_null(text);
	size_t n_unseen = 0;
	write_bytes(f->source, text, n);
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, true, &before), HT_OK);
	assert_int_not_equal(before.id.content, 0);
	for (size_t at = 0; at < n; at += 77777) {
		text[at] = 1;
		write_bytes(f->source, text, n);
		assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, true, &after), HT_OK);
		assert_int_not_equal(before.id.content, after.id.content);
		n_unseen += before.id.sample == after.id.sample;
		text[at] = 0;
	}
	assert_true(n_unseen > 0);
	free(text);
	/* what was stored without the hash is not believed when it is asked for; the other way it is */
	write_bytes(f->source, trace_text, sizeof trace_text - 1);
	assert_false(is_known(f, false));
	assert_true(store(f));
	assert_true(is_known(f, false));
	assert_false(is_known(f, true));
	assert_true(store(f));
	assert_true(is_known(f, true));
	assert_true(is_known(f, false));
}

static void test_key_sees_content(void **state)
{
	struct fixture *f = *state;
	struct ht_cache_key key;
	char text[sizeof trace_text];
	memcpy(text, trace_text, sizeof text);
	text[sizeof text / 2] ^= 1;
	write_bytes(f->source, text, sizeof text - 1);
	assert_int_equal(ht_cache_key_make(f->ctx, f->source, 5, false, &key), HT_OK);
	assert_int_not_equal(key.id.sample, f->key.id.sample);
	/* and what was read before the change is not stored for it */
	assert_false(store(f));
	assert_int_equal(ht_cache_key_make(f->ctx, f->dir, 5, false, &key), HT_OK);
	assert_string_equal(key.path, "");
	assert_int_equal(ht_cache_key_make(f->ctx, "/nowhere", 5, true, &key), HT_OK);
	assert_string_equal(key.path, "");
}

static void age(const char *path, time_t seconds)
{
	struct timespec then = { .tv_sec = time(NULL) - seconds };
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){ then, then }, 0), 0);
}

static void test_longest_unused_goes_first(void **state)
{
	struct fixture *f = *state;
	char files[3][PATH_MAX];
	struct ht_cache_key keys[3];
	for (int i = 0; i < 3; i++) {
		char source[128];
		snprintf(source, sizeof source, "%s/%d.json", f->dir, i);
		write_bytes(source, trace_text, sizeof trace_text - 1);
		assert_int_equal(ht_cache_key_make(f->ctx, source, 5, false, &keys[i]), HT_OK);
		assert_true(ht_cache_path(
		        f->cache, &keys[i], &ht_trace_sections, files[i], sizeof files[i]));
	}
	unlink(f->file);
	bool stored;
	uint64_t cap = f->n_good * 5 / 2;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ht_cache_store(f->ctx, f->cache, &keys[i], &ht_trace_sections,
		                         f->trace, cap, &stored),
		        HT_OK);
		assert_true(stored);
		age(files[i], 1000 - i);
	}
	/* the first is older, but used now */
	struct ht_whole_trace whole;
	f->key = keys[0];
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
	assert_int_equal(ht_cache_store(f->ctx, f->cache, &keys[2], &ht_trace_sections, f->trace,
	                         cap, &stored),
	        HT_OK);
	assert_true(stored);
	assert_int_equal(access(files[0], F_OK), 0);
	assert_int_not_equal(access(files[1], F_OK), 0);
	assert_int_equal(access(files[2], F_OK), 0);
	/* what would not fit is not written at all */
	assert_int_equal(ht_cache_store(f->ctx, f->cache, &keys[1], &ht_trace_sections, f->trace,
	                         100, &stored),
	        HT_OK);
	assert_false(stored);
	assert_int_equal(count_files(f->cache, HT_CACHE_SUFFIX), 2);
}

/* What a run stored or used stays; it stops storing, for good. Another run may drive it out. */
static void test_a_run_does_not_drive_out_its_own(void **state)
{
	struct fixture *f = *state;
	struct ht_cache_key keys[4];
	char files[4][PATH_MAX];
	bool stored;
	unlink(f->file);
	for (int i = 0; i < 4; i++) {
		char source[128];
		snprintf(source, sizeof source, "%s/%d.json", f->dir, i);
		write_bytes(source, trace_text, sizeof trace_text - 1);
		assert_int_equal(ht_cache_key_make(f->ctx, source, 5, false, &keys[i]), HT_OK);
		assert_true(ht_cache_path(
		        f->cache, &keys[i], &ht_trace_sections, files[i], sizeof files[i]));
	}
	uint64_t max = f->n_good * 5 / 2;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ht_cache_store(f->ctx, f->cache, &keys[i], &ht_trace_sections,
		                         f->trace, max, &stored),
		        HT_OK);
		assert_int_equal(stored, i < 2);
		assert_int_equal(access(files[i], F_OK), i < 2 ? 0 : -1);
	}
	assert_int_equal(ht_ctx_n_not_cached(f->ctx), 2);
	ht_ctx *later;
	nanosleep(&(struct timespec){ .tv_nsec = 60000000 }, NULL);
	assert_int_equal(ht_ctx_new(&later), HT_OK);
	/* used by the later run, so the other one goes */
	f->key = keys[0];
	ht_ctx *first = f->ctx;
	f->ctx = later;
	struct ht_whole_trace whole;
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
	f->ctx = first;
	assert_int_equal(ht_cache_store(later, f->cache, &keys[3], &ht_trace_sections, f->trace,
	                         max, &stored),
	        HT_OK);
	assert_true(stored);
	assert_int_equal(access(files[0], F_OK), 0);
	assert_int_not_equal(access(files[1], F_OK), 0);
	assert_int_equal(ht_ctx_n_not_cached(later), 0);
	/* a file in the place of its own older one needs no other room */
	assert_int_equal(ht_cache_store(later, f->cache, &keys[3], &ht_trace_sections, f->trace,
	                         max, &stored),
	        HT_OK);
	assert_true(stored);
	ht_ctx_free(later);
}

/* Of any trace, by whoever stores next; those of living writers count and stay. */
static void test_left_over_files_go(void **state)
{
	struct fixture *f = *state;
	char dead[PATH_MAX + 32], other[PATH_MAX + 32];
	struct ht_temp living;
	snprintf(dead, sizeof dead, "%s" HT_TEMP_MARK "3", f->file);
	snprintf(other, sizeof other, "%s/0123456789abcdef" HT_CACHE_SUFFIX HT_TEMP_MARK "0",
	        f->cache);
	write_bytes(dead, "x", 1);
	write_bytes(other, "x", 1);
	assert_int_equal(ht_temp_open_named(f->file, 0600, &living), 0);
	assert_true(store(f));
	assert_int_not_equal(access(dead, F_OK), 0);
	assert_int_not_equal(access(other, F_OK), 0);
	assert_int_equal(faccessat(living.folder, living.name, F_OK, 0), 0);
	ht_temp_abort(&living);
}

static void test_no_place_is_no_error(void **state)
{
	struct fixture *f = *state;
	char path[128];
	bool stored = snprintf(path, sizeof path, "%s/x", f->source) > 0;
	assert_int_equal(
	        ht_cache_store(f->ctx, path, &f->key, &ht_trace_sections, f->trace, CAP, &stored),
	        HT_OK);
	assert_false(stored);
	assert_int_equal(ht_error(f->ctx)->status, HT_OK);
}

/* Each read and write fails once: nothing half-done stays. */
static void test_failing_disk(void **state)
{
	struct fixture *f = *state;
	struct ht_whole_trace whole;
	for (long long n = 1;; n++) {
		unlink(f->file);
		atomic_store(&f->ctx->fail_io_in, n);
		bool stored = store(f), failed = atomic_load(&f->ctx->fail_io_in) <= 0;
		atomic_store(&f->ctx->fail_io_in, 0);
		assert_int_equal(count_files(f->cache, HT_TEMP_MARK), 0);
		assert_int_equal(count_files(f->cache, HT_CACHE_SUFFIX), stored);
		if (!failed)
			break;
		assert_false(stored);
	}
	assert_true(load(f, &whole.trace));
	unmap(&whole.trace);
}

static void test_failing_memory(void **state)
{
	struct fixture *f = *state;
	for (long long n = 1; n < 20; n++) {
		struct ht_whole_trace whole = { .trace.more = &whole.more };
		bool hit = false, stored;
		uint64_t now, before, peak;
		ht_error_clear(f->ctx);
		ht_ctx_memory(f->ctx, &before, &peak);
		atomic_store(&f->ctx->mem->fail_in, n);
		enum ht_status status = ht_cache_load(f->ctx, f->cache, &f->key, &ht_trace_sections,
		        &whole.trace, &whole.more.map, &hit);
		assert_true(status == HT_OK || status == HT_NOMEM);
		assert_int_equal(ht_cache_store(f->ctx, f->cache, &f->key, &ht_trace_sections,
		                         f->trace, CAP, &stored),
		        HT_OK);
		atomic_store(&f->ctx->mem->fail_in, 0);
		if (hit)
			unmap(&whole.trace);
		ht_ctx_memory(f->ctx, &now, &peak);
		assert_int_equal(now, before);
	}
}

struct racer {
	struct fixture *f;
	int n_hits, n_wrong;
};

static void *race(void *user)
{
	struct racer *racer = user;
	struct fixture mine = *racer->f;
	if (ht_ctx_new(&mine.ctx) != HT_OK)
		return NULL;
	ht_ctx_set_jobs(mine.ctx, 2);
	for (int i = 0; i < 100; i++) {
		struct ht_whole_trace whole = { .trace.more = &whole.more };
		bool hit = false, stored;
		racer->n_wrong += ht_cache_store(mine.ctx, mine.cache, &mine.key,
		                          &ht_trace_sections, mine.trace, CAP, &stored) != HT_OK;
		racer->n_wrong += ht_cache_load(mine.ctx, mine.cache, &mine.key, &ht_trace_sections,
		                          &whole.trace, &whole.more.map, &hit) != HT_OK;
		if (hit) {
			racer->n_hits++;
			racer->n_wrong += !same_sections(mine.trace, &whole.trace);
			unmap(&whole.trace);
		}
	}
	ht_ctx_free(mine.ctx);
	return NULL;
}

/* What is known of a rank can be had by itself, and tells when it is damaged. */
static void test_description_is_read_alone(void **state)
{
	struct fixture *f = *state;
	struct ht_arena arena;
	struct ht_section got;
	struct ht_rank rank;
	ht_arena_init(&arena, f->ctx->mem);
	assert_int_equal(
	        ht_cache_peek(f->ctx, f->cache, &f->key, &ht_trace_sections, &arena, &got), HT_OK);
	assert_true(ht_rank_unpack(got.data, got.n, "here", &arena, &rank));
	assert_int_equal(rank.n_events, ht_n_events(f->trace));
	assert_int_equal(rank.claimed, 2);
	assert_int_equal(rank.n_steps, 1);
	assert_int_equal(rank.steps[0].number, 3);
	assert_string_equal(rank.path, "here");
	char *bytes = ht_arena_alloc(&arena, got.n);
	memcpy(bytes, got.data, got.n);
	for (size_t i = 0; i < got.n; i++) {
		assert_false(ht_rank_unpack(bytes, i, "here", &arena, &rank));
		bytes[i] ^= 4;
		assert_false(ht_rank_unpack(bytes, got.n, "here", &arena, &rank));
		bytes[i] ^= 4;
	}
	f->key.id.mtime_ns++;
	assert_int_equal(
	        ht_cache_peek(f->ctx, f->cache, &f->key, &ht_trace_sections, &arena, &got), HT_OK);
	assert_int_equal(got.n, 0);
	assert_false(ht_rank_unpack(got.data, got.n, "here", &arena, &rank));
	ht_arena_done(&arena);
}

static void test_threads_at_once(void **state)
{
	struct racer racers[4];
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) {
		racers[i] = (struct racer){ .f = *state };
		assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(racers[i].n_wrong, 0);
		assert_int_equal(racers[i].n_hits, 100);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gives_back_what_was_stored),
		TEST(test_every_flipped_byte_is_noticed),
		TEST(test_every_cut_is_noticed),
		TEST(test_foreign_head_is_refused),
		TEST(test_foreign_numbers_are_harmless),
		TEST(test_every_part_is_checked),
		TEST(test_another_key_is_a_miss),
		TEST(test_key_sees_content),
		TEST(test_key_sees_every_replacement),
		TEST(test_whole_key_sees_every_byte),
		TEST(test_longest_unused_goes_first),
		TEST(test_a_run_does_not_drive_out_its_own),
		TEST(test_left_over_files_go),
		TEST(test_no_place_is_no_error),
		TEST(test_failing_disk),
		TEST(test_failing_memory),
		TEST(test_description_is_read_alone),
		TEST(test_threads_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
