/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_across.c - see cp_across.h.
 *
 * The window of the job for a step: from the first start of the step on any rank, or the end of the step before, to the last end. Ranks'
 * windows belong together by the number of their step, or by their order where there are none. Clocks are those
 * of clocks.h; where none explain a collective (a rank leaves before another comes) the path changes ranks where
 * it is, and goes on at that moment.
 */
#include "graph/cp_across.h"

#include "model/clocks/clocks.h"
#include "model/rows/selection.h"
#include "base/search.h"
#include "table/optional.h"

#include <stdlib.h>
#include <string.h>

/* Windows about which there is a line under the summary. */
#define N_NOTED 10

/* ---- what the ranks know ---- */

struct kernel {
	int64_t row;
	size_t chain;
	const struct ht_collective *collective; /* on two or more ranks, or NULL */
	const struct ht_comm_call *call;        /* in it */
};

/* Integers of a table; there are millions of them. */
struct column {
	const int64_t *cells;
	const uint8_t *valid; /* NULL: none is null */
	size_t n;
};

struct rank {
	int64_t number;
	struct ht_time_move move; /* to the set's clock */
	const ht_table *pieces, *chains;
	struct column of_pieces[HT_CP_PIECE_NAME]; /* the columns before the name */
	struct kernel *kernels;                    /* by row */
	size_t n_kernels;
	size_t own;                  /* chain of the window that was looked up last */
	enum ht_cp_bound host_bound; /* of time that no piece covers; NONE: not asked for yet */
};

struct span {
	int64_t piece; /* -1: nobody's */
	int64_t start_ns, end_ns;
	uint32_t i_rank;
	uint8_t bound, type;
	bool inferred;
};

/* A collective on the path. */
struct visit {
	const struct ht_collective *collective;
	size_t i_rank, i_last;     /* where the path left it, and who came last */
	int64_t came_ns, last_ns;  /* when the first and the last came */
	int64_t left_ns, until_ns; /* the path: from, to */
	size_t first_span;         /* what comes before it on the path */
};

struct job_window {
	int64_t instance, step;
	int64_t start_ns, end_ns;
	size_t i_rank, chain; /* that end last */
};

struct across {
	struct ht_run *run;
	struct rank *ranks;
	size_t n;
	size_t *at; /* by rank of the roster: position in ranks, SIZE_MAX: not looked at */
	struct job_window *windows;
	size_t n_windows;
	const struct job_window *window; /* in hand */
	struct ht_vec spans;             /* struct span, latest first */
	struct ht_vec visits;            /* struct visit, latest first */
	bool no_memory;
};

static struct column column_of(const ht_table *table, size_t column)
{
	return (struct column){ ht_table_cells(table, column), ht_table_valid(table, column),
		ht_table_n_rows(table) };
}

/* As cell, of a piece. */
static inline int64_t piece_cell(const struct rank *rank, int64_t piece, size_t at, int64_t none)
{
	const struct column *column = &rank->of_pieces[at];
	size_t row = (size_t)piece;
	bool is_null = row >= column->n || (column->valid && !column->valid[row]);
	return is_null ? none : column->cells[row];
}

static int compare_kernels(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;
	return (a->row > b->row) - (a->row < b->row);
}

static struct kernel *find_kernel(const struct rank *rank, int64_t row)
{
	struct kernel key = { .row = row };
	return rank->n_kernels
	               ? bsearch(&key, rank->kernels, rank->n_kernels, sizeof key, compare_kernels)
	               : NULL;
}

/* Time of a rank that no piece covers: the host's, unless it recorded nothing of it. */
static enum ht_cp_bound find_host_bound(struct rank *rank)
{
	int64_t n = rank->host_bound ? 0 : (int64_t)ht_table_n_rows(rank->pieces);
	for (int64_t i = 0; i < n && !rank->host_bound; i++)
		if (piece_cell(rank, i, HT_CP_PIECE_BOUND, 0) == HT_CP_BOUND_UNRECORDED)
			rank->host_bound = HT_CP_BOUND_UNRECORDED;
	if (!rank->host_bound)
		rank->host_bound = HT_CP_BOUND_CPU;
	return rank->host_bound;
}

