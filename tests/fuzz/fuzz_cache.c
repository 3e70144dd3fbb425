/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cache.c - any bytes as a cache file: rejected, or the same store. Never another store.
 *
 * A tiny trace and its good cache file are made once. The first byte of the input says what the rest is: when it is 240 or more,
 * forgeries (3), else its remainder modulo three:
 *     0   edits of the good file, five bytes each: offset, then the new byte
 *     1   the whole cache file
 *     2   edits as in 0, and the checksums are made right again: then another store may come out, but
 *         it must be one that every question can be asked of
 *     3   forgeries, five bytes each: a section, which of its elements, where in it, and a number that lies at the edge of
 *         something; with right checksums, as in 2
 * Whether a file is believed is decided as ht_cache_load does, on the bytes. One in some is opened by its name and asked.
 */
#include "fuzz.h"
#include "tiny_trace.h"

#include "base/hash.h"
#include "store/cache_file.h"
#include "store/check.h"
#include "store/trace.h"

#include <dirent.h>
#include <sys/stat.h>

static struct {
	char dir[64], trace[96], cache[512];
	struct fuzz_text good, dump;
} cache;

static void cache_write(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_REQUIRE(fd >= 0);
	FUZZ_REQUIRE(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

/* The file of the trace below a folder, two levels deep at most. Parts that were kept beside it go: they would answer for it. */
static bool cache_find(const char *dir, int depth, char *ret_path, size_t cap)
{
	DIR *stream = opendir(dir);
	bool found = false;
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		if (entry->d_name[0] == '.')
			continue;
		char path[512];
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		struct stat info;
		if (stat(path, &info))
			continue;
		if (S_ISREG(info.st_mode) && strstr(entry->d_name, HT_CACHE_BESIDE)) {
			unlink(path);
		} else if (S_ISREG(info.st_mode) && strcmp(path, cache.trace)) {
			snprintf(ret_path, cap, "%s", path);
			found = true;
		} else if (S_ISDIR(info.st_mode) && depth) {
			found |= cache_find(path, depth - 1, ret_path, cap);
		}
	}
	if (stream)
		closedir(stream);
	return found;
}

#define CACHE_ALL ((size_t)-1)

/* Five events need no gigabyte, whatever is said of them. */
static void cache_ask(ht_ctx *ctx, ht_set *set, const char *name)
{
	enum ht_status status = fuzz_run(ctx, set, name, "csv", NULL);
	FUZZ_REQUIRE(status != HT_LIMIT && status != HT_NOMEM);
}

/* Open the trace through the cache, use what comes out: by all questions, or by one. */
static void cache_open(size_t i_question, struct fuzz_text *ret_dump)
{
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	FUZZ_REQUIRE(fuzz_open(ctx, cache.trace, 0, cache.dir, &set) == HT_OK);
	fuzz_dump(ctx, set, ret_dump);
	for (size_t i = 0; i < ht_n_analyses(); i++)
		if (ht_analysis_at(i)->n_sets == 1 && (i_question == CACHE_ALL || i == i_question))
			cache_ask(ctx, set, ht_analysis_at(i)->name);
	fuzz_run(ctx, set, "events", "csv", NULL);
	ht_close(set);
	fuzz_ctx_done(ctx);
	FUZZ_REQUIRE(cache_find(cache.dir, 2, cache.cache, sizeof cache.cache));
}

static void cache_clean(void)
{
	unlink(cache.cache);
	unlink(cache.trace);
	rmdir(cache.dir);
}

static void cache_prepare(void)
{
	snprintf(cache.dir, sizeof cache.dir, "/dev/shm/holotrace-fuzz-XXXXXX");
	FUZZ_REQUIRE(mkdtemp(cache.dir));
	snprintf(cache.trace, sizeof cache.trace, "%s/trace.json", cache.dir);
	cache_write(cache.trace, fuzz_tiny_trace, sizeof fuzz_tiny_trace - 1);
	cache_open(ht_n_analyses(), &cache.dump);
	int fd = open(cache.cache, O_RDONLY | O_CLOEXEC);
	char buf[65536];
	for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
		fuzz_append(&cache.good, buf, (size_t)n);
	close(fd);
	atexit(cache_clean);
}

/* The description of the rank has a hash of its own, behind it. */
static void cache_reseal_description(char *description, size_t n)
{
	uint64_t hash = ht_hash(description, n);
	for (size_t i = 0; i < sizeof hash; i++)
		description[n + i] = (char)(hash >> 8 * i);
}

/* A number at the edge of something into an element of a section. */
static void cache_forge(char *bytes, size_t n, const uint8_t *edit)
{
	struct ht_whole_trace store = { .trace.more = &store.more };
	FUZZ_REQUIRE(ht_cache_place(&ht_trace_sections, bytes, n, &store));
	const struct ht_section_info *info = &ht_trace_sections.list[edit[0] % ht_trace_sections.n];
	struct ht_section section = ht_section_get(&store, info);
	uint64_t n_rows = ht_section_get(&store, &ht_trace_sections.list[2]).n;
	const uint64_t odd[] = { 0, 1, 2, n_rows - 1, n_rows, n_rows + 1, section.n - 1, section.n,
		127, 128, 255, 65535, INT32_MAX, UINT32_MAX - 1, UINT32_MAX, INT64_MAX,
		(uint64_t)INT64_MIN, UINT64_MAX };
	if (!section.n)
		return;
	size_t at = (size_t)(edit[1] | edit[2] << 8) % section.n * info->elem_bytes;
	size_t width = info->elem_bytes < 8 ? info->elem_bytes : edit[4] & 128 ? 4 : 8;
	size_t inside = edit[3] % (info->elem_bytes / width) * width;
	uint64_t value = odd[(edit[4] & 127) % HT_COUNT(odd)];
	memcpy(bytes + ((const char *)section.data - bytes) + at + inside, &value, width);
}

static void cache_reseal(char *bytes, size_t n)
{
	struct ht_whole_trace store = { .trace.more = &store.more };
	if (!ht_cache_place(&ht_trace_sections, bytes, n, &store))
		return;
	if (store.trace.n_description >= sizeof(uint64_t))
		cache_reseal_description(bytes + (store.trace.description - bytes),
		        store.trace.n_description - sizeof(uint64_t));
	uint64_t checksum = ht_cache_checksum(&ht_trace_sections, bytes, &store);
	memcpy(bytes + offsetof(struct ht_cache_head, checksum), &checksum, sizeof checksum);
}

/* The good file with the edits of the input applied. */
static char *cache_edit(const uint8_t *data, size_t size, unsigned mode)
{
	size_t n = cache.good.n;
	/* as mapped files are, at the start of a line of the processor's cache */
	char *bytes = aligned_alloc(HT_CACHE_ALIGN, ht_cache_align(n));
	FUZZ_REQUIRE(bytes);
	memcpy(bytes, cache.good.bytes, n);
	for (size_t i = 1; i + FUZZ_EDIT_BYTES <= size; i += FUZZ_EDIT_BYTES) {
		if (mode == 3)
			cache_forge(bytes, n, data + i);
		else
			fuzz_edit(bytes, n, data + i);
	}
	if (mode >= 2)
		cache_reseal(bytes, n);
	return bytes;
}

/* Are the numbers of these bytes sound, as sections of a trace? */
static bool cache_is_sound(const char *bytes, size_t n)
{
	struct ht_whole_trace store = { .trace.more = &store.more };
	bool sound = false;
	if (!ht_cache_place(&ht_trace_sections, bytes, n, &store))
		return false;
	FUZZ_REQUIRE(ht_sections_check(fuzz_common_ctx(), &ht_trace_sections, &store, NULL, NULL,
	                     &sound) == HT_OK);
	return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!cache.good.n)
		cache_prepare();
	if (!size)
		return 0;
	unsigned mode = data[0] >= 240 ? 3 : data[0] % 3u;
	bool chosen = fuzz_is_chosen(data, size, FUZZ_ONE_IN);
	struct fuzz_text dump = { 0 };
	if (mode == 1) {
		cache_write(cache.cache, data + 1, size - 1);
	} else {
		char *bytes = cache_edit(data, size, mode);
		/* what is unsound is not believed: only now and then is it seen that the file is not */
		if (!chosen && !cache_is_sound(bytes, cache.good.n)) {
			free(bytes);
			return 0;
		}
		cache_write(cache.cache, bytes, cache.good.n);
		free(bytes);
	}
	size_t i_question = ht_hash(data, size) / FUZZ_ONE_IN % ht_n_analyses();
	cache_open(chosen && mode >= 2 ? CACHE_ALL : i_question, &dump);
	if (mode < 2)
		FUZZ_REQUIRE(fuzz_same(&dump, &cache.dump));
	free(dump.bytes);
	return 0;
}
