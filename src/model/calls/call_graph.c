/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.c - see call_graph.h.
 */
#include "model/calls/call_graph.h"

#include "model/rows/inside.h"
#include "base/checked.h"
#include "store/columns.h"

#include <string.h>

struct build {
	struct ht_run *run;
	const struct ht_trace *trace;
	size_t n; /* rows */
	uint32_t *parent, *order;
	int32_t *depth;
	size_t n_order;
};

static bool is_host_span(const struct ht_trace *trace, uint32_t row, const void *user)
{
	uint8_t kind = trace->kind[row];
	(void)user;
	return ht_is_span(trace, row) && !ht_kind_is_gpu_work(kind) &&
	       kind != HT_KIND_GPU_ANNOTATION && kind != HT_KIND_SYNC &&
	       kind != HT_KIND_TRACE_SPAN && kind != HT_KIND_PROFILER_RANGE;
}

static enum ht_status allocate(struct build *b)
{
	struct ht_arena *arena = b->run->scratch;
	size_t n = b->n + 1;
	b->parent = ht_arena_room(arena, n * sizeof *b->parent);
	b->order = ht_arena_room(arena, n * sizeof *b->order);
	b->depth = ht_arena_room(arena, n * sizeof *b->depth);
	return b->parent && b->order && b->depth ? HT_OK : ht_fail_nomem(b->run->ctx);
}

/* ---- stitching of autograd threads ---- */

enum { STACK_OTHER, STACK_BACKWARD, STACK_MAIN };

/* What each track holds, by the names of its host spans. */
static enum ht_status label_tracks(struct build *b, uint8_t **ret_labels)
{
	const struct ht_trace *trace = b->trace;
	size_t n_strings = trace->n_string_offsets ? trace->n_string_offsets - 1 : 0;
	uint8_t *names = ht_arena_alloc(b->run->scratch, n_strings + 1);
	uint8_t *labels = ht_arena_alloc(b->run->scratch, trace->n_tracks + 1);
	if (!names || !labels)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t id = 0; id < n_strings; id++) {
		const char *text = ht_str(trace, id);
		if (strncmp(text, "ProfilerStep#", 13) == 0)
			names[id] = STACK_MAIN;
		else if (strstr(text, "autograd::"))
			names[id] = STACK_BACKWARD;
	}
	for (uint32_t row = 0; row < b->n; row++) {
		if (b->depth[row] < -1 || trace->name[row] == HT_NO_STR)
			continue;
		uint8_t label = names[trace->name[row]];
		if (label > labels[trace->track[row]])
			labels[trace->track[row]] = label;
	}
	*ret_labels = labels;
	return HT_OK;
}

/* The rows of the main thread that adopt autograd work, ascending by time. */
static enum ht_status find_adopters(
        struct build *b, uint32_t main_track, const uint32_t **ret_rows, size_t *ret_n)
{
	const struct ht_trace *trace = b->trace;
	const struct ht_track *track = &trace->tracks[main_track];
	uint32_t *rows = ht_arena_alloc(b->run->scratch, (track->n + 1) * sizeof *rows);
	if (!rows)
		return ht_fail_nomem(b->run->ctx);
	static const char *const prefixes[] = { "## backward ##", "ProfilerStep#" };
	size_t n = 0;
	for (size_t p = 0; p < HT_COUNT(prefixes) && n == 0; p++)
		for (uint32_t i = 0; i < track->n; i++) {
			uint32_t row = trace->track_rows[track->first + i];
			const char *name = ht_str(trace, trace->name[row]);
			if (b->depth[row] >= -1 &&
			        strncmp(name, prefixes[p], strlen(prefixes[p])) == 0)
				rows[n++] = row;
		}
	*ret_rows = rows;
	*ret_n = n;
	return HT_OK;
}

