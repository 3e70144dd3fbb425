/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_held.c - which host calls waited for which GPU work. See cp_model.h.
 *
 * What a call waits for say the wait rows of the trace (cuda_sync). Without them a copy call waits for its
 * copy when that ended first, or goes through a buffer of the driver; a call that synchronises waits for the work that ended last in it, of what
 * was launched before it. That is certain when the call waits for the whole device, if there is but one, or when there is one
 * stream, else inferred. A call in which no such work ended did not wait. A launch call that finds the queue of its stream full
 * (cp_full.c) waits for the work of the stream that ended last in it, which is inferred as well.
 */
#include "graph/cp_model.h"
#include "graph/cp_look.h"
#include "store/args.h"

#include "base/sort.h"
#include "graph/cp_sync.h"

#include <string.h>
#include "model/device/gpu_work.h"
#include "base/search.h"

#include <stdlib.h>

/* ---- wait rows ---- */

static int compare_wait(const void *left, const void *right)
{
	const struct ht_cp_wait *a = left, *b = right;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The first wait of a correlation. */
static size_t find_wait(const struct ht_cp_wait *waits, size_t n, int64_t correlation)
{
	return HT_LOWER_BOUND(at, n, waits[at].correlation < correlation);
}

static void find_calls(
        const struct ht_trace *t, const int64_t *correlation, struct ht_cp_wait *waits, size_t n)
{
	size_t first = 0;
	for (uint32_t row = 0; n && row < t->n_kind; row++) {
		if (!ht_kind_is_call(t->kind[row]) || correlation[row] < 0)
			continue;
		/* calls count their correlations up */
		first = HT_LOWER_BOUND_NEAR(at, n, first, waits[at].correlation < correlation[row]);
		for (size_t k = first; k < n && waits[k].correlation == correlation[row]; k++)
			waits[k].call = row;
	}
}

static enum ht_status list_launches(struct ht_run *run, const struct ht_trace *t,
        struct ht_cp_launch **ret_launches, size_t *ret_n)
{
	size_t n = 0;
	struct ht_cp_launch *launches =
	        ht_arena_room(run->scratch, (t->n_gpu + 1) * sizeof *launches);
	const uint32_t *order = NULL;
	if (!launches)
		return ht_fail_nomem(run->ctx);
	/* a stream runs work as it was launched: this is nearly the order that waits are looked up in */
	HT_TRY(ht_gpu_by_stream(run, &order));
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[order[i]];
		if (gpu->launch == HT_NONE || !ht_is_span(t, gpu->row))
			continue;
		launches[n++] = (struct ht_cp_launch){ .device = gpu->device,
			.stream = gpu->stream,
			.track = t->track[gpu->launch],
			.launch = gpu->launch,
			.work = gpu->row,
			.launch_ns = t->ts_ns[gpu->launch],
			.work_ns = t->ts_ns[gpu->row] };
	}
	*ret_launches = launches;
	*ret_n = n;
	return HT_OK;
}

enum ht_status ht_cp_waits_collect(
        struct ht_run *run, struct ht_cp_model *m, struct ht_cp_wait **ret_waits, size_t *ret_n)
{
	const struct ht_trace *t = m->trace;
	size_t n = ht_n_of_kind(t, HT_KIND_SYNC), n_launches = 0;
	uint8_t kind;
	*ret_n = 0;
	if (!n)
		return HT_OK;
	int64_t *correlation;
	HT_TRY(ht_arg_dense_i64(run->ctx, t, "correlation", -1, run->scratch, &correlation));
	struct ht_cp_wait *waits = ht_arena_alloc(run->scratch, (n + 1) * sizeof *waits);
	if (!waits)
		return ht_fail_nomem(run->ctx);
	struct ht_arg_cursor streams = ht_arg_cursor(t, "stream"),
	                     devices = ht_arg_cursor(t, "device");
	n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_SYNC || correlation[row] < 0 || !ht_is_span(t, row) ||
		        !ht_cp_wait_kind(t, row, &kind))
			continue;
		int64_t stream = ht_arg_cursor_i64(&streams, row, -1);
		waits[n++] = (struct ht_cp_wait){ .row = row,
			.call = HT_NONE,
			.source = HT_NONE,
			.target = HT_NONE,
			.kind = kind,
			.correlation = correlation[row],
			.device = ht_arg_cursor_i64(&devices, row, t->tracks[t->track[row]].device),
			.stream = stream == UINT32_MAX ? -1 : stream };
	}
	ht_sort_items(run->ctx->mem, waits, n, sizeof *waits, compare_wait);
	find_calls(t, correlation, waits, n);
	struct ht_cp_launch *launches = NULL;
	HT_TRY(list_launches(run, t, &launches, &n_launches));
	struct ht_cp_sync sync = {
		.run = run, .names = &m->names, .correlation = correlation, .infer = true
	};
	HT_TRY(ht_cp_resolve_waits(&sync, launches, n_launches, waits, n));
	*ret_waits = waits;
	*ret_n = n;
	return HT_OK;
}

/* ---- calls ---- */

