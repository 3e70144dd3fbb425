/*
 * frame.c - see frame.h.
 *
 * Selection is by windows of time: the chosen steps over all threads, the chosen annotations thread by
 * thread (inside.h). A host row is in when it starts inside one; GPU work is in when its launch does. The
 * policy may have another selection.
 */
#include "model/rows/frame.h"
#include "model/calls/inside.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- windows ---- */

struct windows {
	struct ht_interval *list; /* merged */
	size_t n;
	bool all; /* no restriction; list is unused */
};

static inline bool inside(const struct windows *w, int64_t t)
{
	if (w->all)
		return true;
	return w->n == 1 ? t >= w->list[0].start && t < w->list[0].end
	                 : ht_interval_has(w->list, w->n, t);
}

/* ---- steps ---- */

static enum ht_status step_windows(
        struct ht_run *run, const struct ht_trace *t, struct windows *ret_windows)
{
	struct windows w = { .list = ht_arena_alloc(
		                     run->scratch, (t->n_steps + 1) * sizeof *w.list) };
	if (!w.list)
		return ht_fail_nomem(run->ctx);
	if (run->step && !strcmp(run->step, "all")) {
		w.all = true;
	} else if (run->step) {
		struct ht_list chosen;
		HT_TRY(ht_list_parse(run->ctx, "--step", run->step, &chosen));
		for (size_t i = 0; i < t->n_steps; i++) {
			const struct ht_step *s = &t->steps[i];
			if (ht_list_has(&chosen, s->number))
				w.list[w.n++] = (struct ht_interval){ s->ts_ns, s->end_ns };
		}
		ht_list_done(run->ctx, &chosen);
		w.n = ht_interval_merge(run->ctx->mem, w.list, w.n);
	} else {
		/* the profiler stopped in the last one, unless its work is all there */
		bool may_cut = t->n_steps && !t->steps[t->n_steps - 1].is_named;
		int64_t cut = may_cut ? t->steps[t->n_steps - 1].ts_ns : INT64_MIN;
		w.all = cut == INT64_MIN || !run->rosters[run->side]->has_two_steps;
		w.list[w.n++] = (struct ht_interval){ INT64_MIN, cut };
	}
	*ret_windows = w;
	return HT_OK;
}

/* ---- our selection ---- */

/* A row of the table at all: an event with a duration and a category, or of a kind that the dialect
 * tells without one (NPU work). */
static inline bool is_row(const struct ht_trace *t, uint32_t row)
{
	bool known = t->kind[row] != HT_KIND_OTHER || t->categories[t->cat[row]].name != HT_NO_STR;
	return ht_is_span(t, row) && known && t->kind[row] != HT_KIND_TRACE_SPAN;
}

struct selection {
	const struct ht_trace *t;
	struct windows windows; /* the steps */
	bool annotated;         /* only what is inside chosen annotations */
	struct ht_autograd autograd;
	struct ht_inside annotations;     /* by thread, for host rows */
	struct ht_inside gpu_annotations; /* by stream, for device rows */
	struct windows any_thread;        /* annotations of all threads, for waits */
	int64_t *first_launched; /* by track: start of its first work whose launch is in the file */
	bool by_launch;          /* else by own start: steps are windows of the GPU's own time */
};

/* Is anything left out? */
static bool is_cut(const struct selection *s)
{
	return s->annotated || !s->windows.all;
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

static enum ht_status select_windows(struct ht_run *run, struct selection *s)
{
	const struct ht_trace *t = s->t;
	HT_TRY(step_windows(run, t, &s->windows));
	s->annotated = run->annotation != NULL;
	if (s->annotated)
		HT_TRY(select_annotations(run, s));
	s->by_launch = t->meta_->has_host_steps || s->annotated;
	s->first_launched = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof(int64_t));
	if (!s->first_launched)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		s->first_launched[k] = INT64_MIN;
	for (size_t i = 0; i < t->n_gpu && !s->windows.all; i++) {
		uint32_t row = t->gpu[i].row;
		int64_t *first = &s->first_launched[t->track[row]];
		if (t->gpu[i].launch != HT_NONE && (*first == INT64_MIN || t->ts_ns[row] < *first))
			*first = t->ts_ns[row];
	}
	return HT_OK;
}

