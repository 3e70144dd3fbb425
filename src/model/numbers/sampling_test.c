/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling_test.c - Student's t against closed forms and tables, gaps worked out by hand.
 */
#include "model/numbers/sampling.h"
#include "model/device/typical_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <cmocka.h>

static void assert_close(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected))))
		fail_msg("%.17g is not %.17g", value, expected);
}

/* With 1, 2 and 4 degrees of freedom the distribution has a closed form. */
static void tail_has_its_closed_forms(void **state)
{
	(void)state;
	for (double t = -30; t <= 30; t += 0.37) {
		double s2 = sqrt(2 + t * t), s4 = sqrt(4 + t * t);
		assert_close(ht_student_t_sf(t, 1), 0.5 - atan(t) / acos(-1), 1e-12);
		assert_close(ht_student_t_sf(t, 2), 0.5 - t / s2 / 2, 1e-12);
		assert_close(ht_student_t_sf(t, 4),
		        0.5 - 3.0 / 8 * 2 * t / s4 * (1 - t * t / (s4 * s4) / 3), 1e-12);
	}
	assert_close(ht_student_t_sf(INFINITY, 3), 0, 0);
}

static void quantiles_are_those_of_the_tables(void **state)
{
	(void)state;
	static const double table[][3] = { { 0.025, 1, 12.706 }, { 0.025, 2, 4.303 },
		{ 0.05, 5, 2.015 }, { 0.01, 8, 2.896 }, { 0.005, 8, 3.355 }, { 0.025, 30, 2.042 },
		{ 0.0005, 10, 4.587 }, { 0.025, 100000, 1.960 } };
	for (size_t i = 0; i < HT_COUNT(table); i++) {
		double t = ht_student_quantile(table[i][0], table[i][1]);
		assert_close(t, table[i][2], 5e-4);
		assert_close(ht_student_quantile(1 - table[i][0], table[i][1]), -t, 1e-12);
		assert_close(ht_student_t_sf(t, table[i][1]), table[i][0], 1e-12);
	}
}

/* 10, 12 against 13, 15: means 11 and 14, pooled variance 2, error sqrt(2), 2 degrees of freedom. */
static void gap_of_two_samples(void **state)
{
	(void)state;
	double base_values[] = { 10, 12 }, test_values[] = { 13, 15 };
	struct ht_sample base = ht_sample_of(base_values, 2), test = ht_sample_of(test_values, 2);
	struct ht_gap gap = ht_sample_gap(&base, &test, (struct ht_noise){ 0 });
	assert_close(gap.mean, 3, 0);
	assert_close(gap.error, sqrt(2), 1e-15);
	assert_close(gap.df, 2, 0);
	assert_close(ht_gap_reach(&gap, 0.025), 4.30265 * sqrt(2), 1e-5);
	/* known beforehand: variance 8, worth 2 degrees: pooled (2*8 + 4) / 4 = 5 */
	gap = ht_sample_gap(&base, &test, (struct ht_noise){ 8, 2 });
	assert_close(gap.error, sqrt(5), 1e-15);
	assert_close(gap.df, 4, 0);
}

static void one_value_each_tells_nothing_of_noise(void **state)
{
	(void)state;
	double a = 1, b = 2;
	struct ht_sample base = ht_sample_of(&a, 1), test = ht_sample_of(&b, 1);
	struct ht_gap gap = ht_sample_gap(&base, &test, (struct ht_noise){ 0 });
	assert_close(ht_gap_chance(&gap), 1, 0);
	assert_true(isnan(ht_gap_reach(&gap, 0.025)));
	assert_true(isnan(ht_sample_std(&base)));
}

static void equal_values_that_differ_are_no_noise(void **state)
{
	(void)state;
	double a[] = { 5, 5 }, b[] = { 6, 6 };
	struct ht_sample base = ht_sample_of(a, 2), test = ht_sample_of(b, 2);
	struct ht_gap gap = ht_sample_gap(&base, &test, (struct ht_noise){ 0 });
	assert_close(ht_gap_chance(&gap), 0, 0);
	gap = ht_sample_gap(&base, &base, (struct ht_noise){ 0 });
	assert_close(ht_gap_chance(&gap), 1, 0);
}

/* Runs of means 100, 104 and 110, 110, steps without spread: variance (8 + 0) / 2 = 4, error 2. */
static void runs_are_compared_by_their_means(void **state)
{
	(void)state;
	struct ht_sample base[] = { { 3, 100, 0 }, { 3, 104, 0 } };
	struct ht_sample test[] = { { 3, 110, 0 }, { 5, 110, 0 } };
	struct ht_run_noise host = { 0.15, 8, false };
	struct ht_run_gap gap =
	        ht_runs_gap((struct ht_runs){ base, 2 }, (struct ht_runs){ test, 2 }, host);
	assert_true(gap.measured);
	assert_close(gap.base, 102, 0);
	assert_close(gap.gap.mean, 8, 0);
	assert_close(gap.gap.error, 2, 1e-15);
	assert_close(gap.gap.df, 2, 0);
	assert_close(gap.run_std, 2, 1e-15);
}

