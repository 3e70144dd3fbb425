/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recover_test.c - the corpus of the fuzz target for what killed programs leave, as an ordinary test.
 */
#include "../fuzz/fuzz_recover.c"
#include "../fuzz/replay.h"

static void replay_recover(void **state)
{
	(void)state;
	replay("recover", LLVMFuzzerTestOneInput);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_recover),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
