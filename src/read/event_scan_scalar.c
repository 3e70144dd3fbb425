/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_scan_scalar.c - the scanner without SIMD: the twin that the others must agree with.
 */
#define HT_SCAN_EVENT ht_scan_event_scalar
#include "read/event_scan.inc.h"
