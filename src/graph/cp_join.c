/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_join.c - what a call that waits for a whole device waits for: the last work of each of its streams. See cp_model.h.
 *
 * Of what was launched before the call began and was over when it ended; work from before the last such call is what that one waited
 * for. The call goes on after the work that ends last (cp_held.c); the others matter when that gets shorter, and they have no more
 * slack than they end before it. Where the process has several devices and nothing says which one is meant, it is that
 * of the work that ended last in the call; of a call that did not wait it is not known, and it joins nothing.
 */
#include "graph/cp_model.h"

#include "base/search.h"
#include "base/sort.h"
#include "store/columns.h"

#include <string.h>

struct joiner {
	struct ht_run *run;
	struct ht_cp_model *m;
	uint32_t *last;    /* by lane: its last work since the call before, HT_NONE: none */
	uint32_t *touched; /* lanes that have one */
	size_t n_touched, n_works;
};

static void launch(struct joiner *j, uint32_t work)
{
	uint32_t lane = j->m->works[work].lane;
	if (j->last[lane] == HT_NONE)
		j->touched[j->n_touched++] = lane;
	j->last[lane] = work;
}

static bool is_joined(const struct ht_cp_model *m, const struct ht_cp_join *join, uint32_t work)
{
	const struct ht_cp_work *w = &m->works[work];
	int64_t device = m->devices[m->device_of_lane[w->lane]];
	return w->end_ns <= ht_end_ns(m->trace, join->row) + m->options.tolerance_ns &&
	       (join->device < 0 || device == join->device);
}

static void collect(struct joiner *j, struct ht_cp_join *join)
{
	struct ht_cp_model *m = j->m;
	join->first = (uint32_t)j->n_works;
	for (size_t i = 0; i < j->n_touched; i++) {
		uint32_t work = j->last[j->touched[i]];
		if (is_joined(m, join, work))
			m->joined[j->n_works++] = work;
		j->last[j->touched[i]] = HT_NONE;
	}
	join->n = (uint32_t)j->n_works - join->first;
	j->n_touched = 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct ht_cp_join *a = left, *b = right;
	if (a->start_ns != b->start_ns)
		return ht_order_i64(a->start_ns, b->start_ns);
	return (a->row > b->row) - (a->row < b->row);
}

static enum ht_status make_room(struct joiner *j)
{
	struct ht_arena *scratch = j->run->scratch;
	const struct ht_cp_model *m = j->m;
	j->last = ht_arena_room(scratch, (m->n_lanes + 1) * sizeof *j->last);
	j->touched = ht_arena_room(scratch, (m->n_lanes + 1) * sizeof *j->touched);
	j->m->joined = ht_arena_room(scratch, (m->n_works + 1) * sizeof *m->joined);
	if (!j->last || !j->touched || !m->joined)
		return ht_fail_nomem(j->run->ctx);
	memset(j->last, 0xff, (m->n_lanes + 1) * sizeof *j->last);
	return HT_OK;
}

enum ht_status ht_cp_joins_make(struct ht_run *run, struct ht_cp_model *m)
{
	struct joiner j = { .run = run, .m = m };
	size_t launched = 0;
	HT_TRY(make_room(&j));
	ht_sort_items(run->ctx->mem, m->joins, m->n_joins, sizeof *m->joins, compare_calls);
	for (size_t i = 0; i < m->n_joins; i++) {
		for (; launched < m->n_by_launch; launched++) {
			uint32_t work = m->by_launch[launched];
			const struct ht_cp_work *w = &m->works[work];
			if ((w->launch == HT_NONE ? w->start_ns : w->launch_ns) >
			        m->joins[i].start_ns)
				break;
			launch(&j, work);
		}
		collect(&j, &m->joins[i]);
	}
	return HT_OK;
}

const struct ht_cp_join *ht_cp_join_of(const struct ht_cp_model *m, const struct ht_cp_held *held)
{
	const struct ht_cp_join key = { .row = held->row, .start_ns = held->start_ns };
	size_t low = HT_LOWER_BOUND(at, m->n_joins, compare_calls(&m->joins[at], &key) < 0);
	return low < m->n_joins && m->joins[low].row == held->row ? &m->joins[low] : NULL;
}
