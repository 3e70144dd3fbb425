/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_facts.c - see rule_facts.h.
 */
#include "model/advice/rule_facts.h"

#include "base/checked.h"
#include "base/sort.h"
#include "base/search.h"
#include "base/text_compare.h"
#include "model/advice/copy_facts.h"
#include "model/advice/host_doing.h"
#include "model/advice/memory_growth.h"
#include "model/advice/slow_step.h"
#include "model/communication/comm_calls.h"
#include "model/device/gpu_work.h"
#include "model/device/idle.h"
#include "model/device/launch.h"
#include "model/memory/allocations.h"
#include "model/calls/op_tree.h"
#include "model/rows/dtype.h"
#include "store/trace_meta.h"
#include "table/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The others are of npu_facts.c. */
enum { N_OWN_METRICS = HT_METRIC_AI_CPU };
_Static_assert(N_OWN_METRICS <= 32, "metrics of names are bits of one word");

const struct ht_column ht_rule_fact_columns[HT_N_FACT_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_RULE_FACT_COLUMNS);

struct facts {
	struct ht_run *run;
	const struct ht_trace *t;
	const struct ht_bounds *bounds;
	struct ht_traits traits;
	struct ht_frame frame; /* all rows */
	struct ht_rule_sum of[N_OWN_METRICS];
	bool known[N_OWN_METRICS]; /* the trace has what it takes, be it 0 */
	ht_table *table;
	struct ht_arena *kept;     /* for what is found for others, as it stays */
	struct ht_interval *waits; /* of the host, for a device: merged */
	size_t n_waits;
	struct ht_interval *awaits; /* in data loaders and communication: merged */
	int64_t *await_sums;        /* their lengths, added up */
	size_t n_awaits;
	struct ht_interval *slow; /* steps that are not like the others (slow_step.h) */
	size_t n_slow;
};

void ht_rule_fact_put(const struct ht_trace *t, ht_table *table, enum ht_metric metric,
        int64_t device, const struct ht_rule_sum *s)
{
	const char *name = s->name;
	if (!name && s->row != HT_NONE && t->name[s->row] != HT_NO_STR)
		name = ht_str(t, t->name[s->row]);
	ht_table_row(table);
	ht_table_put_i64(table, HT_FACT_METRIC, metric);
	ht_table_put_known(table, HT_FACT_DEVICE, device, HT_NO_I64);
	ht_table_put_i64(table, HT_FACT_PART, s->part);
	ht_table_put_known(table, HT_FACT_WHOLE, s->whole, HT_NO_I64);
	ht_table_put_i64(table, HT_FACT_COUNT, s->count);
	ht_table_put_known(table, HT_FACT_ROW, s->row, HT_NONE);
	ht_table_put_i64(table, HT_FACT_ROW_NS, s->row_ns);
	ht_table_put_str(table, HT_FACT_NAME, name);
	ht_table_put_str(table, HT_FACT_MORE, s->more);
	ht_table_put_str(table, HT_FACT_PLACE, s->place);
	for (size_t i = 0; i < HT_N_FACT_AUX; i++)
		ht_table_put_i64(table, HT_FACT_AUX + i, s->aux[i]);
}

static void put(
        const struct facts *f, enum ht_metric metric, int64_t device, const struct ht_rule_sum *s)
{
	ht_rule_fact_put(f->t, f->table, metric, device, s);
}

bool ht_bounds_hold(const struct ht_bounds *b, int64_t time_ns)
{
	size_t i = HT_LOWER_BOUND(at, b->n, b->list[at].start <= time_ns);
	return i && time_ns < b->list[i - 1].end;
}

/* ---- roles ---- */

/* What the host does in slow steps is theirs: it says nothing of the others. */
static bool is_in_slow(const struct facts *f, int64_t time_ns)
{
	size_t i = HT_LOWER_BOUND(at, f->n_slow, f->slow[at].start <= time_ns);
	return i && time_ns < f->slow[i - 1].end;
}

static enum ht_status list_slow(struct facts *f, int64_t median_ns)
{
	f->slow = ht_arena_alloc(f->kept, (f->bounds->n + 1) * sizeof *f->slow);
	if (!f->slow)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < f->bounds->n; i++) {
		const struct ht_bound *b = &f->bounds->list[i];
		if (ht_step_is_slow(ht_bound_ns(b), median_ns))
			f->slow[f->n_slow++] = (struct ht_interval){ b->start, b->end };
	}
	return HT_OK;
}