static enum ht_status read_ranks(struct across *a, const struct ht_parts *parts)
{
	struct ht_arena *scratch = a->run->scratch;
	a->n = parts->n;
	a->ranks = ht_arena_alloc(scratch, (a->n + 1) * sizeof *a->ranks);
	if (!a->ranks)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < a->n; i++) {
		struct rank *rank = &a->ranks[i];
		rank->number = parts->list[i].rank;
		rank->move = ht_part_move(a->run, &parts->list[i]);
		rank->pieces = parts->list[i].facts[HT_CP_FACTS_PIECES];
		rank->chains = parts->list[i].facts[HT_CP_FACTS_CHAINS];
		for (size_t k = 0; k < HT_COUNT(rank->of_pieces); k++)
			rank->of_pieces[k] = column_of(rank->pieces, k);
		size_t n = ht_table_n_rows(rank->chains);
		rank->kernels = ht_arena_alloc(scratch, (n + 1) * sizeof *rank->kernels);
		if (!rank->kernels)
			return ht_fail_nomem(a->run->ctx);
		for (size_t k = 0; k < n; k++) {
			int64_t row = ht_table_i64_or(rank->chains, k, HT_CP_CHAIN_ROW, -1);
			if (row >= 0)
				rank->kernels[rank->n_kernels++] =
				        (struct kernel){ .row = row, .chain = k };
		}
		qsort(rank->kernels, rank->n_kernels, sizeof *rank->kernels, compare_kernels);
	}
	return HT_OK;
}

/* What calls of all ranks belong together, and which ranks are looked at. */
static enum ht_status read_collectives(struct across *a, const struct ht_parts *parts)
{
	const struct ht_roster *roster = a->run->rosters[0];
	const struct ht_clocks *clocks = a->run->clocks[0];
	a->at = ht_arena_alloc(a->run->scratch, (roster->n + 1) * sizeof *a->at);
	if (!a->at)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < roster->n; i++)
		a->at[i] = SIZE_MAX;
	for (size_t i = 0; i < parts->n; i++) {
		size_t i_rank = ht_roster_find(roster, parts->list[i].rank);
		if (i_rank != SIZE_MAX)
			a->at[i_rank] = i;
	}
	for (size_t i = 0; clocks && i < clocks->matches.n; i++) {
		const struct ht_collective *collective = &clocks->matches.collectives[i];
		for (size_t k = 0; collective->n > 1 && k < collective->n; k++) {
			const struct ht_comm_call *call = &collective->calls[k];
			struct kernel *kernel =
			        a->at[call->i_rank] == SIZE_MAX
			                ? NULL
			                : find_kernel(&a->ranks[a->at[call->i_rank]], call->row);
			if (kernel) {
				kernel->collective = collective;
				kernel->call = call;
			}
		}
	}
	return HT_OK;
}

/* ---- windows of the job ---- */

static int compare_windows(const void *left, const void *right)
{
	const struct job_window *a = left, *b = right;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->i_rank > b->i_rank) - (a->i_rank < b->i_rank);
}

static bool same_window(const struct job_window *a, const struct job_window *b)
{
	if (a->step != b->step)
		return false;
	return a->step != HT_NO_I64 || a->instance == b->instance;
}

/* Of the windows of a step, sorted by their end, the first takes the others in. */
static size_t merge_windows(struct job_window *list, size_t n)
{
	size_t n_merged = 0;
	for (size_t i = 0; i < n; i++) {
		struct job_window *last = n_merged ? &list[n_merged - 1] : NULL;
		if (!last || !same_window(last, &list[i])) {
			list[n_merged++] = list[i];
			continue;
		}
		if (list[i].start_ns < last->start_ns)
			last->start_ns = list[i].start_ns;
		if (list[i].end_ns > last->end_ns) {
			last->end_ns = list[i].end_ns;
			last->i_rank = list[i].i_rank;
			last->chain = list[i].chain;
		}
		if (list[i].instance < last->instance)
			last->instance = list[i].instance;
	}
	return n_merged;
}

