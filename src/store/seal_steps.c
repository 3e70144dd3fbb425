/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_steps.c - profiler steps and which step each row belongs to; Python parents.
 *
 * A step is a host row named ProfilerStep#N; GPU copies of it count only when no host row exists. Where there are
 * neither, work may name its step (Ascend's tables do): such a step is from its first work to its last, but not before
 * the one before it has ended, and work belongs to the one that it names. Of Nsight Systems, ranges that the program calls steps
 * or iterations are (step_ranges.h). A host row belongs to the step that is open on
 * its thread (step_threads.h), GPU work to the step of its launch (of its own start, where that was lost), a GPU annotation
 * to the step of the host annotation with the same External id (of its own start without one), a wait to that of its start.
 */
#include "store/args.h"
#include "store/seal.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "store/row_index.h"
#include "store/seal_step_facts.h"
#include "store/step_ranges.h"
#include "base/search.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

int64_t ht_step_number(const char *name)
{
	static const char prefix[] = "ProfilerStep";
	if (strncmp(name, prefix, sizeof prefix - 1))
		return HT_NO_I64;
	const char *p = name + sizeof prefix - 1;
	p += strspn(p, " \t");
	if (*p != '#')
		return HT_NO_I64;
	p++;
	p += strspn(p, " \t");
	int64_t number = 0;
	size_t n = strspn(p, "0123456789");
	if (!n || n > 18)
		return HT_NO_I64;
	for (size_t i = 0; i < n; i++)
		number = number * 10 + (p[i] - '0');
	return number;
}

/* What the tasks look at. */
struct steps {
	ht_ctx *ctx;
	struct ht_trace *t;
	int64_t *
	        numbers; /* by string id, so that each name is looked at once; HT_NO_I64: no step */
	atomic_bool has_names; /* some are steps */
	uint8_t *step;         /* the section */
	unsigned width;        /* of its rows */
	struct ht_step_threads threads;
};

static enum ht_status number_names(void *user, size_t i_range, int i_worker)
{
	struct steps *s = user;
	struct ht_range range = ht_range_at(s->ctx, s->t->n_string_offsets - 1, i_range);
	bool any = false;
	(void)i_worker;
	for (uint32_t id = range.first; id < range.end; id++) {
		s->numbers[id] = ht_step_number(ht_str(s->t, id));
		any |= s->numbers[id] != HT_NO_I64;
	}
	if (any)
		atomic_store_explicit(&s->has_names, true, memory_order_relaxed);
	return HT_OK;
}

static size_t pick_steps(const void *user, struct ht_range range, uint32_t *to)
{
	const struct steps *s = user;
	const struct ht_trace *t = s->t;
	size_t n = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (t->name[row] == HT_NO_STR || s->numbers[t->name[row]] == HT_NO_I64 ||
		        !ht_is_span(t, row))
			continue;
		if (to)
			to[n] = row;
		n++;
	}
	return n;
}

/* ---- steps that work names ---- */

/* Steps by their number: places in a list of them, open addressing. */
struct named_steps {
	struct ht_mem *mem;
	struct ht_vec list; /* struct ht_step */
	uint32_t *slots;    /* place + 1; 0: free */
	size_t cap, n_slotted;
};

static void named_done(struct named_steps *named)
{
	ht_vec_free(named->mem, &named->list, sizeof(struct ht_step));
	ht_mem_free(named->mem, named->slots, named->cap * sizeof *named->slots);
}

static size_t slot_of(const struct named_steps *named, int64_t number)
{
	const struct ht_step *list = named->list.data;
	return HT_PROBE(at, named->cap, (uint64_t)number,
	        !named->slots[at] || list[named->slots[at] - 1].number == number);
}

/* Put those of the list that have no slot yet into one. False when out of memory. */
static bool slot_new(struct named_steps *named)
{
	const struct ht_step *list = named->list.data;
	if (2 * named->list.n > named->cap) {
		size_t cap = named->cap ? 4 * named->cap : 64;
		while (2 * named->list.n > cap)
			cap *= 2;
		uint32_t *slots = ht_mem_zalloc(named->mem, cap * sizeof *slots);
		if (!slots)
			return false;
		ht_mem_free(named->mem, named->slots, named->cap * sizeof *slots);
		named->slots = slots;
		named->cap = cap;
		named->n_slotted = 0;
	}
	for (; named->n_slotted < named->list.n; named->n_slotted++)
		named->slots[slot_of(named, list[named->n_slotted].number)] =
		        (uint32_t)named->n_slotted + 1;
	return true;
}

