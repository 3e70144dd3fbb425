/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typical_time.c - see typical_time.h.
 */
#include "model/device/typical_time.h"
#include "model/numbers/sampling.h"

#include <math.h>
#include <stdlib.h>

double ht_lower_quartile(double *values, size_t n)
{
	ht_values_sort(values, n);
	return values[(n - 1) / 4];
}

static int compare_calls(const void *left, const void *right)
{
	const struct ht_call *a = left, *b = right;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->dur_ns > b->dur_ns) - (a->dur_ns < b->dur_ns);
}

void ht_calls_sort(struct ht_call *calls, size_t n)
{
	if (n > 1)
		qsort(calls, n, sizeof *calls, compare_calls);
}

double ht_typical_by_place(
        const struct ht_call *calls, size_t n, size_t n_steps, size_t *firsts, double *values)
{
	size_t n_firsts = 0;
	double sum_ns = 0;
	if (n_steps < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (!i || calls[i].step != calls[i - 1].step)
			firsts[n_firsts++] = i;
	firsts[n_firsts] = n;
	for (size_t k = 0;; k++) {
		size_t n_values = 0;
		for (size_t i = 0; i < n_firsts; i++)
			if (firsts[i] + k < firsts[i + 1])
				values[n_values++] = (double)calls[firsts[i] + k].dur_ns;
		if (!n_values)
			return sum_ns;
		sum_ns += ht_lower_quartile(values, n_values) * (double)n_values / (double)n_steps;
	}
}

double ht_typical_by_half(const struct ht_call *calls, size_t n, size_t n_steps, double *values)
{
	size_t half = (n + 1) / 2;
	double sum_ns = 0;
	for (size_t i = 0; i < n; i++)
		values[i] = (double)calls[i].dur_ns;
	ht_values_sort(values, n);
	for (size_t i = 0; i < half; i++)
		sum_ns += values[i];
	return n ? sum_ns / (double)half * (double)n / (double)n_steps : 0;
}

double ht_typical_growth(const double ns[2][2])
{
	double grown = NAN;
	for (size_t way = 0; way < 2; way++)
		if (ns[way][0] > 0)
			grown = fmax(grown, ns[way][1] / ns[way][0] - 1);
	return grown;
}
