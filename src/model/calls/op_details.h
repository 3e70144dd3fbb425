/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_details.h - operators as Ascend's exporter lists them in operator_details.csv: of a rank that has no timeline, or of all of a
 * recording, where its users compare with that table.
 *
 * A row is a call, in no step. Times on the device are those of the tasks that it launched; those with AICore are the share of
 * that on tensor cores' counterpart, as far as the exporter counts it.
 */
#ifndef HT_MODEL_CALLS_OP_DETAILS_H
#define HT_MODEL_CALLS_OP_DETAILS_H

#include "model/run.h"

struct ht_op_detail {
	const char *name, *shape, *stack; /* shape and stack NULL: none */
	int64_t device_self_ns, device_total_ns, host_self_ns, host_total_ns;
	int64_t tc_self_ns, tc_total_ns;
};

/* The table to be used: NULL when the trace has operators of its own, no such table, or only some of it is chosen. */
const struct ht_side_table *ht_op_details_find(const struct ht_run *run);
/* The same where the trace has operators, too: what the exporter lists is the answer for all of a recording, also by default when that
 * leaves no step out. */
enum ht_status ht_op_details_of_all(
        struct ht_run *run, const struct ht_side_table **ret_table) HT_MUST_USE;
/* False: the row has no name. */
bool ht_op_detail_read(const struct ht_trace *t, const struct ht_side_table *table, uint64_t row,
        struct ht_op_detail *ret);

#endif
