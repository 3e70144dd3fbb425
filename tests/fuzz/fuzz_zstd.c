/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_zstd.c - any bytes behind a zstd magic number: frames, damage, skippable parts.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	fuzz_trace(magic, sizeof magic, data, size);
	return 0;
}
