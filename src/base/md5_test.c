/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md5_test.c - the examples of RFC 1321, and lengths around the end of a block.
 */
#include "base/md5.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void check(const char *text, const char *wanted)
{
	char found[33];
	ht_md5(text, strlen(text), found);
	assert_string_equal(found, wanted);
}

static void examples_of_the_rfc(void **state)
{
	(void)state;
	check("", "d41d8cd98f00b204e9800998ecf8427e");
	check("a", "0cc175b9c0f1b6a831c399e269772661");
	check("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
	check("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	        "d174ab98d277d9f5a5611c2c9f419d9f");
	check("12345678901234567890123456789012345678901234567890123456789012345678901234567890",
	        "57edf4a22be3c955ac49da2e2107b67a");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(examples_of_the_rfc) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
