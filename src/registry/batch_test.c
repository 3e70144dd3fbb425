/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_test.c - analyses that are run together answer what each answers by itself.
 */
#include "base/sink_test_help.h"
#include "base/status.h"

#include <stdio.h>

#define MAX_ANALYSES 128

/* Notes are in it, too. */
static struct memory_sink spell(ht_ctx *ctx, const ht_table *table)
{
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	assert_int_equal(ht_render(ctx, table, "json", NULL, &sink), HT_OK);
	return text;
}

struct answers {
	ht_ctx *ctx;
	size_t n, stop_after;
	struct {
		enum ht_status status;
		struct memory_sink text;
		char message[256];
	} of[MAX_ANALYSES];
};

static bool hear(void *user, size_t i, enum ht_status status, ht_table *table)
{
	struct answers *answers = user;
	assert_int_equal(i, answers->n++);
	answers->of[i].status = status;
	assert_int_equal(status == HT_OK, table != NULL);
	if (status == HT_OK)
		answers->of[i].text = spell(answers->ctx, table);
	else
		snprintf(answers->of[i].message, sizeof answers->of[i].message, "%s",
		        ht_error(answers->ctx)->message);
	ht_table_free(table);
	return answers->n != answers->stop_after;
}

static void forget(struct answers *answers)
{
	for (size_t i = 0; i < answers->n; i++)
		free(answers->of[i].text.data);
	memset(answers, 0, sizeof *answers);
}

static size_t list_analyses(const char **names)
{
	size_t n = 0;
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		if (info->n_sets == 1 && !info->lists_events)
			names[n++] = info->name;
	}
	assert_true(n > 20 && n < MAX_ANALYSES);
	return n;
}

static ht_set *open_run(ht_ctx *ctx, const char *name)
{
	const char *root = getenv("HT_SOURCE_ROOT");
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	char path[1024];
	const char *paths[] = { path };
	ht_set *set = NULL;
	snprintf(path, sizeof path, "%s/examples/%s", root ? root : ".", name);
	assert_int_equal(ht_open(ctx, paths, 1, &options, &set), HT_OK);
	return set;
}

static void hear_each(ht_ctx *ctx, ht_set *set, const char **names, size_t n,
        const struct ht_arg *args, size_t n_args, struct answers *answers)
{
	for (size_t i = 0; i < n; i++) {
		ht_table *table = NULL;
		enum ht_status status = ht_ask(ctx, &set, 1,
		        &(struct ht_query){ sizeof(struct ht_query), names[i], args, n_args, NULL },
		        &table);
		hear(answers, i, status, table);
	}
}

static void compare(const struct answers *a, const struct answers *b, const char **names)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		if (a->of[i].status != b->of[i].status)
			fail_msg(
			        "%s: status %d and %d", names[i], a->of[i].status, b->of[i].status);
		assert_string_equal(a->of[i].message, b->of[i].message);
		if (a->of[i].status == HT_OK)
			assert_string_equal(a->of[i].text.data, b->of[i].text.data);
	}
}

static struct answers alone, together;
static struct ht_query asked[MAX_ANALYSES];

static void ask(const char **names, size_t n, const struct ht_arg *args, size_t n_args)
{
	for (size_t i = 0; i < n; i++)
		asked[i] = (struct ht_query){ sizeof asked[i], names[i], args, n_args, NULL };
}

/* Fewer threads than ranks, as many, more. */
static void answers_are_those_of_single_runs(void **state)
{
	static const char *const runs[] = { "../tests/data/pipeline", "train", "cpu" };
	static const struct ht_arg steps[] = { { "step", "all" } }, bad[] = { { "step", "99" } },
	                           hta[] = { { "hta-compat", "true" } };
	static const struct {
		const struct ht_arg *args;
		size_t n;
	} choices[] = { { NULL, 0 }, { steps, 1 }, { bad, 1 }, { hta, 1 } };
	const char *names[MAX_ANALYSES];
	size_t n = list_analyses(names);
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	for (size_t r = 0; r < HT_COUNT(runs); r++) {
		ht_set *set = open_run(ctx, runs[r]);
		for (size_t c = 0; c < HT_COUNT(choices); c++) {
			alone.ctx = ctx;
			hear_each(ctx, set, names, n, choices[c].args, choices[c].n, &alone);
			for (int jobs = 1; jobs <= 7; jobs += 3) {
				ht_ctx_set_jobs(ctx, jobs);
				together.ctx = ctx;
				ask(names, n, choices[c].args, choices[c].n);
				assert_int_equal(
				        ht_ask_all(ctx, set, asked, n, hear, &together), HT_OK);
				compare(&alone, &together, names);
				forget(&together);
			}
			forget(&alone);
		}
		ht_close(set);
	}
	ht_ctx_free(ctx);
}

static void a_caller_may_have_heard_enough(void **state)
{
	const char *names[MAX_ANALYSES];
	size_t n = list_analyses(names);
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_set *set = open_run(ctx, "cpu");
	together = (struct answers){ .ctx = ctx, .stop_after = 3 };
	ask(names, n, NULL, 0);
	assert_int_equal(ht_ask_all(ctx, set, asked, n, hear, &together), HT_OK);
	assert_int_equal(together.n, 3);
	forget(&together);
	ht_close(set);
	ht_ctx_free(ctx);
}

/* Who was compiled with a later version has longer queries. */
static void lists_are_as_far_apart_as_the_caller_says(void **state)
{
	struct {
		struct ht_query query;
		uint64_t later;
	} longer[2] = { { { sizeof longer[0], "steps", NULL, 0, NULL }, 0 },
		{ { sizeof longer[0], "kernels", NULL, 0, NULL }, 0 } };
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_set *set = open_run(ctx, "cpu");
	together = (struct answers){ .ctx = ctx };
	assert_int_equal(ht_ask_all(ctx, set, &longer[0].query, 2, hear, &together), HT_OK);
	assert_int_equal(together.n, 2);
	forget(&together);
	/* a field that is set and not known cannot be left out */
	longer[1].later = 1;
	longer[0].query.name = NULL;
	together = (struct answers){ .ctx = ctx };
	assert_int_equal(ht_ask_all(ctx, set, &longer[0].query, 2, hear, &together), HT_OK);
	assert_int_equal(together.n, 2);
	for (size_t k = 0; k < 2; k++)
		assert_int_equal(together.of[k].status, HT_USAGE);
	forget(&together);
	ht_close(set);
	ht_ctx_free(ctx);
}

static bool refuse(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user;
	(void)what;
	(void)done;
	(void)total;
	return false;
}

static void cancelling_ends_all(void **state)
{
	const char *names[MAX_ANALYSES];
	size_t n = list_analyses(names);
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_set *set = open_run(ctx, "ddp");
	together = (struct answers){ .ctx = ctx };
	ht_ctx_set_progress(ctx, refuse, NULL);
	ask(names, n, NULL, 0);
	assert_int_equal(ht_ask_all(ctx, set, asked, n, hear, &together), HT_CANCELLED);
	assert_int_equal(together.n, 0);
	ht_close(set);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_single_runs),
		cmocka_unit_test(a_caller_may_have_heard_enough),
		cmocka_unit_test(cancelling_ends_all),
		cmocka_unit_test(lists_are_as_far_apart_as_the_caller_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