static enum ht_status find_slow_step(struct facts *f, const int64_t (*ns)[HT_N_BUSY])
{
	struct ht_slow_step slow;
	if (f->bounds->is_whole)
		return HT_OK;
	HT_TRY(ht_slow_step_find(f->run, f->bounds, ns, f->kept, &slow));
	bool has_first = f->bounds->n && f->bounds->list[0].is_first;
	f->known[HT_METRIC_SLOW_STEP] = f->bounds->n >= HT_SLOW_STEPS_LEAST + (size_t)has_first;
	if (slow.i_bound == SIZE_MAX)
		return HT_OK;
	HT_TRY(list_slow(f, slow.median_ns));
	const struct ht_bound *step = &f->bounds->list[slow.i_bound];
	int64_t length_ns = ht_bound_ns(step);
	bool is_comm = slow.role == HT_BUSY_COMM;
	f->known[HT_METRIC_SLOW_COMM] = is_comm;
	f->of[is_comm ? HT_METRIC_SLOW_COMM : HT_METRIC_SLOW_STEP] =
	        (struct ht_rule_sum){ .part = slow.excess_ns,
		        .whole = HT_NO_I64,
		        .count = (int64_t)slow.n,
		        .row = slow.row != HT_NONE ? slow.row : f->t->steps[step->i_step].row,
		        .row_ns = length_ns,
		        .name = slow.name ? slow.name : "",
		        .more = slow.around,
		        .aux = { step->number, slow.median_ns, slow.name_ns } };
	return HT_OK;
}

/* When the host waits for data or for other ranks, in calls of its own or beside kernels that communicate. */
static enum ht_status list_awaits(struct facts *f, const struct ht_busy_times *times)
{
	static const int roles[] = { HT_BUSY_LOADER, HT_BUSY_COMM };
	size_t n = 0;
	f->awaits = ht_arena_alloc(f->kept,
	        (times->n[HT_BUSY_LOADER] + times->n[HT_BUSY_COMM] + 1) * sizeof *f->awaits);
	if (!f->awaits)
		return ht_fail_nomem(f->run->ctx);
	for (size_t k = 0; k < HT_COUNT(roles); k++)
		for (size_t i = 0; i < times->n[roles[k]]; i++)
			f->awaits[n++] = times->list[roles[k]][i];
	f->n_awaits = ht_interval_merge(f->run->ctx->mem, f->awaits, n);
	f->await_sums = ht_arena_alloc(f->kept, (f->n_awaits + 1) * sizeof *f->await_sums);
	if (!f->await_sums)
		return ht_fail_nomem(f->run->ctx);
	ht_interval_sums(f->awaits, f->n_awaits, f->await_sums);
	return HT_OK;
}

static int64_t await_ns(const struct facts *f, int64_t from, int64_t until)
{
	return ht_interval_between(f->awaits, f->await_sums, f->n_awaits, from, until);
}

static enum ht_status find_roles(struct facts *f)
{
	struct ht_busy_times times = { 0 };
	int64_t(*ns)[HT_N_BUSY] = NULL;
	struct ht_rule_sum *steps = &f->of[HT_METRIC_STEPS];
	struct ht_rule_sum *loader = &f->of[HT_METRIC_LOADER], *comm = &f->of[HT_METRIC_COMM];
	struct ht_rule_sum *copy = &f->of[HT_METRIC_COPY];
	HT_TRY(ht_busy_make(f->run, &f->frame, &f->traits, &times));
	HT_TRY(ht_busy_split(f->run, f->bounds, &times, &ns));
	HT_TRY(list_awaits(f, &times));
	steps->count = (int64_t)f->bounds->n;
	for (size_t i = 0; i < f->bounds->n; i++) {
		ht_sum(&steps->part, ht_bound_ns(&f->bounds->list[i]));
		ht_sum(&loader->part, ns[i][HT_BUSY_LOADER]);
		ht_sum(&comm->part, ns[i][HT_BUSY_COMM]);
		ht_sum(&copy->part, ns[i][HT_BUSY_MEMCPY]);
	}
	loader->whole = comm->whole = copy->whole = steps->part;
	comm->count = comm->part > 0;
	f->known[HT_METRIC_STEPS] = true;
	return find_slow_step(f, ns);
}

/* ---- names of host rows ---- */

static bool allocates(const char *name)
{
	static const char cann[] = "AscendCL@";
	static const char *const names[] = { "cudaMalloc", "cudaFree", "cudaHostAlloc", "hipMalloc",
		"hipFree", "hipHostMalloc", "cuMemAlloc", "cuMemFree", "cuMemCreate", "aclrtMalloc",
		"aclrtFree", "aclMallocMemInner" };
	name += ht_text_starts(name, cann) ? sizeof cann - 1 : 0;
	for (size_t i = 0; i < HT_COUNT(names); i++)
		if (ht_text_starts(name, names[i]))
			return true;
	return false;
}

