/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops_slowdown.c - how long it takes to say whose slowdown it is, once a table of operations is read.
 *
 *     bench_ops_slowdown OPERATIONS.csv[.gz] META.yaml [ROUNDS]
 *
 * Prints processor time: of reading, and of all decompositions (S, S_t, S_dp, S_stage, M_W, M_S), the least of the rounds.
 */
#include "base/mem.h"
#include "job/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(ht_ctx *ctx)
{
	fprintf(stderr, "bench_ops_slowdown: %s\n", ht_error(ctx)->message);
	return 1;
}

int main(int argc, char **argv)
{
	ht_ctx *ctx;
	struct ht_arena arena;
	struct ht_ops job;
	if (argc < 3 || ht_ctx_new(&ctx) != HT_OK) {
		fputs("usage: bench_ops_slowdown OPERATIONS META [ROUNDS]\n", stderr);
		return 2;
	}
	int n_rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 5;
	double begin = now_s(), least = INFINITY;
	ht_arena_init(&arena, ctx->mem);
	if (ht_ops_read(ctx, argv[1], argv[2], &arena, &job) != HT_OK)
		return fail(ctx);
	printf("read              %8.4f s   %zu operations, %zu steps, %zu data-parallel ranks, %lld stages\n",
	        now_s() - begin, ht_ops_n_values(&job), job.n_steps, job.n_data,
	        (long long)job.shape.n_stages);
	for (int i = 0; i < n_rounds; i++) {
		struct ht_arena room;
		struct ht_ops_slowdown slowdown;
		ht_arena_init(&room, ctx->mem);
		begin = now_s();
		if (ht_ops_slowdown_find(ctx, &job, &room, &slowdown) != HT_OK)
			return fail(ctx);
		least = fmin(least, now_s() - begin);
		ht_arena_done(&room);
	}
	printf("all decompositions %7.4f s   least of %d\n", least, n_rounds);
	ht_arena_done(&arena);
	ht_ctx_free(ctx);
	return 0;
}
