// SPDX-License-Identifier: Apache-2.0
// Words about GPUs in those of Ascend's NPUs, for texts that are not of a table: tables come in them (src/registry/npu_words.c).

const NPU: readonly [RegExp, string][] = [
  [/\bGPU(s?)\b/g, "NPU$1"],
  [/\b[Tt]ensor [Cc]ore/g, "AI Core"],
  [/\bCUDA graph/g, "NPU graph"],
  [/\bCUDA call/g, "CANN call"],
  [/\bProfilerActivity\.CUDA\b/g, "ProfilerActivity.NPU"],
  [/\bPYTORCH_CUDA_ALLOC_CONF\b/g, "PYTORCH_NPU_ALLOC_CONF"],
  [/\btorch\.cuda\b/g, "torch.npu"],
  [/\bNCCL\b/g, "HCCL"],
];

export const npuWords = (text: string): string => NPU.reduce((said, [from, to]) => said.replace(from, to), text);
