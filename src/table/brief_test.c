/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brief_test.c - names that look alike when they are short are shown by where they differ.
 */
#include "table/table_test_help.h"

#include "base/utf8.h"

#include <stdio.h>

/* Names that shortening would make equal are shown by where they differ. */
static void test_names_stay_distinct(void **state)
{
	static const char *const names[] = {
		"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<half> >(int)",
		"void at::native::elementwise_kernel<4, at::native::CUDAFunctor_add<half> >(int)",
	};
	static const struct ht_column texts[] = { { .name = "name", .type = HT_STR } };
	for (int width = 17; width < 60; width += 7) {
		ht_table *t = NULL;
		assert_ok(ht_table_new(*state, "", texts, 1, &t));
		for (size_t i = 0; i < HT_COUNT(names); i++) {
			ht_table_row(t);
			ht_table_put_str(t, 0, names[i]);
		}
		assert_ok(ht_table_finish(*state, t));
		struct memory_sink got = render(*state, t, "text",
		        &(struct ht_render_options){ .width = width, .no_title = true });
		/* few cells are for what a kernel is, not for its type and namespaces */
		assert_null(strstr(got.data, "void "));
		for (const char *line = got.data, *end; (end = strchr(line, '\n'));
		        line = end + 1) {
			assert_true(ht_utf8_width(line, (size_t)(end - line)) <= (size_t)width);
			char *again = strstr(end + 1, "\n");
			for (const char *other = end + 1; again;
			        other = again + 1, again = strchr(other, '\n'))
				if ((size_t)(again - other) == (size_t)(end - line) &&
				        !memcmp(line, other, (size_t)(end - line)))
					fail_msg("width %d: two rows are '%.*s'", width,
					        (int)(end - line), line);
		}
		free(got.data);
		ht_table_free(t);
	}
}

/* Two stacks whose common front ends between the colons behind a namespace, which is nothing to leave out. */
static void test_front_ends_within_a_namespace(void **state)
{
	static const char *const names[] = { "void (anonymous namespace)::a;gemm",
		"void (anonymous namespace):b;gemm" };
	static const struct ht_column texts[] = { { .name = "name", .type = HT_STR } };
	ht_table *t = NULL;
	assert_ok(ht_table_new(*state, "", texts, 1, &t));
	for (size_t i = 0; i < HT_COUNT(names); i++) {
		ht_table_row(t);
		ht_table_put_str(t, 0, names[i]);
	}
	assert_ok(ht_table_finish(*state, t));
	struct memory_sink got = render(
	        *state, t, "text", &(struct ht_render_options){ .width = 24, .no_title = true });
	assert_non_null(strstr(got.data, "(anonymo…:a;gemm\n"));
	assert_non_null(strstr(got.data, "(anonymo…b;gemm\n"));
	free(got.data);
	ht_table_free(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_ctx, teardown_ctx)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names_stay_distinct),
		TEST(test_front_ends_within_a_namespace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