static int by_start(const void *left, const void *right)
{
	const struct ht_step *a = left, *b = right;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* The step that a row names; work that follows is mostly of the same one. SIZE_MAX: none. */
static size_t find_named(const struct named_steps *named, int64_t number, size_t hint)
{
	const struct ht_step *list = named->list.data;
	if (hint < named->list.n && list[hint].number == number)
		return hint;
	uint32_t found = named->cap ? named->slots[slot_of(named, number)] : 0;
	return found ? found - 1 : SIZE_MAX;
}

static void add_work(const struct ht_trace *t, uint32_t row, struct ht_step *step)
{
	if (t->ts_ns[row] < step->ts_ns) {
		step->ts_ns = t->ts_ns[row];
		step->row = row;
	}
	if (ht_end_ns(t, row) > step->end_ns)
		step->end_ns = ht_end_ns(t, row);
}

static bool is_named_work(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_gpu_work(t->kind[row]) && ht_is_span(t, row);
}

/* Steps apart from each other, by start. */
static void part_steps(struct ht_step *steps, size_t n)
{
	qsort(steps, n, sizeof *steps, by_start);
	for (size_t i = 1; i < n; i++) {
		struct ht_step *s = &steps[i];
		s->ts_ns = s->ts_ns < s[-1].end_ns ? s[-1].end_ns : s->ts_ns;
		s->end_ns = s->end_ns < s->ts_ns ? s->ts_ns : s->end_ns;
	}
}

static bool list_named(struct ht_trace *t, struct named_steps *named)
{
	const struct ht_arg_column *ids = ht_arg_find(t, "Step Id", HT_ARG_I64);
	size_t at = 0;
	for (uint64_t i = 0; ids && i < ids->n; i++) {
		uint32_t row = ht_arg_row(t, ids, i);
		if (!is_named_work(t, row))
			continue;
		struct ht_step step = { .number = ht_arg_i64_at(t, ids, i),
			.is_named = 1,
			.ts_ns = INT64_MAX,
			.end_ns = INT64_MIN };
		at = find_named(named, step.number, at);
		if (at == SIZE_MAX) {
			at = named->list.n;
			if (!HT_VEC_PUSH(named->mem, &named->list, struct ht_step, step) ||
			        !slot_new(named))
				return false;
		}
		add_work(t, row, (struct ht_step *)named->list.data + at);
	}
	return true;
}

static enum ht_status name_steps(ht_ctx *ctx, struct ht_trace *t)
{
	struct named_steps named = { .mem = ctx->mem };
	struct ht_step *steps = NULL;
	bool ok = list_named(t, &named);
	size_t n = named.list.n;
	if (ok && n)
		part_steps(named.list.data, n);
	if (ok)
		steps = HT_SECTION_ALLOC(ctx, t, steps, struct ht_step, n);
	if (steps && n)
		memcpy(steps, named.list.data, n * sizeof *steps);
	named_done(&named);
	return steps ? HT_OK : ht_fail_nomem(ctx);
}

/* Work is of the step that it names, also where that overlaps another. */
static enum ht_status assign_named(ht_ctx *ctx, struct ht_trace *t)
{
	const struct ht_arg_column *ids = ht_arg_find(t, "Step Id", HT_ARG_I64);
	uint8_t *step = HT_MUTABLE(uint8_t, t->step);
	struct named_steps named = { .mem = ctx->mem };
	bool ok = true;
	size_t at = 0;
	for (size_t i = 0; ok && i < t->n_steps; i++)
		ok = HT_VEC_PUSH(ctx->mem, &named.list, struct ht_step, t->steps[i]);
	ok = ok && slot_new(&named);
	for (uint64_t i = 0; ok && ids && i < ids->n; i++) {
		uint32_t row = ht_arg_row(t, ids, i);
		if (!is_named_work(t, row))
			continue;
		at = find_named(&named, ht_arg_i64_at(t, ids, i), at);
		ht_narrow_put(step, ht_step_width(t->n_steps), row,
		        at == SIZE_MAX ? HT_NONE : (uint32_t)at);
	}
	named_done(&named);
	return ok ? HT_OK : ht_fail_nomem(ctx);
}

/* ---- steps that the program named ---- */

/* Of recordings without a profiler that marks them; none when no name fits. */
static enum ht_status range_steps(
        ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena, size_t *ret_n)
{
	struct ht_step_range *ranges;
	HT_TRY(ht_step_ranges_find(ctx, t, arena, &ranges, ret_n));
	if (!*ret_n)
		return HT_OK;
	struct ht_step *steps = HT_SECTION_ALLOC(ctx, t, steps, struct ht_step, *ret_n);
	if (!steps)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < *ret_n; i++)
		steps[i] = (struct ht_step){ .number = ranges[i].number,
			.row = ranges[i].row,
			.ts_ns = t->ts_ns[ranges[i].row],
			.end_ns = ht_end_ns(t, ranges[i].row) };
	HT_MUTABLE(struct ht_trace_meta, t->meta_)->has_host_steps = 1;
	return HT_OK;
}

