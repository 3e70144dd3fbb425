/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lags.c - see event_lags.h.
 */
#include "job/event_lags.h"

#include "base/sort.h"
#include "model/numbers/stats.h"
#include "store/columns.h"

#include <string.h>

/* After the work before it: those that were launched long before that was over, and waited for nothing else. */
static bool is_queued(const struct ht_event_lags *lags, const struct ht_cp_work *w)
{
	if (w->before == HT_NONE || w->launch == HT_NONE || w->inferred)
		return false;
	int64_t end_ns = lags->m->works[w->before].end_ns;
	return end_ns <= w->start_ns && w->floor == w->before &&
	       w->launch_ns + lags->m->options.tolerance_ns + lags->m->least_launch_ns < end_ns;
}

static void find_latencies(struct ht_event_lags *lags)
{
	const struct ht_cp_model *m = lags->m;
	for (uint32_t i = 0; i < m->n_works; i++) {
		const struct ht_cp_work *w = &m->works[i];
		uint32_t name = m->trace->name[w->row];
		if (w->launch == HT_NONE || name == HT_NO_STR || w->by != HT_CP_BY_LAUNCH ||
		        w->floor_ns > w->launch_ns)
			continue;
		int64_t latency = w->start_ns - w->launch_ns;
		if (lags->latency_ns[name] == HT_NO_I64 || latency < lags->latency_ns[name])
			lags->latency_ns[name] = latency;
	}
}

struct pause {
	int64_t ns;
	uint32_t name;
};

static int compare_pauses(const void *left, const void *right)
{
	const struct pause *a = left, *b = right;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return ht_order_i64(a->ns, b->ns);
}

static enum ht_status find_pauses(struct ht_run *run, struct ht_event_lags *lags)
{
	const struct ht_cp_model *m = lags->m;
	struct pause *pauses = ht_arena_alloc(run->scratch, (m->n_works + 1) * sizeof *pauses);
	int64_t *all = ht_arena_alloc(run->scratch, (m->n_works + 1) * sizeof *all);
	size_t n = 0;
	if (!pauses || !all)
		return ht_fail_nomem(run->ctx);
	for (uint32_t i = 0; i < m->n_works; i++) {
		const struct ht_cp_work *w = &m->works[i];
		if (!is_queued(lags, w) || m->trace->name[w->row] == HT_NO_STR)
			continue;
		all[n] = w->start_ns - m->works[w->before].end_ns;
		pauses[n] = (struct pause){ all[n], m->trace->name[w->row] };
		n++;
	}
	lags->usual_pause_ns = n ? ht_middle_i64(all, n) : 0;
	ht_sort_items(run->ctx->mem, pauses, n, sizeof *pauses, compare_pauses);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && pauses[end].name == pauses[i].name;)
			end++;
		lags->pause_ns[pauses[i].name] = pauses[(i + end) / 2].ns;
	}
	return HT_OK;
}

enum ht_status ht_event_lags_make(
        struct ht_run *run, const struct ht_cp_model *m, struct ht_event_lags *ret)
{
	size_t n = m->trace->n_string_offsets;
	*ret = (struct ht_event_lags){ .m = m };
	ret->latency_ns = ht_arena_alloc(run->scratch, (n + 1) * sizeof(int64_t));
	ret->pause_ns = ht_arena_alloc(run->scratch, (n + 1) * sizeof(int64_t));
	if (!ret->latency_ns || !ret->pause_ns)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < n; i++)
		ret->latency_ns[i] = ret->pause_ns[i] = HT_NO_I64;
	find_latencies(ret);
	return find_pauses(run, ret);
}

int64_t ht_event_latency_ns(const struct ht_event_lags *lags, uint32_t work)
{
	const struct ht_cp_work *w = &lags->m->works[work];
	uint32_t name = lags->m->trace->name[w->row];
	int64_t known = name == HT_NO_STR ? HT_NO_I64 : lags->latency_ns[name];
	int64_t latency = known == HT_NO_I64 ? lags->m->least_launch_ns : known;
	int64_t recorded = w->start_ns - w->launch_ns;
	return latency < recorded ? latency : recorded;
}

int64_t ht_event_pause_ns(const struct ht_event_lags *lags, uint32_t work)
{
	uint32_t name = lags->m->trace->name[lags->m->works[work].row];
	int64_t known = name == HT_NO_STR ? HT_NO_I64 : lags->pause_ns[name];
	return known == HT_NO_I64 ? lags->usual_pause_ns : known;
}
