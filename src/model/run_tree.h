/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_tree.h - where ranks stand in a log directory: run, worker, span; told by their paths alone.
 *
 *   GPU     RUN/{worker}[.{stamp}].pt.trace.json[.gz]
 *   Ascend  RUN/{worker}[_{stamp}][_ascend_pt|_ascend_ms]/ASCEND_PROFILER_OUTPUT
 *
 * A run is called by its directory, from where the directories of all runs part. Spans of a worker are numbered from 1
 * in the order of their stamps as texts; one without a stamp is "default". A worker named host_12 is process 12 of
 * node host, any other a node of its own.
 */
#ifndef HT_MODEL_RUN_TREE_H
#define HT_MODEL_RUN_TREE_H

#include "store/set.h"

struct ht_run_place {
	const char *dir; /* of the run, as the path has it; ends in a slash unless it is "" */
	const char *run, *worker, *stamp; /* stamp is "" when there is none */
	const char *target;               /* "gpu", "npu" */
	const char *node;
	int64_t process; /* HT_NO_I64: the name does not say */
	int64_t span;    /* 1, 2, ...; 0: default */
	bool is_known; /* the path has one of the two layouts; else worker is the name of the file */
};

/* One for every path, in their order. Memory in the arena; HT_NOMEM without a text. */
enum ht_status ht_run_tree_place(const char *const *paths, size_t n, struct ht_arena *arena,
        const struct ht_run_place **ret_places) HT_MUST_USE;
/* One for every rank of the roster, in its order. Memory in the arena; HT_NOMEM without a text. */
enum ht_status ht_run_tree_find(const struct ht_roster *roster, struct ht_arena *arena,
        const struct ht_run_place **ret_places) HT_MUST_USE;

#endif
