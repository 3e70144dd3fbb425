/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_facts.c - see step_facts.h.
 */
#include "verdict/step_facts.h"

#include "model/advice/slow_step.h"
#include "model/communication/comm_calls.h"
#include "model/communication/exporter.h"
#include "store/earlier_work.h"
#include "store/trace_meta.h"

const struct ht_column ht_found_step_columns[HT_N_FOUND_STEP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_FOUND_STEP_COLUMNS);

const enum ht_busy ht_found_host_roles[HT_N_HOST_ROLES] = { HT_BUSY_COMM, HT_BUSY_LOADER,
	HT_BUSY_CPU, HT_BUSY_OTHER };

/* What the steps go to where nothing but the host was recorded, or ranks communicate by its calls; NULL where there is GPU
 * work, whose time tells more. */
static enum ht_status split_host(
        struct ht_run *run, const struct ht_bounds *bounds, int64_t (**ret_ns)[HT_N_BUSY])
{
	struct ht_run whole = *run;
	struct ht_busy_times times = { 0 };
	struct ht_traits traits;
	struct ht_frame frame;
	const uint32_t *calls;
	size_t n_calls;
	*ret_ns = NULL;
	HT_TRY(ht_comm_host_calls(run, &calls, &n_calls));
	if ((run->trace->n_gpu && !n_calls) || !bounds->n)
		return HT_OK;
	whole.step = "all";
	HT_TRY(ht_frame_make(&whole, &frame));
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_busy_make(run, &frame, &traits, &times));
	return ht_busy_split(run, bounds, &times, ret_ns);
}

static enum ht_status put_steps(struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	const struct ht_trace *t = run->trace;
	int64_t(*ns)[HT_N_BUSY] = NULL, unlaunched_ns;
	HT_TRY(split_host(run, bounds, &ns));
	HT_TRY(ht_unlaunched_end(run->ctx, run->scratch, t, &unlaunched_ns));
	for (size_t i = 0; i < bounds->n; i++) {
		const struct ht_bound *b = &bounds->list[i];
		const struct ht_step *step = b->i_step == HT_NONE ? NULL : &t->steps[b->i_step];
		bool on_host = step && t->meta->has_host_steps;
		ht_table_row(table);
		ht_table_put_known(table, HT_FOUND_STEP_NUMBER,
		        step || bounds->is_named ? b->number : HT_NO_I64, HT_NO_I64);
		ht_table_put_known(table, HT_FOUND_STEP_HOST_NS,
		        on_host ? ht_sub_sat(step->end_ns, step->ts_ns) : HT_NO_I64, HT_NO_I64);
		ht_table_put_i64(table, HT_FOUND_STEP_TIME_NS, ht_bound_ns(b));
		ht_table_put_known(table, HT_FOUND_STEP_ROW, step ? step->row : HT_NONE, HT_NONE);
		ht_table_put_i64(table, HT_FOUND_STEP_BEHIND, ht_step_is_behind(b, unlaunched_ns));
		for (size_t k = HT_FOUND_STEP_COMPUTING_NS; k <= HT_FOUND_STEP_FREE_NS; k++)
			ht_table_put_null(table, k);
		for (size_t k = 0; k < HT_N_HOST_ROLES; k++)
			ht_table_put_known(table, HT_FOUND_STEP_ROLES + k,
			        ns ? ns[i][ht_found_host_roles[k]] : HT_NO_I64, HT_NO_I64);
	}
	return HT_OK;
}

/* Of a rank without events those that its exporter has. */
static enum ht_status put_told_steps(struct ht_run *run, ht_table *table)
{
	struct ht_exporter_step *steps = NULL;
	size_t n = 0;
	HT_TRY(ht_exporter_steps(run, false, &steps, &n));
	for (size_t i = 0; i < n; i++) {
		ht_table_row(table);
		ht_table_put_known(table, HT_FOUND_STEP_NUMBER, steps[i].number, HT_NO_I64);
		ht_table_put_null(table, HT_FOUND_STEP_HOST_NS);
		ht_table_put_i64(table, HT_FOUND_STEP_TIME_NS, steps[i].step_ns);
		ht_table_put_null(table, HT_FOUND_STEP_ROW);
		ht_table_put_i64(table, HT_FOUND_STEP_BEHIND, 0);
		ht_table_put_i64(table, HT_FOUND_STEP_COMPUTING_NS, steps[i].computing_ns);
		ht_table_put_i64(table, HT_FOUND_STEP_EXPOSED_NS, steps[i].exposed_ns);
		ht_table_put_i64(table, HT_FOUND_STEP_FREE_NS, steps[i].free_ns);
		for (size_t k = 0; k < HT_N_HOST_ROLES; k++)
			ht_table_put_null(table, HT_FOUND_STEP_ROLES + k);
	}
	return HT_OK;
}

enum ht_status ht_found_steps_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	return bounds->n ? put_steps(run, bounds, table) : put_told_steps(run, table);
}
