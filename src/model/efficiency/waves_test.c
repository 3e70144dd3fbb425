/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waves_test.c - blocks in waves, on an SM of 2048 threads, 65536 registers and 233472 bytes of shared memory, 132 of them.
 */
#include "model/efficiency/waves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>

static const struct ht_sm_limits h200 = { 132, 2048, 65536, 233472, 32 };

static double loss(double blocks, int64_t threads, int64_t registers, int64_t shared_bytes)
{
	const struct ht_launch_shape shape = { blocks, threads, registers, shared_bytes };
	return ht_wave_loss(&h200, &shape);
}

static void one_wave_loses_sms_without_blocks(void **state)
{
	(void)state;
	assert_true(fabs(loss(33, 128, 32, 0) - 0.75) < 1e-12);
	assert_true(loss(132, 384, 168, 200000) == 0);
	/* 200 blocks of 128 threads fit at once, though not evenly */
	assert_true(loss(200, 128, 32, 0) == 0);
}

/* 384 threads of 168 registers: 12 warps of 5376, 65536 / 5376 = 12 warps in all: one block per SM. */
static void the_last_wave_is_partly_empty(void **state)
{
	(void)state;
	assert_true(fabs(loss(133, 384, 168, 0) - (1 - 133.0 / 264)) < 1e-12);
	assert_true(loss(264, 384, 168, 0) == 0);
	/* 100 kB of shared memory: two blocks per SM, 264 slots; 300 of 528 are used */
	assert_true(fabs(loss(300, 128, 32, 100000) - (1 - 300.0 / 528)) < 1e-12);
	/* 1024 threads: two blocks per SM by threads */
	assert_true(fabs(loss(265, 1024, 16, 0) - (1 - 265.0 / 528)) < 1e-12);
}

static void unknown_stays_unknown(void **state)
{
	(void)state;
	assert_true(isnan(loss(0, 128, 32, 0)));
	assert_true(isnan(loss(500, 0, 32, 0)));
	const struct ht_sm_limits none = { 0 };
	const struct ht_launch_shape shape = { 500, 128, 32, 0 };
	assert_true(isnan(ht_wave_loss(&none, &shape)));
	assert_true(isnan(loss(500, INT64_MAX, INT64_MAX, INT64_MAX)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_wave_loses_sms_without_blocks),
		cmocka_unit_test(the_last_wave_is_partly_empty),
		cmocka_unit_test(unknown_stays_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
