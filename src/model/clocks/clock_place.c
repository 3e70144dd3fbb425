/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_place.c - see clock_place.h.
 *
 * Two rounds. The first starts at the lowest rank and finds which ranks keep their relative clocks: a family.
 * The second starts with the largest family, so that the others are measured against as many ranks as possible,
 * and the ranks that move are those that disagree with most.
 */
#include "model/clocks/clock_place.h"
#include "model/clocks/clock_fit.h"
#include "model/numbers/stats.h"

#include <string.h>

/* Ends of so many placed ranks are enough to say when a collective ended. */
#define MAX_ENDS 9

/* What the placed ranks of a tie say. */
struct state {
	int64_t arrived_ns, left_ns; /* INT64_MIN, INT64_MAX: nobody placed */
	int64_t ends_ns[MAX_ENDS];
	uint8_t n_ends;
	bool is_reached;
};

/* A call in its tie, in the list of its rank. */
struct link {
	size_t tie, call;
};

struct placing {
	ht_ctx *ctx;
	struct ht_arena *scratch;
	const struct ht_ties *ties;
	bool from_files;
	int64_t tolerance_ns;
	struct link *links; /* those of rank r are first_link[r] to first_link[r + 1] */
	size_t *first_link;
	struct state *states;       /* by tie */
	size_t *n_shared, *n_pairs; /* by rank: ties with a placed one */
	size_t *n_tried;            /* by rank: clocks of known that do not fit */
	bool *placed;
	struct ht_time_move *of;    /* by rank */
	struct ht_time_move *known; /* different ones so far; the first is the files' */
	size_t n_known;
	size_t *family; /* by rank: index into known */
};

/* ---- lists ---- */

static enum ht_status list_links(struct placing *p)
{
	const struct ht_ties *ties = p->ties;
	size_t n_calls = ties->first[ties->n], n = ties->n_ranks;
	p->links = ht_arena_alloc(p->scratch, (n_calls + 1) * sizeof *p->links);
	p->first_link = ht_arena_alloc(p->scratch, (n + 2) * sizeof *p->first_link);
	if (!p->links || !p->first_link)
		return ht_fail_nomem(p->ctx);
	for (size_t i = 0; i < n_calls; i++)
		p->first_link[ties->calls[i].i_rank + 2]++;
	for (size_t r = 0; r < n; r++)
		p->first_link[r + 2] += p->first_link[r + 1];
	for (size_t t = 0; t < ties->n; t++)
		for (size_t i = ties->first[t]; i < ties->first[t + 1]; i++)
			p->links[p->first_link[ties->calls[i].i_rank + 1]++] =
			        (struct link){ t, i };
	return HT_OK;
}

static enum ht_status make_room(struct placing *p)
{
	size_t n = p->ties->n_ranks;
	p->states = ht_arena_alloc(p->scratch, (p->ties->n + 1) * sizeof *p->states);
	p->n_shared = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->n_shared);
	p->n_pairs = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->n_pairs);
	p->n_tried = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->n_tried);
	p->placed = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->placed);
	p->of = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->of);
	p->known = ht_arena_alloc(p->scratch, (n + 2) * sizeof *p->known);
	p->family = ht_arena_alloc(p->scratch, (n + 1) * sizeof *p->family);
	bool ok = p->states && p->n_shared && p->n_pairs && p->n_tried && p->placed && p->of &&
	          p->known && p->family;
	return ok ? HT_OK : ht_fail_nomem(p->ctx);
}

static void start_round(struct placing *p)
{
	size_t n = p->ties->n_ranks;
	for (size_t t = 0; t < p->ties->n; t++)
		p->states[t] = (struct state){ .arrived_ns = INT64_MIN, .left_ns = INT64_MAX };
	memset(p->n_shared, 0, n * sizeof *p->n_shared);
	memset(p->n_pairs, 0, n * sizeof *p->n_pairs);
	memset(p->n_tried, 0, n * sizeof *p->n_tried);
	memset(p->placed, 0, n * sizeof *p->placed);
	/* the files' clocks */
	p->known[0] = (struct ht_time_move){ 0 };
	p->n_known = 1;
}

/* ---- placing ---- */

static bool synchronises(const struct ht_tied_call *call)
{
	return call->tie == (HT_TIE_ARRIVES | HT_TIE_LEAVES);
}

static void reach(struct placing *p, size_t t)
{
	p->states[t].is_reached = true;
	for (size_t i = p->ties->first[t]; i < p->ties->first[t + 1]; i++) {
		const struct ht_tied_call *call = &p->ties->calls[i];
		(synchronises(call) ? p->n_shared : p->n_pairs)[call->i_rank]++;
	}
}

