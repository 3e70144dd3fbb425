/* SPDX-License-Identifier: Apache-2.0 */
/* Sets in shares: described, joined, computed apart and merged, every analysis gives the bytes of one process. */
#include "holotrace.h"
#include "base/sink_test_help.h"
#include "holotrace/own.h"

#include <stdio.h>

#define MAX_SHARES 4
#define MAX_WAYS   2

static void check(ht_ctx *ctx, enum ht_status status)
{
	if (status != HT_OK)
		print_error("%s: %s\n", ht_status_name(status), ht_error(ctx)->message);
	assert_int_equal(status, HT_OK);
}

/* The files of one run, dealt. */
struct shares {
	size_t n;
	ht_set *own[MAX_SHARES], *joined[MAX_SHARES];
	struct memory_sink told[MAX_SHARES + 1];
};

struct claim {
	const size_t *shares;
	size_t k, n_asked;
};

static bool is_mine(void *user, size_t i)
{
	struct claim *claim = user;
	claim->n_asked++;
	return claim->shares[i] == claim->k;
}

/* Dealt beforehand, or, to an odd number of processes, claimed one by one. */
static void open_shares(ht_ctx *ctx, const char *source, struct shares *s)
{
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	ht_listing *listing;
	check(ctx, ht_listing_make(ctx, &source, 1, &options, &listing));
	size_t n = ht_listing_n(listing), shares[16];
	uint64_t sizes[16];
	assert_in_range(n, 1, 16);
	for (size_t i = 0; i < n; i++)
		sizes[i] = ht_listing_size_bytes(listing, i);
	check(ctx, ht_deal(ctx, sizes, n, s->n, shares));
	struct ht_open_own mine = { 0 };
	options.own = &mine;
	for (size_t k = 0; k < s->n; k++) {
		const char *sources[16];
		size_t n_own = 0;
		struct ht_sink sink = { memory_write, &s->told[k] };
		struct claim claim = { shares, k, 0 };
		mine.claim = s->n % 2 ? is_mine : ht_claim_all;
		mine.claim_user = &claim;
		for (size_t i = 0; i < n; i++)
			if (shares[i] == k || mine.claim == is_mine)
				sources[n_own++] = ht_listing_source(listing, i);
		if (n_own) {
			check(ctx, ht_open(ctx, sources, n_own, &options, &s->own[k]));
			assert_int_equal(claim.n_asked, mine.claim == is_mine ? n : 0);
			check(ctx, ht_set_describe(ctx, s->own[k], true, &sink));
		} else {
			check(ctx, ht_missing_describe(ctx, NULL, 0, &sink));
		}
	}
	struct ht_sink sink = { memory_write, &s->told[s->n] };
	check(ctx, ht_listing_describe(ctx, listing, &sink));
	ht_listing_free(listing);
	for (size_t k = 0; k < s->n; k++) {
		struct ht_description told[MAX_SHARES + 1];
		for (size_t i = 0; i <= s->n; i++)
			told[i] = (struct ht_description){ s->told[i].data, s->told[i].n };
		check(ctx, ht_shares_join(ctx, s->own[k], k, told, s->n + 1, &s->joined[k]));
	}
}

static void close_shares(struct shares *s)
{
	for (size_t k = 0; k <= s->n; k++)
		free(s->told[k].data);
	for (size_t k = 0; k < s->n; k++) {
		ht_close(s->joined[k]);
		ht_close(s->own[k]);
	}
}

static struct memory_sink render(ht_ctx *ctx, ht_table *table)
{
	struct memory_sink text = { 0 };
	struct ht_sink sink = { memory_write, &text };
	check(ctx, ht_render(ctx, table, "json", NULL, &sink));
	ht_table_free(table);
	return text;
}

/* Make the parts of every share, through bytes, merge and finish them. */
static ht_table *run_shares(ht_ctx *ctx, const struct ht_analysis_info *info,
        const struct shares *sides, const struct ht_arg *args, size_t n_args)
{
	ht_bundle *all = NULL;
	ht_set *sets[2];
	ht_table *table;
	for (size_t k = 0; k < sides[0].n; k++) {
		struct memory_sink text = { 0 };
		struct ht_sink sink = { memory_write, &text };
		ht_bundle *made, *read;
		for (size_t side = 0; side < info->n_sets; side++)
			sets[side] = sides[side].joined[k];
		check(ctx, ht_bundle_make(ctx, sets, info->n_sets,
		                   &(struct ht_query){ sizeof(struct ht_query), info->name, args,
		                           n_args, NULL },
		                   &made));
		check(ctx, ht_bundle_write(ctx, made, &sink));
		check(ctx, ht_bundle_read(ctx, text.data, text.n, &read));
		free(text.data);
		if (all) {
			check(ctx, ht_bundle_merge(ctx, all, read));
			ht_bundle_free(read);
		} else {
			all = read;
		}
		ht_bundle_free(made);
	}
	check(ctx, ht_bundle_finish(ctx, all, sets, info->n_sets, &table));
	ht_bundle_free(all);
	return table;
}