/* ---- steps that the profiler marked ---- */

static enum ht_status find_steps(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena)
{
	struct ht_trace_meta *meta = HT_MUTABLE(struct ht_trace_meta, t->meta_);
	struct steps s = { .ctx = ctx, .t = t };
	size_t n_names = t->n_string_offsets - 1, n_rows = 0, n = 0;
	uint32_t *rows = NULL;
	s.numbers = ht_arena_alloc(arena, (n_names + 1) * sizeof *s.numbers);
	if (!s.numbers)
		return ht_fail_nomem(ctx);
	HT_TRY(ht_parallel(ctx, ht_n_ranges(ctx, n_names), number_names, &s));
	if (atomic_load(&s.has_names))
		HT_TRY(ht_pick(ctx, ht_n_events(t), pick_steps, &s, arena, &rows, &n_rows));
	meta->has_host_steps = 0;
	for (size_t i = 0; i < n_rows; i++)
		meta->has_host_steps |= !ht_kind_is_device(t->kind[rows[i]]);
	if (!n_rows && meta->dialect == HT_DIALECT_NSYS)
		HT_TRY(range_steps(ctx, t, arena, &n));
	if (!n_rows)
		return n ? HT_OK : name_steps(ctx, t);
	uint64_t *keys = ht_arena_alloc(arena, (n_rows + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n_rows; i++) {
		if (meta->has_host_steps && ht_kind_is_device(t->kind[rows[i]]))
			continue;
		keys[n] = ht_sort_key_i64(t->ts_ns[rows[i]]);
		rows[n++] = rows[i];
	}
	struct ht_step *steps = HT_SECTION_ALLOC(ctx, t, steps, struct ht_step, n);
	if (!steps || !ht_sort_keys(ctx->mem, keys, rows, n))
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		steps[i] = (struct ht_step){ .number = s.numbers[t->name[rows[i]]],
			.row = rows[i],
			.ts_ns = t->ts_ns[rows[i]],
			.end_ns = ht_end_ns(t, rows[i]) };
	return HT_OK;
}

static enum ht_status assign_range(void *user, size_t i_range, int i_worker)
{
	const struct steps *s = user;
	const struct ht_trace *t = s->t;
	struct ht_range range = ht_range_at(s->ctx, ht_n_events(t), i_range);
	uint32_t last_step = HT_NONE;
	(void)i_worker;
	for (uint32_t row = range.first; row < range.end; row++) {
		bool host = !ht_kind_is_device(t->kind[row]) && !(t->flags[row] & HT_EV_NO_TS) &&
		            t->kind[row] != HT_KIND_METADATA && t->kind[row] != HT_KIND_TRACE_SPAN;
		if (host)
			last_step = ht_step_thread_at(&s->threads,
			        ht_step_thread_of(&s->threads, row), t->ts_ns[row], last_step);
		ht_narrow_put(s->step, s->width, row, host ? last_step : HT_NONE);
	}
	return HT_OK;
}

static enum ht_status assign_rows(
        ht_ctx *ctx, struct ht_trace *t, const struct ht_step_threads *threads)
{
	struct steps s = {
		.ctx = ctx, .t = t, .threads = *threads, .width = ht_step_width(t->n_steps)
	};
	s.step = HT_SECTION_ALLOC(ctx, t, step, uint8_t, (size_t)ht_n_events(t) * s.width);
	if (!s.step)
		return ht_fail_nomem(ctx);
	return s.width ? ht_parallel(ctx, ht_n_ranges(ctx, ht_n_events(t)), assign_range, &s)
	               : HT_OK;
}

/* ---- steps of GPU work ---- */

struct work {
	ht_ctx *ctx;
	const struct ht_trace *t;
	const struct ht_step_threads *threads;
	uint8_t *step;        /* the section */
	unsigned width;       /* of its rows */
	atomic_llong *first;  /* by track: when the first of its work that has a launch starts */
	atomic_bool has_lost; /* some work has none */
	/* of annotations */
	const uint32_t *rows;
	size_t n_rows;
	struct ht_row_index host;
};

static void lower(atomic_llong *least, int64_t value)
{
	long long known = atomic_load_explicit(least, memory_order_relaxed);
	while (value < known && !atomic_compare_exchange_weak(least, &known, value))
		;
}

/* Of the thread that launches most, for what no thread is known of. */
static uint32_t step_at(const struct work *w, int64_t ts, uint32_t hint)
{
	return w->t->n_steps
	               ? ht_step_thread_at(w->threads, ht_step_threads_first(w->threads), ts, hint)
	               : HT_NONE;
}

static void put_step(const struct work *w, uint32_t row, uint32_t step)
{
	ht_narrow_put(w->step, w->width, row, step);
}

static enum ht_status step_by_launch(void *user, size_t i_range, int i_worker)
{
	struct work *w = user;
	const struct ht_trace *t = w->t;
	struct ht_range range = ht_range_at(w->ctx, t->n_gpu, i_range);
	uint32_t last = HT_NONE;
	bool has_lost = false;
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		bool launched = gpu->launch != HT_NONE;
		/* steps seen on the GPU only: work belongs to the window it runs in */
		if (!t->meta_->has_host_steps)
			put_step(w, gpu->row, last = step_at(w, t->ts_ns[gpu->row], last));
		else if (launched)
			put_step(w, gpu->row, ht_step_of(t, gpu->launch));
		if (launched)
			lower(&w->first[t->track[gpu->row]], t->ts_ns[gpu->row]);
		has_lost |= !launched;
	}
	if (has_lost)
		atomic_store_explicit(&w->has_lost, true, memory_order_relaxed);
	return HT_OK;
}

