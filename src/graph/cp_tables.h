/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_tables.h - the critical path as rows: one function per view.
 *
 * Every function appends the rows of one rank in the order of the columns that its view names.
 */
#ifndef HT_GRAPH_CP_TABLES_H
#define HT_GRAPH_CP_TABLES_H

#include "graph/cp_columns.h"
#include "graph/cp_model.h"
#include "graph/cp_walk.h"
#include "graph/cp_whatif.h"

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
void ht_cp_put_event(ht_table *table, size_t column, const struct ht_run *run, uint32_t row);
/* Text, or null when it is empty. */
void ht_cp_put_text(ht_table *table, size_t column, const char *text);

#endif
