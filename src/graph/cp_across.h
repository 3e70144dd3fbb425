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
extern const struct ht_column ht_cp_piece_columns[];
enum { HT_CP_N_PIECE_COLUMNS = 12, HT_CP_N_NAMED_COLUMNS = 7 /* all that only_names fills */ };
extern const struct ht_column ht_cp_chain_columns[];
enum { HT_CP_N_CHAIN_COLUMNS = 14 };

/* The tables of a part. */
enum { HT_CP_FACTS_PIECES = 1, HT_CP_FACTS_CHAINS };

enum ht_status ht_cp_chains_put(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_part *part) HT_MUST_USE;

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

/* Columns of those tables. */
enum {
	HT_CP_PIECE_INDEX,
	HT_CP_PIECE_START,
	HT_CP_PIECE_DUR,
	HT_CP_PIECE_TYPE,
	HT_CP_PIECE_BOUND,
	HT_CP_PIECE_INFERRED,
	HT_CP_PIECE_NAME
};
enum {
	HT_CP_CHAIN_ROW,
	HT_CP_CHAIN_START,
	HT_CP_CHAIN_END,
	HT_CP_CHAIN_INSTANCE,
	HT_CP_CHAIN_STEP,
	HT_CP_CHAIN_STEP_NS,
	HT_CP_CHAIN_IDLE_NS,
	HT_CP_CHAIN_OWN,
	HT_CP_CHAIN_FIRST,
	HT_CP_CHAIN_N,
	HT_CP_CHAIN_NEXT_ROW,
	HT_CP_CHAIN_NEXT_NS,
	HT_CP_CHAIN_NEXT_INFERRED,
	HT_CP_CHAIN_LINK
};

#endif
