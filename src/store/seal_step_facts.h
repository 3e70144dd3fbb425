/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_step_facts.h - what is known of each step: its completion, its activities, and whether it was recorded whole.
 *
 * completion   the later of its end and the end of its last activity, never before the completion of the step before it
 *              on its thread
 * begin        its start, of the first step of the main thread where GPU activity of before ends that it waits for
 * complete     no launch in it lacks its activity, and it has activity if other steps of its thread have. A trace with
 *              one step, and steps that only activities name, are taken as they are
 * A launch lacks its activity when no activity refers to it, though other launches of that call have theirs. This says
 * nothing of a call of which some launches lack it in every step (a memset of no bytes runs nothing), nor of launches
 * while a graph is captured: they run when it is replayed.
 * The main thread is the one whose steps have most activities; of equals the one with more steps, then the first.
 */
#ifndef HT_STORE_SEAL_STEP_FACTS_H
#define HT_STORE_SEAL_STEP_FACTS_H

#include "store/step_threads.h"

/* Of a trace with steps whose rows all have theirs. */
enum ht_status ht_seal_step_facts(ht_ctx *ctx, struct ht_trace *trace,
        const struct ht_step_threads *threads, struct ht_arena *arena) HT_MUST_USE;

#endif
