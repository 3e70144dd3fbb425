/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead_test.c - what is asked of a set that was opened for it is answered as by one that was not, and from the parts
 * that were made at the opening wherever these are what the run would make.
 */
#include "base/sink_test_help.h"
#include "store/set.h"
#include "store/trace_refs.h"

#include <stdio.h>
#include <unistd.h>

#define MAX_FILES 3

/* What is asked, of which files, on how many threads. */
struct asking {
	const char *name;
	struct ht_arg args[4];
	size_t n_args;
	const char *const *sources;
	size_t n_sources;
	int n_jobs;
};

static enum ht_status open_it(ht_ctx *ctx, const struct asking *a, bool ahead, ht_set **ret_set)
{
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	ht_ctx_set_jobs(ctx, a->n_jobs);
	return ahead ? ht_open_for(ctx, a->sources, a->n_sources, &options,
	                       &(struct ht_query){
	                               sizeof(struct ht_query), a->name, a->args, a->n_args, NULL },
	                       ret_set)
	             : ht_open(ctx, a->sources, a->n_sources, &options, ret_set);
}

/* The table, or the message, with the status before it. */
static char *answer(ht_ctx *ctx, const struct asking *a, ht_set *set)
{
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	char status[16];
	ht_table *table = NULL;
	enum ht_status got = ht_ask(ctx, &set, 1,
	        &(struct ht_query){ sizeof(struct ht_query), a->name, a->args, a->n_args, NULL },
	        &table);
	snprintf(status, sizeof status, "%d ", got);
	memory_write(&text, status, strlen(status));
	if (got == HT_OK)
		assert_int_equal(ht_render(ctx, table, "json", NULL, &sink), HT_OK);
	else
		memory_write(&text, ht_error(ctx)->message, strlen(ht_error(ctx)->message));
	ht_table_free(table);
	return text.data;
}

static enum ht_status refuse(
        ht_ctx *ctx, const struct ht_set *set, size_t i, struct ht_trace **ret_trace)
{
	(void)i, (void)ret_trace, (void)set;
	return ht_fail(ctx, HT_IO, NULL, -1, NULL, "read again");
}

/* From here on no trace can be had. */
static void take_away(ht_set *set)
{
	for (size_t i = 0; i < set->roster.n; i++) {
		ht_trace_release(set->kept[i].trace);
		set->kept[i].trace = NULL;
	}
	set->load = refuse;
}

/* Compare with the answer of a set that was opened for nothing. Returns whether no trace was needed. */
static bool check(ht_ctx *ctx, const struct asking *a, ht_set *plain)
{
	ht_set *set = NULL;
	char *wanted = answer(ctx, a, plain);
	assert_int_equal(open_it(ctx, a, true, &set), HT_OK);
	take_away(set);
	char *got = answer(ctx, a, set);
	bool needs_none = strcmp(wanted, got) == 0;
	ht_close(set);
	if (!needs_none) {
		/* and again, when the parts are used up */
		assert_int_equal(open_it(ctx, a, true, &set), HT_OK);
		for (int i = 0; i < 2; i++) {
			free(got);
			got = answer(ctx, a, set);
			if (strcmp(wanted, got) != 0)
				fail_msg("%s: %.300s\nnot %.300s", a->name, got, wanted);
		}
		ht_close(set);
	}
	free(wanted);
	free(got);
	return needs_none;
}

/* ---- every analysis ---- */

static size_t check_all(const struct asking *how, size_t *ret_n)
{
	char path[1024];
	const char *root = getenv("HT_SOURCE_ROOT"), *sources[] = { path };
	size_t n_ahead = 0;
	ht_ctx *ctx;
	ht_set *plain = NULL;
	struct asking a = *how;
	*ret_n = 0;
	snprintf(path, sizeof path, "%s/tests/data/pipeline", root ? root : ".");
	a.sources = sources;
	a.n_sources = 1;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(open_it(ctx, &a, false, &plain), HT_OK);
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets != 1 || info->files)
			continue;
		a.name = info->name;
		n_ahead += check(ctx, &a, plain);
		(*ret_n)++;
	}
	ht_close(plain);
	ht_ctx_free(ctx);
	return n_ahead;
}

static void test_every_analysis_is_answered_as_always(void **state)
{
	(void)state;
	size_t n;
	size_t n_ahead = check_all(&(struct asking){ .n_jobs = 2 }, &n);
	assert_true(n > 20);
	/* but for those that open something else, or compare all ranks to choose */
	assert_true(n_ahead + 3 >= n);
}

