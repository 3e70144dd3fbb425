/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob_test.c - all short patterns and texts against the definition.
 */
#include "base/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static bool by_definition(const char *pattern, const char *text)
{
	if (*pattern == '*')
		return by_definition(pattern + 1, text) ||
		       (*text && by_definition(pattern, text + 1));
	if (!*pattern || !*text)
		return !*pattern && !*text;
	return (*pattern == '?' || *pattern == *text) && by_definition(pattern + 1, text + 1);
}

/* The i-th text over an alphabet: all of none, one, two letters and so on. False: it is longer than max. */
static bool spell(unsigned i, const char *letters, size_t max, char *ret)
{
	size_t n = 0;
	unsigned base = (unsigned)strlen(letters);
	for (; i; i = (i - 1) / base) {
		if (n == max)
			return false;
		ret[n++] = letters[(i - 1) % base];
	}
	ret[n] = '\0';
	return true;
}

static void test_all_short_ones(void **state)
{
	char pattern[8], text[8];
	(void)state;
	for (unsigned p = 0; spell(p, "*?ab", 5, pattern); p++)
		for (unsigned t = 0; spell(t, "ab", 5, text); t++)
			if (ht_glob_matches(pattern, text) != by_definition(pattern, text))
				fail_msg("%s and %s", pattern, text);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(ht_glob_matches("*H100*80GB*", "NVIDIA H100 PCIe 80GB"));
	assert_true(ht_glob_matches("*a?c*d", "abbabcd"));
	assert_false(ht_glob_matches("*a?c*d", "abbabc"));
	assert_false(ht_glob_matches("aten::mm", "aten::mm_"));
	/* bytes beyond ASCII are bytes */
	assert_true(ht_glob_matches("*\xc3\xa9*", "caf\xc3\xa9s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_short_ones),
		cmocka_unit_test(test_names) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
