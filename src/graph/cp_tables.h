/*
 * cp_tables.h - the critical path as rows: one function per view.
 *
 * Every function appends the rows of one rank in the order of the columns that its view names.
 */
#ifndef HT_GRAPH_CP_TABLES_H
#define HT_GRAPH_CP_TABLES_H

#include "graph/cp_model.h"
#include "graph/cp_walk.h"
#include "graph/cp_whatif.h"

#define HT_CP_KEY_COLUMNS                                                                          \
	{ "rank", HT_I64, HT_KEY, "rank of the trace", NULL },                                     \
	        { "instance", HT_I64, HT_KEY, "which step or annotation, from 0 in time order",    \
		        NULL },                                                                    \
	{                                                                                          \
		"step", HT_I64, HT_KEY, "number of the step; null outside of steps", NULL          \
	}
#define HT_CP_EVENT_COLUMNS                                                                        \
	{ "name", HT_STR, HT_MEASURE, "name of the event", NULL },                                 \
	        { "short_name", HT_STR, HT_DETAIL,                                                 \
		        "name without template arguments and parameters", NULL },                  \
	        { "cat", HT_STR, HT_DETAIL, "category of the event", NULL },                       \
	        { "pid", HT_I64, HT_DETAIL, "process id of the event", NULL },                     \
	        { "tid", HT_I64, HT_DETAIL, "thread id of the event", NULL },                      \
	{                                                                                          \
		"stream", HT_I64, HT_DETAIL, "stream of GPU work; null on the host", NULL          \
	}

/* The columns of the views that others read, too. */
enum {
	HT_CP_PATH_RANK,
	HT_CP_PATH_INSTANCE,
	HT_CP_PATH_STEP,
	HT_CP_PATH_INDEX,
	HT_CP_PATH_TS,
	HT_CP_PATH_DURATION,
	HT_CP_PATH_TYPE,
	HT_CP_PATH_NAME,
	HT_CP_PATH_BOUND = HT_CP_PATH_NAME + 6,
	HT_CP_PATH_INFERRED,
	HT_CP_N_PATH_COLUMNS
};
extern const struct ht_column ht_cp_path_columns[HT_CP_N_PATH_COLUMNS];
enum {
	HT_CP_WHAT_IF_RANK,
	HT_CP_WHAT_IF_INSTANCE,
	HT_CP_WHAT_IF_STEP,
	HT_CP_WHAT_IF_SCALE,
	HT_CP_WHAT_IF_LENGTH,
	HT_CP_WHAT_IF_NEW_LENGTH,
	HT_CP_WHAT_IF_SAVED,
	HT_CP_WHAT_IF_SAVED_SHARE,
	HT_CP_WHAT_IF_MATCHED,
	HT_CP_WHAT_IF_N_EDGES,
	HT_CP_N_WHAT_IF_COLUMNS
};
extern const struct ht_column ht_cp_what_if_columns[HT_CP_N_WHAT_IF_COLUMNS];

enum ht_cp_view_kind {
	HT_CP_VIEW_SUMMARY,
	HT_CP_VIEW_GRAPH,
	HT_CP_VIEW_PATH,
	HT_CP_VIEW_EDGES,
	HT_CP_VIEW_EVENTS,
	HT_CP_VIEW_WHAT_IF,
	HT_CP_VIEW_COLLECTIVES, /* of all ranks together only: cp_across.h */
	HT_CP_N_VIEWS
};
/* By name. */
enum ht_cp_view_kind ht_cp_view_find(const char *name);

/* Compute the rank in hand and append its rows, times in its own clock; scale: what-if rules, NULL: each
 * kind of bound at no cost. */
enum ht_status ht_cp_put_model(struct ht_run *run, const struct ht_cp_options *options,
        enum ht_cp_view_kind view, const char *scale, ht_table *table) HT_MUST_USE;

/* ---- cells and rules, for other graphs too ---- */

/* The rules of scale, or one for each kind of bound at no cost; to be ended with ht_cp_rules_done. */
enum ht_status ht_cp_scale_read(
        struct ht_run *run, const char *scale, struct ht_cp_rules *ret_rules) HT_MUST_USE;

/* rank, instance, step */
void ht_cp_put_key(ht_table *table, const struct ht_run *run, const struct ht_cp_window *window);
/* name, short_name, cat, pid, tid, stream */
void ht_cp_put_event(ht_table *table, const struct ht_run *run, uint32_t row);
/* Text, or null when it is empty. */
void ht_cp_put_text(ht_table *table, const char *text);

#endif
