/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_test.c - patterns that are, that are none, and that would cost too much.
 */
#include "base/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static bool compiles(const char *pattern)
{
	regex_t regex;
	char why[HT_PATTERN_WHY] = "";
	bool done = ht_pattern_compile(pattern, &regex, why) == HT_OK;
	assert_true(done || why[0]);
	if (done)
		regfree(&regex);
	return done;
}

static void takes_what_people_write(void **state)
{
	static const char *const good[] = { "nccl", "^aten::(add|mul)_?$", "[]a+++]+x", "(a+b)+",
		"\\(blocks\\.[0-9]+\\)", "a{3,5}", "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+",
		"[^]]*", "^(a|b)$|^c+$|(^|:)d($|:)", "\\$+", "a.*?b", "a.*+", "(a?b?)*(c*|d)+",
		"(x|)*" };
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(compiles(good[i]));
}

static void refuses_what_explodes(void **state)
{
	char nested[256] = "";
	(void)state;
	for (int i = 0; i < 30; i++)
		strcat(nested, "(");
	strcat(nested, "a");
	for (int i = 0; i < 30; i++)
		strcat(nested, "+)");
	static const char *const bad[] = { "b++++++++++++++++++++++++++++++++", "(a)\\1",
		"a{255}{255}", "((a{50}){50}){50}", "a{99999999999999999999}", "(", "[a", "*(",
		/* half a minute and more of the C library */
		"((^||$)**+((^|$)*a|(^)*^))*", "((^|())(^|$)*)**((((^)*|($)*^a|^))^|$)+**+)*",
		"((($)||^)$((a?||$^|)$(a*?*+|^^$^a|(()))?())$)^((()**+)**+)*", "(a\\b)+",
		/* the same without anchors */
		"x????????????????????++++", "(((((((x|)|)|)|)|)+)+)+", "((|a)?b?+){0,20}",
		"((x{0,500})+)+" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(compiles(bad[i]));
	assert_false(compiles(nested));
	char deep[600] = "";
	memset(deep, '(', 300);
	assert_false(compiles(deep));
	char *at = deep;
	memset(at, 'a', sizeof deep - 1);
	assert_true(compiles(deep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_people_write),
		cmocka_unit_test(refuses_what_explodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
