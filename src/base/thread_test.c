/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_test.c - every task runs once, also of runs inside runs; failures and cancellation end a run the same way each
 * time.
 */
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <time.h>

#define N_TASKS 1000

struct job {
	ht_ctx *ctx;
	atomic_int n_runs[N_TASKS];
	atomic_int n_started;
	size_t slow_failure, fast_failure, cancel_at;
	int n_workers;
};

static int setup(void **state)
{
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		return 1;
	*state = ctx;
	return 0;
}

static int teardown(void **state)
{
	ht_ctx_free(*state);
	return 0;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static enum ht_status count(void *user, size_t i_task, int i_worker)
{
	struct job *job = user;
	atomic_fetch_add(&job->n_runs[i_task], 1);
	return i_worker >= 0 && i_worker < job->n_workers ? HT_OK : HT_USAGE;
}

static void runs_every_task_once(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, N_TASKS };
	ht_ctx *ctx = *state;
	for (int n_jobs = 1; n_jobs <= 9; n_jobs += 4) {
		ht_ctx_set_jobs(ctx, n_jobs);
		for (size_t i = 0; i < HT_COUNT(sizes); i++) {
			static struct job job;
			job = (struct job){ .n_workers = n_jobs };
			assert_int_equal(ht_parallel(ctx, sizes[i], count, &job), HT_OK);
			for (size_t t = 0; t < N_TASKS; t++)
				assert_int_equal(atomic_load(&job.n_runs[t]), t < sizes[i]);
		}
	}
}

/* The later task fails first in time; the earlier one must win, with its own text. */
static enum ht_status fail_twice(void *user, size_t i_task, int i_worker)
{
	struct job *job = user;
	(void)i_worker;
	atomic_fetch_add(&job->n_started, 1);
	if (i_task == job->slow_failure) {
		pause_ms(30);
		return ht_fail(job->ctx, HT_FORMAT, "slow", 7, "slow hint", "slow text");
	}
	if (i_task == job->fast_failure)
		return ht_fail(job->ctx, HT_IO, "fast", 8, NULL, "fast text");
	return HT_OK;
}

static void lowest_failure_wins(void **state)
{
	ht_ctx *ctx = *state;
	for (int n_jobs = 1; n_jobs <= 4; n_jobs++) {
		struct job job = { .ctx = ctx, .slow_failure = 3, .fast_failure = 4 };
		ht_ctx_set_jobs(ctx, n_jobs);
		assert_int_equal(ht_parallel(ctx, N_TASKS, fail_twice, &job), HT_FORMAT);
		assert_int_equal(ht_error(ctx)->status, HT_FORMAT);
		assert_string_equal(ht_error(ctx)->message, "slow text");
		assert_string_equal(ht_error(ctx)->file, "slow");
		assert_int_equal(ht_error(ctx)->offset, 7);
		assert_string_equal(ht_error(ctx)->hint, "slow hint");
		assert_true(n_jobs > 1 || atomic_load(&job.n_started) == 4);
		ht_error_clear(ctx);
	}
}

/* Both fail before either is recorded, so that there is one text for two; the first task is recorded last. */
static enum ht_status fail_together(void *user, size_t i_task, int i_worker)
{
	struct job *job = user;
	enum ht_status status = ht_fail(job->ctx, HT_FORMAT, "file", 7, NULL, "one text");
	(void)i_worker;
	atomic_fetch_add(&job->n_started, 1);
	for (int i = 0; atomic_load(&job->n_started) < 2 && i < 2000; i++)
		pause_ms(1);
	if (!i_task)
		pause_ms(30);
	return status;
}

static void failures_at_once_have_a_text(void **state)
{
	ht_ctx *ctx = *state;
	struct job job = { .ctx = ctx };
	ht_ctx_set_jobs(ctx, 2);
	assert_int_equal(ht_parallel(ctx, 2, fail_together, &job), HT_FORMAT);
	assert_int_equal(ht_error(ctx)->status, HT_FORMAT);
	assert_string_equal(ht_error(ctx)->message, "one text");
	ht_error_clear(ctx);
}

static enum ht_status cancel(void *user, size_t i_task, int i_worker)
{
	struct job *job = user;
	(void)i_worker;
	atomic_fetch_add(&job->n_started, 1);
	if (i_task == job->cancel_at)
		atomic_store(&job->ctx->cancelled, true);
	return HT_OK;
}

static void cancelling_starts_no_more(void **state)
{
	ht_ctx *ctx = *state;
	for (int n_jobs = 1; n_jobs <= 4; n_jobs += 3) {
		struct job job = { .ctx = ctx, .cancel_at = 5 };
		ht_ctx_set_jobs(ctx, n_jobs);
		assert_int_equal(ht_parallel(ctx, N_TASKS, cancel, &job), HT_CANCELLED);
		assert_true(n_jobs > 1 || atomic_load(&job.n_started) == 6);
		assert_int_equal(ht_error(ctx)->status, HT_CANCELLED);
		ht_error_clear(ctx);
	}
	struct job last = { .ctx = ctx, .cancel_at = 9 };
	assert_int_equal(ht_parallel(ctx, 10, cancel, &last), HT_OK);
	ht_error_clear(ctx);
}

static bool go_on(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user, (void)what, (void)done, (void)total;
	return true;
}

