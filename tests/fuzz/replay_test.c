/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_test.c - the corpora of all fuzz targets as ordinary tests, without clang.
 *
 * The targets are compiled in under names of their own. Every file of tests/fuzz/corpus/<target>/ is
 * fed as it is, then cut short and with single bytes changed, so that builds with sanitizers see more
 * than the files themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>

int target_attach(const uint8_t *data, size_t size);
int target_bundle(const uint8_t *data, size_t size);
int target_cache(const uint8_t *data, size_t size);
int target_chakra(const uint8_t *data, size_t size);
int target_convert(const uint8_t *data, size_t size);
int target_db(const uint8_t *data, size_t size);
int target_et(const uint8_t *data, size_t size);
int target_events(const uint8_t *data, size_t size);
int target_gzip(const uint8_t *data, size_t size);
int target_iterations(const uint8_t *data, size_t size);
int target_mcp(const uint8_t *data, size_t size);
int target_read(const uint8_t *data, size_t size);
int target_scan(const uint8_t *data, size_t size);
int target_perfetto(const uint8_t *data, size_t size);
int target_snapshot(const uint8_t *data, size_t size);
int target_sql(const uint8_t *data, size_t size);
int target_tables(const uint8_t *data, size_t size);
int target_where(const uint8_t *data, size_t size);
int target_zstd(const uint8_t *data, size_t size);

#define LLVMFuzzerTestOneInput target_attach
#include "fuzz_attach.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_bundle
#include "fuzz_bundle.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_cache
#include "fuzz_cache.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_chakra
#include "fuzz_chakra.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_convert
#include "fuzz_convert.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_db
#include "fuzz_db.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_et
#include "fuzz_et.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_events
#include "fuzz_events.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_gzip
#include "fuzz_gzip.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_iterations
#include "fuzz_iterations.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_mcp
#include "fuzz_mcp.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_read
#include "fuzz_read.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_scan
#include "fuzz_scan.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_perfetto
#include "fuzz_perfetto.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_snapshot
#include "fuzz_snapshot.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_sql
#include "fuzz_sql.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_tables
#include "fuzz_tables.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_where
#include "fuzz_where.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput target_zstd
#include "fuzz_zstd.c"
#undef LLVMFuzzerTestOneInput

typedef int (*target_fn)(const uint8_t *data, size_t size);

#define N_MUTATIONS 6

static uint8_t *slurp(const char *path, size_t *ret_n)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	size_t n = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(n + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, n, file), n);
	fclose(file);
	*ret_n = n;
	return bytes;
}

/* The same sequence in every run: a failure can be repeated. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void feed(target_fn target, uint8_t *bytes, size_t n)
{
	uint32_t state = (uint32_t)n;
	target(bytes, n);
	for (int i = 0; i < N_MUTATIONS && n; i++) {
		size_t at = next_random(&state) % n;
		uint8_t old = bytes[at];
		target(bytes, at);
		bytes[at] = (uint8_t)next_random(&state);
		target(bytes, n);
		bytes[at] = old;
	}
}

static void replay(const char *name, target_fn target)
{
	const char *root = getenv("HT_SOURCE_ROOT");
	char dir[1024], path[2048];
	snprintf(dir, sizeof dir, "%s/tests/fuzz/corpus/%s", root ? root : ".", name);
	DIR *stream = opendir(dir);
	assert_non_null(stream);
	size_t n_files = 0;
	for (struct dirent *entry; (entry = readdir(stream));) {
		if (entry->d_name[0] == '.')
			continue;
		size_t n = 0;
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		uint8_t *bytes = slurp(path, &n);
		assert_non_null(bytes);
		feed(target, bytes, n);
		free(bytes);
		n_files++;
	}
	closedir(stream);
	assert_true(n_files > 0);
}

#define REPLAY(name)                                                                               \
	static void replay_##name(void **state)                                                    \
	{                                                                                          \
		(void)state;                                                                       \
		replay(#name, target_##name);                                                      \
	}
REPLAY(attach)
REPLAY(bundle)
REPLAY(cache)
REPLAY(chakra)
REPLAY(convert)
REPLAY(db)
REPLAY(et)
REPLAY(events)
REPLAY(gzip)
REPLAY(iterations)
REPLAY(mcp)
REPLAY(read)
REPLAY(scan)
REPLAY(perfetto)
REPLAY(snapshot)
REPLAY(sql)
REPLAY(tables)
REPLAY(where)
REPLAY(zstd)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_attach),
		cmocka_unit_test(replay_bundle),
		cmocka_unit_test(replay_cache),
		cmocka_unit_test(replay_chakra),
		cmocka_unit_test(replay_convert),
		cmocka_unit_test(replay_db),
		cmocka_unit_test(replay_et),
		cmocka_unit_test(replay_events),
		cmocka_unit_test(replay_gzip),
		cmocka_unit_test(replay_iterations),
		cmocka_unit_test(replay_mcp),
		cmocka_unit_test(replay_read),
		cmocka_unit_test(replay_scan),
		cmocka_unit_test(replay_perfetto),
		cmocka_unit_test(replay_snapshot),
		cmocka_unit_test(replay_sql),
		cmocka_unit_test(replay_tables),
		cmocka_unit_test(replay_where),
		cmocka_unit_test(replay_zstd),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