/* What a call waits for. */
struct question {
	uint32_t call;
	int64_t device; /* -1: any */
	int64_t stream; /* -1: any */
};

static bool answers(
        const struct ht_cp_model *m, const struct question *q, const struct ht_cp_work *w)
{
	const struct ht_trace *t = m->trace;
	if (w->launch != HT_NONE && w->launch_ns > t->ts_ns[q->call])
		return false;
	if (q->device < 0 && q->stream < 0)
		return true;
	const struct ht_gpu *gpu = ht_gpu_of_row(t, w->row);
	return (q->device < 0 || gpu->device == q->device) &&
	       (q->stream < 0 || gpu->stream == q->stream);
}

/* The work that ended last in the call, of what was launched before it; clocks of host and device may
 * differ a little. */
static uint32_t find_awaited(const struct ht_cp_model *m, const struct question *q)
{
	const struct ht_trace *t = m->trace;
	int64_t end = ht_end_ns(t, q->call);
	size_t low = HT_LOWER_BOUND(
	        at, m->n_works, m->works[m->by_end[at]].end_ns <= end + m->options.tolerance_ns);
	while (low--) {
		const struct ht_cp_work *w = &m->works[m->by_end[low]];
		if (w->end_ns <= t->ts_ns[q->call])
			break;
		if (w->start_ns < end && answers(m, q, w))
			return m->by_end[low];
	}
	return HT_NONE;
}

/* Memory that is not pinned goes through a buffer of the driver, piece by piece: the call returns when the last one is in it,
 * a moment before the copy is over, and takes as long as the copy. */
static bool goes_along(const struct ht_cp_model *m, const struct ht_cp_work *copy, int64_t call_end)
{
	return copy->start_ns < call_end &&
	       strstr(ht_str(m->trace, m->trace->name[copy->row]), "Pageable");
}

/* The copy that the call started, when the call waited for it. */
static uint32_t find_copy(const struct ht_cp_model *m, uint32_t call)
{
	const struct ht_trace *t = m->trace;
	const uint32_t *gpus;
	size_t n;
	uint32_t found = HT_NONE;
	int64_t end = ht_end_ns(t, call);
	ht_launch_gpus(t, call, &gpus, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t work = m->work_of_gpu[gpus[i]];
		if (work == HT_NONE || m->works[work].launch != call ||
		        (m->works[work].end_ns > end && !goes_along(m, &m->works[work], end)))
			continue;
		if (found == HT_NONE || m->works[work].end_ns > m->works[found].end_ns)
			found = work;
	}
	return found;
}

static void put_held(struct ht_cp_model *m, uint32_t call, uint32_t work, bool inferred, size_t *n)
{
	int64_t start = m->trace->ts_ns[call], end = ht_end_ns(m->trace, call);
	const struct ht_cp_work *w = work == HT_NONE ? NULL : &m->works[work];
	if (!w || w->end_ns <= start || w->start_ns >= end ||
	        (w->end_ns > end + m->options.tolerance_ns && w->launch != call))
		return;
	m->held[(*n)++] = (struct ht_cp_held){ .start_ns = start,
		.end_ns = end,
		.from_ns = w->end_ns < end ? w->end_ns : end,
		.work = work,
		.row = call,
		.inferred = inferred };
}

/* By the wait row; false when it does not tell. */
static bool hold_by_row(
        struct ht_cp_model *m, uint32_t call, const struct ht_cp_wait *wait, size_t *n)
{
	struct question q = { call, wait->device, -1 };
	if (wait->kind == HT_CP_WAIT_STREAM_EVENT)
		return false;
	if (wait->kind == HT_CP_WAIT_EVENT) {
		const struct ht_gpu *gpu =
		        wait->source == HT_NONE ? NULL : ht_gpu_of_row(m->trace, wait->source);
		uint32_t work = gpu ? m->work_of_gpu[gpu - m->trace->gpu] : HT_NONE;
		if (work == HT_NONE)
			return false;
		bool fits = m->works[work].launch == HT_NONE ||
		            m->works[work].launch_ns <= m->trace->ts_ns[call];
		put_held(m, call, fits ? work : HT_NONE, wait->inferred, n);
		return !wait->inferred;
	}
	if (wait->kind == HT_CP_WAIT_STREAM) {
		if (wait->stream < 0)
			return false;
		q.stream = wait->stream;
	}
	put_held(m, call, find_awaited(m, &q), false, n);
	return true;
}

static void hold(struct ht_cp_model *m, uint32_t call, const struct ht_cp_wait *wait, size_t *n)
{
	uint8_t bits = ht_cp_names_bits(&m->names, call);
	size_t before = *n;
	if (wait && (hold_by_row(m, call, wait, n) || *n > before))
		return;
	if (bits & HT_CP_NAME_COPIES) {
		put_held(m, call, find_copy(m, call), false, n);
		return;
	}
	struct question q = { call, -1, -1 };
	bool certain = ((bits & HT_CP_NAME_DEVICE) && m->n_devices == 1) || m->n_lanes == 1;
	put_held(m, call, find_awaited(m, &q), !certain, n);
}