/* Where the host is ahead a step begins while the one before is still at work: such a moment is of the one before, as step times have
 * it, and counts once. What begins or ends before the step of the number before is of another process, or of numbers that start over. */
static void cut_overlaps(struct across *a)
{
	int64_t start_ns = INT64_MIN, end_ns = INT64_MIN; /* of the step before */
	for (size_t k = 0; k < a->n_windows; k++) {
		struct job_window *w = &a->windows[k];
		if (w->step == HT_NO_I64)
			continue;
		const struct job_window whole = *w;
		if (whole.start_ns >= start_ns && whole.end_ns >= end_ns && whole.start_ns < end_ns)
			w->start_ns = end_ns;
		start_ns = whole.start_ns;
		end_ns = whole.end_ns;
	}
}

/* The path of a job is that of steps which are chosen on all ranks. */
static enum ht_status read_windows(struct across *a)
{
	struct ht_common_steps common;
	size_t n = 0;
	HT_TRY(ht_common_steps_make(a->run, 0, &common));
	for (size_t i = 0; i < a->n; i++)
		n += ht_table_n_rows(a->ranks[i].chains);
	a->windows = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *a->windows);
	if (!a->windows)
		return ht_fail_nomem(a->run->ctx);
	n = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct rank *rank = &a->ranks[i];
		for (size_t k = 0; k < ht_table_n_rows(rank->chains); k++) {
			int64_t step =
			        ht_table_i64_or(rank->chains, k, HT_CP_CHAIN_STEP, HT_NO_I64);
			if (!ht_table_is_null(rank->chains, k, HT_CP_CHAIN_ROW) ||
			        (step != HT_NO_I64 && !ht_common_steps_have(&common, step)))
				continue;
			a->windows[n++] = (struct job_window){ .instance = ht_table_i64_or(
				                                       rank->chains, k,
				                                       HT_CP_CHAIN_INSTANCE, 0),
				.step = step,
				.start_ns = ht_time_moved(&rank->move,
				        ht_table_i64_or(rank->chains, k, HT_CP_CHAIN_START, 0)),
				.end_ns = ht_time_moved(&rank->move,
				        ht_table_i64_or(rank->chains, k, HT_CP_CHAIN_END, 0)),
				.i_rank = i,
				.chain = k };
		}
	}
	qsort(a->windows, n, sizeof *a->windows, compare_windows);
	a->n_windows = merge_windows(a->windows, n);
	cut_overlaps(a);
	return HT_OK;
}

/* ---- the way ---- */

/* Time of the path, which is at until_ns; returns where it is then. */
static int64_t put_span(struct across *a, struct span span, int64_t until_ns)
{
	int64_t since = a->window->start_ns;
	span.end_ns = span.end_ns < until_ns ? span.end_ns : until_ns;
	span.start_ns = span.start_ns > since ? span.start_ns : since;
	if (span.end_ns <= span.start_ns)
		return until_ns;
	/* pieces lie end to end; what clocks leave open belongs to the later one */
	span.end_ns = until_ns;
	if (!HT_VEC_PUSH(a->run->ctx->mem, &a->spans, struct span, span))
		a->no_memory = true;
	return span.start_ns;
}

static struct span span_of_piece(const struct across *a, size_t i_rank, int64_t piece)
{
	const struct rank *rank = &a->ranks[i_rank];
	int64_t start = ht_time_moved(&rank->move, piece_cell(rank, piece, HT_CP_PIECE_START, 0));
	return (struct span){ .i_rank = (uint32_t)i_rank,
		.piece = piece,
		.start_ns = start,
		.end_ns = ht_add_sat(start, piece_cell(rank, piece, HT_CP_PIECE_DUR, 0)),
		.bound = (uint8_t)piece_cell(rank, piece, HT_CP_PIECE_BOUND, 0),
		.type = (uint8_t)piece_cell(rank, piece, HT_CP_PIECE_TYPE, 0),
		.inferred = piece_cell(rank, piece, HT_CP_PIECE_INFERRED, 0) != 0 };
}

