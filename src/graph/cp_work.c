/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_work.c - GPU work in time order, and what each piece of it waited for. See cp_model.h.
 *
 * Known: the work before it on its stream (of those that began before, the one that ends last), work that
 * an event wait names, its launch (which takes some time itself, the shortest of the rank at least). The later of
 * these explains when the work began. When it began more than
 * the tolerance after all of them, or when an event wait stands before it whose record is not in the
 * trace, the work of another stream (of its device, else of another one) that ended last, at most the tolerance before, is what
 * it waited for: inferred. It must have been launched before, as an event is recorded before it is
 * waited for.
 *
 *   known   ───┐                  one or the other, whichever is later
 *   launch ────┤ > tolerance   ▼
 *   stream 7   [ a ]           [ k
 *   stream 16       [ other  ]   ends within the tolerance: inferred
 */
#include "graph/cp_model.h"

#include "store/trace_meta.h"

#include "base/search.h"
#include "base/sort.h"
#include "graph/cp_look.h"
#include "graph/cp_sync.h"
#include "model/device/idle.h"
#include "model/device/launch.h"
#include "store/earlier_work.h"

#include <string.h>

/* How many pieces of work that ended just before are looked at. */
#define N_LOOKED_AT 256

/* ---- order ---- */

static enum ht_status list_works(
        struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own, uint32_t **ret_gpus)
{
	const struct ht_trace *t = m->trace;
	uint64_t *keys = ht_arena_room(own, (t->n_gpu + 1) * sizeof *keys);
	uint32_t *gpus = ht_arena_room(own, (t->n_gpu + 1) * sizeof *gpus);
	if (!keys || !gpus)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (uint32_t i = 0; i < t->n_gpu; i++) {
		/* what only waits on the device (EVENT_WAIT of NPUs) is no work: the path goes to what it waited for */
		if (ht_is_span(t, t->gpu[i].row) && t->dur_ns[t->gpu[i].row] >= 0 &&
		        t->gpu[i].class_ != HT_CLASS_SYNC)
			gpus[n++] = i;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			uint32_t row = t->gpu[gpus[i]].row;
			keys[i] = ht_sort_key_i64(pass ? t->ts_ns[row] : ht_end_ns(t, row));
		}
		if (!ht_sort_keys(run->ctx->mem, keys, gpus, n))
			return ht_fail_nomem(run->ctx);
	}
	m->n_works = n;
	*ret_gpus = gpus;
	return HT_OK;
}

static enum ht_status make_lanes(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own,
        const uint32_t *gpus, struct ht_cp_lanes *lanes)
{
	const struct ht_trace *t = m->trace;
	lanes->list = ht_arena_room(own, (m->n_works + 1) * sizeof *lanes->list);
	if (!lanes->list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < m->n_works; i++) {
		const struct ht_gpu *gpu = &t->gpu[gpus[i]];
		struct ht_cp_lane lane = { gpu->device, gpu->stream };
		if (!lanes->n || ht_cp_lane_compare(&lanes->list[lanes->n - 1], &lane))
			lanes->list[lanes->n++] = lane;
	}
	ht_cp_lanes_sort(lanes);
	m->n_lanes = lanes->n;
	m->device_of_lane = ht_arena_alloc(run->scratch, (lanes->n + 1) * sizeof(uint32_t));
	m->devices = ht_arena_alloc(run->scratch, (lanes->n + 1) * sizeof(int64_t));
	if (!m->device_of_lane || !m->devices)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < lanes->n; k++) {
		if (!k || lanes->list[k].device != lanes->list[k - 1].device)
			m->devices[m->n_devices++] = lanes->list[k].device;
		m->device_of_lane[k] = (uint32_t)m->n_devices - 1;
	}
	return HT_OK;
}