/* The caller does none of it: each task wakes a thread, also of those that wait already. */
static void watched_tasks_are_done(void **state)
{
	ht_ctx *ctx = *state;
	ht_ctx_set_progress(ctx, go_on, NULL);
	for (int i = 0; i < 10000; i++) {
		static struct job job;
		atomic_ullong done = 0;
		const struct ht_watch watch = { "test", &done, 1 };
		size_t n_tasks = i % 8 < 5 ? 1 : (size_t)i % 4 + 1;
		ht_ctx_set_jobs(ctx, 1 + i / 4 % 4);
		job = (struct job){ .n_workers = 4 };
		assert_int_equal(ht_parallel_watched(ctx, n_tasks, count, &job, &watch), HT_OK);
		for (size_t t = 0; t < n_tasks; t++)
			assert_int_equal(atomic_load(&job.n_runs[t]), 1);
	}
}

/* ---- runs inside runs ---- */

#define N_OUTER 5
#define N_INNER 40

struct nest {
	ht_ctx *ctx;
	atomic_int n_runs[N_OUTER * N_INNER];
	atomic_int is_busy[8]; /* by worker: its inner task */
	atomic_bool was_seen[8];
	atomic_bool went_wrong;
	size_t bad_outer, bad_inner;
	bool pauses;
};
struct branch {
	struct nest *nest;
	size_t i_outer;
};

static enum ht_status inner(void *user, size_t i_task, int i_worker)
{
	const struct branch *branch = user;
	struct nest *nest = branch->nest;
	atomic_fetch_add(&nest->n_runs[branch->i_outer * N_INNER + i_task], 1);
	/* no two tasks of one worker at a time */
	if (i_worker < 0 || i_worker >= 8 || atomic_fetch_add(&nest->is_busy[i_worker], 1))
		atomic_store(&nest->went_wrong, true);
	atomic_store(&nest->was_seen[i_worker & 7], true);
	if (nest->pauses)
		pause_ms(1);
	atomic_fetch_sub(&nest->is_busy[i_worker & 7], 1);
	if (branch->i_outer == nest->bad_outer && i_task == nest->bad_inner)
		return ht_fail(nest->ctx, HT_FORMAT, "inner", 1, NULL, "inner text");
	return HT_OK;
}

static enum ht_status outer(void *user, size_t i_task, int i_worker)
{
	struct branch branch = { user, i_task };
	(void)i_worker;
	return ht_parallel(branch.nest->ctx, N_INNER, inner, &branch);
}

static enum ht_status two_runs(void *user)
{
	struct nest *nest = user;
	HT_TRY(ht_parallel(nest->ctx, N_OUTER, outer, nest));
	return ht_parallel(nest->ctx, N_OUTER, outer, nest);
}

static void runs_inside_runs(void **state)
{
	ht_ctx *ctx = *state;
	for (int n_jobs = 1; n_jobs <= 8; n_jobs++) {
		struct nest nest = { .ctx = ctx, .bad_outer = SIZE_MAX };
		ht_ctx_set_jobs(ctx, n_jobs);
		assert_int_equal(ht_parallel(ctx, N_OUTER, outer, &nest), HT_OK);
		assert_int_equal(ht_with_crew(ctx, 8, two_runs, &nest), HT_OK);
		for (size_t i = 0; i < N_OUTER * N_INNER; i++)
			assert_int_equal(atomic_load(&nest.n_runs[i]), 3);
		assert_false(atomic_load(&nest.went_wrong));
		for (int w = n_jobs; w < 8; w++)
			assert_false(atomic_load(&nest.was_seen[w]));
	}
}

static enum ht_status one_branch(void *user)
{
	return outer(user, 0, 0);
}

/* One run alone is shared by all threads that are at hand. */
static void idle_threads_help(void **state)
{
	ht_ctx *ctx = *state;
	struct nest nest = { .ctx = ctx, .bad_outer = SIZE_MAX, .pauses = true };
	int n_seen = 0;
	ht_ctx_set_jobs(ctx, 4);
	assert_int_equal(ht_with_crew(ctx, 8, one_branch, &nest), HT_OK);
	for (int w = 0; w < 8; w++)
		n_seen += atomic_exchange(&nest.was_seen[w], false);
	/* how many come in time is the machine's affair */
	assert_in_range(n_seen, 2, 4);
	assert_int_equal(ht_with_crew(ctx, 2, one_branch, &nest), HT_OK);
	for (int w = 2; w < 8; w++)
		assert_false(atomic_load(&nest.was_seen[w]));
}

static void inner_failure_comes_out(void **state)
{
	ht_ctx *ctx = *state;
	for (int n_jobs = 1; n_jobs <= 8; n_jobs++) {
		struct nest nest = { .ctx = ctx, .bad_outer = 2, .bad_inner = 7 };
		ht_ctx_set_jobs(ctx, n_jobs);
		assert_int_equal(ht_with_crew(ctx, 8, two_runs, &nest), HT_FORMAT);
		assert_string_equal(ht_error(ctx)->message, "inner text");
		assert_string_equal(ht_error(ctx)->file, "inner");
		ht_error_clear(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_every_task_once, setup, teardown),
		cmocka_unit_test_setup_teardown(lowest_failure_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_at_once_have_a_text, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelling_starts_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(watched_tasks_are_done, setup, teardown),
		cmocka_unit_test_setup_teardown(runs_inside_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_threads_help, setup, teardown),
		cmocka_unit_test_setup_teardown(inner_failure_comes_out, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
