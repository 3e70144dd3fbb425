/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cache.c - any bytes as a cache file: rejected, or the same store. Never another store.
 *
 * A tiny trace and its good cache file are made once. The first byte of the input, modulo three, says
 * what the rest is:
 *     0   edits of the good file, five bytes each: offset, then the new byte
 *     1   the whole cache file
 *     2   edits as in 0, and the checksums are made right again: then another store may come out, but
 *         it must be one that every question can be asked of
 */
#include "fuzz.h"

#include "base/hash.h"
#include "store/cache_file.h"
#include "store/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static const char cache_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2, \"world_size\": 4, \"pg_config\": [{"
        "\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": 2"
        ", \"ranks\": [0, 1]}]}, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"totalGl"
        "obalMem\": 1, \"numSms\": 132, \"computeMajor\": 9}], \"traceEvents\": [\n"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 99, \"tid\": 0, \"args\": {\"name\": \"python\"}}"
        ",\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#4\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 1, \"dur\": 40},\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 41, \"dur\": 40},\n"
        "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"nn.Module: M_0\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 2, \"dur\": 20, \"args\": {\"Python id\": 1, \"Python parent id\": 0}},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 99, \"tid\": 99, \"ts\": 3, \"dur"
        "\": 9, \"args\": {\"External id\": 3, \"Sequence number\": 8, \"Fwd thread id\": 0, \"Input Di"
        "ms\": [[2, 3], []]}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 99, \"tid\": 99,"
        " \"ts\": 4, \"dur\": 2, \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 8, \"dur\": 6, \"ar"
        "gs\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"grid\": [1, 2, 3], \"est. achieved "
        "occupancy %\": 40}},\n"
        "{\"ph\": \"s\", \"id\": 7, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 99, \"tid\": 99, \"ts\": 4},\n"
        "{\"ph\": \"f\", \"id\": 7, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 0, \"tid\": 7, \"ts\": 8, \"bp"
        "\": \"e\"},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"autograd::engine::evaluate_function: MmBackwar"
        "d0\", \"pid\": 99, \"tid\": 98, \"ts\": 43, \"dur\": 9, \"args\": {\"External id\": 4, \"Sequence "
        "number\": 8, \"Fwd thread id\": 1}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 99, \"tid\": 98,"
        " \"ts\": 44, \"dur\": 2, \"args\": {\"correlation\": 9, \"External id\": 4}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", \"pid"
        "\": 0, \"tid\": 20, \"ts\": 48, \"dur\": 9, \"args\": {\"correlation\": 9, \"stream\": 20, \"devic"
        "e\": 0, \"Collective name\": \"allreduce\", \"In msg nelems\": 8, \"Out msg nelems\": 8, \"Gro"
        "up size\": 2, \"dtype\": \"Float\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0"
        ", 1]\"}},\n"
        "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"pid\": 0,"
        " \"tid\": 7, \"ts\": 60, \"dur\": 3, \"args\": {\"correlation\": 11, \"stream\": 7, \"device\": 0,"
        " \"bytes\": 4096}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": 0, \"tid\": 7, \"ts"
        "\": 62, \"dur\": 1, \"args\": {\"correlation\": 12, \"stream\": 7, \"device\": 0, \"cuda_sync_ki"
        "nd\": \"Stream Wait Event\", \"wait_on_stream\": 20, \"wait_on_cuda_event_record_corr_id\":"
        " 9, \"wait_on_cuda_event_id\": 1}},\n"
        "{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 99, \"ti"
        "d\": 99, \"ts\": 5, \"args\": {\"Total Reserved\": 4096, \"Total Allocated\": 512, \"Bytes\": 5"
        "12, \"Addr\": 1, \"Device Id\": 0, \"Device Type\": 1}},\n"
        "{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 99, \"ti"
        "d\": 99, \"ts\": 50, \"args\": {\"Total Reserved\": 4096, \"Total Allocated\": 0, \"Bytes\": -5"
        "12, \"Addr\": 1, \"Device Id\": 0, \"Device Type\": 1}},\n"
        "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 0, \"tid\":"
        " 7, \"ts\": 48, \"dur\": 20}]}\n";

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

/* Open the trace through the cache, use what comes out: all of it, or what every question needs. */
static void cache_open(bool all, struct fuzz_text *ret_dump)
{
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	FUZZ_REQUIRE(fuzz_open(ctx, cache.trace, 0, cache.dir, &set) == HT_OK);
	fuzz_dump(ctx, set, ret_dump);
	for (size_t i = 0; all && i < ht_n_analyses(); i++)
		if (ht_analysis_at(i)->n_sets == 1)
			fuzz_run(ctx, set, ht_analysis_at(i)->name, "csv", NULL);
	fuzz_run(ctx, set, "events", "csv", NULL);
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
	cache_open(false, &cache.dump);
	FUZZ_REQUIRE(cache_find(cache.dir, 2, cache.cache, sizeof cache.cache));
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
		size_t n_description = store.n_description - sizeof(uint64_t);
		if (store.n_description >= sizeof(uint64_t))
			cache_reseal_description(
			        bytes + (store.description - bytes), n_description);
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
	cache_open(data[0] % 3 == 2, &dump);
	if (data[0] % 3 != 2)
		FUZZ_REQUIRE(fuzz_same(&dump, &cache.dump));
	free(dump.bytes);
	return 0;
}
