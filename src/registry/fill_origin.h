/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill_origin.h - who asked what of which files, told to the table that answers (table/table_origin.h).
 */
#ifndef HT_REGISTRY_FILL_ORIGIN_H
#define HT_REGISTRY_FILL_ORIGIN_H

#include "registry/registry.h"

/* Of an analysis; the run has its arguments read. */
enum ht_status ht_run_tell_origin(struct ht_run *run, ht_table *table) HT_MUST_USE;
/* Of another question over all ranks of a set, with these parameters; roster may be NULL. Memory in the arena. */
enum ht_status ht_question_tell_origin(ht_ctx *ctx, const char *verb, const struct ht_arg *params,
        size_t n_params, const struct ht_roster *roster, struct ht_arena *arena,
        ht_table *table) HT_MUST_USE;

#endif
