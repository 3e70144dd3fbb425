/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - see frame.h.
 *
 * Every row has its step (store/step_threads.h), and the steps are chosen once (selection.h); chosen annotations are
 * windows, thread by thread (inside.h): a host row is in when it starts inside one, GPU work when its launch does. The
 * policy may have another selection.
 */
#include "model/rows/frame.h"
#include "base/mem.h"
#include "base/memo.h"
#include "model/policy.h"
#include "model/rows/inside.h"
#include "model/rows/selection.h"
#include "base/search.h"
#include "base/sort.h"
#include "store/args.h"
#include "table/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- our selection ---- */

struct windows {
	struct ht_interval *list; /* merged */
	size_t n;
};

/* A row of the table at all: an event with a duration and a category, or of a kind that the dialect
 * tells without one (NPU work). */
static inline bool is_row(const struct ht_trace *t, uint32_t row)
{
	bool known = t->kind[row] != HT_KIND_OTHER || t->categories[t->cat[row]].name != HT_NO_STR;
	return ht_is_span(t, row) && known && t->kind[row] != HT_KIND_TRACE_SPAN;
}

struct selection {
	const struct ht_trace *t;
	struct ht_selection steps;
	bool annotated; /* only what is inside chosen annotations */
	struct ht_autograd autograd;
	struct ht_inside annotations;     /* by thread, for host rows */
	struct ht_inside gpu_annotations; /* by stream, for device rows */
	struct windows any_thread;        /* annotations of all threads, for waits */
};

/* Is anything left out? */
static bool is_cut(const struct selection *s)
{
	return s->annotated || !s->steps.is_whole;
}

static bool has_text(const struct ht_trace *t, uint32_t row, const void *text)
{
	return strstr(ht_str(t, t->name[row]), text) != NULL;
}

static enum ht_status select_annotations(struct ht_run *run, struct selection *s)
{
	const struct ht_trace *t = s->t;
	struct ht_inside *a = &s->annotations;
	HT_TRY(ht_autograd_make(run, t, &s->autograd));
	HT_TRY(ht_inside_make(
	        run, t, &s->autograd, HT_KIND_ANNOTATION, has_text, run->annotation, a));
	HT_TRY(ht_inside_make(run, t, &s->autograd, HT_KIND_GPU_ANNOTATION, has_text,
	        run->annotation, &s->gpu_annotations));
	size_t n = 0;
	for (size_t k = 0; k < t->n_tracks; k++)
		n += a->n[k];
	struct ht_interval *list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t k = 0; k < t->n_tracks; k++)
		for (size_t i = 0; i < a->n[k]; i++)
			list[n++] = a->windows[a->first[k] + i];
	s->any_thread =
	        (struct windows){ .list = list, .n = ht_interval_merge(run->ctx->mem, list, n) };
	return HT_OK;
}

static enum ht_status select_steps(struct ht_run *run, struct selection *s)
{
	HT_TRY(ht_selection_of(run, &s->steps));
	s->annotated = run->annotation != NULL;
	return s->annotated ? select_annotations(run, s) : HT_OK;
}

static inline bool host_row_is_in(const struct selection *s, uint32_t row)
{
	return ht_selection_has(&s->steps, ht_step_of(s->t, row)) &&
	       (!s->annotated || ht_inside_has(&s->annotations, row));
}

static bool device_row_is_in(const struct selection *s, uint32_t row)
{
	return ht_selection_has(&s->steps, ht_step_of(s->t, row)) &&
	       (!s->annotated || ht_inside_has(&s->gpu_annotations, row));
}

/* The step of work is that of its launch, or what else the trace knows of it. */
static bool work_is_in(const struct selection *s, const struct ht_gpu *gpu)
{
	if (!s->annotated || gpu->launch == HT_NONE)
		return device_row_is_in(s, gpu->row);
	return ht_selection_has(&s->steps, ht_step_of(s->t, gpu->row)) &&
	       ht_inside_has(&s->annotations, gpu->launch);
}

