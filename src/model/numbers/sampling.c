/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - see sampling.h.
 */
#include "model/numbers/sampling.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

void ht_values_sort(double *values, size_t n)
{
	qsort(values, n, sizeof *values, ht_compare_f64);
}

struct ht_sample ht_sample_of(const double *values, size_t n)
{
	struct ht_sample sample = { .n = n };
	for (size_t i = 0; i < n; i++)
		sample.mean += values[i];
	sample.mean = n ? sample.mean / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		sample.squares += (values[i] - sample.mean) * (values[i] - sample.mean);
	return sample;
}

double ht_sample_std(const struct ht_sample *sample)
{
	return sample->n < 2 ? NAN : sqrt(sample->squares / (double)(sample->n - 1));
}

struct ht_gap ht_sample_gap(
        const struct ht_sample *base, const struct ht_sample *test, struct ht_noise known)
{
	struct ht_gap gap = { .mean = test->mean - base->mean };
	if (!base->n || !test->n)
		return gap;
	double df = (double)(base->n + test->n - 2);
	gap.df = known.df + df;
	if (gap.df > 0) {
		double squares = known.df * known.variance + base->squares + test->squares;
		gap.error = sqrt(squares / gap.df * (1 / (double)base->n + 1 / (double)test->n));
	}
	return gap;
}

/* ---- runs ---- */

/* What steps say: their variance within runs, its degrees of freedom, and what is left of it in a run's mean. */
struct within {
	double variance, df, of_mean;
};

static struct within look_within(struct ht_runs base, struct ht_runs test)
{
	struct within within = { 0 };
	double squares = 0, inverse = 0;
	for (size_t side = 0; side < 2; side++) {
		struct ht_runs runs = side ? test : base;
		for (size_t i = 0; i < runs.n; i++) {
			squares += runs.runs[i].squares;
			within.df += (double)runs.runs[i].n - 1;
			inverse += 1 / (double)runs.runs[i].n;
		}
	}
	if (within.df > 0) {
		within.variance = squares / within.df;
		within.of_mean = within.variance * inverse / (double)(base.n + test.n);
	}
	return within;
}

/* A sample of the runs' means. */
static struct ht_sample means_of(struct ht_runs runs)
{
	struct ht_sample sample = { .n = runs.n };
	for (size_t i = 0; i < runs.n; i++)
		sample.mean += runs.runs[i].mean;
	sample.mean /= (double)runs.n;
	for (size_t i = 0; i < runs.n; i++)
		sample.squares +=
		        (runs.runs[i].mean - sample.mean) * (runs.runs[i].mean - sample.mean);
	return sample;
}

/* Variance of a run's mean by what is assumed of runs and seen of steps; degrees of freedom of the sum of two
 * variances as Satterthwaite has them. */
static struct ht_noise assume(double mean, const struct within *within, struct ht_run_noise noise)
{
	double runs = noise.share * noise.share * mean * mean;
	struct ht_noise all = { .variance = runs + within->of_mean, .df = noise.df };
	if (within->df > 0 && all.variance > 0)
		all.df = all.variance * all.variance /
		         (runs * runs / noise.df + within->of_mean * within->of_mean / within->df);
	return all;
}

/* Whether what is assumed tells more than what few runs show: they vary less than that, by luck or not, and one
 * run more than one each cannot tell. */
static bool is_surer(const struct ht_noise *assumed, double seen, double df)
{
	const double p = 0.01;
	return seen <= assumed->variance &&
	       assumed->variance * pow(ht_student_quantile(p, assumed->df), 2) <
	               seen * pow(ht_student_quantile(p, df), 2);
}

struct ht_run_gap ht_runs_gap(struct ht_runs base, struct ht_runs test, struct ht_run_noise noise)
{
	struct ht_run_gap ret = { 0 };
	if (!base.n || !test.n)
		return ret;
	struct ht_sample means[2] = { means_of(base), means_of(test) };
	struct within within = look_within(base, test);
	struct ht_noise assumed = assume(means[0].mean, &within, noise);
	double df = (double)(base.n + test.n - 2);
	double seen = df > 0 ? (means[0].squares + means[1].squares) / df : 0;
	ret.measured = df > 0 && (noise.always || !is_surer(&assumed, seen, df));
	if (ret.measured && !noise.always)
		assumed.df = 0;
	else if (!ret.measured)
		df = 0;
	ret.gap.mean = means[1].mean - means[0].mean;
	ret.gap.df = assumed.df + df;
	double variance = (assumed.df * assumed.variance + df * seen) / ret.gap.df;
	/* what was seen may be worse than assumed, and a mean cannot vary less than its steps make it */
	variance = fmax(variance, fmax(seen, within.of_mean));
	ret.gap.error = sqrt(variance * (1 / (double)base.n + 1 / (double)test.n));
	ret.base = means[0].mean;
	ret.test = means[1].mean;
	ret.step_std = within.df > 0 ? sqrt(within.variance) : NAN;
	ret.run_std =
	        ret.measured ? sqrt(fmax(0, seen - within.of_mean)) : noise.share * means[0].mean;
	return ret;
}

/* ---- Student's t ---- */

/* Lanczos, good to some 1e-15; lgamma of the C library writes a global. */
static double log_gamma(double x)
{
	static const double terms[] = { 676.5203681218851, -1259.1392167224028, 771.32342877765313,
		-176.61502916214059, 12.507343278686905, -0.13857109526572012,
		9.9843695780195716e-6, 1.5056327351493116e-7 };
	double sum = 0.99999999999980993;
	for (size_t i = 0; i < HT_COUNT(terms); i++)
		sum += terms[i] / (x + (double)i);
	double t = x + 6.5;
	return 0.91893853320467274 + (x - 0.5) * log(t) - t + log(sum);
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double value = d;
	for (int k = 1; k <= 500; k++) {
		double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
		double odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
		for (int half = 0; half < 2; half++) {
			double term = half ? odd : even;
			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			value *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return value;
}

/* Regularised incomplete beta function. */
static double beta_share(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double front =
	        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ht_student_t_sf(double t, double df)
{
	double half = isinf(t) ? 0 : beta_share(df / (df + t * t), df / 2, 0.5) / 2;
	return t < 0 ? 1 - half : half;
}

double ht_student_quantile(double p, double df)
{
	double low = 0, high = 1;
	if (p > 0.5)
		return -ht_student_quantile(1 - p, df);
	while (ht_student_t_sf(high, df) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (middle <= low || middle >= high)
			break;
		if (ht_student_t_sf(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double ht_gap_chance(const struct ht_gap *gap)
{
	if (!(gap->df > 0) || gap->mean == 0)
		return 1;
	if (!(gap->error > 0))
		return 0;
	return 2 * ht_student_t_sf(fabs(gap->mean) / gap->error, gap->df);
}

double ht_gap_reach(const struct ht_gap *gap, double p)
{
	return gap->df > 0 ? gap->error * ht_student_quantile(p, gap->df) : NAN;
}

double ht_false_discovery_limit(double *chances, size_t n, double false_share)
{
	ht_values_sort(chances, n);
	for (size_t i = n; i-- > 0;)
		if (chances[i] <= false_share * (double)(i + 1) / (double)n)
			return chances[i];
	return -1;
}