/* What a host row is to the rules, by its name: bits of metrics. */
static uint32_t host_bits(const char *name, unsigned traits)
{
	uint32_t bits = 0;
	if (traits & HT_TRAIT_LOADER)
		bits |= 1u << HT_METRIC_LOADS;
	if (!strcmp(name, "DataParallel.forward"))
		bits |= 1u << HT_METRIC_DP;
	if (!strcmp(name, "DistributedDataParallel.forward"))
		bits |= 1u << HT_METRIC_DDP;
	if (ht_text_starts(name, "nccl:") || ht_text_starts(name, "hccl:") ||
	        ht_text_starts(name, "xccl:"))
		bits |= 1u << HT_METRIC_NCCL;
	if (ht_text_starts(name, "gloo:") || ht_text_starts(name, "mpi:"))
		bits |= 1u << HT_METRIC_GLOO;
	if (allocates(name))
		bits |= 1u << HT_METRIC_MALLOC;
	if (ht_is_wait_name(name))
		bits |= 1u << HT_METRIC_SYNC;
	if (strstr(name, "SyncBatchNorm"))
		bits |= 1u << HT_METRIC_BATCHNORM;
	return bits;
}

/* Whether a row of a kind can be what its name says. */
static uint32_t bits_of_kind(uint8_t kind)
{
	const uint32_t calls = 1u << HT_METRIC_MALLOC | 1u << HT_METRIC_SYNC;
	switch (kind) {
	case HT_KIND_RUNTIME:
	case HT_KIND_DRIVER: return calls;
	case HT_KIND_CPU_OP:
	case HT_KIND_ANNOTATION: return ~calls;
	default: return 0;
	}
}

/* ---- idle after waits ---- */

struct wait {
	int64_t start_ns, end_ns;
	uint32_t row;
};

static int by_end(const void *left, const void *right)
{
	const struct wait *a = left, *b = right;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Copies whose call returns when they are done, as those from and to pageable memory do. */
static void list_blocking_copies(const struct facts *f, struct wait *list, size_t *n)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (gpu->class_ == HT_CLASS_MEMCPY && gpu->launch != HT_NONE &&
		        ht_is_span(t, gpu->row) && ht_is_span(t, gpu->launch) &&
		        ht_end_ns(t, gpu->launch) >= ht_end_ns(t, gpu->row) &&
		        ht_bounds_hold(f->bounds, t->ts_ns[gpu->launch]))
			list[(*n)++] = (struct wait){ t->ts_ns[gpu->launch],
				ht_end_ns(t, gpu->launch), gpu->launch };
	}
}

/* When a device is at work, merged. */
static enum ht_status find_busy(struct facts *f, struct ht_interval **ret_busy, size_t *ret_n)
{
	const struct ht_trace *t = f->t;
	struct ht_interval *busy = ht_arena_room(f->run->scratch, (t->n_gpu + 1) * sizeof *busy);
	const uint32_t *order = NULL;
	size_t n = 0;
	if (!busy)
		return ht_fail_nomem(f->run->ctx);
	HT_TRY(ht_gpu_by_device(f->run, &order));
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t row = t->gpu[order[i]].row;
		if (ht_is_span(t, row))
			busy[n++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	*ret_n = ht_interval_merge(f->run->ctx->mem, busy, n);
	*ret_busy = busy;
	return HT_OK;
}

/* The device is idle from the end of a call that waited for it to the next work; what runs on meanwhile is no cost. Of
 * several in one gap the last stands for them. Nothing is lost but what they took: so much later the host goes on. That it
 * then loads data or communicates is no fault of theirs. */
static void charge_waits(struct facts *f, const struct wait *list, size_t n,
        const struct ht_interval *busy, size_t n_busy)
{
	size_t at = 0;
	int64_t took_ns = 0, idle_ns = 0;
	for (size_t i = 0; i < n; i++) {
		while (at < n_busy && busy[at].end <= list[i].end_ns)
			at++;
		/* nothing to come, or still at work */
		int64_t until = at && at < n_busy && busy[at].start > list[i].end_ns
		                        ? busy[at].start
		                        : list[i].end_ns;
		bool more = i + 1 < n && list[i + 1].end_ns < until;
		int64_t next = more ? list[i + 1].end_ns : until;
		ht_sum(&took_ns, list[i].end_ns - list[i].start_ns);
		ht_sum(&idle_ns, next - list[i].end_ns - await_ns(f, list[i].end_ns, next));
		if (more)
			continue;
		int64_t cost_ns = idle_ns < took_ns ? idle_ns : took_ns;
		if (cost_ns > 0 && !is_in_slow(f, list[i].start_ns))
			ht_rule_sum_add(&f->of[HT_METRIC_SYNC], cost_ns, list[i].row, cost_ns);
		took_ns = idle_ns = 0;
	}
}

static enum ht_status find_waits(struct facts *f, struct wait *list, size_t n)
{
	struct ht_interval *busy = NULL;
	size_t n_busy = 0;
	list_blocking_copies(f, list, &n);
	f->waits = ht_arena_room(f->kept, (n + 1) * sizeof *f->waits);
	if (!f->waits)
		return ht_fail_nomem(f->run->ctx);
	ht_sort_items(f->run->ctx->mem, list, n, sizeof *list, by_end);
	for (size_t i = 0; i < n; i++)
		f->waits[i] = (struct ht_interval){ list[i].start_ns, list[i].end_ns };
	f->n_waits = ht_interval_merge(f->run->ctx->mem, f->waits, n);
	HT_TRY(find_busy(f, &busy, &n_busy));
	charge_waits(f, list, n, busy, n_busy);
	return HT_OK;
}

static size_t count_calls(const struct ht_trace *t)
{
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++)
		n += ht_kind_is_call(t->kind[row]);
	return n;
}

