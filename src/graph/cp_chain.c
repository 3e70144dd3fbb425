/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_chain.c - what one rank contributes to the critical path of a job. See cp_across.h.
 *
 * A chain is walked as a path is (cp_walk.h), to where it enters a communication kernel. Where it enters work
 * that another chain has been through it ends with a link to that place, so that no piece is there
 * twice. Host time may still be there again and again, where many chains begin on streams that have done nothing
 * before; so what is followed is limited, and what is not is the host's, without names.
 */
#include "graph/cp_across.h"
#include "model/origin/find_origins.h"
#include "model/rows/row_names.h"

#include "model/rows/frame.h"
#include "store/columns.h"
#include "store/trace_meta.h"

const struct ht_column ht_cp_piece_columns[HT_CP_N_PIECE_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_CP_PIECE_COLUMNS);

const struct ht_column ht_cp_chain_columns[HT_CP_N_CHAIN_COLUMNS] =
        HT_COLUMN_ENTRIES(HT_CP_CHAIN_COLUMNS);

struct chains {
	struct ht_run *run;
	struct ht_cp_model *m;
	struct ht_cp_sink sink;           /* puts pieces into their table */
	const struct ht_origins *origins; /* of the activities, NULL: nobody shows them */
	ht_table *pieces;
	uint32_t *visited; /* by work: 1 + its piece, entered at its end */
	ht_table *table, *notes;
	int64_t since_ns; /* start of the trace */
	size_t most;      /* pieces after which chains are not followed */
};

/* Where a chain ends. */
struct chain_end {
	uint32_t work; /* communication kernel, HT_NONE */
	int64_t time_ns;
	bool inferred;
	int64_t link; /* -1: none */
};

static bool follow(struct chains *c, struct ht_cp_place place, struct chain_end *ret_end)
{
	const struct ht_cp_model *m = c->m;
	*ret_end = (struct chain_end){ .work = HT_NONE, .link = -1 };
	size_t left = 4 * (m->n_works + m->first_held[m->trace->n_tracks] +
	                          m->first_handover[m->trace->n_tracks] + 4);
	while (place.time_ns > c->since_ns && left-- && ht_table_n_rows(c->pieces) < c->most) {
		if (place.work != HT_NONE) {
			const struct ht_cp_work *w = &m->works[place.work];
			bool whole = place.time_ns == w->end_ns && !place.inferred;
			if (w->bound == HT_CP_BOUND_GPU_COMMUNICATION) {
				ret_end->work = place.work;
				ret_end->time_ns = place.time_ns;
				ret_end->inferred = place.inferred;
				return true;
			}
			if (whole && c->visited[place.work]) {
				ret_end->link = c->visited[place.work] - 1;
				return true;
			}
			/* a piece without length is not stored */
			if (whole && w->end_ns > w->start_ns)
				c->visited[place.work] = (uint32_t)ht_table_n_rows(c->pieces) + 1;
		}
		if (!ht_cp_walk_step(c->m, c->since_ns, &c->sink, &place))
			return false;
	}
	return true;
}

/* The name of whose time it is; null for nobody's, which is also what is inside a step and nothing else. */
static void put_name(struct chains *c, uint32_t row)
{
	const struct ht_trace *t = c->m->trace;
	const char *name = row == HT_NONE ? NULL : ht_str(t, t->name[row]);
	ht_table_put_str(c->pieces, HT_CP_PIECE_NAME, name && ht_is_step_name(name) ? NULL : name);
}

