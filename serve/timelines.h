/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - the timelines that are open: of all runs together at most so many bytes, those that were asked for last.
 *
 * Who asks for one holds it until it is done with it. A question about all ranks needs all of theirs at once, so there may
 * be more for as long as its answer takes; what is kept afterwards is bounded again.
 */
#ifndef SERVE_TIMELINES_H
#define SERVE_TIMELINES_H

#include "holotrace.h"

struct timelines;      /* of all runs */
struct rank_timelines; /* of the ranks of a set, open or not */

struct timelines *timelines_new(uint64_t max_bytes);
void timelines_free(struct timelines *all);
/* Bytes of what is open, as far as can be told from outside. */
uint64_t timelines_bytes(struct timelines *all);

/* For a set, which must outlive it; NULL when out of memory. */
struct rank_timelines *rank_timelines_new(struct timelines *all, ht_set *set);
/* Nobody may hold one any more. */
void rank_timelines_free(struct rank_timelines *of);
/* The timeline of the i-th rank, opened when it is not, and held. */
enum ht_status rank_timeline_hold(ht_ctx *ctx, struct rank_timelines *of, size_t i,
        const ht_timeline **ret_timeline) HT_MUST_USE;
/* The same of one that is open already; NULL otherwise. */
const ht_timeline *rank_timeline_hold_open(struct rank_timelines *of, size_t i);
void rank_timeline_release(struct rank_timelines *of, size_t i);

#endif
