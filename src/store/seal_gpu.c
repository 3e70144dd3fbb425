/*
 * seal_gpu.c - GPU work: class, device, stream, the call that launched it, the operator behind it.
 *
 * launch  by correlation. One launch may own many pieces (graphs). Several launches with one correlation:
 *         runtime before driver, then the last one that starts before the work.
 * op      External id names the innermost operator; it is believed on GPU work and on its launch. Without
 *         one, the innermost operator around the launch on its thread.
 */
#include "store/seal.h"

#include "base/sort.h"
#include "store/row_index.h"
#include "store/tree.h"

#include <string.h>

/* How many rows with one id are looked at; real traces have one or two, and the bound keeps a hostile
 * file from costing quadratic time. */
#define MAX_SAME      64
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

static bool contains(const struct ht_trace *t, uint32_t outer, uint32_t inner)
{
	return t->track[outer] == t->track[inner] && t->ts_ns[outer] <= t->ts_ns[inner] &&
	       ht_end_ns(t, outer) >= ht_end_ns(t, inner);
}

/* The operator with that External id; of several the one around the launch, else the last. */
static uint32_t choose_op(const struct ht_trace *t, const uint32_t *rows, size_t n, uint32_t launch)
{
	for (size_t i = n; i-- > 0;)
		if (launch != HT_NONE && contains(t, rows[i], launch))
			return rows[i];
	return n ? rows[n - 1] : HT_NONE;
}

struct builder {
	ht_ctx *ctx;
	struct ht_trace *t;
	struct ht_arena arena;
	struct ht_gpu *gpu;
	uint8_t *class_of_name; /* by string id: class + 1, 0 not yet known */
};

static enum ht_class class_of(struct builder *b, const struct ht_kernel_rules *rules, uint32_t row)
{
	const struct ht_trace *t = b->t;
	if (t->kind[row] == HT_KIND_MEMCPY)
		return HT_CLASS_MEMCPY;
	if (t->kind[row] == HT_KIND_MEMSET)
		return HT_CLASS_MEMSET;
	if (!strcmp(ht_cat(t, row), "collective_comm"))
		return HT_CLASS_COMM;
	if (t->name[row] == HT_NO_STR)
		return HT_CLASS_COMPUTE;
	uint8_t *known = &b->class_of_name[t->name[row]];
	if (!*known)
		*known = (uint8_t)(ht_kernel_class(rules, ht_str(t, t->name[row])) + 1);
	return *known - 1;
}

static bool is_ascend(const struct builder *b)
{
	return b->t->meta_->dialect == HT_DIALECT_ASCEND;
}

static const char *correlation_key(const struct builder *b)
{
	return is_ascend(b) ? "connection_id" : "correlation";
}

static void place(struct builder *b, struct ht_gpu *gpu, int64_t device, int64_t stream)
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
	HT_MUTABLE(struct ht_track, b->t->tracks)[b->t->track[gpu->row]].device = gpu->device;
}

static enum ht_status list_work(struct builder *b, const struct ht_kernel_rules *rules)
{
	struct ht_trace *t = b->t;
	size_t n = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		n += ht_kind_is_gpu_work(t->kind[row]) && (t->flags[row] & HT_EV_SPAN);
	b->gpu = HT_SECTION_ALLOC(b->ctx, t, gpu, struct ht_gpu, n);
	b->class_of_name = ht_arena_alloc(&b->arena, t->n_string_offsets);
	if (!b->gpu || !b->class_of_name)
		return ht_fail_nomem(b->ctx);
	struct ht_gpu *gpu = b->gpu;
	struct ht_arg_cursor device = ht_arg_cursor(t, "device");
	struct ht_arg_cursor stream = ht_arg_cursor(t, "stream");
	struct ht_arg_cursor ascend = ht_arg_cursor(t, "Stream Id");
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!ht_kind_is_gpu_work(t->kind[row]) || !(t->flags[row] & HT_EV_SPAN))
			continue;
		*gpu = (struct ht_gpu){ .row = row, .launch = HT_NONE, .op = HT_NONE };
		gpu->class_ = (uint8_t)class_of(b, rules, row);
		int64_t number = ht_arg_cursor_i64(&stream, row, HT_NO_I64);
		if (is_ascend(b) && number == HT_NO_I64)
			number = ht_arg_cursor_i64(&ascend, row, HT_NO_I64);
		place(b, gpu++, ht_arg_cursor_i64(&device, row, HT_NO_I64), number);
	}
	return HT_OK;
}

