/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_iterations.c - see engine_iterations.h.
 */
#include "model/serving/engine_iterations.h"
#include "base/checked.h"
#include "store/columns.h"

#include "base/search.h"
#include "model/rows/around.h"
#include "model/serving/iteration_rules.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	const struct ht_trace *t;
	const struct ht_iteration_rules *rules; /* NULL: none */
	uint8_t *known;          /* by string id: 0 not looked at yet, 1 of no grammar, 2 of one */
	struct ht_around around; /* iterations, from the first one on */
};

/* Names repeat, and rows ask for what is around them again and again. */
static bool is_iteration(const void *finder, uint32_t row)
{
	const struct finder *f = finder;
	const struct ht_trace *t = f->t;
	struct ht_iteration_name name;
	uint32_t id = t->name[row];
	if (t->kind[row] != HT_KIND_ANNOTATION || !ht_is_span(t, row) || id == HT_NO_STR)
		return false;
	if (!f->known[id])
		f->known[id] = ht_iteration_read(f->rules, ht_str(t, id), &name) ? 2 : 1;
	return f->known[id] == 2;
}

static int by_row(const void *left, const void *right)
{
	const struct ht_iteration *a = left, *b = right;
	return (a->row > b->row) - (a->row < b->row);
}

static int by_start(const void *left, const void *right)
{
	const struct ht_iteration *a = left, *b = right;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return by_row(left, right);
}

static void take(int64_t *to, int64_t from)
{
	*to = *to < 0 ? from : *to;
}

/* What only the inner annotation says. */
static void fill_in(struct ht_iteration_name *name, const struct ht_iteration_name *inner)
{
	if (name->phase == HT_PHASE_OTHER)
		name->phase = inner->phase;
	take(&name->requests, inner->requests);
	take(&name->tokens, inner->tokens);
	take(&name->padded, inner->padded);
	take(&name->kv_tokens, inner->kv_tokens);
}

static struct ht_iteration *find_row(struct ht_iteration *list, size_t n, uint32_t row)
{
	size_t at = HT_LOWER_BOUND(i, n, list[i].row < row);
	return at < n && list[at].row == row ? &list[at] : NULL;
}

/* By row. */
static enum ht_status collect(
        struct ht_run *run, struct finder *f, struct ht_iteration **ret_list, size_t *ret_n)
{
	const struct ht_trace *t = run->trace;
	size_t n_room = ht_n_of_kind(t, HT_KIND_ANNOTATION), n = 0;
	struct ht_iteration *list = ht_arena_alloc(run->scratch, (n_room + 1) * sizeof *list);
	struct ht_iteration_name name;
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!is_iteration(f, row))
			continue;
		if (!f->around.found)
			HT_TRY(ht_around_init(run, t, is_iteration, f, &f->around));
		if (ht_around_outermost(&f->around, row) == row &&
		        ht_iteration_read(f->rules, ht_str(t, t->name[row]), &name))
			list[n++] = (struct ht_iteration){ .row = row,
				.name = name,
				.start_ns = t->ts_ns[row],
				.first_gpu_ns = INT64_MAX,
				.last_gpu_ns = INT64_MIN };
	}
	for (uint32_t row = 0; n && row < ht_n_events(t); row++) {
		uint32_t outer = is_iteration(f, row) ? ht_around_outermost(&f->around, row) : row;
		struct ht_iteration *of = outer != row ? find_row(list, n, outer) : NULL;
		if (of && ht_iteration_read(f->rules, ht_str(t, t->name[row]), &name))
			fill_in(&of->name, &name);
	}
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

static void add_gpu(struct finder *f, struct ht_iteration *list, size_t n)
{
	const struct ht_trace *t = f->t;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t launch = t->gpu[i].launch, row = t->gpu[i].row;
		uint32_t around =
		        launch == HT_NONE ? HT_NONE : ht_around_outermost(&f->around, launch);
		struct ht_iteration *of = around == HT_NONE ? NULL : find_row(list, n, around);
		if (!of)
			continue;
		ht_sum(&of->gpu_ns, t->dur_ns[row]);
		if (t->ts_ns[row] < of->first_gpu_ns)
			of->first_gpu_ns = t->ts_ns[row];
		if (ht_end_ns(t, row) > of->last_gpu_ns)
			of->last_gpu_ns = ht_end_ns(t, row);
	}
}

/* Until the next one of the thread begins, or its own work ends. */
static enum ht_status add_wall(struct ht_run *run, struct ht_iteration *list, size_t n)
{
	const struct ht_trace *t = run->trace;
	size_t *next = ht_arena_alloc(
	        run->scratch, (t->n_tracks + 1) * sizeof *next); /* by track: 1 + the next one */
	if (!next)
		return ht_fail_nomem(run->ctx);
	for (size_t i = n; i-- > 0;) {
		struct ht_iteration *it = &list[i];
		size_t *after = &next[t->track[it->row]];
		int64_t end = ht_end_ns(t, it->row);
		end = it->last_gpu_ns > end ? it->last_gpu_ns : end;
		it->wall_ns = (*after ? list[*after - 1].start_ns : end) - it->start_ns;
		*after = i + 1;
	}
	return HT_OK;
}

static void add_gaps(struct ht_iteration *list, size_t n)
{
	int64_t busy_until = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		struct ht_iteration *it = &list[i];
		if (it->first_gpu_ns == INT64_MAX)
			continue;
		if (busy_until != INT64_MIN && it->first_gpu_ns > busy_until)
			it->gap_ns = it->first_gpu_ns - busy_until;
		busy_until = it->last_gpu_ns > busy_until ? it->last_gpu_ns : busy_until;
	}
}

enum ht_status ht_iterations_find(struct ht_run *run, struct ht_iteration **ret_list, size_t *ret_n)
{
	struct finder f = { .t = run->trace,
		.known = ht_arena_alloc(run->scratch, run->trace->n_string_offsets + 1) };
	if (!f.known)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_iteration_rules_attached(run, &f.rules));
	HT_TRY(collect(run, &f, ret_list, ret_n));
	if (!*ret_n)
		return HT_OK;
	add_gpu(&f, *ret_list, *ret_n);
	qsort(*ret_list, *ret_n, sizeof **ret_list, by_start);
	add_gaps(*ret_list, *ret_n);
	return add_wall(run, *ret_list, *ret_n);
}
