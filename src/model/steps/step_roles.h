/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_roles.h - the steps of a rank up to their last GPU work, and what each moment of them goes to.
 *
 * Bounds. A step begins with its host range, but not before the one before it has ended, and ends with the last GPU
 * work that calls inside its host range launched, so that steps never overlap. GPU work of before the first step that
 * still runs when it begins puts its start off, also where it was launched before the recording and is not in it. A trace without steps is one, number 0, over its operators; where
 * work names its step, that is from its first work to its last. Of several threads that have steps of their own those of the
 * one that launches most count; of several processes in one file the work that its process launched.
 * The length of such a range is TensorBoard's; step times (timed_steps.h) stand beside it.
 *
 * Roles. A moment goes to the first of: kernel, copy, set, communication, runtime or driver call, data loader, anything
 * else on the host, nothing; so the parts of a step add up to its length. A kernel is communication by its class, or
 * when its operator is (name_traits.h). Where kernels communicate, the CPU's calls that put them into the queue do not: they are
 * operators like others; those of Gloo, MPI and UCC communicate themselves.
 */
#ifndef HT_MODEL_STEPS_STEP_ROLES_H
#define HT_MODEL_STEPS_STEP_ROLES_H

#include "base/checked.h"
#include "model/rows/frame.h"
#include "model/numbers/interval.h"
#include "model/rows/name_traits.h"

struct ht_bound {
	int64_t number;
	int64_t start, end;          /* ns, the trace's own clock */
	int64_t host_end;            /* of what launches; end is that of what was launched */
	int64_t time_ns, latency_ns; /* timed_steps.h; 0 where the trace has no steps */
	bool is_first;
	uint32_t n_work; /* GPU activities that belong to it */
	uint32_t i_step; /* of the trace; HT_NONE: the whole trace */
};

struct ht_bounds {
	struct ht_bound *list; /* ascending, apart */
	size_t n;
	bool is_whole; /* the trace has no steps */
	bool is_named; /* it has none, but its work names some */
	bool is_all;   /* the run looks at the whole trace, steps or not */
};

enum ht_busy {
	HT_BUSY_KERNEL,
	HT_BUSY_MEMCPY,
	HT_BUSY_MEMSET,
	HT_BUSY_COMM,
	HT_BUSY_RUNTIME,
	HT_BUSY_LOADER,
	HT_BUSY_CPU,
	HT_BUSY_OTHER, /* nothing of the above */
	HT_N_BUSY
};

/* When a role is active, on any thread or stream: merged, hiding nothing. */
struct ht_busy_times {
	struct ht_interval *list[HT_BUSY_OTHER];
	size_t n[HT_BUSY_OTHER];
};

/* The time of a step; of a trace without steps how long it lasts. */
static inline int64_t ht_bound_ns(const struct ht_bound *bound)
{
	return bound->i_step == HT_NONE ? ht_sub_sat(bound->end, bound->start) : bound->time_ns;
}

/* How many processes have steps of their own, and a track of the one whose steps count (HT_NONE: no host row says). */
size_t ht_step_processes(const struct ht_trace *trace, uint32_t *ret_track);
/* Of the rank in hand; all of these have their memory in scratch. */
enum ht_status ht_bounds_make(struct ht_run *run, struct ht_bounds *ret_bounds) HT_MUST_USE;
/* Only the steps that the run chose stay. */
enum ht_status ht_bounds_choose(struct ht_run *run, struct ht_bounds *bounds) HT_MUST_USE;
/* Of the rows of a frame. */
enum ht_status ht_busy_make(struct ht_run *run, const struct ht_frame *frame,
        struct ht_traits *traits, struct ht_busy_times *ret_times) HT_MUST_USE;
/* ret_ns[step][role]: what each role has of each step that no role before it has. */
enum ht_status ht_busy_split(struct ht_run *run, const struct ht_bounds *bounds,
        const struct ht_busy_times *times, int64_t (**ret_ns)[HT_N_BUSY]) HT_MUST_USE;

/* The role of a piece of GPU work; HT_BUSY_OTHER: none, as for work that only waits. */
enum ht_busy ht_busy_of_work(struct ht_traits *traits, const struct ht_gpu *gpu);

#endif