static void test_chosen_ranks_and_steps(void **state)
{
	(void)state;
	struct asking how = {
		.args = { { "rank", "1-2" }, { "step", "all" } }, .n_args = 2, .n_jobs = 1
	};
	size_t n;
	assert_true(check_all(&how, &n) + 3 >= n);
}

/* ---- ranks that are not what they seemed ---- */

#define EVENT(name, cat, ts, dur)                                                                  \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":0,\"tid\":7,\"ts\":" ts   \
	",\"dur\":" dur ",\"args\":{\"stream\":7}}"
#define STEP(n, ts, dur)    EVENT("ProfilerStep#" n, "user_annotation", ts, dur)
#define KERNEL(ts, dur)     EVENT("gemm", "kernel", ts, dur)
#define TRACE(rank, events) "{\"distributedInfo\":{\"rank\":" rank "},\"traceEvents\":[" events "]}"
#define ONE_STEP            STEP("1", "0", "100") "," KERNEL("10", "50")
#define TWO_STEPS           ONE_STEP "," STEP("2", "100", "100") "," KERNEL("110", "70")

static bool check_texts(
        const char *const *texts, size_t n, const struct ht_arg *args, size_t n_args)
{
	char paths[MAX_FILES][64];
	const char *sources[MAX_FILES];
	int fds[MAX_FILES];
	for (size_t i = 0; i < n; i++) {
		snprintf(paths[i], sizeof paths[i], "/tmp/holotrace-ahead-XXXXXX");
		fds[i] = mkstemp(paths[i]);
		assert_true(fds[i] >= 0);
		assert_int_equal(write(fds[i], texts[i], strlen(texts[i])), strlen(texts[i]));
		sources[i] = paths[i];
	}
	struct asking a = { .name = "temporal-breakdown",
		.sources = sources,
		.n_sources = n,
		.n_jobs = 1,
		.n_args = n_args };
	if (n_args)
		a.args[0] = args[0];
	ht_ctx *ctx;
	ht_set *plain = NULL;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(open_it(ctx, &a, false, &plain), HT_OK);
	bool needs_none = check(ctx, &a, plain);
	ht_close(plain);
	ht_ctx_free(ctx);
	for (size_t i = 0; i < n; i++) {
		close(fds[i]);
		unlink(paths[i]);
	}
	return needs_none;
}

static void test_a_rank_with_one_step_beside_others_with_two(void **state)
{
	(void)state;
	const char *texts[] = { TRACE("0", ONE_STEP), TRACE("1", TWO_STEPS) };
	const char *alike[] = { TRACE("0", ONE_STEP), TRACE("1", ONE_STEP) };
	/* each rank has its own complete steps; rules that cut the last one look at all ranks */
	assert_true(check_texts(texts, 2, NULL, 0));
	assert_false(check_texts(texts, 2, &(struct ht_arg){ "hta-rows", "true" }, 1));
	assert_true(check_texts(alike, 2, NULL, 0));
	/* steps that are named do not depend on the others */
	assert_true(check_texts(texts, 2, &(struct ht_arg){ "step", "1" }, 1));
}

static void test_ranks_that_get_another_number(void **state)
{
	(void)state;
	const char *texts[] = { TRACE("4", TWO_STEPS), TRACE("4", ONE_STEP),
		TRACE("5", TWO_STEPS) };
	const char *nameless[] = { "{\"traceEvents\":[" TWO_STEPS "]}",
		"{\"traceEvents\":[" TWO_STEPS "]}" };
	assert_false(check_texts(texts, 3, NULL, 0));
	assert_false(check_texts(nameless, 2, NULL, 0));
}

static void test_wrong_arguments_are_told_by_the_run(void **state)
{
	(void)state;
	const char *texts[] = { TRACE("0", TWO_STEPS), TRACE("1", TWO_STEPS) };
	assert_true(check_texts(texts, 2, &(struct ht_arg){ "step", "99" }, 1));
	assert_true(check_texts(texts, 2, &(struct ht_arg){ "no-such", "1" }, 1));
	assert_true(check_texts(texts, 2, &(struct ht_arg){ "rank", "7" }, 1));
}

static void test_one_file_alone(void **state)
{
	(void)state;
	const char *texts[] = { TRACE("0", TWO_STEPS) };
	assert_false(check_texts(texts, 1, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_analysis_is_answered_as_always),
		cmocka_unit_test(test_chosen_ranks_and_steps),
		cmocka_unit_test(test_wrong_arguments_are_told_by_the_run),
		cmocka_unit_test(test_a_rank_with_one_step_beside_others_with_two),
		cmocka_unit_test(test_ranks_that_get_another_number),
		cmocka_unit_test(test_one_file_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
