/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - what the tables and functions of one SQLite connection share: the set, its traces, what was computed.
 *
 *   ht_sql (query.c) ─► connection ─► query_guard.c  what a query may do, how long, with how much memory
 *   extension.c     ─┘            ├─ event_*.c   events, gpu, ops, launches, args: rows straight from the columns
 *                                 ├─ value_tables.c  strings, arg_values: the same
 *                                 ├─ result_table.c  small tables and analyses: made when asked, then walked
 *                                 └─ functions.c overlap_ns, union_ns, stack ...
 *
 * Traces are taken when a query first looks at their rank and kept until the connection ends, because texts are
 * handed to SQLite without a copy. A connection belongs to one thread; sets may be shared.
 */
#ifndef HT_SQL_SQL_H
#define HT_SQL_SQL_H

#include "model/calls/row_owners.h"
#include "model/efficiency/row_costs.h"
#include "model/origin/origin.h"
#include "model/clocks/clocks.h"
#include "sql/sqlite.h"
#include "store/ranges.h"
#include "store/row_index.h"
#include "store/set.h"

struct ht_arg_column;

struct ht_sql_kept;

/* Rows with a start that do not stand in their track (metadata, mostly), then those that do and are left out of
 * timelines for their time: what an answer from tracks would miss. */
struct ht_sql_trackless {
	const uint32_t *rows;
	size_t n_trackless, n_all;
};

/* What a connection knows of one rank. */
struct ht_sql_rank {
	const struct ht_trace *trace; /* NULL: not taken yet */
	struct ht_attribution attribution;
	struct ht_origins origins;
	bool has_origins;
	struct ht_row_costs costs;
	bool has_costs;
	unsigned attributes; /* parts of it that are made */
	struct ht_row_index correlations;
	bool has_correlations, has_ranges;
	unsigned n_overlaps; /* questions for what overlaps a range of time */
	unsigned n_looked;   /* and for correlation ids */
	const void *bounds;  /* of those (struct ht_row_bounds); NULL: not made yet */
	struct ht_ranges ranges;
	const struct ht_sql_trackless *trackless; /* NULL: not looked for yet */
};

struct ht_sql_session {
	ht_ctx *ctx;
	sqlite3 *db;
	ht_set *set;  /* NULL: no traces are open, all tables are empty */
	ht_set *base; /* what comparisons compare it with; NULL: nothing */
	struct ht_arena arena;
	struct ht_sql_rank *ranks; /* by rank of the roster */
	size_t n_ranks;
	const struct ht_clocks *clocks;
	bool has_clocks;
	const char *query;        /* text of the query in hand; NULL: unknown */
	struct ht_sql_kept *kept; /* tables that were made (result_table.c), and who frees them */
	void (*free_kept)(struct ht_sql_kept *kept);
	bool is_loaded;        /* inside another program, which asks SQLite what went wrong */
	bool any_is_text;      /* values of columns with several types are all given as texts */
	uint64_t n_rows;       /* of the result so far */
	enum ht_status failed; /* of a call inside SQLite; its text is in the context */
};

/* The set may be NULL. HT_NOMEM with a text. */
enum ht_status ht_sql_session_init(
        struct ht_sql_session *s, ht_ctx *ctx, ht_set *set, sqlite3 *db) HT_MUST_USE;
/* Release the traces; after the connection is closed. */
void ht_sql_session_done(struct ht_sql_session *s);
/* All tables for the session's connection; an SQLite code. */
int ht_sql_register_tables(struct ht_sql_session *s);

/* A failed call of ours inside a callback of SQLite: remembered, and as a code of SQLite. */
int ht_sql_failed(struct ht_sql_session *s, enum ht_status status);

/* Time, memory and the caller, where SQLite sees nothing for a while; SQLITE_OK: go on. */
int ht_sql_look(struct ht_sql_session *s);
/* The trace of the i-th rank; the code of SQLite. */
int ht_sql_take(struct ht_sql_session *s, size_t i, const struct ht_trace **ret_trace);
/* Own time of a rank to set time, as every table shows it. */
int ht_sql_move(struct ht_sql_session *s, size_t i, struct ht_time_move *ret_move);
/* What the rows of a rank belong to, with the parts in the mask. */
int ht_sql_attribution(
        struct ht_sql_session *s, size_t i, unsigned parts, const struct ht_attribution **ret);
