/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distributed.c - how computing and communicating share the steps of every rank, and what communication waits for.
 *
 * Views, per rank and step (bounds and roles as in `steps`: step_roles.h):
 *   overlap     C = time with a kernel that computes (host operators where there is no kernel), M = time with
 *               communication: its kernels; its calls on the host where they communicate themselves. computation = C without M, overlapped = both,
 *               communication = M without C, other = neither; they add up to the step. Of communication, with a
 *               kernel of it running, waiting for the last rank and transfer, as `collectives` has them (exposed.h);
 *               null unless all ranks of its collectives are there.
 *   waiting     another estimate, which needs no common clock: the shortest duration of a collective's calls is transfer on
 *               all ranks (paired_ops.h), and the rest of the union of their ranges is synchronising.
 *   operations  the same over all steps, by name: calls, bytes, latency = |union of ranges|, transfer
 *   groups      kernels by process group: duration, wait and transfer of the matched calls, as in `collectives`
 *   steps, collectives, bandwidth, links   what the exporter of the traces says in tables of its own (exporter.h):
 *               Ascend's step_trace_time, communication and communication_matrix
 * O(n log n).
 *
 * Example: step [0,100), kernel [10,60), nccl:all_reduce [50,55) on the host with its kernel [58,90) us: C 50, M 32, both
 * 2: computation 48, overlapped 2, communication 30, other 20.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "base/sort.h"
#include "model/communication/comm_ops.h"
#include "model/communication/exporter.h"
#include "model/communication/exposed.h"
#include "model/communication/paired_ops.h"
#include "table/optional.h"

#include <stdlib.h>
#include <string.h>

