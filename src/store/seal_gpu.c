/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_gpu.c - GPU work: class, device, stream, the call that launched it, the operator behind it.
 *
 * launch  by correlation. One launch may own many pieces (graphs). Several launches with one correlation:
 *         runtime before driver, then the last one that starts before the work.
 * op      External id names the innermost operator; it is believed on GPU work and on its launch. Without
 *         one, the innermost operator around the launch on its thread.
 */
#include "store/args.h"
#include "store/seal.h"

#include "base/sort.h"
#include "base/thread.h"
#include "store/flow.h"
#include "store/row_index.h"
#include "store/trace.h"
#include "store/trace_meta.h"
#include "store/tree.h"

#include <string.h>

/* How many rows with one id are looked at; real traces have one or two, and the bound keeps a hostile
 * file from costing quadratic time. */
#define MAX_SAME 64
/* How many spans are looked at on the way up to an operator, before that is asked for all rows at once. */
#define MAX_UP        64
#define UINT32_STREAM 4294967295 /* "no stream" of older traces */

static uint32_t choose_launch(
        const struct ht_trace *t, const uint32_t *rows, size_t n, uint32_t gpu_row)
{
	uint32_t best = HT_NONE;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = rows[i];
		if (best == HT_NONE) {
			best = row;
			continue;
		}
		bool runtime = t->kind[row] == HT_KIND_RUNTIME,
		     had = t->kind[best] == HT_KIND_RUNTIME;
		bool before = t->ts_ns[row] <= t->ts_ns[gpu_row],
		     was = t->ts_ns[best] <= t->ts_ns[gpu_row];
		if (runtime != had      ? runtime
		        : before != was ? before
		                        : t->ts_ns[row] > t->ts_ns[best])
			best = row;
	}
	return best;
}

/* The operator with that External id; of several the one around the launch, else the last. */
static uint32_t choose_op(const struct ht_trace *t, const uint32_t *rows, size_t n, uint32_t launch)
{
	for (size_t i = n; i-- > 0;)
		if (launch != HT_NONE && ht_row_is_around(t, rows[i], launch))
			return rows[i];
	return n ? rows[n - 1] : HT_NONE;
}

struct builder {
	ht_ctx *ctx;
	struct ht_trace *t;
	struct ht_arena arena;
	const struct ht_kernel_rules *rules;
	uint32_t collectives; /* the category of collectives that are their own kind of event */
	struct ht_gpu *gpu;
	uint32_t *rows;               /* of the work */
	atomic_uchar *class_of_name;  /* by string id: class + 1, 0 not yet known */
	atomic_uint *last;            /* by track: 1 + the last of its work */
	struct ht_row_index launches; /* by correlation */
	struct ht_row_index ops;      /* by External id */
	atomic_ullong n_repeats;      /* of correlations */
	atomic_bool is_far;           /* some operator is more than MAX_UP spans up */
	const uint32_t *op_around;    /* the nearest operator of all rows, where some is */
	uint64_t *keys;               /* launches, for sorting */
	uint32_t *order, *offsets;
};

static enum ht_class class_of(const struct builder *b, uint32_t row)
{
	const struct ht_trace *t = b->t;
	if (t->kind[row] == HT_KIND_MEMCPY)
		return HT_CLASS_MEMCPY;
	if (t->kind[row] == HT_KIND_MEMSET)
		return HT_CLASS_MEMSET;
	if (b->collectives != HT_NO_STR && t->categories[t->cat[row]].name == b->collectives)
		return HT_CLASS_COMM;
	if (t->name[row] == HT_NO_STR)
		return HT_CLASS_COMPUTE;
	atomic_uchar *memo = &b->class_of_name[t->name[row]];
	unsigned char known = atomic_load_explicit(memo, memory_order_relaxed);
	if (!known) {
		known = (unsigned char)(ht_kernel_class(b->rules, ht_str(t, t->name[row])) + 1);
		atomic_store_explicit(memo, known, memory_order_relaxed);
	}
	return known - 1;
}

static bool is_ascend(const struct builder *b)
{
	return b->t->meta_->dialect == HT_DIALECT_ASCEND;
}

static const char *correlation_key(const struct builder *b)
{
	return is_ascend(b) ? "connection_id" : "correlation";
}

