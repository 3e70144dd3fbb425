/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_work.c - see hta_work.h.
 */
#include "hta/hta_work.h"

#include "hta/hta_frame.h"
#include "hta/hta_names.h"
#include "store/columns.h"

#include <string.h>

static uint8_t class_by_name(const char *name)
{
	switch (ht_hta_type(name)) {
	case HT_WORK_COMPUTE: return HT_CLASS_COMPUTE;
	case HT_WORK_COMM: return HT_CLASS_COMM;
	case HT_WORK_MEMORY: return strncmp(name, "Memset", 6) ? HT_CLASS_MEMCPY : HT_CLASS_MEMSET;
	default: return HT_CLASS_SYNC;
	}
}

/* Classes by string id, each name looked at once; 0 is not looked at yet, else class + 1. */
static uint8_t class_of(const struct ht_trace *t, uint8_t *classes, uint32_t name)
{
	if (name == HT_NO_STR)
		return class_by_name("");
	if (!classes[name])
		classes[name] = (uint8_t)(class_by_name(ht_str(t, name)) + 1);
	return (uint8_t)(classes[name] - 1);
}

enum ht_status ht_hta_work_collect(
        struct ht_run *run, const struct ht_frame *frame, struct ht_work_list *ret_work)
{
	const struct ht_trace *t = frame->trace;
	struct ht_row_columns columns = { 0 };
	HT_TRY(ht_hta_columns(run, frame, false, &columns));
	uint8_t *classes = ht_arena_alloc(run->scratch, t->n_string_offsets + 1);
	struct ht_work_list work = { .items = ht_arena_alloc(run->scratch,
		                             (frame->n_rows + 1) * sizeof *work.items) };
	if (!classes || !work.items)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < frame->n_rows; i++) {
		uint32_t row = frame->rows[i];
		if (columns.stream[row] == -1)
			continue;
		const struct ht_gpu *gpu = ht_gpu_of_row(t, row);
		int64_t start = ht_hta_ns(t->ts_ns[row]);
		work.items[work.n++] = (struct ht_work){
			.start = start,
			.end = start + t->dur_ns[row],
			.stream = columns.stream[row],
			.row = row,
			.launch =
			        columns.partner[row] > 0 ? (uint32_t)columns.partner[row] : HT_NONE,
			.device = gpu ? gpu->device : -1,
			.class_ = class_of(t, classes, t->name[row]),
		};
	}
	*ret_work = work;
	return HT_OK;
}

static enum ht_status list_annotated(struct ht_run *run, const struct ht_frame *frame,
        const struct ht_row_columns *columns, struct ht_work_list *ret_work)
{
	const struct ht_trace *t = frame->trace;
	struct ht_work_list work = { 0 };
	work.items = ht_arena_alloc(run->scratch, (frame->n_rows + 1) * sizeof *work.items);
	if (!work.items)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < frame->n_rows; k++) {
		uint32_t row = frame->rows[k];
		if (!ht_hta_is_gpu_row(t, columns, row))
			continue;
		work.items[work.n++] = (struct ht_work){
			.start = t->ts_ns[row],
			.end = ht_end_ns(t, row),
			.stream = columns->stream[row],
			.row = row,
			.launch = HT_NONE,
			.device = -1,
		};
	}
	*ret_work = work;
	return HT_OK;
}

/* The columns go before the work is looked at: they have a number per row of the trace. */
enum ht_status ht_hta_work_annotated(
        struct ht_run *run, const struct ht_frame *frame, struct ht_work_list *ret_work)
{
	struct ht_row_columns columns = { 0 };
	struct ht_arena *kept = run->scratch, own;
	ht_arena_init_like(&own, kept);
	run->scratch = &own;
	enum ht_status status = ht_hta_columns(run, frame, false, &columns);
	run->scratch = kept;
	if (status == HT_OK)
		status = list_annotated(run, frame, &columns, ret_work);
	ht_arena_done(&own);
	return status;
}
