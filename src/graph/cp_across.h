/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cp_across.h - the critical path of a job: from rank to rank, where a collective waits for the last to come.
 *
 *   rank 0   [ a ][ all-reduce ............][ b ]       b, the all-reduce after rank 2 had come,
 *   rank 2   [     gemm      ][ all-reduce ][ b ]       then the gemm of rank 2
 *
 * A rank contributes its path back from the end of every window and from every communication kernel, as far as
 * the next communication kernel: chains of pieces, each piece once. Brought together, the path begins on the
 * rank that ends last; in a collective it goes to the rank that began it last, at that moment. Kernels of
 * other ranks are found by clocks.h; what has no partner is passed through.
 */
#ifndef HT_GRAPH_CP_ACROSS_H
#define HT_GRAPH_CP_ACROSS_H

#include "graph/cp_tables.h"
#include "model/part.h"

/* What a rank contributes: pieces and chains. */
#define HT_CP_PIECE_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_CP_PIECE_INDEX, "index", HT_I64, HT_KEY, "row of the event", NULL)               \
	COLUMN(HT_CP_PIECE_START, "ts_ns", HT_TIME, HT_MEASURE, "when it begins", NULL)            \
	COLUMN(HT_CP_PIECE_DUR, "duration_ns", HT_DURATION, HT_MEASURE, "how long", NULL)          \
	COLUMN(HT_CP_PIECE_TYPE, "type", HT_I64, HT_MEASURE, "kind of the time", NULL)             \
	COLUMN(HT_CP_PIECE_BOUND, "bound", HT_I64, HT_MEASURE, "what it depends on", NULL)         \
	COLUMN(HT_CP_PIECE_INFERRED, "inferred", HT_BOOL, HT_MEASURE, "no record in the trace",    \
	        NULL)                                                                              \
	COLUMN(HT_CP_PIECE_NAME, "name", HT_STR, HT_MEASURE, "name of the event", NULL)            \
	COLUMN(HT_CP_PIECE_SHORT_NAME, "short_name", HT_STR, HT_DETAIL, "short name", NULL)        \
	COLUMN(HT_CP_PIECE_CAT, "cat", HT_STR, HT_DETAIL, "category", NULL)                        \
	COLUMN(HT_CP_PIECE_PID, "pid", HT_I64, HT_DETAIL, "process id", NULL)                      \
	COLUMN(HT_CP_PIECE_TID, "tid", HT_I64, HT_DETAIL, "thread id", NULL)                       \
	COLUMN(HT_CP_PIECE_STREAM, "stream", HT_I64, HT_DETAIL, "stream of GPU activity", NULL)    \
	HT_ORIGIN_COLUMNS(COLUMN, HT_CP_PIECE, HT_DETAIL)
HT_COLUMN_NUMBERS(HT_CP_PIECE_COLUMNS, HT_CP_N_PIECE_COLUMNS);
extern const struct ht_column ht_cp_piece_columns[HT_CP_N_PIECE_COLUMNS];
enum { HT_CP_N_NAMED_COLUMNS = HT_CP_PIECE_NAME + 1 }; /* all that only_names fills */
#define HT_CP_CHAIN_COLUMNS(COLUMN)                                                                \
	COLUMN(HT_CP_CHAIN_ROW, "row", HT_I64, HT_KEY, "communication kernel; null for a window",  \
	        NULL)                                                                              \
	COLUMN(HT_CP_CHAIN_START, "start_ns", HT_TIME, HT_MEASURE, "start of kernel or window",    \
	        NULL)                                                                              \
	COLUMN(HT_CP_CHAIN_END, "end_ns", HT_TIME, HT_MEASURE, "end of kernel or window", NULL)    \
	COLUMN(HT_CP_CHAIN_INSTANCE, "instance", HT_I64, HT_KEY, "window: which", NULL)            \
	COLUMN(HT_CP_CHAIN_STEP, "step", HT_I64, HT_KEY, "window: number of the step", NULL)       \
	COLUMN(HT_CP_CHAIN_STEP_NS, "step_ns", HT_DURATION, HT_MEASURE,                            \
	        "window: duration on the host", NULL)                                              \
	COLUMN(HT_CP_CHAIN_IDLE_NS, "idle_ns", HT_DURATION, HT_MEASURE,                            \
	        "window: time without GPU activity", NULL)                                         \
	COLUMN(HT_CP_CHAIN_OWN, "own", HT_I64, HT_MEASURE, "kernel: its own piece", NULL)          \
	COLUMN(HT_CP_CHAIN_FIRST, "first", HT_I64, HT_MEASURE, "first piece, the latest", NULL)    \
	COLUMN(HT_CP_CHAIN_N, "n", HT_I64, HT_MEASURE, "number of pieces", NULL)                   \
	COLUMN(HT_CP_CHAIN_NEXT_ROW, "next_row", HT_I64, HT_MEASURE,                               \
	        "communication kernel that comes before", NULL)                                    \
	COLUMN(HT_CP_CHAIN_NEXT_NS, "next_ns", HT_TIME, HT_MEASURE, "when the path leaves that",   \
	        NULL)                                                                              \
	COLUMN(HT_CP_CHAIN_NEXT_INFERRED, "next_inferred", HT_BOOL, HT_MEASURE,                    \
	        "that it was waited for is inferred", NULL)                                        \
	COLUMN(HT_CP_CHAIN_LINK, "link", HT_I64, HT_MEASURE, "piece at which the chain goes on",   \
	        NULL)
HT_COLUMN_NUMBERS(HT_CP_CHAIN_COLUMNS, HT_CP_N_CHAIN_COLUMNS);
extern const struct ht_column ht_cp_chain_columns[HT_CP_N_CHAIN_COLUMNS];

/* The tables of a part. */
enum { HT_CP_FACTS_PIECES = 1, HT_CP_FACTS_CHAINS };

enum ht_status ht_cp_chains_put(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_part *part) HT_MUST_USE;

/* The chain that holds a piece: first pieces ascend. */
size_t ht_cp_chain_of_piece(const ht_table *chains, int64_t piece);
/* Whether those of a part that was read hold together. */
bool ht_cp_chains_are_sound(const struct ht_part *part);

/* The rows of a view: summary, path or collectives. */
enum ht_status ht_cp_across_put(struct ht_run *run, const struct ht_parts *parts,
        enum ht_cp_view_kind view, ht_table *table) HT_MUST_USE;

/* A stretch of the path, earliest first: whose time it is, for how long, and what it depends on. */
struct ht_cp_stretch {
	int64_t rank, step, row; /* HT_NO_I64: outside of steps, nobody's */
	size_t i_part;           /* of its rank */
	uint32_t text;    /* number of the name among the texts of its part's table of pieces */
	const char *name; /* in the parts; NULL: nobody's */
	int64_t dur_ns;
	enum ht_cp_bound bound;
	bool inferred;
};
typedef bool ht_cp_stretch_fn(void *user, const struct ht_cp_stretch *stretch);
/* Tell the whole path, window by window, without a table of it; false from the callback means out of memory. */
enum ht_status ht_cp_across_each(struct ht_run *run, const struct ht_parts *parts,
        ht_cp_stretch_fn *each, void *user) HT_MUST_USE;

#endif