static void place(const struct builder *b, struct ht_gpu *gpu, int64_t device, int64_t stream)
{
	const struct ht_track *track = &b->t->tracks[b->t->track[gpu->row]];
	/* pids of Ascend's timeline are made up; a file holds one NPU */
	if (is_ascend(b) && device == HT_NO_I64)
		device = 0;
	if (device == HT_NO_I64 && track->pid_type == HT_ID_INT)
		device = track->pid;
	if (stream == HT_NO_I64 && track->tid_type == HT_ID_INT)
		stream = track->tid;
	gpu->device = device < 0 || device > HT_MAX_DEVICE ? -1 : (int32_t)device & HT_MAX_DEVICE;
	gpu->stream = stream == HT_NO_I64 || stream == UINT32_STREAM ? -1 : stream;
}

static size_t pick_work(const void *user, struct ht_range range, uint32_t *to)
{
	const struct ht_trace *t = user;
	size_t n = 0;
	for (uint32_t row = range.first; row < range.end; row++) {
		if (!ht_kind_is_gpu_work(t->kind[row]) || !(t->flags[row] & HT_EV_SPAN))
			continue;
		if (to)
			to[n] = row;
		n++;
	}
	return n;
}

/* The work of a range is known; tracks are told which of it is their last. */
static void note_last(const struct builder *b, struct ht_range range)
{
	for (uint32_t i = range.end; i-- > range.first;) {
		atomic_uint *last = &b->last[b->t->track[b->rows[i]]];
		unsigned known = atomic_load_explicit(last, memory_order_relaxed);
		while (known < i + 1 && !atomic_compare_exchange_weak(last, &known, i + 1))
			;
	}
}

static enum ht_status describe_work(void *user, size_t i_range, int i_worker)
{
	const struct builder *b = user;
	const struct ht_trace *t = b->t;
	struct ht_range range = ht_range_at(b->ctx, t->n_gpu, i_range);
	struct ht_arg_cursor device = ht_arg_cursor(t, "device");
	struct ht_arg_cursor stream = ht_arg_cursor(t, "stream");
	struct ht_arg_cursor ascend = ht_arg_cursor(t, "Stream Id");
	(void)i_worker;
	for (uint32_t i = range.first; i < range.end; i++) {
		struct ht_gpu *gpu = &b->gpu[i];
		uint32_t row = b->rows[i];
		*gpu = (struct ht_gpu){ .row = row, .launch = HT_NONE, .op = HT_NONE };
		gpu->class_ = (uint8_t)class_of(b, row);
		int64_t number = ht_arg_cursor_i64(&stream, row, HT_NO_I64);
		if (is_ascend(b) && number == HT_NO_I64)
			number = ht_arg_cursor_i64(&ascend, row, HT_NO_I64);
		place(b, gpu, ht_arg_cursor_i64(&device, row, HT_NO_I64), number);
	}
	note_last(b, range);
	return HT_OK;
}

static enum ht_status list_work(struct builder *b)
{
	struct ht_trace *t = b->t;
	struct ht_track *tracks = HT_MUTABLE(struct ht_track, t->tracks);
	size_t n;
	HT_TRY(ht_pick(b->ctx, ht_n_events(t), pick_work, t, &b->arena, &b->rows, &n));
	b->gpu = HT_SECTION_ALLOC(b->ctx, t, gpu, struct ht_gpu, n);
	b->class_of_name = ht_arena_alloc(&b->arena, t->n_string_offsets);
	b->last = ht_arena_alloc(&b->arena, (t->n_tracks + 1) * sizeof *b->last);
	if (!b->gpu || !b->class_of_name || !b->last)
		return ht_fail_nomem(b->ctx);
	HT_TRY(ht_parallel(b->ctx, ht_n_ranges(b->ctx, n), describe_work, b));
	for (size_t i = 0; i < t->n_tracks; i++) {
		unsigned last = atomic_load_explicit(&b->last[i], memory_order_relaxed);
		tracks[i].device = last ? b->gpu[last - 1].device : tracks[i].device;
	}
	return HT_OK;
}

static bool is_op(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	return t->kind[row] == HT_KIND_CPU_OP;
}

