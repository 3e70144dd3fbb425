/*
 * frame.c - see frame.h.
 *
 * Selection is by windows of time: the chosen steps, cut with the chosen annotations, give a short
 * sorted list of half-open windows. A host row is in when it starts inside one; GPU work is in when
 * its launch does. HTA's selection joins on correlation ids instead: hta_frame.c.
 */
#include "analysis/common/frame.h"
#include "analysis/common/hta_frame.h"
#include "analysis/common/interval.h"
#include "analysis/common/number_list.h"

#include <stdlib.h>
#include <string.h>

/* ---- windows ---- */

struct windows {
	struct ht_interval *list; /* merged */
	size_t n;
	bool all; /* no restriction; list is unused */
};

static bool inside(const struct windows *w, int64_t t)
{
	if (w->all)
		return true;
	size_t low = 0, high = w->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (w->list[middle].end <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->n && w->list[low].start <= t;
}

static enum ht_status intersect(struct ht_run *run, const struct windows *a,
        const struct windows *b, struct windows *ret_windows)
{
	if (a->all || b->all) {
		*ret_windows = a->all ? *b : *a;
		return HT_OK;
	}
	struct windows both = { 0 };
	both.list = ht_arena_alloc(run->scratch, (a->n + b->n + 1) * sizeof *both.list);
	if (!both.list)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
		struct ht_interval x = a->list[i], y = b->list[j];
		int64_t start = x.start > y.start ? x.start : y.start;
		int64_t end = x.end < y.end ? x.end : y.end;
		if (start < end)
			both.list[both.n++] = (struct ht_interval){ start, end };
		if (x.end < y.end)
			i++;
		else
			j++;
	}
	*ret_windows = both;
	return HT_OK;
}

/* ---- steps ---- */

/* Two different step numbers anywhere in the set. */
static bool set_has_two_steps(const struct ht_set *set)
{
	int64_t first = HT_NO_I64;
	for (size_t i = 0; i < set->n; i++) {
		const struct ht_trace *t = set->traces[i];
		for (size_t k = 0; k < t->n_steps; k++) {
			if (first == HT_NO_I64)
				first = t->steps[k].number;
			if (t->steps[k].number != first)
				return true;
		}
	}
	return false;
}

static enum ht_status step_windows(
        struct ht_run *run, const struct ht_trace *t, struct windows *ret_windows)
{
	struct windows w = { .list = ht_arena_alloc(
		                     run->scratch, (t->n_steps + 1) * sizeof *w.list) };
	if (!w.list)
		return ht_fail_nomem(run->ctx);
	if (run->step && !strcmp(run->step, "all")) {
		w.all = true;
	} else if (run->step) {
		if (!ht_number_list_is_valid(run->step))
			return ht_fail(run->ctx, HT_USAGE, NULL, -1,
			        "give numbers and ranges such as 3-5,7, or all",
			        "step '%s' is not a list of step numbers", run->step);
		for (size_t i = 0; i < t->n_steps; i++) {
			const struct ht_step *s = &t->steps[i];
			if (ht_number_list_has(run->step, s->number))
				w.list[w.n++] = (struct ht_interval){ s->ts_ns, s->end_ns };
		}
		w.n = ht_interval_merge(w.list, w.n);
	} else {
		int64_t cut = INT64_MIN;
		for (size_t i = 0; i < t->n_steps; i++) {
			if (t->steps[i].ts_ns > cut)
				cut = t->steps[i].ts_ns;
		}
		w.all = cut == INT64_MIN || !set_has_two_steps(run->set);
		w.list[w.n++] = (struct ht_interval){ INT64_MIN, cut };
	}
	*ret_windows = w;
	return HT_OK;
}

static enum ht_status annotation_windows(
        struct ht_run *run, const struct ht_trace *t, struct windows *ret_windows)
{
	struct windows w = { .all = !run->annotation };
	size_t n = 0;
	for (size_t row = 0; !w.all && row < t->n_kind; row++)
		n += t->kind[row] == HT_KIND_ANNOTATION;
	w.list = ht_arena_alloc(run->scratch, (n + 1) * sizeof *w.list);
	if (!w.list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; !w.all && row < t->n_kind; row++) {
		if (t->kind[row] == HT_KIND_ANNOTATION && ht_is_span(t, row) &&
		        strstr(ht_str(t, t->name[row]), run->annotation))
			w.list[w.n++] = (struct ht_interval){ t->ts_ns[row], ht_end_ns(t, row) };
	}
	w.n = ht_interval_merge(w.list, w.n);
	*ret_windows = w;
	return HT_OK;
}

