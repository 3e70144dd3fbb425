/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h - a training job as operations of its workers, replayed with other durations.
 *
 * A worker is a data-parallel rank and a pipeline stage (tensor-parallel ranks are one); an operation is what it did at a time: forward
 * and backward compute of a micro-batch, sends and receives between stages, collectives over data-parallel ranks, the tail of a step.
 * A lane is a step of a data-parallel rank, all its stages together. The operations of all lanes are the same, so the graph of what
 * waits for what is made once, from the first lane:
 *
 *     stage 0   F0 ─► F1 ─► F2 ─► ...        compute in order
 *                └send┐
 *     stage 1        recv─► F0 ─► B0 ─► ...   a send and its receive begin together
 *
 * Replayed, an operation begins when all that it waits for is over; those that belong together when all of them are ready (also over
 * data-parallel ranks, for collectives), and they end one transfer later. A step is over with its last optimizer.
 * Definitions: the published straggler analysis of ByteDance (arXiv 2505.05713), whose results these are to the digit; therefore ends
 * and transfers are single-precision numbers.
 */
#ifndef HT_JOB_OPS_H
#define HT_JOB_OPS_H

#include "base/status.h"

enum ht_ops_type {
	HT_OPS_FORWARD,
	HT_OPS_BACKWARD,
	HT_OPS_FORWARD_SEND,
	HT_OPS_FORWARD_RECV,
	HT_OPS_BACKWARD_SEND,
	HT_OPS_BACKWARD_RECV,
	HT_OPS_ALL_GATHER,     /* parameters */
	HT_OPS_REDUCE_SCATTER, /* gradients */
	HT_OPS_SEPARATE_REDUCE, /* gradients apart from the others: data-parallel work overlaps the backward pass */
	HT_OPS_NORM_REDUCE,
	HT_OPS_EMBEDDING_REDUCE,
	HT_OPS_CLIP,
	HT_OPS_GC,
	HT_OPS_OPTIMIZER,
	HT_OPS_N_TYPES
};
/* "forward-compute", ... */
const char *ht_ops_type_name(enum ht_ops_type type);
/* HT_OPS_N_TYPES: none of that name. */
enum ht_ops_type ht_ops_type_find(const char *name);

/* How the workers are arranged. */
struct ht_ops_shape {
	int64_t n_stages, n_chunks; /* of the pipeline; chunks of a model per stage */
	int64_t n_data;             /* data-parallel ranks, sharded ones included */
};

struct ht_ops_row {
	int64_t step, data_rank, stage, rank;
	int64_t seq;           /* among operations of the type in its step and worker, from 0 */
	int64_t chunk, global; /* chunk of the model on the stage, and over all stages */
	float start_s, dur_s;
	uint8_t type; /* enum ht_ops_type */
};

/* An operation of every lane. */
struct ht_ops_node {
	int64_t stage, seq;
	uint8_t type;
	uint32_t unit; /* that it begins with */
};

struct ht_ops {
	struct ht_ops_shape shape;
	struct ht_ops_node *nodes;
	size_t n_nodes;
	/* by node: what it waits for, as slices of deps */
	uint32_t *first_dep, *deps;
	size_t n_deps;
	/* what begins together, each after all that it waits for, as slices of members */
	uint32_t *first_member, *members;
	size_t n_units, n_groups; /* groups: units other than single compute */
	int64_t *steps, *data_ranks;
	size_t n_steps, n_data;
	int64_t *ranks; /* by data rank and stage: of the worker */
	/* by step, data rank, node */
	float *start_s, *dur_s, *transfer_s;
};

/* Where the value of an operation is. */
static inline size_t ht_ops_at(const struct ht_ops *job, size_t step, size_t data, size_t node)
{
	return (step * job->n_data + data) * job->n_nodes + node;
}
static inline size_t ht_ops_n_values(const struct ht_ops *job)
{
	return job->n_steps * job->n_data * job->n_nodes;
}
/* Of a single compute operation, or of a transfer? */
bool ht_ops_is_group(const struct ht_ops *job, uint32_t node);
/* Begins with those of the other data-parallel ranks. */
bool ht_ops_is_across(enum ht_ops_type type);

/* HT_FORMAT, with what does not fit, when lanes differ, partners are missing or operations wait for each other. Memory in the arena. */
enum ht_status ht_ops_make(ht_ctx *ctx, const struct ht_ops_row *ops, size_t n,
        const struct ht_ops_shape *shape, struct ht_arena *arena, struct ht_ops *ret) HT_MUST_USE;

/* Replay with these durations (of compute) and transfers, by step, data rank, node. ret_steps_s: the length of each step; ret_spans_s: from
 * ready to the end, of each operation, NULL: not asked for. room holds n_data * n_nodes values. */
void ht_ops_replay(const struct ht_ops *job, const double *dur_s, const double *transfer_s,
        double *room, double *ret_steps_s, double *ret_spans_s);

/* Read operations (CSV, plain, gzip or zstd) and what is known of the job (YAML) and make the graph. HT_FORMAT with the line for
 * anything that is not what it should be. */
enum ht_status ht_ops_read(ht_ctx *ctx, const char *operations, const char *meta,
        struct ht_arena *arena, struct ht_ops *ret) HT_MUST_USE;

/* Parts of a slowdown, and what is left of it without them. */
struct ht_ops_share {
	double share;  /* (T - T_rem) / (T - T_id) */
	double left_s; /* T_rem: mean step time with ideal times for these workers */
	double added;  /* (T_add - T_id) / (T - T_id): ideal but for these workers */
};

/* What slows a job down, by replaying it with ideal durations for all but some operations. */
struct ht_ops_slowdown {
	double recorded_s;      /* mean step time as recorded */
	double time_s, ideal_s; /* T, T_id: replayed without launch delays; with ideal durations */
	double *steps_s;        /* by step: replayed without launch delays */
	/* slowdowns when only these operations are as recorded; NAN: there are none. Sends and receives of a direction are one:
	 * that of the send */
	double by_type[HT_OPS_N_TYPES];
	double *by_data, *by_stage;      /* of data-parallel ranks and stages */
	bool is_decomposed;              /* the slowdown is worth it: at least 1.03 */
	struct ht_ops_share worst, last; /* M_W and M_S: of the worst workers, of the last stage */
	int64_t *worst_ranks;
	double *worst_slowdowns; /* S_w of each */
	size_t n_worst;
	bool has_uneven_batches; /* workers take longer in turn, forward and backward alike */
};
/* Slowdown of a worker: approximated by the smaller one of its rank and its stage. */
double ht_ops_of_worker(const struct ht_ops_slowdown *slowdown, size_t data, size_t stage);
enum ht_status ht_ops_slowdown_find(ht_ctx *ctx, const struct ht_ops *job, struct ht_arena *arena,
        struct ht_ops_slowdown *ret) HT_MUST_USE;

#endif