/* Bits of names are found when the first row has one: most texts of a trace are args. */
#define IS_READ (1u << 31)
_Static_assert(N_OWN_METRICS < 31, "one bit is left");

static uint32_t bits_of_row(const struct ht_trace *t, uint32_t row, uint32_t *bits)
{
	uint32_t id = t->name[row];
	if (id == HT_NO_STR)
		return 0;
	if (!bits[id])
		bits[id] = IS_READ | host_bits(ht_str(t, id), ht_name_traits(ht_str(t, id)));
	return bits[id];
}

static enum ht_status find_host(struct facts *f)
{
	const struct ht_trace *t = f->t;
	size_t n_strings = t->n_string_offsets ? t->n_string_offsets - 1 : 0, n_waits = 0;
	const uint32_t host_metrics = 1u << HT_METRIC_LOADS | 1u << HT_METRIC_DP |
	                              1u << HT_METRIC_DDP | 1u << HT_METRIC_NCCL |
	                              1u << HT_METRIC_GLOO | 1u << HT_METRIC_MALLOC |
	                              1u << HT_METRIC_SYNC | 1u << HT_METRIC_BATCHNORM;
	uint32_t kinds = 0;
	uint32_t *bits = ht_arena_alloc(f->run->scratch, (n_strings + 1) * sizeof *bits);
	struct wait *list =
	        ht_arena_room(f->run->scratch, (count_calls(t) + t->n_gpu + 1) * sizeof *list);
	if (!bits || !list)
		return ht_fail_nomem(f->run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++) {
		uint32_t could = bits_of_kind(t->kind[row]) & host_metrics;
		uint32_t found = could ? bits_of_row(t, row, bits) & could : 0;
		kinds |= could;
		if (!found || !ht_is_span(t, row) || !ht_bounds_hold(f->bounds, t->ts_ns[row]))
			continue;
		for (int k = 0; k < N_OWN_METRICS; k++)
			if ((found & 1u << k) && k != HT_METRIC_SYNC)
				ht_rule_sum_add(&f->of[k], t->dur_ns[row], row, t->dur_ns[row]);
		if (found & 1u << HT_METRIC_SYNC)
			list[n_waits++] = (struct wait){ t->ts_ns[row], ht_end_ns(t, row), row };
	}
	for (int k = 0; k < N_OWN_METRICS; k++)
		f->known[k] |= (kinds & 1u << k) != 0;
	f->known[HT_METRIC_LOADER] = f->known[HT_METRIC_LOADS];
	f->known[HT_METRIC_COMM] = f->known[HT_METRIC_GLOO];
	f->of[HT_METRIC_LOADER].row = f->of[HT_METRIC_LOADS].row;
	f->of[HT_METRIC_LOADER].row_ns = f->of[HT_METRIC_LOADS].row_ns;
	f->of[HT_METRIC_LOADER].count = f->of[HT_METRIC_LOADS].count;
	return find_waits(f, list, n_waits);
}

/* ---- GPU work ---- */

/* What GPU work says of itself. */
struct work_args {
	struct ht_arg_cursor blocks, in, out, dtype, bytes;
	struct ht_copy_kinds copies;
};

static void look_at_kernel(struct facts *f, const struct ht_gpu *gpu, struct work_args *args)
{
	const struct ht_trace *t = f->t;
	int64_t ns = t->dur_ns[gpu->row];
	double blocks = ht_arg_cursor_f64(&args->blocks, gpu->row, -1);
	struct ht_rule_sum *grid = &f->of[HT_METRIC_GRID], *tiny = &f->of[HT_METRIC_TINY];
	struct ht_rule_sum *layout = &f->of[HT_METRIC_LAYOUT];
	f->known[HT_METRIC_TINY] = f->known[HT_METRIC_LAYOUT] = true;
	layout->whole = layout->whole == HT_NO_I64 ? ns : ht_add_sat(layout->whole, ns);
	if (ht_traits_of(&f->traits, gpu->row) & HT_TRAIT_LAYOUT)
		ht_rule_sum_add(layout, ns, gpu->row, ns);
	tiny->whole = tiny->whole == HT_NO_I64 ? 1 : tiny->whole + 1;
	if (ns < HT_TINY_NS)
		ht_rule_sum_add(tiny, 1, gpu->row, ns);
	if (blocks < 0)
		return;
	f->known[HT_METRIC_GRID] = true;
	grid->whole = grid->whole == HT_NO_I64 ? ns : ht_add_sat(grid->whole, ns);
	/* with 128 blocks on 132 SMs next to nothing is lost: as much as there are SMs without one */
	if (blocks < 1)
		ht_rule_sum_add(grid, ht_cut_sat((1 - blocks) * (double)ns), gpu->row, ns);
}

