/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_idle.c - gaps between GPU work as HTA measures them. See hta_work.h.
 */
#include "hta/hta_work.h"
#include "store/columns.h"

#include "base/list.h"
#include "hta/hta_frame.h"

#include <stdlib.h>

/* A piece of work in its stream. */
struct piece {
	int64_t stream, start, end;
	int64_t launch_ns; /* HT_NO_I64: unknown */
	uint32_t row;
};

struct pieces {
	struct piece *items;
	size_t n;
};

static int compare(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* HTA looks the launch up by row number and takes 0, its word for "not found", for row 0. */
static enum ht_status collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, struct pieces *pieces)
{
	const struct ht_trace *t = frame->trace;
	struct ht_row_columns columns = { 0 };
	HT_TRY(ht_hta_columns(run, frame, false, &columns));
	pieces->items = ht_arena_alloc(run->scratch, (frame->n_gpu + 1) * sizeof *pieces->items);
	if (!pieces->items)
		return ht_fail_nomem(run->ctx);
	bool has_row_0 = false;
	for (size_t k = 0; k < frame->n_rows && !has_row_0; k++)
		has_row_0 = frame->rows[k] == 0;
	for (size_t k = 0; k < frame->n_gpu; k++) {
		uint32_t row = t->gpu[frame->gpu[k]].row;
		int64_t partner = columns.partner[row], start = ht_hta_ns(t->ts_ns[row]);
		bool launched = partner > 0 || (partner == 0 && has_row_0);
		if (columns.stream[row] == -1 ||
		        !ht_list_text_has(options->streams, columns.stream[row]))
			continue;
		pieces->items[pieces->n++] = (struct piece){
			.stream = options->by_device ? HT_NO_I64 : columns.stream[row],
			.start = start,
			.end = start + t->dur_ns[row],
			.launch_ns = launched ? ht_hta_ns(t->ts_ns[partner]) : HT_NO_I64,
			.row = row,
		};
	}
	qsort(pieces->items, pieces->n, sizeof *pieces->items, compare);
	return HT_OK;
}

static void find_gaps(
        const struct piece *items, size_t n, int64_t threshold_ns, struct ht_idle_stream *stream)
{
	stream->gaps[stream->n++] = (struct ht_idle_gap){ 0, HT_IDLE_OTHER, true, HT_NONE };
	int64_t last = items[0].end;
	for (size_t i = 1; i < n; i++) {
		int64_t end = items[i - 1].end, gap = items[i].start - end;
		enum ht_idle_category category = HT_IDLE_OTHER;
		if (items[i].launch_ns != HT_NO_I64 && items[i].launch_ns > end)
			category = HT_IDLE_HOST_WAIT;
		else if (gap < threshold_ns)
			category = HT_IDLE_KERNEL_WAIT;
		stream->gaps[stream->n++] =
		        (struct ht_idle_gap){ gap, (uint8_t)category, false, HT_NONE };
		last = items[i].end > last ? items[i].end : last;
	}
	stream->span_ns = last - items[0].start;
}

/* A stream and where it first appears. */
struct appearance {
	uint32_t row;
	struct ht_idle_stream stream;
};

static int compare_appearance(const void *left, const void *right)
{
	const struct appearance *a = left, *b = right;
	return (a->row > b->row) - (a->row < b->row);
}

enum ht_status ht_hta_idle_collect(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_idle_options *options, const struct ht_idle_stream **ret_streams,
        size_t *ret_n)
{
	struct pieces pieces = { 0 };
	HT_TRY(collect(run, frame, options, &pieces));
	size_t n_streams = 0;
	for (size_t i = 0; i < pieces.n; i++)
		n_streams += !i || pieces.items[i].stream != pieces.items[i - 1].stream;
	struct appearance *list = ht_arena_alloc(run->scratch, (n_streams + 1) * sizeof *list);
	struct ht_idle_stream *streams =
	        ht_arena_alloc(run->scratch, (n_streams + 1) * sizeof *streams);
	struct ht_idle_gap *gaps = ht_arena_alloc(run->scratch, (pieces.n + 1) * sizeof *gaps);
	if (!list || !streams || !gaps)
		return ht_fail_nomem(run->ctx);
	size_t s = 0;
	for (size_t i = 0, n; i < pieces.n; i += n) {
		const struct piece *first = &pieces.items[i];
		uint32_t row = first->row;
		for (n = 1; i + n < pieces.n && first[n].stream == first->stream; n++)
			row = first[n].row < row ? first[n].row : row;
		list[s] = (struct appearance){ row,
			{ .device = -1, .stream = first->stream, .gaps = gaps + i } };
		find_gaps(first, n, options->threshold_ns, &list[s++].stream);
	}
	qsort(list, n_streams, sizeof *list, compare_appearance);
	for (s = 0; s < n_streams; s++)
		streams[s] = list[s].stream;
	*ret_streams = streams;
	*ret_n = n_streams;
	return HT_OK;
}
