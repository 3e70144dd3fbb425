/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_test.c - what a list of numbers holds, and what is no list.
 */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int setup(void **state)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return 1;
	*state = ctx;
	return 0;
}

static int teardown(void **state)
{
	ht_ctx_free(*state);
	return 0;
}

static void holds_what_is_written(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
		bool has;
	} cases[] = { { NULL, -5, true }, { "", 7, true }, { "all", INT64_MAX, true },
		{ "0", 0, true }, { "0", 1, false }, { "0,2-3", 1, false }, { "0,2-3", 2, true },
		{ "0,2-3", 3, true }, { "0,2-3", 4, false }, { "7-", 6, false }, { "7-", 7, true },
		{ "7-", INT64_MAX, true }, { "7-,1", 1, true }, { "7-,1", 2, false },
		{ "-1", -1, true }, { "-3--1", -2, true }, { "-3--1", 0, false },
		{ "-3-1", 0, true } };
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		struct ht_list list;
		assert_int_equal(ht_list_parse(*state, "x", cases[i].text, &list), HT_OK);
		assert_int_equal(ht_list_has(&list, cases[i].value), cases[i].has);
		assert_int_equal(ht_list_text_has(cases[i].text, cases[i].value), cases[i].has);
		ht_list_done(*state, &list);
	}
}

static void refuses_what_is_no_list(void **state)
{
	static const char *const cases[] = { ",", "1,", ",1", "1,,2", "a", "1a", "1-2-3", "3-2",
		"-", "--1", "1 2", " 1", "99999999999999999999", "1-99999999999999999999", "all,1",
		"0x1" };
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		struct ht_list list;
		ht_error_clear(*state);
		assert_int_equal(ht_list_parse(*state, "the rank", cases[i], &list), HT_USAGE);
		assert_non_null(ht_error(*state)->hint);
	}
	uint64_t now, peak;
	ht_ctx_memory(*state, &now, &peak);
	assert_int_equal(now, 0);
}

static void reads_numbers(void **state)
{
	int64_t value = 3;
	(void)state;
	assert_true(ht_parse_i64("-9223372036854775808", &value));
	assert_int_equal(value, INT64_MIN);
	assert_false(ht_parse_i64("9223372036854775808", &value));
	assert_false(ht_parse_i64("1.5", &value));
	assert_false(ht_parse_i64("", &value));
	assert_false(ht_parse_i64("-", &value));
	assert_int_equal(value, INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(holds_what_is_written, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_is_no_list, setup, teardown),
		cmocka_unit_test(reads_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