size_t ht_cp_chain_of_piece(const ht_table *chains, int64_t piece)
{
	size_t low = HT_LOWER_BOUND(at, ht_table_n_rows(chains),
	        ht_table_i64_or(chains, at, HT_CP_CHAIN_FIRST, 0) <= piece);
	while (low > 1 && ht_table_i64_or(chains, low - 1, HT_CP_CHAIN_N, 0) == 0)
		low--;
	return low ? low - 1 : 0;
}

/* The pieces of a chain and of those it goes on in. Gives the chain that ends it. */
static size_t follow_chain(struct across *a, size_t i_rank, size_t chain, int64_t *until_ns)
{
	const struct rank *rank = &a->ranks[i_rank];
	int64_t piece = ht_table_i64_or(rank->chains, chain, HT_CP_CHAIN_FIRST, 0);
	for (;;) {
		int64_t end = ht_table_i64_or(rank->chains, chain, HT_CP_CHAIN_FIRST, 0) +
		              ht_table_i64_or(rank->chains, chain, HT_CP_CHAIN_N, 0);
		for (; piece<end && * until_ns> a->window->start_ns && !a->no_memory; piece++)
			*until_ns = put_span(a, span_of_piece(a, i_rank, piece), *until_ns);
		int64_t link = ht_table_i64_or(rank->chains, chain, HT_CP_CHAIN_LINK, -1);
		/* links lead to chains that were there before */
		if (link < 0 || *until_ns <= a->window->start_ns || a->no_memory)
			return chain;
		size_t next = ht_cp_chain_of_piece(rank->chains, link);
		if (next >= chain && link >= piece)
			return chain;
		chain = next;
		piece = link;
	}
}

/* Of the ranks looked at; itself where nobody came later. Where ranks do not all wait for each other, one that
 * came after this call had ended was not waited for. */
static const struct ht_comm_call *last_to_come(const struct across *a, const struct kernel *kernel)
{
	const struct ht_collective *collective = kernel->collective;
	bool all = ht_comm_kind_synchronises(collective->kind);
	const struct ht_comm_call *last = kernel->call;
	for (size_t k = 0; k < collective->n; k++) {
		const struct ht_comm_call *call = &collective->calls[k];
		if (call->start_ns > last->start_ns && a->at[call->i_rank] != SIZE_MAX &&
		        (all || call->start_ns <= kernel->call->end_ns))
			last = call;
	}
	return last;
}

static int64_t first_to_come(const struct ht_collective *collective)
{
	int64_t first = collective->calls[0].start_ns;
	for (size_t k = 1; k < collective->n; k++) {
		if (collective->calls[k].start_ns < first)
			first = collective->calls[k].start_ns;
	}
	return first;
}

/* Through a communication kernel: to the rank that came last, or on. Gives the chain to follow. */
static size_t pass_kernel(struct across *a, const struct kernel *kernel, bool inferred,
        size_t *i_rank, int64_t *until_ns)
{
	const struct rank *rank = &a->ranks[*i_rank];
	struct span own = span_of_piece(
	        a, *i_rank, ht_table_i64_or(rank->chains, kernel->chain, HT_CP_CHAIN_OWN, 0));
	own.inferred = inferred;
	const struct ht_collective *collective = kernel->collective;
	size_t chain = kernel->chain, here = *i_rank;
	int64_t from = *until_ns;
	if (collective) {
		const struct ht_comm_call *last = last_to_come(a, kernel);
		size_t at = a->at[last->i_rank];
		const struct kernel *there = find_kernel(&a->ranks[at], last->row);
		if (there && at != here && last->start_ns > own.start_ns) {
			own.start_ns = last->start_ns;
			chain = there->chain;
			*i_rank = at;
		}
	}
	*until_ns = put_span(a, own, *until_ns);
	if (!collective)
		return chain;
	struct visit visit = { .collective = collective,
		.i_rank = here,
		.i_last = *i_rank,
		.came_ns = first_to_come(collective),
		.last_ns = own.start_ns,
		.left_ns = *until_ns,
		.until_ns = from,
		.first_span = a->spans.n };
	if (!HT_VEC_PUSH(a->run->ctx->mem, &a->visits, struct visit, visit))
		a->no_memory = true;
	return chain;
}

