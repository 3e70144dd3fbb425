/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wildcard_test.c - patterns fit as in a shell, in bounded time and without recursion.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/wildcard.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void names_fit(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool fits;
	} rows[] = { { "*", "a.json", true }, { "*", "", true }, { "*", ".hidden", false },
		{ ".*", ".hidden", true }, { "\\.*", ".hidden", true },
		{ "?idden", ".idden", false }, { "a*b*c", "axxbxxc", true },
		{ "a*b*c", "axxbxx", false }, { "*.json", "a.json.gz", false },
		{ "*.json*", "a.json.gz", true }, { "rank?", "rank3", true },
		{ "rank?", "rank", false }, { "rank?", "rank10", false },
		{ "\xc3\xa9?", "\xc3\xa9\xc3\xa9", true }, { "?", "\xc3\xa9", true },
		{ "rank[0-3]", "rank2", true }, { "rank[0-3]", "rank4", false },
		{ "rank[!0-3]", "rank4", true }, { "rank[^0-3]", "rank2", false },
		{ "[]]", "]", true }, { "[a-]", "-", true }, { "[\\]]", "]", true },
		{ "rank[3", "rank[3", true }, { "rank\\[3]", "rank[3]", true },
		{ "rank[3]", "rank[3]", false }, { "a\\*", "a*", true }, { "a\\*", "ab", false },
		{ "", "", true }, { "", "a", false } };
	(void)state;
	for (size_t i = 0; i < HT_COUNT(rows); i++)
		if (ht_wildcard_fits(rows[i].pattern, rows[i].name) != rows[i].fits)
			fail_msg("%s and %s", rows[i].pattern, rows[i].name);
}

/* Many stars against a long name: a matcher that tries all ways would never end. */
static void many_stars_end(void **state)
{
	char pattern[2001], name[256];
	(void)state;
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + 1998, "*b", 3);
	memset(name, 'a', 255);
	name[255] = '\0';
	assert_false(ht_wildcard_fits(pattern, name));
}

static size_t n_expanded(ht_ctx *ctx, const char *pattern, bool one, enum ht_status want)
{
	struct ht_arena arena;
	struct ht_vec paths = { 0 };
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_wildcard_expand(ctx, pattern, one, &arena, &paths), want);
	size_t n = paths.n;
	ht_vec_free(ctx->mem, &paths, sizeof(char *));
	ht_arena_done(&arena);
	return n;
}

static void paths_expand(void **state)
{
	char dir[] = "/tmp/holotrace-wildcard-XXXXXX", path[256];
	static const char *const files[] = { "a/x.json", "a/y.json", "b/x.json", "b/.z.json" };
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/b", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < HT_COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fclose(file);
	}
	static const struct {
		const char *pattern;
		bool one;
		size_t n;
	} rows[] = { { "*", false, 2 }, { "*/", false, 2 }, { "*/*.json", false, 3 },
		{ "*/*.json", true, 1 }, { "?/x.json", false, 2 }, { "a/*/", false, 0 },
		{ "[a]/[!x]*", false, 1 }, { "*//x.json", false, 2 }, { "*/../*", false, 4 },
		{ "c/*", false, 0 }, { "*/*/*", false, 0 } };
	for (size_t i = 0; i < HT_COUNT(rows); i++) {
		snprintf(path, sizeof path, "%s/%s", dir, rows[i].pattern);
		if (n_expanded(ctx, path, rows[i].one, HT_OK) != rows[i].n)
			fail_msg("%s", rows[i].pattern);
	}
	for (size_t i = 0; i < HT_COUNT(files); i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/a", dir);
	rmdir(path);
	snprintf(path, sizeof path, "%s/b", dir);
	rmdir(path);
	rmdir(dir);
	ht_ctx_free(ctx);
}

/* Thousands of parts, and more bytes than a path can have. */
static void long_patterns_are_refused(void **state)
{
	ht_ctx *ctx;
	size_t n = 100000;
	char *pattern = malloc(n + 1);
	(void)state;
	assert_non_null(pattern);
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	for (size_t i = 0; i < n; i += 2)
		memcpy(pattern + i, "/*", 2);
	pattern[n] = '\0';
	assert_int_equal(n_expanded(ctx, pattern, false, HT_USAGE), 0);
	for (size_t i = 0; i < 4000; i += 2)
		memcpy(pattern + i, "/.", 2);
	memcpy(pattern + 4000, "/[x", 4);
	(void)n_expanded(ctx, pattern, true, HT_OK);
	ht_ctx_free(ctx);
	free(pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_fit),
		cmocka_unit_test(many_stars_end), cmocka_unit_test(paths_expand),
		cmocka_unit_test(long_patterns_are_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
