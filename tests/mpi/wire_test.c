/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_test.c - the corpus of the fuzz target for requests between processes, as an ordinary test.
 */
#include "../fuzz/fuzz_wire.c"
#include "../fuzz/replay.h"

static void replay_wire(void **state)
{
	(void)state;
	replay("wire", LLVMFuzzerTestOneInput);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_wire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
