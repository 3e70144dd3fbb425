/*
 * arg_table.h - args of rows that come as a table, while it is being read: packed columns that share lists of rows.
 *
 *     struct ht_arg_table *table = ht_arg_table_new(builder, n_columns);   the builder owns it
 *     for each row, in ascending order
 *             ht_arg_table_text(table, 0, id), ht_arg_table_decimal(table, 1, 12375, 3), ...
 *             HT_TRY(ht_arg_table_end(table, row, &pattern))
 *
 * A row has the args that were put since the last one; which these are is its pattern. Columns that always come
 * together share one list of rows, which is copied when they part. A column of numbers is of integers, or of doubles
 * when there is one among them.
 */
#ifndef HT_STORE_ARG_TABLE_H
#define HT_STORE_ARG_TABLE_H

#include "store/builder.h"
#include "store/pack.h"

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
	bool is_text;
	uint8_t *has; /* in the row in hand: a byte of the table's */
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
	uint8_t *has;               /* of the row in hand */
	struct ht_vec lists;        /* struct ht_vec of uint32_t */
	struct ht_vec patterns;     /* struct ht_table_pattern */
	struct ht_text_table index; /* of patterns, by has */
	size_t last;                /* pattern of the row before */
	uint32_t *n_has, *n_lacks;  /* by list, while those of a pattern are found */
	struct ht_arena arena;
	bool failed; /* out of memory */
};

/* NULL when out of memory. The caller sets pool_id and is_text of the columns. */
struct ht_arg_table *ht_arg_table_new(struct ht_builder *builder, size_t n_columns);
/* The row's args are done. The pattern is the caller's until the next call. False when out of memory. */
bool ht_arg_table_end(struct ht_arg_table *table, uint32_t row, struct ht_table_pattern **ret);
/* No more rows: what is in hand is packed. False when out of memory. */
bool ht_arg_table_seal(struct ht_arg_table *table);
/* A value of a column of a sealed table: an integer or id, or the bits of a double. */
int64_t ht_table_column_bits(const struct ht_table_column *column, uint64_t i);
void ht_arg_tables_done(struct ht_builder *builder);

bool ht_packer_flush(struct ht_mem *mem, struct ht_packer *packer);
/* A value of another scale than those in hand: they become of one. */
int64_t ht_packer_rescale(struct ht_packer *packer, int64_t value, uint8_t scale);

static inline void ht_table_column_put(
        struct ht_arg_table *table, struct ht_table_column *column, int64_t value, uint8_t scale)
{
	struct ht_packer *p = &column->packer;
	*column->has = 1;
	if (p->scale != scale) {
		uint8_t less = (uint8_t)(p->scale - scale);
		/* the bits of doubles are more than that apart from all scales */
		if (less <= HT_PACK_MAX_SCALE && value >= 0 && value <= ht_pack_rooms[less])
			value *= ht_pack_factors[less];
		else
			value = ht_packer_rescale(p, value, scale);
	}
	p->values[p->n++] = value;
	if (p->n == HT_PACK_VALUES) {
		column->n += p->n;
		table->failed |= !ht_packer_flush(table->mem, p);
	}
}

/* value / 10^scale, at most HT_PACK_MAX_SCALE; |value| is at most 2^53 when scale is not 0. */
static inline void ht_arg_table_decimal(
        struct ht_arg_table *table, size_t i, int64_t value, uint8_t scale)
{
	ht_table_column_put(table, &table->columns[i], value, scale);
}

static inline void ht_arg_table_text(struct ht_arg_table *table, size_t i, uint32_t id)
{
	ht_table_column_put(table, &table->columns[i], id, 0);
}

static inline void ht_arg_table_double(struct ht_arg_table *table, size_t i, double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	ht_table_column_put(table, &table->columns[i], bits, HT_PACK_RAW);
}

#endif
