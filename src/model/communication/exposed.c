/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed.c - see exposed.h.
 */
#include "model/communication/exposed.h"

#include "base/mem.h"
#include "model/policy.h"

const struct ht_column ht_exposed_call_columns[HT_N_EXPOSED_CALL_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EXPOSED_CALL_COLUMNS);
const struct ht_column ht_exposed_gap_columns[HT_N_EXPOSED_GAP_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_EXPOSED_GAP_COLUMNS);

enum ht_status ht_exposed_put(struct ht_run *run, int64_t key, const struct ht_exposed_call *calls,
        size_t n_calls, const struct ht_interval *communication, size_t n_communication,
        const struct ht_interval *compute, size_t n_compute, ht_table *call_facts,
        ht_table *gap_facts)
{
	if (run->policy->waits_in_transfers || (run->rosters[run->side]->n < 2 && !run->is_partial))
		return HT_OK;
	/* keys may be as many as kernels: each looks at what is near it */
	if (n_communication)
		compute = ht_interval_slice(compute, n_compute, communication[0].start,
		        communication[n_communication - 1].end, &n_compute);
	size_t n_bytes = (n_communication + n_compute + 1) * sizeof(struct ht_interval);
	struct ht_interval *gaps = ht_mem_alloc(run->ctx->mem, n_bytes);
	if (!gaps)
		return ht_fail_nomem(run->ctx);
	size_t n = ht_interval_subtract(communication, n_communication, compute, n_compute, gaps);
	for (size_t i = 0; i < n_calls; i++) {
		ht_table_row(call_facts);
		ht_table_put_i64(call_facts, HT_EXPOSED_CALL_KEY, key);
		ht_table_put_i64(call_facts, HT_EXPOSED_CALL_ROW, calls[i].row);
		ht_table_put_i64(call_facts, HT_EXPOSED_CALL_START_NS, calls[i].time.start);
		ht_table_put_i64(call_facts, HT_EXPOSED_CALL_END_NS, calls[i].time.end);
	}
	for (size_t i = 0; i < n; i++) {
		ht_table_row(gap_facts);
		ht_table_put_i64(gap_facts, HT_EXPOSED_GAP_KEY, key);
		ht_table_put_i64(gap_facts, HT_EXPOSED_GAP_START_NS, gaps[i].start);
		ht_table_put_i64(gap_facts, HT_EXPOSED_GAP_END_NS, gaps[i].end);
	}
	ht_mem_free(run->ctx->mem, gaps, n_bytes);
	return HT_OK;
}

struct exposed {
	int64_t wait_ns, transfer_ns; /* HT_NO_I64 when a kernel's wait is not known */
};

/* Rows of one key stand together, and keys ascend. */
static size_t end_of_key(const ht_table *facts, size_t from, int64_t key)
{
	const int64_t *keys = ht_table_cells(facts, 0);
	while (from < ht_table_n_rows(facts) && keys[from] == key)
		from++;
	return from;
}

/* Transfers of one key, merged; false when a wait is not known. */
static bool list_transfers(struct ht_run *run, const struct ht_matches *matches, size_t i_rank,
        const ht_table *facts, size_t from, size_t to, struct ht_interval *times, size_t *ret_n)
{
	const int64_t *rows = ht_table_cells(facts, HT_EXPOSED_CALL_ROW),
	              *starts = ht_table_cells(facts, HT_EXPOSED_CALL_START_NS),
	              *ends = ht_table_cells(facts, HT_EXPOSED_CALL_END_NS);
	size_t n = 0;
	for (size_t row = from; row < to; row++) {
		const struct ht_call_place *place = ht_matches_find(matches, i_rank, rows[row]);
		if (!place || place->call->wait_ns == HT_NO_I64)
			return false;
		times[n++] = (struct ht_interval){ starts[row] + place->call->wait_ns, ends[row] };
	}
	*ret_n = ht_interval_merge(run->ctx->mem, times, n);
	return true;
}

static struct exposed split(const struct ht_interval *transfers, size_t n_transfers,
        const struct ht_interval *gaps, size_t n_gaps)
{
	int64_t all_ns = ht_interval_length(gaps, n_gaps);
	int64_t transfer_ns = ht_interval_overlap(transfers, n_transfers, gaps, n_gaps);
	return (struct exposed){ all_ns - transfer_ns, transfer_ns };
}

/* exposed has an entry per key. */
static enum ht_status split_all(struct ht_run *run, const struct ht_part *part, size_t calls_k,
        size_t gaps_k, struct exposed *exposed, size_t n_keys)
{
	const struct ht_matches *matches = run->matches[part->side];
	const ht_table *calls = part->facts[calls_k], *gaps = part->facts[gaps_k];
	const int64_t *starts = ht_table_cells(gaps, HT_EXPOSED_GAP_START_NS),
	              *ends = ht_table_cells(gaps, HT_EXPOSED_GAP_END_NS);
	size_t i_rank = ht_roster_find(run->rosters[part->side], part->rank);
	struct ht_interval *transfers =
	        ht_arena_room(run->scratch, (ht_table_n_rows(calls) + 1) * sizeof *transfers);
	struct ht_interval *list =
	        ht_arena_room(run->scratch, (ht_table_n_rows(gaps) + 1) * sizeof *list);
	if (!transfers || !list)
		return ht_fail_nomem(run->ctx);
	for (size_t key = 0, call = 0, gap = 0; key < n_keys; key++) {
		size_t first_call = call, first_gap = gap, n_transfers = 0;
		call = end_of_key(calls, call, (int64_t)key);
		gap = end_of_key(gaps, gap, (int64_t)key);
		exposed[key] = (struct exposed){ HT_NO_I64, HT_NO_I64 };
		if (!matches || i_rank == SIZE_MAX || run->policy->waits_in_transfers ||
		        !list_transfers(run, matches, i_rank, calls, first_call, call, transfers,
		                &n_transfers))
			continue;
		for (size_t row = first_gap; row < gap; row++)
			list[row - first_gap] = (struct ht_interval){ starts[row], ends[row] };
		exposed[key] = split(transfers, n_transfers, list, gap - first_gap);
	}
	return HT_OK;
}

enum ht_status ht_exposed_rows(struct ht_run *run, const struct ht_part *part, size_t calls_k,
        size_t gaps_k, size_t wait, ht_table *table)
{
	const ht_table *rows = part->facts[0];
	size_t n_keys = ht_table_n_rows(rows);
	struct exposed *exposed = ht_arena_room(run->scratch, (n_keys + 1) * sizeof *exposed);
	struct ht_run one = *run;
	struct ht_arena own;
	if (!exposed)
		return ht_fail_nomem(run->ctx);
	/* the lists of one rank are not kept beside those of the next */
	ht_arena_init_like(&own, run->scratch);
	one.scratch = &own;
	enum ht_status status = split_all(&one, part, calls_k, gaps_k, exposed, n_keys);
	ht_arena_done(&own);
	if (status != HT_OK)
		return status;
	for (size_t row = 0; row < ht_table_n_rows(rows); row++) {
		bool some = !ht_table_is_null(rows, row, wait - 1);
		ht_table_row(table);
		for (size_t c = 0; c < ht_table_n_columns(rows); c++) {
			if (some && c == wait)
				ht_table_put_known(table, c, exposed[row].wait_ns, HT_NO_I64);
			else if (some && c == wait + 1)
				ht_table_put_known(table, c, exposed[row].transfer_ns, HT_NO_I64);
			else
				ht_table_put_cell(table, c, rows, row, c);
		}
	}
	return HT_OK;
}