static void adopt(struct build *b, uint32_t i_track, const uint32_t *adopters, size_t n)
{
	const struct ht_trace *trace = b->trace;
	const struct ht_track *track = &trace->tracks[i_track];
	size_t next = 0;
	for (uint32_t i = 0; i < track->n; i++) {
		uint32_t row = trace->track_rows[track->first + i];
		if (b->depth[row] < -1 || b->parent[row] != HT_NONE)
			continue;
		while (next < n && trace->ts_ns[adopters[next]] <= trace->ts_ns[row])
			next++;
		if (next && ht_end_ns(trace, adopters[next - 1]) >= ht_end_ns(trace, row))
			b->parent[row] = adopters[next - 1];
	}
}

/* One main thread, one autograd thread. */
static enum ht_status stitch_one(struct build *b)
{
	uint8_t *labels = NULL;
	HT_TRY(label_tracks(b, &labels));
	uint32_t main_track = HT_NONE;
	size_t n_main = 0, n_backward = 0;
	for (uint32_t i = 0; i < b->trace->n_tracks; i++) {
		if (labels[i] == STACK_MAIN) {
			main_track = i;
			n_main++;
		}
		n_backward += labels[i] == STACK_BACKWARD;
	}
	if (n_main != 1 || n_backward != 1)
		return HT_OK;
	const uint32_t *adopters = NULL;
	size_t n = 0;
	HT_TRY(find_adopters(b, main_track, &adopters, &n));
	for (uint32_t i = 0; i < b->trace->n_tracks; i++)
		if (labels[i] == STACK_BACKWARD)
			adopt(b, i, adopters, n);
	return HT_OK;
}

/* ---- trees ---- */

/* depth is -2 for rows in no tree, -1 for rows not yet visited. */
static void link_rows(struct build *b, const struct ht_frame *frame, const uint32_t *around)
{
	const struct ht_trace *trace = b->trace;
	for (uint32_t row = 0; row < b->n; row++) {
		bool host = is_host_span(trace, row, NULL);
		b->parent[row] = host ? around[row] : HT_NONE;
		b->depth[row] = host ? -1 : -2;
	}
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &trace->gpu[frame->gpu[i]];
		if (gpu->launch == HT_NONE || b->depth[gpu->launch] != -1)
			continue;
		b->parent[gpu->row] = gpu->launch;
		b->depth[gpu->row] = -1;
	}
}

/* Climb to the first row of known depth, then number the way down again; the way is kept in order[],
 * which is not in use yet. Returns the largest depth. */
static int32_t number_depths(struct build *b)
{
	int32_t deepest = -1;
	for (uint32_t row = 0; row < b->n; row++) {
		size_t n_way = 0;
		uint32_t at = row;
		while (at != HT_NONE && b->depth[at] == -1) {
			b->order[n_way++] = at;
			at = b->parent[at];
		}
		int32_t depth = at == HT_NONE || b->depth[at] < 0 ? 0 : b->depth[at] + 1;
		while (n_way)
			b->depth[b->order[--n_way]] = depth++;
		if (depth - 1 > deepest)
			deepest = depth - 1;
	}
	for (uint32_t row = 0; row < b->n; row++)
		if (b->depth[row] < 0)
			b->depth[row] = -1;
	return deepest;
}

/* Counting sort by depth: parents before children, whatever their order in the file. */
static enum ht_status order_rows(struct build *b, int32_t deepest)
{
	size_t n_levels = (size_t)(deepest + 1);
	size_t *starts = ht_arena_alloc(b->run->scratch, (n_levels + 1) * sizeof *starts);
	if (!starts)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t row = 0; row < b->n; row++)
		if (b->depth[row] >= 0)
			starts[b->depth[row] + 1]++;
	for (size_t level = 0; level < n_levels; level++)
		starts[level + 1] += starts[level];
	b->n_order = starts[n_levels];
	for (uint32_t row = 0; row < b->n; row++)
		if (b->depth[row] >= 0)
			b->order[starts[b->depth[row]]++] = row;
	return HT_OK;
}

