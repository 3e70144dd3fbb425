/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan_neon.c - the scanner with 16-byte blocks; built for arm64 only.
 */
#define HT_SIMD_NEON
#define HT_SCAN_EVENT ht_scan_event_neon
#include "read/event_scan.inc.h"