static void look_at_message(struct facts *f, const struct ht_gpu *gpu, struct work_args *args)
{
	const struct ht_trace *t = f->t;
	int64_t in = ht_arg_cursor_i64(&args->in, gpu->row, HT_NO_I64);
	int64_t out = ht_arg_cursor_i64(&args->out, gpu->row, HT_NO_I64), bytes;
	int64_t each = ht_dtype_bytes(ht_arg_cursor_str(&args->dtype, gpu->row));
	struct ht_rule_sum *sum = &f->of[HT_METRIC_MESSAGES];
	f->known[HT_METRIC_NCCL] = f->known[HT_METRIC_COMM] = true;
	ht_rule_sum_add(&f->of[HT_METRIC_NCCL], t->dur_ns[gpu->row], gpu->row, t->dur_ns[gpu->row]);
	if (in < 0 || !each || __builtin_mul_overflow(out > in ? out : in, each, &bytes))
		return;
	f->known[HT_METRIC_MESSAGES] = true;
	sum->whole = sum->whole == HT_NO_I64 ? 1 : sum->whole + 1;
	if (bytes < HT_SMALL_BYTES)
		ht_rule_sum_add(sum, 1, gpu->row, t->dur_ns[gpu->row]);
}

/* "Memcpy HtoD (Pageable -> Device)" */
static void look_at_copy(struct facts *f, const struct ht_gpu *gpu, struct work_args *args)
{
	const char *name = ht_str(f->t, f->t->name[gpu->row]);
	int64_t ns = f->t->dur_ns[gpu->row];
	f->known[HT_METRIC_PAGEABLE] |= strstr(name, "->") != NULL;
	if (strstr(name, "Pageable"))
		ht_rule_sum_add(&f->of[HT_METRIC_PAGEABLE], ns, gpu->row, ns);
	f->known[HT_METRIC_COPY] = true;
	ht_copy_kinds_add(&args->copies, f->t, gpu, ht_arg_cursor_i64(&args->bytes, gpu->row, 0));
}

static void find_work(struct facts *f)
{
	const struct ht_trace *t = f->t;
	struct work_args args = { ht_arg_cursor(t, "blocks per SM"),
		ht_arg_cursor(t, "In msg nelems"), ht_arg_cursor(t, "Out msg nelems"),
		ht_arg_cursor(t, "dtype"), ht_arg_cursor(t, "bytes"), { .n = 0 } };
	uint64_t devices = 0;
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (!ht_is_span(t, gpu->row) || !ht_bounds_hold(f->bounds, t->ts_ns[gpu->row]))
			continue;
		if (gpu->device >= 0 && gpu->device < 64)
			devices |= (uint64_t)1 << gpu->device;
		if (gpu->class_ == HT_CLASS_COMPUTE)
			look_at_kernel(f, gpu, &args);
		else if (gpu->class_ == HT_CLASS_COMM)
			look_at_message(f, gpu, &args);
		else if (gpu->class_ == HT_CLASS_MEMCPY)
			look_at_copy(f, gpu, &args);
	}
	ht_copy_kinds_tell(&args.copies, t, &f->of[HT_METRIC_COPY]);
	f->of[HT_METRIC_DP].whole = __builtin_popcountll(devices);
	/* the longest of communication, whoever does it */
	const struct ht_rule_sum *nccl = &f->of[HT_METRIC_NCCL], *gloo = &f->of[HT_METRIC_GLOO];
	const struct ht_rule_sum *longest = gloo->row_ns > nccl->row_ns ? gloo : nccl;
	f->of[HT_METRIC_COMM].row = longest->row;
	f->of[HT_METRIC_COMM].row_ns = longest->row_ns;
}

/* GPU time of operators, by node of their tree. */
struct op_times {
	int64_t *ns;
	int64_t *off_ns;     /* of kernels that run on other cores than tensor cores */
	int64_t *product_ns; /* of those, products */
	bool *holds;         /* an operator inside it could run on tensor cores */
	bool *uses;          /* a kernel of it, or inside it, does */
};

