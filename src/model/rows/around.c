/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.c - see around.h.
 */
#include "model/rows/around.h"

#include "store/trace.h"

enum ht_status ht_around_init(struct ht_run *run, const struct ht_trace *trace,
        bool (*is_it)(const void *data, uint32_t row), const void *data,
        struct ht_around *ret_around)
{
	*ret_around = (struct ht_around){
		.trace = trace,
		.is_it = is_it,
		.data = data,
		.found = ht_arena_alloc(run->scratch, (ht_n_events(trace) + 1) * sizeof(uint32_t)),
	};
	return ret_around->found ? HT_OK : ht_fail_nomem(run->ctx);
}

uint32_t ht_around_find(struct ht_around *around, uint32_t row)
{
	const uint32_t *parent = around->trace->parent;
	uint32_t at = row, nearest;
	while (at != HT_NONE && !around->found[at] && !around->is_it(around->data, at))
		at = parent[at];
	nearest = at == HT_NONE || !around->found[at] ? at : around->found[at] - 2;
	for (; row != at; row = parent[row])
		around->found[row] = nearest + 2;
	return nearest;
}

/* Whether more is to be looked for at a row. */
static bool is_open(const struct ht_around *around, uint32_t row)
{
	return row != HT_NONE && !around->found[row] &&
	       !(around->is_end && around->is_end(around->data, row));
}

uint32_t ht_around_outermost(struct ht_around *around, uint32_t row)
{
	const uint32_t *parent = around->trace->parent;
	uint32_t at = row, outermost = HT_NONE;
	for (; is_open(around, at); at = parent[at])
		if (around->is_it(around->data, at))
			outermost = at;
	if (at != HT_NONE && around->found[at] && around->found[at] - 2 != HT_NONE)
		outermost = around->found[at] - 2;
	for (uint32_t found = outermost; row != at; row = parent[row]) {
		around->found[row] = found + 2;
		if (row == outermost)
			found = HT_NONE; /* for what is around it */
	}
	return outermost;
}
