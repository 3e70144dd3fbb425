/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_links.h - the model of a window as edges between starts and ends of events, for tables and drawings.
 *
 * The longest way through these edges is as long as the window. An edge is critical when it has no slack.
 */
#ifndef HT_GRAPH_CP_LINKS_H
#define HT_GRAPH_CP_LINKS_H

#include "graph/cp_retime.h"

struct ht_cp_link {
	uint32_t from, to; /* rows */
	bool from_end, to_end;
	uint8_t type, bound;
	uint32_t row;      /* whose time it is, HT_NONE: nobody's */
	int64_t weight_ns; /* as far as it lies in the window */
	int64_t slack_ns;  /* HT_CP_FREE: nothing depends on it */
};

/* After ht_cp_slack_find. Memory in run->scratch. */
enum ht_status ht_cp_links_make(
        struct ht_cp_clock *clock, struct ht_cp_link **ret_links, size_t *ret_n) HT_MUST_USE;

#endif
