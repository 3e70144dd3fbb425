/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_names.c - see hta_names.h.
 */
#include "hta/hta_names.h"

#include <string.h>

static bool starts(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static bool starts_any(const char *name, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (starts(name, prefixes[i]))
			return true;
	}
	return false;
}

static bool contains_any(const char *name, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(name, parts[i]))
			return true;
	}
	return false;
}

static bool equals_any(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

static bool is_communication(const char *name)
{
	static const char *const prefixes[] = { "nccl", "hip", "hccl" };
	return starts_any(name, prefixes, HT_COUNT(prefixes)) || strstr(name, "ncclKernel");
}

static bool is_cuda_launch(const char *name)
{
	return starts(name, "cuda") && strstr(name + strlen("cuda"), "LaunchKernel");
}

static bool is_not_computation(const char *name)
{
	static const char *const parts[] = { "Memcpy", "Memset", "dma", "Sync" };
	static const char *const prefixes[] = { "nccl", "Stream Wait Event", "runFunction", "hip",
		"job_exe", "packet", "pe_exe", "cpum_exe_subgraph", "hccl",
		"collective_subgraph_execution" };
	return contains_any(name, parts, HT_COUNT(parts)) ||
	       starts_any(name, prefixes, HT_COUNT(prefixes)) || is_cuda_launch(name);
}

enum ht_work_type ht_hta_type(const char *name)
{
	if (is_communication(name))
		return HT_WORK_COMM;
	if (ht_name_is_memory(name))
		return HT_WORK_MEMORY;
	return is_not_computation(name) ? HT_WORK_OTHER : HT_WORK_COMPUTE;
}

const char *const ht_hta_type_words[HT_WORK_N_TYPES] = { "COMPUTATION", "COMMUNICATION", "MEMORY",
	"OTHER" };

bool ht_hta_is_launch(const char *name)
{
	static const char *const names[] = { "cudaLaunchKernel", "cudaLaunchKernelExC",
		"cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync", "cudaMemsetAsync",
		"hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
		"hipMemcpyWithStream", "runFunction - job_prep_and_submit_for_execution" };
	return equals_any(name, names, HT_COUNT(names));
}

bool ht_hta_is_stats_launch(const char *name, bool memory)
{
	static const char *const kernels[] = { "cudaLaunchKernel", "cudaLaunchKernelExC",
		"runFunction - job_prep_and_submit_for_execution" };
	static const char *const copies[] = { "cudaMemsetAsync", "cudaMemcpyAsync" };
	return equals_any(name, kernels, HT_COUNT(kernels)) ||
	       (memory && equals_any(name, copies, HT_COUNT(copies)));
}

bool ht_hta_is_wait(const char *name)
{
	static const char *const names[] = { "cudaDeviceSynchronize", "cudaStreamSynchronize",
		"cudaEventQuery", "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync" };
	return equals_any(name, names, HT_COUNT(names));
}

bool ht_hta_is_gpu_sync(const char *name)
{
	return !strcmp(name, "Event Sync") || !strcmp(name, "Context Sync");
}
