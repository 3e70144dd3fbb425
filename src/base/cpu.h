/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - what the processor can do, asked at run time.
 */
#ifndef HT_BASE_CPU_H
#define HT_BASE_CPU_H

#include <stdbool.h>

/* Whether files compiled as *_avx2.c may run: AVX2, BMI1, PCLMUL and POPCNT, and a system that keeps the wide
 * registers. Always false on other processors. */
bool ht_cpu_has_avx2(void);

#endif
