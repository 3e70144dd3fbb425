/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_words.h - tables about NPUs speak of NPUs, in the words of their vendor.
 */
#ifndef HT_REGISTRY_NPU_WORDS_H
#define HT_REGISTRY_NPU_WORDS_H

#include "table/table.h"

/* After the last row and note. */
void ht_npu_words_apply(ht_table *table);

#endif
