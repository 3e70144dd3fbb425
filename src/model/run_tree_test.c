/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tree_test.c - run, worker and span of paths in both layouts.
 */
#include "model/run_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define MAX 8

/* Places as "run worker span target node process" lines. */
static void expect(const char *const *paths, const char *const *lines)
{
	ht_ctx *ctx;
	struct ht_arena arena;
	struct ht_rank ranks[MAX] = { 0 };
	struct ht_roster roster = { .ranks = ranks };
	const struct ht_run_place *places;
	for (; paths[roster.n]; roster.n++)
		ranks[roster.n].path = paths[roster.n];
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	ht_arena_init(&arena, ctx->mem);
	assert_int_equal(ht_run_tree_find(&roster, &arena, &places), HT_OK);
	for (size_t i = 0; i < roster.n; i++) {
		const struct ht_run_place *p = &places[i];
		char *line = ht_arena_printf(&arena, "%s %s %lld %s %s %lld", p->run, p->worker,
		        (long long)p->span, p->target, p->node,
		        p->process == HT_NO_I64 ? -1LL : (long long)p->process);
		assert_string_equal(line, lines[i]);
	}
	ht_arena_done(&arena);
	ht_ctx_free(ctx);
}

static void gpu_runs(void **state)
{
	(void)state;
	expect((const char *const[]){ "log/a/w_0.9.pt.trace.json", "log/a/w_0.10.pt.trace.json.gz",
	               "log/a/w_1.pt.trace.json", "log/b/deep/host_12_3.77.pt.trace.json", NULL },
	        (const char *const[]){ "a w_0 2 gpu w 0", "a w_0 1 gpu w 0", "a w_1 0 gpu w 1",
	                "b/deep host_12_3 1 gpu host_12 3" });
	/* one run is called by its directory; names of files as they are */
	expect((const char *const[]){ "x/run/rank0.json", "x/run/rank1.json", NULL },
	        (const char *const[]){ "run rank0.json 0 gpu rank0.json -1",
	                "run rank1.json 0 gpu rank1.json -1" });
	expect((const char *const[]){ "x/run/rank0.pickle", "x/run/rank1.pftrace", NULL },
	        (const char *const[]){ "run rank0.pickle 0 gpu rank0.pickle -1",
	                "run rank1.pftrace 0 gpu rank1.pftrace -1" });
	expect((const char *const[]){ "w.5.pt.trace.json", NULL },
	        (const char *const[]){ ". w 1 gpu w -1" });
}

static void npu_runs(void **state)
{
	(void)state;
	expect((const char *const[]){ "l/r/host.dom_139_20230628101435_ascend_pt",
	               "l/r/rank1_17.5_ascend_ms/", "l/r/rank2_99/ASCEND_PROFILER_OUTPUT",
	               "l/s/rank3_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "l/s/rank4_7",
	               NULL },
	        (const char *const[]){ "r host.dom_139 1 npu host.dom 139",
	                "r rank1 1 npu rank1 -1", "r rank2 1 npu rank2 -1",
	                "s rank3 0 npu rank3 -1", "s rank4 1 npu rank4 -1" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpu_runs),
		cmocka_unit_test(npu_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