static inline bool host_row_is_in(const struct selection *s, uint32_t row)
{
	return inside(&s->windows, s->t->ts_ns[row]) &&
	       (!s->annotated || ht_inside_has(&s->annotations, row));
}

/* A stream runs its work in order, so work without a launch before the first that has one was launched
 * before the recording began and belongs to no step of it; later such work only lost its launch. */
static bool device_row_is_in(const struct selection *s, uint32_t row)
{
	int64_t ts = s->t->ts_ns[row];
	/* work that names its step is of that one, whenever it runs */
	uint32_t step = s->t->step[row];
	if (step != HT_NONE && s->t->steps[step].is_named && ht_kind_is_gpu_work(s->t->kind[row]))
		ts = s->t->steps[step].ts_ns;
	bool in_steps = s->windows.all ||
	                (ts >= s->first_launched[s->t->track[row]] && inside(&s->windows, ts));
	return in_steps && (!s->annotated || ht_inside_has(&s->gpu_annotations, row));
}

static bool work_is_in(const struct selection *s, const struct ht_gpu *gpu)
{
	if (!is_cut(s))
		return true;
	if (gpu->launch != HT_NONE && s->by_launch)
		return host_row_is_in(s, gpu->launch);
	return device_row_is_in(s, gpu->row);
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
	const uint32_t *rows = column ? ht_arg_rows(t, column) : NULL;
	size_t n = column ? column->n : 0, at = 0;
	struct externals e = { .items = ht_arena_room(run->scratch,
		                       (ht_n_of_kind(t, kind) + 1) * sizeof *e.items) };
	if (!e.items)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = next_of_kind(t, kind, 0); row < t->n_kind && at < n;
	        row = next_of_kind(t, kind, row + 1)) {
		at += ht_lower_bound_u32(rows + at, n - at, row);
		if (at < n && rows[at] == row)
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
	return is_row(s->t, row) && inside(&s->windows, ts) &&
	       (!s->annotated || inside(&s->any_thread, ts));
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
	HT_TRY(select_windows(run, &s));
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
	if (run->spare)
		ht_arena_init_spare(&arena, run->spare);
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
	bool listed = run->step && strcmp(run->step, "all") != 0;
	bool other = run->policy.select_rows && !run->annotation && !listed;
	struct ht_memo_key key = { run->i_rank, &kind,
		(uint32_t)(other << 2 | (run->step != NULL) << 1) |
		        (gpu_only && !other ? GPU_ONLY : 0) };
	bool shared = run->memo && !listed && !run->annotation;
	const struct ht_frame *kept = shared ? ht_memo_find(run->memo, key) : NULL;
	struct ht_frame frame = { .trace = run->trace };
	if (kept)
		frame = *kept;
	else if (other)
		HT_TRY(run->policy.select_rows(run, &frame));
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
	return make(run, !run->policy.rows_with_gpu, ret_frame);
}

/* Runs over one rank have the same policy, but one may ask within another whose rows are selected otherwise. */
static enum ht_status share_as(struct ht_run *run, uint32_t variant, const struct ht_sharing *how,
        const void *of, void *ret_value)
{
	struct ht_sharing of_frame = *how;
	of_frame.variant |= variant << 8;
	return variant && !run->policy.select_rows ? ht_share(run, &of_frame, of, ret_value)
	                                           : how->make(run, of, ret_value);
}

enum ht_status ht_frame_share(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sharing *how, const void *of, void *ret_value)
{
	return share_as(run, frame->shared_as, how, of, ret_value);
}

enum ht_status ht_frame_share_gpu(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_sharing *how, const void *of, void *ret_value)
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

