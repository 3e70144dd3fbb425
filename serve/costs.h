/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.h - how long analyses take here, learnt from those that were asked for: what is quick is answered before what is dear.
 */
#ifndef SERVE_COSTS_H
#define SERVE_COSTS_H

#include <stdint.h>

struct costs;

/* NULL when out of memory. */
struct costs *costs_new(void);
void costs_free(struct costs *costs);
/* An analysis took so long over so many events. */
void costs_note(struct costs *costs, const char *name, uint64_t n_events, uint64_t ms);
/* How many milliseconds it may take over so many; COSTS_UNKNOWN_MS when nobody asked for it yet, or for an analysis that does not exist. */
#define COSTS_UNKNOWN_MS 500
unsigned costs_guess(struct costs *costs, const char *name, uint64_t n_events);

#endif
