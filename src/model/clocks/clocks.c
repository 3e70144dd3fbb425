/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.c - see clocks.h.
 */
#include "model/clocks/clocks.h"
#include "model/clocks/clock_place.h"

#include <inttypes.h>
#include <stdio.h>

struct fitting {
	ht_ctx *ctx;
	struct ht_arena *arena, *scratch;
	const struct ht_roster *roster;
	struct ht_clocks *clocks;
	struct ht_ties ties;
	struct ht_places places;
};

/* ---- corrections ---- */

static void correct_ties(struct ht_ties *ties, const struct ht_time_move *of)
{
	for (size_t i = 0; i < ties->first[ties->n]; i++) {
		struct ht_tied_call *call = &ties->calls[i];
		call->start_ns = ht_time_moved(&of[call->i_rank], call->start_ns);
		call->end_ns = ht_time_moved(&of[call->i_rank], call->end_ns);
	}
}

/* What placing left broken, by the smallest moves that keep all ties. */
static enum ht_status mend(struct fitting *f)
{
	bool nomem = false;
	int64_t *move_ns = ht_arena_alloc(f->scratch, (f->roster->n + 1) * sizeof *move_ns);
	if (!move_ns)
		return ht_fail_nomem(f->ctx);
	if (!ht_ties_mend(f->scratch, &f->ties, HT_CLOCK_TOLERANCE_NS, move_ns, &nomem))
		return nomem ? ht_fail_nomem(f->ctx) : HT_OK;
	struct ht_time_move *moves = ht_arena_alloc(f->scratch, (f->roster->n + 1) * sizeof *moves);
	if (!moves)
		return ht_fail_nomem(f->ctx);
	for (size_t i = 0; i < f->roster->n; i++) {
		/* the reference stays, and the others move against it */
		moves[i].shift_ns = move_ns[i];
		if (f->places.component[i] == f->places.component[f->places.reference])
			moves[i].shift_ns =
			        ht_sub_sat(moves[i].shift_ns, move_ns[f->places.reference]);
		ht_sum(&f->places.of[i].shift_ns, moves[i].shift_ns);
	}
	correct_ties(&f->ties, moves);
	return HT_OK;
}

static enum ht_status find_corrections(struct fitting *f)
{
	struct ht_clocks *clocks = f->clocks;
	HT_TRY(ht_clock_place(f->ctx, f->scratch, &f->ties, clocks->from_files,
	        HT_CLOCK_TOLERANCE_NS, &f->places));
	correct_ties(&f->ties, f->places.of);
	if (ht_ties_broken(&f->ties, HT_CLOCK_TOLERANCE_NS, &clocks->violation_ns))
		HT_TRY(mend(f));
	clocks->n_violated = ht_ties_broken(&f->ties, HT_CLOCK_TOLERANCE_NS, &clocks->violation_ns);
	clocks->reference = f->places.reference;
	return HT_OK;
}

/* ---- what is known of each clock ---- */

static void count_ties(struct fitting *f)
{
	const struct ht_matches *matches = &f->clocks->matches;
	for (size_t i = 0; i < matches->n; i++) {
		const struct ht_collective *c = &matches->collectives[i];
		bool pair = c->kind == HT_COMM_SEND_RECV;
		if (c->mismatched)
			f->clocks->of[c->calls[0].i_rank].n_mismatched++;
		for (size_t k = 0; c->n > 1 && k < c->n; k++) {
			struct ht_clock *clock = &f->clocks->of[c->calls[k].i_rank];
			clock->n_pairs += pair && c->calls[k].tie;
			clock->n_collectives += !pair && c->calls[k].tie;
		}
	}
}

static enum ht_status find_uncertainty(struct fitting *f)
{
	struct ht_clocks *clocks = f->clocks;
	size_t n = clocks->n;
	int64_t *forward_ns = ht_arena_alloc(f->scratch, (n + 1) * sizeof *forward_ns);
	int64_t *back_ns = ht_arena_alloc(f->scratch, (n + 1) * sizeof *back_ns);
	if (!forward_ns || !back_ns)
		return ht_fail_nomem(f->ctx);
	for (size_t t = 0; t < f->ties.n; t++)
		if (ht_ties_excess_ns(&f->ties, t) > HT_CLOCK_TOLERANCE_NS)
			for (size_t i = f->ties.first[t]; i < f->ties.first[t + 1]; i++)
				clocks->of[f->ties.calls[i].i_rank].n_violated++;
	/* what no clock explains says nothing about clocks */
	ht_ties_drop_broken(&f->ties, HT_CLOCK_TOLERANCE_NS);
	ht_ties_slack(&f->ties, clocks->reference, HT_CLOCK_TOLERANCE_NS, forward_ns, back_ns);
	for (size_t i = 0; i < n; i++) {
		int64_t ns = forward_ns[i] > back_ns[i] ? forward_ns[i] : back_ns[i];
		clocks->of[i].uncertainty_ns = ns == INT64_MAX ? HT_NO_I64 : ns;
	}
	return HT_OK;
}

