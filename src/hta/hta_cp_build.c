/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_cp_build.c - HTA's critical path graph from a trace and a window. See hta_cp_graph.h.
 *
 * Window, nodes and edges have their own files; this one holds what they share.
 */
#include "hta/hta_cp_build.h"

#include "hta/hta_names.h"

double ht_cp_time(const struct ht_cp_builder *b, uint32_t row, bool end)
{
	const struct ht_trace *t = b->trace;
	double start = ht_hta_us(t->ts_ns[row]) - b->zero;
	return end ? start + (double)t->dur_ns[row] / 1000 : start;
}

enum ht_status ht_cp_events_make(struct ht_cp_builder *b, const uint8_t *chosen)
{
	const struct ht_trace *t = b->trace;
	struct ht_cp_graph *g = b->g;
	size_t n = 0;
	for (size_t row = 0; row < t->n_kind; row++)
		n += chosen[row] != 0;
	g->events = ht_cp_alloc(b, n, sizeof *g->events);
	g->time = ht_cp_alloc(b, 2 * n, sizeof *g->time);
	g->event_of_row = ht_cp_alloc(b, t->n_kind, sizeof *g->event_of_row);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	size_t k = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		g->event_of_row[row] = HT_NONE;
		if (!chosen[row])
			continue;
		while (k < t->n_gpu && t->gpu[k].row < row)
			k++;
		uint32_t event = (uint32_t)g->n_events++;
		g->event_of_row[row] = event;
		g->events[event].row = row;
		g->events[event].gpu = k < t->n_gpu && t->gpu[k].row == row ? (uint32_t)k : HT_NONE;
		g->time[ht_cp_start(event)] = ht_cp_time(b, row, false);
		g->time[ht_cp_end(event)] = ht_cp_time(b, row, true);
	}
	return HT_OK;
}

/* ---- the whole ---- */

static enum ht_status build(struct ht_cp_builder *b)
{
	HT_TRY(ht_hta_cp_select(b));
	if (b->g->empty)
		return HT_OK;
	HT_TRY(ht_hta_cp_host_edges(b));
	HT_TRY(ht_hta_cp_gpu_edges(b));
	return ht_cp_graph_seal(b);
}

enum ht_status ht_cp_build(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_cp_graph *ret_graph)
{
	struct ht_cp_graph g = { .trace = run->trace, .options = *options };
	struct ht_cp_builder b = { .run = run, .g = &g, .trace = g.trace };
	HT_TRY(ht_cp_names_make(run, g.trace, options->data_load, ht_hta_is_wait, &b.names));
	g.name_bits = b.names.bits;
	enum ht_status status = build(&b);
	ht_cp_names_done(&b.names);
	HT_TRY(status);
	*ret_graph = g;
	return HT_OK;
}