static enum ht_status time_ops(struct facts *f, const struct ht_op_tree *tree, struct op_times *ret)
{
	size_t n_bytes = (tree->n + 1) * sizeof *ret->ns;
	struct ht_rule_sum *sum = &f->of[HT_METRIC_TENSOR];
	*ret = (struct op_times){ ht_arena_alloc(f->run->scratch, n_bytes),
		ht_arena_alloc(f->run->scratch, n_bytes), ht_arena_alloc(f->run->scratch, n_bytes),
		ht_arena_alloc(f->run->scratch, tree->n + 1),
		ht_arena_alloc(f->run->scratch, tree->n + 1) };
	if (!ret->ns || !ret->off_ns || !ret->product_ns || !ret->holds || !ret->uses)
		return ht_fail_nomem(f->run->ctx);
	sum->whole = 0;
	for (size_t i = 0; i < f->t->n_gpu; i++) {
		uint32_t row = f->t->gpu[i].row, node = tree->of_gpu[i];
		if (f->t->kind[row] != HT_KIND_KERNEL || node == HT_NONE ||
		        !ht_is_span(f->t, row) || !ht_bounds_hold(f->bounds, f->t->ts_ns[row]))
			continue;
		int64_t ns = f->t->dur_ns[row];
		ht_sum(&ret->ns[node], ns);
		ht_sum(&sum->whole, ns);
		enum ht_core core = ht_traits_runs_on(&f->traits, row, false);
		ret->uses[node] |= core == HT_CORE_TENSOR;
		if (core != HT_CORE_OTHER)
			continue;
		ht_sum(&ret->off_ns[node], ns);
		if (ht_traits_of(&f->traits, row) & HT_TRAIT_CUDA_KERNEL)
			ht_sum(&ret->product_ns[node], ns);
	}
	return HT_OK;
}

/* The lowest operators that could run on tensor cores: none inside them could. Kernels alone count; of what is no operator of the
 * list, a compiled graph, those that do run there: the others are of operators that nobody knows. */
static enum ht_status find_tensor(struct facts *f)
{
	struct ht_op_tree tree;
	struct op_times times;
	struct ht_rule_sum *sum = &f->of[HT_METRIC_TENSOR];
	HT_TRY(ht_op_tree_make(f->run, &f->traits, &tree));
	HT_TRY(time_ops(f, &tree, &times));
	for (size_t i = tree.n; i-- > 0;) {
		const struct ht_op_node *node = &tree.nodes[i];
		if (node->kind == HT_NODE_MERGED)
			continue;
		if (node->parent != HT_NONE) {
			times.holds[node->parent] |= node->tc_eligible;
			times.uses[node->parent] |= times.uses[i];
			ht_sum(&times.ns[node->parent], times.ns[i]);
			ht_sum(&times.off_ns[node->parent], times.off_ns[i]);
			ht_sum(&times.product_ns[node->parent], times.product_ns[i]);
		}
		/* what a call that uses them runs besides prepares its product, or brings it together */
		int64_t off_ns = !node->tc_listed ? 0
		                 : times.uses[i]  ? times.product_ns[i]
		                                  : times.off_ns[i];
		int64_t ns = times.ns[i] - (times.off_ns[i] - off_ns);
		if (node->tc_eligible && !times.holds[i] && ns > 0) {
			ht_rule_sum_add(sum, ns, node->row, off_ns);
			ht_sum(&sum->aux[0], off_ns);
		}
	}
	f->known[HT_METRIC_TENSOR] = sum->whole > 0;
	return HT_OK;
}

static bool has_launches(const struct ht_trace *t)
{
	for (size_t i = 0; i < t->n_gpu; i++)
		if (t->gpu[i].launch != HT_NONE)
			return true;
	return false;
}

/* The launch of each row of GPU work, and how much each launch has. */
struct launches {
	uint32_t *of, *n;
};

static enum ht_status count_launched(struct facts *f, struct launches *ret)
{
	size_t n_rows = f->t->n_kind + 1;
	ret->of = ht_arena_room(f->run->scratch, n_rows * sizeof *ret->of);
	ret->n = ht_arena_alloc(f->run->scratch, n_rows * sizeof *ret->n);
	if (!ret->of || !ret->n)
		return ht_fail_nomem(f->run->ctx);
	memset(ret->of, 0xff, n_rows * sizeof *ret->of);
	for (size_t i = 0; i < f->t->n_gpu; i++) {
		ret->of[f->t->gpu[i].row] = f->t->gpu[i].launch;
		if (f->t->gpu[i].launch != HT_NONE)
			ret->n[f->t->gpu[i].launch]++;
	}
	return HT_OK;
}

static void add_slow_call(struct facts *f, const struct ht_idle_gap *gap, uint32_t launch)
{
	const struct ht_trace *t = f->t;
	int64_t start = t->ts_ns[gap->row];
	int64_t in_call_ns =
	        ht_idle_in_call_ns(t, launch, ht_sub_sat(start, gap->length_ns), start);
	if (in_call_ns && t->kind[gap->row] == HT_KIND_KERNEL && !is_in_slow(f, start))
		ht_rule_sum_add(&f->of[HT_METRIC_SLOW_CALL], in_call_ns, launch, t->dur_ns[launch]);
}

