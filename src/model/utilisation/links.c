/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - see links.h.
 */
#include "model/utilisation/links.h"

#include "base/search.h"
#include "base/sort.h"
#include "model/efficiency/peaks.h"
#include "model/numbers/interval.h"
#include "store/columns.h"

#include <math.h>

const struct ht_column ht_link_call_columns[] = HT_COLUMN_ENTRIES(HT_LINK_CALL_COLUMNS);
const struct ht_column ht_link_device_columns[] = HT_COLUMN_ENTRIES(HT_LINK_DEVICE_COLUMNS);

/* ---- one rank ---- */

/* When a device computes, whoever launched it. */
struct busy_device {
	int32_t device;
	bool is_put;
	size_t first, n; /* of the intervals */
};

/* All devices with compute or communication, ascending. */
struct busy {
	struct ht_interval *intervals;
	int64_t *
	        sums; /* of a device from its first interval and its own number on: one more than intervals */
	struct busy_device *devices;
	size_t n;
};

/* The intervals of one device, whose activities these are. */
static void add_device(struct ht_run *run, struct busy *busy, const uint32_t *gpu, size_t n)
{
	const struct ht_trace *t = run->trace;
	const struct busy_device *before = busy->n ? &busy->devices[busy->n - 1] : NULL;
	struct busy_device *own = &busy->devices[busy->n];
	*own = (struct busy_device){ .device = t->gpu[gpu[0]].device,
		.first = before ? before->first + before->n : 0 };
	struct ht_interval *list = busy->intervals + own->first;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = t->gpu[gpu[i]].row;
		if (t->gpu[gpu[i]].class_ == HT_CLASS_COMPUTE && !(t->flags[row] & HT_EV_BAD_TIME))
			list[own->n++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	own->n = ht_interval_merge(run->ctx->mem, list, own->n);
	ht_interval_sums(list, own->n, busy->sums + own->first + busy->n);
	busy->n++;
}

/* By device first, so that each is looked at once however they take turns. */
static enum ht_status find_busy(struct ht_run *run, struct busy *ret_busy)
{
	const struct ht_trace *t = run->trace;
	size_t n = 0, room = t->n_gpu + 1;
	struct busy busy = { .intervals =
		                     ht_arena_room(run->scratch, room * sizeof *busy.intervals),
		.sums = ht_arena_room(run->scratch, 2 * room * sizeof *busy.sums),
		.devices = ht_arena_room(run->scratch, room * sizeof *busy.devices) };
	uint64_t *keys = ht_arena_room(run->scratch, room * sizeof *keys);
	uint32_t *gpu = ht_arena_room(run->scratch, room * sizeof *gpu);
	if (!busy.intervals || !busy.sums || !busy.devices || !keys || !gpu)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < t->n_gpu; i++)
		if (t->gpu[i].device >= 0 && (t->gpu[i].class_ == HT_CLASS_COMPUTE ||
		                                     t->gpu[i].class_ == HT_CLASS_COMM)) {
			keys[n] = (uint64_t)t->gpu[i].device;
			gpu[n++] = (uint32_t)i;
		}
	if (!ht_sort_keys(run->ctx->mem, keys, gpu, n))
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && keys[end] == keys[i];)
			end++;
		add_device(run, &busy, gpu + i, end - i);
	}
	*ret_busy = busy;
	return HT_OK;
}

static enum ht_status put_device(struct ht_run *run, int32_t device, ht_table *devices)
{
	struct ht_peaks peaks;
	HT_TRY(ht_peaks_find(run, device, NULL, &peaks));
	ht_table_row(devices);
	ht_table_put_i64(devices, HT_LINK_DEVICE, device);
	ht_table_put_f64(devices, HT_LINK_FABRIC,
	        peaks.is_known && peaks.fabric_bytes > 0 ? peaks.fabric_bytes : NAN);
	return HT_OK;
}

enum ht_status ht_links_put(
        struct ht_run *run, const struct ht_frame *frame, ht_table *calls, ht_table *devices)
{
	const struct ht_trace *t = run->trace;
	struct busy busy = { 0 };
	HT_TRY(find_busy(run, &busy));
	for (size_t i = 0; i < frame->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[frame->gpu[i]];
		if (gpu->class_ != HT_CLASS_COMM || gpu->device < 0)
			continue;
		size_t at = HT_LOWER_BOUND(k, busy.n, busy.devices[k].device < gpu->device);
		struct busy_device *own = &busy.devices[at];
		if (!own->is_put)
			HT_TRY(put_device(run, gpu->device, devices));
		own->is_put = true;
		ht_table_row(calls);
		ht_table_put_i64(calls, HT_LINK_CALL_ROW, gpu->row);
		ht_table_put_i64(calls, HT_LINK_CALL_COMPUTE_NS,
		        ht_interval_between(busy.intervals + own->first,
		                busy.sums + own->first + at, own->n, t->ts_ns[gpu->row],
		                ht_end_ns(t, gpu->row)));
	}
	return HT_OK;
}

/* ---- all ranks ---- */

int64_t ht_link_compute_ns(const struct ht_part *part, size_t k, int64_t row)
{
	const ht_table *calls = part->facts[k];
	size_t n = ht_table_n_rows(calls);
	size_t at = HT_LOWER_BOUND(i, n, ht_table_i64(calls, i, HT_LINK_CALL_ROW) < row);
	if (at == n || ht_table_i64(calls, at, HT_LINK_CALL_ROW) != row)
		return HT_NO_I64;
	return ht_table_i64(calls, at, HT_LINK_CALL_COMPUTE_NS);
}

double ht_link_peak(const struct ht_run *run, const struct ht_parts *parts, size_t k, double said)
{
	double fabric = NAN;
	uint64_t seen = 0; /* numbers of devices, as bits */
	if (!isnan(said))
		return said;
	if (run->chosen[0].n != run->rosters[0]->n || parts->n != run->chosen[0].n)
		return NAN;
	for (size_t p = 0; p < parts->n; p++) {
		const ht_table *devices = parts->list[p].facts[k];
		/* a rank with several devices, or with one that another has, too */
		if (ht_table_n_rows(devices) != 1 || ht_table_is_null(devices, 0, HT_LINK_FABRIC))
			return NAN;
		int64_t device = ht_table_i64(devices, 0, HT_LINK_DEVICE);
		double own = ht_table_f64(devices, 0, HT_LINK_FABRIC);
		if (device < 0 || device > 63 || (seen >> device & 1) || (p && own != fabric))
			return NAN;
		seen |= (uint64_t)1 << device;
		fabric = own;
	}
	return parts->n > 1 ? fabric / 2 / 1e9 : NAN;
}
