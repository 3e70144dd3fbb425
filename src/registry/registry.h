/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h - between the list of analyses and running one.
 */
#ifndef HT_REGISTRY_REGISTRY_H
#define HT_REGISTRY_REGISTRY_H

#include "analysis/analysis.h"

/* NULL when there is none. */
const struct ht_analysis *ht_analysis_named(const char *name);
/* HT_USAGE when there is none of that name. */
enum ht_status ht_analysis_get(
        ht_ctx *ctx, const char *name, const struct ht_analysis **ret_analysis) HT_MUST_USE;
/* Whether it runs over that many sets. */
bool ht_analysis_takes(const struct ht_analysis_info *info, size_t n_sets);
/* Which analysis a run answers; its parameters have no texts before ht_run_read_args. */
void ht_run_set_analysis(struct ht_run *run, const struct ht_analysis *analysis);
/* The same by its name; HT_USAGE when there is none of that name. */
enum ht_status ht_run_find_analysis(struct ht_run *run, const char *name) HT_MUST_USE;
/* The columns that the run's parameters choose. */
const struct ht_schema *ht_run_schema(const struct ht_run *run);
/* Texts of common parameters and of the analysis's own, checked, defaults filled in, and what they choose of
 * the rosters. */
enum ht_status ht_run_read_args(
        struct ht_run *run, const struct ht_arg *args, size_t n_args) HT_MUST_USE;
/* What the i-th common parameter was then given, or is by default; NULL: neither. */
const char *ht_run_common_value(const struct ht_run *run, size_t i);

#endif