static void select_gpu(const struct selection *s, uint32_t *gpu, size_t *ret_n)
{
	size_t n = 0;
	for (uint32_t i = 0; i < s->t->n_gpu; i++) {
		if (is_row(s->t, s->t->gpu[i].row) && work_is_in(s, &s->t->gpu[i]))
			gpu[n++] = i;
	}
	*ret_n = n;
}

struct external {
	int64_t id;
	uint32_t row, twin; /* twin: the host annotation that a GPU annotation shows */
};

struct externals {
	struct external *items;
	size_t n;
};

static int compare_id(const void *left, const void *right)
{
	const struct external *a = left, *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static int compare_row(const void *left, const void *right)
{
	const struct external *a = left, *b = right;
	return (a->row > b->row) - (a->row < b->row);
}

/* The first row of a kind from one on; n_kind: none. */
static uint32_t next_of_kind(const struct ht_trace *t, enum ht_kind kind, uint32_t row)
{
	const uint8_t *at = row < t->n_kind ? memchr(t->kind + row, kind, t->n_kind - row) : NULL;
	return (uint32_t)(at ? (uint64_t)(at - t->kind) : t->n_kind);
}

static enum ht_status collect_external(struct ht_run *run, const struct ht_trace *t,
        enum ht_kind kind, struct externals *ret_externals)
{
	const struct ht_arg_column *column = ht_arg_find(t, "External id", HT_ARG_I64);
	size_t n = column ? column->n : 0, at = 0;
	struct externals e = { .items = ht_arena_room(run->scratch,
		                       (ht_n_of_kind(t, kind) + 1) * sizeof *e.items) };
	if (!e.items)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = next_of_kind(t, kind, 0); row < t->n_kind && at < n;
	        row = next_of_kind(t, kind, row + 1)) {
		at = ht_arg_lower_bound(t, column, at, n, row);
		if (at < n && ht_arg_row(t, column, at) == row)
			e.items[e.n++] =
			        (struct external){ ht_arg_i64_at(t, column, at), row, HT_NONE };
	}
	qsort(e.items, e.n, sizeof *e.items, compare_id);
	*ret_externals = e;
	return HT_OK;
}

/* A GPU annotation carries the External id of the host annotation that it shows, and belongs where that
 * one starts: the GPU may be whole steps behind. The answer has those with such a twin, by row. */
static enum ht_status place_annotations(
        struct ht_run *run, const struct ht_trace *t, struct externals *ret_placed)
{
	struct externals host = { 0 }, gpu = { 0 }, placed = { 0 };
	HT_TRY(collect_external(run, t, HT_KIND_ANNOTATION, &host));
	HT_TRY(collect_external(run, t, HT_KIND_GPU_ANNOTATION, &gpu));
	placed.items = gpu.items;
	for (size_t i = 0, k = 0; i < gpu.n; i++) {
		while (k < host.n && host.items[k].id < gpu.items[i].id)
			k++;
		if (k < host.n && host.items[k].id == gpu.items[i].id)
			placed.items[placed.n++] =
			        (struct external){ 0, gpu.items[i].row, host.items[k].row };
	}
	qsort(placed.items, placed.n, sizeof *placed.items, compare_row);
	*ret_placed = placed;
	return HT_OK;
}

static bool wait_is_in(const struct selection *s, uint32_t row)
{
	int64_t ts = s->t->ts_ns[row];
	return is_row(s->t, row) && ht_selection_has(&s->steps, ht_step_of(s->t, row)) &&
	       (!s->annotated || ht_interval_has(s->any_thread.list, s->any_thread.n, ts));
}

/* Work that is in and waits, in file order. */
static size_t select_device_rows(
        const struct selection *s, const uint32_t *gpu, size_t n_gpu, uint32_t *rows)
{
	const struct ht_trace *t = s->t;
	uint32_t wait = next_of_kind(t, HT_KIND_SYNC, 0);
	size_t n = 0, k = 0;
	while (k < n_gpu || wait < t->n_kind) {
		uint32_t work = k < n_gpu ? t->gpu[gpu[k]].row : HT_NONE;
		bool is_wait = wait < work;
		if (!is_wait || wait_is_in(s, wait))
			rows[n++] = is_wait ? wait : work;
		if (is_wait)
			wait = next_of_kind(t, HT_KIND_SYNC, wait + 1);
		else
			k++;
	}
	return n;
}

