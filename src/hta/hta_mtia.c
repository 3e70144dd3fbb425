/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_mtia.c - see hta_mtia.h.
 *
 * HTA takes the rows from a set, whose order is none; here device rows come first, then host rows, each by row
 * number, as for GPUs.
 */
#include "hta/hta_mtia.h"
#include "hta/hta_facts.h"
#include "base/search.h"
#include "base/sort.h"
#include "hta/hta_row.h"
#include "model/rows/work_names.h"
#include "store/args.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <stdlib.h>
#include <string.h>

#define SUBMIT "runFunction - job_prep_and_submit_for_execution"

struct step {
	int64_t ts_ns, end_ns;
	int64_t last_end_ns; /* of this step and all before it */
	int64_t number;
};

/* Steps of the host by start. */
struct steps {
	struct step *list;
	size_t n;
};

enum side { NOWHERE, HOST, DEVICE };

static bool has_mtia_backend(const struct ht_trace *t)
{
	for (size_t i = 0; i < t->more->n_headers; i++) {
		const struct ht_header *header = &t->more->headers[i];
		if (!strcmp(ht_str(t, header->key), "distributedInfo") &&
		        strstr(ht_str(t, header->value), "mtia:hccl"))
			return true;
	}
	return false;
}

bool ht_hta_is_mtia(const struct ht_trace *trace)
{
	if (has_mtia_backend(trace))
		return true;
	return ht_str_find(trace, SUBMIT) != HT_NO_STR &&
	       ht_str_find(trace, "cudaLaunchKernel") == HT_NO_STR &&
	       ht_str_find(trace, "hipLaunchKernel") == HT_NO_STR;
}

static bool is_host_row(const struct ht_trace *t, uint32_t row)
{
	uint8_t kind = t->kind[row];
	return (kind == HT_KIND_CPU_OP || kind == HT_KIND_ANNOTATION || kind == HT_KIND_RUNTIME) &&
	       ht_hta_is_row(t, row);
}

static bool is_copy(const struct ht_trace *t, uint32_t row)
{
	return t->name[row] != HT_NO_STR && ht_name_is_memory(ht_str(t, t->name[row])) &&
	       ht_hta_is_row(t, row);
}

static bool is_step(const struct ht_trace *t, uint32_t row)
{
	return t->kind[row] == HT_KIND_ANNOTATION && t->name[row] != HT_NO_STR &&
	       ht_hta_is_step_name(ht_str(t, t->name[row])) && ht_hta_is_row(t, row);
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static enum ht_status find_steps(
        struct ht_run *run, const struct ht_trace *t, struct steps *ret_steps)
{
	struct steps s = { 0 };
	for (uint32_t row = 0; row < t->n_kind; row++)
		s.n += is_step(t, row);
	s.list = ht_arena_alloc(run->scratch, (s.n + 1) * sizeof *s.list);
	if (!s.list)
		return ht_fail_nomem(run->ctx);
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!is_step(t, row))
			continue;
		const char *sign = strchr(ht_str(t, t->name[row]), '#');
		s.list[n++] = (struct step){ .ts_ns = t->ts_ns[row],
			.end_ns = ht_end_ns(t, row),
			.number = strtoll(sign + 1, NULL, 10) };
	}
	qsort(s.list, s.n, sizeof *s.list, compare_steps);
	for (size_t i = 0; i < s.n; i++) {
		int64_t before = i ? s.list[i - 1].last_end_ns : INT64_MIN;
		int64_t end = s.list[i].end_ns;
		s.list[i].last_end_ns = end > before ? end : before;
	}
	*ret_steps = s;
	return HT_OK;
}

/* The last step that has begun at a time and not ended, or that ends at it; NULL for none. */
static const struct step *step_at(const struct steps *s, int64_t time_ns)
{
	size_t n = HT_LOWER_BOUND(i, s->n, s->list[i].ts_ns <= time_ns);
	while (n && s->list[n - 1].last_end_ns >= time_ns) {
		if (s->list[n - 1].end_ns >= time_ns)
			return &s->list[n - 1];
		n--;
	}
	return NULL;
}

