/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_overlap.c - how much communication is hidden behind computation.
 *
 * Per rank (or per process group, or per collective of a group):
 *   communication = |union of its communication kernels|
 *   overlap       = the part during which a compute kernel runs, on any stream
 *   exposed       = communication - overlap: the time that only communication takes; split into waiting for
 *                   the last rank and transfer when all ranks of all its collectives are there (exposed.h)
 * Copies and sets hide nothing. Group and collective come from the kernels' own args; a kernel without
 * them is listed by its short name. Groups can overlap each other, so their rows need not add up.
 * Reads kernels. O(n log n).
 * Example: communication [0,10), compute [6,12) us: overlap 4, exposed 6, 40 %.
 * Definition: HTA get_comm_comp_overlap.
 */
#include "analysis/analysis.h"
#include "model/clocks/clocks.h"
#include "base/sort.h"
#include "model/finding/finding.h"
#include "model/finding/hint.h"
#include "model/communication/exposed.h"
#include "model/device/gpu_work.h"
#include "model/rows/work_names.h"
#include "store/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ht_status measure(struct ht_run *run, struct ht_part *part);
static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table);

#define COLUMNS(COLUMN)                                                                            \
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \
	COLUMN(COL_DEVICE, "device", HT_I64, HT_KEY, "GPU index; null when the file does not say", \
	        NULL)                                                                              \
	COLUMN(COL_GROUP, "group", HT_STR, HT_KEY,                                                 \
	        "process group; null by rank or when the file does not say", NULL)                 \
	COLUMN(COL_COLLECTIVE, "collective", HT_STR, HT_KEY,                                       \
	        "collective, or short kernel name; null by rank and group", NULL)                  \
	COLUMN(COL_COUNT, "count", HT_I64, HT_MEASURE, "communication kernels", NULL)              \
	COLUMN(COL_COMMUNICATION_NS, "communication_ns", HT_DURATION, HT_MEASURE,                  \
	        "time with such a kernel running", NULL)                                           \
	COLUMN(COL_COMPUTE_NS, "compute_ns", HT_DURATION, HT_DETAIL,                               \
	        "time with a compute kernel running on the device", NULL)                          \
	COLUMN(COL_OVERLAP_NS, "overlap_ns", HT_DURATION, HT_MEASURE,                              \
	        "communication while a compute kernel runs", NULL)                                 \
	COLUMN(COL_EXPOSED_NS, "exposed_ns", HT_DURATION, HT_MEASURE,                              \
	        "communication while no compute kernel runs", NULL)                                \
	COLUMN(COL_EXPOSED_WAIT_NS, "exposed_wait_ns", HT_DURATION, HT_MEASURE,                    \
	        "exposed while all such kernels wait for a rank; null unless all ranks are there", \
	        NULL)                                                                              \
	COLUMN(COL_EXPOSED_TRANSFER_NS, "exposed_transfer_ns", HT_DURATION, HT_MEASURE,            \
	        "the rest of exposed: data can move; null unless all ranks are there", NULL)       \
	COLUMN(COL_OVERLAP_SHARE, "overlap_share", HT_RATIO, HT_MEASURE,                           \
	        "overlap over communication; null without any", NULL)
HT_COLUMNS(columns, COLUMNS);

enum { ROWS, CALLS, GAPS };

static const struct ht_param params[] = {
	{ "by", HT_STR, "rank", "rows per rank, per process group, or per collective",
	        "rank|group|collective" },
};

const struct ht_analysis ht_analysis_comm_overlap = {
	.info = {
		.name = "comm-overlap",
		.group = "gpu",
		.page_view = "overlap",
		.title = "Communication overlap",
		.question = "How much communication is hidden behind computation, and how much is exposed?",
		.method = "Overlap is the part of the union of communication kernels during which a compute "
			  "kernel runs on the rank; the rest is exposed: waiting until the last rank has "
			  "arrived, and transfer. By rank, communication descending, group, collective.",
		.hta = "get_comm_comp_overlap",
		HT_ONE_SCHEMA(columns),
		.params = params,
		.n_params = HT_COUNT(params),
		.n_sets = 1,
	},
	.facts = { [CALLS] = { "calls", ht_exposed_call_columns, HT_N_EXPOSED_CALL_COLUMNS },
	        [GAPS] = { "gaps", ht_exposed_gap_columns, HT_N_EXPOSED_GAP_COLUMNS } },
	.across = true,
	.per_rank = measure,
	.finish = finish,
};

enum by { BY_RANK, BY_GROUP, BY_COLLECTIVE };

struct kernel {
	const char *group, *collective; /* NULL: not told apart */
	struct ht_exposed_call call;
};