/* Work that is in and waits, then everything else, each in file order. */
static enum ht_status select_rows(struct ht_run *run, const struct selection *s,
        const uint32_t *gpu, size_t n_gpu, uint32_t *rows, size_t *ret_n)
{
	const struct ht_trace *t = s->t;
	struct externals placed = { 0 };
	size_t n = select_device_rows(s, gpu, n_gpu, rows), p = 0;
	HT_TRY(place_annotations(run, t, &placed));
	for (uint32_t row = 0; row < t->n_kind; row++) {
		uint8_t kind = t->kind[row];
		if (ht_kind_is_gpu_work(kind) || kind == HT_KIND_SYNC || !is_row(t, row))
			continue;
		bool in;
		if (kind != HT_KIND_GPU_ANNOTATION) {
			in = host_row_is_in(s, row);
		} else {
			while (p < placed.n && placed.items[p].row < row)
				p++;
			bool has_twin = p < placed.n && placed.items[p].row == row;
			in = has_twin ? host_row_is_in(s, placed.items[p].twin)
			              : device_row_is_in(s, row);
		}
		if (in)
			rows[n++] = row;
	}
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_frame_alloc_lists(
        struct ht_run *run, size_t n_rows, size_t n_gpu, uint32_t **ret_rows, uint32_t **ret_gpu)
{
	*ret_rows = ht_arena_room(run->scratch, (n_rows + 1) * sizeof(uint32_t));
	*ret_gpu = ht_arena_room(run->scratch, (n_gpu + 1) * sizeof(uint32_t));
	return *ret_rows && *ret_gpu ? HT_OK : ht_fail_nomem(run->ctx);
}

static enum ht_status make_own(struct ht_run *run, bool gpu_only, struct ht_frame *frame)
{
	const struct ht_trace *t = frame->trace;
	struct selection s = { .t = t };
	uint32_t *rows = NULL, *gpu = NULL;
	HT_TRY(select_steps(run, &s));
	HT_TRY(ht_frame_alloc_lists(run, gpu_only ? 0 : t->n_kind, t->n_gpu, &rows, &gpu));
	select_gpu(&s, gpu, &frame->n_gpu);
	frame->cut = is_cut(&s);
	if (!gpu_only && frame->cut)
		HT_TRY(select_rows(run, &s, gpu, frame->n_gpu, rows, &frame->n_rows));
	for (uint32_t row = 0; !gpu_only && !frame->cut && row < t->n_kind; row++) {
		if (is_row(t, row))
			rows[frame->n_rows++] = row;
	}
	frame->rows = rows;
	frame->gpu = gpu;
	return HT_OK;
}

static uint32_t *copy_list(struct ht_arena *arena, const uint32_t *list, size_t n)
{
	uint32_t *copy = ht_arena_room(arena, (n + 1) * sizeof *copy);
	if (copy && n)
		memcpy(copy, list, n * sizeof *copy);
	return copy;
}

/* Without memory for it the frame stays this run's own; under a limit always, or what one run keeps could
 * make another fail. */
static void keep_frame(struct ht_run *run, struct ht_memo_key key, struct ht_frame *frame)
{
	struct ht_arena arena;
	size_t n_bytes = (frame->n_rows + frame->n_gpu) * sizeof *frame->rows;
	if (run->memo->mem->limit || !ht_memo_has_room(run->memo, n_bytes))
		return;
	if (run->arena_cache)
		ht_arena_init_cached(&arena, run->arena_cache);
	else
		ht_arena_init(&arena, run->memo->mem);
	struct ht_frame *kept = ht_arena_alloc(&arena, sizeof *kept);
	uint32_t *rows = copy_list(&arena, frame->rows, frame->n_rows),
	         *gpu = copy_list(&arena, frame->gpu, frame->n_gpu);
	if (!kept || !rows || !gpu) {
		ht_arena_done(&arena);
		return;
	}
	*kept = *frame;
	kept->rows = rows;
	kept->gpu = gpu;
	if (!ht_memo_keep(run->memo, key, &arena, kept))
		ht_arena_done(&arena);
}

/* Of the variants of frames. */
#define GPU_ONLY 1u

static enum ht_status make(struct ht_run *run, bool gpu_only, struct ht_frame *ret_frame)
{
	static const char kind;
	bool listed = ht_steps_are_named(run->step);
	bool other = run->policy->select_rows && !run->annotation && !listed;
	struct ht_memo_key key = { run->i_rank, &kind,
		(uint32_t)(other << 2 | (run->step != NULL) << 1) |
		        (gpu_only && !other ? GPU_ONLY : 0) };
	bool shared = run->memo && !listed && !run->annotation;
	const struct ht_frame *kept = shared ? ht_memo_find(run->memo, key) : NULL;
	struct ht_frame frame = { .trace = run->trace };
	if (kept)
		frame = *kept;
	else if (other)
		HT_TRY(run->policy->select_rows(run, &frame));
	else
		HT_TRY(make_own(run, gpu_only, &frame));
	if (shared && !kept)
		keep_frame(run, key, &frame);
	frame.trace = run->trace;
	frame.rank = run->rank;
	frame.shared_as = shared ? key.variant + 1 : 0;
	*ret_frame = frame;
	return HT_OK;
}

enum ht_status ht_frame_make(struct ht_run *run, struct ht_frame *ret_frame)
{
	return make(run, false, ret_frame);
}

enum ht_status ht_frame_make_gpu(struct ht_run *run, struct ht_frame *ret_frame)
{
	return make(run, !run->policy->rows_with_gpu, ret_frame);
}

/* Runs over one rank have the same policy, but one may ask within another whose rows are selected otherwise. */
static enum ht_status share_as(struct ht_run *run, uint32_t variant, const struct ht_memoized *how,
        const void *of, void *ret_value)
{
	struct ht_memoized of_frame = *how;
	of_frame.variant |= variant << 8;
	return variant && !run->policy->select_rows ? ht_run_memoize(run, &of_frame, of, ret_value)
	                                            : how->make(run, of, ret_value);
}

enum ht_status ht_frame_share(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_memoized *how, const void *of, void *ret_value)
{
	return share_as(run, frame->shared_as, how, of, ret_value);
}

enum ht_status ht_frame_share_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_memoized *how, const void *of, void *ret_value)
{
	uint32_t as = frame->shared_as;
	return share_as(run, as ? ((as - 1) & ~GPU_ONLY) + 1 : 0, how, of, ret_value);
}