/* Calls of one kind with one correlation. */
static enum ht_status count_repeats(void *user, size_t i_range, int i_worker)
{
	struct builder *b = user;
	const struct ht_trace *t = b->t;
	size_t n_places = ht_row_index_places(&b->launches);
	struct ht_range range = ht_range_at(b->ctx, n_places, i_range);
	size_t at = ht_row_index_from(&b->launches, range.first), n;
	const uint32_t *rows;
	uint64_t n_repeats = 0;
	(void)i_worker;
	while (at < range.end && ht_row_index_next(&b->launches, &at, &rows, &n)) {
		bool is_beyond = !b->launches.keys && at > range.end;
		for (size_t i = 1; i < n && !is_beyond; i++)
			n_repeats += t->kind[rows[i]] == t->kind[rows[i - 1]];
	}
	atomic_fetch_add(&b->n_repeats, n_repeats);
	return HT_OK;
}

/* The innermost operator around a launch. */
static uint32_t find_op(struct builder *b, uint32_t launch)
{
	const struct ht_trace *t = b->t;
	uint32_t up = t->parent[launch];
	if (b->op_around)
		return b->op_around[launch];
	for (size_t n = 0; n < MAX_UP; n++) {
		if (up == HT_NONE || is_op(t, up, NULL))
			return up;
		up = t->parent[up];
	}
	atomic_store_explicit(&b->is_far, true, memory_order_relaxed);
	return HT_NONE;
}

static enum ht_status link_range(void *user, size_t i_range, int i_worker)
{
	struct builder *b = user;
	const struct ht_trace *t = b->t;
	struct ht_range range = ht_range_at(b->ctx, t->n_gpu, i_range);
	struct ht_row_index launches = b->launches, ops = b->ops;
	struct ht_arg_cursor correlations = ht_arg_cursor(t, correlation_key(b));
	struct ht_arg_cursor externals = ht_arg_cursor(t, "External id");
	(void)i_worker;
	if (!correlations.n && !externals.n)
		return HT_OK;
	for (uint32_t i = range.first; i < range.end; i++) {
		struct ht_gpu *gpu = &b->gpu[i];
		int64_t correlation = ht_arg_cursor_i64(&correlations, gpu->row, HT_NO_I64);
		int64_t external = ht_arg_cursor_i64(&externals, gpu->row, HT_NO_I64);
		size_t n = 0;
		const uint32_t *rows = NULL;
		if (correlation != HT_NO_I64)
			rows = ht_row_index_find(&launches, correlation, MAX_SAME, &n);
		/* ROCm writes 0 for "unknown": believe it only when it is one launch's own */
		if (n == 1 || (n > 1 && correlation != 0))
			gpu->launch = choose_launch(t, rows, n, gpu->row);
		if (external == HT_NO_I64 && gpu->launch != HT_NONE)
			external = ht_arg_i64(t, "External id", gpu->launch, HT_NO_I64);
		if (external != HT_NO_I64) {
			rows = ht_row_index_find(&ops, external, MAX_SAME, &n);
			gpu->op = choose_op(t, rows, n, gpu->launch);
		}
		if (gpu->op == HT_NONE && gpu->launch != HT_NONE)
			gpu->op = find_op(b, gpu->launch);
	}
	return HT_OK;
}

static enum ht_status link_work(struct builder *b, struct ht_tally *tally)
{
	const struct ht_trace *t = b->t;
	size_t n_ranges = ht_n_ranges(b->ctx, t->n_gpu);
	uint32_t *op_around = NULL;
	HT_TRY(ht_row_index_make(b->ctx, t, correlation_key(b),
	        HT_KIND_BIT(HT_KIND_RUNTIME) | HT_KIND_BIT(HT_KIND_DRIVER), &b->arena,
	        &b->launches));
	HT_TRY(ht_row_index_make(
	        b->ctx, t, "External id", HT_KIND_BIT(HT_KIND_CPU_OP), &b->arena, &b->ops));
	HT_TRY(ht_parallel(
	        b->ctx, ht_n_ranges(b->ctx, ht_row_index_places(&b->launches)), count_repeats, b));
	ht_tally_add(tally, HT_STAT_duplicate_correlation, atomic_load(&b->n_repeats));
	HT_TRY(ht_parallel(b->ctx, n_ranges, link_range, b));
	if (!atomic_load(&b->is_far))
		return HT_OK;
	/* a walk over all rows, however deep they are nested */
	HT_TRY(ht_tree_nearest(b->ctx, t, is_op, NULL, &b->arena, &op_around));
	b->op_around = op_around;
	return ht_parallel(b->ctx, n_ranges, link_range, b);
}