static void walk(struct across *a)
{
	const struct job_window *w = a->window;
	size_t i_rank = w->i_rank, chain = w->chain, left = 16;
	int64_t until = w->end_ns;
	for (size_t i = 0; i < a->n; i++)
		left += 2 * ht_table_n_rows(a->ranks[i].chains);
	while (until > w->start_ns && left-- && !a->no_memory) {
		chain = follow_chain(a, i_rank, chain, &until);
		const ht_table *chains = a->ranks[i_rank].chains;
		int64_t row = ht_table_i64_or(chains, chain, HT_CP_CHAIN_NEXT_ROW, -1);
		const struct kernel *kernel = row < 0 ? NULL : find_kernel(&a->ranks[i_rank], row);
		if (!kernel || until <= w->start_ns)
			break;
		bool inferred = ht_table_i64_or(chains, chain, HT_CP_CHAIN_NEXT_INFERRED, 0) != 0;
		chain = pass_kernel(a, kernel, inferred, &i_rank, &until);
	}
	put_span(a,
	        (struct span){ .i_rank = (uint32_t)i_rank,
	                .piece = -1,
	                .start_ns = w->start_ns,
	                .end_ns = until,
	                .bound = (uint8_t)find_host_bound(&a->ranks[i_rank]),
	                .type = HT_CP_DEPENDENCY,
	                .inferred = true },
	        until);
}

/* ---- tables ---- */

static void put_key(const struct across *a, ht_table *table, size_t i_rank)
{
	ht_table_row(table);
	ht_table_put_i64(table, HT_CP_KEY_RANK, a->ranks[i_rank].number);
	ht_table_put_i64(table, HT_CP_KEY_INSTANCE, a->window->instance);
	ht_table_put_known(table, HT_CP_KEY_STEP, a->window->step, HT_NO_I64);
}

/* n cells of a piece, null for nobody's time */
static void put_cells(const struct across *a, ht_table *table, size_t to, const struct span *span,
        size_t from, size_t n)
{
	const ht_table *pieces = a->ranks[span->i_rank].pieces;
	for (size_t column = from; column < from + n; column++, to++) {
		size_t row = (size_t)span->piece;
		if (span->piece < 0)
			ht_table_put_null(table, to);
		else
			ht_table_put_cell(table, to, pieces, row, column);
	}
}

struct total {
	size_t i_rank;
	int bound;
	int64_t ns, inferred_ns, n;
};

static int compare_totals(const void *left, const void *right)
{
	const struct total *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->i_rank != b->i_rank)
		return a->i_rank < b->i_rank ? -1 : 1;
	return a->bound - b->bound;
}

static bool is_own_window(const struct across *a, const ht_table *chains, size_t k)
{
	struct job_window own = { .instance = ht_table_i64_or(chains, k, HT_CP_CHAIN_INSTANCE, 0),
		.step = ht_table_i64_or(chains, k, HT_CP_CHAIN_STEP, HT_NO_I64) };
	return ht_table_is_null(chains, k, HT_CP_CHAIN_ROW) && same_window(&own, a->window);
}

/* The chain of the rank's own window, SIZE_MAX: none. Windows are asked for in order, so it is the last one or the next. */
static size_t find_own_window(const struct across *a, struct rank *rank)
{
	size_t n = ht_table_n_rows(rank->chains);
	for (size_t k = rank->own; k < n && k < rank->own + 2; k++)
		if (is_own_window(a, rank->chains, k))
			return rank->own = k;
	for (size_t k = n; k-- > 0 && ht_table_is_null(rank->chains, k, HT_CP_CHAIN_ROW);)
		if (is_own_window(a, rank->chains, k))
			return rank->own = k;
	return SIZE_MAX;
}

