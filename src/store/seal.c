/*
 * seal.c - the steps of sealing in order; see seal.h.
 */
#include "store/seal.h"

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
			*stat++ = (struct ht_stat){ .code = (uint32_t)code, .count = tally->count[code],
				.first_offset = tally->first_offset[code] };
	return HT_OK;
}

enum ht_status ht_seal(ht_ctx *ctx, struct ht_trace *t, const struct ht_kernel_rules *rules,
	struct ht_tally *tally)
{
	HT_TRY(ht_seal_header(ctx, t, tally));
	HT_TRY(ht_seal_kinds(ctx, t, tally));
	HT_TRY(ht_seal_tracks(ctx, t, tally));
	HT_TRY(ht_seal_gpu(ctx, t, rules, tally));
	HT_TRY(ht_seal_steps(ctx, t, tally));
	HT_TRY(ht_seal_flows(ctx, t, tally));
	HT_TRY(ht_seal_checks(ctx, t, tally));
	return seal_stats(ctx, t, tally);
}
