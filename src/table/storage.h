/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - how a table lies in memory; for the files of this folder only.
 *
 *   columns[c].cells   [ i64 | u64 | f64 | string id ] x n_rows     one typed array per column
 *   columns[c].valid   [ 1 1 0 1 ... ]                              absent while nothing is null
 *   pool.texts[id]     { "ncclKernel", 10 }                         equal strings stored once
 *
 * A null cell holds 0 (string id 0 is ""), so that readers may ignore validity where 0 will do.
 */
#ifndef HT_TABLE_STORAGE_H
#define HT_TABLE_STORAGE_H

#include "base/status.h"

/* The last of enum ht_type. */
#define HT_LAST_TYPE HT_EVENT

/* Row numbers fit in 32 bits, which halves what sorting needs. */
#define HT_TABLE_MAX_ROWS ((size_t)UINT32_MAX)

struct ht_cells {
	struct ht_column meta;
	const char *
	        label; /* for humanised output: the name without the unit that each value carries */
	union {
		int64_t *i64;
		uint64_t *u64;
		double *f64;
		uint32_t *str;
		void *any;
	};
	uint8_t *valid;        /* NULL: no cell is null */
	size_t cap, valid_cap; /* in rows */
	uint32_t last_id;      /* of the last string put: runs of equal text skip the hash */
	bool keeps_clock;      /* times that are not moved when rows are appended elsewhere */
	bool is_asked_for;     /* named by the user, who wants to see it */
};

struct ht_table_pool_text {
	const char *text; /* in the table's arena, so it never moves */
	size_t n;
};

struct ht_table_pool_slot {
	uint32_t tag, id; /* id 0: free; "" is never hashed */
};

struct ht_table_pool {
	struct ht_vec texts; /* struct ht_table_pool_text by id */
	struct ht_table_pool_slot *slots;
	size_t n_slots; /* a power of two */
};

struct ht_table {
	atomic_int n_refs;
	struct ht_mem *mem;
	struct ht_arena arena;
	ht_ctx *building; /* for error texts until finish; a finished table may outlive its context */
	enum ht_status failed;
	const char *fault; /* what is wrong with a row, for HT_INTERNAL; in the arena */
	const char *title, *method;
	struct ht_vec columns; /* struct ht_cells */
	size_t n_rows, cap_rows;
	size_t cursor; /* column of the next put; SIZE_MAX after a failure */
	size_t n_hidden;
	size_t bar;     /* column index, SIZE_MAX: none */
	bool prose;     /* rows are sentences */
	bool own_words; /* all texts of cells are ours */
	bool check_failed;
	struct ht_table_pool pool;
	struct ht_vec notes;                  /* struct ht_note */
	ht_table *lender;                     /* whose texts these are, NULL: its own */
	const struct ht_table_origin *origin; /* NULL: nobody asked for it */
};

static inline size_t ht_n_columns(const ht_table *table)
{
	return table->columns.n;
}

static inline struct ht_cells *ht_cells_at(const ht_table *table, size_t column)
{
	return (struct ht_cells *)table->columns.data + column;
}

static inline const struct ht_table_pool_text *ht_table_pool_at(const ht_table *table, uint32_t id)
{
	return (const struct ht_table_pool_text *)table->pool.texts.data + id;
}

static inline bool ht_type_is_f64(enum ht_type type)
{
	return type == HT_F64 || type == HT_DURATION_F64 || type == HT_RATIO;
}

static inline bool ht_cell_is_null(const struct ht_cells *cells, size_t row)
{
	return cells->valid && !cells->valid[row];
}

static inline size_t ht_cell_bytes(enum ht_type type)
{
	return type == HT_STR ? sizeof(uint32_t) : sizeof(int64_t);
}

/* The first failure of a table stays; answers it. */
enum ht_status ht_table_fail(ht_table *table, enum ht_status status);
/* Fails the table when its last row lacks cells; false when it has failed. */
bool ht_table_end_row(ht_table *table);
/* The texts of the pool; both return false when out of memory. */
bool ht_table_pool_init(ht_table *table);
bool ht_table_pool_intern(ht_table *table, const char *text, size_t n, uint32_t *ret_id);
void ht_table_pool_done(ht_table *table);
/* A copy in the table's arena, made valid UTF-8; NULL when out of memory. */
char *ht_table_copy_text(ht_table *table, const char *text, size_t n);

/* Keep the rows of list, in its order; list is sorted when ascending is true. */
enum ht_status ht_table_keep_rows(
        ht_ctx *ctx, ht_table *table, const uint32_t *rows, size_t n, bool ascending) HT_MUST_USE;

#endif