static void describe(struct fitting *f)
{
	struct ht_clocks *clocks = f->clocks;
	size_t reference = f->places.component[clocks->reference];
	clocks->aligned = true;
	for (size_t i = 0; i < clocks->n; i++) {
		const struct ht_time_move *c = &f->places.of[i];
		struct ht_clock *clock = &clocks->of[i];
		clock->moved_ns = c->shift_ns;
		clock->drift_ppt = c->drift_ppt;
		clock->component = f->places.component[i];
		clock->is_tied = clock->component == reference;
		clocks->moved |= clock->moved_ns || clock->drift_ppt;
		clocks->aligned &= clock->is_tied || clocks->from_files ||
		                   f->roster->ranks[i].min_ts_ns == HT_NO_I64;
	}
}

/* ---- set time ---- */

/* Own time to set time, whose 0 is the earliest event of all ranks. */
static void make_moves(struct fitting *f)
{
	int64_t zero_ns = INT64_MAX;
	for (size_t i = 0; i < f->clocks->n; i++) {
		const struct ht_rank *rank = &f->roster->ranks[i];
		struct ht_time_move *move = &f->clocks->moves[i];
		*move = f->places.of[i];
		move->shift_ns = ht_add_sat(move->shift_ns, rank->offset_ns);
		move->pivot_ns = ht_sub_sat(move->pivot_ns, rank->offset_ns);
		if (rank->min_ts_ns != HT_NO_I64 && ht_time_moved(move, rank->min_ts_ns) < zero_ns)
			zero_ns = ht_time_moved(move, rank->min_ts_ns);
	}
	for (size_t i = 0; zero_ns != INT64_MAX && i < f->clocks->n; i++)
		f->clocks->moves[i].shift_ns = ht_sub_sat(f->clocks->moves[i].shift_ns, zero_ns);
}

static int64_t to_set_time(const struct fitting *f, size_t rank, int64_t ns)
{
	if (ns == HT_NO_I64)
		return ns;
	return ht_time_moved(
	        &f->clocks->moves[rank], ht_sub_sat(ns, f->roster->ranks[rank].offset_ns));
}

/* Until the last had arrived. Where ranks do not all need each other, one that came after this one had left was
 * not waited for. */
static void find_waits(struct ht_collective *c)
{
	bool all = ht_comm_kind_synchronises(c->kind);
	int64_t last_ns = INT64_MIN;
	for (size_t i = 0; i < c->n; i++)
		last_ns = c->calls[i].start_ns > last_ns ? c->calls[i].start_ns : last_ns;
	for (size_t i = 0; c->complete && i < c->n; i++) {
		struct ht_comm_call *call = &c->calls[i];
		int64_t until_ns = last_ns < call->end_ns ? last_ns : call->end_ns;
		if (!all && last_ns > call->end_ns) {
			until_ns = call->start_ns;
			for (size_t k = 0; k < c->n; k++)
				if (c->calls[k].start_ns > until_ns &&
				        c->calls[k].start_ns <= call->end_ns)
					until_ns = c->calls[k].start_ns;
		}
		call->wait_ns = ht_sub_sat(until_ns, call->start_ns);
	}
}

static void move_calls(struct fitting *f)
{
	struct ht_matches *matches = &f->clocks->matches;
	for (size_t i = 0; i < matches->n; i++) {
		struct ht_collective *c = &matches->collectives[i];
		for (size_t k = 0; k < c->n; k++) {
			struct ht_comm_call *call = &c->calls[k];
			int64_t dur_ns = ht_sub_sat(call->end_ns, call->start_ns);
			call->start_ns = to_set_time(f, call->i_rank, call->start_ns);
			/* durations stay as they were measured */
			call->end_ns = ht_add_sat(call->start_ns, dur_ns);
			call->launch_ns = to_set_time(f, call->i_rank, call->launch_ns);
		}
		find_waits(c);
	}
}

/* ---- all of it ---- */

static enum ht_status fit(struct fitting *f, const struct ht_parts *calls)
{
	struct ht_clocks *clocks = f->clocks;
	HT_TRY(ht_collectives_match(
	        f->ctx, f->arena, f->scratch, f->roster, calls, &clocks->matches));
	if (!ht_ties_collect(f->scratch, &clocks->matches, clocks->n, &f->ties))
		return ht_fail_nomem(f->ctx);
	count_ties(f);
	HT_TRY(find_corrections(f));
	describe(f);
	HT_TRY(find_uncertainty(f));
	make_moves(f);
	move_calls(f);
	return ht_matches_order(f->ctx, f->arena, clocks->n, &clocks->matches);
}