enum ht_status ht_call_graph_make(struct ht_run *run, const struct ht_frame *frame,
        bool one_backward, struct ht_call_graph *ret_graph)
{
	struct build b = { .run = run, .trace = frame->trace, .n = frame->trace->n_kind };
	uint32_t *around = NULL;
	HT_TRY(allocate(&b));
	struct ht_autograd autograd = { .parent = frame->trace->parent };
	if (!one_backward)
		HT_TRY(ht_autograd_make(run, frame->trace, &autograd));
	HT_TRY(ht_inside_nearest(run, frame->trace, &autograd, is_host_span, NULL, &around));
	link_rows(&b, frame, around);
	if (one_backward)
		HT_TRY(stitch_one(&b));
	HT_TRY(order_rows(&b, number_depths(&b)));
	*ret_graph = (struct ht_call_graph){
		.parent = b.parent, .depth = b.depth, .order = b.order, .n_order = b.n_order
	};
	return HT_OK;
}

/* ---- sums ---- */

struct sums {
	uint32_t *n_kernels;
	int32_t *height;
	int64_t *kernel_ns, *first_ns, *last_ns;
};

/* Rows by themselves. */
static void start_sums(
        const struct ht_frame *frame, const struct ht_call_graph *graph, struct sums *s)
{
	const struct ht_trace *trace = frame->trace;
	for (uint32_t row = 0; row < trace->n_kind; row++) {
		s->height[row] = graph->depth[row] < 0 ? -1 : 1;
		s->first_ns[row] = s->last_ns[row] = HT_NO_I64;
	}
	for (size_t i = 0; i < frame->n_gpu; i++) {
		uint32_t row = trace->gpu[frame->gpu[i]].row;
		if (graph->depth[row] < 0)
			continue;
		s->height[row] = 0;
		s->n_kernels[row] = 1;
		s->kernel_ns[row] = trace->dur_ns[row];
		s->first_ns[row] = trace->ts_ns[row];
		s->last_ns[row] = ht_end_ns(trace, row);
	}
}

static void sum_subtrees(const struct ht_call_graph *graph, struct sums *s)
{
	for (size_t i = graph->n_order; i-- > 0;) {
		uint32_t row = graph->order[i], up = graph->parent[row];
		if (up == HT_NONE)
			continue;
		if (s->height[up] < s->height[row] + 1)
			s->height[up] = s->height[row] + 1;
		if (!s->n_kernels[row])
			continue;
		s->n_kernels[up] += s->n_kernels[row];
		ht_sum(&s->kernel_ns[up], s->kernel_ns[row]);
		if (s->first_ns[up] == HT_NO_I64 || s->first_ns[row] < s->first_ns[up])
			s->first_ns[up] = s->first_ns[row];
		if (s->last_ns[row] > s->last_ns[up])
			s->last_ns[up] = s->last_ns[row];
	}
}

enum ht_status ht_call_graph_sum(
        struct ht_run *run, const struct ht_frame *frame, struct ht_call_graph *graph)
{
	struct ht_arena *arena = run->scratch;
	size_t n = frame->trace->n_kind + 1;
	struct sums s = { .n_kernels = ht_arena_alloc(arena, n * sizeof *s.n_kernels),
		.height = ht_arena_room(arena, n * sizeof *s.height),
		.kernel_ns = ht_arena_alloc(arena, n * sizeof *s.kernel_ns),
		.first_ns = ht_arena_room(arena, n * sizeof *s.first_ns),
		.last_ns = ht_arena_room(arena, n * sizeof *s.last_ns) };
	if (!s.n_kernels || !s.height || !s.kernel_ns || !s.first_ns || !s.last_ns)
		return ht_fail_nomem(run->ctx);
	start_sums(frame, graph, &s);
	sum_subtrees(graph, &s);
	graph->height = s.height;
	graph->n_kernels = s.n_kernels;
	graph->kernel_ns = s.kernel_ns;
	graph->first_kernel_ns = s.first_ns;
	graph->last_kernel_ns = s.last_ns;
	return HT_OK;
}
