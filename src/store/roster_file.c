/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster_file.c - rosters as bytes and back: what travels of ranks where their traces cannot. See set.h.
 */
#include "base/sealed_bytes.h"
#include "base/hash.h"
#include "store/check.h"
#include "store/import_stats.h"
#include "store/set.h"
#include "store/columns.h"

#include <string.h>

const struct ht_sealed_kind ht_roster_kind = { "holotrace ranks 2\n", "the description of ranks",
	"this is no description of ranks", NULL };

static uint64_t step_flags(const struct ht_step *step)
{
	return step->is_named | step->is_complete << 1 | step->is_main << 2;
}

static void put_rank(const struct ht_rank *rank, struct ht_bytes_out *out)
{
	ht_bytes_put_i64(out, rank->number);
	ht_bytes_put_i64(out, rank->given);
	ht_bytes_put_i64(out, rank->claimed);
	ht_bytes_put_i64(out, rank->named);
	ht_bytes_put_str(out, rank->path);
	ht_bytes_put_u64(out, rank->n_events);
	ht_bytes_put_u64(out, rank->json_bytes);
	ht_bytes_put_i64(out, rank->base_ns);
	ht_bytes_put_i64(out, rank->min_ts_ns);
	ht_bytes_put_i64(out, rank->max_end_ns);
	ht_bytes_put_i64(out, rank->job.world_size);
	ht_bytes_put_u64(out, rank->job.maker);
	ht_bytes_put_u64(out, rank->job.operators);
	ht_bytes_put_u64(out, rank->n_steps);
	for (size_t i = 0; i < rank->n_steps; i++) {
		ht_bytes_put_i64(out, rank->steps[i].number);
		ht_bytes_put_u64(out, rank->steps[i].row);
		ht_bytes_put_i64(out, rank->steps[i].ts_ns);
		ht_bytes_put_i64(out, rank->steps[i].end_ns);
		ht_bytes_put_i64(out, rank->steps[i].begin_ns);
		ht_bytes_put_i64(out, rank->steps[i].done_ns);
		ht_bytes_put_u64(out, rank->steps[i].n_work);
		ht_bytes_put_u64(out, rank->steps[i].n_missing);
		ht_bytes_put_u64(out, step_flags(&rank->steps[i]));
	}
	ht_bytes_put_u64(out, rank->n_stats);
	for (size_t i = 0; i < rank->n_stats; i++) {
		ht_bytes_put_u64(out, rank->stats[i].code);
		ht_bytes_put_u64(out, rank->stats[i].count);
		ht_bytes_put_i64(out, rank->stats[i].first_offset);
	}
}

void ht_rank_pack(const struct ht_rank *rank, struct ht_bytes_out *out)
{
	struct ht_rank nowhere = *rank;
	nowhere.path = "";
	put_rank(&nowhere, out);
	ht_bytes_put_u64(out, out->failed ? 0 : ht_hash(out->bytes.data, out->bytes.n));
}

static void put_lines(const char *const *lines, size_t n, struct ht_bytes_out *out)
{
	ht_bytes_put_u64(out, n);
	for (size_t i = 0; i < n; i++)
		ht_bytes_put_str(out, lines[i]);
}

void ht_roster_put(const struct ht_roster *roster, struct ht_bytes_out *out)
{
	ht_bytes_put_u64(out, roster->n);
	for (size_t i = 0; i < roster->n; i++)
		put_rank(&roster->ranks[i], out);
	ht_bytes_put_u64(out, roster->n_repeated);
	put_lines(roster->notes, roster->n_notes, out);
	put_lines(roster->missing, roster->n_missing, out);
}

static bool get_steps(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_rank *rank)
{
	rank->n_steps = ht_bytes_get_count(in, 9 * 8);
	struct ht_step *steps = ht_arena_alloc(arena, (rank->n_steps + 1) * sizeof *steps);
	for (size_t i = 0; steps && i < rank->n_steps; i++) {
		steps[i].number = ht_bytes_get_i64(in);
		steps[i].row = (uint32_t)ht_bytes_get_u64(in);
		steps[i].ts_ns = ht_bytes_get_i64(in);
		steps[i].end_ns = ht_bytes_get_i64(in);
		steps[i].begin_ns = ht_bytes_get_i64(in);
		steps[i].done_ns = ht_bytes_get_i64(in);
		steps[i].n_work = (uint32_t)ht_bytes_get_u64(in);
		steps[i].n_missing = (uint32_t)ht_bytes_get_u64(in);
		uint64_t flags = ht_bytes_get_u64(in);
		steps[i].is_named = flags & 1;
		steps[i].is_complete = flags >> 1 & 1;
		steps[i].is_main = flags >> 2 & 1;
		in->failed |= !ht_step_is_sound(&steps[i]);
	}
	rank->steps = steps;
	return steps != NULL;
}