/* Whose the rank's GPU work is. */
int ht_sql_origins(struct ht_sql_session *s, size_t i, const struct ht_origins **ret);
int ht_sql_costs(struct ht_sql_session *s, size_t i, const struct ht_row_costs **ret);
/* The rows of a correlation id: looked for, and with the index when it is there or enough have asked to pay for making
 * it; that is kept with the set where that is possible. The rows are in the arena, or the index. */
int ht_sql_correlated(struct ht_sql_session *s, size_t i, int64_t value, struct ht_arena *arena,
        const uint32_t **ret_rows, size_t *ret_n);
int ht_sql_ranges(struct ht_sql_session *s, size_t i, const struct ht_ranges **ret_ranges);
/* Whether to ask the range index: it is there, or enough questions have come to pay for making it. */
bool ht_sql_wants_ranges(struct ht_sql_session *s, size_t i);
int ht_sql_trackless(
        struct ht_sql_session *s, size_t i, const struct ht_sql_trackless **ret_trackless);

/* An event id as rank of the roster and row; false when there is no such event. */
int ht_sql_find_event(
        struct ht_sql_session *s, int64_t id, size_t *ret_rank, uint32_t *ret_row, bool *ret_found);

/* ---- what all tables have ---- */

/* The type of columns whose values have several, in lists of columns of this folder only. */
#define HT_SQL_ANY ((enum ht_type)(HT_EVENT + 1))

/* A table as users see it. */
struct ht_sql_table {
	const char *name, *sentence;
	const struct ht_column *columns;
	size_t n_columns;
};

/* The start of every virtual table of this folder. */
struct ht_sql_vtab {
	sqlite3_vtab base;
	struct ht_sql_session *session;
};

/* The code of a call, with its text where a host program looks for it. */
int ht_sql_report(struct ht_sql_vtab *v, int code);
/* Whether there are traces to walk: without, a host program is told. */
int ht_sql_check_open(struct ht_sql_vtab *v);

/* Declare columns to SQLite under types that ht_sql_type_of reads back. Those from n_visible on are hidden; before
 * them stands the argument of a function, which is hidden, too. */
int ht_sql_declare(struct ht_sql_session *s, const struct ht_column *columns, size_t n,
        size_t n_visible, bool with_argument);
/* "INTEGER DURATION" and the like; and back: false when it is none of ours. */
const char *ht_sql_type_text(enum ht_type type);
bool ht_sql_type_of(const char *text, enum ht_type *ret_type);
bool ht_sql_type_is_any(const char *text);
/* A number of the trace as result; those beyond int64 as text, since SQLite has none. */
void ht_sql_result_u64(sqlite3_context *result, uint64_t value);
void ht_sql_result_text(sqlite3_context *result, const char *text, size_t n);
/* The i-th entry of an argument as what it is in the file. */
void ht_sql_result_argument(sqlite3_context *result, const struct ht_trace *trace,
        const struct ht_arg_column *column, uint64_t i);

/* Register what the files define; an SQLite code. */
int ht_sql_register_events(struct ht_sql_session *s);
int ht_sql_register_values(struct ht_sql_session *s);
int ht_sql_register_results(struct ht_sql_session *s);
int ht_sql_register_small(struct ht_sql_session *s);
/* Functions take the session from where the pointer points when they are called. */
int ht_sql_register_functions(sqlite3 *db, struct ht_sql_session **session);
int ht_sql_register_statistics(sqlite3 *db, struct ht_sql_session **session);

/* All tables of fixed columns, in the order of help: the i-th, NULL after the last. */
const struct ht_sql_table *ht_sql_event_table(size_t i);
const struct ht_sql_table *ht_sql_value_table(size_t i);
const struct ht_sql_table *ht_sql_result_table(size_t i);

/* All of them together. */
const struct ht_sql_table *ht_sql_fixed_table(size_t i);
bool ht_sql_is_fixed_table(const char *name);

/* Functions of SQL, for the list of them. */
struct ht_sql_function {
	const char *call, *sentence;
};
extern const struct ht_sql_function ht_sql_functions[];
extern const size_t ht_sql_n_functions;

/* The function of an analysis in SQL: kernel_breakdown; room for HT_SQL_NAME_BYTES. */
#define HT_SQL_NAME_BYTES 64
void ht_sql_analysis_name(const struct ht_analysis_info *info, char *ret_name);
/* Whether it is a function: over one set or two, and not over files. */
bool ht_sql_offers(const struct ht_analysis_info *info);

#endif