static void fill_works(struct ht_cp_model *m, const uint32_t *gpus, const struct ht_cp_lanes *lanes)
{
	const struct ht_trace *t = m->trace;
	memset(m->work_of_gpu, 0xff, t->n_gpu * sizeof *m->work_of_gpu);
	for (uint32_t k = 0; k < m->n_works; k++) {
		const struct ht_gpu *gpu = &t->gpu[gpus[k]];
		struct ht_cp_lane lane = { gpu->device, gpu->stream };
		struct ht_cp_work *w = &m->works[k];
		*w = (struct ht_cp_work){ .start_ns = t->ts_ns[gpu->row],
			.end_ns = ht_end_ns(t, gpu->row),
			.launch_ns = HT_NO_I64,
			.floor_ns = HT_NO_I64,
			.floor = HT_NONE,
			.before = HT_NONE,
			.row = gpu->row,
			.launch = HT_NONE,
			.lane = (uint32_t)ht_cp_lane_find(lanes, lane),
			.early = gpu->launch == HT_NONE,
			.bound = (uint8_t)ht_cp_bound_of_class(gpu->class_) };
		m->work_of_gpu[gpus[k]] = k;
		if (gpu->launch != HT_NONE && t->ts_ns[gpu->launch] <= w->start_ns) {
			w->launch = gpu->launch;
			w->launch_ns = t->ts_ns[gpu->launch];
		}
	}
}

/* Work before it on the stream, and what was launched before the recording began: all that precedes the
 * first launched work of its stream, if there is one. */
static enum ht_status link_streams(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own)
{
	uint32_t *last = ht_arena_alloc(own, (m->n_lanes + 1) * sizeof *last);
	bool *launched = ht_arena_alloc(own, m->n_lanes + 1);
	bool *launches = ht_arena_alloc(own, m->n_lanes + 1);
	if (!last || !launched || !launches)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < m->n_works; k++)
		launches[m->works[k].lane] |= !m->works[k].early;
	uint32_t latest = HT_NONE;
	for (uint32_t k = 0; k < m->n_works; k++) {
		struct ht_cp_work *w = &m->works[k];
		uint32_t before = last[w->lane] - 1;
		w->before = last[w->lane] ? before : HT_NONE;
		launched[w->lane] |= !w->early;
		w->early = launches[w->lane] && !launched[w->lane];
		if (w->before == HT_NONE || w->end_ns >= m->works[before].end_ns)
			last[w->lane] = k + 1;
		if (latest == HT_NONE || w->end_ns > m->works[latest].end_ns)
			latest = k;
		m->latest[k] = latest;
	}
	return HT_OK;
}

static enum ht_status sort_works(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own)
{
	uint64_t *keys = ht_arena_room(own, (m->n_works + 1) * sizeof *keys);
	if (!keys)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < m->n_works; k++) {
		keys[k] = ht_sort_key_i64(m->works[k].end_ns);
		m->by_end[k] = k;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, m->by_end, m->n_works))
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < m->n_works; k++) {
		const struct ht_cp_work *w = &m->works[k];
		if (w->early)
			continue;
		keys[m->n_by_launch] =
		        ht_sort_key_i64(w->launch == HT_NONE ? w->start_ns : w->launch_ns);
		m->by_launch[m->n_by_launch++] = k;
	}
	if (!ht_sort_keys(run->ctx->mem, keys, m->by_launch, m->n_by_launch))
		return ht_fail_nomem(run->ctx);
	return HT_OK;
}

/* ---- busy time ---- */

/* Works by device, each in time order: counted into place. */
static enum ht_status order_by_device(struct ht_run *run, struct ht_cp_model *m,
        struct ht_arena *own, uint32_t **ret_order, uint32_t **ret_first)
{
	uint32_t *order = ht_arena_room(own, (m->n_works + 1) * sizeof *order);
	uint32_t *first = ht_arena_alloc(own, (m->n_devices + 2) * sizeof *first);
	if (!order || !first)
		return ht_fail_nomem(run->ctx);
	for (uint32_t k = 0; k < m->n_works; k++)
		first[m->device_of_lane[m->works[k].lane] + 2]++;
	for (uint32_t d = 0; d < m->n_devices; d++)
		first[d + 1] += first[d];
	for (uint32_t k = 0; k < m->n_works; k++)
		order[first[m->device_of_lane[m->works[k].lane] + 1]++] = k;
	*ret_order = order;
	*ret_first = first;
	return HT_OK;
}

/* Each moment belongs to the work that has been running the longest. */
static enum ht_status make_busy(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own)
{
	uint32_t *order = NULL, *first = NULL, n = 0;
	HT_TRY(order_by_device(run, m, own, &order, &first));
	m->busy = ht_arena_room(run->scratch, (m->n_works + 1) * sizeof *m->busy);
	m->first_busy = ht_arena_alloc(run->scratch, (m->n_devices + 2) * sizeof(uint32_t));
	if (!m->busy || !m->first_busy)
		return ht_fail_nomem(run->ctx);
	for (uint32_t d = 0; d < m->n_devices; d++) {
		int64_t until = INT64_MIN;
		for (uint32_t i = first[d]; i < first[d + 1]; i++) {
			const struct ht_cp_work *w = &m->works[order[i]];
			if (w->end_ns <= until || w->end_ns == w->start_ns)
				continue;
			m->busy[n++] =
			        (struct ht_cp_busy){ w->start_ns > until ? w->start_ns : until,
				        w->end_ns, order[i] };
			until = w->end_ns;
		}
		m->first_busy[d + 1] = n;
	}
	return HT_OK;
}

