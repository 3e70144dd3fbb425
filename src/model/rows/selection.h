/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h - which steps a run looks at: decided here, once, for every analysis.
 *
 * --step    not given   all complete steps (store/seal_step_facts.h); the whole trace where there are none
 *           "all"       the whole trace
 *           "last"      the last complete step; the last one where none is
 *           "3-5,7"     the steps of these numbers, of every process and thread, complete or not
 * It is decided rank by rank, from what the roster knows, so that parts of ranks can be made anywhere. What compares ranks
 * looks at the steps that are chosen on all of them: ht_common_steps, when parts are brought together.
 */
#ifndef HT_MODEL_ROWS_SELECTION_H
#define HT_MODEL_ROWS_SELECTION_H

#include "model/run.h"

struct ht_selection {
	bool is_whole;  /* all of it, also what is in no step */
	const bool *in; /* by step, NULL when whole */
};

/* Of the steps of a rank, for a text as --step has it; memory in scratch. */
enum ht_status ht_selection_make(struct ht_run *run, const char *text, const struct ht_step *steps,
        size_t n, struct ht_selection *ret_selection) HT_MUST_USE;
/* Of the rank in hand. */
enum ht_status ht_selection_of(struct ht_run *run, struct ht_selection *ret_selection) HT_MUST_USE;

/* Whether what belongs to a step is in; HT_NONE: to none. */
static inline bool ht_selection_has(const struct ht_selection *selection, uint32_t step)
{
	return selection->is_whole || (step != HT_NONE && selection->in[step]);
}

/* Whether a text names steps: neither the default nor all of the trace. */
bool ht_steps_are_named(const char *text);
/* Refuse a text that is none of the above. */
enum ht_status ht_steps_check(ht_ctx *ctx, const char *option, const char *text) HT_MUST_USE;

/* Numbers of the steps that every chosen rank with steps looks at. */
struct ht_common_steps {
	bool is_any;      /* nothing is left out: no rank has steps, or no step is chosen on all */
	int64_t *numbers; /* ascending */
	size_t n;
};
enum ht_status ht_common_steps_make(
        struct ht_run *run, size_t side, struct ht_common_steps *ret_common) HT_MUST_USE;
/* HT_NO_I64 is no step: in only where nothing is left out. */
bool ht_common_steps_have(const struct ht_common_steps *common, int64_t number);

/* What the selection is, for titles: "steps 2–7", "steps 2–6; step 7 is cut: 41 launches without activity",
 * "whole trace". In scratch, NULL without memory. */
const char *ht_selection_text(struct ht_run *run, size_t side);

#endif
