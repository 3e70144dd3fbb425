/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_file.c - bundles as bytes: written for another process or machine, checked when read.
 *
 *   frame | question | sides: roster, steps, HTA's facts | parts | calls
 *
 * Parts are as the analyses of one version make them, so the frame lets no other read them.
 */
#include "registry/bundle.h"

#include "base/mem.h"
#include "registry/part_bytes.h"
#include "registry/run_steps.h"
#include "base/sealed_bytes.h"
#include "hta/hta_facts.h"

#include <string.h>

static const struct ht_sealed_kind kind = { "holotrace bundle 4\n", "the part",
	"this is no part of an analysis", "holotrace part makes them" };

/* ---- writing ---- */

static void put_question(const struct ht_question *q, struct ht_bytes_out *out)
{
	ht_bytes_put_str(out, q->name);
	ht_bytes_put_u64(out, q->n_args);
	for (size_t i = 0; i < q->n_args; i++) {
		ht_bytes_put_str(out, q->args[i].name);
		ht_bytes_put_str(out, q->args[i].value);
	}
	ht_bytes_put_str(out, q->view.columns);
	ht_bytes_put_str(out, q->view.where);
	ht_bytes_put_str(out, q->view.sort);
	ht_bytes_put_u64(out, q->view.top);
	ht_bytes_put_u64(out, q->view.offset);
}

static void put_side(const struct ht_bundle *bundle, size_t side, struct ht_bytes_out *out)
{
	const struct ht_set_facts *hta = bundle->facts_of[side];
	ht_roster_put(&bundle->rosters[side], out);
	ht_bytes_put_str(out, bundle->steps[side]);
	ht_bytes_put_u64(out, bundle->one_step[side]);
	ht_bytes_put_u64(out, hta != NULL);
	if (!hta)
		return;
	ht_bytes_put_u64(out, hta->two_steps);
	ht_bytes_put_i64(out, hta->first_ts_ns);
	ht_bytes_put_i64(out, hta->first_timed_ns);
	ht_bytes_put_i64(out, hta->zero_ns);
}

static void put_part(const struct ht_part *part, struct ht_bytes_out *out)
{
	ht_bytes_put_u64(out, part->side);
	ht_bytes_put_i64(out, part->rank);
	ht_part_pack(part, HT_ALL_FACTS, out);
}

static void put_parts(const struct ht_parts *parts, struct ht_bytes_out *out)
{
	ht_bytes_put_u64(out, parts->n);
	for (size_t i = 0; i < parts->n; i++)
		put_part(&parts->list[i], out);
}

static void pack(const struct ht_bundle *bundle, struct ht_bytes_out *out)
{
	ht_sealed_begin(out, &kind);
	put_question(&bundle->question, out);
	ht_bytes_put_u64(out, bundle->joined_hash);
	ht_bytes_put_u64(out, bundle->n_sets);
	for (size_t side = 0; side < bundle->n_sets; side++)
		put_side(bundle, side, out);
	put_parts(&bundle->parts, out);
	put_parts(&bundle->calls, out);
}

/* ---- reading ---- */

static bool get_question(
        struct ht_bytes_in *in, struct ht_arena *arena, struct ht_question *ret_question)
{
	struct ht_question q = { .name = ht_bytes_get_str(in, arena),
		.n_args = ht_bytes_get_count(in, 2 * 8) };
	struct ht_arg *args = ht_arena_alloc(arena, (q.n_args + 1) * sizeof *args);
	for (size_t i = 0; args && i < q.n_args; i++) {
		args[i].name = ht_bytes_get_str(in, arena);
		args[i].value = ht_bytes_get_str(in, arena);
		in->failed |= !args[i].name || !args[i].value;
	}
	q.args = args;
	q.view.columns = ht_bytes_get_str(in, arena);
	q.view.where = ht_bytes_get_str(in, arena);
	q.view.sort = ht_bytes_get_str(in, arena);
	q.view.top = ht_bytes_get_u64(in);
	q.view.offset = ht_bytes_get_u64(in);
	*ret_question = q;
	return !in->failed && q.args && q.name;
}

static bool is_ascending(const struct ht_roster *roster)
{
	for (size_t i = 1; i < roster->n; i++)
		if (roster->ranks[i].number <= roster->ranks[i - 1].number)
			return false;
	return true;
}

