/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_convert.c - what is written reads back: a converted trace converts to the same bytes again.
 *
 * The first conversion may repair (that is its job); from then on nothing may change any more. Most inputs are converted
 * once: reading what was written is what the other half costs.
 */
#include "fuzz.h"

#define CONVERT_TWICE_ONE_IN 4

/* Convert an open file to bytes; false when it is no trace. The writer renames into place, so the
 * target is a name in a folder of memory, not an anonymous file. */
static bool convert_once(const char *path, const char *target, struct fuzz_text *ret_text)
{
	ht_ctx *ctx = fuzz_ctx(1);
	ht_set *set;
	bool is_trace = fuzz_open(ctx, path, 0, NULL, &set) == HT_OK;
	if (is_trace) {
		struct ht_convert_options options = { .partial = true };
		FUZZ_REQUIRE(ht_convert(ctx, set, target, &options) == HT_OK);
		ht_close(set);
		int fd = open(target, O_RDONLY | O_CLOEXEC);
		FUZZ_REQUIRE(fd >= 0);
		char buf[65536];
		for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
			fuzz_append(ret_text, buf, (size_t)n);
		close(fd);
	}
	fuzz_ctx_done(ctx);
	return is_trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char first[64], second[64];
	int pid = (int)getpid();
	snprintf(first, sizeof first, "/dev/shm/holotrace-fuzz-%d-first.json", pid);
	snprintf(second, sizeof second, "/dev/shm/holotrace-fuzz-%d-second.json", pid);
	const char *path = fuzz_file("", 0, data, size);
	struct fuzz_text a = { 0 }, b = { 0 };
	bool is_trace = convert_once(path, first, &a);
	if (is_trace && fuzz_is_chosen(data, size, CONVERT_TWICE_ONE_IN)) {
		FUZZ_REQUIRE(convert_once(first, second, &b));
		FUZZ_REQUIRE(fuzz_same(&a, &b));
		unlink(second);
	}
	if (is_trace)
		unlink(first);
	free(a.bytes);
	free(b.bytes);
	return 0;
}