/* A stream runs its work in order, so work without a launch before the first that has one was launched before
 * the recording began and is in no step; later such work only lost its launch, and its own start decides. On a stream
 * where none has one, the recording knows no launches. */
static enum ht_status step_lost(void *user, size_t i_range, int i_worker)
{
	struct work *w = user;
	const struct ht_trace *t = w->t;
	struct ht_range range = ht_range_at(w->ctx, t->n_gpu, i_range);
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint32_t row = t->gpu[i].row;
		int64_t first =
		        atomic_load_explicit(&w->first[t->track[row]], memory_order_relaxed);
		bool is_later = first == INT64_MAX || t->ts_ns[row] >= first;
		if (t->gpu[i].launch == HT_NONE && is_later)
			put_step(w, row, step_at(w, t->ts_ns[row], HT_NONE));
	}
	return HT_OK;
}

static enum ht_status assign_work(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena,
        const struct ht_step_threads *threads)
{
	struct work w = {
		.ctx = ctx,
		.t = t,
		.threads = threads,
		.step = HT_MUTABLE(uint8_t, t->step),
		.width = ht_step_width(t->n_steps),
	};
	size_t n_ranges = ht_n_ranges(ctx, t->n_gpu);
	w.first = ht_arena_alloc(arena, (t->n_tracks + 1) * sizeof *w.first);
	if (!w.first)
		return ht_fail_nomem(ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		atomic_store_explicit(&w.first[k], INT64_MAX, memory_order_relaxed);
	HT_TRY(ht_parallel(ctx, n_ranges, step_by_launch, &w));
	if (t->n_steps && t->steps[0].is_named)
		HT_TRY(assign_named(ctx, t));
	if (!t->meta_->has_host_steps || !atomic_load(&w.has_lost))
		return HT_OK;
	return ht_parallel(ctx, n_ranges, step_lost, &w);
}

/* The first row with that value, HT_NONE when none. */
static uint32_t first_with(struct ht_row_index *index, int64_t value)
{
	size_t n;
	const uint32_t *rows = ht_row_index_find(index, value, 1, &n);
	return n ? rows[0] : HT_NONE;
}

static size_t pick_annotations(const void *user, struct ht_range range, uint32_t *to)
{
	const struct ht_trace *t = user;
	size_t n = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (t->kind[row] != HT_KIND_GPU_ANNOTATION && t->kind[row] != HT_KIND_SYNC)
			continue;
		if (to)
			to[n] = row;
		n++;
	}
	return n;
}

static enum ht_status step_annotations(void *user, size_t i_range, int i_worker)
{
	const struct work *w = user;
	struct ht_range range = ht_range_at(w->ctx, w->n_rows, i_range);
	struct ht_arg_cursor ids =
	        ht_arg_cursor_of(w->t, ht_arg_find(w->t, "External id", HT_ARG_I64));
	struct ht_row_index host = w->host;
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint32_t row = w->rows[i];
		bool is_wait = w->t->kind[row] == HT_KIND_SYNC;
		int64_t id = is_wait ? HT_NO_I64 : ht_arg_cursor_i64(&ids, row, HT_NO_I64);
		uint32_t of = id == HT_NO_I64 ? HT_NONE : first_with(&host, id);
		if (of != HT_NONE)
			put_step(w, row, ht_step_of(w->t, of));
		else if (!(w->t->flags[row] & HT_EV_NO_TS))
			put_step(w, row, step_at(w, w->t->ts_ns[row], HT_NONE));
	}
	return HT_OK;
}

