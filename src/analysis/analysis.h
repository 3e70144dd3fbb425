/*
 * analysis.h - what an analysis is: one descriptor, one run function, one table.
 *
 * Add one: write src/analysis/x.c with `const struct ht_analysis ht_analysis_x`, add ANALYSIS(x) to
 * analyses.def, run `make accept`. CLI verb, Python function, completion, man and docs page follow.
 *
 * A run function computes over r->traces (the ranks the user chose, ascending) and appends rows.
 * It keeps no state, prints nothing, never includes another analysis; what two of them share is in
 * model/, graph/ or hta/. An analysis without data adds a note and returns HT_OK.
 */
#ifndef HT_ANALYSIS_ANALYSIS_H
#define HT_ANALYSIS_ANALYSIS_H

#include "model/run.h"

struct ht_analysis {
	struct ht_analysis_info info;
	enum ht_status (*run)(struct ht_run *run, ht_table *table);
};

/* A run of one set without its table, for overlays that are drawn into traces. */
enum ht_status ht_run_prepare(ht_ctx *ctx, const char *name, const struct ht_set *set,
        const struct ht_arg *args, size_t n_args, struct ht_arena *scratch,
        struct ht_run *ret_run) HT_MUST_USE;

#define ANALYSIS(x) extern const struct ht_analysis ht_analysis_##x;
#include "analysis/analyses.def"
#undef ANALYSIS

#endif
