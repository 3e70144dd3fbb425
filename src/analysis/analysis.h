/*
 * analysis.h - what an analysis is: one descriptor, one run function, one table.
 *
 * Add one: write src/analysis/x.c with `const struct ht_analysis ht_analysis_x`, add ANALYSIS(x) to
 * analyses.def, run `make accept`. CLI verb, Python function, completion, man and docs page follow.
 *
 * A run function computes over r->traces (the ranks the user chose, ascending) and appends rows.
 * It keeps no state, prints nothing, never includes another analysis; what two of them share is in
 * analysis/common/. An analysis without data adds a note and returns HT_OK.
 */
#ifndef HT_ANALYSIS_ANALYSIS_H
#define HT_ANALYSIS_ANALYSIS_H

#include "store/set.h"
#include "table/table.h"

/* What a run gets. Everything in scratch dies with the run. */
struct ht_run {
	ht_ctx *ctx;
	struct ht_arena *scratch;
	const struct ht_analysis *analysis;
	const struct ht_set *set;     /* the first set */
	const struct ht_set *sets[2]; /* both, for comparisons */
	size_t n_sets;
	const struct ht_trace **traces; /* chosen ranks of the first set */
	int64_t *ranks;                 /* their numbers */
	int64_t *offset_ns;             /* their clock offsets: set time = ts + offset */
	size_t n;
	bool hta_compat;  /* HTA's values for quirks marked opt */
	bool hta_rows;    /* HTA's selection of rows; implied by hta_compat */
	const char *step; /* as given: NULL (default: all but the last step), "all", "3-5,7" */
	const char *annotation; /* NULL: no restriction */
	const char *const
	        *values; /* parameter texts, parallel to analysis->params, never NULL entries
	                              unless the default is NULL */
	const struct ht_view *view; /* for analyses with columns on request; may be NULL */
};

struct ht_analysis {
	struct ht_analysis_info info;
	enum ht_status (*run)(struct ht_run *run, ht_table *table);
};

/* Parameter values by name, parsed by the parameter's type; the registry has checked them. */
int64_t ht_run_i64(const struct ht_run *run, const char *param);
double ht_run_f64(const struct ht_run *run, const char *param);
bool ht_run_bool(const struct ht_run *run, const char *param);
const char *ht_run_str(const struct ht_run *run, const char *param); /* NULL when not given */
/* HT_DURATION parameters are text with a unit ("30us", "1.5ms", "200" = ns); here in ns. */
int64_t ht_run_duration_ns(const struct ht_run *run, const char *param);

/* A run of one set without its table, for overlays that are drawn into traces. */
enum ht_status ht_run_prepare(ht_ctx *ctx, const char *name, const struct ht_set *set,
        const struct ht_arg *args, size_t n_args, struct ht_arena *scratch,
        struct ht_run *ret_run) HT_MUST_USE;

#define ANALYSIS(x) extern const struct ht_analysis ht_analysis_##x;
#include "analysis/analyses.def"
#undef ANALYSIS

#endif