/* step_ns and idle_ns of the rank's own window */
static void put_own_window(const struct across *a, ht_table *table, size_t i_rank)
{
	const ht_table *chains = a->ranks[i_rank].chains;
	size_t k = find_own_window(a, &a->ranks[i_rank]);
	ht_table_put_known(table, HT_CP_SUMMARY_STEP_NS,
	        k == SIZE_MAX ? HT_NO_I64 : ht_table_i64(chains, k, HT_CP_CHAIN_STEP_NS),
	        HT_NO_I64);
	ht_table_put_known(table, HT_CP_SUMMARY_IDLE_NS,
	        k == SIZE_MAX ? HT_NO_I64
	                      : ht_table_i64_or(chains, k, HT_CP_CHAIN_IDLE_NS, HT_NO_I64),
	        HT_NO_I64);
}

static enum ht_status put_summary(struct across *a, ht_table *table)
{
	size_t n = a->n * HT_CP_N_BOUNDS;
	int64_t length = a->window->end_ns - a->window->start_ns;
	struct total *totals = ht_arena_alloc(a->run->scratch, (n + 1) * sizeof *totals);
	if (!totals)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = 0; i < n; i++) {
		totals[i].i_rank = i / HT_CP_N_BOUNDS;
		totals[i].bound = (int)(i % HT_CP_N_BOUNDS);
	}
	for (size_t i = 0; i < a->spans.n; i++) {
		const struct span *span = &((struct span *)a->spans.data)[i];
		struct total *total = &totals[span->i_rank * HT_CP_N_BOUNDS + span->bound];
		total->ns += span->end_ns - span->start_ns;
		total->inferred_ns += span->inferred ? span->end_ns - span->start_ns : 0;
		total->n++;
	}
	qsort(totals, n, sizeof *totals, compare_totals);
	for (size_t i = 0; i < n && totals[i].n; i++) {
		put_key(a, table, totals[i].i_rank);
		ht_table_put_str(table, HT_CP_SUMMARY_BOUND_BY,
		        ht_cp_bound_name((enum ht_cp_bound)totals[i].bound));
		ht_table_put_i64(table, HT_CP_SUMMARY_DURATION_NS, totals[i].ns);
		ht_table_put_f64(table, HT_CP_SUMMARY_SHARE, (double)totals[i].ns / (double)length);
		ht_table_put_i64(table, HT_CP_SUMMARY_INFERRED_NS, totals[i].inferred_ns);
		ht_table_put_i64(table, HT_CP_SUMMARY_WINDOW_NS, length);
		put_own_window(a, table, totals[i].i_rank);
		ht_table_put_i64(table, HT_CP_SUMMARY_N_EDGES, totals[i].n);
		ht_table_put_null(table, HT_CP_SUMMARY_STEP_TIME_NS);
	}
	return HT_OK;
}

static void put_path(struct across *a, ht_table *table)
{
	for (size_t i = a->spans.n; i-- > 0;) {
		const struct span *span = &((struct span *)a->spans.data)[i];
		const ht_table *pieces = a->ranks[span->i_rank].pieces;
		put_key(a, table, span->i_rank);
		ht_table_put_known(table, HT_CP_PATH_INDEX,
		        span->piece < 0 ? -1
		                        : ht_table_i64_or(pieces, (size_t)span->piece,
		                                  HT_CP_PIECE_INDEX, -1),
		        -1);
		ht_table_put_i64(table, HT_CP_PATH_TS, span->start_ns);
		ht_table_put_i64(table, HT_CP_PATH_DURATION, span->end_ns - span->start_ns);
		ht_table_put_str(table, HT_CP_PATH_TYPE, ht_cp_type_name(span->type));
		put_cells(a, table, HT_CP_PATH_NAME, span, HT_CP_PIECE_NAME, HT_CP_N_EVENT_CELLS);
		ht_table_put_str(table, HT_CP_PATH_BOUND, ht_cp_bound_name(span->bound));
		ht_table_put_i64(table, HT_CP_PATH_INFERRED, span->inferred);
		put_cells(a, table, HT_CP_PATH_ORIGIN_OP, span, HT_CP_PIECE_ORIGIN_OP,
		        HT_N_ORIGIN_CELLS);
	}
}