/* To the table at once: pieces of a chain may be as many as the events of the trace. */
static bool put_piece(void *user, const struct ht_cp_piece *piece)
{
	struct chains *c = user;
	ht_table *table = c->pieces;
	ht_table_row(table);
	ht_table_put_known(table, HT_CP_PIECE_INDEX, piece->row, HT_NONE);
	ht_table_put_i64(table, HT_CP_PIECE_START, piece->start_ns);
	ht_table_put_i64(table, HT_CP_PIECE_DUR, piece->end_ns - piece->start_ns);
	if (c->m->options.only_names) {
		ht_table_put_null(table, HT_CP_PIECE_TYPE);
		ht_table_put_i64(table, HT_CP_PIECE_BOUND, piece->bound);
		ht_table_put_known(table, HT_CP_PIECE_INFERRED, piece->inferred, 0);
		put_name(c, piece->row);
		return true;
	}
	ht_table_put_i64(table, HT_CP_PIECE_TYPE, piece->type);
	ht_table_put_i64(table, HT_CP_PIECE_BOUND, piece->bound);
	ht_table_put_i64(table, HT_CP_PIECE_INFERRED, piece->inferred);
	ht_cp_put_event(table, HT_CP_PIECE_NAME, c->run, piece->row);
	ht_origin_put(table, HT_CP_PIECE_ORIGIN_OP, c->origins, piece->row);
	return true;
}

static void put_end(struct chains *c, size_t first, const struct chain_end *end)
{
	ht_table_put_i64(c->table, HT_CP_CHAIN_FIRST, (int64_t)first);
	ht_table_put_i64(c->table, HT_CP_CHAIN_N, (int64_t)(ht_table_n_rows(c->pieces) - first));
	bool none = end->work == HT_NONE;
	ht_table_put_known(c->table, HT_CP_CHAIN_NEXT_ROW,
	        none ? -1 : (int64_t)c->m->works[end->work].row, -1);
	ht_table_put_known(
	        c->table, HT_CP_CHAIN_NEXT_NS, none ? HT_NO_I64 : end->time_ns, HT_NO_I64);
	ht_table_put_i64(c->table, HT_CP_CHAIN_NEXT_INFERRED, end->inferred);
	ht_table_put_known(c->table, HT_CP_CHAIN_LINK, end->link, -1);
}

static enum ht_status put_kernel(struct chains *c, uint32_t work)
{
	const struct ht_cp_work *w = &c->m->works[work];
	struct ht_cp_piece own = { .start_ns = w->start_ns,
		.end_ns = w->end_ns,
		.row = w->row,
		.from_row = HT_NONE,
		.type = HT_CP_OPERATOR,
		.bound = w->bound };
	struct ht_cp_place place;
	struct chain_end end;
	put_piece(c, &own);
	size_t first = ht_table_n_rows(c->pieces);
	if (!ht_cp_walk_behind(c->m, work, c->since_ns, &c->sink, &place) ||
	        !follow(c, place, &end))
		return ht_fail_nomem(c->run->ctx);
	ht_table_row(c->table);
	ht_table_put_i64(c->table, HT_CP_CHAIN_ROW, w->row);
	ht_table_put_i64(c->table, HT_CP_CHAIN_START, w->start_ns);
	ht_table_put_i64(c->table, HT_CP_CHAIN_END, w->end_ns);
	ht_table_put_nulls(c->table, HT_CP_CHAIN_INSTANCE, HT_CP_CHAIN_OWN);
	ht_table_put_i64(c->table, HT_CP_CHAIN_OWN, (int64_t)first - 1);
	put_end(c, first, &end);
	return HT_OK;
}

static enum ht_status put_window(struct chains *c, const struct ht_cp_window *window)
{
	struct chain_end end;
	int64_t idle_ns;
	size_t first = ht_table_n_rows(c->pieces);
	HT_TRY(ht_cp_idle_ns(c->run, c->m, window, &idle_ns));
	if (!follow(c, ht_cp_place_of_end(c->m, window), &end))
		return ht_fail_nomem(c->run->ctx);
	ht_table_row(c->table);
	ht_table_put_null(c->table, HT_CP_CHAIN_ROW);
	ht_table_put_i64(c->table, HT_CP_CHAIN_START, window->start_ns);
	ht_table_put_i64(c->table, HT_CP_CHAIN_END, window->end_ns);
	ht_table_put_i64(c->table, HT_CP_CHAIN_INSTANCE, window->instance);
	ht_table_put_known(c->table, HT_CP_CHAIN_STEP, window->step, HT_NO_I64);
	ht_table_put_i64(c->table, HT_CP_CHAIN_STEP_NS, window->host_end_ns - window->start_ns);
	ht_table_put_known(c->table, HT_CP_CHAIN_IDLE_NS, idle_ns, HT_NO_I64);
	ht_table_put_null(c->table, HT_CP_CHAIN_OWN);
	put_end(c, first, &end);
	return HT_OK;
}

