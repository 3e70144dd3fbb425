/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_name_test.c - names of generated kernels, cut by hand.
 */
#include "model/origin/fused_name.h"

#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static ht_ctx *ctx;

static void check(const char *name, const char *wanted)
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	const char *found = ht_fused_ops(&arena, name);
	if (wanted)
		assert_string_equal(found, wanted);
	else
		assert_null(found);
	ht_arena_done(&arena);
}

static void test_names(void **state)
{
	(void)state;
	check("triton_poi_fused_add_relu_17", "aten.add, aten.relu");
	check("triton_per_fused_add_native_layer_norm_1", "aten.add, aten.native_layer_norm");
	check("triton_red_fused_native_layer_norm_native_layer_norm_backward_view_3",
	        "aten.native_layer_norm, aten.native_layer_norm_backward, aten.view");
	check("triton_poi_fused__to_copy_mul_0", "aten._to_copy, aten.mul");
	check("triton_poi_fused_add__to_copy_0", "aten.add, aten._to_copy");
	check("triton_poi_fused_gelu_0", "aten.gelu");
	check("triton_poi_fused_copy__view_2", "aten.copy_, aten.view");
	check("triton_poi_fused_unheardof_4", "aten.unheardof");
	check("triton_tem_fused_mm_12", "aten.mm");
}

static void test_others(void **state)
{
	(void)state;
	check("triton_", NULL);
	check("triton_poi_fused_", NULL);
	check("triton_my_kernel_fused_by_hand", NULL);
	check("ampere_gemm_fused_add_1", NULL);
	check("", NULL);
	/* nothing but underscores, and more words than any name has */
	check("triton_poi_fused_____", NULL);
	char name[1024] = "triton_poi_fused_";
	for (size_t i = 0; i < 100; i++)
		strcat(name, "ab_");
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	assert_non_null(ht_fused_ops(&arena, name));
	ht_arena_done(&arena);
}

/* The list is searched, so that each operator is found only where it is in order. */
static void test_list(void **state)
{
	static const char *const list[] = {
#define OP(name) name,
#include "model/origin/fused_ops.def"
#undef OP
	};
	(void)state;
	for (size_t i = 0; i < HT_COUNT(list); i++) {
		char name[256], wanted[256];
		if (i)
			assert_true(strcmp(list[i - 1], list[i]) < 0);
		snprintf(name, sizeof name, "triton_poi_fused_%s_0", list[i]);
		snprintf(wanted, sizeof wanted, "aten.%s", list[i]);
		check(name, wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names),
		cmocka_unit_test(test_others), cmocka_unit_test(test_list) };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_ctx_free(ctx);
	return failed;
}