/* One run each: 15 % of 100 is assumed, and 4 steps of variance 4 add 4/4: error sqrt(2 * 226). */
static void one_run_each_is_as_noisy_as_assumed(void **state)
{
	(void)state;
	struct ht_sample base = { 4, 100, 12 }, test = { 4, 110, 12 };
	struct ht_run_noise host = { 0.15, 8, false };
	struct ht_run_gap gap =
	        ht_runs_gap((struct ht_runs){ &base, 1 }, (struct ht_runs){ &test, 1 }, host);
	assert_false(gap.measured);
	assert_close(gap.gap.error, sqrt(2 * 226.0), 1e-12);
	assert_close(gap.step_std, 2, 1e-15);
	assert_close(gap.run_std, 15, 1e-15);
	/* 226^2 / (225^2 / 8 + 1 / 6) */
	assert_close(gap.gap.df, 226.0 * 226 / (225.0 * 225 / 8 + 1.0 / 6), 1e-12);
}

/* Two runs against one: 95 and 105 vary by 7.1 %, of which one degree of freedom knows little; 15 % is assumed. */
static void few_runs_do_not_make_it_worse(void **state)
{
	(void)state;
	struct ht_sample base[] = { { 3, 95, 0 }, { 3, 105, 0 } }, test = { 3, 110, 0 };
	struct ht_run_noise host = { 0.15, 8, false };
	struct ht_run_gap gap =
	        ht_runs_gap((struct ht_runs){ base, 2 }, (struct ht_runs){ &test, 1 }, host);
	assert_false(gap.measured);
	assert_close(gap.gap.error, 15 * sqrt(1.5), 1e-12);
	assert_close(gap.gap.df, 8, 1e-9);
	/* runs that vary by more than is assumed are believed */
	base[0].mean = 60;
	base[1].mean = 140;
	gap = ht_runs_gap((struct ht_runs){ base, 2 }, (struct ht_runs){ &test, 1 }, host);
	assert_true(gap.measured);
	assert_close(gap.gap.error, sqrt(3200 * 1.5), 1e-12);
}

/* Steps vary more than the means of the runs: those cannot be more certain than the steps allow. */
static void lucky_runs_are_not_believed(void **state)
{
	(void)state;
	struct ht_sample base[] = { { 2, 100, 200 }, { 2, 100, 200 } };
	struct ht_sample test[] = { { 2, 101, 200 }, { 2, 101, 200 } };
	struct ht_run_noise host = { 0.15, 8, false };
	struct ht_run_gap gap =
	        ht_runs_gap((struct ht_runs){ base, 2 }, (struct ht_runs){ test, 2 }, host);
	/* variance of steps 200, of a mean of two 100; over two runs on each side 100 * (1/2 + 1/2) */
	assert_close(gap.gap.error, 10, 1e-15);
}

static void false_discoveries_are_bounded(void **state)
{
	(void)state;
	/* 5 % of k/4: 0.0125, 0.025, 0.0375, 0.05 */
	double chances[] = { 0.2, 0.001, 0.03, 0.026 };
	assert_close(ht_false_discovery_limit(chances, 4, 0.05), 0.03, 0);
	double none[] = { 0.02, 0.5 };
	assert_close(ht_false_discovery_limit(none, 1, 0.01), -1, 0);
	assert_close(ht_false_discovery_limit(none, 0, 0.01), -1, 0);
}

/* Three steps with calls 10, 20; a call of step 1 was held up by 700. */
static void held_up_calls_are_not_typical(void **state)
{
	(void)state;
	struct ht_call calls[] = { { 0, 2, 50, 10 }, { 0, 2, 60, 20 }, { 0, 1, 30, 710 },
		{ 0, 1, 40, 20 }, { 0, 0, 10, 10 }, { 0, 0, 20, 20 } };
	double values[6];
	size_t firsts[4];
	ht_calls_sort(calls, 6);
	assert_close(ht_typical_by_place(calls, 6, 3, firsts, values), 30, 0);
	/* the shorter half: 10, 10, 20, of two calls a step */
	assert_close(ht_typical_by_half(calls, 6, 3, values), 40.0 / 3 * 2, 1e-15);
	/* one step cannot tell by place; a call that only two of three steps have counts two thirds */
	assert_true(isnan(ht_typical_by_place(calls, 2, 1, firsts, values)));
	assert_close(ht_typical_by_place(calls, 5, 3, firsts, values), 10 + 20 * 2.0 / 3, 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tail_has_its_closed_forms),
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(gap_of_two_samples),
		cmocka_unit_test(one_value_each_tells_nothing_of_noise),
		cmocka_unit_test(equal_values_that_differ_are_no_noise),
		cmocka_unit_test(runs_are_compared_by_their_means),
		cmocka_unit_test(one_run_each_is_as_noisy_as_assumed),
		cmocka_unit_test(few_runs_do_not_make_it_worse),
		cmocka_unit_test(lucky_runs_are_not_believed),
		cmocka_unit_test(false_discoveries_are_bounded),
		cmocka_unit_test(held_up_calls_are_not_typical),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
