/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_distance.c - how far a word is from the one that was probably meant; see holotrace.h.
 */
#include "holotrace.h"
#include "holotrace/own.h"

/* Words are shorter; longer ones are not compared. */
#define MAX_LENGTH 64

size_t ht_edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][MAX_LENGTH + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];
	if (n_a > MAX_LENGTH || n_b > MAX_LENGTH)
		return SIZE_MAX;
	for (size_t j = 0; j <= n_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			        before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		size_t *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[n_b];
}
