/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_test.c - chains keep both ends, however they are put together.
 */
#include "model/rows/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The rows first, first + 1, ... pushed one by one. */
static struct ht_chain pushed(uint32_t first, uint32_t n)
{
	struct ht_chain chain = { 0 };
	for (uint32_t i = 0; i < n; i++)
		chain = ht_chain_push(&chain, first + i);
	return chain;
}

static void keeps_both_ends(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++) {
		struct ht_chain chain = pushed(100, n);
		assert_int_equal(chain.n, n);
		uint32_t kept = n < 2 * HT_CHAIN_HALF ? n : 2 * HT_CHAIN_HALF;
		for (uint32_t i = 0; i < kept; i++) {
			bool early = n <= 2 * HT_CHAIN_HALF || i < HT_CHAIN_HALF;
			assert_int_equal(chain.rows[i], early ? 100 + i : 100 + n - (kept - i));
		}
		if (n)
			assert_int_equal(ht_chain_last(&chain), 100 + n - 1);
	}
}

static void joining_is_pushing(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++)
		for (uint32_t m = 0; m < 40; m++) {
			struct ht_chain outer = pushed(0, n), inner = pushed(n, m);
			struct ht_chain joined = ht_chain_join(&outer, &inner),
			                all = pushed(0, n + m);
			assert_memory_equal(&joined, &all, sizeof all);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(keeps_both_ends),
		cmocka_unit_test(joining_is_pushing) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
