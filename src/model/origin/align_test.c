/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align_test.c - sequences pair where it is certain, and nowhere else.
 */
#include "model/origin/align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static ht_ctx *ctx;

/* Pairs of two texts, a letter per name: the letter's place in b, '-' where none is certain. */
static void check(const char *a, const char *b, const char *wanted)
{
	uint64_t x[64] = { 0 }, y[64] = { 0 };
	uint32_t partner[64];
	char found[65] = "";
	size_t n = strlen(a), m = strlen(b), n_pairs, n_wanted = 0;
	for (size_t i = 0; i < n; i++)
		x[i] = (uint64_t)a[i];
	for (size_t j = 0; j < m; j++)
		y[j] = (uint64_t)b[j];
	assert_int_equal(ht_align(ctx, x, n, y, m, partner, &n_pairs), HT_OK);
	for (size_t i = 0; i < n; i++) {
		found[i] = partner[i] == UINT32_MAX ? '-' : (char)('0' + partner[i]);
		n_wanted += wanted[i] != '-';
	}
	found[n] = '\0';
	assert_string_equal(found, wanted);
	assert_int_equal(n_pairs, n_wanted);
}

static void equal_sequences_pair_by_position(void **state)
{
	(void)state;
	check("abab", "abab", "0123");
	check("", "", "");
}

static void swapped_ones_do_not_pair(void **state)
{
	(void)state;
	/* c and f changed places; the rest stays where it is, equal neighbours too */
	check("abfdecghij", "abcdefghij", "01-34-6789");
}

static void what_was_left_out_moves_the_rest(void **state)
{
	(void)state;
	check("abde", "abcde", "0134");
	check("bcde", "abcde", "1234");
}

static void of_equal_neighbours_nobody_knows_which_is_missing(void **state)
{
	(void)state;
	check("xay", "xaay", "0-3");
	/* one of three equal layers is missing */
	check("ababz", "abababz", "----6");
}

static void other_sequences_have_nothing(void **state)
{
	(void)state;
	check("abc", "xyz", "---");
	check("abc", "", "---");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_sequences_pair_by_position),
		cmocka_unit_test(swapped_ones_do_not_pair),
		cmocka_unit_test(what_was_left_out_moves_the_rest),
		cmocka_unit_test(of_equal_neighbours_nobody_knows_which_is_missing),
		cmocka_unit_test(other_sequences_have_nothing),
	};
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_ctx_free(ctx);
	return failed;
}
