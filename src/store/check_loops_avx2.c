/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_loops_avx2.c - the loops of check_loops.h with AVX2.
 */
#define HT_CHECK_LOOPS_NAME ht_check_loops_avx2
#include "store/check_loops.h"
