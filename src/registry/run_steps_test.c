/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_test.c - every analysis tells how far it is and can be stopped, from its first rank to its last row.
 */
#include "registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_SETS 2

struct heard {
	const char *title;
	bool waits_for_ranks; /* go on until all ranks are looked at */
	size_t n_calls, n_titles;
};

static bool stop(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct heard *heard = user;
	heard->n_calls++;
	heard->n_titles += !strcmp(what, heard->title);
	return heard->waits_for_ranks && (done < total || strcmp(what, heard->title) != 0);
}

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct heard *heard = user;
	heard->n_titles += !strcmp(what, heard->title) && done <= total && total > 0;
	return true;
}

struct fixture {
	ht_ctx *ctx;
	ht_set *sets[MAX_SETS];
};

static enum ht_status run(struct fixture *f, const struct ht_analysis_info *info,
        ht_progress_fn progress, struct heard *heard, const char *compat)
{
	struct ht_arg args[] = { { "hta-compat", compat }, { "n-base", "1" } };
	ht_table *table = NULL;
	*heard = (struct heard){ info->title, heard->waits_for_ranks, 0, 0 };
	ht_ctx_set_progress(f->ctx, progress, heard);
	enum ht_status status = ht_ask(f->ctx, f->sets, info->n_sets,
	        &(struct ht_query){
	                sizeof(struct ht_query), info->name, args, info->sides[0] ? 2 : 1, NULL },
	        &table);
	ht_ctx_set_progress(f->ctx, NULL, NULL);
	if (status != HT_OK)
		assert_null(table);
	ht_table_free(table);
	return status;
}

static void check_analysis(
        struct fixture *f, const struct ht_analysis_info *info, const char *compat)
{
	struct heard heard = { 0 };
	enum ht_status whole = run(f, info, go_on, &heard, compat);
	if (whole == HT_USAGE || whole == HT_MISSING)
		return; /* HTA has no such thing, or the traces do not */
	if (whole != HT_OK || !heard.n_titles)
		fail_msg("%s: status %d, told %zu times", info->name, whole, heard.n_titles);
	for (int i = 0; i < 2; i++) {
		heard.waits_for_ranks = i;
		enum ht_status status = run(f, info, stop, &heard, compat);
		if (status != HT_CANCELLED || !heard.n_calls)
			fail_msg("%s: status %d when stopped %s", info->name, status,
			        i ? "behind the ranks" : "at once");
	}
}

static void every_analysis_can_be_stopped(void **state)
{
	static const char *const paths[MAX_SETS] = { "examples/ddp", "examples/straggler" };
	struct fixture f;
	size_t n = 0;
	(void)state;
	assert_int_equal(ht_ctx_new(&f.ctx), HT_OK);
	for (size_t i = 0; i < MAX_SETS; i++) {
		struct ht_open_options options = { .struct_size = sizeof options,
			.no_cache = true };
		char path[512];
		const char *root = getenv("HT_SOURCE_ROOT");
		snprintf(path, sizeof path, "%s/%s", root ? root : ".", paths[i]);
		const char *source = path;
		assert_int_equal(ht_open(f.ctx, &source, 1, &options, &f.sets[i]), HT_OK);
	}
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (!info->n_sets)
			continue;
		check_analysis(&f, info, "false");
		check_analysis(&f, info, "true");
		n++;
	}
	assert_true(n > 30);
	for (size_t i = 0; i < MAX_SETS; i++)
		ht_close(f.sets[i]);
	ht_ctx_free(f.ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_analysis_can_be_stopped) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