uint32_t ht_cp_busy_before(const struct ht_cp_model *m, uint32_t device, int64_t time_ns)
{
	uint32_t first = m->first_busy[device], end = m->first_busy[device + 1];
	uint32_t low = first + (uint32_t)HT_LOWER_BOUND(
	                               at, end - first, m->busy[first + at].start_ns < time_ns);
	return low > first ? low - 1 : HT_NONE;
}

/* ---- event waits ---- */

static uint32_t work_of_row(const struct ht_cp_model *m, uint32_t row)
{
	const struct ht_gpu *gpu = row == HT_NONE ? NULL : ht_gpu_of_row(m->trace, row);
	return gpu ? m->work_of_gpu[gpu - m->trace->gpu] : HT_NONE;
}

/* Sources of a work as a slice; what ran on when the work began is none. */
static enum ht_status make_sources(
        struct ht_run *run, struct ht_cp_model *m, const struct ht_cp_wait *waits, size_t n_waits)
{
	m->sources = ht_arena_alloc(run->scratch, (n_waits + 1) * sizeof *m->sources);
	if (!m->sources)
		return ht_fail_nomem(run->ctx);
	for (int fill = 0; fill < 2; fill++) {
		for (size_t i = 0; i < n_waits; i++) {
			uint32_t target = work_of_row(m, waits[i].target);
			uint32_t source = work_of_row(m, waits[i].source);
			if (target == HT_NONE)
				continue;
			struct ht_cp_work *w = &m->works[target];
			if (source == HT_NONE || source >= target ||
			        m->works[source].end_ns > w->start_ns) {
				w->awaits |= source == HT_NONE || waits[i].inferred;
				continue;
			}
			if (fill)
				m->sources[w->first_source + w->n_sources] =
				        (struct ht_cp_source){ source, waits[i].inferred };
			w->n_sources++;
		}
		uint32_t n = 0;
		for (uint32_t k = 0; k < m->n_works && !fill; k++) {
			m->works[k].first_source = n;
			n += m->works[k].n_sources;
			m->works[k].n_sources = 0;
		}
	}
	return HT_OK;
}

/* ---- what it waited for ---- */

static bool launched_before(const struct ht_cp_work *other, const struct ht_cp_work *w)
{
	if (other->launch == HT_NONE)
		return true;
	return w->launch != HT_NONE && other->launch_ns <= w->launch_ns;
}

/* Work of another stream that ended last, after a time and not after the start; of another device of the rank, as the
 * stages of a model that is split over devices, only where the device itself has none. */
static uint32_t find_ended(const struct ht_cp_model *m, uint32_t k, int64_t after_ns)
{
	const struct ht_cp_work *w = &m->works[k];
	uint32_t elsewhere = HT_NONE;
	size_t low = HT_LOWER_BOUND(at, m->n_works, m->works[m->by_end[at]].end_ns <= w->start_ns);
	for (size_t n = 0; low-- && n < N_LOOKED_AT; n++) {
		uint32_t other = m->by_end[low];
		const struct ht_cp_work *o = &m->works[other];
		if (o->end_ns <= after_ns)
			break;
		if (o->lane == w->lane || other >= k || !launched_before(o, w))
			continue;
		if (m->device_of_lane[o->lane] == m->device_of_lane[w->lane])
			return other;
		if (elsewhere == HT_NONE)
			elsewhere = other;
	}
	return elsewhere;
}

static void find_floor(const struct ht_cp_model *m, struct ht_cp_work *w)
{
	if (w->before != HT_NONE) {
		int64_t end = m->works[w->before].end_ns;
		w->floor = w->before;
		w->floor_ns = end < w->start_ns ? end : w->start_ns;
	}
	for (uint32_t i = 0; i < w->n_sources; i++) {
		const struct ht_cp_source *s = &m->sources[w->first_source + i];
		if (m->works[s->work].end_ns > w->floor_ns) {
			w->floor = s->work;
			w->floor_ns = m->works[s->work].end_ns;
			w->inferred = s->inferred;
		}
	}
}

