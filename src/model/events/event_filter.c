/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_filter.c - see event_filter.h.
 */
#include "model/events/event_filter.h"

#include "model/rows/frame.h"
#include "model/rows/inside.h"
#include "base/list.h"
#include "store/columns.h"

#include <string.h>

struct filter {
	struct ht_run *run;
	const struct ht_trace *t;
	uint8_t *keep;
	uint32_t n;
	struct ht_autograd autograd;
};

static void keep_only(struct filter *f, const uint8_t *also)
{
	for (uint32_t row = 0; row < f->n; row++)
		f->keep[row] &= also[row];
}

static uint32_t anchor(const struct ht_trace *t, uint32_t row)
{
	const struct ht_gpu *gpu = ht_kind_is_gpu_work(t->kind[row]) ? ht_gpu_of_row(t, row) : NULL;
	return gpu ? gpu->launch : row;
}

static enum ht_status index_param(struct filter *f, const char *name, uint32_t *ret_row)
{
	int64_t index = ht_run_i64(f->run, name);
	if (index < 0 || index >= f->n)
		return ht_fail(f->run->ctx, HT_USAGE, NULL, -1, NULL,
		        "--%s %lld: the trace has events 0 to %u", name, (long long)index,
		        f->n ? f->n - 1 : 0);
	*ret_row = (uint32_t)index;
	return HT_OK;
}

/* What rows are asked to be inside of: one row, or all of a name. */
struct target {
	uint32_t row, name; /* HT_NONE, HT_NO_STR: none */
};

static bool is_target(const struct ht_trace *t, uint32_t row, const void *user)
{
	const struct target *target = user;
	return row == target->row || (target->name != HT_NO_STR && t->name[row] == target->name);
}

/* ret_inside[row]: is the host row the target or inside it? */
static enum ht_status find_inside(
        struct filter *f, const struct target *target, uint8_t **ret_inside)
{
	uint32_t *nearest = NULL;
	struct ht_inside annotations;
	uint8_t *inside = ht_arena_alloc(f->run->scratch, (size_t)f->n + 1);
	if (!inside)
		return ht_fail_nomem(f->run->ctx);
	HT_TRY(ht_inside_nearest(f->run, f->t, &f->autograd, is_target, target, &nearest));
	HT_TRY(ht_inside_make(
	        f->run, f->t, &f->autograd, HT_KIND_ANNOTATION, is_target, target, &annotations));
	for (uint32_t row = 0; row < f->n; row++)
		inside[row] = is_target(f->t, row, target) || nearest[row] != HT_NONE ||
		              ht_inside_has(&annotations, row);
	*ret_inside = inside;
	return HT_OK;
}

/* The rows that a row is inside of: its way up the tree, and the annotations it starts in. */
static enum ht_status filter_ancestors(struct filter *f)
{
	const struct ht_trace *t = f->t;
	uint32_t of;
	if (!ht_run_str(f->run, "ancestors-of"))
		return HT_OK;
	HT_TRY(index_param(f, "ancestors-of", &of));
	uint8_t *also = ht_arena_alloc(f->run->scratch, (size_t)f->n + 1);
	int64_t *ends = NULL;
	if (!also)
		return ht_fail_nomem(f->run->ctx);
	HT_TRY(ht_tree_ends(f->run->ctx, t, f->run->scratch, &ends));
	uint32_t at = anchor(t, of);
	for (uint32_t up = at == of ? f->autograd.parent[of] : at; up != HT_NONE;
	        up = f->autograd.parent[up])
		also[up] = 1;
	uint32_t caller = at == HT_NONE ? HT_NONE : ht_autograd_caller(&f->autograd, at);
	for (uint32_t row = 0; at != HT_NONE && row < f->n; row++)
		if (t->kind[row] == HT_KIND_ANNOTATION && ht_is_span(t, row) && row != of &&
		        (t->track[row] == t->track[at] || t->track[row] == caller) &&
		        t->ts_ns[row] <= t->ts_ns[at] && t->ts_ns[at] < ends[row])
			also[row] = 1;
	keep_only(f, also);
	return HT_OK;
}

