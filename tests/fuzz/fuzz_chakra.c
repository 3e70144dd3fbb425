/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_chakra.c - any bytes as Chakra's messages: the same as for the JSON of an execution trace.
 */
#include "fuzz_et.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_et(data, size, false);
	return 0;
}