enum ht_status ht_frame_gpu_marks(struct ht_run *run, const struct ht_frame *frame, bool **ret_in)
{
	bool *in = ht_arena_alloc(run->scratch, frame->trace->n_gpu + 1);
	if (!in)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_gpu; i++)
		in[frame->gpu[i]] = true;
	*ret_in = in;
	return HT_OK;
}

enum ht_status ht_frame_marks(struct ht_run *run, const struct ht_frame *frame, bool **ret_in)
{
	bool *in = ht_arena_alloc(run->scratch, frame->trace->n_kind + 1);
	if (!in)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_rows; i++)
		in[frame->rows[i]] = true;
	*ret_in = in;
	return HT_OK;
}

enum ht_status ht_frame_choose_whole(struct ht_run *run)
{
	for (size_t side = 0; side < run->n_sets; side++)
		if (!run->steps[side])
			run->steps[side] = "all";
	if (!run->step)
		run->step = "all";
	return HT_OK;
}

enum ht_status ht_frame_set_method(struct ht_run *run, ht_table *table, const char *of)
{
	const char *steps = ht_selection_text(run, 0);
	const char *method = NULL;
	if (steps)
		method = ht_arena_printf(run->scratch, "%zu rank%s · %s%s%s%s%s · %s",
		        run->chosen[0].n, run->chosen[0].n == 1 ? "" : "s", steps,
		        run->annotation ? " · inside " : "", run->annotation ? run->annotation : "",
		        run->policy->label ? " · " : "",
		        run->policy->label ? run->policy->label : "", of);
	return method ? ht_table_set_method(table, method) : ht_fail_nomem(run->ctx);
}
