/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan_avx2.c - the scanner with 32-byte blocks; built for x86-64 only.
 */
#define HT_SIMD_AVX2
#define HT_SCAN_EVENT ht_scan_event_avx2
#include "read/event_scan.inc.h"
