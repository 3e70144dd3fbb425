/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_read.c - any bytes as a trace file: the scanner, the tolerant reader, links, info, health.
 *
 * One thread and a whole file must give the store that two threads and small chunks give.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace("", 0, data, size);
	return 0;
}