struct total {
	const char *group, *collective;
	size_t first, count; /* its kernels */
	int64_t communication_ns, overlap_ns;
};

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_kernel(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	int order = compare_text(a->group, b->group);
	if (!order)
		order = compare_text(a->collective, b->collective);
	if (order)
		return order;
	return (a->call.time.start > b->call.time.start) -
	       (a->call.time.start < b->call.time.start);
}

static int compare_total(const void *left, const void *right)
{
	const struct total *a = left, *b = right;
	if (a->communication_ns != b->communication_ns)
		return a->communication_ns > b->communication_ns ? -1 : 1;
	int order = compare_text(a->group, b->group);
	return order ? order : compare_text(a->collective, b->collective);
}

static enum ht_status collect_kernels(struct ht_run *run, const struct ht_trace *t,
        const struct ht_work_list *work, enum by by, struct kernel **ret_kernels, size_t *ret_n)
{
	struct kernel *kernels = ht_arena_alloc(run->scratch, (work->n + 1) * sizeof *kernels);
	if (!kernels)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (size_t i = 0; i < work->n; i++) {
		const struct ht_work *w = &work->items[i];
		if (w->class_ != HT_CLASS_COMM)
			continue;
		struct kernel k = { .call = { w->row, { w->start, w->end } } };
		if (by != BY_RANK)
			k.group = ht_arg_str(t, "Process Group Name", w->row);
		if (by == BY_COLLECTIVE)
			k.collective = ht_arg_str(t, "Collective name", w->row);
		if (by == BY_COLLECTIVE && !k.collective) {
			k.collective = ht_name_shorten(run, ht_str(t, t->name[w->row]));
			if (!k.collective)
				return ht_fail_nomem(run->ctx);
		}
		kernels[n++] = k;
	}
	ht_sort_items(run->ctx->mem, kernels, n, sizeof *kernels, compare_kernel);
	*ret_kernels = kernels;
	*ret_n = n;
	return HT_OK;
}

static bool same_key(const struct kernel *a, const struct kernel *b)
{
	return !compare_text(a->group, b->group) && !compare_text(a->collective, b->collective);
}

static void put_total(ht_table *table, int64_t rank, int32_t device, const struct total *total,
        int64_t compute_ns, bool has_events)
{
	ht_table_row(table);
	ht_table_put_i64(table, COL_RANK, rank);
	ht_table_put_known(table, COL_DEVICE, device, -1);
	ht_table_put_str(table, COL_GROUP, total->group);
	ht_table_put_str(table, COL_COLLECTIVE, total->collective);
	/* a rank without events says nothing, not 0 */
	if (!has_events) {
		ht_table_put_nulls_to_end(table, COL_COUNT);
		return;
	}
	ht_table_put_i64(table, COL_COUNT, (int64_t)total->count);
	ht_table_put_i64(table, COL_COMMUNICATION_NS, total->communication_ns);
	ht_table_put_i64(table, COL_COMPUTE_NS, compute_ns);
	ht_table_put_i64(table, COL_OVERLAP_NS, total->overlap_ns);
	ht_table_put_i64(table, COL_EXPOSED_NS, total->communication_ns - total->overlap_ns);
	ht_table_put_null(table, COL_EXPOSED_WAIT_NS);
	ht_table_put_null(table, COL_EXPOSED_TRANSFER_NS);
	ht_table_put_f64(table, COL_OVERLAP_SHARE,
	        total->communication_ns
	                ? (double)total->overlap_ns / (double)total->communication_ns
	                : NAN);
}

struct rank {
	struct ht_run *run;
	struct kernel *kernels;
	struct ht_interval *compute, *times; /* times has room for all kernels */
	int64_t *compute_sums;               /* of lengths, for any number of groups */
	struct ht_exposed_call *calls;       /* so has calls */
	struct total *totals;
	size_t n, n_compute, n_totals;
};

/* Merged times of the kernels of a total. */
static size_t list_times(const struct rank *r, const struct total *total)
{
	for (size_t i = 0; i < total->count; i++) {
		r->calls[i] = r->kernels[total->first + i].call;
		r->times[i] = r->calls[i].time;
	}
	return ht_interval_merge(r->run->ctx->mem, r->times, total->count);
}

static void add_up(struct rank *r)
{
	for (size_t i = 0; i < r->n;) {
		struct total *total = &r->totals[r->n_totals++];
		*total =
		        (struct total){ r->kernels[i].group, r->kernels[i].collective, i, 0, 0, 0 };
		for (; i < r->n && same_key(&r->kernels[total->first], &r->kernels[i]); i++)
			total->count++;
		size_t n_merged = list_times(r, total);
		total->communication_ns = ht_interval_length(r->times, n_merged);
		for (size_t k = 0; k < n_merged; k++)
			total->overlap_ns += ht_interval_between(r->compute, r->compute_sums,
			        r->n_compute, r->times[k].start, r->times[k].end);
	}
}

