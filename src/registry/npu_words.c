/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_words.c - see npu_words.h.
 */
#include "registry/npu_words.h"

void ht_npu_words_apply(ht_table *table)
{
#define NPU_WORD(from, to) { from, to },
	static const struct ht_reword words[] = {
#include "registry/npu_words.def"
	};
#undef NPU_WORD
	static const struct ht_reword labels[] = { { "gpu", "npu" }, { "tc", "ai_core" },
		{ "tensor_cores", "ai_cores" }, { "tensor_core", "ai_core" } };
	ht_table_reword(table, words, HT_COUNT(words));
	ht_table_reword_labels(table, labels, HT_COUNT(labels));
}
