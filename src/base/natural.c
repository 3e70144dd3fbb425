/* SPDX-License-Identifier: Apache-2.0 */
/*
 * natural.c - see natural.h.
 */
#include "base/natural.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Natural order puts a / before everything else, so that a directory's files stay together. */
static int rank_of_char(char c)
{
	return c == '/' ? 0 : (unsigned char)c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int ht_natural_compare(const char *left, const char *right)
{
	const char *a = left, *b = right;
	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			while (*a == '0')
				a++;
			while (*b == '0')
				b++;
			size_t n_a = strspn(a, "0123456789"), n_b = strspn(b, "0123456789");
			if (n_a != n_b)
				return n_a < n_b ? -1 : 1;
			int order = strncmp(a, b, n_a);
			if (order)
				return order;
			a += n_a;
			b += n_b;
		} else if (*a != *b) {
			return rank_of_char(*a) - rank_of_char(*b);
		} else {
			a++;
			b++;
		}
	}
	return *a ? 1 : *b ? -1 : strcmp(left, right);
}

int ht_natural_compare_names(const void *left, const void *right)
{
	return ht_natural_compare(*(const char *const *)left, *(const char *const *)right);
}
