/*
 * check_loops.c - see check_loops.h.
 */
#define HT_CHECK_LOOPS_NAME ht_check_loops_any
#include "store/check_loops.h"

const struct ht_check_loops *ht_check_loops(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return &ht_check_loops_avx2;
#endif
	return &ht_check_loops_any;
}
