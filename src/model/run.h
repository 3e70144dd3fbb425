/*
 * run.h - what one question knows about its input: chosen ranks, selection, parameters, memory.
 *
 * The registry makes a run from a set and the parameters as text; everything in src/model answers within
 * one. Everything in scratch dies with the run.
 */
#ifndef HT_MODEL_RUN_H
#define HT_MODEL_RUN_H

#include "store/set.h"
#include "table/table.h"

struct ht_analysis;

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
	/* parameter texts, parallel to analysis->params; NULL where the default is NULL */
	const char *const *values;
	const struct ht_view *view; /* for analyses with columns on request; may be NULL */
};

/* Parameter values by name, parsed by the parameter's type; the registry has checked them. */
int64_t ht_run_i64(const struct ht_run *run, const char *param);
double ht_run_f64(const struct ht_run *run, const char *param);
bool ht_run_bool(const struct ht_run *run, const char *param);
const char *ht_run_str(const struct ht_run *run, const char *param); /* NULL when not given */
/* HT_DURATION parameters are text with a unit ("30us", "1.5ms", "200" = ns); here in ns. */
int64_t ht_run_duration_ns(const struct ht_run *run, const char *param);

#endif