static bool tell_path(struct across *a, ht_cp_stretch_fn *each, void *user)
{
	bool ok = true;
	for (size_t i = a->spans.n; i-- > 0 && ok;) {
		const struct span *span = &((struct span *)a->spans.data)[i];
		const struct rank *rank = &a->ranks[span->i_rank];
		const ht_table *pieces = rank->pieces;
		struct ht_cp_stretch stretch = { .rank = rank->number,
			.i_part = span->i_rank,
			.step = a->window->step,
			.row = HT_NO_I64,
			.dur_ns = span->end_ns - span->start_ns,
			.bound = (enum ht_cp_bound)span->bound,
			.inferred = span->inferred };
		size_t row = (size_t)span->piece;
		if (span->piece >= 0) {
			stretch.row = piece_cell(rank, span->piece, HT_CP_PIECE_INDEX, HT_NO_I64);
			const uint32_t *names = ht_table_cells(pieces, HT_CP_PIECE_NAME);
			stretch.text = names[row];
			if (!ht_table_is_null(pieces, row, HT_CP_PIECE_NAME))
				stretch.name = ht_table_str(pieces, row, HT_CP_PIECE_NAME);
		}
		ok = each(user, &stretch);
	}
	return ok;
}

static const char *name_of(const struct across *a, const struct span *span)
{
	return span->piece < 0 ? ""
	                       : ht_table_str(a->ranks[span->i_rank].pieces, (size_t)span->piece,
	                                 HT_CP_PIECE_NAME);
}

struct named {
	const char *name;
	uint8_t bound;
	int64_t ns;
};

static int compare_named(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	return order ? order : (int)a->bound - (int)b->bound;
}

