/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_plan.c - which way to the events a query wants: an index, a track, or all rows with tests on numbers.
 *
 * A plan is found again by its number (idxNum); its text (idxStr) is for EXPLAIN QUERY PLAN. Costs are in rows
 * looked at, from the number of events in the set, which is known before any trace is read.
 */
#if defined(HT_HAVE_SQLITE)

#include "sql/event_table.h"

#include <string.h>

static const char *const path_names[] = {
	[HT_PATH_SCAN] = "scan",
	[HT_PATH_ID] = "by id",
	[HT_PATH_ROW] = "by row",
	[HT_PATH_CORRELATION] = "correlation index",
	[HT_PATH_LAUNCH] = "by launch",
	[HT_PATH_PARENT] = "children",
	[HT_PATH_START] = "tracks by start",
	[HT_PATH_OVERLAP] = "range index",
};

static bool is_compared(unsigned char op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
	       op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT ||
	       op == SQLITE_INDEX_CONSTRAINT_GE;
}

/* Whether a constraint can be tested here. */
static bool is_testable(sqlite3_index_info *info, int i, enum ht_event_how how)
{
	unsigned char op = info->aConstraint[i].op;
	switch (how) {
	case HT_HOW_NAME:
		if (op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB)
			return true;
		/* fall through */
	case HT_HOW_KIND:
	case HT_HOW_CAT:
	case HT_HOW_CLASS:
		return op == SQLITE_INDEX_CONSTRAINT_EQ &&
		       !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
	case HT_HOW_ID:
	case HT_HOW_PARENT:
	case HT_HOW_LAUNCH:
	case HT_HOW_OP:
	case HT_HOW_CORRELATION: return op == SQLITE_INDEX_CONSTRAINT_EQ;
	case HT_HOW_RANK:
	case HT_HOW_ROW:
	case HT_HOW_TS:
	case HT_HOW_DUR:
	case HT_HOW_END:
	case HT_HOW_TIME:
	case HT_HOW_TRACK:
	case HT_HOW_STEP: return is_compared(op);
	default: return false;
	}
}

/* Whether the constraint is a list that is better tested at once than value by value: those that no index is for. */
static bool take_list(sqlite3_index_info *info, int i, enum ht_event_how how)
{
	bool is_fit = how == HT_HOW_RANK || how == HT_HOW_NAME || how == HT_HOW_KIND ||
	              how == HT_HOW_CAT || how == HT_HOW_CLASS || how == HT_HOW_STEP ||
	              how == HT_HOW_OP;
#if SQLITE_VERSION_NUMBER >= 3038000
	return is_fit && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_in(info, i, -1) &&
	       sqlite3_vtab_in(info, i, 1);
#else
	(void)info;
	(void)i;
	return is_fit && false;
#endif
}

static void take_tests(
        const struct ht_event_vtab *v, sqlite3_index_info *info, struct ht_event_plan *plan)
{
	for (int i = 0; i < info->nConstraint && plan->n_tests < HT_PLAN_TESTS; i++) {
		int column = info->aConstraint[i].iColumn;
		enum ht_event_how how = column < 0 ? HT_HOW_ID : v->cells[column].how;
		if (!info->aConstraint[i].usable || !is_testable(info, i, how))
			continue;
		uint8_t op = take_list(info, i, how) ? HT_OP_IN : info->aConstraint[i].op;
		plan->tests[plan->n_tests++] = (struct ht_event_test){ (uint8_t)how, op };
		info->aConstraintUsage[i].argvIndex = (int)plan->n_tests;
	}
}

static bool has_test(const struct ht_event_plan *plan, enum ht_event_how how, bool (*op)(uint8_t))
{
	for (size_t i = 0; i < plan->n_tests; i++)
		if (plan->tests[i].how == how && op(plan->tests[i].op))
			return true;
	return false;
}

static bool equals(uint8_t op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ;
}

static bool from_below(uint8_t op)
{
	return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE || equals(op);
}

static bool from_above(uint8_t op)
{
	return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE || equals(op);
}

