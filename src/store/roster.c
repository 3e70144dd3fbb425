/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.c - what is known of ranks without their columns; see roster.h.
 */
#include "store/roster.h"

#include "base/checked.h"
#include "base/natural.h"
#include "base/search.h"
#include "store/import_stats.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Recordings of one job do not begin so long after each other. */
#define MAX_APART_NS ((int64_t)60 * 1000000000)

static const void *copy(struct ht_arena *arena, const void *list, size_t n_bytes)
{
	void *copied = ht_arena_alloc(arena, n_bytes + 1);
	if (copied && n_bytes)
		memcpy(copied, list, n_bytes);
	return copied;
}

enum ht_status ht_rank_describe(const struct ht_trace *t, const char *path, struct ht_arena *arena,
        struct ht_rank *ret_rank)
{
	struct ht_rank rank = { .number = ret_rank->number,
		.given = HT_NO_I64,
		.claimed = t->meta->rank,
		.named = HT_NO_I64,
		.path = ht_arena_strndup(arena, path, strlen(path)),
		.n_events = ht_n_events(t),
		.json_bytes = t->meta->json_bytes,
		.base_ns = t->meta->base_ns,
		.min_ts_ns = t->meta->min_ts_ns,
		.max_end_ns = t->meta->max_end_ns,
		.steps = copy(arena, t->steps, t->n_steps * sizeof *t->steps),
		.n_steps = t->n_steps,
		.stats = copy(arena, t->more->stats, t->more->n_stats * sizeof *t->more->stats),
		.n_stats = t->more->n_stats };
	if (!rank.path || !rank.steps || !rank.stats)
		return HT_NOMEM;
	ht_job_describe(t, &rank.job);
	*ret_rank = rank;
	return HT_OK;
}

bool ht_rank_copy(struct ht_arena *arena, const struct ht_rank *rank, struct ht_rank *ret_rank)
{
	struct ht_rank own = *rank;
	own.path = ht_arena_strndup(arena, rank->path, strlen(rank->path));
	own.steps = copy(arena, rank->steps, rank->n_steps * sizeof *rank->steps);
	own.stats = copy(arena, rank->stats, rank->n_stats * sizeof *rank->stats);
	if (!own.path || !own.steps || !own.stats)
		return false;
	*ret_rank = own;
	return true;
}

/* A trace without base time whose times are near today's unix time in ns. */
static bool is_absolute(const struct ht_rank *rank)
{
	const int64_t year_2001_ns = 1000000000000000000;
	return rank->base_ns == HT_NO_I64 && rank->min_ts_ns > year_2001_ns;
}

/* The clocks' zero and whether all times fit 64 bits when they are counted from there. */
static bool find_zero(const struct ht_roster *roster, int64_t *ret_zero)
{
	int64_t zero = INT64_MAX, last = INT64_MIN, span;
	bool fits = true;
	for (size_t i = 0; i < roster->n; i++) {
		const struct ht_rank *rank = &roster->ranks[i];
		int64_t base = rank->base_ns == HT_NO_I64 ? 0 : rank->base_ns, first = 0, end = 0;
		if (rank->min_ts_ns == HT_NO_I64)
			continue;
		/* a part can lie about its rank: one that ends before it starts has no time */
		fits &= !__builtin_add_overflow(base, rank->min_ts_ns, &first) &&
		        !__builtin_add_overflow(base, rank->max_end_ns, &end) && first <= end;
		zero = first < zero ? first : zero;
		last = end > last ? end : last;
	}
	for (size_t i = 0; i < roster->n; i++) {
		int64_t base = roster->ranks[i].base_ns, offset;
		fits &= !__builtin_sub_overflow(base == HT_NO_I64 ? 0 : base, zero, &offset);
	}
	*ret_zero = zero;
	return fits && (zero > last || !__builtin_sub_overflow(last, zero, &span));
}

static void align(struct ht_roster *roster)
{
	size_t n_base = 0, n_absolute = 0;
	int64_t zero;
	bool fits = find_zero(roster, &zero);
	for (size_t i = 0; i < roster->n; i++) {
		const struct ht_rank *rank = &roster->ranks[i];
		n_base += rank->base_ns != HT_NO_I64;
		n_absolute += is_absolute(rank);
	}
	bool all_known = n_base + n_absolute == roster->n && fits;
	roster->aligned = roster->n <= 1 || all_known;
	roster->zero_unix_ns = roster->n && all_known && zero != INT64_MAX ? zero : HT_NO_I64;
	for (size_t i = 0; i < roster->n; i++) {
		struct ht_rank *rank = &roster->ranks[i];
		int64_t base = rank->base_ns == HT_NO_I64 ? 0 : rank->base_ns;
		if (rank->min_ts_ns == HT_NO_I64)
			rank->offset_ns = 0;
		else
			rank->offset_ns = roster->aligned && fits ? base - zero : -rank->min_ts_ns;
	}
}

/* One line about what reading lost, over all ranks. */
static enum ht_status note_losses(struct ht_roster *roster, struct ht_arena *arena)
{
	uint64_t n = 0;
	size_t n_ranks = 0;
	const char *sentence = NULL;
	for (size_t i = 0; i < roster->n; i++) {
		const struct ht_rank *rank = &roster->ranks[i];
		bool lost = false;
		for (size_t k = 0; k < rank->n_stats; k++) {
			const struct ht_stat_info *info =
			        ht_stat_info((enum ht_stat_code)rank->stats[k].code);
			if (info->severity < HT_DATA_LOSS)
				continue;
			if (!sentence)
				sentence = info->sentence;
			/* those bytes are counted by what was in them, too */
			bool bytes = rank->stats[k].code == HT_STAT_bytes_skipped;
			n += bytes ? !n : rank->stats[k].count;
			lost = true;
		}
		n_ranks += lost;
	}
	roster->loss_note = NULL;
	if (!n)
		return HT_OK;
	roster->loss_note =
	        ht_arena_printf(arena, "data was lost while reading %zu of %zu traces: %s%s",
	                n_ranks, roster->n, sentence, n > 1 ? ", and more" : "");
	return roster->loss_note ? HT_OK : HT_NOMEM;
}

