/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_edit.h - other durations for the nodes of a job: scaled, as those of their peers, removed, beside their stream, fused, repeated.
 *
 * Peers of a node are the nodes of the same name and position in the step (the n-th of that name on the host or on the GPU) on ranks that
 * communicate alike: those of the same stage. A rank that has no such node counts with 0, so work that most ranks do not have goes away.
 */
#ifndef HT_JOB_EVENT_EDIT_H
#define HT_JOB_EVENT_EDIT_H

#include "job/event_replay.h"

struct ht_event_editor {
	struct ht_event_job *job;
	double *dur;
	float *scale;
	bool *is_apart, *is_fused, *is_chosen;
	/* how often nodes happen, with which (event_repeat.h), and what else they wait for (HT_NONE: nothing); NULL: as recorded */
	uint32_t *copies, *event, *after;
	/* nodes that are each other's peers stand together */
	uint32_t *peers, *first_peer; /* slices, n_groups + 1 */
	double *peer_dur;             /* as recorded, in the order of peers */
	uint32_t *n_ranks;            /* by group: that communicate alike */
	size_t n_groups;
	double *room; /* two per rank, for each worker */
};

/* Memory in the job's scratch. */
enum ht_status ht_event_editor_make(
        struct ht_event_job *job, struct ht_event_editor *ret) HT_MUST_USE;
/* As recorded again. */
void ht_event_editor_reset(struct ht_event_editor *editor);
/* What to hand to the replay: without what is before the end of the first step. */
struct ht_event_edit ht_event_editor_edit(struct ht_event_editor *editor);

/* Durations are multiplied; on the host, lags too. */
void ht_event_scale(struct ht_event_editor *editor, uint32_t node, double factor);

enum ht_event_peer {
	HT_PEER_MEDIAN, /* of all ranks */
	HT_PEER_OTHERS, /* median of the other ranks */
	HT_PEER_BEST,   /* the least of all ranks and steps that have it */
};
/* Host time and GPU work that is no communication takes what it takes on its peers; of nodes that are chosen (NULL: all). */
enum ht_status ht_event_like_peers(
        struct ht_event_editor *editor, enum ht_event_peer how, const bool *is_chosen) HT_MUST_USE;

/* ---- rules (event_rules.c) ---- */

/* Why what rules ask for cannot be said: a variant of the template of findings, and what it is about. why NULL: it can. */
struct ht_event_unknown {
	const char *why, *name;
};

/* What rules of the grammar of cp_whatif.h change. Where anything is unknown the editor has some of it only. */
enum ht_status ht_event_apply(struct ht_event_editor *editor, const struct ht_cp_rules *rules,
        struct ht_event_unknown *ret_unknown) HT_MUST_USE;

/* Of nodes that are chosen, collectives take what they would in groups of n ranks (event_ring.c). */
enum ht_status ht_event_resize_groups(struct ht_event_editor *editor, double n_ranks,
        struct ht_event_unknown *ret_unknown) HT_MUST_USE;

#endif
