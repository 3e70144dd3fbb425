/*
 * temporal_breakdown.c - how much of a GPU's time is idle, computing, or neither.
 *
 * Per rank and device (or per rank, device and step), over the chosen GPU work:
 *   span        = last end - first start
 *   busy        = |union of all GPU work|
 *   outside     = time within the span with only other work on the device: of steps that were not chosen
 *   idle        = span - busy - outside: nothing runs on the device at all; leading is the part of it before the
 *                 first launch call in the file, where the recording shows nobody at work yet
 *   compute     = |union of compute kernels|
 *   non-compute = busy - compute, split so that the parts add up: communication that no compute
 *                 hides, then copies that neither hides, then sets, then the rest. When all ranks of all
 *                 its collectives are there, communication is waiting for the last rank, and transfer
 *                 (exposed.h)
 * Reads kernels, copies and sets. GPU work belongs to the step that launched it. Blind to time before
 * the first and after the last piece of work, and to other processes on the GPU. O(n log n).
 * Example: compute [0,4), communication [2,6), copy [5,7), next kernel [9,10) us: span 10, busy 8,
 * idle 2, compute 5, communication 2, copies 1.
 * Definition: HTA get_temporal_breakdown.
 */
#include "analysis/analysis.h"
#include "model/exposed.h"
#include "model/gpu_work.h"
#include "model/hint.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

static enum ht_status break_down(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

static const struct ht_column columns[] = {
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },
	{ "device", HT_I64, HT_KEY, "GPU index; null when the file does not say", NULL },
	{ "step", HT_I64, HT_KEY, "profiler step that launched the work; null for all of it",
	        NULL },
	{ "span_ns", HT_DURATION, HT_MEASURE, "first start to last end of GPU work", NULL },
	{ "idle_ns", HT_DURATION, HT_MEASURE, "time inside the span with nothing on the GPU",
	        NULL },
	{ "outside_ns", HT_DURATION, HT_DETAIL,
	        "time inside the span with only work of steps that were not chosen", NULL },
	{ "leading_ns", HT_DURATION, HT_DETAIL,
	        "idle time before the first launch call in the file", NULL },
	{ "compute_ns", HT_DURATION, HT_MEASURE, "time with a compute kernel running", NULL },
	{ "non_compute_ns", HT_DURATION, HT_MEASURE, "busy time without a compute kernel", NULL },
	{ "communication_ns", HT_DURATION, HT_MEASURE, "communication that no compute kernel hides",
	        NULL },
	{ "exposed_wait_ns", HT_DURATION, HT_MEASURE,
	        "of that, waiting for a rank; null unless all ranks are there", NULL },
	{ "exposed_transfer_ns", HT_DURATION, HT_DETAIL,
	        "of that, the rest: data can move; null unless all ranks are there", NULL },
	{ "memcpy_ns", HT_DURATION, HT_MEASURE,
	        "copies that neither compute nor communication hides", NULL },
	{ "memset_ns", HT_DURATION, HT_DETAIL, "fills that nothing of the above hides", NULL },
	{ "other_ns", HT_DURATION, HT_DETAIL,
	        "kernels that only synchronise or control, alone on the GPU", NULL },
	{ "idle_share", HT_RATIO, HT_MEASURE, "idle over span", NULL },
	{ "compute_share", HT_RATIO, HT_MEASURE, "compute over span", NULL },
	{ "non_compute_share", HT_RATIO, HT_MEASURE, "non-compute over span", NULL },
	{ "communication_share", HT_RATIO, HT_DETAIL, "exposed communication over span", NULL },
	{ "memory_share", HT_RATIO, HT_DETAIL, "exposed copies and sets over span", NULL },
	{ "n_work", HT_I64, HT_DETAIL, "kernels, copies and sets", NULL },
};

enum { EXPOSED_WAIT = 10 };
enum { ROWS, CALLS, GAPS };

static const struct ht_param params[] = {
	{ "by", HT_STR, "rank", "one row per rank, or per rank and step", "rank|step" },
};