static enum ht_status step_gpu_annotations(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena,
        const struct ht_step_threads *threads)
{
	struct work w = {
		.ctx = ctx,
		.t = t,
		.threads = threads,
		.step = HT_MUTABLE(uint8_t, t->step),
		.width = ht_step_width(t->n_steps),
	};
	uint32_t *rows;
	HT_TRY(ht_pick(ctx, ht_n_events(t), pick_annotations, t, arena, &rows, &w.n_rows));
	if (!w.n_rows)
		return HT_OK;
	w.rows = rows;
	HT_TRY(ht_row_index_make(
	        ctx, t, "External id", HT_KIND_BIT(HT_KIND_ANNOTATION), arena, &w.host));
	return ht_parallel(ctx, ht_n_ranges(ctx, w.n_rows), step_annotations, &w);
}

/* ---- Python parents ---- */

static bool comes_before(const struct ht_trace *t, uint32_t a, uint32_t b)
{
	return t->ts_ns[a] != t->ts_ns[b] ? t->ts_ns[a] < t->ts_ns[b] : a < b;
}

struct python {
	ht_ctx *ctx;
	const struct ht_trace *t;
	const struct ht_arg_column *ids, *parents;
	struct ht_row_index by_id;
	uint32_t *rows, *parent; /* the sections */
};

static enum ht_status link_range(void *user, size_t i_range, int i_worker)
{
	const struct python *p = user;
	const struct ht_trace *t = p->t;
	struct ht_range range = ht_range_at(p->ctx, p->ids->n, i_range);
	struct ht_row_index by_id = p->by_id;
	struct ht_arg_cursor parents = ht_arg_cursor_of(t, p->parents);
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++) {
		uint32_t row = p->rows[i] = ht_arg_row(t, p->ids, i);
		int64_t id = ht_arg_cursor_i64(&parents, row, HT_NO_I64);
		uint32_t parent = id == HT_NO_I64 ? HT_NONE : first_with(&by_id, id);
		/* a caller starts before its callee: this also keeps walks up from going round */
		bool ok = parent != HT_NONE && comes_before(t, parent, row);
		p->parent[i] = ok ? parent : HT_NONE;
	}
	return HT_OK;
}

static enum ht_status link_python(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena)
{
	struct python p = { .ctx = ctx,
		.t = t,
		.ids = ht_arg_find(t, "Python id", HT_ARG_I64),
		.parents = ht_arg_find(t, "Python parent id", HT_ARG_I64) };
	size_t n = p.ids ? p.ids->n : 0;
	p.rows = HT_SECTION_ALLOC(ctx, t, python_rows, uint32_t, n);
	p.parent = HT_SECTION_ALLOC(ctx, t, python_parent, uint32_t, n);
	if (!p.rows || !p.parent)
		return ht_fail_nomem(ctx);
	HT_TRY(ht_row_index_make(
	        ctx, t, "Python id", HT_KIND_BIT(HT_KIND_PYTHON), arena, &p.by_id));
	return ht_parallel(ctx, ht_n_ranges(ctx, n), link_range, &p);
}

/* Run one part with scratch of its own. */
static enum ht_status with_scratch(ht_ctx *ctx, struct ht_trace *t,
        enum ht_status (*part)(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena))
{
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = part(ctx, t, &arena);
	ht_arena_done(&arena);
	return status;
}

enum ht_status ht_seal_steps(ht_ctx *ctx, struct ht_trace *t)
{
	return with_scratch(ctx, t, find_steps);
}

static enum ht_status assign_all(ht_ctx *ctx, struct ht_trace *t, struct ht_arena *arena)
{
	struct ht_step_threads threads = { .t = t };
	if (t->n_steps)
		HT_TRY(ht_step_threads_make(ctx, t, arena, &threads));
	HT_TRY(assign_rows(ctx, t, &threads));
	if (!t->n_steps)
		return HT_OK;
	HT_TRY(assign_work(ctx, t, arena, &threads));
	HT_TRY(step_gpu_annotations(ctx, t, arena, &threads));
	return ht_seal_step_facts(ctx, t, &threads, arena);
}

enum ht_status ht_seal_gpu_steps(ht_ctx *ctx, struct ht_trace *t)
{
	return with_scratch(ctx, t, assign_all);
}

enum ht_status ht_seal_python(ht_ctx *ctx, struct ht_trace *t)
{
	return with_scratch(ctx, t, link_python);
}
