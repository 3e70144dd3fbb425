/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_graph.h - what a rank did as a graph of durations and what each waits for, to be replayed with other durations.
 *
 * Nodes stand in an order in which each comes after what it waits for:
 *     host     a thread from one point to the next: a launch, a call that waits, an operator that goes on for another thread, the end of
 *              a step. Its duration is the thread's own; time in which the thread waits for the GPU or another thread is none.
 *     work     a piece of GPU activity with its duration.
 * A node begins when all of these are over:
 *     before   the node before it on its thread or stream, and the pause that streams need between two pieces of work: the median of
 *              what pieces of that name took that were queued behind another
 *     launch   the host reached the launch call, and the launch latency: the least that pieces of that name took on an idle stream
 *     edges    work that an event makes it wait for; the work that a call waits for; the thread that it goes on for
 * What waits for calls of the host that communicate (comm_calls.h) is in no node: of those a window has the name of the first.
 * No start is kept as it was recorded, only those of nodes that wait for nothing: the first of a thread or stream. By how much work began
 * later than all that it waited for is its gap, which nothing explains.
 */
#ifndef HT_JOB_EVENT_GRAPH_H
#define HT_JOB_EVENT_GRAPH_H

#include "graph/cp_model.h"
#include "graph/cp_whatif.h"
#include "job/event_flags.h"
#include "model/part.h"

#define HT_EVENT_NODE_COLUMNS(COLUMN)                                                              \
	COLUMN(HT_EVENT_START, "start_ns", HT_TIME, HT_MEASURE, "when it began", NULL)             \
	COLUMN(HT_EVENT_DUR, "duration_ns", HT_DURATION, HT_MEASURE, "how long it took", NULL)     \
	COLUMN(HT_EVENT_BEFORE, "before", HT_I64, HT_KEY,                                          \
	        "node before it on its thread or stream", NULL)                                    \
	COLUMN(HT_EVENT_BEFORE_LAG, "before_lag_ns", HT_DURATION, HT_MEASURE, "pause after that",  \
	        NULL)                                                                              \
	COLUMN(HT_EVENT_LAUNCHED, "launch", HT_I64, HT_KEY,                                        \
	        "host node that ends where it is launched", NULL)                                  \
	COLUMN(HT_EVENT_LAUNCH_LAG, "launch_lag_ns", HT_DURATION, HT_MEASURE, "launch latency",    \
	        NULL)                                                                              \
	COLUMN(HT_EVENT_ROW, "row", HT_I64, HT_KEY, "row of the event", NULL)                      \
	COLUMN(HT_EVENT_NAME, "name", HT_STR, HT_KEY, "name of the event", NULL)                   \
	COLUMN(HT_EVENT_STEP, "step", HT_I64, HT_KEY, "window that it belongs to, from 0", NULL)   \
	COLUMN(HT_EVENT_FLAGS, "flags", HT_I64, HT_MEASURE, "what it is", NULL)                    \
	COLUMN(HT_EVENT_RULES, "rules", HT_I64, HT_MEASURE, "rules that fit, a bit for each",      \
	        NULL)                                                                              \
	COLUMN(HT_EVENT_GAP, "gap_ns", HT_DURATION, HT_MEASURE,                                    \
	        "how much later than all that it waits for it began", NULL)
HT_COLUMN_NUMBERS(HT_EVENT_NODE_COLUMNS, HT_N_EVENT_COLUMNS);
extern const struct ht_column ht_event_node_columns[HT_N_EVENT_COLUMNS];

#define HT_EVENT_EDGE_COLUMNS(COLUMN)                                                              \
	COLUMN(HT_EDGE_TO, "to", HT_I64, HT_KEY, "node that waits", NULL)                          \
	COLUMN(HT_EDGE_FROM, "from", HT_I64, HT_KEY, "node that it waits for", NULL)               \
	COLUMN(HT_EDGE_LAG, "lag_ns", HT_DURATION, HT_MEASURE, "time that passes between them",    \
	        NULL)                                                                              \
	COLUMN(HT_EDGE_KIND, "kind", HT_I64, HT_MEASURE, "how it is known", NULL)
HT_COLUMN_NUMBERS(HT_EVENT_EDGE_COLUMNS, HT_N_EVENT_EDGE_COLUMNS);
extern const struct ht_column ht_event_edge_columns[HT_N_EVENT_EDGE_COLUMNS];

enum ht_event_edge {
	HT_EDGE_RECORDED, /* from the end: an event, a wait, a thread that hands over */
	HT_EDGE_INFERRED, /* the same, found from times */
	HT_EDGE_OVERLAP,  /* from the start: the two ran side by side on one stream */
};

#define HT_EVENT_WINDOW_COLUMNS(COLUMN)                                                            \
	COLUMN(HT_WINDOW_STEP, "step", HT_I64, HT_KEY, "number of the step; null: none", NULL)     \
	COLUMN(HT_WINDOW_START, "start_ns", HT_TIME, HT_MEASURE, "start on the host", NULL)        \
	COLUMN(HT_WINDOW_END, "end_ns", HT_TIME, HT_MEASURE,                                       \
	        "end on the host, or of its last GPU activity", NULL)                              \
	COLUMN(HT_WINDOW_CALL, "call", HT_STR, HT_KEY,                                             \
	        "call of the host in it that communicates, the first; null: none", NULL)
HT_COLUMN_NUMBERS(HT_EVENT_WINDOW_COLUMNS, HT_N_EVENT_WINDOW_COLUMNS);
extern const struct ht_column ht_event_window_columns[HT_N_EVENT_WINDOW_COLUMNS];

#define HT_EVENT_GROUP_COLUMNS(COLUMN)                                                             \
	COLUMN(HT_GROUP_DESCRIPTION, "description", HT_STR, HT_KEY, "what a process group is for", \
	        NULL)                                                                              \
	COLUMN(HT_GROUP_RANKS, "ranks", HT_STR, HT_KEY, "its ranks, a list", NULL)
HT_COLUMN_NUMBERS(HT_EVENT_GROUP_COLUMNS, HT_N_EVENT_GROUP_COLUMNS);
extern const struct ht_column ht_event_group_columns[HT_N_EVENT_GROUP_COLUMNS];

/* What rules that are about whole events, or fuse them, need to know; of nodes that they fit. */
#define HT_EVENT_OF_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_OF_NODE, "node", HT_I64, HT_KEY, "node, ascending", NULL)                        \
	COLUMN(HT_OF_EVENT, "event", HT_I64, HT_KEY,                                               \
	        "row of the event that a rule about whole events is about", NULL)                  \
	COLUMN(HT_OF_MEMORY, "memory_ns", HT_DURATION, HT_MEASURE,                                 \
	        "its bytes over the memory bandwidth of the device", NULL)
HT_COLUMN_NUMBERS(HT_EVENT_OF_COLUMNS, HT_N_EVENT_OF_COLUMNS);
extern const struct ht_column ht_event_of_columns[HT_N_EVENT_OF_COLUMNS];

/* The tables of a part. */
enum {
	HT_EVENT_FACTS_NODES = 1,
	HT_EVENT_FACTS_EDGES,
	HT_EVENT_FACTS_WINDOWS,
	HT_EVENT_FACTS_GROUPS,
	HT_EVENT_FACTS_OF
};

/* Those of the rank in hand. rules may be NULL. */
enum ht_status ht_event_graph_put(struct ht_run *run, const struct ht_cp_options *options,
        const char *rules, struct ht_part *part) HT_MUST_USE;
/* Whether those of a part that was read hold together. */
bool ht_event_graph_is_sound(const struct ht_part *part);

#endif