/* ---- our selection ---- */

struct external {
	int64_t id;
	int64_t ts;
};

static int compare_external(const void *left, const void *right)
{
	const struct external *a = left, *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->ts > b->ts) - (a->ts < b->ts);
}

static enum ht_status collect_host_annotations(struct ht_run *run, const struct ht_trace *t,
        const int64_t *id, struct external **ret_host, size_t *ret_n)
{
	size_t n = 0;
	for (size_t row = 0; row < t->n_kind; row++)
		n += t->kind[row] == HT_KIND_ANNOTATION && id[row] != HT_NO_I64;
	struct external *host = ht_arena_alloc(run->scratch, (n + 1) * sizeof *host);
	if (!host)
		return ht_fail_nomem(run->ctx);
	n = 0;
	for (size_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] == HT_KIND_ANNOTATION && id[row] != HT_NO_I64)
			host[n++] = (struct external){ id[row], t->ts_ns[row] };
	}
	qsort(host, n, sizeof *host, compare_external);
	*ret_host = host;
	*ret_n = n;
	return HT_OK;
}

/* A GPU annotation carries the External id of the host annotation that it shows, and belongs where that
 * one starts: the GPU may be whole steps behind. */
static enum ht_status place_annotations(
        struct ht_run *run, const struct ht_trace *t, int64_t *origin)
{
	int64_t *id = NULL;
	struct external *host = NULL;
	size_t n = 0;
	HT_TRY(ht_arg_dense_i64(run->ctx, t, "External id", HT_NO_I64, run->scratch, &id));
	HT_TRY(collect_host_annotations(run, t, id, &host, &n));
	for (size_t row = 0; row < t->n_kind; row++) {
		if (t->kind[row] != HT_KIND_GPU_ANNOTATION || id[row] == HT_NO_I64)
			continue;
		size_t low = 0, high = n;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (host[middle].id < id[row])
				low = middle + 1;
			else
				high = middle;
		}
		if (low < n && host[low].id == id[row])
			origin[row] = host[low].ts;
	}
	return HT_OK;
}

/* When each row was asked for: host rows when they start, GPU work at its launch. A stream runs its work
 * in order, so work without a launch before the first that has one was launched before the recording
 * began and belongs to no step of it (HT_NO_I64); later such work only lost its launch. */
static enum ht_status place_rows(struct ht_run *run, const struct ht_trace *t, int64_t **ret_origin)
{
	int64_t *origin = ht_arena_alloc(run->scratch, (t->n_kind + 1) * sizeof *origin);
	int64_t *first_launched = ht_arena_alloc(run->scratch, (t->n_tracks + 1) * sizeof(int64_t));
	if (!origin || !first_launched)
		return ht_fail_nomem(run->ctx);
	for (size_t k = 0; k < t->n_tracks; k++)
		first_launched[k] = INT64_MIN;
	for (size_t i = 0; i < t->n_gpu; i++) {
		int64_t *first = &first_launched[t->track[t->gpu[i].row]],
		        ts = t->ts_ns[t->gpu[i].row];
		if (t->gpu[i].launch != HT_NONE && (*first == INT64_MIN || ts < *first))
			*first = ts;
	}
	for (size_t row = 0; row < t->n_kind; row++) {
		bool device =
		        ht_kind_is_gpu_work(t->kind[row]) || t->kind[row] == HT_KIND_GPU_ANNOTATION;
		bool before = device && t->ts_ns[row] < first_launched[t->track[row]];
		origin[row] = before ? HT_NO_I64 : t->ts_ns[row];
	}
	/* steps that exist on the GPU only are windows of the GPU's own time */
	for (size_t i = 0; i < t->n_gpu && (t->meta_->has_host_steps || run->annotation); i++) {
		if (t->gpu[i].launch != HT_NONE)
			origin[t->gpu[i].row] = t->ts_ns[t->gpu[i].launch];
		else if (run->annotation)
			origin[t->gpu[i].row] = HT_NO_I64;
	}
	HT_TRY(place_annotations(run, t, origin));
	*ret_origin = origin;
	return HT_OK;
}

