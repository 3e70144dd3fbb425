/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_index.c - see csv_index.h: the index for every processor, and the choice between the two.
 */
#define HT_CSV_INDEX ht_csv_index_base
#include "read/csv_index.inc.h"

#include "base/cpu.h"

ht_csv_index_fn ht_csv_index_best(void)
{
#if defined(__x86_64__)
	if (ht_cpu_has_avx2())
		return ht_csv_index_avx2;
#endif
	return ht_csv_index_base;
}
