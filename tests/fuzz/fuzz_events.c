/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_events.c - any bytes as the events of a Kineto file.
 *
 * A header stands before the input, so that each mutation lands inside traceEvents, and the dialect is
 * Kineto's with all its links and checks.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char header[] =
	        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 1}, \"traceEvents\": [\n";
	fuzz_trace(header, sizeof header - 1, data, size);
	return 0;
}
