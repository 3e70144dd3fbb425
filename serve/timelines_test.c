/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines_test.c - what is kept is bounded, those that were asked for last stay, and none goes while it is held.
 */
#include "timelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_RANKS = 6, N_SPANS = 100, N_ROUNDS = 300 };

struct fixture {
	ht_ctx *ctx;
	ht_set *set;
};

static void write_rank(const char *path, int rank)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[",
	        rank);
	for (int i = 0; i < N_SPANS; i++)
		fprintf(file,
		        "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
		        "\"ts\":%d,\"dur\":5}",
		        i > 0 ? "," : "", 10 * i);
	fputs("]}", file);
	fclose(file);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char paths[N_RANKS][64];
	const char *sources[N_RANKS];
	for (int i = 0; i < N_RANKS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/tmp/holotrace-timelines-%d-%d.json",
		        (int)getpid(), i);
		write_rank(paths[i], i);
		sources[i] = paths[i];
	}
	assert_int_equal(ht_ctx_new(&f->ctx), HT_OK);
	assert_int_equal(ht_open(f->ctx, sources, N_RANKS, NULL, &f->set), HT_OK);
	for (int i = 0; i < N_RANKS; i++)
		unlink(paths[i]);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ht_close(f->set);
	ht_ctx_free(f->ctx);
	free(f);
	return 0;
}

static const ht_timeline *hold(struct fixture *f, struct rank_timelines *of, size_t i)
{
	const ht_timeline *timeline = NULL;
	assert_int_equal(rank_timeline_hold(f->ctx, of, i, &timeline), HT_OK);
	assert_int_equal(ht_timeline_info(timeline)->rank, i);
	return timeline;
}

static void use(struct fixture *f, struct rank_timelines *of, size_t i)
{
	hold(f, of, i);
	rank_timeline_release(of, i);
}

/* Bytes of one, told by a list without bounds. */
static uint64_t measure(struct fixture *f)
{
	struct timelines *all = timelines_new(UINT64_MAX);
	struct rank_timelines *of = rank_timelines_new(all, f->set);
	use(f, of, 0);
	uint64_t n_bytes = timelines_bytes(all);
	for (size_t i = 0; i < N_RANKS; i++)
		use(f, of, i);
	assert_int_equal(timelines_bytes(all), N_RANKS * n_bytes);
	rank_timelines_free(of);
	assert_int_equal(timelines_bytes(all), 0);
	timelines_free(all);
	return n_bytes;
}

static void test_what_was_used_last_stays(void **state)
{
	struct fixture *f = *state;
	uint64_t one = measure(f);
	assert_true(one > 12 * N_SPANS);
	struct timelines *all = timelines_new(2 * one);
	struct rank_timelines *of = rank_timelines_new(all, f->set);
	use(f, of, 0);
	use(f, of, 1);
	const ht_timeline *first = hold(f, of, 0);
	rank_timeline_release(of, 0);
	use(f, of, 2); /* 1 goes, it was not used for longest */
	assert_int_equal(timelines_bytes(all), 2 * one);
	assert_ptr_equal(hold(f, of, 0), first);
	rank_timeline_release(of, 0);
	rank_timelines_free(of);
	timelines_free(all);
}

static void test_what_is_held_stays(void **state)
{
	struct fixture *f = *state;
	uint64_t one = measure(f);
	struct timelines *all = timelines_new(2 * one);
	/* two sets of ranks share the bound */
	struct rank_timelines *of = rank_timelines_new(all, f->set);
	struct rank_timelines *other = rank_timelines_new(all, f->set);
	const ht_timeline *held[N_RANKS];
	for (size_t i = 0; i < N_RANKS; i++)
		held[i] = hold(f, of, i);
	use(f, other, 3);
	assert_int_equal(timelines_bytes(all), N_RANKS * one);
	for (size_t i = 0; i < N_RANKS; i++)
		assert_int_equal(ht_timeline_info(held[i])->rank, i);
	for (size_t i = 0; i < N_RANKS; i++)
		rank_timeline_release(of, i);
	assert_int_equal(timelines_bytes(all), 2 * one);
	rank_timelines_free(of);
	rank_timelines_free(other);
	timelines_free(all);
}

static void test_room_for_none(void **state)
{
	struct fixture *f = *state;
	struct timelines *all = timelines_new(0);
	struct rank_timelines *of = rank_timelines_new(all, f->set);
	for (size_t i = 0; i < N_RANKS; i++)
		use(f, of, i);
	assert_int_equal(timelines_bytes(all), 0);
	rank_timelines_free(of);
	timelines_free(all);
}

struct worker {
	struct rank_timelines *of;
	unsigned seed;
	bool is_good;
};

static void *work(void *user)
{
	struct worker *w = user;
	ht_ctx *ctx;
	w->is_good = ht_ctx_new(&ctx) == HT_OK;
	for (int k = 0; k < N_ROUNDS && w->is_good; k++) {
		const ht_timeline *timeline;
		w->seed = w->seed * 1103515245u + 12345u;
		size_t i = (w->seed >> 16) % N_RANKS;
		w->is_good = rank_timeline_hold(ctx, w->of, i, &timeline) == HT_OK &&
		             ht_timeline_info(timeline)->rank == (int64_t)i;
		if (w->is_good)
			rank_timeline_release(w->of, i);
	}
	ht_ctx_free(ctx);
	return NULL;
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	uint64_t one = measure(f);
	struct timelines *all = timelines_new(2 * one);
	struct rank_timelines *of = rank_timelines_new(all, f->set);
	struct worker workers[4];
	pthread_t threads[4];
	for (unsigned i = 0; i < 4; i++) {
		workers[i] = (struct worker){ .of = of, .seed = i + 1 };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_true(workers[i].is_good);
	}
	assert_true(timelines_bytes(all) <= 2 * one);
	rank_timelines_free(of);
	timelines_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_used_last_stays),
		cmocka_unit_test(test_what_is_held_stays),
		cmocka_unit_test(test_room_for_none),
		cmocka_unit_test(test_threads),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
