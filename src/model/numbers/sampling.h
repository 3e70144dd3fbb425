/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - is a difference of two means more than noise: Student's t over steps and over runs.
 *
 * Steps of one recording vary, and recordings of one program vary among themselves by more than that: the
 * host's time by some 10 %, that of kernels by less than 1 %. So a difference between two recordings has two
 * sources of noise, and steps tell about one of them only. Few samples are the rule (2 to 6 steps, 1 to 5
 * runs): a rank test cannot reach 5 % with them and a bootstrap is far too sure of itself, so variances are
 * pooled over both sides, helped by what is known beforehand (struct ht_noise), and Student's t pays for what is
 * not known. Everything is computed in the same order on every machine.
 */
#ifndef HT_MODEL_SAMPLING_H
#define HT_MODEL_SAMPLING_H

#include "base/status.h"

/* Some values: how many, their mean, and the sum of their squared deviations from it. */
struct ht_sample {
	size_t n;
	double mean, squares;
};
/* Ascending. */
void ht_values_sort(double *values, size_t n);
struct ht_sample ht_sample_of(const double *values, size_t n);
/* Standard deviation with n - 1, NaN for fewer than two values. */
double ht_sample_std(const struct ht_sample *sample);

/* What is known of a variance beforehand, and how many degrees of freedom that knowledge is worth. */
struct ht_noise {
	double variance, df;
};

/* test - base, its standard error, and the degrees of freedom behind that: 0 when nothing is known of it. */
struct ht_gap {
	double mean, error, df;
};

/* Means of two samples of equal variance. */
struct ht_gap ht_sample_gap(
        const struct ht_sample *base, const struct ht_sample *test, struct ht_noise known);

/* Means of runs, each with its own steps. */
struct ht_runs {
	const struct ht_sample *runs;
	size_t n;
};
/* How runs of one program vary where that cannot be seen: as a share of the mean. */
struct ht_run_noise {
	double share, df;
	/* whether it still counts when there are several runs: true where runs vary little and there are
	 * many things to compare, so that a lucky small variance is the greater danger */
	bool always;
};
struct ht_run_gap {
	struct ht_gap gap;
	double base, test;        /* means over runs */
	double step_std, run_std; /* within a run, and between runs without what steps explain */
	bool measured;            /* run_std comes from the runs, not from what was assumed */
};
struct ht_run_gap ht_runs_gap(struct ht_runs base, struct ht_runs test, struct ht_run_noise noise);

/* P(T > t) of Student's t; 0 < df. */
double ht_student_t_sf(double t, double df);
/* t with P(T > t) = p, for 0 < p < 1. */
double ht_student_quantile(double p, double df);
/* Probability of a gap this large or larger, in either direction, when there is none. 1 when nothing is known. */
double ht_gap_chance(const struct ht_gap *gap);
/* Half the interval that holds the true gap unless a chance of p (on each side) came up. */
double ht_gap_reach(const struct ht_gap *gap, double p);

/* Benjamini and Hochberg: the largest chance that still counts, so that of what is found at most the share
 * false_share is noise; -1 when none does. Sorts the chances. */
double ht_false_discovery_limit(double *chances, size_t n, double false_share);

#endif
