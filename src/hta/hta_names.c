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

static bool is_memory(const char *name)
{
	static const char *const prefixes[] = { "Memcpy", "Memset", "hipMemcpy", "hipMemset",
		"dma" };
	return starts_any(name, prefixes, HT_COUNT(prefixes));
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

enum ht_hta_type ht_hta_type(const char *name)
{
	if (is_communication(name))
		return HT_HTA_COMMUNICATION;
	if (is_memory(name))
		return HT_HTA_MEMORY;
	return is_not_computation(name) ? HT_HTA_OTHER : HT_HTA_COMPUTATION;
}

const char *ht_hta_type_name(enum ht_hta_type type)
{
	static const char *const names[HT_HTA_N_TYPES] = { "COMPUTATION", "COMMUNICATION", "MEMORY",
		"OTHER" };
	return names[type];
}

const char *ht_type_word(enum ht_hta_type type, bool hta)
{
	static const char *const words[HT_HTA_N_TYPES] = { "compute", "communication", "memory",
		"other" };
	return hta ? ht_hta_type_name(type) : words[type];
}

enum ht_hta_type ht_hta_type_of_class(enum ht_class class_)
{
	switch (class_) {
	case HT_CLASS_COMPUTE: return HT_HTA_COMPUTATION;
	case HT_CLASS_COMM: return HT_HTA_COMMUNICATION;
	case HT_CLASS_MEMCPY:
	case HT_CLASS_MEMSET: return HT_HTA_MEMORY;
	default: return HT_HTA_OTHER;
	}
}

const char *ht_hta_memory_kind(struct ht_arena *arena, const char *name)
{
	if (starts(name, "Memset"))
		return "Memset";
	if (!starts(name, "Memcpy"))
		return "Memcpy Unknown";
	return ht_arena_strndup(arena, name, strnlen(name, strlen("Memcpy DtoH")));
}

/* A closing bracket takes the output back to before its opening one, or to nothing when there is
 * none: HTA's rule. */
static size_t take_back(const char *out, size_t n, char open)
{
	while (n && out[n - 1] != open)
		n--;
	return n ? n - 1 : 0;
}

const char *ht_hta_shorten_name(struct ht_arena *arena, const char *name)
{
	if (is_memory(name) || !strpbrk(name, "<("))
		return name;
	size_t length = strlen(name), n = 0;
	char *out = ht_arena_alloc(arena, length + 1);
	if (!out)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '-' && name[i + 1] == '>')
			i++;
		else if (name[i] == '>')
			n = take_back(out, n, '<');
		else if (name[i] == ')')
			n = take_back(out, n, '(');
		else
			out[n++] = name[i];
	}
	out[n] = '\0';
	char *space = strrchr(out, ' ');
	return space ? space + 1 : out;
}

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

bool ht_hta_is_gpu_sync(const char *name)
{
	return !strcmp(name, "Event Sync") || !strcmp(name, "Context Sync");
}