/* Host rows of the window, and the correlations that they have, sorted. */
static enum ht_status mark_host(struct ht_run *run, const struct ht_trace *t, const struct steps *s,
        const int64_t *correlation, uint8_t *side, int64_t **ret_launched, size_t *ret_n)
{
	int64_t *launched = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *launched);
	size_t n = 0;
	if (!launched)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < t->n_kind && s->n; row++) {
		if (!is_host_row(t, row) || t->ts_ns[row] < s->list[0].ts_ns ||
		        ht_end_ns(t, row) > s->list[s->n - 1].last_end_ns)
			continue;
		side[row] = HOST;
		if (correlation[row] != -1)
			launched[n++] = correlation[row];
	}
	qsort(launched, n, sizeof *launched, ht_compare_i64);
	*ret_launched = launched;
	*ret_n = n;
	return HT_OK;
}

static enum ht_status mark_rows(struct ht_run *run, const struct ht_trace *t, uint8_t *side)
{
	struct steps steps = { 0 };
	int64_t *correlation = NULL, *launched = NULL;
	size_t n_launched = 0;
	HT_TRY(find_steps(run, t, &steps));
	HT_TRY(ht_arg_dense_i64(run->ctx, t, "correlation", -1, run->scratch, &correlation));
	HT_TRY(mark_host(run, t, &steps, correlation, side, &launched, &n_launched));
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (side[row] == HOST)
			continue;
		size_t at = ht_lower_bound_i64(launched, n_launched, correlation[row]);
		bool was_launched = ht_kind_is_gpu_work(t->kind[row]) && ht_hta_is_row(t, row) &&
		                    at < n_launched && launched[at] == correlation[row];
		if (was_launched || (is_copy(t, row) && step_at(&steps, t->ts_ns[row])))
			side[row] = DEVICE;
	}
	return HT_OK;
}

enum ht_status ht_hta_mtia_fill(struct ht_run *run, struct ht_frame *frame)
{
	const struct ht_trace *t = frame->trace;
	uint32_t *rows, *gpu;
	uint8_t *side = ht_arena_alloc(run->scratch, t->n_kind + 1);
	if (!side)
		return ht_fail_nomem(run->ctx);
	HT_TRY(mark_rows(run, t, side));
	HT_TRY(ht_frame_alloc_lists(run, t->n_kind, t->n_gpu, &rows, &gpu));
	for (enum side wanted = DEVICE; wanted != NOWHERE; wanted--) {
		for (uint32_t row = 0; row < t->n_kind; row++)
			if (side[row] == wanted)
				rows[frame->n_rows++] = row;
	}
	for (size_t k = 0; k < t->n_gpu; k++) {
		if (side[t->gpu[k].row] == DEVICE)
			gpu[frame->n_gpu++] = (uint32_t)k;
	}
	frame->rows = rows;
	frame->gpu = gpu;
	frame->cut = true;
	return HT_OK;
}

enum ht_status ht_hta_mtia_mend(
        struct ht_run *run, const struct ht_trace *trace, int64_t *stream, int64_t *iteration)
{
	struct steps steps = { 0 };
	HT_TRY(find_steps(run, trace, &steps));
	for (uint32_t row = 0; row < trace->n_kind; row++) {
		const struct ht_track *track = &trace->tracks[trace->track[row]];
		const struct step *step =
		        is_copy(trace, row) ? step_at(&steps, trace->ts_ns[row]) : NULL;
		if (!step)
			continue;
		if (stream[row] == -1 && track->tid_type == HT_ID_INT)
			stream[row] = track->tid;
		if (iteration && iteration[row] == -1)
			iteration[row] = step->number;
	}
	return HT_OK;
}