static bool get_stats(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_rank *rank)
{
	rank->n_stats = ht_bytes_get_count(in, 3 * 8);
	struct ht_stat *stats = ht_arena_alloc(arena, (rank->n_stats + 1) * sizeof *stats);
	for (size_t i = 0; stats && i < rank->n_stats; i++) {
		uint64_t code = ht_bytes_get_u64(in);
		in->failed |= code >= HT_N_STATS;
		stats[i].code = (uint32_t)(in->failed ? 0 : code);
		stats[i].count = ht_bytes_get_u64(in);
		stats[i].first_offset = ht_bytes_get_i64(in);
	}
	rank->stats = stats;
	return stats != NULL;
}

static bool get_rank(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_rank *rank)
{
	rank->number = ht_bytes_get_i64(in);
	rank->given = ht_bytes_get_i64(in);
	rank->claimed = ht_bytes_get_i64(in);
	rank->named = ht_bytes_get_i64(in);
	rank->path = ht_bytes_get_str(in, arena);
	rank->n_events = ht_bytes_get_u64(in);
	rank->json_bytes = ht_bytes_get_u64(in);
	rank->base_ns = ht_bytes_get_i64(in);
	rank->min_ts_ns = ht_bytes_get_i64(in);
	rank->max_end_ns = ht_bytes_get_i64(in);
	rank->job.world_size = ht_bytes_get_i64(in);
	rank->job.maker = ht_bytes_get_u64(in);
	rank->job.operators = ht_bytes_get_u64(in);
	return get_steps(in, arena, rank) && get_stats(in, arena, rank) && !in->failed &&
	       rank->path;
}

bool ht_rank_unpack(const char *bytes, size_t n, const char *path, struct ht_arena *arena,
        struct ht_rank *ret_rank)
{
	const size_t n_hash = sizeof(uint64_t);
	if (n < n_hash)
		return false;
	struct ht_bytes_in in = { .at = (const void *)bytes, .n = n - n_hash };
	struct ht_bytes_in end = { .at = in.at + in.n, .n = n_hash };
	struct ht_rank rank;
	if (ht_bytes_get_u64(&end) != ht_hash(bytes, in.n) || !get_rank(&in, arena, &rank) || in.n)
		return false;
	rank.path = ht_arena_strndup(arena, path, strlen(path));
	if (!rank.path)
		return false;
	*ret_rank = rank;
	return true;
}

static bool get_lines(
        struct ht_bytes_in *in, struct ht_arena *arena, const char ***ret_lines, size_t *ret_n)
{
	size_t n = ht_bytes_get_count(in, 8);
	const char **lines = ht_arena_alloc(arena, (n + 1) * sizeof *lines);
	for (size_t i = 0; lines && i < n; i++) {
		lines[i] = ht_bytes_get_str(in, arena);
		in->failed |= !lines[i];
	}
	*ret_lines = lines;
	*ret_n = n;
	return lines && !in->failed;
}

bool ht_roster_get(struct ht_bytes_in *in, struct ht_arena *arena, struct ht_roster *ret_roster)
{
	struct ht_roster roster = { .n = ht_bytes_get_count(in, 15 * 8) };
	roster.ranks = ht_arena_alloc(arena, (roster.n + 1) * sizeof *roster.ranks);
	for (size_t i = 0; roster.ranks && i < roster.n; i++)
		if (!get_rank(in, arena, &roster.ranks[i]))
			return false;
	roster.n_repeated = ht_bytes_get_u64(in);
	if (!roster.ranks || !get_lines(in, arena, &roster.notes, &roster.n_notes) ||
	        !get_lines(in, arena, &roster.missing, &roster.n_missing))
		return false;
	*ret_roster = roster;
	return true;
}

enum ht_status ht_roster_write(
        ht_ctx *ctx, const struct ht_roster *roster, const struct ht_sink *sink)
{
	struct ht_bytes_out out = { .mem = ctx->mem };
	ht_sealed_begin(&out, &ht_roster_kind);
	ht_roster_put(roster, &out);
	ht_bytes_put_u64(&out, 0);
	return ht_sealed_write(ctx, &out, &ht_roster_kind, sink);
}