/* Differences of times of a trace fit, but HT_NO_I64 is no time. */
static bool later_by(int64_t time_ns, int64_t than_ns, int64_t by_ns)
{
	return than_ns == HT_NO_I64 || time_ns - than_ns > by_ns;
}

/* No launch takes less than the shortest time from any launch to its work; a long one waited for more. */
static void find_least_launch(struct ht_cp_model *m)
{
	int64_t least = m->options.tolerance_ns;
	for (uint32_t k = 0; k < m->n_works; k++) {
		const struct ht_cp_work *w = &m->works[k];
		if (w->launch != HT_NONE && w->start_ns - w->launch_ns < least)
			least = w->start_ns - w->launch_ns;
	}
	m->least_launch_ns = least;
	/* Where no work begins before its call is over, from there, too: calls may be longer than launches take. Calls that wait
	 * for their work tell nothing. */
	m->least_after_ns = m->options.tolerance_ns;
	for (uint32_t k = 0; k < m->n_works; k++) {
		const struct ht_cp_work *w = &m->works[k];
		int64_t call_end =
		        w->launch == HT_NONE ? INT64_MAX : ht_end_ns(m->trace, w->launch);
		if (call_end <= w->end_ns && w->start_ns - call_end < m->least_after_ns)
			m->least_after_ns = w->start_ns - call_end;
	}
}

/* When the launch of a work has arrived at its device, at the earliest. */
static int64_t arrives_ns(const struct ht_cp_model *m, const struct ht_cp_work *w)
{
	int64_t by_start = w->launch_ns + m->least_launch_ns;
	int64_t call_end = ht_end_ns(m->trace, w->launch);
	bool by_end = m->least_after_ns >= 0 && call_end <= w->start_ns &&
	              call_end + m->least_after_ns > by_start;
	return by_end ? call_end + m->least_after_ns : by_start;
}

static void find_cause(struct ht_cp_model *m, uint32_t k)
{
	struct ht_cp_work *w = &m->works[k];
	int64_t tolerance = m->options.tolerance_ns;
	find_floor(m, w);
	int64_t known = w->floor_ns > w->launch_ns ? w->floor_ns : w->launch_ns;
	bool unexplained = later_by(w->start_ns, known, tolerance);
	if (unexplained || (w->awaits && known < w->start_ns)) {
		int64_t after = w->start_ns - tolerance - 1;
		uint32_t other = find_ended(m, k, known > after ? known : after);
		if (other != HT_NONE) {
			w->floor = other;
			w->floor_ns = m->works[other].end_ns;
			w->inferred = true;
			unexplained = false;
		}
	}
	if (w->launch != HT_NONE && arrives_ns(m, w) > w->floor_ns) {
		w->by = HT_CP_BY_LAUNCH;
		w->inferred = false;
	} else if (w->floor == HT_NONE || (w->launch == HT_NONE && unexplained && !w->early)) {
		w->by = HT_CP_BY_HOST;
		w->inferred = true;
	} else {
		w->by = HT_CP_BY_WORK;
	}
	/* the stream went idle while the host was still in the call, which is no call that waits itself */
	w->late = w->launch != HT_NONE && ht_end_ns(m->trace, w->launch) > w->floor_ns &&
	          !(ht_cp_names_bits(&m->names, w->launch) & HT_CP_NAME_WAITS);
}

/* Work that waited for what was launched before the recording: it was launched then itself, or it is the first of its device
 * and was launched long before it begins, and nothing that was recorded explains why it waits. */
static enum ht_status find_queued(struct ht_cp_model *m, struct ht_arena *own, ht_ctx *ctx)
{
	bool *seen = ht_arena_alloc(own, m->n_devices + 1);
	if (!seen)
		return ht_fail_nomem(ctx);
	for (uint32_t k = 0; k < m->n_works; k++) {
		struct ht_cp_work *w = &m->works[k];
		bool *is_seen = &seen[m->device_of_lane[w->lane]];
		bool launched = w->by == HT_CP_BY_LAUNCH && !*is_seen && !w->awaits &&
		                ht_was_queued(m->trace, w->launch, w->start_ns);
		bool before = w->early && w->by == HT_CP_BY_HOST;
		w->queued = w->floor == HT_NONE && (launched || before);
		if (w->queued && before)
			w->by = HT_CP_BY_BEFORE;
		*is_seen = true;
	}
	return HT_OK;
}