static void place(struct placing *p, size_t rank, size_t family)
{
	p->placed[rank] = true;
	p->family[rank] = family;
	p->of[rank] = p->known[family];
	for (size_t k = p->first_link[rank]; k < p->first_link[rank + 1]; k++) {
		struct state *s = &p->states[p->links[k].tie];
		const struct ht_tied_call *call = &p->ties->calls[p->links[k].call];
		int64_t start_ns = ht_time_moved(&p->of[rank], call->start_ns);
		int64_t end_ns = ht_time_moved(&p->of[rank], call->end_ns);
		if (!s->is_reached)
			reach(p, p->links[k].tie);
		if (call->tie & HT_TIE_ARRIVES && start_ns > s->arrived_ns)
			s->arrived_ns = start_ns;
		if (call->tie & HT_TIE_LEAVES && end_ns < s->left_ns)
			s->left_ns = end_ns;
		if (synchronises(call) && s->n_ends < MAX_ENDS)
			s->ends_ns[s->n_ends++] = end_ns;
	}
}

/* What the placed ranks say about this one. */
static bool list_points(
        struct placing *p, struct ht_arena *arena, size_t rank, struct ht_clock_points *ret_points)
{
	size_t n = p->first_link[rank + 1] - p->first_link[rank];
	struct ht_clock_points points = {
		.lower = ht_arena_alloc(arena, (n + 1) * sizeof *points.lower),
		.upper = ht_arena_alloc(arena, (n + 1) * sizeof *points.upper),
		.ends = ht_arena_alloc(arena, (n + 1) * sizeof *points.ends),
	};
	if (!points.lower || !points.upper || !points.ends)
		return false;
	for (size_t k = p->first_link[rank]; k < p->first_link[rank + 1]; k++) {
		const struct state *s = &p->states[p->links[k].tie];
		const struct ht_tied_call *call = &p->ties->calls[p->links[k].call];
		if (call->tie & HT_TIE_LEAVES && s->arrived_ns != INT64_MIN)
			points.lower[points.n_lower++] = (struct ht_clock_point){ call->end_ns,
				ht_sub_sat(s->arrived_ns, call->end_ns) };
		if (call->tie & HT_TIE_ARRIVES && s->left_ns != INT64_MAX)
			points.upper[points.n_upper++] = (struct ht_clock_point){ call->start_ns,
				ht_sub_sat(s->left_ns, call->start_ns) };
		if (synchronises(call) && s->n_ends) {
			int64_t ends_ns[MAX_ENDS];
			memcpy(ends_ns, s->ends_ns, sizeof ends_ns);
			points.ends[points.n_ends++] = (struct ht_clock_point){ call->end_ns,
				ht_sub_sat(ht_median_i64(ends_ns, s->n_ends), call->end_ns) };
		}
	}
	*ret_points = points;
	return true;
}

/* ---- choosing ---- */

static bool fits(const struct placing *p, size_t rank, const struct ht_time_move *move)
{
	for (size_t k = p->first_link[rank]; k < p->first_link[rank + 1]; k++) {
		const struct state *s = &p->states[p->links[k].tie];
		const struct ht_tied_call *call = &p->ties->calls[p->links[k].call];
		if (call->tie & HT_TIE_LEAVES && s->arrived_ns != INT64_MIN &&
		        ht_time_moved(move, call->end_ns) + p->tolerance_ns < s->arrived_ns)
			return false;
		if (call->tie & HT_TIE_ARRIVES && s->left_ns != INT64_MAX &&
		        ht_time_moved(move, call->start_ns) - p->tolerance_ns > s->left_ns)
			return false;
	}
	return true;
}

static bool is_next(const struct placing *p, size_t rank)
{
	return !p->placed[rank] && (p->n_shared[rank] || p->n_pairs[rank]);
}

/* Place every rank that a known clock fits, the files' first; what did not fit does not fit later, as bounds only
 * get closer. True when there was one. */
static bool place_fitting(struct placing *p)
{
	bool any = false;
	for (size_t r = 0; r < p->ties->n_ranks; r++) {
		if (!is_next(p, r))
			continue;
		for (; p->n_tried[r] < p->n_known; p->n_tried[r]++) {
			if (fits(p, r, &p->known[p->n_tried[r]])) {
				place(p, r, p->n_tried[r]);
				any = true;
				break;
			}
		}
	}
	return any;
}

/* A clock of its own; where none keeps all bounds, the file's unless the fitted one breaks fewer. */
static bool choose(struct placing *p, struct ht_arena *arena, const struct ht_clock_points *points,
        size_t *ret_family)
{
	struct ht_time_move fit;
	if (!ht_clock_fit(arena, points, p->tolerance_ns, &fit))
		return false;
	size_t n = ht_clock_broken(&fit, points, p->tolerance_ns);
	*ret_family = 0;
	if (!p->from_files || n < ht_clock_broken(&p->known[0], points, p->tolerance_ns)) {
		*ret_family = p->n_known;
		p->known[p->n_known++] = fit;
	}
	return true;
}