static void choose_path(struct ht_event_plan *plan)
{
	bool after =
	        has_test(plan, HT_HOW_TS, from_below) || has_test(plan, HT_HOW_TIME, from_below);
	bool before =
	        has_test(plan, HT_HOW_TS, from_above) || has_test(plan, HT_HOW_TIME, from_above);
	bool one_track = has_test(plan, HT_HOW_TRACK, equals);
	if (has_test(plan, HT_HOW_ID, equals))
		plan->path = HT_PATH_ID;
	else if (has_test(plan, HT_HOW_ROW, equals))
		plan->path = HT_PATH_ROW;
	else if (has_test(plan, HT_HOW_CORRELATION, equals))
		plan->path = HT_PATH_CORRELATION;
	else if (has_test(plan, HT_HOW_LAUNCH, equals))
		plan->path = HT_PATH_LAUNCH;
	else if (has_test(plan, HT_HOW_PARENT, equals))
		plan->path = HT_PATH_PARENT;
	else if ((after && before) || (one_track && after))
		plan->path = HT_PATH_START;
	else if (before && has_test(plan, HT_HOW_END, from_below))
		plan->path = HT_PATH_OVERLAP;
	else if (one_track && before)
		plan->path = HT_PATH_START;
}

/* ---- order ---- */

static bool is_grouped_by(enum ht_event_how how)
{
	return how == HT_HOW_RANK || how == HT_HOW_NAME || how == HT_HOW_KIND ||
	       how == HT_HOW_CAT || how == HT_HOW_CLASS || how == HT_HOW_STEP ||
	       how == HT_HOW_TRACK;
}

/* Rows come by rank and row unless the path goes by tracks. */
static bool is_natural(
        const struct ht_event_vtab *v, const sqlite3_index_info *info, enum ht_event_path path)
{
	static const enum ht_event_how order[] = { HT_HOW_RANK, HT_HOW_ROW };
	if (path >= HT_PATH_LAUNCH || info->nOrderBy > 2)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;
		enum ht_event_how how = column < 0 ? HT_HOW_ID : v->cells[column].how;
		if (info->aOrderBy[i].desc)
			return false;
		if (how == HT_HOW_ID)
			return true;
		if (how != order[i])
			return false;
	}
	return true;
}

static int distinct_of(sqlite3_index_info *info)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	if (sqlite3_libversion_number() >= 3038000)
		return sqlite3_vtab_distinct(info);
#endif
	(void)info;
	return 0;
}

static void take_order(
        const struct ht_event_vtab *v, sqlite3_index_info *info, struct ht_event_plan *plan)
{
	sqlite3_uint64 by = 0;
	if (!info->nOrderBy || is_natural(v, info, plan->path)) {
		info->orderByConsumed = info->nOrderBy > 0;
		return;
	}
	if (info->nOrderBy > HT_PLAN_GROUPS)
		return;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;
		if (column < 0 || !is_grouped_by(v->cells[column].how))
			return;
	}
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;
		by |= column < 63 ? (sqlite3_uint64)1 << column : 0;
		plan->groups[plan->n_groups] = (uint8_t)v->cells[column].how;
		plan->descending[plan->n_groups++] = info->aOrderBy[i].desc;
	}
	static const enum ht_event_how numbers[] = { HT_HOW_DUR, HT_HOW_TS, HT_HOW_END };
	for (size_t c = 0; c < v->n_columns && c < 63; c++)
		for (size_t k = 0; k < HT_COUNT(numbers) && plan->n_carried < HT_PLAN_CARRIED; k++)
			if (v->cells[c].how == numbers[k] && info->colUsed >> c & 1)
				plan->carried[plan->n_carried++] = (uint8_t)numbers[k];
	/* when nothing else of a row is looked at, all rows of a group are the same to the query */
	plan->one_each = distinct_of(info) >= 2 && !(info->colUsed & ~by);
	info->orderByConsumed = 1;
}

/* ---- cost ---- */

static double n_events(const struct ht_sql_session *s)
{
	double n = 1;
	for (size_t i = 0; i < s->n_ranks; i++)
		n += (double)s->set->roster.ranks[i].n_events;
	return n;
}