static bool is_op(const struct ht_trace *t, uint32_t row, const void *user)
{
	(void)user;
	return t->kind[row] == HT_KIND_CPU_OP;
}

/* Calls of one kind with one correlation. */
static void count_repeats(
        const struct ht_trace *t, const struct ht_row_index *launches, struct ht_tally *tally)
{
	const uint32_t *rows;
	size_t at = 0, n;
	while (ht_row_index_next(launches, &at, &rows, &n))
		for (size_t i = 1; i < n; i++)
			ht_tally_add(tally, HT_STAT_duplicate_correlation,
			        t->kind[rows[i]] == t->kind[rows[i - 1]]);
}

static enum ht_status link_work(struct builder *b, struct ht_tally *tally)
{
	const struct ht_trace *t = b->t;
	struct ht_row_index launches, ops;
	uint32_t *op_around = NULL;
	struct ht_arg_cursor correlations = ht_arg_cursor(t, correlation_key(b));
	struct ht_arg_cursor externals = ht_arg_cursor(t, "External id");
	HT_TRY(ht_row_index_make(b->ctx, t, correlation_key(b),
	        HT_KIND_BIT(HT_KIND_RUNTIME) | HT_KIND_BIT(HT_KIND_DRIVER), &b->arena, &launches));
	HT_TRY(ht_row_index_make(
	        b->ctx, t, "External id", HT_KIND_BIT(HT_KIND_CPU_OP), &b->arena, &ops));
	count_repeats(t, &launches, tally);
	for (size_t i = 0; i < t->n_gpu; i++) {
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
		if (gpu->op != HT_NONE || gpu->launch == HT_NONE)
			continue;
		/* files without External ids only: a walk over all rows */
		if (!op_around)
			HT_TRY(ht_tree_nearest(b->ctx, t, is_op, NULL, &b->arena, &op_around));
		gpu->op = op_around[gpu->launch];
	}
	return HT_OK;
}

/* The other direction: launch to its pieces of work. */
static enum ht_status index_launches(struct builder *b)
{
	struct ht_trace *t = b->t;
	uint64_t *keys = ht_arena_alloc(&b->arena, (t->n_gpu + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(&b->arena, (t->n_gpu + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(b->ctx);
	size_t n = 0, n_launches = 0;
	for (uint32_t i = 0; i < t->n_gpu; i++)
		if (b->gpu[i].launch != HT_NONE) {
			keys[n] = b->gpu[i].launch;
			order[n++] = i;
		}
	if (!ht_sort_keys(b->ctx->mem, keys, order, n))
		return ht_fail_nomem(b->ctx);
	for (size_t i = 0; i < n; i++)
		n_launches += !i || keys[i] != keys[i - 1];
	uint32_t *rows = HT_SECTION_ALLOC(b->ctx, t, launch_rows, uint32_t, n_launches);
	uint32_t *offsets = HT_SECTION_ALLOC(b->ctx, t, launch_offsets, uint32_t, n_launches + 1);
	uint32_t *gpus = HT_SECTION_ALLOC(b->ctx, t, launch_gpu, uint32_t, n);
	if (!rows || !offsets || !gpus)
		return ht_fail_nomem(b->ctx);
	for (size_t i = 0, k = 0; i < n; i++) {
		if (!i || keys[i] != keys[i - 1]) {
			rows[k] = (uint32_t)keys[i];
			offsets[k++] = (uint32_t)i;
		}
		gpus[i] = order[i];
	}
	offsets[n_launches] = (uint32_t)n;
	return HT_OK;
}

static enum ht_status seal(
        struct builder *b, const struct ht_kernel_rules *rules, struct ht_tally *tally)
{
	HT_TRY(list_work(b, rules));
	HT_TRY(link_work(b, tally));
	return index_launches(b);
}

enum ht_status ht_seal_gpu(ht_ctx *ctx, struct ht_trace *t, const struct ht_kernel_rules *rules,
        struct ht_tally *tally)
{
	struct builder b = { .ctx = ctx, .t = t };
	ht_arena_init(&b.arena, ctx->mem);
	enum ht_status status = seal(&b, rules, tally);
	ht_arena_done(&b.arena);
	return status;
}

void ht_seal_ascend_ops(struct ht_trace *t)
{
	uint32_t cat = ht_str_find(t, "async_npu");
	for (size_t i = 0; cat != HT_NO_STR && i < t->n_flows; i++) {
		const struct ht_flow *flow = &t->flows[i];
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