static const char *in_tree(const char *path)
{
	static char paths[2][1024];
	static size_t n;
	const char *root = getenv("HT_SOURCE_ROOT");
	char *whole = paths[n++ % 2];
	snprintf(whole, sizeof paths[0], "%s/%s", root ? root : ".", path);
	return whole;
}

/* In so many shares, one way after the other. */
static void compare_all(
        const size_t *n_shares, size_t n_ways, const struct ht_arg *args, size_t n_args)
{
	const char *sources[2] = { in_tree("examples/ddp"), in_tree("examples/straggler") };
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	struct shares sides[MAX_WAYS][2] = { 0 };
	ht_ctx *ctx;
	ht_set *whole[2];
	size_t n_compared = 0;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	for (size_t side = 0; side < 2; side++) {
		check(ctx, ht_open(ctx, &sources[side], 1, &options, &whole[side]));
		for (size_t way = 0; way < n_ways; way++) {
			sides[way][side].n = n_shares[way];
			open_shares(ctx, sources[side], &sides[way][side]);
		}
	}
	for (size_t i = 0; i < ht_n_analyses(); i++) {
		const struct ht_analysis_info *info = ht_analysis_at(i);
		ht_table *table;
		if (info->files || info->sides[0])
			continue;
		enum ht_status status = ht_ask(ctx, whole, info->n_sets,
		        &(struct ht_query){
		                sizeof(struct ht_query), info->name, args, n_args, NULL },
		        &table);
		if (status == HT_USAGE)
			continue; /* it does not take these arguments */
		check(ctx, status);
		struct memory_sink one = render(ctx, table);
		for (size_t way = 0; way < n_ways; way++) {
			struct memory_sink many =
			        render(ctx, run_shares(ctx, info, sides[way], args, n_args));
			if (strcmp(one.data, many.data) != 0)
				print_error(
				        "%s differs in %zu shares\n", info->name, n_shares[way]);
			assert_string_equal(one.data, many.data);
			free(many.data);
		}
		free(one.data);
		n_compared++;
	}
	assert_true(n_compared > 20);
	for (size_t side = 0; side < 2; side++) {
		for (size_t way = 0; way < n_ways; way++)
			close_shares(&sides[way][side]);
		ht_close(whole[side]);
	}
	ht_ctx_free(ctx);
}

static void test_every_analysis_in_shares(void **state)
{
	(void)state;
	compare_all((const size_t[]){ 1, 3 }, 2, NULL, 0);
}

static void test_rules_over_all_ranks_in_shares(void **state)
{
	static const struct ht_arg args[] = { { "hta-compat", "true" } };
	(void)state;
	compare_all((const size_t[]){ 4 }, 1, args, 1);
}

static void test_ranks_elsewhere_are_refused(void **state)
{
	struct shares s = { .n = 2 };
	ht_ctx *ctx;
	ht_table *table;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	open_shares(ctx, in_tree("examples/ddp"), &s);
	assert_int_equal(ht_ask(ctx, &s.joined[0], 1,
	                         &(struct ht_query){
	                                 sizeof(struct ht_query), "kernel-types", NULL, 0, NULL },
	                         &table),
	        HT_MISSING);
	assert_non_null(strstr(ht_error(ctx)->message, "is with another process"));
	/* bytes that are damaged or something else */
	struct ht_description told = { s.told[0].data, s.told[0].n };
	ht_set *set;
	for (size_t at = 0; at < told.n; at += told.n / 50 + 1) {
		s.told[0].data[at] ^= 0x41;
		assert_int_equal(ht_shares_join(ctx, NULL, 0, &told, 1, &set), HT_FORMAT);
		s.told[0].data[at] ^= 0x41;
		struct ht_description cut = { s.told[0].data, at };
		assert_int_equal(ht_shares_join(ctx, NULL, 0, &cut, 1, &set), HT_FORMAT);
	}
	close_shares(&s);
	ht_ctx_free(ctx);
}

static void test_deal(void **state)
{
	/* 7 to 0, 5 to 1, 4 to 1 (5 < 7), 3 to 0 (7 < 9), 3 to 1 (9+ < 10+), then to 0 */
	static const uint64_t sizes[] = { 3, 7, 4, 5, 3, 0 };
	static const size_t wanted[] = { 0, 0, 1, 1, 1, 0 };
	size_t shares[6];
	ht_ctx *ctx;
	(void)state;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_deal(ctx, sizes, 6, 2, shares), HT_OK);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(shares[i], wanted[i]);
	assert_int_equal(ht_deal(ctx, sizes, 6, 0, shares), HT_USAGE);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deal),
		cmocka_unit_test(test_every_analysis_in_shares),
		cmocka_unit_test(test_rules_over_all_ranks_in_shares),
		cmocka_unit_test(test_ranks_elsewhere_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
