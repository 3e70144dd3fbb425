/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_loops.c - see check_loops.h.
 */
#define HT_CHECK_LOOPS_NAME ht_check_loops_any
#include "store/check_loops.h"

#include "base/cpu.h"

const struct ht_check_loops *ht_check_loops(void)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return &ht_check_loops_avx2;
#endif
	return &ht_check_loops_any;
}
