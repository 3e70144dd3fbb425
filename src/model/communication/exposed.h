/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed.h - exposed communication as waiting and as transfer.
 *
 * Exposed is communication while no compute kernel runs. A communication kernel waits until the last rank of its
 * collective has arrived (clocks.h), then transfers. Exposed time is transfer while any communication kernel
 * transfers, and wait while all of them wait:
 *
 *     kernel A   [~~~~wait~~~~|===transfer===]
 *     kernel B        [~wait~|====transfer====]
 *     compute       [--)
 *     exposed    wwww   wwwwwtttttttttttttttttt     so that wait + transfer = exposed
 *
 * A rank knows its own intervals, the waits are known when all ranks are there: facts are the kernels and the
 * exposed intervals under a key, which is the number of the row that they belong to.
 */
#ifndef HT_MODEL_COMMUNICATION_EXPOSED_H
#define HT_MODEL_COMMUNICATION_EXPOSED_H

#include "model/communication/collective_match.h"
#include "model/numbers/interval.h"

#define HT_EXPOSED_CALL_COLUMNS(COLUMN)                                                            \
	COLUMN(HT_EXPOSED_CALL_KEY, "key", HT_I64, HT_KEY, "row that it belongs to", NULL)         \
	COLUMN(HT_EXPOSED_CALL_ROW, "row", HT_I64, HT_KEY, "row of the communication kernel",      \
	        NULL)                                                                              \
	COLUMN(HT_EXPOSED_CALL_START_NS, "start_ns", HT_TIME, HT_MEASURE, "its start", NULL)       \
	COLUMN(HT_EXPOSED_CALL_END_NS, "end_ns", HT_TIME, HT_MEASURE, "its end", NULL)
HT_COLUMN_NUMBERS(HT_EXPOSED_CALL_COLUMNS, HT_N_EXPOSED_CALL_COLUMNS);
#define HT_EXPOSED_GAP_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_EXPOSED_GAP_KEY, "key", HT_I64, HT_KEY, "row that it belongs to", NULL)          \
	COLUMN(HT_EXPOSED_GAP_START_NS, "start_ns", HT_TIME, HT_MEASURE,                           \
	        "start of exposed communication", NULL)                                            \
	COLUMN(HT_EXPOSED_GAP_END_NS, "end_ns", HT_TIME, HT_MEASURE, "its end", NULL)
HT_COLUMN_NUMBERS(HT_EXPOSED_GAP_COLUMNS, HT_N_EXPOSED_GAP_COLUMNS);
extern const struct ht_column ht_exposed_call_columns[], ht_exposed_gap_columns[];

struct ht_exposed_call {
	int64_t row;
	struct ht_interval time;
};

/* What per_rank contributes for one row. Both lists of intervals are merged. Nothing where waits can never be
 * known: one rank alone, or HTA's reading of kernels. */
enum ht_status ht_exposed_put(struct ht_run *run, int64_t key, const struct ht_exposed_call *calls,
        size_t n_calls, const struct ht_interval *communication, size_t n_communication,
        const struct ht_interval *compute, size_t n_compute, ht_table *call_facts,
        ht_table *gap_facts) HT_MUST_USE;

/* Append the rows of facts[0] of a part, whose facts[calls_k] and [gaps_k] were put as above. The columns wait and
 * wait + 1 get the split of the one before them; null where it is null, or a wait is not known. */
enum ht_status ht_exposed_rows(struct ht_run *run, const struct ht_part *part, size_t calls_k,
        size_t gaps_k, size_t wait, ht_table *table) HT_MUST_USE;

#endif
