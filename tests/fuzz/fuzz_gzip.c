/*
 * fuzz_gzip.c - any bytes behind a gzip header: inflate, damage, several members.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char header[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	fuzz_trace(header, sizeof header, data, size);
	return 0;
}
