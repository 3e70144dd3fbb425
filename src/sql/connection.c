/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - the traces behind a connection, and what is computed from them once; see sql.h.
 *
 * Indexes go to the memo of the set where there is one and no limit on memory, so that the next query finds them.
 */
#if defined(HT_HAVE_SQLITE)

#include "model/origin/find_origins.h"
#include "sql/sql.h"
#include "store/columns.h"
#include "store/trace_refs.h"

#include "attach/attach.h"
#include "base/mem.h"
#include "registry/run_steps.h"

#include <string.h>

enum ht_status ht_sql_session_init(struct ht_sql_session *s, ht_ctx *ctx, ht_set *set, sqlite3 *db)
{
	*s = (struct ht_sql_session){ .ctx = ctx, .db = db, .set = set };
	ht_arena_init(&s->arena, ctx->mem);
	s->n_ranks = set ? set->roster.n : 0;
	s->ranks = ht_arena_alloc(&s->arena, (s->n_ranks + 1) * sizeof *s->ranks);
	return s->ranks ? HT_OK : ht_fail_nomem(ctx);
}

void ht_sql_session_done(struct ht_sql_session *s)
{
	for (size_t i = 0; s->ranks && i < s->n_ranks; i++)
		ht_trace_release(s->ranks[i].trace);
	if (s->free_kept)
		s->free_kept(s->kept);
	ht_arena_done(&s->arena);
}

int ht_sql_failed(struct ht_sql_session *s, enum ht_status status)
{
	if (status == HT_OK)
		return SQLITE_OK;
	if (s->failed == HT_OK)
		s->failed = status;
	return status == HT_NOMEM       ? SQLITE_NOMEM
	       : status == HT_CANCELLED ? SQLITE_INTERRUPT
	                                : SQLITE_ERROR;
}

int ht_sql_look(struct ht_sql_session *s)
{
	return ht_sql_failed(s, ht_progress(s->ctx, "query", s->n_rows, 0));
}

int ht_sql_take(struct ht_sql_session *s, size_t i, const struct ht_trace **ret_trace)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	if (!rank->trace) {
		int code = ht_sql_look(s);
		if (code == SQLITE_OK)
			code = ht_sql_failed(s, ht_set_acquire(s->ctx, s->set, i, &rank->trace));
		if (code != SQLITE_OK)
			return code;
	}
	*ret_trace = rank->trace;
	return SQLITE_OK;
}

int ht_sql_move(struct ht_sql_session *s, size_t i, struct ht_time_move *ret_move)
{
	if (!s->has_clocks && s->n_ranks > 1) {
		int code = ht_sql_failed(s, ht_set_clocks(s->ctx, s->set, &s->arena, &s->clocks));
		if (code != SQLITE_OK)
			return code;
	}
	s->has_clocks = true;
	*ret_move =
	        s->clocks ? s->clocks->moves[i]
	                  : (struct ht_time_move){ .shift_ns = s->set->roster.ranks[i].offset_ns };
	return SQLITE_OK;
}

int ht_sql_attribution(
        struct ht_sql_session *s, size_t i, unsigned parts, const struct ht_attribution **ret)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const struct ht_trace *trace;
	int code = ht_sql_take(s, i, &trace);
	if (code == SQLITE_OK && (rank->attributes & parts) != parts) {
		struct ht_run run = { .ctx = s->ctx,
			.policy = &ht_own_policy,
			.scratch = &s->arena,
			.trace = trace };
		unsigned all = rank->attributes | parts;
		code = ht_sql_failed(s, ht_attribution_make(&run, trace, all, &rank->attribution));
		rank->attributes = code == SQLITE_OK ? all : 0;
	}
	*ret = &rank->attribution;
	return code;
}

/* A run over the rank, for what models find out about it. */
static enum ht_status run_of(
        struct ht_sql_session *s, size_t i, const struct ht_trace *trace, struct ht_run *ret_run)
{
	*ret_run = (struct ht_run){ .ctx = s->ctx,
		.policy = &ht_own_policy,
		.scratch = &s->arena,
		.trace = trace,
		.rank = s->set->roster.ranks[i].number,
		.i_rank = i };
	return ht_attached_of(s->ctx, s->set, i, &ret_run->attached);
}

