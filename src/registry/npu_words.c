/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_words.c - see npu_words.h.
 */
#include "registry/npu_words.h"

void ht_npu_words_apply(ht_table *table)
{
	/* of sentences; none is longer than what it stands for */
	static const struct ht_reword words[] = {
		{ "GPU", "NPU" },
		{ "Tensor Core", "AI Core" },
		{ "tensor core", "AI Core" },
		{ "CUDA graph", "NPU graph" },
		{ "CUDA call", "CANN call" },
		{ "ProfilerActivity.CUDA", "ProfilerActivity.NPU" },
		{ "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF" },
		{ "torch.cuda.", "torch.npu." },
		{ "NCCL", "HCCL" },
	};
	static const struct ht_reword labels[] = { { "gpu", "npu" }, { "tc", "ai_core" },
		{ "tensor_cores", "ai_cores" }, { "tensor_core", "ai_core" } };
	ht_table_reword(table, words, HT_COUNT(words));
	ht_table_reword_labels(table, labels, HT_COUNT(labels));
}
