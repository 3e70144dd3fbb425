/*
 * number_list_test.c - lists of numbers and ranges.
 */
#include "analysis/common/number_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void accepts_lists(void **state)
{
	(void)state;
	assert_false(ht_number_list_is_valid(""));
	assert_true(ht_number_list_is_valid("3"));
	assert_true(ht_number_list_is_valid("3-5,7"));
	assert_false(ht_number_list_is_valid("x"));
	assert_false(ht_number_list_is_valid("3-"));
	assert_false(ht_number_list_is_valid("3 5"));
	assert_false(ht_number_list_is_valid(",3"));
}

static void knows_its_numbers(void **state)
{
	(void)state;
	assert_true(ht_number_list_has("3-5,7", 4));
	assert_true(ht_number_list_has("3-5,7", 7));
	assert_false(ht_number_list_has("3-5,7", 6));
	assert_false(ht_number_list_has("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_lists),
		cmocka_unit_test(knows_its_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
