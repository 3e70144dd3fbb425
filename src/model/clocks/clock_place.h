/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_place.h - a correction for every rank, one after the other; see clocks.h for the rules.
 */
#ifndef HT_MODEL_CLOCKS_CLOCK_PLACE_H
#define HT_MODEL_CLOCKS_CLOCK_PLACE_H

#include "model/clocks/clock_ties.h"

struct ht_places {
	struct ht_time_move *of; /* corrections of the files' clocks, by rank */
	size_t *component; /* ranks tied to each other, directly or not, have the same number */
	size_t reference;  /* a rank of the largest family: it stays */
};

/* from_files: clocks of files mean something, and stay where they fit. Memory in scratch. */
enum ht_status ht_clock_place(ht_ctx *ctx, struct ht_arena *scratch, const struct ht_ties *ties,
        bool from_files, int64_t tolerance_ns, struct ht_places *ret_places) HT_MUST_USE;

#endif
