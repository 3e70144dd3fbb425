/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_columns.h - the columns of the views of the critical path: those of one rank, of all ranks together (cp_across.h), and of
 * other ways to find it.
 */
#ifndef HT_GRAPH_CP_COLUMNS_H
#define HT_GRAPH_CP_COLUMNS_H

#include "model/origin/origin_columns.h"
#include "table/table.h"

/* The first columns of every view. */
#define HT_CP_KEY_COLUMNS(COLUMN, VIEW)                                                            \
	COLUMN(HT_CP_##VIEW##_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)             \
	COLUMN(HT_CP_##VIEW##_INSTANCE, "instance", HT_I64, HT_KEY,                                \
	        "which step or annotation, from 0 in time order", NULL)                            \
	COLUMN(HT_CP_##VIEW##_STEP, "step", HT_I64, HT_KEY,                                        \
	        "number of the step; null outside of steps", NULL)
/* What is said of an event. */
#define HT_CP_NAMED_COLUMNS(COLUMN, VIEW)                                                          \
	COLUMN(HT_CP_##VIEW##_NAME, "name", HT_STR, HT_MEASURE, "name of the event", NULL)         \
	COLUMN(HT_CP_##VIEW##_SHORT_NAME, "short_name", HT_STR, HT_DETAIL,                         \
	        "name without template arguments and parameters", NULL)                            \
	COLUMN(HT_CP_##VIEW##_CAT, "cat", HT_STR, HT_DETAIL, "category of the event", NULL)        \
	COLUMN(HT_CP_##VIEW##_PID, "pid", HT_I64, HT_DETAIL, "process id of the event", NULL)      \
	COLUMN(HT_CP_##VIEW##_TID, "tid", HT_I64, HT_DETAIL, "thread id of the event", NULL)       \
	COLUMN(HT_CP_##VIEW##_STREAM, "stream", HT_I64, HT_DETAIL,                                 \
	        "stream of GPU activity; null on the host", NULL)

#define HT_CP_SUMMARY_COLUMNS(COLUMN)                                                                \
	HT_CP_KEY_COLUMNS(COLUMN, SUMMARY)                                                           \
	COLUMN(HT_CP_SUMMARY_BOUND_BY, "bound_by", HT_STR, HT_KEY, "what the time depends on",       \
	        NULL)                                                                                \
	COLUMN(HT_CP_SUMMARY_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE,                    \
	        "time on the path so bound", NULL)                                                   \
	COLUMN(HT_CP_SUMMARY_SHARE, "share", HT_RATIO, HT_MEASURE, "of the window", NULL)            \
	COLUMN(HT_CP_SUMMARY_INFERRED_NS, "inferred_ns", HT_DURATION, HT_MEASURE,                    \
	        "of this, time that rests on dependencies without a record in the trace", NULL)      \
	COLUMN(HT_CP_SUMMARY_WINDOW_NS, "window_ns", HT_DURATION, HT_MEASURE,                        \
	        "from the start of the step to its end or that of its last work", NULL)              \
	COLUMN(HT_CP_SUMMARY_STEP_NS, "step_ns", HT_DURATION, HT_DETAIL,                             \
	        "duration of the step on the host", NULL)                                            \
	COLUMN(HT_CP_SUMMARY_IDLE_NS, "idle_ns", HT_DURATION, HT_MEASURE,                            \
	        "time of the window in which no GPU of the rank worked; windows begin on the CPU "   \
	        "and may overlap, so that it is not idle_ns of temporal-breakdown, which is of the " \
	        "GPU span; null without GPU activity",                                               \
	        NULL)                                                                                \
	COLUMN(HT_CP_SUMMARY_N_EDGES, "n_edges", HT_I64, HT_DETAIL, "pieces of the path", NULL)      \
	COLUMN(HT_CP_SUMMARY_STEP_TIME_NS, "step_time_ns", HT_DURATION, HT_MEASURE,                  \
	        "from the completion of the step before to its own; less than the window where the " \
	        "CPU runs ahead and windows overlap; null where windows are no steps",               \
	        NULL)
HT_COLUMN_NUMBERS(HT_CP_SUMMARY_COLUMNS, HT_CP_N_SUMMARY_COLUMNS);

#define HT_CP_GRAPH_COLUMNS(COLUMN)                                                                 \
	HT_CP_KEY_COLUMNS(COLUMN, GRAPH)                                                            \
	COLUMN(HT_CP_GRAPH_WINDOW_START_NS, "window_start_ns", HT_TIME, HT_MEASURE,                 \
	        "start of the window, from the first event of all ranks", NULL)                     \
	COLUMN(HT_CP_GRAPH_WINDOW_NS, "window_ns", HT_DURATION, HT_MEASURE,                         \
	        "from the start of the step to its end or that of its last work", NULL)             \
	COLUMN(HT_CP_GRAPH_STEP_NS, "step_ns", HT_DURATION, HT_DETAIL,                              \
	        "duration of the step on the host", NULL)                                           \
	COLUMN(HT_CP_GRAPH_IDLE_NS, "idle_ns", HT_DURATION, HT_MEASURE,                             \
	        "time of the window in which no GPU of the rank worked; null without GPU activity", \
	        NULL)                                                                               \
	COLUMN(HT_CP_GRAPH_LENGTH_NS, "length_ns", HT_DURATION, HT_MEASURE,                         \
	        "length of the critical path", NULL)                                                \
	COLUMN(HT_CP_GRAPH_INFERRED_NS, "inferred_ns", HT_DURATION, HT_MEASURE,                     \
	        "of this, time that rests on dependencies without a record in the trace", NULL)     \
	COLUMN(HT_CP_GRAPH_N_EVENTS, "n_events", HT_I64, HT_MEASURE, "events on the path", NULL)    \
	COLUMN(HT_CP_GRAPH_N_NODES, "n_nodes", HT_I64, HT_DETAIL, "points of the path", NULL)       \
	COLUMN(HT_CP_GRAPH_N_EDGES, "n_edges", HT_I64, HT_DETAIL, "pieces of the path", NULL)       \
	COLUMN(HT_CP_GRAPH_GRAPH_NODES, "graph_nodes", HT_I64, HT_DETAIL,                           \
	        "starts and ends that have an edge", NULL)                                          \
	COLUMN(HT_CP_GRAPH_GRAPH_EDGES, "graph_edges", HT_I64, HT_DETAIL, "edges between them",     \
	        NULL)
HT_COLUMN_NUMBERS(HT_CP_GRAPH_COLUMNS, HT_CP_N_GRAPH_COLUMNS);

#define HT_CP_PATH_COLUMNS(COLUMN)                                                                   \
	HT_CP_KEY_COLUMNS(COLUMN, PATH)                                                              \
	COLUMN(HT_CP_PATH_INDEX, "index", HT_I64, HT_KEY,                                            \
	        "row of the event that the time belongs to, of a delay the work that is late; null " \
	        "when nobody's",                                                                     \
	        NULL)                                                                                \
	COLUMN(HT_CP_PATH_TS, "ts_ns", HT_TIME, HT_MEASURE,                                          \
	        "when it begins, from the first event of all ranks", NULL)                           \
	COLUMN(HT_CP_PATH_DURATION, "duration_ns", HT_DURATION, HT_MEASURE, "time on the path",      \
	        NULL)                                                                                \
	COLUMN(HT_CP_PATH_TYPE, "type", HT_STR, HT_MEASURE, "kind of the time", NULL)                \
	HT_CP_NAMED_COLUMNS(COLUMN, PATH)                                                            \
	COLUMN(HT_CP_PATH_BOUND, "bound_by", HT_STR, HT_MEASURE,                                     \
	        "what the time depends on; null for edges without time", NULL)                       \
	COLUMN(HT_CP_PATH_INFERRED, "inferred", HT_BOOL, HT_MEASURE,                                 \
	        "that this was waited for has no record in the trace", NULL)                         \
	HT_ORIGIN_COLUMNS(COLUMN, HT_CP_PATH, HT_DETAIL)
HT_COLUMN_NUMBERS(HT_CP_PATH_COLUMNS, HT_CP_N_PATH_COLUMNS);

#define HT_CP_EDGE_COLUMNS(COLUMN)                                                                 \
	HT_CP_KEY_COLUMNS(COLUMN, EDGE)                                                            \
	COLUMN(HT_CP_EDGE_FROM_INDEX, "from_index", HT_I64, HT_KEY,                                \
	        "row of the event that the edge leaves", NULL)                                     \
	COLUMN(HT_CP_EDGE_FROM_POINT, "from_point", HT_STR, HT_KEY, "start or end of that event",  \
	        NULL)                                                                              \
	COLUMN(HT_CP_EDGE_TO_INDEX, "to_index", HT_I64, HT_KEY,                                    \
	        "row of the event that the edge enters", NULL)                                     \
	COLUMN(HT_CP_EDGE_TO_POINT, "to_point", HT_STR, HT_KEY, "start or end of that event",      \
	        NULL)                                                                              \
	COLUMN(HT_CP_EDGE_INDEX, "index", HT_I64, HT_KEY,                                          \
	        "row of the event that the time belongs to; null when nobody's", NULL)             \
	COLUMN(HT_CP_EDGE_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE,                     \
	        "least time between the two", NULL)                                                \
	COLUMN(HT_CP_EDGE_TYPE, "type", HT_STR, HT_MEASURE, "kind of the edge", NULL)              \
	COLUMN(HT_CP_EDGE_BOUND_BY, "bound_by", HT_STR, HT_MEASURE,                                \
	        "what the time depends on; null for edges without time", NULL)                     \
	COLUMN(HT_CP_EDGE_SLACK_NS, "slack_ns", HT_DURATION, HT_MEASURE,                           \
	        "how much longer it could take before the window gets longer; null: without end",  \
	        NULL)                                                                              \
	COLUMN(HT_CP_EDGE_CRITICAL, "critical", HT_BOOL, HT_MEASURE, "no slack", NULL)
HT_COLUMN_NUMBERS(HT_CP_EDGE_COLUMNS, HT_CP_N_EDGE_COLUMNS);

#define HT_CP_EVENT_COLUMNS(COLUMN)                                                                \
	HT_CP_KEY_COLUMNS(COLUMN, EVENT)                                                           \
	COLUMN(HT_CP_EVENT_INDEX, "index", HT_I64, HT_KEY, "row of the event", NULL)               \
	COLUMN(HT_CP_EVENT_TS_NS, "ts_ns", HT_TIME, HT_MEASURE,                                    \
	        "when it begins, from the first event of all ranks", NULL)                         \
	HT_CP_NAMED_COLUMNS(COLUMN, EVENT)                                                         \
	COLUMN(HT_CP_EVENT_DUR_NS, "dur_ns", HT_DURATION, HT_MEASURE,                              \
	        "duration of the event itself", NULL)                                              \
	COLUMN(HT_CP_EVENT_PATH_NS, "path_ns", HT_DURATION, HT_MEASURE,                            \
	        "time on the critical path that belongs to the event", NULL)                       \
	COLUMN(HT_CP_EVENT_SLACK_NS, "slack_ns", HT_DURATION, HT_MEASURE,                          \
	        "how much longer it could take before the window gets longer; null: without end",  \
	        NULL)                                                                              \
	COLUMN(HT_CP_EVENT_CRITICAL, "critical", HT_BOOL, HT_MEASURE,                              \
	        "on the path, or without slack", NULL)                                             \
	HT_ORIGIN_COLUMNS(COLUMN, HT_CP_EVENT, HT_DETAIL)
HT_COLUMN_NUMBERS(HT_CP_EVENT_COLUMNS, HT_CP_N_EVENT_COLUMNS);

#define HT_CP_WHAT_IF_COLUMNS(COLUMN)                                                              \
	HT_CP_KEY_COLUMNS(COLUMN, WHAT_IF)                                                         \
	COLUMN(HT_CP_WHAT_IF_SCALE, "scale", HT_STR, HT_KEY,                                       \
	        "the rule: what, and by how much its time is multiplied", NULL)                    \
	COLUMN(HT_CP_WHAT_IF_LENGTH, "length_ns", HT_DURATION, HT_MEASURE,                         \
	        "length of the critical path", NULL)                                               \
	COLUMN(HT_CP_WHAT_IF_NEW_LENGTH, "new_length_ns", HT_DURATION, HT_MEASURE,                 \
	        "length with the changed durations", NULL)                                         \
	COLUMN(HT_CP_WHAT_IF_SAVED, "saved_ns", HT_DURATION, HT_MEASURE,                           \
	        "how much shorter that is", NULL)                                                  \
	COLUMN(HT_CP_WHAT_IF_SAVED_SHARE, "saved_share", HT_RATIO, HT_MEASURE,                     \
	        "saved over length", NULL)                                                         \
	COLUMN(HT_CP_WHAT_IF_MATCHED, "matched_ns", HT_DURATION, HT_MEASURE,                       \
	        "time of the step that the rule fits", NULL)                                       \
	COLUMN(HT_CP_WHAT_IF_N_EDGES, "n_edges", HT_I64, HT_DETAIL,                                \
	        "pieces of time that the rule fits", NULL)
HT_COLUMN_NUMBERS(HT_CP_WHAT_IF_COLUMNS, HT_CP_N_WHAT_IF_COLUMNS);

#define HT_CP_COLLECTIVE_COLUMNS(COLUMN)                                                           \
	HT_CP_KEY_COLUMNS(COLUMN, COLLECTIVE)                                                      \
	COLUMN(HT_CP_COLLECTIVE_COLLECTIVE, "collective", HT_STR, HT_KEY,                          \
	        "collective, or its kernel", NULL)                                                 \
	COLUMN(HT_CP_COLLECTIVE_GROUP, "group", HT_STR, HT_KEY,                                    \
	        "process group and its ranks, or the pair of a send", NULL)                        \
	COLUMN(HT_CP_COLLECTIVE_NTH, "nth", HT_I64, HT_KEY,                                        \
	        "sequence number, or position from 0 in the step", NULL)                           \
	COLUMN(HT_CP_COLLECTIVE_TS_NS, "ts_ns", HT_TIME, HT_MEASURE,                               \
	        "when the last rank came, from the first event of all ranks", NULL)                \
	COLUMN(HT_CP_COLLECTIVE_DURATION_NS, "duration_ns", HT_DURATION, HT_MEASURE,               \
	        "time on the path after that", NULL)                                               \
	COLUMN(HT_CP_COLLECTIVE_LAST_RANK, "last_rank", HT_I64, HT_MEASURE,                        \
	        "rank that came last, where the path goes on", NULL)                               \
	COLUMN(HT_CP_COLLECTIVE_WAIT_NS, "wait_ns", HT_DURATION, HT_MEASURE,                       \
	        "from the first rank to come to the last", NULL)                                   \
	COLUMN(HT_CP_COLLECTIVE_WAITED_FOR, "waited_for", HT_STR, HT_MEASURE,                      \
	        "what took the last rank the most of that time on the path; null: nothing", NULL)  \
	COLUMN(HT_CP_COLLECTIVE_WAITED_FOR_BOUND, "waited_for_bound", HT_STR, HT_MEASURE,          \
	        "what that depends on", NULL)                                                      \
	COLUMN(HT_CP_COLLECTIVE_WAITED_FOR_NS, "waited_for_ns", HT_DURATION, HT_MEASURE,           \
	        "how long that took", NULL)
HT_COLUMN_NUMBERS(HT_CP_COLLECTIVE_COLUMNS, HT_CP_N_COLLECTIVE_COLUMNS);

/* Numbers of the keys in any view, and of what is said of an event from its name on. */
enum { HT_CP_KEY_COLUMNS(HT_COLUMN_NUMBER, KEY) };
enum { HT_CP_NAMED_COLUMNS(HT_COLUMN_NUMBER, NAMED) HT_CP_N_EVENT_CELLS };

/* Those that others read, too. */
extern const struct ht_column ht_cp_path_columns[HT_CP_N_PATH_COLUMNS];
extern const struct ht_column ht_cp_what_if_columns[HT_CP_N_WHAT_IF_COLUMNS];

#endif
