/*
 * fuzz_cache.c - any bytes as a cache file: rejected, or the same store. Never another store.
 *
 * A tiny trace and its good cache file are made once. The first byte of the input, modulo three, says
 * what the rest is:
 *     0   edits of the good file, five bytes each: offset, then the new byte
 *     1   the whole cache file
 *     2   edits as in 0, and the checksum is made right again: then another store may come out, but
 *         it must be one that can be used
 */
#include "fuzz.h"

#include "store/cache_file.h"
#include "store/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static const char cache_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2}, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", \"pid\": 99, \"tid\": 99, \"ts\": 1,"
        " \"dur\": 2, \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 5, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"grid\": [1, 2, 3]}}]}\n";

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

/* The one regular file below a folder, two levels deep at most. */
static bool cache_find(const char *dir, int depth, char *ret_path, size_t cap)
{
	DIR *stream = opendir(dir);
	bool found = false;
	for (struct dirent *entry; stream && !found && (entry = readdir(stream));) {
		if (entry->d_name[0] == '.')
			continue;
		char path[512];
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		struct stat info;
		if (stat(path, &info))
			continue;
		if (S_ISREG(info.st_mode) && strcmp(path, cache.trace)) {
			snprintf(ret_path, cap, "%s", path);
			found = true;
		} else if (S_ISDIR(info.st_mode) && depth) {
			found = cache_find(path, depth - 1, ret_path, cap);
		}
	}
	if (stream)
		closedir(stream);
	return found;
}

/* Open the trace through the cache, use what comes out. */
static void cache_open(struct fuzz_text *ret_dump)
{
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	FUZZ_REQUIRE(fuzz_open(ctx, cache.trace, 0, cache.dir, &set) == HT_OK);
	fuzz_dump(ctx, set, ret_dump);
	fuzz_run(ctx, set, "events", "csv", NULL);
	fuzz_run(ctx, set, "health", "csv", NULL);
	fuzz_run(ctx, set, "info", "csv", NULL);
	fuzz_run(ctx, set, "temporal-breakdown", "csv", NULL);
	ht_close(set);
	fuzz_ctx_done(ctx);
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
	cache_write(cache.trace, cache_trace, sizeof cache_trace - 1);
	cache_open(&cache.dump);
	FUZZ_REQUIRE(cache_find(cache.dir, 2, cache.cache, sizeof cache.cache));
	int fd = open(cache.cache, O_RDONLY | O_CLOEXEC);
	char buf[65536];
	for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
		fuzz_append(&cache.good, buf, (size_t)n);
	close(fd);
	atexit(cache_clean);
}

/* Write the good file with the edits of the input applied. */
static void cache_edit(const uint8_t *data, size_t size, bool reseal)
{
	size_t n = cache.good.n;
	char *bytes = malloc(n);
	FUZZ_REQUIRE(bytes);
	memcpy(bytes, cache.good.bytes, n);
	for (size_t i = 1; i + 5 <= size; i += 5) {
		uint32_t at;
		memcpy(&at, data + i, sizeof at);
		bytes[at % n] = (char)data[i + 4];
	}
	struct ht_trace store;
	if (reseal && ht_cache_place(&ht_trace_sections, bytes, n, &store)) {
		uint64_t checksum = ht_cache_checksum(&ht_trace_sections, bytes, &store);
		memcpy(bytes + offsetof(struct ht_cache_head, checksum), &checksum,
		        sizeof checksum);
	}
	cache_write(cache.cache, bytes, n);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!cache.good.n)
		cache_prepare();
	if (!size)
		return 0;
	if (data[0] % 3 == 1)
		cache_write(cache.cache, data + 1, size - 1);
	else
		cache_edit(data, size, data[0] % 3 == 2);
	struct fuzz_text dump = { 0 };
	cache_open(&dump);
	if (data[0] % 3 != 2)
		FUZZ_REQUIRE(fuzz_same(&dump, &cache.dump));
	free(dump.bytes);
	return 0;
}
