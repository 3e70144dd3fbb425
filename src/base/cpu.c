/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c - see cpu.h.
 *
 * __builtin_cpu_supports needs a table in the compiler's own library, which not every toolchain has; the
 * instruction behind it is everywhere.
 */
#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <pthread.h>
#include <stdint.h>

static bool has_avx2;

static void look(void)
{
	unsigned a, b, c, d;
	const unsigned wanted = bit_PCLMUL | bit_POPCNT | bit_OSXSAVE | bit_AVX;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & wanted) != wanted)
		return;
	uint32_t state, high;
	__asm__ volatile("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
	const uint32_t registers = 2 | 4; /* SSE and AVX are saved when threads change */
	if ((state & registers) != registers || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return;
	has_avx2 = (b & bit_AVX2) && (b & bit_BMI);
}

bool ht_cpu_has_avx2(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, look);
	return has_avx2;
}
#else
bool ht_cpu_has_avx2(void)
{
	return false;
}
#endif