/* ---- the other direction: launch to its pieces of work ---- */

static size_t pick_launched(const void *user, struct ht_range range, uint32_t *to)
{
	const struct builder *b = user;
	size_t n = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		if (b->gpu[i].launch == HT_NONE)
			continue;
		if (to)
			to[n] = i;
		n++;
	}
	return n;
}

/* Where a launch's work begins among all that is sorted by launch. */
static size_t pick_first(const void *user, struct ht_range range, uint32_t *to)
{
	const struct builder *b = user;
	size_t n = 0;
	for (uint32_t i = range.first; i < range.end; i++) {
		if (i && b->keys[i] == b->keys[i - 1])
			continue;
		if (to)
			to[n] = i;
		n++;
	}
	return n;
}

static enum ht_status index_launches(struct builder *b)
{
	struct ht_trace *t = b->t;
	size_t n, n_launches;
	HT_TRY(ht_pick(b->ctx, (uint32_t)t->n_gpu, pick_launched, b, &b->arena, &b->order, &n));
	b->keys = ht_arena_alloc(&b->arena, (n + 1) * sizeof *b->keys);
	if (!b->keys)
		return ht_fail_nomem(b->ctx);
	for (size_t i = 0; i < n; i++)
		b->keys[i] = b->gpu[b->order[i]].launch;
	HT_TRY(ht_sort_keys_shared(b->ctx, b->keys, b->order, n));
	HT_TRY(ht_pick(b->ctx, (uint32_t)n, pick_first, b, &b->arena, &b->offsets, &n_launches));
	uint32_t *rows = HT_SECTION_ALLOC(b->ctx, t, launch_rows, uint32_t, n_launches);
	uint32_t *offsets = HT_SECTION_ALLOC(b->ctx, t, launch_offsets, uint32_t, n_launches + 1);
	uint32_t *gpus = HT_SECTION_ALLOC(b->ctx, t, launch_gpu, uint32_t, n);
	if (!rows || !offsets || !gpus)
		return ht_fail_nomem(b->ctx);
	for (size_t k = 0; k < n_launches; k++) {
		offsets[k] = b->offsets[k];
		rows[k] = (uint32_t)b->keys[b->offsets[k]];
	}
	offsets[n_launches] = (uint32_t)n;
	if (n)
		memcpy(gpus, b->order, n * sizeof *gpus);
	return HT_OK;
}

static enum ht_status seal(struct builder *b, struct ht_tally *tally)
{
	HT_TRY(list_work(b));
	HT_TRY(link_work(b, tally));
	/* what launches and operators were found by is not needed any more, and as large as what follows */
	ht_arena_done(&b->arena);
	ht_arena_init(&b->arena, b->ctx->mem);
	return index_launches(b);
}

enum ht_status ht_seal_gpu(ht_ctx *ctx, struct ht_trace *t, const struct ht_kernel_rules *rules,
        struct ht_tally *tally)
{
	struct builder b = { .ctx = ctx, .t = t, .rules = rules };
	b.collectives = ht_str_find(t, "collective_comm");
	ht_arena_init(&b.arena, ctx->mem);
	enum ht_status status = seal(&b, tally);
	ht_arena_done(&b.arena);
	return status;
}

void ht_seal_ascend_ops(struct ht_trace *t)
{
	uint32_t cat = ht_str_find(t, "async_npu");
	for (size_t i = 0; cat != HT_NO_STR && i < t->more->n_flows; i++) {
		const struct ht_flow *flow = &t->more->flows[i];
		if (flow->cat != cat || flow->from == HT_NONE || flow->to == HT_NONE)
			continue;
		struct ht_gpu *gpu = HT_MUTABLE(struct ht_gpu, ht_gpu_of_row(t, flow->to));
		uint32_t op = flow->from;
		while (op != HT_NONE && t->kind[op] != HT_KIND_CPU_OP)
			op = t->parent[op];
		/* an operator that starts several tasks has a flow for each; of several for one task the
		 * innermost counts, which starts last */
		if (gpu && op != HT_NONE &&
		        (gpu->op == HT_NONE || t->ts_ns[gpu->op] < t->ts_ns[op]))
			gpu->op = op;
	}
}