const struct ht_analysis ht_analysis_temporal_breakdown = {
	.info = {
		.name = "temporal-breakdown",
		.group = "gpu",
		.title = "Temporal breakdown",
		.question = "How much of the GPU's time is idle, computing, or spent on anything else?",
		.method = "Per device. Span is first start to last end of the chosen GPU work, idle is when "
			  "nothing at all runs on the device, compute is the union of compute kernels, non-compute is the rest of "
			  "the busy time; its parts count only what no earlier class hides.",
		.hta = "get_temporal_breakdown",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { [CALLS] = { "calls", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },
	        [GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS } },
	.across = true,
	.per_rank = break_down,
	.finish = finish,
};

/* Classes in the order in which they take time; sync and control come last. */
static const uint8_t order[] = { HT_CLASS_COMPUTE, HT_CLASS_COMM, HT_CLASS_MEMCPY, HT_CLASS_MEMSET,
	HT_CLASS_SYNC };

static void put_nothing(ht_table *table, int64_t rank)
{
	ht_table_row(table);
	ht_table_put_i64(table, rank);
}

/* The communication of a row, to be split when all ranks are known. */
static enum ht_status put_exposed(
        struct ht_run *run, struct ht_part *part, const struct ht_work_list *work)
{
	struct ht_interval *compute = NULL, *communication = NULL;
	size_t n_compute = 0, n_communication = 0, n = 0;
	int64_t key = (int64_t)ht_table_n_rows(part->facts[ROWS]) - 1;
	struct ht_exposed_call *calls = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *calls);
	if (!calls)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_work_union(run, work, ht_class_bit(HT_CLASS_COMPUTE), &compute, &n_compute));
	HT_TRY(ht_work_union(
	        run, work, ht_class_bit(HT_CLASS_COMM), &communication, &n_communication));
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (w->class_ == HT_CLASS_COMM)
			calls[n++] = (struct ht_exposed_call){ w->row, { w->start, w->end } };
	}
	return ht_exposed_put(run, key, calls, n, communication, n_communication, compute,
	        n_compute, part->facts[CALLS], part->facts[GAPS]);
}

/* Idle time within the span before the first launch call. */
static int64_t leading_ns(const struct ht_device_work *device, int64_t first, int64_t last)
{
	int64_t end = device->first_launch_ns < last ? device->first_launch_ns : last;
	if (device->first_launch_ns == INT64_MAX || end <= first)
		return 0;
	return ht_sub_sat(end, first) - ht_device_busy_ns(device, first, end);
}

static enum ht_status put_breakdown(struct ht_run *run, struct ht_part *part,
        const struct ht_device_work *device, int64_t step, const struct ht_work_list *work)
{
	ht_table *table = part->facts[ROWS];
	int64_t took[HT_COUNT(order)], before = 0;
	int64_t first = 0, last = 0;
	unsigned classes = 0;
	for (size_t k = 0; k < HT_COUNT(order); k++) {
		struct ht_interval *merged = NULL;
		size_t n = 0;
		classes |= ht_class_bit(order[k]);
		HT_TRY(ht_work_union(run, work, classes, &merged, &n));
		int64_t length = ht_interval_length(merged, n);
		took[k] = length - before;
		before = length;
		if (n) {
			first = merged[0].start;
			last = merged[n - 1].end;
		}
	}
	int64_t span = ht_sub_sat(last, first), non_compute = before - took[0];
	int64_t outside = run->hta_rows ? 0 : ht_device_busy_ns(device, first, last) - before;
	int64_t idle = span - before - outside;
	double whole = span ? (double)span : NAN;
	ht_table_row(table);
	ht_table_put_i64(table, run->rank);
	ht_table_put_known(table, device->device, -1);
	ht_table_put_known(table, step, HT_NO_I64);
	ht_table_put_i64(table, span);
	ht_table_put_i64(table, idle);
	ht_table_put_i64(table, outside);
	ht_table_put_i64(table, run->hta_rows ? 0 : leading_ns(device, first, last));
	ht_table_put_i64(table, took[0]);
	ht_table_put_i64(table, non_compute);
	ht_table_put_i64(table, took[1]);
	ht_table_put_null(table);
	ht_table_put_null(table);
	for (size_t k = 2; k < HT_COUNT(order); k++)
		ht_table_put_i64(table, took[k]);
	ht_table_put_f64(table, (double)idle / whole);
	ht_table_put_f64(table, (double)took[0] / whole);
	ht_table_put_f64(table, (double)non_compute / whole);
	ht_table_put_f64(table, (double)took[1] / whole);
	ht_table_put_f64(table, (double)(took[2] + took[3]) / whole);
	ht_table_put_i64(table, (int64_t)work->n);
	return put_exposed(run, part, work);
}

