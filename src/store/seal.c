/*
 * seal.c - the steps of sealing in order; see seal.h.
 */
#include "store/seal.h"

#include "base/thread.h"

static enum ht_status seal_stats(ht_ctx *ctx, struct ht_trace *t, const struct ht_tally *tally)
{
	size_t n = 0;
	for (int code = 0; code < HT_N_STATS; code++)
		n += tally->count[code] != 0;
	struct ht_stat *stat = HT_SECTION_ALLOC(ctx, t, stats, struct ht_stat, n);
	if (!stat)
		return ht_fail_nomem(ctx);
	for (int code = 0; code < HT_N_STATS; code++)
		if (tally->count[code])
			*stat++ = (struct ht_stat){ .code = (uint32_t)code,
				.count = tally->count[code],
				.first_offset = tally->first_offset[code] };
	return HT_OK;
}

/* Links that do not need each other, each with counters of its own. */
struct links {
	ht_ctx *ctx;
	struct ht_trace *t;
	const struct ht_kernel_rules *rules;
	struct ht_tally tallies[2];
};

static enum ht_status make_links(void *user, size_t i_task, int i_worker)
{
	struct links *l = user;
	struct ht_tally *tally = &l->tallies[i_task];
	(void)i_worker;
	if (i_task == 1)
		return ht_seal_flows(l->ctx, l->t, tally);
	HT_TRY(ht_seal_gpu(l->ctx, l->t, l->rules, tally));
	return ht_seal_steps(l->ctx, l->t, tally);
}

static enum ht_status seal_links(ht_ctx *ctx, struct ht_trace *t,
        const struct ht_kernel_rules *rules, struct ht_tally *tally)
{
	struct links l = { .ctx = ctx, .t = t, .rules = rules };
	HT_TRY(ht_parallel(ctx, HT_COUNT(l.tallies), make_links, &l));
	for (size_t i = 0; i < HT_COUNT(l.tallies); i++)
		for (int code = 0; code < HT_N_STATS; code++)
			ht_tally_add(tally, (enum ht_stat_code)code, l.tallies[i].count[code]);
	return HT_OK;
}

enum ht_status ht_seal(ht_ctx *ctx, struct ht_trace *t, const struct ht_kernel_rules *rules,
        struct ht_tally *tally)
{
	HT_TRY(ht_seal_header(ctx, t, tally));
	HT_TRY(ht_seal_kinds(ctx, t, tally));
	HT_TRY(ht_seal_tracks(ctx, t, tally));
	HT_TRY(seal_links(ctx, t, rules, tally));
	HT_TRY(ht_seal_checks(ctx, t, tally));
	return seal_stats(ctx, t, tally);
}
