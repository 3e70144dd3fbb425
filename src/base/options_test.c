/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_test.c - option structs of older and newer callers.
 */
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The same struct in three versions; the library of this test has the second. */
struct first {
	size_t struct_size;
	int64_t a;
	bool b;
};
struct ours {
	size_t struct_size;
	int64_t a;
	bool b;
	int64_t c;
};
struct newer {
	size_t struct_size;
	int64_t a;
	bool b;
	int64_t c, d;
};

static enum ht_status take(ht_ctx *ctx, const void *given, struct ours *ret_options)
{
	ht_error_clear(ctx);
	return HT_OPTIONS_TAKE(ctx, ours, b, given, ret_options);
}

static int set_up(void **state)
{
	return ht_ctx_new((ht_ctx **)state) == HT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
	ht_ctx_free(*state);
	return 0;
}

static void none_given_is_all_zero(void **state)
{
	struct ours got;
	memset(&got, 0xff, sizeof got);
	assert_int_equal(take(*state, NULL, &got), HT_OK);
	assert_int_equal(got.struct_size, sizeof got);
	assert_true(!got.a && !got.b && !got.c);
}

static void older_callers_leave_new_fields_zero(void **state)
{
	/* what follows the caller's struct in memory must not be read */
	struct {
		struct first options;
		int64_t next[4];
	} given = { { sizeof given.options, 5, true }, { -1, -1, -1, -1 } };
	struct ours got;
	assert_int_equal(take(*state, &given, &got), HT_OK);
	assert_true(got.a == 5 && got.b && !got.c);
	given.options.struct_size = 0;
	assert_int_equal(take(*state, &given, &got), HT_OK);
	assert_true(got.a == 5 && got.b && !got.c);
}

static void the_same_version_is_copied(void **state)
{
	struct ours given = { sizeof given, 5, true, 7 }, got;
	assert_int_equal(take(*state, &given, &got), HT_OK);
	assert_memory_equal(&got, &given, offsetof(struct ours, b));
	assert_true(got.b && got.c == 7);
}

static void newer_callers_may_not_use_what_is_unknown(void **state)
{
	struct newer given = { sizeof given, 5, true, 7, 0 };
	struct ours got;
	assert_int_equal(take(*state, &given, &got), HT_OK);
	assert_int_equal(got.c, 7);
	assert_int_equal(got.struct_size, sizeof got);
	given.d = 1;
	assert_int_equal(take(*state, &given, &got), HT_USAGE);
	assert_non_null(strstr(ht_error(*state)->message, "struct ours"));
}

static void sizes_of_no_version_are_refused(void **state)
{
	static const size_t sizes[] = { 1, sizeof(size_t), offsetof(struct ours, b), 4097,
		SIZE_MAX };
	for (size_t i = 0; i < HT_COUNT(sizes); i++) {
		struct ours given = { .struct_size = sizes[i] }, got = { .a = 3 };
		assert_int_equal(take(*state, &given, &got), HT_USAGE);
		assert_int_equal(got.a, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_given_is_all_zero),
		cmocka_unit_test(older_callers_leave_new_fields_zero),
		cmocka_unit_test(the_same_version_is_copied),
		cmocka_unit_test(newer_callers_may_not_use_what_is_unknown),
		cmocka_unit_test(sizes_of_no_version_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