/* The host's part of a gap ends where the launch begins; that of slow steps is no part of it. */
static struct ht_interval host_part(
        const struct facts *f, const struct ht_idle_gap *gap, uint32_t launch)
{
	int64_t until = f->t->ts_ns[launch], from = ht_sub_sat(until, gap->length_ns);
	int64_t slow_ns = ht_interval_within(f->slow, f->n_slow, from, until);
	if (is_in_slow(f, until))
		until -= slow_ns;
	else
		from += slow_ns;
	return (struct ht_interval){ from, until };
}

/* Slow steps, calls that wait and data loaders are not what the host is too slow with. */
static void add_gap(struct facts *f, const struct ht_idle_gap *gap, const struct launches *launches)
{
	uint32_t launch = gap->row == HT_NONE ? HT_NONE : launches->of[gap->row];
	if (launch == HT_NONE)
		return;
	struct ht_interval host = host_part(f, gap, launch);
	int64_t from = host.start, until = host.end, idle_ns = until - from;
	if (gap->category == HT_IDLE_HOST_WAIT) {
		idle_ns -= ht_interval_within(f->waits, f->n_waits, from, until);
		idle_ns -= await_ns(f, from, until);
		if (idle_ns > 0)
			ht_rule_sum_add(&f->of[HT_METRIC_LAUNCH], idle_ns, gap->row, idle_ns);
	} else if (gap->category == HT_IDLE_KERNEL_WAIT && launches->n[launch] == 1) {
		ht_rule_sum_add(&f->of[HT_METRIC_UNDER_WAY], idle_ns, gap->row, idle_ns);
	} else if (gap->category == HT_IDLE_OTHER) {
		add_slow_call(f, gap, launch);
	}
}

/* Time of slow steps from the first work to the last. */
static int64_t slow_within(const struct facts *f)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < f->t->n_gpu; i++) {
		uint32_t row = f->t->gpu[i].row;
		if (!ht_is_span(f->t, row) || !ht_bounds_hold(f->bounds, f->t->ts_ns[row]))
			continue;
		first = f->t->ts_ns[row] < first ? f->t->ts_ns[row] : first;
		last = ht_end_ns(f->t, row) > last ? ht_end_ns(f->t, row) : last;
	}
	return first < last ? ht_interval_within(f->slow, f->n_slow, first, last) : 0;
}

/* What the host does in these gaps, where they are long together: it takes a list of all that it does. */
static enum ht_status find_doing(struct facts *f, const struct ht_idle_stream *devices, size_t n,
        const struct launches *launches)
{
	struct ht_rule_sum *sum = &f->of[HT_METRIC_LAUNCH];
	struct ht_host_doing doing;
	struct ht_quiet quiet = { 0 };
	if (sum->whole == HT_NO_I64 || sum->part < sum->whole / 10)
		return HT_OK;
	HT_TRY(ht_host_doing_make(f->run, f->awaits, f->n_awaits, &doing));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < devices[i].n; k++) {
			const struct ht_idle_gap *gap = &devices[i].gaps[k];
			uint32_t launch = gap->row == HT_NONE ? HT_NONE : launches->of[gap->row];
			if (launch == HT_NONE || gap->category != HT_IDLE_HOST_WAIT)
				continue;
			struct ht_interval host = host_part(f, gap, launch);
			ht_host_quiet_add(&doing, host.start, host.end, &quiet);
		}
	sum->aux[0] = quiet.nothing_ns;
	sum->aux[1] = quiet.python_ns;
	return HT_OK;
}

/* Idle because nothing was launched; the work that ended the longest of these gaps. Where no launch was recorded nothing
 * says so. */
static enum ht_status find_launches(struct facts *f)
{
	const struct ht_idle_options options = { .threshold_ns = HT_IDLE_THRESHOLD_NS,
		.by_device = true };
	const struct ht_idle_stream *devices = NULL;
	struct ht_frame frame;
	struct launches launches = { 0 };
	size_t n = 0;
	struct ht_rule_sum *sum = &f->of[HT_METRIC_LAUNCH];
	if (!has_launches(f->t))
		return HT_OK;
	HT_TRY(ht_frame_make_gpu(f->run, &frame));
	HT_TRY(ht_idle_collect(f->run, &frame, &options, &devices, &n));
	HT_TRY(count_launched(f, &launches));
	int64_t slow_ns = slow_within(f), most_ns = -1;
	for (size_t i = 0; i < n; i++) {
		int64_t span_ns = ht_sub_sat(devices[i].span_ns, slow_ns), before_ns = sum->part;
		if (!devices[i].is_leading)
			sum->whole =
			        sum->whole == HT_NO_I64 ? span_ns : ht_add_sat(sum->whole, span_ns);
		f->known[HT_METRIC_LAUNCH] = f->known[HT_METRIC_UNDER_WAY] =
		        f->known[HT_METRIC_SLOW_CALL] = true;
		for (size_t k = 0; k < devices[i].n; k++)
			add_gap(f, &devices[i].gaps[k], &launches);
		sum->aux[3] += !devices[i].is_leading;
		if (sum->part - before_ns > most_ns) {
			most_ns = sum->part - before_ns;
			sum->aux[2] = devices[i].device;
		}
	}
	f->of[HT_METRIC_UNDER_WAY].whole = sum->whole;
	return find_doing(f, devices, n, &launches);
}

