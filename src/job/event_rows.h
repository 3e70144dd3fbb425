/*
 * event_rows.h - what the events behind the nodes of a graph are, and which rules fit them.
 */
#ifndef HT_JOB_EVENT_ROWS_H
#define HT_JOB_EVENT_ROWS_H

#include "graph/cp_model.h"
#include "graph/cp_whatif.h"

struct ht_event_rows {
	struct ht_run *run;
	struct ht_cp_model *m;
	struct ht_cp_rules rules;
	struct ht_arg_cursor sequence;
	uint16_t *
	        flags; /* by row: enum ht_node_flag of host rows, and whether all of them are known */
};

/* rules NULL: none. Memory in run->scratch, to be ended with ht_event_rows_done, also after a failure. */
enum ht_status ht_event_rows_make(struct ht_run *run, struct ht_cp_model *model, const char *rules,
        struct ht_event_rows *ret) HT_MUST_USE;
void ht_event_rows_done(struct ht_event_rows *rows);

/* Of host time in a row (HT_NONE: in none), and of work: enum ht_node_flag, and a bit for each rule. */
void ht_event_row_tell(
        struct ht_event_rows *rows, uint32_t row, uint32_t *ret_flags, uint64_t *ret_rules);
void ht_event_work_tell(
        struct ht_event_rows *rows, uint32_t work, uint32_t *ret_flags, uint64_t *ret_rules);

#endif
