/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_snapshot.c - any bytes as a memory snapshot: pickle, JSON or page.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader("memory-snapshot", data, size);
	return 0;
}
