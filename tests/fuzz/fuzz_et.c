/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_et.c - any bytes as the JSON of an execution trace: reading, lists, the linter, linking, every form that can be
 * written.
 *
 * JSON that was written from JSON is written the same again: the first time may repair, that is its job.
 */
#include "fuzz_et.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t i = 0;
	while (i < size &&
	        (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r'))
		i++;
	if (i < size && data[i] == '{')
		fuzz_et(data, size, true);
	return 0;
}