static void estimate(
        const struct ht_event_vtab *v, const struct ht_event_plan *plan, sqlite3_index_info *info)
{
	const struct ht_sql_session *s = v->common.session;
	double all = n_events(s), ranks = s->n_ranks ? (double)s->n_ranks : 1, rows = all, looked;
	static const double shares[HT_SQL_N_EVENT_TABLES] = { 1, 0.1, 0.3, 0.1, 0.7 };
	bool one_rank = has_test(plan, HT_HOW_RANK, equals);
	rows = (rows * shares[v->table] + 1) / (one_rank ? ranks : 1);
	looked = v->table == HT_SQL_OPS ? rows / 0.3 : rows;
	switch (plan->path) {
	case HT_PATH_ID: looked = rows = 1; break;
	case HT_PATH_ROW: looked = rows = one_rank ? 1 : ranks; break;
	case HT_PATH_CORRELATION: looked = rows = 4 * (one_rank ? 1 : ranks); break;
	case HT_PATH_LAUNCH: looked = rows = 2; break;
	case HT_PATH_PARENT:
		rows = 8;
		looked = 40;
		break;
	case HT_PATH_START:
	case HT_PATH_OVERLAP:
		rows = rows / (has_test(plan, HT_HOW_TRACK, equals) ? 1000 : 100) + 10;
		looked = rows;
		break;
	case HT_PATH_SCAN: break;
	}
	for (size_t i = 0; i < plan->n_tests && plan->path == HT_PATH_SCAN; i++)
		if (plan->tests[i].how != HT_HOW_RANK)
			rows = rows / 10 + 1;
	/* a row that is only looked at costs a tenth of one that SQLite sees */
	info->estimatedCost = rows + looked / 10 + (plan->n_groups ? looked / 10 : 0);
	info->estimatedRows = (sqlite3_int64)rows + 1;
	if (plan->path == HT_PATH_ID || (plan->path == HT_PATH_ROW && one_rank))
		info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
}

/* ---- text ---- */

static const char *op_text(uint8_t op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ: return "=";
	case SQLITE_INDEX_CONSTRAINT_GT: return ">";
	case SQLITE_INDEX_CONSTRAINT_LE: return "<=";
	case SQLITE_INDEX_CONSTRAINT_LT: return "<";
	case SQLITE_INDEX_CONSTRAINT_GE: return ">=";
	case SQLITE_INDEX_CONSTRAINT_LIKE: return " LIKE ";
	case HT_OP_IN: return " IN ";
	default: return " GLOB ";
	}
}

static const char *how_text(const struct ht_event_vtab *v, uint8_t how)
{
	for (size_t i = 0; i < v->n_columns; i++)
		if (v->cells[i].how == (enum ht_event_how)how)
			return v->columns[i].name;
	return "";
}

static char *describe(const struct ht_event_vtab *v, const struct ht_event_plan *plan)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, path_names[plan->path]);
	for (size_t i = 0; i < plan->n_tests; i++)
		sqlite3_str_appendf(text, "%s%s%s?", i ? " AND " : ": ",
		        how_text(v, plan->tests[i].how), op_text(plan->tests[i].op));
	for (size_t i = 0; i < plan->n_groups; i++)
		sqlite3_str_appendf(text, "%s%s%s",
		        i                ? ","
		        : plan->one_each ? " DISTINCT "
		                         : " GROUPED BY ",
		        how_text(v, plan->groups[i]), plan->descending[i] ? " DESC" : "");
	return sqlite3_str_finish(text);
}

/* The number of the plan, which is kept once; -1 when out of memory. */
static int keep_plan(struct ht_event_vtab *v, const struct ht_event_plan *plan)
{
	const struct ht_event_plan *plans = v->plans.data;
	for (size_t i = 0; i < v->plans.n; i++)
		if (!memcmp(&plans[i], plan, sizeof *plan))
			return (int)i;
	if (!HT_VEC_PUSH(v->common.session->ctx->mem, &v->plans, struct ht_event_plan, *plan))
		return -1;
	return (int)v->plans.n - 1;
}

int ht_event_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct ht_event_vtab *v = (struct ht_event_vtab *)vtab;
	struct ht_event_plan plan;
	/* compared byte by byte, so what lies between its fields must be the same */
	memset(&plan, 0, sizeof plan);
	take_tests(v, info, &plan);
	choose_path(&plan);
	take_order(v, info, &plan);
	estimate(v, &plan, info);
	info->idxNum = keep_plan(v, &plan);
	info->idxStr = describe(v, &plan);
	info->needToFreeIdxStr = 1;
	return info->idxNum < 0 || !info->idxStr ? SQLITE_NOMEM : SQLITE_OK;
}

#endif
