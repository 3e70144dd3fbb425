/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - many runs in one SQLite file, and where their numbers changed for good.
 *
 *     traces of a run ─► measures (measures.c) ─► store (store.c) ─► series by metric and path (load_series.c) ─► changes (judge.c) ─► table (history.c)
 *
 * A measure is a number of a run with its distribution: "step_time" of the job, "time" of step/communication, of gpu/kernels/NAME. Paths
 * are a tree: what is true of a child should be seen in its parent. The store has no trace data but these numbers and names.
 */
#ifndef HT_HISTORY_HISTORY_H
#define HT_HISTORY_HISTORY_H

#include "job/changes.h"

/* NAN: unknown. */
struct ht_measure {
	const char *metric, *path, *unit;
	bool higher_is_better;
	double value; /* what the series shows */
	double n, mean, std, min, q1, median, q3, max;
};

/* What is kept of a run; in the arena. HT_MISSING when there is nothing. */
enum ht_status ht_measures_collect(
        ht_ctx *ctx, ht_set *set, struct ht_arena *arena, struct ht_vec *ret_measures) HT_MUST_USE;

struct ht_history_run {
	int64_t id;
	const char *label;
};

/* What is kept of a measure, as columns follow each other in the store and in the table. */
enum ht_history_number {
	HT_HIST_VALUE,
	HT_HIST_N,
	HT_HIST_MEAN,
	HT_HIST_STD,
	HT_HIST_MIN,
	HT_HIST_Q1,
	HT_HIST_MEDIAN,
	HT_HIST_Q3,
	HT_HIST_MAX,
	HT_HIST_N_NUMBERS
};

/* A run of a series; NAN: unknown. */
struct ht_history_point {
	size_t run; /* its place in the list of runs */
	double numbers[HT_HIST_N_NUMBERS];
};

/* What a change is. */
enum ht_change_kind {
	HT_CHANGE_REGRESSION,
	HT_CHANGE_IMPROVEMENT,
	HT_CHANGE_SHIFT, /* a sibling got what this one lost: the parent is as it was */
	HT_CHANGE_PART,  /* of a change of its parent at the same run */
	HT_CHANGE_GONE,  /* the last runs are nearer to the level before */
	HT_CHANGE_WEAK,  /* does not stand out among so many series and runs */
	HT_CHANGE_N_KINDS
};

/* A metric of a path over all runs. */
struct ht_history_series {
	struct ht_measure about;               /* metric, path, unit, higher_is_better */
	const struct ht_history_point *points; /* by run; those that have a value, at least one */
	size_t n_points;
	double *values; /* by run, what is missing filled */
	struct ht_change *changes;
	size_t n_changes;
	enum ht_change_kind *kinds; /* of the changes, once they are judged */
};

struct ht_history_data {
	struct ht_history_run *runs; /* as they were added */
	size_t n_runs;
	struct ht_history_series *series; /* by path, then metric */
	size_t n_series;
};

#define HT_HISTORY_APPLICATION_ID 0x486f6c68 /* "Holh": what marks an SQLite file as a store */
#define HT_HISTORY_VERSION        1

/* A store to add to; it is made when it is not there. HT_FORMAT: the file is something else. From opening to committing is one transaction: all that
 * is put is there then, or nothing when the store is closed without. */
struct ht_history_store;
enum ht_status ht_history_open(
        ht_ctx *ctx, const char *path, struct ht_history_store **ret_store) HT_MUST_USE;
void ht_history_close(struct ht_history_store *store);
enum ht_status ht_history_commit(struct ht_history_store *store) HT_MUST_USE;
enum ht_status ht_history_put(struct ht_history_store *store, const char *label, const char *source,
        const struct ht_measure *measures, size_t n) HT_MUST_USE;

/* Whether the file is a store by its first bytes; what cannot be opened is none. */
bool ht_history_is_store(ht_ctx *ctx, const char *path);
/* Everything of a store that anybody may have written, in the arena, which is empty before. */
enum ht_status ht_history_load(ht_ctx *ctx, const char *path, struct ht_arena *arena,
        struct ht_history_data *ret_data) HT_MUST_USE;

const char *ht_change_kind_name(enum ht_change_kind kind);

struct ht_judged {
	const struct ht_history_series *series;
	const struct ht_change *change;
	enum ht_change_kind kind;
	double cost;          /* after less before, per unit */
	const char *children; /* that explain it, largest first; "" */
};
/* All changes: regressions first, in each kind the largest cost first. In the arena. */
enum ht_status ht_history_judge(ht_ctx *ctx, const struct ht_history_data *data,
        struct ht_arena *arena, struct ht_judged **ret_list, size_t *ret_n) HT_MUST_USE;

#endif
