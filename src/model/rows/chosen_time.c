/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen_time.c - see chosen_time.h.
 */
#include "model/rows/chosen_time.h"

#include "base/search.h"
#include "store/columns.h"

/* Steps that nothing but their work names have no host time: theirs is from their first work to their last. */
static size_t add_named_steps(const struct ht_frame *frame, struct ht_interval *list)
{
	const struct ht_trace *t = frame->trace;
	uint32_t last = HT_NONE;
	size_t n = 0;
	for (size_t k = 0; k < frame->n_rows; k++) {
		uint32_t step = ht_step_of(t, frame->rows[k]);
		if (step == HT_NONE || step == last || !t->steps[step].is_named)
			continue;
		list[n++] = (struct ht_interval){ t->steps[step].ts_ns, t->steps[step].end_ns };
		last = step;
	}
	return n;
}

enum ht_status ht_chosen_time_make(struct ht_run *run, struct ht_chosen_time *ret_time)
{
	*ret_time = (struct ht_chosen_time){ 0 };
	if (!run->step && !run->annotation)
		return HT_OK;
	struct ht_frame frame;
	HT_TRY(ht_frame_make(run, &frame));
	struct ht_interval *list = ht_arena_alloc(run->scratch, (frame.n_rows + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (size_t k = 0; k < frame.n_rows; k++) {
		uint32_t row = frame.rows[k];
		uint8_t kind = frame.trace->kind[row];
		if (kind == HT_KIND_ANNOTATION || kind == HT_KIND_CPU_OP)
			list[n++] = (struct ht_interval){ frame.trace->ts_ns[row],
				ht_end_ns(frame.trace, row) };
	}
	if (!n && !run->annotation)
		n = add_named_steps(&frame, list);
	ret_time->n = ht_interval_merge(run->ctx->mem, list, n);
	ret_time->list = list;
	return HT_OK;
}

bool ht_chosen_has(const struct ht_chosen_time *time, int64_t t)
{
	size_t low = HT_LOWER_BOUND(at, time->n, time->list[at].end < t);
	return !time->list || (low < time->n && time->list[low].start <= t);
}
