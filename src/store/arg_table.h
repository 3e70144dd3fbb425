/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg_table.h - args of rows that come as a table, while it is being read: packed columns that share lists of rows.
 *
 *     struct ht_arg_table *table = ht_arg_table_new(builder, n_columns);   the builder owns it
 *     for some rows, in ascending order, and each column: ht_table_column_put(...)
 *     for these rows: ht_arg_table_end(table, has, row, n, &pattern), has[i]: a value was put into column i
 *
 * Which args a row has is its pattern. Columns that always come together share one list of rows, packed as well, which is
 * copied when they part. A column of numbers is of integers, or of doubles
 * when there is one among them.
 */
#ifndef HT_STORE_ARG_TABLE_H
#define HT_STORE_ARG_TABLE_H

#include "store/builder.h"
#include "store/bit_pack.h"

/* Of more columns nobody has seen a table; each needs some memory while it is read. */
#define HT_ARG_TABLE_COLUMNS 1024

struct ht_packer {
	int64_t values[HT_PACK_VALUES]; /* of the block in hand, all over 10^scale */
	unsigned n;
	uint8_t scale;        /* HT_PACK_RAW: they are the bits of doubles */
	bool is_float;        /* some block is of doubles */
	struct ht_vec blocks; /* struct ht_pack_block */
	struct ht_vec words;  /* uint64_t */
};

struct ht_table_column {
	uint32_t pool_id; /* of the builder's columns; nobody else has it */
	uint32_t moved;   /* column of all rows that its values were moved to, UINT32_MAX: none */
	uint32_t list;    /* of rows */
	uint64_t n;       /* values, without those of the block in hand */
	bool is_text, is_json; /* values are ids of texts, which are JSON */
	struct ht_packer packer;
};

/* Which columns a row has: a byte each. */
struct ht_table_pattern {
	uint8_t *has;
	uint32_t shape; /* HT_NONE until the reader knows it */
	uint32_t *lists;
	uint32_t n_lists, n_all; /* what it is on, found when there were n_all of them */
};

struct ht_arg_table {
	struct ht_mem *mem;
	struct ht_table_column *columns;
	size_t n_columns, n_room;   /* the caller may use fewer than there is room for */
	struct ht_vec lists;        /* struct ht_packer: rows less their place in the block */
	struct ht_vec patterns;     /* struct ht_table_pattern */
	struct ht_text_table index; /* of patterns, by has */
	size_t last;                /* pattern of the row before */
	uint32_t *n_has, *n_lacks;  /* by list, while those of a pattern are found */
	struct ht_arena arena;
	bool failed; /* out of memory */
};

/* NULL when out of memory. The caller sets pool_id and is_text of the columns. */
struct ht_arg_table *ht_arg_table_new(struct ht_builder *builder, size_t n_columns);
/* The args of n rows from one on are done: those of the columns whose byte is 1, the others are 0; NULL: those of the row
 * before. The pattern is the caller's until the next call. False when out of memory. */
bool ht_arg_table_end(struct ht_arg_table *table, const uint8_t *has, uint32_t row, uint32_t n,
        struct ht_table_pattern **ret);
/* No more rows: what is in hand is packed. False when out of memory. */
bool ht_arg_table_seal(struct ht_arg_table *table);
/* The row of the i-th value. */
uint32_t ht_table_column_row(
        const struct ht_arg_table *table, const struct ht_table_column *column, uint64_t i);
/* A value of a column of a sealed table: an integer or id, or the bits of a double. */
int64_t ht_table_column_bits(const struct ht_table_column *column, uint64_t i);
void ht_arg_tables_done(struct ht_builder *builder);

/* value / 10^scale, at most HT_PACK_MAX_SCALE; |value| is at most 2^53 when scale is not 0. Ids are numbers of scale 0,
 * the bits of doubles are of scale HT_PACK_RAW. */
void ht_table_column_put(
        struct ht_arg_table *table, struct ht_table_column *column, int64_t value, uint8_t scale);
/* Room for values over 10^*ret_scale, whose products with that are at most 2^53 unless it is 0: *ret_n at most, 0 when
 * values must be put one by one. So many of them were written there. */
int64_t *ht_table_column_room(struct ht_table_column *column, size_t *ret_n, uint8_t *ret_scale);
void ht_table_column_wrote(struct ht_arg_table *table, struct ht_table_column *column, size_t n);

#endif