int ht_sql_origins(struct ht_sql_session *s, size_t i, const struct ht_origins **ret)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const struct ht_trace *trace;
	int code = ht_sql_take(s, i, &trace);
	if (code == SQLITE_OK && !rank->has_origins) {
		struct ht_run run;
		enum ht_status status = run_of(s, i, trace, &run);
		if (status == HT_OK)
			status = ht_origins_make(&run, true, &rank->origins);
		code = ht_sql_failed(s, status);
		rank->has_origins = code == SQLITE_OK;
	}
	*ret = &rank->origins;
	return code;
}

int ht_sql_costs(struct ht_sql_session *s, size_t i, const struct ht_row_costs **ret)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const struct ht_trace *trace;
	int code = ht_sql_take(s, i, &trace);
	if (code == SQLITE_OK && !rank->has_costs) {
		struct ht_run run;
		enum ht_status status = run_of(s, i, trace, &run);
		if (status == HT_OK)
			status = ht_row_costs_make(&run, &rank->costs);
		code = ht_sql_failed(s, status);
		rank->has_costs = code == SQLITE_OK;
	}
	*ret = &rank->costs;
	return code;
}

/* ---- indexes ---- */

static const char correlations_kind, bounds_kind, ranges_kind, trackless_kind;

/* Makes a value in an arena; NULL with the error in the context. */
typedef void *make_fn(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena);

static void *make_correlations(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena)
{
	struct ht_row_index *index = ht_arena_alloc(arena, sizeof *index);
	if (!index) {
		(void)ht_fail_nomem(ctx);
		return NULL;
	}
	return ht_row_index_make(ctx, trace, "correlation", HT_ALL_KINDS | HT_WITH_REFUSED, arena,
	               index) == HT_OK
	               ? index
	               : NULL;
}

static void *make_bounds(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena)
{
	struct ht_row_bounds *bounds = ht_arena_alloc(arena, sizeof *bounds);
	if (!bounds) {
		(void)ht_fail_nomem(ctx);
		return NULL;
	}
	return ht_row_bounds_make(ctx, trace, "correlation", arena, bounds) == HT_OK ? bounds
	                                                                             : NULL;
}

static void *make_ranges(ht_ctx *ctx, const struct ht_trace *trace, struct ht_arena *arena)
{
	struct ht_ranges *ranges = ht_arena_alloc(arena, sizeof *ranges);
	if (!ranges) {
		(void)ht_fail_nomem(ctx);
		return NULL;
	}
	return ht_ranges_make(ctx, trace, arena, ranges) == HT_OK ? ranges : NULL;
}

/* From the memo of the set, kept there when it is new, or in the session's own memory. */
static int find_or_make(
        struct ht_sql_session *s, size_t i, const void *kind, make_fn *make, const void **ret_value)
{
	struct ht_memo *memo = s->set->memo;
	struct ht_memo_key key = { i, kind, 0 };
	const struct ht_trace *trace;
	struct ht_arena arena;
	int code = ht_sql_take(s, i, &trace);
	if (code != SQLITE_OK)
		return code;
	*ret_value = memo ? ht_memo_find(memo, key) : NULL;
	if (*ret_value)
		return SQLITE_OK;
	if (memo && !memo->mem->limit) {
		ht_arena_init(&arena, memo->mem);
		const void *value = make(s->ctx, trace, &arena);
		if (!value) {
			ht_arena_done(&arena);
			return ht_sql_failed(s, s->ctx->error.status);
		}
		*ret_value = ht_memo_keep(memo, key, &arena, value);
		if (*ret_value)
			return SQLITE_OK;
	}
	*ret_value = make(s->ctx, trace, &s->arena);
	return *ret_value ? SQLITE_OK : ht_sql_failed(s, s->ctx->error.status);
}

/* One id is found by the bounds of values, which stay with the set. A query that asks for many of them, as a join
 * does, is worth the index. */
#define IDS_LOOKED_FOR 16

static bool wants_correlations(struct ht_sql_session *s, size_t i)
{
	struct ht_memo *memo = s->set->memo;
	struct ht_memo_key key = { i, &correlations_kind, 0 };
	return s->ranks[i].has_correlations || ++s->ranks[i].n_looked > IDS_LOOKED_FOR ||
	       (memo && ht_memo_find(memo, key));
}

static int find_correlations(struct ht_sql_session *s, size_t i)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const void *index;
	if (rank->has_correlations)
		return SQLITE_OK;
	int code = find_or_make(s, i, &correlations_kind, make_correlations, &index);
	if (code != SQLITE_OK)
		return code;
	/* a copy, because looking something up moves its hint */
	rank->correlations = *(const struct ht_row_index *)index;
	rank->has_correlations = true;
	return SQLITE_OK;
}