/* Work outside any step forms the group n_steps, shown last. */
static enum ht_status put_steps(
        struct ht_run *run, struct ht_part *result, const struct ht_device_work *device)
{
	const struct ht_trace *t = run->trace;
	const struct ht_work_list *work = &device->work;
	size_t n_groups = t->n_steps + 1;
	size_t *first = ht_arena_alloc(run->scratch, (n_groups + 1) * sizeof *first);
	struct ht_work *sorted = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *sorted);
	if (!first || !sorted)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < work->n; i++) {
		uint32_t step = t->step[work->items[i].row];
		first[(step == HT_NONE ? t->n_steps : step) + 1]++;
	}
	for (size_t g = 0; g < n_groups; g++)
		first[g + 1] += first[g];
	for (size_t i = work->n; i--;) {
		/* filled from the back, so that first[g + 1] ends as the start of group g */
		uint32_t step = t->step[work->items[i].row];
		sorted[--first[(step == HT_NONE ? t->n_steps : step) + 1]] = work->items[i];
	}
	for (size_t g = 0; g < n_groups; g++) {
		size_t end = g + 1 < n_groups ? first[g + 2] : work->n;
		struct ht_work_list part = { sorted + first[g + 1], end - first[g + 1] };
		if (part.n)
			HT_TRY(put_breakdown(run, result, device,
			        g < t->n_steps ? t->steps[g].number : HT_NO_I64, &part));
	}
	return HT_OK;
}

/* Where to look next, when something other than compute takes a good part of the time. */
static enum ht_status add_hint(ht_table *table)
{
	double span = ht_hint_total(table, "span_ns"), idle = ht_hint_total(table, "idle_ns");
	double communication = ht_hint_total(table, "communication_ns"),
	       leading = ht_hint_total(table, "leading_ns");
	if (leading > idle / 2 && leading > HT_WORTH_A_HINT * span)
		return ht_table_add_note(table,
		        "%.0f %% of the span is idle before the first launch call in the file: the recording "
		        "begins earlier than the work. Choose steps, or an annotation",
		        100 * leading / span);
	if (idle > communication && idle > HT_WORTH_A_HINT * span)
		return ht_table_add_note(table,
		        "The GPU is idle for %.0f %% of the span. Next: idle-breakdown",
		        100 * idle / span);
	if (communication > HT_WORTH_A_HINT * span &&
	        ht_hint_total(table, "exposed_wait_ns") > communication / 2)
		return ht_table_add_note(table,
		        "Communication that no compute hides takes %.0f %% of the span, most of it waiting "
		        "for other ranks. Next: stragglers",
		        100 * communication / span);
	if (communication > HT_WORTH_A_HINT * span)
		return ht_table_add_note(table,
		        "Communication that no compute hides takes %.0f %% of the span. Next: comm-overlap",
		        100 * communication / span);
	return HT_OK;
}

static enum ht_status break_down(struct ht_run *run, struct ht_part *part)
{
	struct ht_frame frame = { 0 };
	struct ht_work_list work = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_work_collect(run, &frame, &work));
	HT_TRY(ht_work_sort(run, &work));
	if (!work.n) {
		put_nothing(part->facts[0], frame.rank);
		return HT_OK;
	}
	struct ht_device_work *devices = NULL;
	size_t n = 0;
	HT_TRY(ht_work_by_device(run, &frame, &work, &devices, &n));
	for (size_t i = 0; i < n; i++) {
		if (ht_run_is(run, "by", "step"))
			HT_TRY(put_steps(run, part, &devices[i]));
		else
			HT_TRY(put_breakdown(run, part, &devices[i], HT_NO_I64, &devices[i].work));
	}
	return HT_OK;
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	size_t n_without = 0;
	HT_TRY(ht_frame_set_method(run, table, "share of GPU span"));
	for (size_t i = 0; i < parts->n; i++)
		HT_TRY(ht_exposed_rows(run, &parts->list[i], CALLS, GAPS, EXPOSED_WAIT, table));
	size_t span = ht_table_find_column(table, "span_ns");
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		n_without += ht_table_is_null(table, row, span);
	if (n_without)
		HT_TRY(ht_table_add_note(table,
		        "%zu of %zu ranks have no GPU work in the selection", n_without, parts->n));
	ht_table_set_bar(table, "compute_share");
	HT_TRY(add_hint(table));
	return ht_clocks_note(run, table);
}
