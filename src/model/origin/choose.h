/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h - which recording a replay is read against, and what stands there for each of its activities.
 */
#ifndef HT_MODEL_ORIGIN_CHOOSE_H
#define HT_MODEL_ORIGIN_CHOOSE_H

#include "model/calls/row_owners.h"
#include "model/origin/match.h"
#include "model/origin/origin.h"

#define HT_MIN_MATCHED    0.5 /* of the activities */
#define HT_MIN_EAGER_TIME 0.8 /* of the GPU time */

/* A trace with tapes, and the modules of its rows, found when first asked for. */
struct ht_twin {
	const struct ht_trace *trace;
	struct ht_attribution modules;
	const uint32_t *lines;
};

struct ht_chooser {
	struct ht_run *run;
	struct ht_tapes tapes;
	struct ht_twin *twins;
	size_t n_twins;
};

struct ht_choice {
	const struct ht_tape *tape; /* NULL: none fits */
	struct ht_matched matched;
	const char *why;  /* none fits; NULL: one does */
	const char *note; /* what the user should know of the choice; NULL: nothing */
};

enum ht_status ht_chooser_init(struct ht_run *run, struct ht_chooser *ret_chooser) HT_MUST_USE;
enum ht_status ht_choose(struct ht_chooser *chooser, const struct ht_graph_replay *replay,
        struct ht_choice *ret_choice) HT_MUST_USE;
/* What is recorded for an activity that has a partner: operator, module, line, shapes. */
enum ht_status ht_choice_site(struct ht_chooser *chooser, const struct ht_choice *choice, size_t i,
        struct ht_origin *ret_site) HT_MUST_USE;
/* The same of any host row of a trace, with the operator around it, HT_NONE: none. */
enum ht_status ht_recorded_site(struct ht_chooser *chooser, const struct ht_trace *trace,
        uint32_t row, uint32_t op, struct ht_origin *ret_site) HT_MUST_USE;
/* Of sites in order, the first one of each operator starts its call. The order is changed. */
enum ht_status ht_origin_mark_calls(
        struct ht_run *run, struct ht_origin *sites, uint32_t *order, size_t n) HT_MUST_USE;

#endif
