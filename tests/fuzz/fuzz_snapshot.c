/*
 * fuzz_snapshot.c - any bytes as a memory snapshot: pickle, JSON or page. What is read is dumped twice, the second
 * time from another reading: the same.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_text texts[2] = { 0 };
	char path[TEST_FILE_PATH];
	int fd = fuzz_file("", 0, data, size, path);
	bool opened[2];
	for (int i = 0; i < 2; i++) {
		ht_ctx *ctx = fuzz_ctx(1);
		const char *source = path;
		struct ht_open_options options = {
			.struct_size = sizeof options, .no_cache = true, .reader = "memory-snapshot"
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
	return 0;
}