void ht_roster_find_steps(struct ht_roster *roster)
{
	int64_t first = HT_NO_I64, last = HT_NO_I64;
	bool has_two = false;
	for (size_t i = 0; i < roster->n; i++) {
		const struct ht_rank *rank = &roster->ranks[i];
		for (size_t k = 0; k < rank->n_steps && !rank->steps[k].is_named; k++) {
			if (first == HT_NO_I64)
				first = rank->steps[k].number;
			has_two |= rank->steps[k].number != first;
		}
		for (size_t k = 0; k < rank->n_steps; k++)
			last = rank->steps[k].number > last ? rank->steps[k].number : last;
	}
	roster->has_two_steps = has_two;
	roster->last_step = last;
}

/* In natural order, whoever missed them; told up to a few. */
static enum ht_status note_missing(struct ht_roster *roster, struct ht_arena *arena)
{
	enum { SHOWN = 3 };
	const char *list = "";
	roster->missing_note = NULL;
	if (!roster->n_missing)
		return HT_OK;
	qsort(roster->missing, roster->n_missing, sizeof *roster->missing,
	        ht_natural_compare_names);
	for (size_t i = 0; list && i < roster->n_missing && i < SHOWN; i++)
		list = ht_arena_printf(arena, "%s%s%s", list, i ? "; " : "", roster->missing[i]);
	size_t n_more = roster->n_missing > SHOWN ? roster->n_missing - SHOWN : 0;
	char *note = !list ? NULL
	                   : ht_arena_printf(arena, "missing from this result, %zu file%s: %s",
	                             roster->n_missing, roster->n_missing == 1 ? "" : "s", list);
	roster->missing_note =
	        note && n_more ? ht_arena_printf(arena, "%s; and %zu more", note, n_more) : note;
	return roster->missing_note ? HT_OK : HT_NOMEM;
}

/* Time between two recordings of which neither was running during the other; 0 when they meet. */
static int64_t apart_ns(const struct ht_rank *a, const struct ht_rank *b)
{
	if (a->min_ts_ns == HT_NO_I64 || b->min_ts_ns == HT_NO_I64)
		return 0;
	int64_t after = b->min_ts_ns + b->offset_ns - (a->max_end_ns + a->offset_ns);
	int64_t before = a->min_ts_ns + a->offset_ns - (b->max_end_ns + b->offset_ns);
	int64_t gap = after > before ? after : before;
	return gap > 0 ? gap : 0;
}

/* Why b cannot be of the job of a; NULL when it can, or when memory ran out, which ret_status tells. */
static const char *differs(const struct ht_roster *roster, const struct ht_rank *a,
        const struct ht_rank *b, struct ht_arena *arena, enum ht_status *ret_status)
{
	const struct ht_job *x = &a->job, *y = &b->job;
	char *why = NULL;
	*ret_status = HT_OK;
	if (x->maker && y->maker && x->maker != y->maker)
		why = ht_arena_printf(arena, "rank %" PRId64 " ran on %s, rank %" PRId64 " on %s",
		        a->number, ht_job_maker(x), b->number, ht_job_maker(y));
	else if (x->world_size != HT_NO_I64 && y->world_size != HT_NO_I64 &&
	         x->world_size != y->world_size)
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " says it is one of %" PRId64 " ranks, rank %" PRId64
		        " one of %" PRId64,
		        a->number, x->world_size, b->number, y->world_size);
	else if (ht_job_is_other_model(x, y))
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " and rank %" PRId64 " run operators of different models",
		        a->number, b->number);
	else if (roster->aligned && apart_ns(a, b) > MAX_APART_NS)
		why = ht_arena_printf(arena,
		        "rank %" PRId64 " and rank %" PRId64 " were recorded %" PRId64 " s apart",
		        a->number, b->number, apart_ns(a, b) / 1000000000);
	else
		return NULL;
	*ret_status = why ? HT_OK : HT_NOMEM;
	return why;
}

/* Do these ranks belong together? Every result says when not. */
static enum ht_status compare_jobs(struct ht_roster *roster, struct ht_arena *arena)
{
	roster->job_note = NULL;
	for (size_t i = 1; i < roster->n; i++) {
		enum ht_status status;
		const char *why =
		        differs(roster, &roster->ranks[0], &roster->ranks[i], arena, &status);
		if (status != HT_OK)
			return status;
		if (!why)
			continue;
		roster->job_note = ht_arena_printf(arena,
		        "these look like different jobs: %s. Name the files of one job, "
		        "or compare two with diff",
		        why);
		return roster->job_note ? HT_OK : HT_NOMEM;
	}
	return HT_OK;
}

enum ht_status ht_roster_complete(struct ht_roster *roster, struct ht_arena *arena)
{
	align(roster);
	roster->clock_note =
	        roster->aligned
	                ? NULL
	                : "the ranks have no common clock; each starts at its own first event";
	HT_TRY(note_missing(roster, arena));
	ht_roster_find_steps(roster);
	HT_TRY(compare_jobs(roster, arena));
	return note_losses(roster, arena);
}

size_t ht_roster_find(const struct ht_roster *roster, int64_t number)
{
	size_t low = HT_LOWER_BOUND(at, roster->n, roster->ranks[at].number < number);
	return low < roster->n && roster->ranks[low].number == number ? low : SIZE_MAX;
}