static enum ht_status put_device(
        struct ht_run *run, const struct ht_device_work *device, enum by by, struct ht_part *part)
{
	const struct ht_work_list *work = &device->work;
	struct rank r = { .run = run };
	HT_TRY(ht_work_union(run, work, ht_class_bit(HT_CLASS_COMPUTE), &r.compute, &r.n_compute));
	HT_TRY(collect_kernels(run, run->trace, work, by, &r.kernels, &r.n));
	r.totals = ht_arena_alloc(run->scratch, (r.n + 1) * sizeof *r.totals);
	r.times = ht_arena_alloc(run->scratch, (r.n + 1) * sizeof *r.times);
	r.calls = ht_arena_alloc(run->scratch, (r.n + 1) * sizeof *r.calls);
	r.compute_sums = ht_arena_alloc(run->scratch, (r.n_compute + 1) * sizeof *r.compute_sums);
	if (!r.totals || !r.times || !r.calls || !r.compute_sums)
		return ht_fail_nomem(run->ctx);
	ht_interval_sums(r.compute, r.n_compute, r.compute_sums);
	add_up(&r);
	if (!r.n_totals && by == BY_RANK)
		r.totals[r.n_totals++] = (struct total){ 0 };
	qsort(r.totals, r.n_totals, sizeof *r.totals, compare_total);
	int64_t compute_ns = ht_interval_length(r.compute, r.n_compute);
	for (size_t i = 0; i < r.n_totals; i++) {
		size_t n_merged = list_times(&r, &r.totals[i]);
		int64_t key = (int64_t)ht_table_n_rows(part->facts[ROWS]);
		put_total(part->facts[ROWS], run->rank, device->device, &r.totals[i], compute_ns,
		        ht_n_events(run->trace) > 0);
		HT_TRY(ht_exposed_put(run, key, r.calls, r.totals[i].count, r.times, n_merged,
		        r.compute, r.n_compute, part->facts[CALLS], part->facts[GAPS]));
	}
	return HT_OK;
}

static enum by parse_by(const char *text)
{
	if (!strcmp(text, "group"))
		return BY_GROUP;
	return strcmp(text, "collective") ? BY_RANK : BY_COLLECTIVE;
}

static enum ht_status measure(struct ht_run *run, struct ht_part *part)
{
	static const struct ht_device_work nothing = { .device = -1 };
	enum by by = parse_by(ht_run_str(run, "by"));
	struct ht_frame frame = { 0 };
	struct ht_devices devices = { 0 };
	HT_TRY(ht_frame_make_gpu(run, &frame));
	HT_TRY(ht_devices_find(run, &frame, &devices));
	for (size_t i = 0; i < devices.n; i++)
		HT_TRY(put_device(run, &devices.list[i], by, part));
	return devices.n ? HT_OK : put_device(run, &nothing, by, part);
}

static enum ht_status add_hint(struct ht_arena *arena, ht_table *table)
{
	double all = ht_hint_total(table, "communication_ns");
	double exposed = ht_hint_total(table, "exposed_ns"),
	       wait = ht_hint_total(table, "exposed_wait_ns");
	if (!(exposed > HT_WORTH_A_HINT * all))
		return HT_OK;
	bool waits = wait > exposed / 2;
	struct ht_finding f = ht_finding("overlap", HT_STATE_FOUND);
	ht_finding_share(&f, (all - exposed) / all, "of.communication", HT_NO_I64);
	ht_finding_ratio(&f, "exposed_share", exposed / all);
	ht_finding_text(&f, "waits", waits ? "" : NULL);
	ht_finding_next(&f, waits ? "stragglers" : "collectives");
	return ht_finding_note(arena, &f, table);
}

static enum ht_status finish(struct ht_run *run, const struct ht_parts *parts, ht_table *table)
{
	bool any = false;
	size_t n_without = 0;
	HT_TRY(ht_frame_set_method(run, table, "share of communication time"));
	for (size_t i = 0; i < parts->n; i++)
		HT_TRY(ht_exposed_rows(
		        run, &parts->list[i], CALLS, GAPS, COL_EXPOSED_WAIT_NS, table));
	for (size_t row = 0; row < ht_table_n_rows(table) && !any; row++)
		any = !ht_table_is_null(table, row, COL_OVERLAP_SHARE);
	ht_table_set_bar(table, COL_OVERLAP_SHARE);
	for (size_t row = 0; row < ht_table_n_rows(table); row++)
		n_without += ht_table_is_null(table, row, COL_EXPOSED_NS);
	if (n_without)
		HT_TRY(ht_table_add_note(
		        table, "%zu of %zu ranks have no events", n_without, parts->n));
	if (!any)
		return ht_table_add_note(table, "no communication kernels in the selection");
	HT_TRY(add_hint(run->scratch, table));
	return ht_clocks_note(run, table);
}
