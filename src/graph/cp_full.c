/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_full.c - which launch calls waited because the queue of their stream was full. See cp_model.h.
 *
 * A stream runs its work in the order of the launches, so the queue that a launch finds is the work before it that has not
 * begun. Where that length stays while the calls are long (queue_limit.h), a call waits until work before it begins, which is
 * when the one before that is over: its time is no work of the host. A launch of several pieces of work, as of a graph, is
 * not looked at.
 */
#include "graph/cp_model.h"

#include "model/device/queue_limit.h"
#include "store/columns.h"

#include <string.h>

struct full {
	struct ht_run *run;
	const struct ht_cp_model *m;
	uint32_t *works;             /* of all lanes, lane by lane in the order of their launches */
	uint32_t *first;             /* by lane */
	struct ht_queue_call *calls; /* of one lane */
	uint32_t *found;
	size_t n_found;
};

static bool is_single(const struct ht_cp_model *m, const struct ht_cp_work *w)
{
	const uint32_t *gpus;
	size_t n;
	if (w->launch == HT_NONE)
		return false;
	ht_launch_gpus(m->trace, w->launch, &gpus, &n);
	return n == 1;
}

/* Works by lane, in the order of their launches. */
static enum ht_status sort_by_lane(struct full *f)
{
	const struct ht_cp_model *m = f->m;
	uint32_t *at = ht_arena_alloc(f->run->scratch, (m->n_lanes + 2) * sizeof *at);
	if (!at)
		return ht_fail_nomem(f->run->ctx);
	for (size_t i = 0; i < m->n_by_launch; i++)
		f->first[m->works[m->by_launch[i]].lane + 1]++;
	for (size_t lane = 0; lane < m->n_lanes; lane++)
		f->first[lane + 1] += f->first[lane];
	memcpy(at, f->first, (m->n_lanes + 1) * sizeof *at);
	for (size_t i = 0; i < m->n_by_launch; i++)
		f->works[at[m->works[m->by_launch[i]].lane]++] = m->by_launch[i];
	return HT_OK;
}

/* Works of a lane begin in their order: those that have begun are a growing part of the list. */
static enum ht_status look_at_lane(struct full *f, uint32_t first, uint32_t end)
{
	const struct ht_cp_model *m = f->m;
	int64_t limit = 0;
	size_t n = end - first;
	uint32_t begun = first;
	for (uint32_t i = first; i < end; i++) {
		const struct ht_cp_work *w = &m->works[f->works[i]];
		int64_t now = w->launch == HT_NONE ? w->start_ns : w->launch_ns;
		while (begun < i && m->works[f->works[begun]].start_ns <= now)
			begun++;
		int64_t dur_ns = w->launch == HT_NONE ? 0 : m->trace->dur_ns[w->launch];
		f->calls[i - first] = (struct ht_queue_call){ i - begun + 1, dur_ns };
	}
	HT_TRY(ht_queue_limit_find(f->run, f->calls, n, &limit));
	for (size_t i = 0; limit && i < n; i++)
		if (f->calls[i].length >= limit && is_single(m, &m->works[f->works[first + i]]))
			f->found[f->n_found++] = f->works[first + i];
	return HT_OK;
}

enum ht_status ht_cp_full_find(
        struct ht_run *run, const struct ht_cp_model *m, uint32_t **ret_works, size_t *ret_n)
{
	struct full f = { .run = run, .m = m };
	f.works = ht_arena_alloc(run->scratch, (m->n_by_launch + 1) * sizeof *f.works);
	f.first = ht_arena_alloc(run->scratch, (m->n_lanes + 2) * sizeof *f.first);
	f.calls = ht_arena_alloc(run->scratch, (m->n_by_launch + 1) * sizeof *f.calls);
	f.found = ht_arena_alloc(run->scratch, (m->n_by_launch + 1) * sizeof *f.found);
	if (!f.works || !f.first || !f.calls || !f.found)
		return ht_fail_nomem(run->ctx);
	HT_TRY(sort_by_lane(&f));
	for (size_t lane = 0; lane < m->n_lanes; lane++)
		if (f.first[lane + 1] - f.first[lane] > HT_QUEUE_MIN_LIMIT)
			HT_TRY(look_at_lane(&f, f.first[lane], f.first[lane + 1]));
	*ret_works = f.found;
	*ret_n = f.n_found;
	return HT_OK;
}
