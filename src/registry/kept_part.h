/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_part.h - parts of ranks kept in the cache beside their columns, so that a question that was asked before needs no events.
 */
#ifndef HT_REGISTRY_KEPT_PART_H
#define HT_REGISTRY_KEPT_PART_H

#include "analysis/analysis.h"

struct ht_bytes_out;
struct ht_cache_id;
struct ht_cached;
struct ht_set;

/* The part of rank i of the roster of the run's side, where it was kept and is what the run would make. It is the caller's
 * then. What joins the rank is in run->attached. */
bool ht_kept_part_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *ret_part);
/* Of an analysis that has common facts: those alone, into a part that has none. */
bool ht_kept_common_take(
        const struct ht_run *run, const struct ht_set *set, size_t i, struct ht_part *part);
/* Keep a part for runs to come; its common facts, too, unless they were kept by who made them. That it cannot be is no
 * failure. */
void ht_kept_part_give(const struct ht_run *run, const struct ht_set *set, size_t i,
        bool has_common, const struct ht_part *part);
/* Of a rank whose set is being opened, the only one that the run knows: whether there is such a part, as it begins; keep one;
 * take its common facts. */
bool ht_kept_part_is_there(const struct ht_run *run, const struct ht_cached *cached);
void ht_kept_part_give_new(const struct ht_run *run, const struct ht_cached *cached,
        bool has_common, const struct ht_part *part);
bool ht_kept_common_take_new(
        const struct ht_run *run, const struct ht_cached *cached, struct ht_part *part);

/* For who keeps more than parts. Whether the part of a rank depends on nothing but that rank, in run->attached what joins it,
 * and what was asked. */
bool ht_kept_is_alone(const struct ht_run *run);
/* What was asked, as the run's parameters were read: what was given, else the default. */
void ht_kept_put_asked(const struct ht_run *run, struct ht_bytes_out *out);
/* Of which state of a file. */
void ht_kept_put_id(const struct ht_cache_id *id, struct ht_bytes_out *out);

#endif