static enum ht_status put_all(struct chains *c)
{
	const struct ht_cp_model *m = c->m;
	c->visited = ht_arena_alloc(c->run->scratch, (m->n_works + 1) * sizeof *c->visited);
	if (!c->visited)
		return ht_fail_nomem(c->run->ctx);
	size_t most = 4 * (m->n_works + m->first_span[m->trace->n_tracks]) + 4096;
	c->most = most;
	for (uint32_t k = 0; k < m->n_works; k++) {
		if (m->works[k].bound == HT_CP_BOUND_GPU_COMMUNICATION)
			HT_TRY(put_kernel(c, k));
	}
	bool is_limited = ht_table_n_rows(c->pieces) >= most;
	c->most = ht_table_n_rows(c->pieces) + most;
	for (size_t k = 0; k < m->n_windows; k++)
		HT_TRY(put_window(c, &m->windows[k]));
	is_limited |= ht_table_n_rows(c->pieces) >= c->most;
	return !is_limited
	               ? HT_OK
	               : ht_table_add_note(c->notes,
	                         "rank %lld: not every path to a communication kernel was followed to its "
	                         "end; the rest of those counts as host time",
	                         (long long)c->run->rank);
}

enum ht_status ht_cp_chains_put(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_part *part)
{
	struct ht_cp_model m;
	HT_TRY(ht_cp_model_make(run, options, &m));
	struct ht_origins origins = { 0 };
	struct chains c = { .run = run,
		.m = &m,
		.origins = options->with_origins ? &origins : NULL,
		.table = part->facts[HT_CP_FACTS_CHAINS],
		.sink = { put_piece, &c },
		.pieces = part->facts[HT_CP_FACTS_PIECES],
		.notes = part->facts[0],
		.since_ns = m.trace->meta->min_ts_ns };
	enum ht_status status = c.origins ? ht_origins_make(run, true, &origins) : HT_OK;
	if (status == HT_OK && m.n_windows)
		status = put_all(&c);
	if (status == HT_OK && m.note)
		status = ht_table_add_note(
		        part->facts[0], "rank %lld: %s", (long long)run->rank, m.note);
	ht_cp_model_done(&m);
	return status;
}

/* ---- what was read ---- */

/* A number of a chain that is null or below n. */
static bool is_below(const ht_table *chains, size_t row, size_t column, uint64_t n)
{
	return ht_table_is_null(chains, row, column) || ht_table_u64(chains, row, column) < n;
}

/* Pieces of a chain follow those of the chain before, and it goes on in one that was there before. */
static bool is_chain(const ht_table *chains, size_t row, uint64_t n_pieces, uint64_t *ret_next)
{
	uint64_t first = ht_table_u64(chains, row, HT_CP_CHAIN_FIRST);
	uint64_t n = ht_table_u64(chains, row, HT_CP_CHAIN_N);
	bool sound = first >= *ret_next && first <= n_pieces && n <= n_pieces - first &&
	             is_below(chains, row, HT_CP_CHAIN_OWN, n_pieces) &&
	             is_below(chains, row, HT_CP_CHAIN_LINK, first);
	*ret_next = first + n;
	return sound;
}

bool ht_cp_chains_are_sound(const struct ht_part *part)
{
	const ht_table *pieces = part->facts[HT_CP_FACTS_PIECES];
	const ht_table *chains = part->facts[HT_CP_FACTS_CHAINS];
	uint64_t next = 0;
	for (size_t row = 0; row < ht_table_n_rows(chains); row++)
		if (!is_chain(chains, row, ht_table_n_rows(pieces), &next))
			return false;
	return ht_facts_below(pieces, HT_CP_PIECE_TYPE, HT_CP_N_TYPES) &&
	       ht_facts_below(pieces, HT_CP_PIECE_BOUND, HT_CP_N_BOUNDS) &&
	       ht_facts_below(pieces, HT_CP_PIECE_DUR, HT_MAX_TIME_NS);
}
