/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_index_avx2.c - the index with 32-byte registers; built for x86-64 only.
 */
#define HT_SIMD_AVX2
#define HT_CSV_INDEX ht_csv_index_avx2
#include "read/csv_index.inc.h"
