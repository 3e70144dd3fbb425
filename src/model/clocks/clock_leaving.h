/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_leaving.h - a clock that breaks no bound, and is off all the same.
 *
 * Ranks leave a collective at about the same time. One whose clock is off by less than its collectives take breaks no bound
 * (clocks.h), but leaves each of them by the same time later, or earlier, than the others: what it waits for and what is
 * transfer is then wrong by that. It is told when, over eight collectives of three ranks and more, three quarters of these
 * differences lie within a tenth of their median, which is HT_LEAVING_LEAST_NS or more, and the others leave together, within a
 * tenth of it. Of two ranks nothing says whose clock it is, or whether they take turns on one GPU. Calls of the host are left
 * out: they end when their thread gets to it.
 *
 * Example: ranks leave ten all-reduces of 20 ms together, but rank 2, whose clock is 7 ms ahead, by its file 7 ms later.
 */
#ifndef HT_MODEL_CLOCKS_CLOCK_LEAVING_H
#define HT_MODEL_CLOCKS_CLOCK_LEAVING_H

#include "model/clocks/clocks.h"
#include "model/run.h"

#define HT_LEAVING_LEAST_NS 100000

/* How much later than others a rank of the roster leaves, where that is so constant; HT_NO_I64: it is not. Memory in scratch. */
enum ht_status ht_clock_leaving(struct ht_run *run, size_t i_rank, int64_t *ret_ns) HT_MUST_USE;

#endif