/* Which device the call waits for: as the wait row says, or that of the work that it was held by; false: nothing tells. */
static bool find_device(const struct ht_cp_model *m, const struct ht_cp_wait *wait,
        const struct ht_cp_held *held, int64_t *ret_device)
{
	*ret_device = wait ? wait->device : -1;
	if (*ret_device < 0 && m->n_devices > 1 && held)
		*ret_device = m->devices[m->device_of_lane[m->works[held->work].lane]];
	return *ret_device >= 0 || m->n_devices == 1;
}

/* Held calls by track and end. */
static enum ht_status sort_held(struct ht_run *run, struct ht_cp_model *m, size_t n)
{
	const struct ht_trace *t = m->trace;
	struct ht_cp_held *sorted = ht_arena_alloc(run->scratch, (n + 1) * sizeof *sorted);
	uint64_t *keys = ht_arena_alloc(run->scratch, (n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_alloc(run->scratch, (n + 1) * sizeof *order);
	m->first_held = ht_arena_alloc(run->scratch, (t->n_tracks + 2) * sizeof(uint32_t));
	if (!sorted || !keys || !order || !m->first_held)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			const struct ht_cp_held *h = &m->held[order[i]];
			keys[i] = pass ? ht_cp_thread(m, h->row) : ht_sort_key_i64(h->end_ns);
		}
		if (!ht_sort_keys(run->ctx->mem, keys, order, n))
			return ht_fail_nomem(run->ctx);
	}
	uint32_t track = 0;
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = m->held[order[i]];
		while (track < ht_cp_thread(m, sorted[i].row))
			m->first_held[++track] = i;
	}
	while (track < t->n_tracks)
		m->first_held[++track] = (uint32_t)n;
	m->held = sorted;
	return HT_OK;
}

typedef bool is_held_fn(struct ht_cp_model *m, uint32_t row);

static bool call_waits(struct ht_cp_model *m, uint32_t row)
{
	return ht_kind_is_call(m->trace->kind[row]) &&
	       (ht_cp_names_bits(&m->names, row) & HT_CP_NAME_WAITS);
}

/* An operator that always waits: it fetches a value. */
static bool operator_waits(struct ht_cp_model *m, uint32_t row)
{
	const struct ht_trace *t = m->trace;
	return t->kind[row] == HT_KIND_CPU_OP &&
	       !strcmp(ht_str(t, t->name[row]), "aten::_local_scalar_dense");
}

static size_t count_held(struct ht_cp_model *m, is_held_fn *is_held)
{
	size_t n = 0;
	for (uint32_t row = 0; row < m->trace->n_kind; row++)
		n += is_held(m, row);
	return n;
}

enum ht_status ht_cp_held_make(
        struct ht_run *run, struct ht_cp_model *m, const struct ht_cp_wait *waits, size_t n_waits)
{
	const struct ht_trace *t = m->trace;
	is_held_fn *is_held = call_waits;
	size_t n = count_held(m, is_held);
	/* calls that wait were not recorded, as at level 0 of Ascend's profiler */
	if (!n) {
		is_held = operator_waits;
		n = count_held(m, is_held);
	}
	uint32_t *full = NULL;
	HT_TRY(ht_cp_full_find(run, m, &full, &m->n_full));
	m->held = ht_arena_alloc(run->scratch, (n + m->n_full + 1) * sizeof *m->held);
	m->joins = ht_arena_alloc(run->scratch, (n + 1) * sizeof *m->joins);
	if (!m->held || !m->joins)
		return ht_fail_nomem(run->ctx);
	struct ht_arg_cursor correlation = ht_arg_cursor(t, "correlation");
	n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!is_held(m, row) || !ht_is_span(t, row) || t->dur_ns[row] <= 0)
			continue;
		int64_t id = ht_arg_cursor_i64(&correlation, row, -1);
		size_t at = id < 0 ? n_waits : find_wait(waits, n_waits, id);
		bool found = at < n_waits && waits[at].correlation == id && waits[at].call == row;
		const struct ht_cp_wait *wait = found ? &waits[at] : NULL;
		size_t before = n;
		hold(m, row, wait, &n);
		struct ht_cp_join join = { .start_ns = t->ts_ns[row], .row = row };
		if ((ht_cp_names_bits(&m->names, row) & HT_CP_NAME_DEVICE) &&
		        find_device(m, wait, n > before ? &m->held[before] : NULL, &join.device))
			m->joins[m->n_joins++] = join;
	}
	for (size_t i = 0; i < m->n_full; i++) {
		const struct ht_cp_work *w = &m->works[full[i]];
		const struct ht_gpu *gpu = ht_gpu_of_row(t, w->row);
		struct question q = { w->launch, gpu->device, gpu->stream };
		if (!(ht_cp_names_bits(&m->names, w->launch) & HT_CP_NAME_WAITS))
			put_held(m, w->launch, find_awaited(m, &q), true, &n);
	}
	HT_TRY(ht_cp_joins_make(run, m));
	return sort_held(run, m, n);
}
