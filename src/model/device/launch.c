/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - see launch.h.
 */
#include "model/device/launch.h"
#include "base/checked.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

bool ht_is_kernel_launch_name(const char *name)
{
	if (strncmp(name, "runFunction", 11) == 0)
		return true;
	if (strncmp(name, "cu", 2) != 0 && strncmp(name, "hip", 3) != 0)
		return false;
	const char *launch = strstr(name, "Launch");
	return launch && strstr(launch, "Kernel");
}

bool ht_is_wait_name(const char *name)
{
	return strstr(name, "Synchronize") || strstr(name, "synchronize") ||
	       !strcmp(name, "urQueueFinish") || !strcmp(name, "urEventWait");
}

bool ht_may_wait_for_device(const char *name)
{
	return ht_is_wait_name(name) || strstr(name, "Memcpy");
}

bool ht_is_counted_kernel(const struct ht_trace *t, const struct ht_gpu *gpu)
{
	/* copies that run as kernels are copies here as everywhere */
	bool works = gpu->class_ == HT_CLASS_COMPUTE || gpu->class_ == HT_CLASS_COMM;
	return t->kind[gpu->row] == HT_KIND_KERNEL && works;
}

void ht_put_track(ht_table *table, size_t column, const struct ht_trace *trace, uint32_t row)
{
	const struct ht_track *track = &trace->tracks[trace->track[row]];
	if (track->pid_type == HT_ID_INT)
		ht_table_put_i64(table, column, track->pid);
	else
		ht_table_put_null(table, column);
	if (track->tid_type == HT_ID_INT)
		ht_table_put_i64(table, column + 1, track->tid);
	else
		ht_table_put_null(table, column + 1);
}

void ht_put_index(ht_table *table, size_t column, int64_t index)
{
	if (index >= 0)
		ht_table_put_i64(table, column, index);
	else
		ht_table_put_null(table, column);
}

uint32_t ht_host_place(const struct ht_trace *t, const struct ht_gpu *gpu)
{
	bool apart = t->meta->dialect == HT_DIALECT_ASCEND && gpu->op != HT_NONE &&
	             (gpu->launch == HT_NONE || t->track[gpu->launch] != t->track[gpu->op]);
	return apart ? gpu->op : gpu->launch;
}