enum ht_status ht_clocks_fit(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *calls,
        const struct ht_clocks **ret_clocks)
{
	struct ht_clocks *clocks = ht_arena_alloc(arena, sizeof *clocks);
	struct fitting f = {
		.ctx = ctx, .arena = arena, .scratch = scratch, .roster = roster, .clocks = clocks
	};
	if (!clocks)
		return ht_fail_nomem(ctx);
	*clocks = (struct ht_clocks){ .n = roster->n, .from_files = roster->aligned };
	clocks->of = ht_arena_alloc(arena, (roster->n + 1) * sizeof *clocks->of);
	clocks->moves = ht_arena_alloc(arena, (roster->n + 1) * sizeof *clocks->moves);
	if (!clocks->of || !clocks->moves)
		return ht_fail_nomem(ctx);
	HT_TRY(fit(&f, calls));
	*ret_clocks = clocks;
	return HT_OK;
}

int64_t ht_clocks_between_ns(const struct ht_clocks *clocks, size_t a, size_t b)
{
	int64_t a_ns = clocks->of[a].uncertainty_ns, b_ns = clocks->of[b].uncertainty_ns;
	return a == b                                   ? 0
	       : a_ns == HT_NO_I64 || b_ns == HT_NO_I64 ? HT_NO_I64
	                                                : ht_add_sat(a_ns, b_ns);
}

/* ---- notes ---- */

/* Ranks whose clocks moved, "0, 3": the first ones when there are many. */
static void list_moved(const struct ht_clocks *clocks, const struct ht_roster *roster, char *out,
        size_t n_bytes, size_t *ret_n)
{
	size_t at = 0, n = 0;
	for (size_t i = 0; i < clocks->n; i++) {
		if (!clocks->of[i].moved_ns && !clocks->of[i].drift_ppt)
			continue;
		if (at + 32 < n_bytes)
			at += (size_t)snprintf(out + at, n_bytes - at, "%s%" PRId64, n ? ", " : "",
			        roster->ranks[i].number);
		else if (out[at - 1] != '.')
			at += (size_t)snprintf(out + at, n_bytes - at, ", ...");
		n++;
	}
	*ret_n = n;
}

static enum ht_status note_moved(
        const struct ht_clocks *clocks, const struct ht_roster *roster, ht_table *table)
{
	char ranks[160] = "";
	size_t n = 0;
	list_moved(clocks, roster, ranks, sizeof ranks, &n);
	if (!clocks->from_files)
		return clocks->aligned
		               ? ht_table_add_note(table,
		                         "the files have no common clock: ranks are set by the ends of "
		                         "their collectives")
		               : ht_table_add_note(table,
		                         "the files have no common clock, and not all ranks share "
		                         "collectives: their times cannot be compared");
	if (!n)
		return HT_OK;
	return ht_table_add_note(table,
	        "the clock%s of rank%s %s %s moved: ranks would leave collectives before the last had "
	        "arrived (info says by how much)",
	        n > 1 ? "s" : "", n > 1 ? "s" : "", ranks, n > 1 ? "were" : "was");
}

enum ht_status ht_clocks_note_odd(const struct ht_run *run, ht_table *table)
{
	const struct ht_clocks *clocks = run->clocks[0];
	if (!clocks || !clocks->matches.n_calls)
		return HT_OK;
	if (clocks->matches.n_mismatches)
		HT_TRY(ht_table_add_note(table, "ranks do not do the same: %s%s",
		        clocks->matches.first_mismatch,
		        clocks->matches.n_mismatches > 1 ? ", and more" : ""));
	if (clocks->n_violated)
		HT_TRY(ht_table_add_note(table,
		        "no clocks explain %zu collectives (by up to %.3f ms): see health",
		        clocks->n_violated, (double)clocks->violation_ns / 1e6));
	return note_moved(clocks, run->rosters[0], table);
}

enum ht_status ht_clocks_note(const struct ht_run *run, ht_table *table)
{
	const struct ht_clocks *clocks = run->clocks[0];
	int64_t worst_ns = 0;
	if (!clocks || !clocks->matches.n_calls)
		return HT_OK;
	for (size_t i = 0; i < clocks->n; i++)
		if (clocks->of[i].uncertainty_ns > worst_ns)
			worst_ns = clocks->of[i].uncertainty_ns;
	if (worst_ns)
		HT_TRY(ht_table_add_note(table, "clock uncertainty ±%.3g ms, from collectives",
		        (double)worst_ns / 1e6));
	return ht_clocks_note_odd(run, table);
}
