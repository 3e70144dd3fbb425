/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_test.c - hashes that somebody chose to be alike do not meet in one place of a table.
 */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { N = 20000, CAP = 65536, MAX_STEPS = 4 * N };

/* Places looked at while all hashes with i at a bit, and the same number in the other bits, are put in. */
static size_t steps_of(unsigned bit)
{
	static uint64_t slots[CAP];
	size_t n_steps = 0;
	memset(slots, 0, sizeof slots);
	for (uint64_t i = 1; i <= N; i++) {
		uint64_t hash = i << bit | i >> (64 - bit);
		slots[HT_PROBE(at, CAP, hash, (n_steps++, !slots[at]))] = hash;
	}
	return n_steps;
}

static void alike_in_some_bits(void **state)
{
	(void)state;
	for (unsigned bit = 1; bit < 64; bit++)
		assert_in_range(steps_of(bit), N, MAX_STEPS);
}

static void another_salt_another_place(void **state)
{
	size_t n_same = 0;
	(void)state;
	for (uint64_t hash = 0; hash < N; hash++)
		n_same += (ht_hash_place(hash, 0x1234567890ABCDEF) & (CAP - 1)) ==
		          (ht_hash_place(hash, 0x1234567890ABCDEE) & (CAP - 1));
	assert_in_range(n_same, 0, N / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_in_some_bits),
		cmocka_unit_test(another_salt_another_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
