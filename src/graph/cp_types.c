/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_types.c - see cp_types.h.
 */
#include "graph/cp_types.h"

#include "model/policy.h"
#include "model/rows/selection.h"
#include "base/list.h"

#include <string.h>

const char *ht_cp_type_name(enum ht_cp_type type)
{
	static const char *const names[HT_CP_N_TYPES] = {
		[HT_CP_OPERATOR] = "critical_path_operator",
		[HT_CP_DEPENDENCY] = "critical_path_dependency",
		[HT_CP_LAUNCH_DELAY] = "critical_path_kernel_launch_delay",
		[HT_CP_KERNEL_DELAY] = "critical_path_kernel_kernel_delay",
		[HT_CP_SYNC] = "critical_path_sync_dependency",
	};
	return names[type];
}

const char *ht_cp_bound_name(enum ht_cp_bound bound)
{
	static const char *const names[HT_CP_N_BOUNDS] = {
		[HT_CP_BOUND_NONE] = "",
		[HT_CP_BOUND_CPU] = "cpu_bound",
		[HT_CP_BOUND_DATA_LOADING] = "data_loading",
		[HT_CP_BOUND_GPU_COMMUNICATION] = "gpu_communication_bound",
		[HT_CP_BOUND_GPU_COMPUTE] = "gpu_compute_bound",
		[HT_CP_BOUND_GPU_MEMORY] = "gpu_memory_bound",
		[HT_CP_BOUND_KERNEL_DELAY] = "gpu_kernel_kernel_overhead",
		[HT_CP_BOUND_LAUNCH_DELAY] = "gpu_kernel_launch_overhead",
		[HT_CP_BOUND_UNRECORDED] = "host_unrecorded",
		[HT_CP_BOUND_QUEUED] = "queued_before_recording",
	};
	return names[bound];
}

enum ht_cp_bound ht_cp_bound_of_class(uint8_t class_)
{
	switch (class_) {
	case HT_CLASS_COMM: return HT_CP_BOUND_GPU_COMMUNICATION;
	case HT_CLASS_MEMCPY:
	case HT_CLASS_MEMSET: return HT_CP_BOUND_GPU_MEMORY;
	default: return HT_CP_BOUND_GPU_COMPUTE;
	}
}

static enum ht_status check_instance(struct ht_run *run, const char *text)
{
	struct ht_list list;
	HT_TRY(ht_list_parse(run->ctx, "--instance", text, &list));
	bool negative = false;
	for (size_t i = 0; i < list.ranges.n; i++)
		negative |= ((struct ht_list_range *)list.ranges.data)[i].first < 0;
	ht_list_done(run->ctx, &list);
	if (negative)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give numbers from 0: 0,2-3",
		        "instance '%s' is below 0", text);
	return HT_OK;
}

struct ht_cp_options ht_cp_options_default(const struct ht_run *run)
{
	struct ht_cp_options options = { .annotation = run->annotation,
		/* a path by other rules knows no loaders by name */
		.data_load = run->policy->put_path ? NULL : HT_CP_DATA_LOADERS,
		.tolerance_ns = HT_CP_TOLERANCE_NS };
	if (ht_steps_are_named(run->step))
		options.step = run->step;
	return options;
}

enum ht_status ht_cp_options_read(struct ht_run *run, struct ht_cp_options *ret_options)
{
	struct ht_cp_options options = ht_cp_options_default(run);
	options.instance = ht_run_str(run, "instance");
	options.tolerance_ns = ht_run_duration_ns(run, "tolerance");
	/* another definition of the path knows only the data loaders that are named to it */
	if (ht_run_str(run, "data-load-events") || run->policy->put_path)
		options.data_load = ht_run_str(run, "data-load-events");
	/* a week either way: sums with times stay in range */
	if (options.tolerance_ns > HT_MAX_DURATION_NS)
		options.tolerance_ns = HT_MAX_DURATION_NS;
	if (options.tolerance_ns < 0)
		options.tolerance_ns = 0;
	if (ht_run_str(run, "zero-weight-launch-edges"))
		options.launch_edges = ht_run_bool(run, "zero-weight-launch-edges");
	if (options.instance)
		HT_TRY(check_instance(run, options.instance));
	*ret_options = options;
	return HT_OK;
}
