/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper_test.c - calls of generated code, with handles and without.
 */
#include "model/origin/wrapper.h"

#include "model/origin/compile_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define COMMENT(NODES, OPS)                                                                        \
	"    # Topologically Sorted Source Nodes: [" NODES "], Original ATen: [" OPS "]\n"

static ht_ctx *ctx;

static void check(const char *code, const char *const *names, const char *const *ops, size_t n)
{
	struct ht_arena arena;
	struct ht_vec calls = { 0 };
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_wrapper_read(ctx, &arena, code, &calls), HT_OK);
	assert_int_equal(calls.n, n);
	const struct ht_compiled_call *list = calls.data;
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list[i].name, names[i]);
		assert_string_equal(list[i].ops, ops[i]);
	}
	ht_vec_free(ctx->mem, &calls, sizeof *list);
	ht_arena_done(&arena);
}

static void test_without_handles(void **state)
{
	(void)state;
	static const char code[] = COMMENT(
	        "x", "aten.add") "    triton_poi_fused_add_0.run(a, b, 8, stream=s)\n" COMMENT("y",
	        "aten.mm") "    extern_kernels.mm(a, b, out=c)\n" COMMENT("z", "aten.sdpa")
	        /* what comes between a comment and its call is no call */
	        "    assert_size_stride(a, (8, 8), (8, 1), 'torch.ops.aten.sdpa.default')\n"
	        "    buf4 = torch.ops.aten.sdpa.default(a, b, None)\n"
	        /* and a second call has no comment of its own */
	        "    buf5 = torch.ops.aten.alias.default(buf4)\n";
	check(code,
	        (const char *[]){ "triton_poi_fused_add_0", "extern_kernels.mm",
	                "torch.ops.aten.sdpa.default" },
	        (const char *[]){ "aten.add", "aten.mm", "aten.sdpa" }, 3);
}

static void test_handles(void **state)
{
	(void)state;
	static const char code[] = COMMENT(
	        "z", "aten.sdpa") "    # [Provenance debug handles] torch.ops.aten.sdpa.default:3\n"
	                          "    buf4 = torch.ops.aten.sdpa.default(a, b, None)\n";
	check(code, (const char *[]){ "torch.ops.aten.sdpa.default" },
	        (const char *[]){ "aten.sdpa" }, 1);
}

static void test_cut(void **state)
{
	(void)state;
	static const char code[] = COMMENT("z", "aten.sdpa") "    buf4 = torch.ops.aten.sdpa";
	check(code, NULL, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_without_handles),
		cmocka_unit_test(test_handles), cmocka_unit_test(test_cut) };
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ht_ctx_free(ctx);
	return failed;
}
