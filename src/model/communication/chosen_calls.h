/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_calls.h - which of the matched communication calls a question is about.
 *
 * Calls are matched over everything that was recorded (clocks.h); what is chosen of it (steps, annotations,
 * ranks) only says whose rows are shown, so that a collective has the same wait in every table.
 */
#ifndef HT_MODEL_COMMUNICATION_CHOSEN_CALLS_H
#define HT_MODEL_COMMUNICATION_CHOSEN_CALLS_H

#include "model/communication/collective_match.h"
#include "model/rows/frame.h"

#define HT_CHOSEN_CALL_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_CHOSEN_CALL_ROW, "row", HT_I64, HT_KEY, "row of a communication kernel", NULL)
HT_COLUMN_NUMBERS(HT_CHOSEN_CALL_COLUMNS, HT_N_CHOSEN_CALL_COLUMNS);
extern const struct ht_column ht_chosen_call_columns[HT_N_CHOSEN_CALL_COLUMNS];
/* The communication kernels of the frame, or the host's calls that stand for them (comm_calls.h): what per_rank
 * contributes. A frame without rows has none of the host's. */
enum ht_status ht_chosen_calls_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table) HT_MUST_USE;

struct ht_chosen_call {
	const struct ht_collective *collective;
	const struct ht_comm_call *call;
	size_t i_part;
};

/* Those of all parts, whose facts[k] has them: ascending by collective (they are in one array, by start), then
 * rank. run->matches[0] is there. Memory in scratch. */
enum ht_status ht_chosen_calls_get(struct ht_run *run, const struct ht_parts *parts, size_t k,
        const struct ht_chosen_call **ret_calls, size_t *ret_n) HT_MUST_USE;

/* Calls that stand alone: how many, and how many of them because their launch was not recorded, as that of work that was
 * launched before the recording: their position is not known, though every rank may have them. */
struct ht_alone_calls {
	size_t n, n_unlaunched;
};
void ht_alone_calls_add(struct ht_alone_calls *alone, const struct ht_comm_call *call);
/* A note when there are some. */
enum ht_status ht_chosen_calls_note(
        ht_table *table, const struct ht_alone_calls *alone, size_t n_calls) HT_MUST_USE;

#endif
