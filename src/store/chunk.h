/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - a piece of a trace that is being read: rows in file order, numbered from 0; see builder.h.
 */
#ifndef HT_STORE_CHUNK_H
#define HT_STORE_CHUNK_H

#include "base/vec.h"
#include "store/event.h"
#include "store/import_stats.h"

/* Values of one arg column of one chunk. */
struct ht_chunk_column {
	uint32_t *rows;
	char *values; /* width bytes each */
	uint32_t n, cap;
	uint32_t base; /* of a part: where its entries go */
	uint8_t width, type;
};

struct ht_chunk_stat {
	uint64_t count;
	int64_t first_offset;
};

/* What tells unpadded fractions of times (12.5 for 12.005) from decimal ones; see fix_fractions. */
struct ht_fractions {
	bool decimal; /* some fraction rules it out: the rest is not looked at */
	uint8_t saw;  /* enum ht_fraction_form */
	uint64_t n;   /* fractions seen */
	struct ht_vec
	        rows; /* uint64_t: row << 16 | ts digits << 8 | dur digits, where one is short */
};
enum ht_fraction_form {
	HT_FRACTION_ONE = 1,
	HT_FRACTION_TWO = 2,
	HT_FRACTION_THREE = 4,
	HT_FRACTION_ENDS_0 = 8, /* three digits, the last 0 */
	HT_FRACTION_ALL = 15,
};

struct ht_chunk {
	struct ht_mem *mem;
	uint32_t n, cap;
	uint32_t base; /* of a part: where its rows go */
	int64_t *ts_ns, *dur_ns;
	uint32_t *name, *track, *shape;
	uint16_t *cat;
	char *ph;
	uint8_t *flags;
	struct ht_vec columns; /* struct ht_chunk_column by column id */
	struct ht_vec headers; /* struct ht_header */
	struct ht_fractions fractions;
	struct ht_chunk_stat stats[HT_N_STATS];
};

/* How much of a file is read: done of whole bytes; whole is 0 when nobody knows. */
struct ht_portion {
	uint64_t done, whole;
};

void ht_chunk_init(struct ht_chunk *chunk, struct ht_mem *mem);
void ht_chunk_done(struct ht_chunk *chunk);
/* Empty it, keep its memory for the next piece. */
void ht_chunk_clear(struct ht_chunk *chunk);
/* Room for n more rows; after false the chunk is empty and to be given up. */
bool ht_chunk_grow(struct ht_chunk *chunk, uint32_t n);
/* Set the capacity of the row arrays exactly; at least n. */
bool ht_chunk_resize(struct ht_chunk *chunk, uint32_t cap);
/* The column of an id, made when it is new; NULL when out of memory. */
struct ht_chunk_column *ht_chunk_column(struct ht_chunk *chunk, uint32_t i_column, uint8_t type);
/* Room for one more entry, wide enough for the value. */
bool ht_chunk_make_room(struct ht_chunk *chunk, struct ht_chunk_column *column, uint64_t value);
/* Joining, in three steps, so that one thread at a time says where a part goes and many copy:
 *   room      are the arrays of all large and wide enough? If not, make it, while nobody copies; as much as
 *             the rest of the file will need, if it is like what was read of it
 *   assign    places for the rows and args of part, its headers and counters; in file order
 *   copy      the rows and args to their places; any time later, by any thread
 * False when out of memory. */
bool ht_chunk_has_room(const struct ht_chunk *all, const struct ht_chunk *part);
bool ht_chunk_make_space(
        struct ht_chunk *all, const struct ht_chunk *part, const struct ht_portion *read);
bool ht_chunk_assign(struct ht_chunk *all, struct ht_chunk *part);
void ht_chunk_copy(struct ht_chunk *all, const struct ht_chunk *part);
void ht_chunk_stat(struct ht_chunk *chunk, enum ht_stat_code code, int64_t offset, uint64_t n);

static inline bool ht_chunk_column_fits(const struct ht_chunk_column *column, uint64_t value)
{
	return column->width != 4 || column->type != HT_ARG_I64 ||
	       (int64_t)value == (int64_t)(int32_t)value;
}

/* Append an entry where there is room and the value fits; false where not. */
static inline bool ht_chunk_put(struct ht_chunk_column *column, uint32_t row, uint64_t value)
{
	uint32_t i = column->n;
	if (i == column->cap)
		return false;
	if (column->width == 4) {
		if (!ht_chunk_column_fits(column, value))
			return false;
		((uint32_t *)(void *)column->values)[i] = (uint32_t)value;
	} else if (column->width == 8) {
		((uint64_t *)(void *)column->values)[i] = value;
	} else if (column->width == 1) {
		column->values[i] = (char)value;
	}
	column->rows[i] = row;
	column->n = i + 1;
	return true;
}

static inline bool ht_chunk_push(
        struct ht_chunk *chunk, struct ht_chunk_column *column, uint32_t row, uint64_t value)
{
	return ht_chunk_put(column, row, value) ||
	       (ht_chunk_make_room(chunk, column, value) && ht_chunk_put(column, row, value));
}

#endif
