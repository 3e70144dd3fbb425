/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_test.c - a run that is put together file by file is the run that is opened as a whole.
 */
#include "holotrace.h"
#include "base/sink_test_help.h"

#include <stdio.h>

#define N_RANKS 4

static struct memory_sink dump(ht_ctx *ctx, const ht_set *set)
{
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	assert_int_equal(ht_dump(ctx, set, &sink), HT_OK);
	return text;
}

static struct memory_sink table(ht_ctx *ctx, ht_set *set, const char *name)
{
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	ht_table *result;
	assert_int_equal(ht_ask(ctx, &set, 1,
	                         &(struct ht_query){ sizeof(struct ht_query), name, NULL, 0, NULL },
	                         &result),
	        HT_OK);
	assert_int_equal(ht_render(ctx, result, "json", NULL, &sink), HT_OK);
	ht_table_free(result);
	return text;
}

static void assert_same(struct memory_sink a, struct memory_sink b)
{
	assert_string_equal(a.data, b.data);
	free(a.data);
	free(b.data);
}

static char *example(const char *name)
{
	const char *root = getenv("HT_SOURCE_ROOT");
	static char path[4096];
	snprintf(path, sizeof path, "%s/examples/%s", root ? root : ".", name);
	return path;
}

/* One set per file, in another order than that of the ranks. */
static void open_each(ht_ctx *ctx, const struct ht_open_options *options, ht_set *sets[N_RANKS])
{
	for (int i = 0; i < N_RANKS; i++) {
		char name[32];
		snprintf(name, sizeof name, "ddp/ddp_rank%d.json.gz", (i + 2) % N_RANKS);
		const char *path = example(name);
		assert_int_equal(ht_open(ctx, &path, 1, options, &sets[i]), HT_OK);
	}
}

static void assert_joined(bool let_go)
{
	ht_ctx *ctx;
	ht_set *sets[N_RANKS], *joined, *whole, *part;
	struct ht_member members[N_RANKS];
	struct ht_open_options options = { .struct_size = sizeof options };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	open_each(ctx, &options, sets);
	for (size_t i = 0; i < N_RANKS; i++)
		members[i] = (struct ht_member){ sets[i], 0 };
	assert_int_equal(ht_set_join(ctx, members, N_RANKS, &joined), HT_OK);
	if (let_go)
		for (size_t i = 0; i < N_RANKS; i++)
			ht_close(sets[i]);
	const char *dir = example("ddp");
	assert_int_equal(ht_open(ctx, &dir, 1, &options, &whole), HT_OK);
	assert_int_equal(ht_set_n_ranks(joined), N_RANKS);
	for (size_t i = 0; i < N_RANKS; i++)
		assert_int_equal(ht_set_rank(joined, i), (int64_t)i);
	assert_same(dump(ctx, joined), dump(ctx, whole));
	assert_same(table(ctx, joined, "stragglers"), table(ctx, whole, "stragglers"));
	/* and some of them again */
	struct ht_member two[] = { { joined, 3 }, { joined, 1 } };
	assert_int_equal(ht_set_join(ctx, two, 2, &part), HT_OK);
	ht_close(joined);
	assert_int_equal(ht_set_n_ranks(part), 2);
	assert_int_equal(ht_set_rank(part, 0), 1);
	assert_int_equal(ht_set_rank(part, 1), 3);
	assert_int_equal(ht_set_n_events(part, 1), ht_set_n_events(whole, 3));
	ht_close(part);
	ht_close(whole);
	for (size_t i = 0; i < N_RANKS && !let_go; i++)
		ht_close(sets[i]);
	ht_ctx_free(ctx);
}

static void joined_is_opened(void **state)
{
	(void)state;
	assert_joined(false);
}

static void members_may_go(void **state)
{
	(void)state;
	assert_joined(true);
}

/* Two files that claim a rank: the first by path has it, as when they are opened together. */
static void claims_are_settled(void **state)
{
	(void)state;
	ht_ctx *ctx;
	ht_set *a, *b, *joined;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	const char *path = example("ddp/ddp_rank1.json.gz");
	assert_int_equal(ht_open(ctx, &path, 1, NULL, &a), HT_OK);
	path = example("straggler/straggler_rank1.json.gz");
	assert_int_equal(ht_open(ctx, &path, 1, NULL, &b), HT_OK);
	struct ht_member members[] = { { b, 0 }, { a, 0 } };
	assert_int_equal(ht_set_join(ctx, members, 2, &joined), HT_OK);
	assert_int_equal(ht_set_rank(joined, 0), 0);
	assert_non_null(strstr(ht_set_path(joined, 0), "straggler"));
	assert_int_equal(ht_set_rank(joined, 1), 1);
	assert_string_equal(ht_set_note(joined, 0),
	        "straggler_rank1.json.gz also claims rank 1; it is shown as rank 0");
	ht_close(joined);
	ht_close(a);
	ht_close(b);
	ht_ctx_free(ctx);
}

static void misuse_is_told(void **state)
{
	(void)state;
	ht_ctx *ctx;
	ht_set *a, *joined;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	const char *path = example("train/train.json.gz");
	assert_int_equal(ht_open(ctx, &path, 1, NULL, &a), HT_OK);
	assert_int_equal(ht_set_join(ctx, NULL, 0, &joined), HT_USAGE);
	assert_int_equal(ht_set_join(ctx, &(struct ht_member){ a, 1 }, 1, &joined), HT_USAGE);
	ht_close(a);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_is_opened),
		cmocka_unit_test(members_may_go),
		cmocka_unit_test(claims_are_settled),
		cmocka_unit_test(misuse_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
