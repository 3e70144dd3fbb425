/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_calls.c - see chosen_calls.h.
 */
#include "model/communication/chosen_calls.h"
#include "model/rows/selection.h"
#include "base/sort.h"
#include "store/columns.h"

const struct ht_column ht_chosen_call_columns[HT_N_CHOSEN_CALL_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_CHOSEN_CALL_COLUMNS);

static void put_row(ht_table *table, uint32_t row)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_CHOSEN_CALL_ROW, row);
}

enum ht_status ht_chosen_calls_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *table)
{
	const uint32_t *calls = NULL;
	size_t n = 0;
	bool *in = NULL;
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &frame->trace->gpu[frame->gpu[i]];
		if (gpu->class_ == HT_CLASS_COMM)
			put_row(table, gpu->row);
	}
	HT_TRY(ht_comm_host_calls(run, &calls, &n));
	if (n)
		HT_TRY(ht_frame_marks(run, frame, &in));
	for (size_t i = 0; i < n; i++)
		if (in[calls[i]])
			put_row(table, calls[i]);
	return HT_OK;
}

/* The place of a row in a list of them, from that of the row before on; NULL: none. */
static const struct ht_call_place *find_place(
        const struct ht_matches *matches, size_t i_rank, int64_t row, size_t *at)
{
	const struct ht_call_place *places = matches->places[i_rank];
	size_t n = matches->n_places[i_rank];
	if (*at && places[*at - 1].row >= row)
		return ht_matches_find(matches, i_rank, row);
	while (*at < n && places[*at].row < row)
		++*at;
	return *at < n && places[*at].row == row ? &places[*at] : NULL;
}

/* By collective; those of one as they were, by part. */
static bool sort_calls(struct ht_run *run, struct ht_chosen_call **calls, size_t n)
{
	const struct ht_collective *first = run->matches[0]->collectives;
	uint64_t *keys = ht_arena_room(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_room(run->scratch, (n + 1) * sizeof *order);
	struct ht_chosen_call *sorted = ht_arena_room(run->scratch, (n + 1) * sizeof *sorted);
	if (!keys || !order || !sorted)
		return false;
	for (size_t i = 0; i < n; i++) {
		keys[i] = (uint64_t)((*calls)[i].collective - first);
		order[i] = (uint32_t)i;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, order, n))
		return false;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (*calls)[order[i]];
	*calls = sorted;
	return true;
}

enum ht_status ht_chosen_calls_get(struct ht_run *run, const struct ht_parts *parts, size_t k,
        const struct ht_chosen_call **ret_calls, size_t *ret_n)
{
	const struct ht_matches *matches = run->matches[0];
	struct ht_common_steps common;
	size_t n = 0;
	HT_TRY(ht_common_steps_make(run, 0, &common));
	struct ht_chosen_call *calls =
	        ht_arena_room(run->scratch, (ht_parts_n_rows(parts, k) + 1) * sizeof *calls);
	if (!calls)
		return ht_fail_nomem(run->ctx);
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *facts = parts->list[p].facts[k];
		size_t i_rank = ht_roster_find(run->rosters[0], parts->list[p].rank), at = 0;
		for (size_t i = 0; i_rank != SIZE_MAX && i < ht_table_n_rows(facts); i++) {
			const struct ht_call_place *place = find_place(
			        matches, i_rank, ht_table_i64(facts, i, HT_CHOSEN_CALL_ROW), &at);
			if (place && ht_common_steps_have(&common, place->call->step))
				calls[n++] = (struct ht_chosen_call){ place->collective,
					place->call, p };
		}
	}
	if (!sort_calls(run, &calls, n))
		return ht_fail_nomem(run->ctx);
	*ret_calls = calls;
	*ret_n = n;
	return HT_OK;
}

void ht_alone_calls_add(struct ht_alone_calls *alone, const struct ht_comm_call *call)
{
	alone->n++;
	alone->n_unlaunched += call->launch_ns == HT_NO_I64;
}

enum ht_status ht_chosen_calls_note(
        ht_table *table, const struct ht_alone_calls *alone, size_t n_calls)
{
	size_t n_other = alone->n - alone->n_unlaunched;
	if (alone->n_unlaunched)
		HT_TRY(ht_table_add_note(table,
		        "%zu of %zu calls cannot be matched: their launch is not in the recording, so that "
		        "their position is not known",
		        alone->n_unlaunched, n_calls));
	if (!n_other)
		return HT_OK;
	return ht_table_add_note(
	        table, "%zu of %zu calls have no counterpart on another rank", n_other, n_calls);
}
