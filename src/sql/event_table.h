/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_table.h - tables whose rows are events: which columns they have and how a cell is read.
 *
 *   event_columns.c  the columns       event_plan.c   what of a query is pushed down
 *   event_walk.c     walking rows      event_group.c  rows in groups, for GROUP BY and ORDER BY
 *
 * All constraints are checked by SQLite again, so what is pushed down may let rows pass but never lose one.
 */
#ifndef HT_SQL_EVENT_TABLE_H
#define HT_SQL_EVENT_TABLE_H

#include "model/events/event_value.h"
#include "sql/sql.h"

enum ht_event_table {
	HT_SQL_EVENTS,
	HT_SQL_GPU,
	HT_SQL_OPS,
	HT_SQL_LAUNCHES,
	HT_SQL_ARGS,
	HT_SQL_N_EVENT_TABLES
};

/* How the cell of a column is read. */
enum ht_event_how {
	HT_HOW_ID,
	HT_HOW_RANK,
	HT_HOW_ROW,
	HT_HOW_TS,
	HT_HOW_DUR,
	HT_HOW_END,
	HT_HOW_TIME,
	HT_HOW_NAME,
	HT_HOW_KIND,
	HT_HOW_CAT,
	HT_HOW_CLASS,
	HT_HOW_TRACK,
	HT_HOW_PID,
	HT_HOW_TID,
	HT_HOW_STEP,
	HT_HOW_DEVICE,
	HT_HOW_STREAM,
	HT_HOW_CORRELATION,
	HT_HOW_PARENT,
	HT_HOW_LAUNCH,
	HT_HOW_OP,
	HT_HOW_LINK,   /* another field that is a row, as event */
	HT_HOW_FIELD,  /* a field of event_value.h */
	HT_HOW_N_WORK, /* of a launch */
	HT_HOW_WORK,
	HT_HOW_ARG,
	HT_N_HOWS
};

struct ht_event_cell {
	enum ht_event_how how;
	const char *field; /* of event_value.h */
};

/* A virtual table over events. */
struct ht_event_vtab {
	struct ht_sql_vtab common;
	enum ht_event_table table;
	const struct ht_column *columns;
	const struct ht_event_cell *cells;
	size_t n_columns;
	struct ht_vec plans; /* struct ht_event_plan, by idxNum */
};

/* ---- plans ---- */

enum ht_event_path {
	HT_PATH_SCAN,
	HT_PATH_ID,          /* one event */
	HT_PATH_ROW,         /* one row per rank */
	HT_PATH_CORRELATION, /* by index */
	HT_PATH_LAUNCH,      /* the work of one launch */
	HT_PATH_PARENT,      /* what is inside one event */
	HT_PATH_START,       /* of each track, or one, what starts in a range of time */
	HT_PATH_OVERLAP,     /* of each track, or one, what overlaps a range of time */
};

/* As SQLITE_INDEX_CONSTRAINT_x, of which none is 1: one of a list, which comes at once. */
#define HT_OP_IN 1

struct ht_event_test {
	uint8_t how; /* enum ht_event_how */
	uint8_t op;  /* SQLITE_INDEX_CONSTRAINT_x, HT_OP_IN */
};

#define HT_PLAN_TESTS   16
#define HT_PLAN_GROUPS  4
#define HT_PLAN_CARRIED 2

struct ht_event_plan {
	enum ht_event_path path;
	struct ht_event_test tests[HT_PLAN_TESTS]; /* in the order of xFilter's arguments */
	size_t n_tests;
	uint8_t groups[HT_PLAN_GROUPS]; /* enum ht_event_how: rows come grouped by these */
	bool descending[HT_PLAN_GROUPS];
	size_t n_groups;
	bool one_each; /* one row of each group will do */
	/* enum ht_event_how: numbers that the query reads of every row; they are moved with it */
	uint8_t carried[HT_PLAN_CARRIED];
	size_t n_carried;
};

int ht_event_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* ---- cursors ---- */

/* Ranks are below 2^31. */
#define HT_GROUP_START ((uint64_t)1 << 63)

/* A test with its value; texts are looked up rank by rank. */
struct ht_event_bound {
	struct ht_event_test test;
	int64_t value;
	const char *text; /* NULL: a number */
	uint32_t
	        id; /* of an equal text: string or code in the rank in hand; HT_NONE: it has none */
	uint8_t *
	        matches; /* LIKE, GLOB, texts of a list: by string or code, 0 unknown, 1 no, 2 yes */
	/* of a list */
	const char **texts;
	int64_t *values; /* in order */
	size_t n_listed;
};

struct ht_event_walk {
	sqlite3_vtab_cursor base;
	struct ht_event_vtab *vtab;
	struct ht_event_plan plan;
	struct ht_arena arena; /* of one xFilter */
	struct ht_event_bound bounds[HT_PLAN_TESTS];
	size_t n_bounds;
	bool is_empty; /* a constraint that nothing satisfies */
	/* the rank in hand */
	size_t i_rank;
	int64_t number;
	const struct ht_trace *trace;
	struct ht_time_move move;
	bool has_move;
	/* its candidates: rows by number, or a list */
	enum { HT_WALK_ROWS, HT_WALK_GPU, HT_WALK_LIST } walk;
	const uint32_t *list;
	size_t at, n;
	bool is_natural;   /* candidates are rows of the table already */
	uint8_t *has_args; /* bit by row, where the table is that of arguments */
	struct ht_vec found;
	bool by_track;  /* candidates come track by track */
	bool by_ranges; /* from the range index */
	size_t i_track; /* the next one; after the last come rows that stand in none */
	/* rows in groups */
	uint64_t *grouped; /* rank << 32 | row; HT_GROUP_START with the first of a group */
	int64_t *carried[HT_PLAN_CARRIED];
	size_t n_grouped, at_grouped;
	const char *group_name; /* of the group in hand, where groups have names */
	size_t n_group_name;
	/* where it stands */
	uint32_t row;
	bool is_end;
	struct ht_event_column *fields; /* by column; started for i_fields */
	uint8_t *is_started;
	size_t i_fields;
};

/* Values for the tests of the plan. */
int ht_event_walk_bind(struct ht_event_walk *w, sqlite3_value **values);
/* The next event from where it stands; an SQLite code. */
int ht_event_walk_first(struct ht_event_walk *w);
int ht_event_walk_next(struct ht_event_walk *w);
/* Take another rank in hand without candidates, for cells. */
int ht_event_walk_take(struct ht_event_walk *w, size_t i_rank);
/* Gather all events of the walk into groups; then next goes through them, until they are forgotten. */
int ht_event_group(struct ht_event_walk *w);
int ht_event_group_next(struct ht_event_walk *w);
void ht_event_group_forget(struct ht_event_walk *w);
/* The number of the row in hand that came along; false: it has to be read. */
static inline bool ht_event_carried(
        const struct ht_event_walk *w, enum ht_event_how how, int64_t *ret_value)
{
	for (size_t i = 0; w->grouped && i < w->plan.n_carried; i++)
		if (w->plan.carried[i] == how) {
			*ret_value = w->carried[i][w->at_grouped - 1];
			return true;
		}
	return false;
}
/* Values that tests and groups read; HT_NO_I64 for null. Texts are ids of the trace's strings. */
int64_t ht_event_number(struct ht_event_walk *w, enum ht_event_how how);

int ht_event_cell(struct ht_event_walk *w, sqlite3_context *result, int column);

/* Columns of a table; those of arguments depend on the traces. Lives with the session. */
int ht_event_columns(struct ht_sql_session *s, enum ht_event_table table, struct ht_event_vtab *v);

#endif