/* Numbers of the steps that a run is about, ascending, each once; NULL without memory or such a list. */
static int64_t *find_steps(struct ht_run *run, bool cut_last, size_t *ret_n)
{
	size_t n = 0, n_distinct = 0;
	struct ht_list chosen;
	for (size_t i = 0; i < run->chosen[0].n; i++)
		n += ht_run_chosen(run, 0, i)->n_steps;
	int64_t *numbers = ht_arena_alloc(run->scratch, (n + 1) * sizeof *numbers);
	if (!numbers || ht_list_parse(run->ctx, "--step", run->step, &chosen) != HT_OK)
		return NULL;
	n = 0;
	for (size_t i = 0; i < run->chosen[0].n; i++) {
		const struct ht_rank *rank = ht_run_chosen(run, 0, i);
		int64_t cut = INT64_MAX;
		if (cut_last && rank->n_steps && !rank->steps[rank->n_steps - 1].is_named)
			cut = rank->steps[rank->n_steps - 1].ts_ns;
		for (size_t k = 0; k < rank->n_steps; k++) {
			const struct ht_step *s = &rank->steps[k];
			if (s->ts_ns < cut && ht_list_has(&chosen, s->number))
				numbers[n++] = s->number;
		}
	}
	ht_list_done(run->ctx, &chosen);
	qsort(numbers, n, sizeof *numbers, ht_compare_i64);
	for (size_t i = 0; i < n; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[n_distinct++] = numbers[i];
	*ret_n = n_distinct;
	return numbers;
}

/* "3–4, 7" */
static const char *list_text(struct ht_run *run, const int64_t *numbers, size_t n)
{
	const char *text = "";
	for (size_t i = 0, k; text && i < n; i = k) {
		for (k = i + 1; k < n && numbers[k] == numbers[k - 1] + 1;)
			k++;
		const char *comma = i ? ", " : "";
		long long first = numbers[i], last = numbers[k - 1];
		text = first == last ? ht_arena_printf(run->scratch, "%s%s%lld", text, comma, first)
		                     : ht_arena_printf(run->scratch, "%s%s%lld–%lld", text, comma,
		                               first, last);
	}
	return text;
}

/* What the selection is, for titles and notes: "steps 3–4, 7", "up to step 4" (the default: all but the last step),
 * "whole trace" or "no steps". Equal texts mean equal selections. Lives in scratch. */
static const char *steps_text(struct ht_run *run)
{
	bool all = run->step && !strcmp(run->step, "all");
	bool cut_last = !run->step && run->rosters[0]->has_two_steps;
	if (all || (!run->step && !cut_last))
		return "whole trace";
	size_t n = 0;
	const int64_t *numbers = find_steps(run, cut_last, &n);
	if (!numbers || !n)
		return numbers ? "no steps" : NULL;
	/* what precedes the first step is in, so this is not the same as naming the steps */
	if (cut_last)
		return ht_arena_printf(run->scratch, "up to step %lld", (long long)numbers[n - 1]);
	const char *text = list_text(run, numbers, n);
	return text ? ht_arena_printf(run->scratch, "step%s %s", n == 1 ? "" : "s", text) : NULL;
}

enum ht_status ht_frame_set_method(struct ht_run *run, ht_table *table, const char *of)
{
	const char *steps = steps_text(run);
	const char *method = NULL;
	if (steps)
		method = ht_arena_printf(run->scratch, "%zu rank%s · %s%s%s%s%s · %s",
		        run->chosen[0].n, run->chosen[0].n == 1 ? "" : "s", steps,
		        run->annotation ? " · inside " : "", run->annotation ? run->annotation : "",
		        run->policy.label ? " · " : "", run->policy.label ? run->policy.label : "",
		        of);
	return method ? ht_table_set_method(table, method) : ht_fail_nomem(run->ctx);
}

int64_t ht_frame_left_out(const struct ht_run *run)
{
	const struct ht_roster *roster = run->rosters[0];
	return run->step || !roster->has_two_steps ? HT_NO_I64 : roster->last_step;
}

enum ht_status ht_frame_note_last(struct ht_run *run, ht_table *table)
{
	int64_t last = ht_frame_left_out(run);
	if (last == HT_NO_I64 || !ht_table_n_rows(table))
		return HT_OK;
	return ht_table_add_note(table,
	        "step %lld included here; summary leaves it out unless --step names it",
	        (long long)last);
}
