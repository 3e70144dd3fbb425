/*
 * launch.c - launch calls by name, for compatibility and for traces without kernels.
 */
#include "analysis/common/launch.h"

#include <string.h>

static const char *const queue_names[] = {
	"cudaLaunchKernel",
	"cudaLaunchKernelExC",
	"cuLaunchKernel",
	"cuLaunchKernelEx",
	"cudaMemcpyAsync",
	"cudaMemsetAsync",
	"hipLaunchKernel",
	"hipExtModuleLaunchKernel",
	"hipMemcpyAsync",
	"hipMemsetAsync",
	"hipMemcpyWithStream",
	"runFunction - job_prep_and_submit_for_execution",
};

static const char *const stats_names[] = {
	"cudaLaunchKernel",
	"cudaLaunchKernelExC",
	"runFunction - job_prep_and_submit_for_execution",
	"cudaMemsetAsync",
	"cudaMemcpyAsync",
};
enum { N_STATS_MEMORY = 2 };

static struct ht_name_set look_up(const struct ht_trace *trace, const char *const *names, size_t n)
{
	struct ht_name_set set = { .n = 0 };
	for (size_t i = 0; i < n; i++) {
		uint32_t id = ht_str_find(trace, names[i]);
		if (id != HT_NO_STR)
			set.ids[set.n++] = id;
	}
	return set;
}

struct ht_name_set ht_launch_names(const struct ht_trace *trace)
{
	return look_up(trace, queue_names, HT_COUNT(queue_names));
}

struct ht_name_set ht_launch_stats_names(const struct ht_trace *trace, bool include_memory)
{
	size_t n = HT_COUNT(stats_names) - (include_memory ? 0 : N_STATS_MEMORY);
	return look_up(trace, stats_names, n);
}

bool ht_name_set_has(const struct ht_name_set *set, uint32_t name)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->ids[i] == name)
			return true;
	return false;
}

bool ht_is_kernel_launch_name(const char *name)
{
	if (strncmp(name, "runFunction", 11) == 0)
		return true;
	if (strncmp(name, "cu", 2) != 0 && strncmp(name, "hip", 3) != 0)
		return false;
	const char *launch = strstr(name, "Launch");
	return launch && strstr(launch, "Kernel");
}

void ht_put_track(ht_table *table, const struct ht_trace *trace, uint32_t row)
{
	const struct ht_track *track = &trace->tracks[trace->track[row]];
	if (track->pid_type == HT_ID_INT)
		ht_table_put_i64(table, track->pid);
	else
		ht_table_put_null(table);
	if (track->tid_type == HT_ID_INT)
		ht_table_put_i64(table, track->tid);
	else
		ht_table_put_null(table);
}
