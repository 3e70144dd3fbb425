/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_rows.h - the events of one window after the other.
 *
 * There may be as many windows as events, so no window looks at all events: those that have begun and are not over go
 * from a window to the next.
 */
#ifndef HT_GRAPH_CP_ROWS_H
#define HT_GRAPH_CP_ROWS_H

#include "graph/cp_walk.h"

struct ht_cp_rows {
	struct ht_run *run;
	const struct ht_cp_model *m;
	uint32_t *by_start; /* host rows that take time and GPU work */
	size_t n, n_begun;  /* of them */
	struct ht_vec
	        open; /* uint32_t: those that have begun and were not over when the last window began */
	int64_t last_start_ns;
	int64_t *path_ns;    /* by row: its time on the path of the window */
	struct ht_vec found; /* uint32_t: rows of the window, ascending */
};

/* Memory in run->scratch but for the lists, which done frees, also after a failure. */
enum ht_status ht_cp_rows_init(struct ht_run *run, const struct ht_cp_model *model,
        struct ht_cp_rows *ret_rows) HT_MUST_USE;
void ht_cp_rows_done(struct ht_cp_rows *rows);
/* Find the rows that run in a window, or have time on its path. */
enum ht_status ht_cp_rows_find(struct ht_cp_rows *rows, const struct ht_cp_window *window,
        const struct ht_cp_piece *pieces, size_t n_pieces) HT_MUST_USE;
/* The work of a row; HT_NONE for one of the host. */
uint32_t ht_cp_rows_work(const struct ht_cp_rows *rows, uint32_t row);

#endif