/* A row of the table at all: an event with a duration and a category. */
static bool is_row(const struct ht_trace *t, uint32_t row)
{
	return ht_is_span(t, row) && t->categories[t->cat[row]].name != HT_NO_STR &&
	       t->kind[row] != HT_KIND_TRACE_SPAN;
}

static bool stands_with_gpu(const struct ht_trace *t, uint32_t row)
{
	return ht_kind_is_gpu_work(t->kind[row]) || t->kind[row] == HT_KIND_SYNC;
}

enum ht_status ht_frame_alloc_lists(
        struct ht_run *run, size_t n_rows, size_t n_gpu, uint32_t **ret_rows, uint32_t **ret_gpu)
{
	*ret_rows = ht_arena_alloc(run->scratch, (n_rows + 1) * sizeof(uint32_t));
	*ret_gpu = ht_arena_alloc(run->scratch, (n_gpu + 1) * sizeof(uint32_t));
	return *ret_rows && *ret_gpu ? HT_OK : ht_fail_nomem(run->ctx);
}

static enum ht_status make_own(struct ht_run *run, struct ht_frame *frame)
{
	const struct ht_trace *t = frame->trace;
	struct windows steps = { 0 }, annotations = { 0 }, both = { 0 };
	uint32_t *rows = NULL, *gpu = NULL;
	int64_t *origin = NULL;
	HT_TRY(step_windows(run, t, &steps));
	HT_TRY(annotation_windows(run, t, &annotations));
	HT_TRY(intersect(run, &steps, &annotations, &both));
	HT_TRY(ht_frame_alloc_lists(run, t->n_kind, t->n_gpu, &rows, &gpu));
	frame->cut = !both.all;
	if (frame->cut)
		HT_TRY(place_rows(run, t, &origin));

	/* One pass when nothing is cut (file order), else GPU rows, then the rest. */
	for (int pass = 0; pass < (frame->cut ? 2 : 1); pass++) {
		size_t k = 0;
		for (uint32_t row = 0; row < t->n_kind; row++) {
			while (k < t->n_gpu && t->gpu[k].row < row)
				k++;
			if (!is_row(t, row))
				continue;
			bool work = k < t->n_gpu && t->gpu[k].row == row;
			if (frame->cut &&
			        (origin[row] == HT_NO_I64 || !inside(&both, origin[row]) ||
			                (work || stands_with_gpu(t, row)) != (pass == 0)))
				continue;
			rows[frame->n_rows++] = row;
			if (work)
				gpu[frame->n_gpu++] = (uint32_t)k;
		}
	}
	frame->rows = rows;
	frame->gpu = gpu;
	return HT_OK;
}

enum ht_status ht_frame_make(struct ht_run *run, size_t i, struct ht_frame *ret_frame)
{
	struct ht_frame frame = {
		.trace = run->traces[i], .rank = run->ranks[i], .offset_ns = run->offset_ns[i]
	};
	bool listed = run->step && strcmp(run->step, "all") != 0;
	if (run->hta_rows && !run->annotation && !listed)
		HT_TRY(ht_hta_frame_fill(run, &frame));
	else
		HT_TRY(make_own(run, &frame));
	*ret_frame = frame;
	return HT_OK;
}

const char *ht_frame_steps_text(struct ht_run *run)
{
	bool all = run->step && !strcmp(run->step, "all");
	bool cut_last = !run->step && set_has_two_steps(run->set);
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < run->n; i++) {
		const struct ht_trace *t = run->traces[i];
		int64_t cut = INT64_MAX;
		for (size_t k = 0; k < t->n_steps && cut_last; k++) {
			cut = t->steps[k].ts_ns;
		}
		for (size_t k = 0; k < t->n_steps; k++) {
			const struct ht_step *s = &t->steps[k];
			if (s->ts_ns >= cut)
				continue;
			if (run->step && !all && !ht_number_list_has(run->step, s->number))
				continue;
			first = s->number < first ? s->number : first;
			last = s->number > last ? s->number : last;
		}
	}
	if (first > last)
		return "no steps";
	if (all)
		return "all steps";
	if (first == last)
		return ht_arena_printf(run->scratch, "step %lld", (long long)first);
	return ht_arena_printf(run->scratch, "steps %lld–%lld", (long long)first, (long long)last);
}