static enum ht_status place_fitted(struct placing *p, size_t rank)
{
	struct ht_clock_points points;
	struct ht_arena arena;
	size_t family = 0;
	ht_arena_init(&arena, p->ctx->mem);
	bool ok = list_points(p, &arena, rank, &points) && choose(p, &arena, &points, &family);
	ht_arena_done(&arena);
	if (!ok)
		return ht_fail_nomem(p->ctx);
	place(p, rank, family);
	return HT_OK;
}

/* The rank that shares most with those placed; SIZE_MAX: nobody shares anything. */
static size_t find_next(const struct placing *p)
{
	size_t best = SIZE_MAX;
	for (size_t r = 0; r < p->ties->n_ranks; r++) {
		if (!is_next(p, r))
			continue;
		if (best == SIZE_MAX || p->n_shared[r] > p->n_shared[best] ||
		        (p->n_shared[r] == p->n_shared[best] && p->n_pairs[r] > p->n_pairs[best]))
			best = r;
	}
	return best;
}

/* Everything that is tied to what was placed: those first that keep a known clock. */
static enum ht_status place_tied(struct placing *p)
{
	for (;;) {
		while (p->from_files && place_fitting(p))
			;
		size_t next = find_next(p);
		if (next == SIZE_MAX)
			return HT_OK;
		HT_TRY(place_fitted(p, next));
	}
}

static enum ht_status place_rest(struct placing *p)
{
	for (size_t seed = 0; seed < p->ties->n_ranks; seed++) {
		if (p->placed[seed])
			continue;
		place(p, seed, 0);
		/* to look through all ranks for each that is tied to none would be their square */
		if (p->first_link[seed + 1] > p->first_link[seed])
			HT_TRY(place_tied(p));
	}
	return HT_OK;
}

/* ---- families ---- */

/* Of the ranks that are tied to others. */
static enum ht_status largest_family(struct placing *p, size_t *ret_family)
{
	size_t *n_in = ht_arena_alloc(p->scratch, (p->n_known + 1) * sizeof *n_in), best = 0;
	if (!n_in)
		return ht_fail_nomem(p->ctx);
	for (size_t r = 0; r < p->ties->n_ranks; r++)
		n_in[p->family[r]] += p->first_link[r + 1] > p->first_link[r];
	for (size_t k = 1; k < p->n_known; k++)
		best = n_in[k] > n_in[best] ? k : best;
	*ret_family = best;
	return HT_OK;
}

static enum ht_status place_all(struct placing *p, size_t *ret_reference)
{
	size_t best = 0, n = p->ties->n_ranks;
	start_round(p);
	HT_TRY(place_rest(p));
	HT_TRY(largest_family(p, &best));
	for (*ret_reference = 0; *ret_reference < n; ++*ret_reference)
		if (p->family[*ret_reference] == best &&
		        p->first_link[*ret_reference + 1] > p->first_link[*ret_reference])
			break;
	if (*ret_reference == n)
		*ret_reference = 0;
	if (p->n_known == 1)
		return HT_OK;
	start_round(p);
	for (size_t r = 0; r < n; r++)
		if (p->family[r] == best && p->first_link[r + 1] > p->first_link[r])
			place(p, r, 0);
	HT_TRY(place_tied(p));
	return place_rest(p);
}

static size_t root(size_t *up, size_t r)
{
	while (up[r] != r)
		r = up[r] = up[up[r]];
	return r;
}

/* The lowest rank that each is tied to, directly or not. */
static void find_components(const struct ht_ties *ties, size_t *up)
{
	for (size_t r = 0; r < ties->n_ranks; r++)
		up[r] = r;
	for (size_t t = 0; t < ties->n; t++) {
		size_t first = root(up, ties->calls[ties->first[t]].i_rank);
		for (size_t i = ties->first[t] + 1; i < ties->first[t + 1]; i++) {
			size_t other = root(up, ties->calls[i].i_rank);
			size_t low = first < other ? first : other;
			up[first] = up[other] = low;
			first = low;
		}
	}
	for (size_t r = 0; r < ties->n_ranks; r++)
		up[r] = root(up, r);
}

enum ht_status ht_clock_place(ht_ctx *ctx, struct ht_arena *scratch, const struct ht_ties *ties,
        bool from_files, int64_t tolerance_ns, struct ht_places *ret_places)
{
	struct placing p = { .ctx = ctx,
		.scratch = scratch,
		.ties = ties,
		.from_files = from_files,
		.tolerance_ns = tolerance_ns };
	size_t *component = ht_arena_alloc(scratch, (ties->n_ranks + 1) * sizeof *component);
	if (!component)
		return ht_fail_nomem(ctx);
	HT_TRY(list_links(&p));
	HT_TRY(make_room(&p));
	find_components(ties, component);
	*ret_places = (struct ht_places){ .of = p.of, .component = component };
	return place_all(&p, &ret_places->reference);
}