static bool get_side(struct ht_bytes_in *in, struct ht_bundle *bundle, size_t side)
{
	struct ht_arena *arena = &bundle->arena;
	struct ht_roster *roster = &bundle->rosters[side];
	if (!ht_roster_get(in, arena, roster) || !is_ascending(roster) ||
	        ht_roster_complete(roster, arena) != HT_OK)
		return false;
	bundle->steps[side] = ht_bytes_get_str(in, arena);
	bundle->one_step[side] = ht_bytes_get_u64(in);
	if (!ht_bytes_get_u64(in))
		return !in->failed;
	struct ht_set_facts *hta = ht_arena_alloc(arena, sizeof *hta);
	if (!hta)
		return false;
	hta->two_steps = ht_bytes_get_u64(in);
	hta->first_ts_ns = ht_bytes_get_i64(in);
	hta->first_timed_ns = ht_bytes_get_i64(in);
	hta->zero_ns = ht_bytes_get_i64(in);
	bundle->facts_of[side] = hta;
	return !in->failed;
}

static enum ht_status get_part(ht_ctx *ctx, struct ht_bytes_in *in, const struct ht_bundle *bundle,
        const struct ht_analysis *analysis, struct ht_part *part)
{
	part->side = (size_t)ht_bytes_get_u64(in);
	part->rank = ht_bytes_get_i64(in);
	bool joined = bundle->joined_hash != 0;
	if (in->failed || part->side >= bundle->n_sets)
		return HT_FORMAT;
	if (!joined && ht_roster_find(&bundle->rosters[part->side], part->rank) == SIZE_MAX)
		return HT_FORMAT;
	HT_TRY(ht_part_unpack(ctx, in, HT_ALL_FACTS, analysis, part));
	return !analysis->is_sound || analysis->is_sound(part) ? HT_OK : HT_FORMAT;
}

static bool follows(const struct ht_part *a, const struct ht_part *b)
{
	return b->side > a->side || (b->side == a->side && b->rank > a->rank);
}

static enum ht_status get_parts(ht_ctx *ctx, struct ht_bytes_in *in, const struct ht_bundle *bundle,
        const struct ht_analysis *analysis, struct ht_parts *parts)
{
	size_t n = ht_bytes_get_count(in, (2 + HT_PART_TABLES) * 8);
	parts->mem = bundle->mem;
	if (!n)
		return in->failed ? HT_FORMAT : HT_OK;
	parts->list = ht_mem_zalloc(parts->mem, n * sizeof *parts->list);
	if (!parts->list)
		return HT_NOMEM;
	parts->n = n;
	for (size_t i = 0; i < n; i++) {
		HT_TRY(get_part(ctx, in, bundle, analysis, &parts->list[i]));
		if (i && !follows(&parts->list[i - 1], &parts->list[i]))
			return HT_FORMAT;
	}
	return HT_OK;
}

static enum ht_status unpack(ht_ctx *ctx, struct ht_bytes_in *in, struct ht_bundle *bundle)
{
	if (!get_question(in, &bundle->arena, &bundle->question) ||
	        !ht_analysis_named(bundle->question.name))
		return HT_FORMAT;
	bundle->joined_hash = ht_bytes_get_u64(in);
	bundle->n_sets = (size_t)ht_bytes_get_u64(in);
	if (!ht_analysis_takes(ht_analysis_find(bundle->question.name), bundle->n_sets))
		return HT_FORMAT;
	for (size_t side = 0; side < bundle->n_sets; side++)
		if (!get_side(in, bundle, side))
			return HT_FORMAT;
	HT_TRY(get_parts(
	        ctx, in, bundle, ht_analysis_named(bundle->question.name), &bundle->parts));
	HT_TRY(get_parts(ctx, in, bundle, &ht_calls_analysis, &bundle->calls));
	return in->failed || in->n ? HT_FORMAT : HT_OK;
}

/* ---- public ---- */

enum ht_status ht_bundle_write(ht_ctx *ctx, const ht_bundle *bundle, const struct ht_sink *sink)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	ht_error_clear(ctx);
	pack(bundle, &out);
	return ht_sealed_write(ctx, &out, &kind, sink);
}

enum ht_status ht_bundle_read(
        ht_ctx *ctx, const void *bytes, size_t n_bytes, ht_bundle **ret_bundle)
{
	struct ht_bytes_in in = { bytes, n_bytes, false };
	ht_error_clear(ctx);
	struct ht_bundle *bundle = ht_mem_zalloc(ctx->mem, sizeof *bundle);
	if (!bundle)
		return ht_fail_nomem(ctx);
	bundle->mem = ht_mem_retain(ctx->mem);
	ht_arena_init(&bundle->arena, bundle->mem);
	enum ht_status status = ht_sealed_open(ctx, &in, &bundle->arena, &kind);
	if (status == HT_OK) {
		status = unpack(ctx, &in, bundle);
		if (status == HT_FORMAT)
			status = ht_fail(ctx, HT_FORMAT, NULL, -1, "make it again",
			        "the part does not hold what it should");
		if (status == HT_NOMEM)
			status = ht_fail_nomem(ctx);
	}
	if (status != HT_OK) {
		ht_bundle_free(bundle);
		return status;
	}
	*ret_bundle = bundle;
	return HT_OK;
}
