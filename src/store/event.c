/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - see event.h.
 */
#include "store/event.h"

#include <stddef.h>

const char *ht_kind_name(enum ht_kind kind)
{
	static const char *const names[HT_N_KINDS] = { "other", "cpu_op", "annotation", "python",
		"runtime", "driver", "kernel", "memcpy", "memset", "gpu_annotation", "sync",
		"cuda_event", "overhead", "flow", "memory", "instant", "counter", "metadata",
		"trace_span", "profiler_range", "async", "memory_timeline" };
	return (size_t)kind < HT_N_KINDS ? names[kind] : "other";
}

const char *ht_class_name(enum ht_class class_)
{
	static const char *const names[HT_N_CLASSES] = { "compute", "communication", "memcpy",
		"memset", "sync" };
	return (size_t)class_ < HT_N_CLASSES ? names[class_] : "compute";
}
