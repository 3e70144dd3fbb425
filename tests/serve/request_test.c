/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_test.c - the corpus of the fuzz target of requests as an ordinary test; the others are in tests/fuzz/replay_test.c.
 */
#include "../fuzz/fuzz_request.c"

#include "../fuzz/replay.h"

static void replay_request(void **state)
{
	(void)state;
	replay("request", LLVMFuzzerTestOneInput);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(replay_request) };
	fuzz_spares_nothing = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