struct ht_cp_delay ht_cp_delay_of(const struct ht_cp_model *m, uint32_t work)
{
	const struct ht_cp_work *w = &m->works[work];
	if (w->by == HT_CP_BY_LAUNCH) {
		int64_t from = w->launch_ns > w->floor_ns ? w->launch_ns : w->floor_ns;
		if (w->queued)
			return (struct ht_cp_delay){ from, w->launch, HT_CP_KERNEL_DELAY,
				HT_CP_BOUND_QUEUED };
		return (struct ht_cp_delay){ from, w->launch, HT_CP_LAUNCH_DELAY,
			HT_CP_BOUND_LAUNCH_DELAY };
	}
	if (w->by == HT_CP_BY_BEFORE)
		return (struct ht_cp_delay){ m->trace->meta->min_ts_ns, HT_NONE, HT_CP_KERNEL_DELAY,
			HT_CP_BOUND_QUEUED };
	if (w->by == HT_CP_BY_HOST)
		return (struct ht_cp_delay){ w->start_ns, HT_NONE, HT_CP_LAUNCH_DELAY,
			HT_CP_BOUND_LAUNCH_DELAY };
	return (struct ht_cp_delay){ w->floor_ns, w->late ? w->launch : m->works[w->floor].row,
		w->late ? HT_CP_LAUNCH_DELAY : HT_CP_KERNEL_DELAY,
		w->late ? HT_CP_BOUND_LAUNCH_DELAY : HT_CP_BOUND_KERNEL_DELAY };
}

int64_t ht_cp_call_part_ns(const struct ht_cp_model *m, uint32_t from_row, uint8_t bound,
        int64_t start_ns, int64_t end_ns)
{
	if (bound != HT_CP_BOUND_LAUNCH_DELAY || from_row == HT_NONE ||
	        end_ns - start_ns <= HT_IDLE_THRESHOLD_NS)
		return 0;
	int64_t in_call_ns = ht_idle_in_call_ns(m->trace, from_row, start_ns, end_ns);
	int64_t most_ns = end_ns - m->least_launch_ns - start_ns;
	most_ns = most_ns > 0 ? most_ns : 0;
	return in_call_ns < most_ns ? in_call_ns : most_ns;
}

/* ---- all ---- */

/* What stays is in run->scratch, what goes in own. */
static enum ht_status make(struct ht_run *run, struct ht_cp_model *m, struct ht_arena *own,
        const struct ht_cp_wait *waits, size_t n_waits)
{
	uint32_t *gpus = NULL;
	struct ht_cp_lanes lanes = { 0 };
	HT_TRY(list_works(run, m, own, &gpus));
	HT_TRY(make_lanes(run, m, own, gpus, &lanes));
	m->works = ht_arena_room(run->scratch, (m->n_works + 1) * sizeof *m->works);
	m->work_of_gpu = ht_arena_room(run->scratch, (m->trace->n_gpu + 1) * sizeof(uint32_t));
	m->by_end = ht_arena_room(run->scratch, (m->n_works + 1) * sizeof(uint32_t));
	m->by_launch = ht_arena_room(run->scratch, (m->n_works + 1) * sizeof(uint32_t));
	m->latest = ht_arena_room(run->scratch, (m->n_works + 1) * sizeof(uint32_t));
	if (!m->works || !m->work_of_gpu || !m->by_end || !m->by_launch || !m->latest)
		return ht_fail_nomem(run->ctx);
	fill_works(m, gpus, &lanes);
	HT_TRY(link_streams(run, m, own));
	HT_TRY(sort_works(run, m, own));
	HT_TRY(make_busy(run, m, own));
	HT_TRY(make_sources(run, m, waits, n_waits));
	find_least_launch(m);
	for (uint32_t k = 0; k < m->n_works; k++)
		find_cause(m, k);
	return find_queued(m, own, run->ctx);
}

enum ht_status ht_cp_works_make(
        struct ht_run *run, struct ht_cp_model *m, const struct ht_cp_wait *waits, size_t n_waits)
{
	struct ht_arena own;
	ht_arena_init_like(&own, run->scratch);
	enum ht_status status = make(run, m, &own, waits, n_waits);
	ht_arena_done(&own);
	return status;
}