/* The name that takes the most of the path while the others waited for the last rank. */
static enum ht_status find_waited_for(
        struct across *a, const struct visit *visit, size_t end, struct named *ret_most)
{
	const struct span *spans = a->spans.data;
	size_t n = 0;
	struct named *list =
	        ht_arena_alloc(a->run->scratch, (end - visit->first_span + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(a->run->ctx);
	for (size_t i = visit->first_span; i < end; i++) {
		const struct span *span = &spans[i];
		int64_t from = span->start_ns > visit->came_ns ? span->start_ns : visit->came_ns;
		if (span->i_rank != visit->i_last || span->end_ns <= from)
			break;
		list[n++] = (struct named){ name_of(a, span), span->bound, span->end_ns - from };
	}
	qsort(list, n, sizeof *list, compare_named);
	*ret_most = (struct named){ 0 };
	size_t n_sums = 0;
	for (size_t i = 0; i < n; i++) {
		if (n_sums && !compare_named(&list[n_sums - 1], &list[i]))
			list[n_sums - 1].ns += list[i].ns;
		else
			list[n_sums++] = list[i];
	}
	for (size_t i = 0; i < n_sums; i++) {
		if (list[i].ns > ret_most->ns)
			*ret_most = list[i];
	}
	return HT_OK;
}

static enum ht_status put_collectives(struct across *a, ht_table *table)
{
	const struct visit *visits = a->visits.data;
	for (size_t i = a->visits.n; i-- > 0;) {
		const struct visit *visit = &visits[i];
		struct named most = { 0 };
		size_t end = i + 1 < a->visits.n ? visits[i + 1].first_span : a->spans.n;
		HT_TRY(find_waited_for(a, visit, end, &most));
		put_key(a, table, visit->i_rank);
		ht_table_put_str(table, HT_CP_COLLECTIVE_COLLECTIVE, visit->collective->name);
		ht_cp_put_text(table, HT_CP_COLLECTIVE_GROUP, visit->collective->group);
		ht_table_put_i64(table, HT_CP_COLLECTIVE_NTH, visit->collective->nth);
		ht_table_put_i64(table, HT_CP_COLLECTIVE_TS_NS, visit->last_ns);
		ht_table_put_i64(
		        table, HT_CP_COLLECTIVE_DURATION_NS, visit->until_ns - visit->left_ns);
		ht_table_put_i64(table, HT_CP_COLLECTIVE_LAST_RANK, a->ranks[visit->i_last].number);
		ht_table_put_i64(table, HT_CP_COLLECTIVE_WAIT_NS, visit->last_ns - visit->came_ns);
		ht_cp_put_text(table, HT_CP_COLLECTIVE_WAITED_FOR, most.name);
		ht_cp_put_text(
		        table, HT_CP_COLLECTIVE_WAITED_FOR_BOUND, ht_cp_bound_name(most.bound));
		ht_table_put_i64(table, HT_CP_COLLECTIVE_WAITED_FOR_NS, most.ns);
	}
	return HT_OK;
}

/* One line per window about its longest wait. */
static enum ht_status note_wait(struct across *a, ht_table *table)
{
	const struct visit *visits = a->visits.data, *longest = NULL;
	struct named most = { 0 };
	for (size_t i = 0; i < a->visits.n; i++) {
		if (!longest ||
		        visits[i].last_ns - visits[i].came_ns > longest->last_ns - longest->came_ns)
			longest = &visits[i];
	}
	if (!longest)
		return HT_OK;
	size_t next = (size_t)(longest - visits) + 1;
	size_t end = next < a->visits.n ? visits[next].first_span : a->spans.n;
	HT_TRY(find_waited_for(a, longest, end, &most));
	if (!most.name || !*most.name)
		return HT_OK;
	bool is_step = a->window->step != HT_NO_I64;
	return ht_table_add_note(table,
	        "%s %lld: %s waited %.3f ms for rank %lld, %.3f ms of that %s",
	        is_step ? "step" : "instance",
	        (long long)(is_step ? a->window->step : a->window->instance),
	        longest->collective->name, (double)(longest->last_ns - longest->came_ns) / 1e6,
	        (long long)a->ranks[longest->i_last].number, (double)most.ns / 1e6, most.name);
}

static enum ht_status take_window(struct across *a, size_t k)
{
	a->window = &a->windows[k];
	a->spans.n = a->visits.n = 0;
	if (a->window->end_ns > a->window->start_ns)
		walk(a);
	return a->no_memory ? ht_fail_nomem(a->run->ctx) : HT_OK;
}

static enum ht_status put_windows(struct across *a, enum ht_cp_view_kind view, ht_table *table)
{
	for (size_t k = 0; k < a->n_windows; k++) {
		HT_TRY(take_window(a, k));
		if (view == HT_CP_VIEW_SUMMARY) {
			HT_TRY(put_summary(a, table));
			if (k < N_NOTED)
				HT_TRY(note_wait(a, table));
		} else if (view == HT_CP_VIEW_PATH)
			put_path(a, table);
		else
			HT_TRY(put_collectives(a, table));
	}
	return HT_OK;
}

static enum ht_status tell_windows(struct across *a, ht_cp_stretch_fn *each, void *user)
{
	for (size_t k = 0; k < a->n_windows; k++) {
		HT_TRY(take_window(a, k));
		if (!tell_path(a, each, user))
			return ht_fail_nomem(a->run->ctx);
	}
	return HT_OK;
}

/* The caller ends it with across_done, also after a failure. */
static enum ht_status across_init(
        struct across *a, struct ht_run *run, const struct ht_parts *parts)
{
	*a = (struct across){ .run = run };
	HT_TRY(read_ranks(a, parts));
	HT_TRY(read_collectives(a, parts));
	return read_windows(a);
}

static void across_done(struct across *a)
{
	ht_vec_free(a->run->ctx->mem, &a->spans, sizeof(struct span));
	ht_vec_free(a->run->ctx->mem, &a->visits, sizeof(struct visit));
}

enum ht_status ht_cp_across_put(struct ht_run *run, const struct ht_parts *parts,
        enum ht_cp_view_kind view, ht_table *table)
{
	struct across a;
	enum ht_status status = across_init(&a, run, parts);
	if (status == HT_OK)
		status = put_windows(&a, view, table);
	across_done(&a);
	return status;
}

enum ht_status ht_cp_across_each(
        struct ht_run *run, const struct ht_parts *parts, ht_cp_stretch_fn *each, void *user)
{
	struct across a;
	enum ht_status status = across_init(&a, run, parts);
	if (status == HT_OK)
		status = tell_windows(&a, each, user);
	across_done(&a);
	return status;
}
