/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_test.c - what is packed is read back, whatever bits, zeros and decimals the values of a block have.
 */
#include "store/args.h"
#include "store/bit_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

static uint64_t random_bits(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Pack copies of the values and read them back; the words behind those of the block stay as they are. */
static struct ht_pack_plan pack(const int64_t *values, unsigned n, uint8_t scale, uint64_t *words)
{
	const uint64_t untouched = 0x5a5a5a5a5a5a5a5au;
	int64_t copies[HT_PACK_VALUES];
	struct ht_pack_plan plan;
	memcpy(copies, values, n * sizeof *values);
	ht_pack_plan(copies, n, scale, &plan);
	assert_true(plan.n_words <= HT_PACK_VALUES + 1 + HT_PACK_MASKS);
	for (size_t i = 0; i <= plan.n_words; i++)
		words[i] = untouched;
	if (plan.n_words)
		ht_pack_write(&plan, copies, words);
	assert_int_equal(words[plan.n_words], untouched);
	return plan;
}

static void check(const int64_t *values, unsigned n)
{
	uint64_t words[HT_PACK_VALUES + 2 + HT_PACK_MASKS];
	struct ht_pack_plan plan = pack(values, n, 0, words);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(ht_pack_i64(&plan.block, words, i), values[i]);
}

/* The loops for this CPU and for every one say the same of a block. */
static void loops_agree(void **state)
{
	uint64_t seed = 99, values[HT_PACK_VALUES], any[2], all[2], masks[2][HT_PACK_MASKS];
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < HT_PACK_VALUES; i++)
			values[i] = random_bits(&seed) % (1 + round % 5) ? 0 : random_bits(&seed);
		const struct ht_pack_loops *loops[2] = { &ht_pack_loops_any, ht_pack_loops() };
		for (unsigned k = 0; k < 2; k++) {
			loops[k]->measure(values, &any[k], &all[k]);
			loops[k]->mark(values, masks[k]);
		}
		assert_true(any[0] == any[1] && all[0] == all[1]);
		assert_memory_equal(masks[0], masks[1], sizeof masks[0]);
		for (unsigned i = 0; i < HT_PACK_VALUES; i++) {
			assert_int_equal(masks[0][i / 64] >> i % 64 & 1, values[i] != 0);
			assert_true((values[i] & ~any[0]) == 0 && (all[0] & ~values[i]) == 0);
		}
	}
}

static const unsigned counts[] = { 1, 2, 3, 4, 5, 8, 12, 63, 64, 65, 96, 127, 128, 130, 200, 255,
	256 };

static void any_bits(void **state)
{
	uint64_t seed = 88172645463325252u;
	int64_t values[HT_PACK_VALUES];
	(void)state;
	for (unsigned n_bits = 0; n_bits <= 64; n_bits++)
		for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
			uint64_t front = n_bits < 64 ? random_bits(&seed) << n_bits : 0;
			for (unsigned i = 0; i < counts[k]; i++) {
				uint64_t own = n_bits ? random_bits(&seed) >> (64 - n_bits) : 0;
				values[i] = (int64_t)(front | own);
			}
			check(values, counts[k]);
		}
}

static void many_zeros(void **state)
{
	uint64_t seed = 1234567u;
	int64_t values[HT_PACK_VALUES];
	(void)state;
	for (unsigned n_bits = 1; n_bits <= 64; n_bits++)
		for (unsigned one_of = 1; one_of <= 64; one_of *= 2)
			for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
				for (unsigned i = 0; i < counts[k]; i++)
					values[i] = random_bits(&seed) % one_of
					                    ? 0
					                    : (int64_t)(random_bits(&seed) >>
					                                (64 - n_bits));
				check(values, counts[k]);
			}
}

/* A block that is mostly zeros takes less room than one that is not. */
static void zeros_take_no_room(void **state)
{
	uint64_t words[HT_PACK_VALUES + 2 + HT_PACK_MASKS];
	int64_t values[HT_PACK_VALUES] = { 0 };
	(void)state;
	for (unsigned i = 7; i < HT_PACK_VALUES; i += 8)
		values[i] = 1000000 + (int64_t)i;
	struct ht_pack_plan plan = pack(values, HT_PACK_VALUES, 0, words);
	assert_true(plan.is_sparse);
	assert_int_equal(plan.n_words, 1 + HT_PACK_MASKS + (32 * 20 + 63) / 64);
	check(values, HT_PACK_VALUES);
}

static void zeros_behind_decimals_go(void **state)
{
	uint64_t words[HT_PACK_VALUES + 2 + HT_PACK_MASKS];
	int64_t values[3] = { 31600, 200, 0 };
	(void)state;
	struct ht_pack_plan plan = pack(values, 3, 3, words);
	assert_int_equal(plan.block.scale, 1);
	assert_true(ht_pack_f64(&plan.block, words, 0) == 31.6);
	assert_true(ht_pack_f64(&plan.block, words, 1) == 0.2);
	assert_true(ht_pack_f64(&plan.block, words, 2) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_agree),
		cmocka_unit_test(any_bits),
		cmocka_unit_test(many_zeros),
		cmocka_unit_test(zeros_take_no_room),
		cmocka_unit_test(zeros_behind_decimals_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