int ht_sql_correlated(struct ht_sql_session *s, size_t i, int64_t value, struct ht_arena *arena,
        const uint32_t **ret_rows, size_t *ret_n)
{
	bool by_index = wants_correlations(s, i);
	struct ht_sql_rank *rank = &s->ranks[i];
	int code = by_index       ? find_correlations(s, i)
	           : rank->bounds ? SQLITE_OK
	                          : find_or_make(s, i, &bounds_kind, make_bounds, &rank->bounds);
	if (code != SQLITE_OK)
		return code;
	if (!by_index)
		return ht_sql_failed(
		        s, ht_row_bounds_scan(s->ctx, rank->trace, "correlation", rank->bounds,
		                   HT_ALL_KINDS | HT_WITH_REFUSED, value, arena, ret_rows, ret_n));
	*ret_rows = ht_row_index_find(&rank->correlations, value, SIZE_MAX, ret_n);
	return SQLITE_OK;
}

int ht_sql_ranges(struct ht_sql_session *s, size_t i, const struct ht_ranges **ret_ranges)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const void *ranges;
	*ret_ranges = &rank->ranges;
	if (rank->has_ranges)
		return SQLITE_OK;
	int code = find_or_make(s, i, &ranges_kind, make_ranges, &ranges);
	if (code != SQLITE_OK)
		return code;
	/* the set may have read the trace again since they were made */
	rank->ranges = *(const struct ht_ranges *)ranges;
	rank->ranges.trace = rank->trace;
	rank->has_ranges = true;
	return SQLITE_OK;
}

/* Making the index costs as much as walking the tracks some dozen times. */
#define OVERLAPS_WALKED 16

bool ht_sql_wants_ranges(struct ht_sql_session *s, size_t i)
{
	struct ht_memo *memo = s->set->memo;
	struct ht_memo_key key = { i, &ranges_kind, 0 };
	return s->ranks[i].has_ranges || ++s->ranks[i].n_overlaps > OVERLAPS_WALKED ||
	       (memo && ht_memo_find(memo, key));
}

static void *make_trackless(ht_ctx *ctx, const struct ht_trace *t, struct ht_arena *arena)
{
	struct ht_sql_trackless *trackless = ht_arena_alloc(arena, sizeof *trackless);
	struct ht_arena scratch;
	size_t n = 0;
	ht_arena_init(&scratch, ctx->mem);
	uint8_t *is_placed = ht_arena_alloc(&scratch, (size_t)ht_n_events(t) + 1);
	uint32_t *rows = NULL;
	for (size_t i = 0; is_placed && i < t->n_track_rows; i++)
		is_placed[t->track_rows[i]] = 1;
	for (uint32_t row = 0; is_placed && row < ht_n_events(t); row++)
		n += !is_placed[row] || (t->flags[row] & HT_EV_BAD_TIME);
	if (trackless && is_placed)
		rows = ht_arena_alloc(arena, (n + 1) * sizeof *rows);
	for (int placed = 0; rows && placed < 2; placed++)
		for (uint32_t row = 0; row < ht_n_events(t); row++) {
			uint8_t flags = t->flags[row];
			bool is_odd = placed ? flags & HT_EV_BAD_TIME : !(flags & HT_EV_NO_TS);
			if (is_placed[row] != placed || !is_odd)
				continue;
			rows[trackless->n_all++] = row;
			trackless->n_trackless += !placed;
		}
	ht_arena_done(&scratch);
	if (!rows) {
		(void)ht_fail_nomem(ctx);
		return NULL;
	}
	trackless->rows = rows;
	return trackless;
}

int ht_sql_trackless(
        struct ht_sql_session *s, size_t i, const struct ht_sql_trackless **ret_trackless)
{
	struct ht_sql_rank *rank = &s->ranks[i];
	const void *trackless;
	if (!rank->trackless) {
		int code = find_or_make(s, i, &trackless_kind, make_trackless, &trackless);
		if (code != SQLITE_OK)
			return code;
		rank->trackless = trackless;
	}
	*ret_trackless = rank->trackless;
	return SQLITE_OK;
}

