/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_shorter.c - see cp_shorter.h.
 */
#include "graph/cp_shorter.h"

#include "base/checked.h"

static enum ht_status make_arrays(struct ht_run *run, struct ht_cp_shorter *s)
{
	s->factors = ht_arena_alloc(run->scratch, (s->m.n_works + 1) * sizeof *s->factors);
	s->base_ns = ht_arena_alloc(run->scratch, (s->m.n_windows + 1) * sizeof *s->base_ns);
	if (!s->factors || !s->base_ns)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < s->m.n_works; i++)
		s->factors[i] = 1;
	HT_TRY(ht_cp_clock_make(run, &s->m, HT_CP_FORWARD, &s->clock));
	for (size_t i = 0; i < s->m.n_windows; i++)
		s->base_ns[i] = ht_cp_retime_works(&s->clock, &s->m.windows[i], s->factors);
	s->is_known = true;
	return HT_OK;
}

enum ht_status ht_cp_shorter_make(struct ht_run *run, struct ht_cp_shorter *ret)
{
	struct ht_cp_options options = ht_cp_options_default(run);
	*ret = (struct ht_cp_shorter){ 0 };
	options.annotation = NULL;
	HT_TRY(ht_cp_model_make(run, &options, &ret->m));
	return ret->m.n_windows && ret->m.has_host ? make_arrays(run, ret) : HT_OK;
}

void ht_cp_shorter_done(struct ht_cp_shorter *s)
{
	if (s->is_known)
		ht_cp_clock_done(&s->clock);
	if (s->m.trace)
		ht_cp_model_done(&s->m);
}

void ht_cp_shorter_set(struct ht_cp_shorter *s, uint32_t gpu, double factor)
{
	uint32_t work = s->m.work_of_gpu[gpu];
	if (work != HT_NONE)
		s->factors[work] = factor;
}

int64_t ht_cp_shorter_saved_ns(struct ht_cp_shorter *s)
{
	int64_t sum = 0;
	for (size_t i = 0; i < s->m.n_windows; i++) {
		int64_t ns = ht_cp_retime_works(&s->clock, &s->m.windows[i], s->factors);
		if (ns < s->base_ns[i])
			ht_sum(&sum, s->base_ns[i] - ns);
	}
	return sum;
}

size_t ht_cp_shorter_cost(const struct ht_cp_shorter *s)
{
	return s->clock.n_items + 1;
}
