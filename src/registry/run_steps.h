/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.h - the steps of running an analysis, for ht_run, ht_run_all and bundles.
 *
 *     ht_run_start ─► ht_run_read_args ─► ht_run_find_facts ─► ht_run_compute ─┬────────────────────► ht_run_make_table
 *                                                                              └─► ht_run_fit_clocks ─┘
 */
#ifndef HT_REGISTRY_RUN_STEPS_H
#define HT_REGISTRY_RUN_STEPS_H

#include "registry/registry.h"
#include "registry/run_part.h"

/* What a parameter names instead of the traces (info.input_param), or what is attached of that kind, opened as a set that
 * the caller closes; NULL when there is none. */
enum ht_status ht_run_open_input(ht_ctx *ctx, const char *name, ht_set *const *sets, size_t n_sets,
        const struct ht_arg *args, size_t n_args, ht_set **ret_set) HT_MUST_USE;
/* Which analysis, over which sets; ctx, scratch and view are the caller's. */
enum ht_status ht_run_start(
        struct ht_run *run, const char *name, ht_set *const *sets, size_t n_sets) HT_MUST_USE;
/* Only where the policy or a column needs them. */
enum ht_status ht_run_find_facts(struct ht_run *run, ht_set *const *sets) HT_MUST_USE;
/* The part of every chosen rank that the sets have, and the communication calls of every rank, chosen or not, as
 * facts[0] of a part each; on the context's threads, each rank opened once. NULL: not wanted. */
enum ht_status ht_run_compute(const struct ht_run *run, ht_set *const *sets,
        struct ht_parts *ret_parts, struct ht_parts *ret_calls) HT_MUST_USE;
/* The clocks from them, for finishing; they live with the run, or with the sets where there are some. */
enum ht_status ht_run_fit_clocks(
        struct ht_run *run, ht_set *const *sets, const struct ht_parts *calls) HT_MUST_USE;
/* All of that for finishing, where it needs clocks. */
enum ht_status ht_run_find_clocks(struct ht_run *run, ht_set *const *sets) HT_MUST_USE;
/* The clocks of a set, for what is no run; they live in scratch, or with the set. */
enum ht_status ht_set_clocks(ht_ctx *ctx, ht_set *set, struct ht_arena *scratch,
        const struct ht_clocks **ret_clocks) HT_MUST_USE;
enum ht_status ht_run_make_table(
        struct ht_run *run, const struct ht_parts *parts, ht_table **ret_table) HT_MUST_USE;
/* Call what brings ranks together and makes the run's table, while the calling thread tells that all ranks are looked at
 * and hears whether to stop. */
enum ht_status ht_run_watch_table(struct ht_run *run, enum ht_status (*make)(void *user),
        void *user, ht_table **ret_table) HT_MUST_USE;

/* A run of one set without its table, for overlays that are drawn into traces: no rank is in hand. */
enum ht_status ht_run_prepare(ht_ctx *ctx, const char *name, const struct ht_set *set,
        const struct ht_arg *args, size_t n_args, struct ht_arena *scratch,
        struct ht_run *ret_run) HT_MUST_USE;
/* Take a chosen rank in hand, on the run's own context and scratch; ht_run_let_go when done. */
enum ht_status ht_run_take(struct ht_run *run, const struct ht_set *set, size_t i) HT_MUST_USE;
void ht_run_let_go(struct ht_run *run);

#endif