int ht_sql_find_event(
        struct ht_sql_session *s, int64_t id, size_t *ret_rank, uint32_t *ret_row, bool *ret_found)
{
	const struct ht_trace *trace;
	size_t i = s->set ? ht_roster_find(&s->set->roster, ht_event_rank(id)) : SIZE_MAX;
	*ret_found = false;
	if (i == SIZE_MAX)
		return SQLITE_OK;
	int code = ht_sql_take(s, i, &trace);
	*ret_rank = i;
	*ret_row = ht_event_row(id);
	*ret_found = code == SQLITE_OK && *ret_row < ht_n_events(trace);
	return code;
}

/* ---- columns and values ---- */

/* Types as SQLite sees them; the first word gives the affinity, the second is ours. */
static const char *const type_texts[] = {
	[HT_I64] = "INTEGER",
	[HT_U64] = "INTEGER UNSIGNED",
	[HT_F64] = "REAL",
	[HT_STR] = "TEXT",
	[HT_BOOL] = "INTEGER BOOLEAN",
	[HT_TIME] = "INTEGER TIME",
	[HT_DURATION] = "INTEGER DURATION",
	[HT_DURATION_F64] = "REAL DURATION",
	[HT_BYTES] = "INTEGER BYTES",
	[HT_RATIO] = "REAL RATIO",
	[HT_EVENT] = "INTEGER EVENT",
	[HT_EVENT + 1] = "ANY", /* numbers and texts that look like them compare equal */
};

const char *ht_sql_type_text(enum ht_type type)
{
	return type_texts[type];
}

bool ht_sql_type_of(const char *text, enum ht_type *ret_type)
{
	for (size_t i = 0; text && i <= HT_EVENT; i++)
		if (!strcmp(type_texts[i], text)) {
			*ret_type = (enum ht_type)i;
			return true;
		}
	return false;
}

bool ht_sql_type_is_any(const char *text)
{
	return text && !strcmp(text, type_texts[HT_SQL_ANY]);
}

int ht_sql_declare(struct ht_sql_session *s, const struct ht_column *columns, size_t n,
        size_t n_visible, bool with_argument)
{
	sqlite3_str *text = sqlite3_str_new(s->db);
	sqlite3_str_appendall(text, "CREATE TABLE x(");
	for (size_t i = 0; i <= n; i++) {
		/* what a function is called with are its hidden columns, from the first on */
		if (i == n_visible && with_argument)
			sqlite3_str_appendall(text, ",\"arguments\" TEXT HIDDEN");
		if (i < n)
			sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? "," : "", columns[i].name,
			        ht_sql_type_text(columns[i].type), i < n_visible ? "" : " HIDDEN");
	}
	sqlite3_str_appendall(text, ")");
	char *sql = sqlite3_str_finish(text);
	int code = sql ? sqlite3_declare_vtab(s->db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code;
}

void ht_sql_result_u64(sqlite3_context *result, uint64_t value)
{
	char text[24];
	if (value <= INT64_MAX) {
		sqlite3_result_int64(result, (int64_t)value);
		return;
	}
	sqlite3_snprintf(sizeof text, text, "%llu", (unsigned long long)value);
	sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

void ht_sql_result_text(sqlite3_context *result, const char *text, size_t n)
{
	if (text)
		sqlite3_result_text64(result, text, n, SQLITE_STATIC, SQLITE_UTF8);
}

int ht_sql_register_tables(struct ht_sql_session *s)
{
	int code = ht_sql_register_events(s);
	if (code == SQLITE_OK)
		code = ht_sql_register_values(s);
	if (code == SQLITE_OK)
		code = ht_sql_register_results(s);
	return code;
}

static void say(struct ht_sql_vtab *v, const char *message, const char *hint)
{
	sqlite3_free(v->base.zErrMsg);
	v->base.zErrMsg = sqlite3_mprintf("%s%s%s", message, hint ? ". " : "", hint ? hint : "");
}

int ht_sql_report(struct ht_sql_vtab *v, int code)
{
	struct ht_sql_session *s = v->session;
	if (code == SQLITE_OK || !s->is_loaded || s->failed == HT_OK)
		return code;
	say(v, s->ctx->error.message, s->ctx->error.hint);
	s->failed = HT_OK;
	ht_error_clear(s->ctx);
	return code;
}

int ht_sql_check_open(struct ht_sql_vtab *v)
{
	if (v->session->set || !v->session->is_loaded)
		return SQLITE_OK;
	say(v, "no traces are open", "Open some: SELECT holotrace_open('traces/')");
	return SQLITE_ERROR;
}

#endif
