/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rows.h - what the events behind the nodes of a graph are, and which rules fit them.
 */
#ifndef HT_JOB_EVENT_ROWS_H
#define HT_JOB_EVENT_ROWS_H

#include "graph/cp_model.h"
#include "graph/cp_whatif.h"
#include "store/args.h"

struct ht_event_rows {
	struct ht_run *run;
	struct ht_cp_model *m;
	struct ht_cp_rules rules;
	struct ht_arg_cursor sequence;
	uint16_t *
	        flags; /* by row: enum ht_node_flag of host rows, and whether all of them are known */
	bool has_events; /* a rule is about whole events */
	const int64_t
	        *memory_ns; /* by row of GPU activity, HT_NO_I64: not known; NULL: no rule asks */
};

struct ht_event_told {
	uint32_t flags; /* enum ht_node_flag */
	uint32_t
	        event; /* row of the event that the first rule about whole events is about; HT_NONE: none */
	uint64_t rules; /* a bit for each that fits */
};

/* rules NULL: none. Memory in run->scratch, to be ended with ht_event_rows_done, also after a failure. */
enum ht_status ht_event_rows_make(struct ht_run *run, struct ht_cp_model *model, const char *rules,
        struct ht_event_rows *ret) HT_MUST_USE;
void ht_event_rows_done(struct ht_event_rows *rows);

/* Of host time in a row (HT_NONE: in none), and of work. */
struct ht_event_told ht_event_row_tell(struct ht_event_rows *rows, uint32_t row);
struct ht_event_told ht_event_work_tell(struct ht_event_rows *rows, uint32_t work);
/* How long the memory of the device takes to move what a piece of work has to; HT_NO_I64: not known, or not asked for. */
int64_t ht_event_memory_ns(const struct ht_event_rows *rows, uint32_t work);

#endif
