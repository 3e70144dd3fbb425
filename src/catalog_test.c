/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_test.c - runs, workers and spans of a log directory that is being written to.
 */
#include "holotrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/ht_catalog_XXXXXX";

static void put(const char *name, const char *text)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char trace[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}";

static const struct ht_recording *find(const ht_catalog *catalog, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", root, name);
	for (size_t i = 0; i < ht_catalog_n(catalog); i++)
		if (!strcmp(ht_catalog_at(catalog, i)->path, path))
			return ht_catalog_at(catalog, i);
	return NULL;
}

static void places_are_told(void **state)
{
	(void)state;
	ht_ctx *ctx;
	ht_catalog *catalog;
	const char *source = root;
	assert_non_null(mkdtemp(root));
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_catalog_find(ctx, &source, 1, &catalog), HT_OK);
	assert_int_equal(ht_catalog_n(catalog), 0);
	ht_catalog_free(catalog);
	put("a/host_1.1700000000001.pt.trace.json", trace);
	put("a/host_1.1700000000002.pt.trace.json", trace);
	put("a/host_2.1700000000001.pt.trace.json", "");
	put("b/c/w0_17_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", trace);
	put("b/c/w0_17_ascend_pt/profiler_info.json", "{}");
	put("b/notes.txt", "nothing");
	assert_int_equal(ht_catalog_find(ctx, &source, 1, &catalog), HT_OK);
	const struct ht_recording *second = find(catalog, "a/host_1.1700000000002.pt.trace.json");
	assert_non_null(second);
	assert_int_equal(second->span, 2);
	assert_string_equal(second->worker, "host_1");
	assert_string_equal(second->stamp, "1700000000002");
	assert_int_equal(second->rank, -1);
	assert_int_equal(second->size_bytes, strlen(trace));
	assert_null(second->why_not);
	assert_true(second->is_known && !second->is_npu && second->mtime_ns > 0);
	const struct ht_recording *empty = find(catalog, "a/host_2.1700000000001.pt.trace.json");
	assert_non_null(empty);
	assert_non_null(empty->why_not);
	assert_string_equal(empty->worker, "host_2");
	size_t n_npu = 0;
	for (size_t i = 0; i < ht_catalog_n(catalog); i++) {
		const struct ht_recording *place = ht_catalog_at(catalog, i);
		if (!place->is_npu)
			continue;
		n_npu++;
		assert_string_equal(place->worker, "w0");
		assert_string_equal(place->dir + strlen(root), "/b/c/");
		assert_true(place->size_bytes >= strlen(trace));
	}
	assert_int_equal(n_npu, 1);
	assert_null(ht_catalog_at(catalog, ht_catalog_n(catalog)));
	ht_catalog_free(catalog);
	ht_ctx_free(ctx);
}

/* What goes away between two looks is no error; neither is a directory that is not there. */
static void gone_is_an_answer(void **state)
{
	(void)state;
	ht_ctx *ctx;
	ht_catalog *catalog;
	char gone[4096];
	snprintf(gone, sizeof gone, "%s/never", root);
	put("locked/x.pt.trace.json", trace);
	snprintf(gone, sizeof gone, "%s/locked/dangling.pt.trace.json", root);
	assert_int_equal(symlink("/nowhere/at/all", gone), 0);
	const char *sources[] = { root, "/nowhere/at/all" };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_catalog_find(ctx, sources, 2, &catalog), HT_OK);
	assert_non_null(find(catalog, "locked/x.pt.trace.json"));
	assert_int_equal(ht_error(ctx)->status, HT_OK);
	ht_catalog_free(catalog);
	ht_ctx_free(ctx);
	char command[4200];
	snprintf(command, sizeof command, "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_told),
		cmocka_unit_test(gone_is_an_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
