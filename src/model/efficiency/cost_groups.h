/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost_groups.h - calls with their costs (op_calls.h) added up by operator, shapes, module, step, type, kernel or all together.
 */
#ifndef HT_MODEL_EFFICIENCY_COST_GROUPS_H
#define HT_MODEL_EFFICIENCY_COST_GROUPS_H

#include "model/efficiency/op_calls.h"

enum ht_cost_by {
	HT_COST_BY_OP,
	HT_COST_BY_SHAPE,
	HT_COST_BY_MODULE,
	HT_COST_BY_STEP,
	HT_COST_BY_RANK,
	HT_COST_BY_DTYPE,
	HT_COST_BY_KERNEL
};

struct ht_cost_group {
	const char *key; /* NULL: no module, no step, no type */
	int64_t calls, gpu_ns;
	int64_t flops, flops_max, vector_flops, bytes, bytes_max; /* of the calls with a formula */
	int64_t modelled_ns; /* time of the calls with a formula */
	int64_t roofed_ns;   /* time of the calls whose ideal is known, and that */
	int64_t ideal_ns, excess_ns;
	int64_t could_save_ns; /* of excess_ns, what steps would be shorter by; HT_NO_I64: not known */
	int64_t wave_ns;       /* time of calls whose wave_loss is known, and what of it is lost */
	double wave_lost_ns;
	/* of calls whose ratio of an NPU is recorded: their time, and what of it the unit works */
	int64_t cube_ns, vector_ns;
	double cube_busy_ns, vector_busy_ns;
	/* time of products on tensor cores with an odd size, what of it is excess, and the call with most of it */
	int64_t misaligned_ns, misaligned_excess_ns;
	const struct ht_op_call *misaligned;
	int64_t cast_ns; /* of copies into another type, and the longest of them */
	const struct ht_op_call *cast;
	int64_t above_ns, above_causal_ns; /* time of calls above their roof; of causal attention */
	int64_t near_roof_ns; /* of the roofed, of calls with HT_NEAR_ROOF of their roof or more */
	int64_t copy_ns, copy_ideal_ns; /* of the roofed, copies inside a device */
	int64_t n_modelled, n_with_bytes;
	double roof_s;                 /* of matrix products at the peaks of their types: F / P */
	bool has_no_peak;              /* of some of them it is not known */
	int64_t flops_of[HT_N_DTYPES]; /* flops by type */
	int64_t recomputed_flops;
	double recomputed_s; /* their part of roof_s */
	uint32_t longest;    /* row of the longest activity */
	int64_t longest_ns;
	/* what most of the time is */
	int64_t dtype_ns[HT_N_DTYPES], bound_ns[HT_N_BOUND], state_ns[HT_N_COST_STATES];
};

struct ht_cost_groups {
	struct ht_cost_group *list; /* in the order in which they were met */
	size_t n;
	uint32_t *group_of; /* by call */
	/* the best efficiency that a call has in this run, by what bounds it and type; 0: none has one */
	double ceiling[HT_N_BOUND][HT_N_DTYPES];
};

/* Who attains this much of the roof is as good as done, and who attains this much does not have that roof. */
#define HT_NEAR_ROOF  0.8
#define HT_ABOVE_ROOF 1.05

/* A product on tensor cores with an odd size (op_cost.h). */
static inline bool ht_op_call_is_misaligned(const struct ht_op_call *call)
{
	return call->cost.odd_size && call->dtype != HT_DTYPE_F32;
}

void ht_cost_group_add(const struct ht_trace *trace, const struct ht_op_calls *calls,
        const struct ht_op_call *call, struct ht_cost_group *group);

/* Memory in scratch. */
enum ht_status ht_cost_groups_make(struct ht_run *run, const struct ht_op_calls *calls,
        enum ht_cost_by by, struct ht_cost_groups *ret) HT_MUST_USE;

/* Why a group is above its roof, most likely; NULL: it is not. */
const char *ht_cost_group_remark(const struct ht_cost_group *group, enum ht_causal causal);

/* The index with the most time, of those from first on; 0 when there is none. */
size_t ht_cost_most(const int64_t *times_ns, size_t first, size_t n);

#endif