static enum ht_status look(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define OVERLAP_COLUMNS(COLUMN)                                                                    \
	COLUMN(OVERLAP_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                    \
	COLUMN(OVERLAP_STEP, "step", HT_I64, HT_KEY, "profiler step; null for all of them", NULL)  \
	COLUMN(OVERLAP_STEP_NS, "step_ns", HT_DURATION, HT_MEASURE,                                \
	        "length of the step, up to its last GPU activity", NULL)                           \
	COLUMN(OVERLAP_COMPUTATION_NS, "computation_ns", HT_DURATION, HT_MEASURE,                  \
	        "computing without communication", NULL)                                           \
	COLUMN(OVERLAP_OVERLAPPED_NS, "overlapped_ns", HT_DURATION, HT_MEASURE,                    \
	        "computing and communicating at once", NULL)                                       \
	COLUMN(OVERLAP_COMMUNICATION_NS, "exposed_ns", HT_DURATION, HT_MEASURE,                    \
	        "communicating without computing: exposed", NULL)                                  \
	COLUMN(OVERLAP_EXPOSED_KERNEL_NS, "exposed_kernel_ns", HT_DURATION, HT_DETAIL,             \
	        "of that, with a kernel of communication running, or a call of the "               \
	        "host that does it",                                                               \
	        NULL)                                                                              \
	COLUMN(OVERLAP_EXPOSED_WAIT_NS, "exposed_wait_ns", HT_DURATION, HT_MEASURE,                \
	        "of that, waiting for a rank; null unless all ranks are there", NULL)              \
	COLUMN(OVERLAP_EXPOSED_TRANSFER_NS, "exposed_transfer_ns", HT_DURATION, HT_MEASURE,        \
	        "of that, the rest: data can move; null unless all ranks are there", NULL)         \
	COLUMN(OVERLAP_OTHER_NS, "other_ns", HT_DURATION, HT_MEASURE, "neither", NULL)             \
	COLUMN(OVERLAP_COMMUNICATION_SHARE, "exposed_share", HT_RATIO, HT_DETAIL,                  \
	        "exposed_ns over step_ns", NULL)
HT_COLUMNS(overlap_columns, OVERLAP_COLUMNS);

#define WAITING_COLUMNS(COLUMN)                                                                    \
	COLUMN(WAITING_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                    \
	COLUMN(WAITING_STEP, "step", HT_I64, HT_KEY, "profiler step; null for all of them", NULL)  \
	COLUMN(WAITING_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE,                        \
	        "communication for as long as the fastest rank needs", NULL)                       \
	COLUMN(WAITING_SYNCHRONIZING_NS, "synchronizing_ns", HT_DURATION, HT_MEASURE,              \
	        "the rest of communication", NULL)                                                 \
	COLUMN(WAITING_COMMUNICATION_NS, "communication_ns", HT_DURATION, HT_MEASURE,              \
	        "time with a call or kernel of communication", NULL)                               \
	COLUMN(WAITING_CALLS, "calls", HT_I64, HT_DETAIL, "calls that were paired over ranks", NULL)
HT_COLUMNS(waiting_columns, WAITING_COLUMNS);

#define OPERATION_COLUMNS(COLUMN)                                                                  \
	COLUMN(OPERATION_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                  \
	COLUMN(OPERATION_NAME, "name", HT_STR, HT_KEY, "operator of communication, or its kernel", \
	        NULL)                                                                              \
	COLUMN(OPERATION_CALLS, "calls", HT_I64, HT_MEASURE, "calls", NULL)                        \
	COLUMN(OPERATION_BYTES, "bytes", HT_BYTES, HT_MEASURE,                                     \
	        "of their inputs; null when unknown", NULL)                                        \
	COLUMN(OPERATION_MEAN_BYTES, "mean_bytes", HT_F64, HT_DETAIL, "bytes over calls", "bytes") \
	COLUMN(OPERATION_LATENCY_NS, "latency_ns", HT_DURATION, HT_MEASURE,                        \
	        "time with one of them, on host or device", NULL)                                  \
	COLUMN(OPERATION_MEAN_LATENCY_NS, "mean_latency_ns", HT_DURATION_F64, HT_DETAIL,           \
	        "latency over calls", NULL)                                                        \
	COLUMN(OPERATION_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE,                      \
	        "of that, for as long as the fastest rank needs; null when not paired", NULL)      \
	COLUMN(OPERATION_MEAN_TRANSFER_NS, "mean_transfer_ns", HT_DURATION_F64, HT_DETAIL,         \
	        "transfer over calls", NULL)                                                       \
	COLUMN(OPERATION_INDEX, "index", HT_I64, HT_DETAIL, "row of the longest", NULL)
HT_COLUMNS(operation_columns, OPERATION_COLUMNS);

#define GROUP_COLUMNS(COLUMN)                                                                      \
	COLUMN(GROUP_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                      \
	COLUMN(GROUP_STEP, "step", HT_I64, HT_KEY, "profiler step; null for all of them", NULL)    \
	COLUMN(GROUP_GROUP, "group", HT_STR, HT_KEY,                                               \
	        "process group and its ranks, or the pair of a send", NULL)                        \
	COLUMN(GROUP_CALLS, "calls", HT_I64, HT_MEASURE, "kernels of communication", NULL)         \
	COLUMN(GROUP_BYTES, "bytes", HT_BYTES, HT_MEASURE, "larger side of each, added up", NULL)  \
	COLUMN(GROUP_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE,                          \
	        "their durations, added up", NULL)                                                 \
	COLUMN(GROUP_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE,                                  \
	        "of that, until the last rank had arrived; null unless all ranks are there", NULL) \
	COLUMN(GROUP_TRANSFER_NS, "transfer_ns", HT_DURATION, HT_MEASURE, "the rest", NULL)        \
	COLUMN(GROUP_INDEX, "index", HT_I64, HT_DETAIL, "row of the one that waits longest", NULL)
HT_COLUMNS(group_columns, GROUP_COLUMNS);

enum { FIRST_EXPORTER_VIEW = 4 };
static const struct ht_schema schemas[] = {
	{ "overlap", overlap_columns, HT_COUNT(overlap_columns) },
	{ "waiting", waiting_columns, HT_COUNT(waiting_columns) },
	{ "operations", operation_columns, HT_COUNT(operation_columns) },
	{ "groups", group_columns, HT_COUNT(group_columns) },
	{ "steps", ht_exporter_step_columns, HT_N_EXPORTER_STEP_COLUMNS },
	{ "collectives", ht_exporter_collective_columns, HT_N_EXPORTER_COLLECTIVE_COLUMNS },
	{ "bandwidth", ht_exporter_bandwidth_columns, HT_N_EXPORTER_BANDWIDTH_COLUMNS },
	{ "links", ht_exporter_link_columns, HT_N_EXPORTER_LINK_COLUMNS },
};

enum { ROWS, CALLS, GAPS, RANGES };

static const struct ht_param params[] = {
	{ "view", HT_STR, "overlap", "which table",
	        "overlap|waiting|operations|groups|steps|collectives|bandwidth|links" },
	{ "by", HT_STR, "step", "a row per rank and step, or the sum of a rank's steps",
	        "step|rank" },
};

const struct ht_analysis ht_analysis_distributed = {
	.info = { .name = "distributed",
	        .group = "distributed",
	        .page_view = "distributed",
	        .title = "Distributed",
	        .question =
	                "How do computing and communicating share each rank's steps, and what does "
	                "communication wait for?",
	        .method =
	                "Computation, both at once, exposed communication and neither add up to the "
	                "step. Exposed communication is waiting for the last rank, then transfer.",
	        .schemas = schemas,
	        .n_schemas = HT_COUNT(schemas),
	        .chosen_by = "view",
	        .params = params,
	        .n_params = HT_COUNT(params),
	        .n_sets = 1 },
	.facts = { [CALLS] = { "calls", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },
	        [GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS },
	        [RANGES] = { "ranges", ht_comm_op_columns, HT_N_COMM_OP_COLUMNS } },
	.across = true,
	.per_rank = look,
	.of = "computation, overlap, exposed communication and other add up to the step",
	.finish = finish,
};

static bool by_rank(const struct ht_run *run)
{
	return ht_run_is(run, "by", "rank");
}

/* Which of the exporter's views is asked for; HT_N_EXPORTER_VIEWS: none. */
static enum ht_exporter_view exporter_view(const struct ht_run *run)
{
	for (unsigned i = 0; i < HT_N_EXPORTER_VIEWS; i++)
		if (ht_run_is(run, "view", schemas[FIRST_EXPORTER_VIEW + i].name))
			return (enum ht_exporter_view)i;
	return HT_N_EXPORTER_VIEWS;
}

/* ---- overlap: one rank ---- */

struct times {
	struct ht_interval *list;
	size_t n;
};

struct rank {
	struct ht_run *run;
	struct ht_part *part;
	struct times compute, comm, kernels; /* merged: C, M, and what of M is on the device */
	struct ht_exposed_call *calls;       /* by start */
	size_t n_calls;
	/* windows come in order of time: those of the calls that have begun and may go on */
	struct ht_exposed_call *open, *inside;
	size_t n_begun, n_open;
};

/* Those of a merged list that are within [start, end) in part. */
static struct times slice(struct times all, int64_t start, int64_t end)
{
	size_t n;
	const struct ht_interval *first = ht_interval_slice(all.list, all.n, start, end, &n);
	return (struct times){ all.list + (first - all.list), n };
}

/* What of a is in b. */
static enum ht_status intersect(
        struct ht_run *run, struct times a, struct times b, struct times *ret)
{
	struct ht_interval *out = ht_arena_room(run->scratch, (a.n + b.n + 1) * sizeof *out);
	struct ht_interval *in = ht_arena_room(run->scratch, (2 * a.n + b.n + 1) * sizeof *in);
	if (!out || !in)
		return ht_fail_nomem(run->ctx);
	size_t n_out = ht_interval_subtract(a.list, a.n, b.list, b.n, out);
	*ret = (struct times){ in, ht_interval_subtract(a.list, a.n, out, n_out, in) };
	return HT_OK;
}

static int by_call_start(const void *left, const void *right)
{
	const struct ht_exposed_call *a = left, *b = right;
	if (a->time.start != b->time.start)
		return a->time.start < b->time.start ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static enum ht_status find_kernels(struct rank *r, struct ht_traits *traits)
{
	const struct ht_trace *t = r->run->trace;
	const uint32_t *host = NULL;
	size_t n_host = 0;
	HT_TRY(ht_comm_host_calls(r->run, &host, &n_host));
	size_t n_most = t->n_gpu + n_host + 1;
	struct ht_interval *list = ht_arena_room(r->run->scratch, n_most * sizeof *list);
	r->calls = ht_arena_room(r->run->scratch, n_most * sizeof *r->calls);
	r->open = ht_arena_alloc(r->run->scratch, n_most * sizeof *r->open);
	r->inside = ht_arena_alloc(r->run->scratch, n_most * sizeof *r->inside);
	if (!list || !r->calls || !r->open || !r->inside)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < t->n_gpu + n_host; i++) {
		uint32_t row = i < t->n_gpu ? t->gpu[i].row : host[i - t->n_gpu];
		bool is_call = i >= t->n_gpu || ht_busy_of_work(traits, &t->gpu[i]) == HT_BUSY_COMM;
		if (!is_call || !ht_is_span(t, row))
			continue;
		list[r->n_calls] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
		r->calls[r->n_calls] = (struct ht_exposed_call){ row, list[r->n_calls] };
		r->n_calls++;
	}
	r->kernels = (struct times){ list, ht_interval_merge(r->run->ctx->mem, list, r->n_calls) };
	ht_sort_items(r->run->ctx->mem, r->calls, r->n_calls, sizeof *r->calls, by_call_start);
	return HT_OK;
}

/* The calls that run in a window, which none before it begins after; in r->inside. */
static size_t calls_inside(struct rank *r, struct times windows)
{
	int64_t start = windows.list[0].start, end = windows.list[windows.n - 1].end;
	size_t n_open = 0, n = 0;
	while (r->n_begun < r->n_calls && r->calls[r->n_begun].time.start < end)
		r->open[r->n_open++] = r->calls[r->n_begun++];
	for (size_t i = 0; i < r->n_open; i++) {
		if (r->open[i].time.end <= start)
			continue;
		r->open[n_open++] = r->open[i];
		if (ht_interval_within(windows.list, windows.n, r->open[n_open - 1].time.start,
		            r->open[n_open - 1].time.end) > 0)
			r->inside[n++] = r->open[n_open - 1];
	}
	r->n_open = n_open;
	return n;
}

static enum ht_status put_overlap(struct rank *r, int64_t step, struct times windows)
{
	struct times compute, comm, kernels;
	ht_table *table = r->part->facts[ROWS];
	int64_t start = windows.list[0].start, end = windows.list[windows.n - 1].end;
	HT_TRY(intersect(r->run, slice(r->compute, start, end), windows, &compute));
	HT_TRY(intersect(r->run, slice(r->comm, start, end), windows, &comm));
	HT_TRY(intersect(r->run, slice(r->kernels, start, end), windows, &kernels));
	int64_t length = ht_interval_length(windows.list, windows.n);
	int64_t c = ht_interval_length(compute.list, compute.n);
	int64_t m = ht_interval_length(comm.list, comm.n);
	int64_t both = ht_interval_overlap(compute.list, compute.n, comm.list, comm.n);
	int64_t exposed_kernels =
	        ht_interval_length(kernels.list, kernels.n) -
	        ht_interval_overlap(compute.list, compute.n, kernels.list, kernels.n);
	ht_table_row(table);
	ht_table_put_i64(table, OVERLAP_RANK, r->run->rank);
	ht_table_put_known(table, OVERLAP_STEP, step, HT_NO_I64);
	ht_table_put_i64(table, OVERLAP_STEP_NS, length);
	ht_table_put_i64(table, OVERLAP_COMPUTATION_NS, c - both);
	ht_table_put_i64(table, OVERLAP_OVERLAPPED_NS, both);
	ht_table_put_i64(table, OVERLAP_COMMUNICATION_NS, m - both);
	ht_table_put_i64(table, OVERLAP_EXPOSED_KERNEL_NS, exposed_kernels);
	ht_table_put_null(table, OVERLAP_EXPOSED_WAIT_NS);
	ht_table_put_null(table, OVERLAP_EXPOSED_TRANSFER_NS);
	ht_table_put_i64(table, OVERLAP_OTHER_NS, length + both - c - m);
	ht_table_put_f64(table, OVERLAP_COMMUNICATION_SHARE,
	        length ? (double)(m - both) / (double)length : NAN);
	size_t n = calls_inside(r, windows);
	return ht_exposed_put(r->run, (int64_t)ht_table_n_rows(table) - 1, r->inside, n,
	        kernels.list, kernels.n, compute.list, compute.n, r->part->facts[CALLS],
	        r->part->facts[GAPS]);
}

static enum ht_status put_steps(struct rank *r, const struct ht_bounds *bounds)
{
	struct ht_interval *windows =
	        ht_arena_alloc(r->run->scratch, (bounds->n + 1) * sizeof *windows);
	if (!windows)
		return ht_fail_nomem(r->run->ctx);
	for (size_t i = 0; i < bounds->n; i++)
		windows[i] = (struct ht_interval){ bounds->list[i].start, bounds->list[i].end };
	if (by_rank(r->run)) {
		size_t n = ht_interval_merge(r->run->ctx->mem, windows, bounds->n);
		return n ? put_overlap(r, HT_NO_I64, (struct times){ windows, n }) : HT_OK;
	}
	for (size_t i = 0; i < bounds->n; i++)
		HT_TRY(put_overlap(r, bounds->list[i].number, (struct times){ &windows[i], 1 }));
	return HT_OK;
}

/* A rank without events of its own: what the exporter says. */
static enum ht_status put_exported(struct ht_run *run, ht_table *table)
{
	struct ht_exporter_step *steps = NULL;
	size_t n = 0;
	HT_TRY(ht_exporter_steps(run, by_rank(run), &steps, &n));
	for (size_t i = 0; i < n; i++) {
		const struct ht_exporter_step *step = &steps[i];
		ht_table_row(table);
		ht_table_put_i64(table, OVERLAP_RANK, run->rank);
		ht_table_put_known(table, OVERLAP_STEP, step->number, HT_NO_I64);
		ht_table_put_i64(table, OVERLAP_STEP_NS, step->step_ns);
		ht_table_put_i64(table, OVERLAP_COMPUTATION_NS,
		        ht_sub_sat(step->computing_ns, step->overlapped_ns));
		ht_table_put_i64(table, OVERLAP_OVERLAPPED_NS, step->overlapped_ns);
		ht_table_put_i64(table, OVERLAP_COMMUNICATION_NS, step->exposed_ns);
		ht_table_put_null(table, OVERLAP_EXPOSED_KERNEL_NS);
		ht_table_put_null(table, OVERLAP_EXPOSED_WAIT_NS);
		ht_table_put_null(table, OVERLAP_EXPOSED_TRANSFER_NS);
		ht_table_put_i64(table, OVERLAP_OTHER_NS, step->free_ns);
		ht_table_put_f64(table, OVERLAP_COMMUNICATION_SHARE,
		        step->step_ns > 0 ? (double)step->exposed_ns / (double)step->step_ns : NAN);
	}
	return n ? ht_exporter_note(run, table) : HT_OK;
}

static enum ht_status look(struct ht_run *run, struct ht_part *part)
{
	struct ht_run whole = *run;
	struct ht_frame frame = { 0 };
	struct ht_traits traits = { 0 };
	struct ht_bounds bounds = { 0 };
	struct ht_busy_times times = { 0 };
	struct rank rank = { .run = run, .part = part };
	if (exporter_view(run) != HT_N_EXPORTER_VIEWS)
		return ht_exporter_put(run, exporter_view(run), by_rank(run), part->facts[ROWS]);
	HT_TRY(ht_traits_init(run, run->trace, &traits));
	HT_TRY(ht_bounds_make(run, &bounds));
	if (!bounds.n && ht_run_is(run, "view", "overlap"))
		return put_exported(run, part->facts[ROWS]);
	HT_TRY(ht_bounds_choose(run, &bounds));
	if (!ht_run_is(run, "view", "overlap"))
		return ht_comm_ops_put(run, &traits, &bounds, part->facts[RANGES]);
	/* any row may fall into a step, whoever launched it */
	whole.step = "all";
	HT_TRY(ht_frame_make(&whole, &frame));
	HT_TRY(ht_busy_make(run, &frame, &traits, &times));
	int computing = times.n[HT_BUSY_KERNEL] ? HT_BUSY_KERNEL : HT_BUSY_CPU;
	rank.compute = (struct times){ times.list[computing], times.n[computing] };
	rank.comm = (struct times){ times.list[HT_BUSY_COMM], times.n[HT_BUSY_COMM] };
	HT_TRY(find_kernels(&rank, &traits));
	return put_steps(&rank, &bounds);
}

/* ---- waiting ---- */

static int by_step(const void *left, const void *right)
{
	const struct ht_paired_op *a = *(const struct ht_paired_op *const *)left,
	                          *b = *(const struct ht_paired_op *const *)right;
	if (a->i_part != b->i_part)
		return a->i_part < b->i_part ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return (a > b) - (a < b);
}

static enum ht_status put_waiting(struct ht_paired_ops *pairs, ht_table *table)
{
	struct ht_paired_op **list =
	        ht_arena_alloc(pairs->run->scratch, (pairs->n_ops + 1) * sizeof *list);
	size_t n = 0;
	bool ranks = by_rank(pairs->run);
	if (!list)
		return ht_fail_nomem(pairs->run->ctx);
	for (size_t i = 0; i < pairs->n_ops; i++)
		if (pairs->ops[i].is_paired && pairs->ops[i].step != HT_NO_I64)
			list[n++] = &pairs->ops[i];
	qsort(list, n, sizeof *list, by_step);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n; end++)
			if (list[end]->i_part != list[first]->i_part ||
			        (!ranks && list[end]->step != list[first]->step))
				break;
		struct ht_paired_time lengths = ht_paired_measure(pairs, list + first, end - first);
		ht_table_row(table);
		ht_table_put_i64(table, WAITING_RANK, pairs->parts->list[list[first]->i_part].rank);
		ht_table_put_known(
		        table, WAITING_STEP, ranks ? HT_NO_I64 : list[first]->step, HT_NO_I64);
		ht_table_put_i64(table, WAITING_TRANSFER_NS, lengths.transfer);
		ht_table_put_i64(table, WAITING_SYNCHRONIZING_NS, lengths.all - lengths.transfer);
		ht_table_put_i64(table, WAITING_COMMUNICATION_NS, lengths.all);
		ht_table_put_i64(table, WAITING_CALLS, (int64_t)(end - first));
	}
	return HT_OK;
}

/* ---- operations ---- */

static int by_part_and_name(const void *left, const void *right)
{
	const struct ht_paired_op *a = *(const struct ht_paired_op *const *)left,
	                          *b = *(const struct ht_paired_op *const *)right;
	if (a->i_part != b->i_part)
		return a->i_part < b->i_part ? -1 : 1;
	int by = strcmp(a->name, b->name);
	return by ? by : (a > b) - (a < b);
}

static void put_operation(const struct ht_paired_ops *pairs, struct ht_paired_op *const *list,
        size_t n, ht_table *table)
{
	struct ht_paired_time lengths = ht_paired_measure(pairs, list, n);
	const struct ht_paired_range *longest = &pairs->ranges[list[0]->first];
	int64_t bytes = 0;
	bool paired = true, sized = true;
	for (size_t i = 0; i < n; i++) {
		paired &= list[i]->is_paired;
		sized &= list[i]->bytes != HT_NO_I64;
		ht_sum(&bytes, sized ? list[i]->bytes : 0);
		for (size_t k = list[i]->first; k < list[i]->first + list[i]->n; k++)
			if (pairs->ranges[k].end - pairs->ranges[k].start >
			        longest->end - longest->start)
				longest = &pairs->ranges[k];
	}
	ht_table_row(table);
	ht_table_put_i64(table, OPERATION_RANK, pairs->parts->list[list[0]->i_part].rank);
	ht_table_put_str(table, OPERATION_NAME, list[0]->name);
	ht_table_put_i64(table, OPERATION_CALLS, (int64_t)n);
	ht_table_put_known(table, OPERATION_BYTES, sized ? bytes : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(table, OPERATION_MEAN_BYTES, sized ? (double)bytes / (double)n : NAN);
	ht_table_put_i64(table, OPERATION_LATENCY_NS, lengths.all);
	ht_table_put_f64(table, OPERATION_MEAN_LATENCY_NS, (double)lengths.all / (double)n);
	ht_table_put_known(
	        table, OPERATION_TRANSFER_NS, paired ? lengths.transfer : HT_NO_I64, HT_NO_I64);
	ht_table_put_f64(table, OPERATION_MEAN_TRANSFER_NS,
	        paired ? (double)lengths.transfer / (double)n : NAN);
	ht_table_put_i64(table, OPERATION_INDEX, longest->row);
}

static enum ht_status put_operations(struct ht_paired_ops *pairs, ht_table *table)
{
	struct ht_paired_op **list =
	        ht_arena_alloc(pairs->run->scratch, (pairs->n_ops + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(pairs->run->ctx);
	for (size_t i = 0; i < pairs->n_ops; i++)
		list[i] = &pairs->ops[i];
	qsort(list, pairs->n_ops, sizeof *list, by_part_and_name);
	for (size_t first = 0, end; first < pairs->n_ops; first = end) {
		for (end = first + 1; end < pairs->n_ops; end++)
			if (list[end]->i_part != list[first]->i_part ||
			        strcmp(list[end]->name, list[first]->name) != 0)
				break;
		put_operation(pairs, list + first, end - first, table);
	}
	return HT_OK;
}

/* ---- groups ---- */

struct member {
	const struct ht_paired_op *op;
	const struct ht_paired_range *range;
	const struct ht_call_place *place;
	bool any_step; /* steps are not told apart */
};

static int by_group(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	if (a->op->i_part != b->op->i_part)
		return a->op->i_part < b->op->i_part ? -1 : 1;
	if (!a->any_step && a->op->step != b->op->step)
		return a->op->step < b->op->step ? -1 : 1;
	int by = strcmp(a->place->collective->group, b->place->collective->group);
	return by ? by : (a->range > b->range) - (a->range < b->range);
}

static void put_group(
        const struct ht_paired_ops *pairs, const struct member *list, size_t n, ht_table *table)
{
	const struct ht_collective *example = list[0].place->collective;
	int64_t duration = 0, wait = 0, bytes = 0, row = list[0].range->row, longest = INT64_MIN;
	bool known = true, sized = true;
	for (size_t i = 0; i < n; i++) {
		const struct ht_comm_call *call = list[i].place->call;
		ht_sum(&duration, list[i].range->end - list[i].range->start);
		known &= call->wait_ns != HT_NO_I64;
		ht_sum(&wait, known ? call->wait_ns : 0);
		sized &= call->bytes != HT_NO_I64;
		ht_sum(&bytes, sized ? call->bytes : 0);
		if (call->wait_ns > longest) {
			longest = call->wait_ns;
			row = list[i].range->row;
		}
	}
	ht_table_row(table);
	ht_table_put_i64(table, GROUP_RANK, pairs->parts->list[list[0].op->i_part].rank);
	ht_table_put_known(
	        table, GROUP_STEP, list[0].any_step ? HT_NO_I64 : list[0].op->step, HT_NO_I64);
	ht_table_put_str(table, GROUP_GROUP, *example->group ? example->group : NULL);
	ht_table_put_i64(table, GROUP_CALLS, (int64_t)n);
	ht_table_put_known(table, GROUP_BYTES, sized ? bytes : HT_NO_I64, HT_NO_I64);
	ht_table_put_i64(table, GROUP_DURATION_NS, duration);
	ht_table_put_known(table, GROUP_WAIT_NS, known ? wait : HT_NO_I64, HT_NO_I64);
	ht_table_put_known(table, GROUP_TRANSFER_NS, known ? ht_sub_sat(duration, wait) : HT_NO_I64,
	        HT_NO_I64);
	ht_table_put_i64(table, GROUP_INDEX, row);
}

static enum ht_status put_groups(struct ht_paired_ops *pairs, ht_table *table)
{
	struct member *list = ht_arena_alloc(
	        pairs->run->scratch, (ht_parts_n_rows(pairs->parts, RANGES) + 1) * sizeof *list);
	size_t n = 0;
	if (!list)
		return ht_fail_nomem(pairs->run->ctx);
	if (!pairs->run->clocks[0])
		return ht_table_add_note(table, "one rank has no counterpart: give all ranks");
	for (size_t i = 0; i < pairs->n_ops; i++)
		for (size_t k = pairs->ops[i].first; k < pairs->ops[i].first + pairs->ops[i].n;
		        k++) {
			const struct ht_call_place *place =
			        ht_paired_place(pairs, pairs->ops[i].i_part, &pairs->ranges[k]);
			if (place && pairs->ops[i].step != HT_NO_I64)
				list[n++] = (struct member){ &pairs->ops[i], &pairs->ranges[k],
					place, by_rank(pairs->run) };
		}
	qsort(list, n, sizeof *list, by_group);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n; end++)
			if (list[end].op->i_part != list[first].op->i_part ||
			        (!list[end].any_step &&
			                list[end].op->step != list[first].op->step) ||
			        strcmp(list[end].place->collective->group,
			                list[first].place->collective->group) != 0)
				break;
		put_group(pairs, list + first, end - first, table);
	}
	return HT_OK;
}

/* ---- all ranks ---- */

static enum ht_status finish_pairs(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	struct ht_paired_ops pairs;
	HT_TRY(ht_table_set_method(
	        table, "transfer takes as long as on the fastest rank; the rest is waiting"));
	HT_TRY(ht_paired_ops_make(run, parts, RANGES, &pairs));
	if (ht_run_is(run, "view", "waiting"))
		HT_TRY(put_waiting(&pairs, table));
	else if (ht_run_is(run, "view", "operations"))
		HT_TRY(put_operations(&pairs, table));
	else
		HT_TRY(put_groups(&pairs, table));
	if (!pairs.n_ops)
		return ht_table_add_note(table, "no communication in the selection");
	if (pairs.n_unpaired && !ht_run_is(run, "view", "groups"))
		HT_TRY(ht_table_add_note(table,
		        "%zu of %zu calls have no counterpart on other ranks: nothing says what of them "
		        "is transfer",
		        pairs.n_unpaired, pairs.n_ops));
	return ht_clocks_note_odd(run, table);
}

static enum ht_status finish_exporter(
        struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	HT_TRY(ht_table_set_method(table, "as the exporter of the traces has it"));
	HT_TRY(ht_parts_rows(run, parts, ROWS, 0, table));
	if (ht_table_n_rows(table))
		return HT_OK;
	return ht_table_add_note(table,
	        "no such table of an exporter: Ascend's profiler writes them from Level1 on; --view overlap "
	        "computes from events");
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	if (exporter_view(run) != HT_N_EXPORTER_VIEWS)
		return finish_exporter(run, parts, table);
	if (!ht_run_is(run, "view", "overlap"))
		return finish_pairs(run, parts, table);
	for (size_t i = 0; i < parts->n; i++) {
		const ht_table *rows = parts->list[i].facts[ROWS];
		HT_TRY(ht_exposed_rows(
		        run, &parts->list[i], CALLS, GAPS, OVERLAP_EXPOSED_WAIT_NS, table));
		for (size_t k = 0; k < ht_table_n_notes(rows); k++)
			HT_TRY(ht_table_add_note(table, "%s", ht_table_note(rows, k)));
	}
	ht_table_set_bar(table, OVERLAP_COMMUNICATION_SHARE);
	if (!ht_table_n_rows(table))
		return ht_table_add_note(
		        table, "no steps, operators or GPU activity in the traces");
	return ht_clocks_note(run, table);
}
