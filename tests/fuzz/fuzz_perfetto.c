/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perfetto.c - any bytes as a Perfetto trace, but for texts: these may be lists of other files, devices among them.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_text = true;
	for (size_t i = 0; i < size; i++)
		is_text &= data[i] >= '\t';
	if (!is_text)
		fuzz_reader("perfetto", data, size);
	return 0;
}