/* ---- memory ---- */

static int64_t bytes_of_device(const struct ht_trace *t, const struct ht_memory_event *event)
{
	const struct ht_device *device =
	        event->device_type ? ht_trace_device(t, event->device_id) : NULL;
	return device ? device->total_memory_bytes : HT_NO_I64;
}

static enum ht_status put_growth(
        const struct facts *f, const struct ht_growth_look *look, size_t first, size_t end)
{
	struct ht_memory_growth growth;
	HT_TRY(ht_memory_growth_find(f->run, f->bounds, look, first, end, &growth));
	if (!growth.is_known)
		return HT_OK;
	struct ht_rule_sum sum = { .part = growth.least_bytes,
		.whole = growth.peak_bytes,
		.count = (int64_t)f->bounds->n,
		.row = growth.row };
	const char *device = ht_memory_device_name(f->run, &look->events->list[first]);
	if (!device)
		return ht_fail_nomem(f->run->ctx);
	sum.name = growth.operator_ ? growth.operator_ : "";
	sum.more = growth.annotation;
	sum.place = device;
	sum.aux[0] = growth.kept_bytes;
	put(f, HT_METRIC_GROWTH, look->events->list[first].device_id, &sum);
	return HT_OK;
}

static enum ht_status put_memory(struct facts *f)
{
	struct ht_memory_events events;
	struct ht_op_tree tree;
	struct ht_growth_look look = { .events = &events, .tree = &tree };
	bool *is_kept = NULL;
	HT_TRY(ht_memory_events_collect(f->run, &events));
	if (!events.n)
		return HT_OK;
	HT_TRY(ht_op_tree_make(f->run, &f->traits, &tree));
	HT_TRY(ht_memory_ops_find(f->run, &events, &tree, &look.ops));
	HT_TRY(ht_memory_kept_find(f->run, &events, &is_kept));
	look.is_kept = is_kept;
	for (size_t first = 0, end; first < events.n; first = end) {
		struct ht_rule_sum peak = { .row = HT_NONE,
			.whole = bytes_of_device(f->t, &events.list[first]) };
		for (end = first; end < events.n; end++) {
			const struct ht_memory_event *event = &events.list[end];
			if (!ht_memory_same_curve(&events.list[first], event))
				break;
			/* without the allocator's totals nobody knows what was there before */
			if (event->allocated != HT_NO_I64 && event->allocated > peak.part) {
				peak.part = event->allocated;
				peak.row = event->row;
			}
			peak.count++;
		}
		if (peak.whole != HT_NO_I64 && peak.part > 0)
			put(f, HT_METRIC_MEMORY, events.list[first].device_id, &peak);
		HT_TRY(put_growth(f, &look, first, end));
	}
	return HT_OK;
}

/* What one of them needs is let go before the next: only sums stay. */
static enum ht_status find_alone(struct facts *f, enum ht_status (*find)(struct facts *f))
{
	struct ht_arena *whole = f->run->scratch, own;
	ht_arena_init_like(&own, whole);
	f->run->scratch = &own;
	enum ht_status status = find(f);
	f->run->scratch = whole;
	ht_arena_done(&own);
	return status;
}

enum ht_status ht_rule_facts_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table)
{
	struct facts f = {
		.run = run, .t = run->trace, .bounds = bounds, .table = table, .kept = run->scratch
	};
	struct ht_run whole = *run;
	for (int k = 0; k < N_OWN_METRICS; k++)
		f.of[k] = HT_RULE_SUM;
	if (!bounds->n)
		return HT_OK;
	/* any row may fall into a step, whoever launched it */
	whole.step = "all";
	HT_TRY(ht_frame_make(&whole, &f.frame));
	HT_TRY(ht_traits_init(run, run->trace, &f.traits));
	HT_TRY(find_alone(&f, find_roles));
	HT_TRY(find_alone(&f, find_host));
	find_work(&f);
	HT_TRY(find_alone(&f, find_tensor));
	HT_TRY(find_alone(&f, find_launches));
	for (int k = 0; k < N_OWN_METRICS; k++)
		if (f.known[k])
			put(&f, k, HT_NO_I64, &f.of[k]);
	return put_memory(&f);
}
