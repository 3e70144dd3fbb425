/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the corpus of a fuzz target as an ordinary test.
 *
 * Every file of tests/fuzz/corpus/<target>/ is fed as it is, then cut short and with single bytes changed, so that builds with
 * sanitizers see more than the files themselves. Where a target looks closely at one input in some (fuzz.h), that is every file as it
 * is, and those of its changed forms that the fuzzer would choose; with HOLOTRACE_LONG all of them.
 */
#ifndef HT_FUZZ_REPLAY_H
#define HT_FUZZ_REPLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*target_fn)(const uint8_t *data, size_t size);

#define N_MUTATIONS 6

/* What makes a target look closely at any input; set by tests of targets that have it. */
static bool *replay_looks_closely;

static inline uint8_t *slurp(const char *path, size_t *ret_n)
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
static inline uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static inline void feed(target_fn target, uint8_t *bytes, size_t n)
{
	uint32_t state = (uint32_t)n;
	bool *closely = replay_looks_closely;
	if (closely)
		*closely = true;
	target(bytes, n);
	if (closely)
		*closely = getenv("HOLOTRACE_LONG") != NULL;
	for (int i = 0; i < N_MUTATIONS && n; i++) {
		size_t at = next_random(&state) % n;
		uint8_t old = bytes[at];
		target(bytes, at);
		bytes[at] = (uint8_t)next_random(&state);
		target(bytes, n);
		bytes[at] = old;
	}
}

static inline void replay(const char *name, target_fn target)
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

#endif