static enum ht_status filter_descendants(struct filter *f)
{
	struct target target = { HT_NONE, HT_NO_STR };
	uint8_t *inside = NULL;
	if (!ht_run_str(f->run, "descendants-of"))
		return HT_OK;
	HT_TRY(index_param(f, "descendants-of", &target.row));
	HT_TRY(find_inside(f, &target, &inside));
	for (uint32_t row = 0; row < f->n; row++) {
		uint32_t at = anchor(f->t, row);
		f->keep[row] &= row != target.row && at != HT_NONE && inside[at];
	}
	return HT_OK;
}

static enum ht_status filter_kernels(struct filter *f)
{
	const char *text = ht_run_str(f->run, "kernels-under");
	struct target target = { HT_NONE, HT_NO_STR };
	uint8_t *inside = NULL;
	int64_t index;
	if (!text)
		return HT_OK;
	if (!ht_parse_i64(text, &index))
		target.name = ht_str_find(f->t, text);
	else if (index >= 0 && index < f->n)
		target.row = (uint32_t)index;
	HT_TRY(find_inside(f, &target, &inside));
	uint8_t *also = ht_arena_alloc(f->run->scratch, (size_t)f->n + 1);
	if (!also)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < f->t->n_gpu; i++) {
		const struct ht_gpu *gpu = &f->t->gpu[i];
		also[gpu->row] = gpu->launch != HT_NONE && inside[gpu->launch];
	}
	keep_only(f, also);
	return HT_OK;
}

static enum ht_status filter_leaves(struct filter *f)
{
	if (!ht_run_bool(f->run, "leaves"))
		return HT_OK;
	uint8_t *leaf = ht_arena_alloc(f->run->scratch, (size_t)f->n + 1);
	if (!leaf)
		return ht_fail_nomem(f->run->ctx);
	for (uint32_t row = 0; row < f->n; row++)
		leaf[row] = ht_is_span(f->t, row);
	for (uint32_t row = 0; row < f->n; row++)
		if (f->t->parent[row] != HT_NONE)
			leaf[f->t->parent[row]] = 0;
	keep_only(f, leaf);
	return HT_OK;
}

static void filter_time(struct filter *f)
{
	bool from = ht_run_str(f->run, "from"), to = ht_run_str(f->run, "to");
	int64_t from_ns = ht_run_duration_ns(f->run, "from"),
	        to_ns = ht_run_duration_ns(f->run, "to");
	for (uint32_t row = 0; (from || to) && row < f->n; row++)
		if ((f->t->flags[row] & HT_EV_NO_TS) || (from && ht_end_ns(f->t, row) < from_ns) ||
		        (to && f->t->ts_ns[row] > to_ns))
			f->keep[row] = 0;
}

/* Steps and annotations mean what they mean for every analysis: the rows of the frame. */
static enum ht_status filter_frame(struct filter *f)
{
	struct ht_frame frame;
	if (!f->run->step && !f->run->annotation)
		return HT_OK;
	HT_TRY(ht_frame_make(f->run, &frame));
	uint8_t *also = ht_arena_alloc(f->run->scratch, (size_t)f->n + 1);
	if (!also)
		return ht_fail_nomem(f->run->ctx);
	for (size_t k = 0; k < frame.n_rows; k++)
		also[frame.rows[k]] = 1;
	keep_only(f, also);
	return HT_OK;
}

enum ht_status ht_event_filter_make(struct ht_run *run, const uint8_t **ret_keep)
{
	static const char *const names[] = { "ancestors-of", "descendants-of", "kernels-under",
		"from", "to" };
	struct filter f = { .run = run, .t = run->trace, .n = ht_n_events(run->trace) };
	bool any = ht_run_bool(run, "leaves") || run->annotation ||
	           (run->step && strcmp(run->step, "all"));
	for (size_t k = 0; k < HT_COUNT(names); k++)
		any |= ht_run_str(run, names[k]) != NULL;
	*ret_keep = NULL;
	if (!any)
		return HT_OK;
	f.keep = ht_arena_alloc(run->scratch, (size_t)f.n + 1);
	if (!f.keep)
		return ht_fail_nomem(run->ctx);
	memset(f.keep, 1, f.n);
	HT_TRY(ht_autograd_make(run, f.t, &f.autograd));
	HT_TRY(filter_frame(&f));
	HT_TRY(filter_ancestors(&f));
	HT_TRY(filter_descendants(&f));
	HT_TRY(filter_kernels(&f));
	HT_TRY(filter_leaves(&f));
	filter_time(&f);
	*ret_keep = f.keep;
	return HT_OK;
}
