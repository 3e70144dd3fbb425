/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if_job.h - a job that is replayed to answer questions about it: its steps as recorded and replayed, and an editor.
 */
#ifndef HT_JOB_WHAT_IF_JOB_H
#define HT_JOB_WHAT_IF_JOB_H

#include "job/event_edit.h"

struct ht_what_if_job {
	struct ht_run *run;
	struct ht_event_job job;
	struct ht_event_editor editor;
	ht_table *table;                             /* for notes */
	size_t n;                                    /* steps; 0: a note says why there are none */
	double *recorded, *replayed, *edited, *room; /* by step */
	double recorded_ns, replayed_ns;             /* means */
	double error, worst_error;                   /* of the replay: median and most */
	bool is_trusted;                             /* the replay is near enough to say anything */
};

/* Replay as recorded, and say in notes how far that is off. Memory in run->scratch. */
enum ht_status ht_what_if_job_make(struct ht_run *run, const struct ht_parts *parts,
        ht_table *table, struct ht_what_if_job *ret) HT_MUST_USE;

/* Say under the table why there is no answer: a variant of the template of that kind. */
enum ht_status ht_what_if_unknown(
        struct ht_run *run, ht_table *table, const char *kind, const char *why) HT_MUST_USE;

double ht_what_if_mean(const double *values, size_t n);
/* Mean step time with the edit that is in the editor, which is empty afterwards; edited has that of each step. */
double ht_what_if_replay(struct ht_what_if_job *a);

struct ht_what_if_excess {
	double excess;
	size_t i_rank;
};
/* The most first. */
int ht_what_if_compare_excess(const void *left, const void *right);
/* Ranks by how much longer their nodes take than those of their peers, most first. */
enum ht_status ht_what_if_order_ranks(
        struct ht_what_if_job *a, struct ht_what_if_excess **ret_order) HT_MUST_USE;

#endif
