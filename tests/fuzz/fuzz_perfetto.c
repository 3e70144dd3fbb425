/*
 * fuzz_perfetto.c - any bytes as a Perfetto trace.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read_twice("perfetto", data, size);
	return 0;
}
