/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c - the steps of sealing in order; see seal.h.
 */
#include "store/seal.h"

#include "base/bytes.h"
#include "base/thread.h"
#include "store/roster.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <string.h>

static enum ht_status seal_stats(ht_ctx *ctx, struct ht_trace *t, const struct ht_tally *tally)
{
	size_t n = 0;
	for (int code = 0; code < HT_N_STATS; code++)
		n += tally->count[code] != 0;
	struct ht_stat *stat = HT_SECTION_ALLOC(ctx, ht_more(t), stats, struct ht_stat, n);
	if (!stat)
		return ht_fail_nomem(ctx);
	for (int code = 0; code < HT_N_STATS; code++)
		if (tally->count[code])
			*stat++ = (struct ht_stat){ .code = (uint32_t)code,
				.count = tally->count[code],
				.first_offset = tally->first_offset[code] };
	return HT_OK;
}

/* What runs in parallel, the longest first: the tracks and what does not need them, what does, and at last. Each task
 * splits its work further where that is long. */
enum first { FIRST_TRACKS, FIRST_PYTHON, FIRST_FLOWS, FIRST_SERIES_CHECKS, N_FIRST };
enum link { LINK_GPU, LINK_FLOWS, LINK_STEPS, LINK_RECORD_CHECKS, LINK_ROW_CHECKS, N_LINKS };
enum last { LAST_GPU_CHECKS, LAST_LAUNCH_CHECKS, LAST_STEPS, N_LAST };
_Static_assert((int)N_LAST <= (int)N_LINKS && (int)N_FIRST <= (int)N_LINKS, "one tally per task");

struct sealing {
	ht_ctx *ctx;
	struct ht_trace *t;
	const struct ht_kernel_rules *rules;
	struct ht_flow_rows flow_rows;
	struct ht_tally tallies[N_LINKS]; /* each task counts for itself */
};

static enum ht_status make_first(void *user, size_t i_task, int i_worker)
{
	struct sealing *s = user;
	(void)i_worker;
	switch ((enum first)i_task) {
	case FIRST_TRACKS: return ht_seal_tracks(s->ctx, s->t, &s->tallies[i_task]);
	case FIRST_PYTHON: return ht_seal_python(s->ctx, s->t);
	case FIRST_FLOWS: return ht_flow_rows_list(s->ctx, s->t, &s->flow_rows);
	default: return ht_seal_series_checks(s->ctx, s->t, &s->tallies[i_task]);
	}
}

static enum ht_status make_link(void *user, size_t i_task, int i_worker)
{
	struct sealing *s = user;
	struct ht_tally *tally = &s->tallies[i_task];
	(void)i_worker;
	switch ((enum link)i_task) {
	case LINK_FLOWS: return ht_seal_flows(s->ctx, s->t, &s->flow_rows);
	case LINK_GPU: return ht_seal_gpu(s->ctx, s->t, s->rules, tally);
	case LINK_RECORD_CHECKS: return ht_seal_record_checks(s->ctx, s->t, tally);
	case LINK_STEPS: return ht_seal_steps(s->ctx, s->t);
	default: return ht_seal_row_checks(s->ctx, s->t, tally);
	}
}

static enum ht_status make_last(void *user, size_t i_task, int i_worker)
{
	struct sealing *s = user;
	struct ht_tally *tally = &s->tallies[i_task];
	(void)i_worker;
	switch ((enum last)i_task) {
	case LAST_GPU_CHECKS: return ht_seal_gpu_checks(s->ctx, s->t, tally);
	case LAST_LAUNCH_CHECKS: return ht_seal_launch_checks(s->ctx, s->t, tally);
	default: return ht_seal_gpu_steps(s->ctx, s->t);
	}
}

static enum ht_status seal_links(struct sealing *s, struct ht_tally *tally)
{
	HT_TRY(ht_parallel(s->ctx, N_FIRST, make_first, s));
	HT_TRY(ht_parallel(s->ctx, N_LINKS, make_link, s));
	HT_TRY(ht_seal_flow_rows(s->ctx, s->t, &s->flow_rows));
	if (s->t->meta_->dialect == HT_DIALECT_ASCEND)
		ht_seal_ascend_ops(s->t);
	HT_TRY(ht_parallel(s->ctx, N_LAST, make_last, s));
	for (size_t i = 0; i < N_LINKS; i++)
		for (int code = 0; code < HT_N_STATS; code++)
			ht_tally_add(tally, (enum ht_stat_code)code, s->tallies[i].count[code]);
	return HT_OK;
}

/* The last of all, as it sums the others up. */
static enum ht_status seal_description(ht_ctx *ctx, struct ht_trace *t)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	struct ht_rank rank = { 0 };
	struct ht_arena arena;
	ht_arena_init(&arena, ctx->mem);
	enum ht_status status = ht_rank_describe(t, "", &arena, &rank);
	if (status == HT_OK)
		ht_rank_pack(&rank, &out);
	char *bytes = status == HT_OK && !out.failed
	                      ? HT_SECTION_ALLOC(ctx, t, description, char, out.bytes.n)
	                      : NULL;
	if (bytes)
		memcpy(bytes, out.bytes.data, out.bytes.n);
	ht_vec_free(ctx->mem, &out.bytes, 1);
	ht_arena_done(&arena);
	return bytes ? HT_OK : ht_fail_nomem(ctx);
}

enum ht_status ht_seal(ht_ctx *ctx, struct ht_trace *t, const struct ht_kernel_rules *rules,
        struct ht_tally *tally)
{
	HT_TRY(ht_seal_header(ctx, t, tally));
	HT_TRY(ht_seal_threads(ctx, t));
	HT_TRY(ht_seal_kinds(ctx, t, tally));
	struct sealing s = { .ctx = ctx, .t = t, .rules = rules };
	enum ht_status status = seal_links(&s, tally);
	ht_flow_rows_done(&s.flow_rows);
	HT_TRY(status);
	HT_TRY(seal_stats(ctx, t, tally));
	return seal_description(ctx, t);
}
