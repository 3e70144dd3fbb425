/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_details.c - see op_details.h.
 */
#include "model/calls/op_details.h"

#include "base/checked.h"
#include "model/rows/selection.h"
#include "store/side_table.h"
#include "store/columns.h"

#include <math.h>
#include <string.h>

const struct ht_side_table *ht_op_details_find(const struct ht_run *run)
{
	const struct ht_trace *t = run->trace;
	const struct ht_side_table *table = ht_side_table_find(t, "operator_details");
	bool is_whole = (!run->step || !strcmp(run->step, "all")) && !run->annotation;
	if (!table || !is_whole)
		return NULL;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (t->kind[row] == HT_KIND_CPU_OP)
			return NULL;
	return table;
}

/* The whole trace, or nobody chose and no step is left out. */
static bool is_all(const struct ht_run *run, const struct ht_selection *chosen)
{
	if (chosen->is_whole || ht_steps_are_named(run->step))
		return chosen->is_whole;
	for (size_t i = 0; i < run->trace->n_steps; i++)
		if (!chosen->in[i])
			return false;
	return true;
}

enum ht_status ht_op_details_of_all(struct ht_run *run, const struct ht_side_table **ret_table)
{
	struct ht_selection chosen;
	const struct ht_side_table *table = ht_side_table_find(run->trace, "operator_details");
	HT_TRY(ht_selection_of(run, &chosen));
	bool is_used = table && !run->annotation && is_all(run, &chosen);
	*ret_table = is_used ? table : ht_op_details_find(run);
	return HT_OK;
}

static int64_t ns_of(
        const struct ht_trace *t, const struct ht_side_table *table, uint64_t row, const char *name)
{
	double us;
	if (!ht_side_f64(t, ht_side_column_find(t, table, name), row, &us) || !(fabs(us) < 9e15))
		return 0;
	return ht_round_sat(us * 1000);
}

bool ht_op_detail_read(const struct ht_trace *t, const struct ht_side_table *table, uint64_t row,
        struct ht_op_detail *ret)
{
	*ret = (struct ht_op_detail){
		.name = ht_side_str(t, ht_side_column_find(t, table, "Name"), row),
		.shape = ht_side_str(t, ht_side_column_find(t, table, "Input Shapes"), row),
		.stack = ht_side_str(t, ht_side_column_find(t, table, "Call Stack"), row),
		.device_self_ns = ns_of(t, table, row, "Device Self Duration(us)"),
		.device_total_ns = ns_of(t, table, row, "Device Total Duration(us)"),
		.host_self_ns = ns_of(t, table, row, "Host Self Duration(us)"),
		.host_total_ns = ns_of(t, table, row, "Host Total Duration(us)"),
		.tc_self_ns = ns_of(t, table, row, "Device Self Duration With AICore(us)"),
		.tc_total_ns = ns_of(t, table, row, "Device Total Duration With AICore(us)"),
	};
	return ret->name != NULL;
}
