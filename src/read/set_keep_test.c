/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_keep_test.c - which traces of a set stay: what somebody looks at does, the rest goes beyond the bound.
 */
#include "read/open.h"
#include "store/trace_refs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_RANKS = 24 };

struct fixture {
	char dir[64], paths[N_RANKS][128];
	const char *sources[N_RANKS];
};

static void write_trace(const char *path, int rank)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[",
	        rank);
	for (int i = 0; i < 100; i++)
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1}",
		        i ? "," : "", 2 * i);
	fputs("]}", file);
	fclose(file);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	char dir[] = "/tmp/holotrace-keep-XXXXXX";
	assert_non_null(mkdtemp(dir));
	snprintf(f->dir, sizeof f->dir, "%s", dir);
	for (int i = 0; i < N_RANKS; i++) {
		snprintf(f->paths[i], sizeof f->paths[i], "%s/rank%d.json", dir, i);
		write_trace(f->paths[i], i);
		f->sources[i] = f->paths[i];
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < N_RANKS; i++)
		unlink(f->paths[i]);
	rmdir(f->dir);
	free(f);
	return 0;
}

static size_t n_kept(const ht_set *set)
{
	size_t n = 0;
	for (size_t i = 0; i < N_RANKS; i++)
		n += set->kept[i].trace != NULL;
	return n;
}

static uint64_t bytes_kept(const ht_set *set)
{
	uint64_t n = 0;
	for (size_t i = 0; i < N_RANKS; i++)
		n += set->kept[i].bytes;
	return n;
}

/* Room for three traces, and up to twenty in hand: those stay, whatever the bound is, and are the same traces. */
static void keeps_what_is_in_hand(void **state)
{
	struct fixture *f = *state;
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	const struct ht_trace *held[N_RANKS], *again;
	ht_ctx *ctx;
	ht_set *set;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_open_visited(ctx, f->sources, N_RANKS, &options, NULL, 1, &set), HT_OK);
	assert_int_equal(ht_set_acquire(ctx, set, 0, &held[0]), HT_OK);
	set->keep_bytes = 3 * set->kept[0].bytes;
	for (size_t n = 1; n <= 20; n++) {
		for (size_t i = 1; i < n; i++)
			assert_int_equal(ht_set_acquire(ctx, set, i, &held[i]), HT_OK);
		for (size_t i = 0; i < n; i++) {
			assert_ptr_equal(set->kept[i].trace, held[i]);
			assert_true(set->kept[i].bytes > 0);
			assert_int_equal(ht_set_acquire(ctx, set, i, &again), HT_OK);
			assert_ptr_equal(again, held[i]);
			ht_trace_release(again);
		}
		for (size_t i = 1; i < n; i++)
			ht_trace_release(held[i]);
		/* one more: what nobody has goes until the rest fits */
		assert_int_equal(ht_set_acquire(ctx, set, 23, &again), HT_OK);
		ht_trace_release(again);
		assert_int_equal(ht_set_acquire(ctx, set, 22, &again), HT_OK);
		ht_trace_release(again);
		assert_true(n_kept(set) <= 3);
		assert_int_equal(bytes_kept(set), set->kept_bytes);
		assert_int_equal(n_kept(set), set->n_counted);
		assert_ptr_equal(set->kept[0].trace, held[0]);
	}
	ht_trace_release(held[0]);
	ht_close(set);
	ht_ctx_free(ctx);
}

/* All were in use at once, as when ranks are joined: a rank that is asked for again lets the others go. */
static void lets_go_of_what_was_in_use(void **state)
{
	struct fixture *f = *state;
	struct ht_open_options options = { .struct_size = sizeof options, .no_cache = true };
	const struct ht_trace *held[N_RANKS], *again;
	ht_ctx *ctx;
	ht_set *set;
	assert_int_equal(ht_ctx_new(&ctx), HT_OK);
	assert_int_equal(ht_open_visited(ctx, f->sources, N_RANKS, &options, NULL, 1, &set), HT_OK);
	for (size_t i = 0; i < N_RANKS; i++)
		assert_int_equal(ht_set_acquire(ctx, set, i, &held[i]), HT_OK);
	set->keep_bytes = 3 * set->kept[0].bytes;
	assert_int_equal(n_kept(set), N_RANKS);
	for (size_t i = 0; i < N_RANKS; i++)
		ht_trace_release(held[i]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ht_set_acquire(ctx, set, 0, &again), HT_OK);
		ht_trace_release(again);
	}
	assert_true(n_kept(set) <= 3);
	assert_int_equal(bytes_kept(set), set->kept_bytes);
	ht_close(set);
	ht_ctx_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_in_hand),
		cmocka_unit_test(lets_go_of_what_was_in_use),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
