/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_launches.c - see graph_launches.h.
 */
#include "model/origin/graph_launches.h"

#include "base/checked.h"
#include "model/numbers/interval.h"
#include "model/origin/tape.h"
#include "store/columns.h"

#include <stdlib.h>

/* An activity of the frame. */
struct activity {
	int32_t device;
	uint32_t call;   /* string id of the call, HT_NO_STR: no graph launch */
	uint32_t launch; /* row */
	uint32_t row;
};

static int by_launch(const void *left, const void *right)
{
	const struct activity *a = left, *b = right;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->launch != b->launch)
		return a->launch < b->launch ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

struct finding {
	struct ht_run *run;
	const struct ht_trace *t;
	struct ht_interval *busy, *spans;
};

/* The activities of one launch. */
static struct ht_interval add_launch(
        const struct finding *f, const struct activity *list, size_t n, struct ht_graph_launches *g)
{
	struct ht_interval span = { INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < n; i++) {
		int64_t start = f->t->ts_ns[list[i].row], end = ht_end_ns(f->t, list[i].row);
		span.start = start < span.start ? start : span.start;
		span.end = end > span.end ? end : span.end;
		ht_sum(&g->gpu_ns, f->t->dur_ns[list[i].row]);
		g->n_kernels += f->t->kind[list[i].row] == HT_KIND_KERNEL;
	}
	g->least = !g->n || (int64_t)n < g->least ? (int64_t)n : g->least;
	g->most = (int64_t)n > g->most ? (int64_t)n : g->most;
	g->n++;
	g->n_activities += (int64_t)n;
	ht_sum(&g->cpu_ns, f->t->dur_ns[list[0].launch]);
	return span;
}

/* The launches by calls of one name, on a device whose merged activities are given. */
static void add_calls(const struct finding *f, const struct activity *list, size_t n, size_t n_busy,
        struct ht_graph_launches *g)
{
	size_t n_spans = 0;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && list[end].launch == list[i].launch;)
			end++;
		f->spans[n_spans++] = add_launch(f, list + i, end - i, g);
	}
	n_spans = ht_interval_merge(f->run->ctx->mem, f->spans, n_spans);
	int64_t busy_inside = ht_interval_overlap(f->busy, n_busy, f->spans, n_spans);
	int64_t from = f->spans[0].start, to = f->spans[n_spans - 1].end;
	int64_t busy = ht_interval_within(f->busy, n_busy, from, to);
	g->span_ns = ht_interval_length(f->spans, n_spans);
	g->inside_ns = g->span_ns - busy_inside;
	g->between_ns = ht_sub_sat(to, from) - g->span_ns - (busy - busy_inside);
}

static enum ht_status collect(
        struct finding *f, const struct ht_frame *frame, struct activity **ret)
{
	size_t n = frame->n_gpu;
	struct activity *list = ht_arena_room(f->run->scratch, (n + 1) * sizeof *list);
	f->busy = ht_arena_room(f->run->scratch, (n + 1) * sizeof *f->busy);
	f->spans = ht_arena_room(f->run->scratch, (n + 1) * sizeof *f->spans);
	if (!list || !f->busy || !f->spans)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < n; i++) {
		const struct ht_gpu *gpu = &f->t->gpu[frame->gpu[i]];
		bool is_graph = gpu->launch != HT_NONE &&
		                ht_is_graph_launch_name(ht_str(f->t, f->t->name[gpu->launch]));
		list[i] = (struct activity){ gpu->device,
			is_graph ? f->t->name[gpu->launch] : HT_NO_STR, gpu->launch, gpu->row };
	}
	qsort(list, n, sizeof *list, by_launch);
	*ret = list;
	return HT_OK;
}

enum ht_status ht_graph_launches_find(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_graph_launches **ret_list, size_t *ret_n)
{
	struct finding f = { .run = run, .t = run->trace };
	struct activity *list = NULL;
	size_t n = frame->n_gpu, n_found = 0;
	HT_TRY(collect(&f, frame, &list));
	struct ht_graph_launches *found = ht_arena_alloc(run->scratch, (n + 1) * sizeof *found);
	if (!found)
		return ht_fail_nomem(run->ctx);
	for (size_t first = 0, last; first < n; first = last) {
		for (last = first; last < n && list[last].device == list[first].device; last++)
			f.busy[last - first] = (struct ht_interval){ f.t->ts_ns[list[last].row],
				ht_end_ns(f.t, list[last].row) };
		size_t n_busy = ht_interval_merge(run->ctx->mem, f.busy, last - first);
		for (size_t i = first, end; i < last; i = end) {
			for (end = i; end < last && list[end].call == list[i].call;)
				end++;
			if (list[i].call == HT_NO_STR)
				continue;
			struct ht_graph_launches *g = &found[n_found++];
			g->device = list[i].device;
			g->call = ht_str(f.t, list[i].call);
			add_calls(&f, list + i, end - i, n_busy, g);
		}
	}
	*ret_list = found;
	*ret_n = n_found;
	return HT_OK;
}
