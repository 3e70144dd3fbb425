/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_test.c - what is quick is done while everything else waits behind something dear; what is dear is done in the end.
 */
#include "costs.h"
#include "pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open;
	char order[16]; /* what was done, by its letter */
	int n, n_inside;
};

static struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER };

static void note(const char *letter)
{
	pthread_mutex_lock(&gate.lock);
	gate.order[gate.n++] = *letter;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void quick(void *letter)
{
	note(letter);
}

/* Until the gate is open. */
static void dear(void *letter)
{
	pthread_mutex_lock(&gate.lock);
	gate.n_inside++;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.is_open)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	note(letter);
}

static void wait_inside(int n)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.n_inside < n)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static void wait_done(int n)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.n < n)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

static void open_gate(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.is_open = true;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void test_quick_ones_pass(void **state)
{
	(void)state;
	struct pool *pool = pool_new(1, 1, 8);
	assert_non_null(pool);
	assert_true(pool_submit(pool, dear, "a", 5000));
	wait_inside(1);
	/* the only thread that takes everything is inside a */
	assert_true(pool_submit(pool, dear, "b", 5000));
	assert_true(pool_submit(pool, quick, "c", POOL_QUICK_MS + 1));
	assert_true(pool_submit(pool, quick, "q", 0));
	wait_done(1);
	assert_int_equal(gate.order[0], 'q');
	open_gate();
	pool_stop(pool);
	/* c costs less than b and came hardly later */
	assert_string_equal(gate.order, "qacb");
	assert_false(pool_submit(pool, quick, "z", 0));
	pool_free(pool);
}

static void test_costs_are_learnt(void **state)
{
	(void)state;
	struct costs *costs = costs_new();
	assert_non_null(costs);
	assert_int_equal(costs_guess(costs, "summary", 1000000), COSTS_UNKNOWN_MS);
	costs_note(costs, "summary", 2000000, 800); /* 400 ms per million */
	assert_int_equal(costs_guess(costs, "summary", 1000000), 400);
	costs_note(costs, "summary", 1000000, 200);
	assert_int_equal(costs_guess(costs, "summary", 1000000), 300);
	assert_int_equal(costs_guess(costs, "kernels", 1000000), COSTS_UNKNOWN_MS);
	costs_note(costs, "no such verb", 1, 1);
	assert_int_equal(costs_guess(costs, "no such verb", 1), COSTS_UNKNOWN_MS);
	costs_free(costs);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_quick_ones_pass),
		cmocka_unit_test(test_costs_are_learnt) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
