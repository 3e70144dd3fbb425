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
/* Texts of common parameters and of the analysis's own, checked, defaults filled in, and what they choose of
 * the rosters. */
enum ht_status ht_run_read_args(
        struct ht_run *run, const struct ht_arg *args, size_t n_args) HT_MUST_USE;

#endif
