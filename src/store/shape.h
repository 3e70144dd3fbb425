/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - which keys an event has, in which order, and a walk over rows with their args.
 *
 * A shape is a slice of shape_items. An item below HT_FIELD_COUNT is a field with a column of its own,
 * any other is HT_FIELD_COUNT + the position of an arg column:
 *
 *   {"ph":"X","name":"a","ts":1,"args":{"id":7}}  =  PH NAME TS ARGS (COUNT + column "id") ARGS_END
 *
 * Arg columns are sparse with ascending rows, so who visits rows in ascending order finds each value
 * with one step of a cursor per column.
 */
#ifndef HT_STORE_SHAPE_H
#define HT_STORE_SHAPE_H

#include "store/args.h"
#include "store/columns.h"

struct ht_row_walk {
	const struct ht_trace *trace;
	uint64_t *at; /* per arg column: the next entry */
};

enum ht_status ht_row_walk_init(
        ht_ctx *ctx, const struct ht_trace *trace, struct ht_row_walk *ret_walk) HT_MUST_USE;
void ht_row_walk_done(ht_ctx *ctx, struct ht_row_walk *walk);

/* Items of a row's shape. */
static inline const uint32_t *ht_row_items(
        const struct ht_trace *trace, uint32_t row, size_t *ret_n)
{
	const uint32_t *offsets = trace->shape_offsets + ht_shape_of(trace, row);
	*ret_n = offsets[1] - offsets[0];
	return trace->shape_items + offsets[0];
}

/* Position in its column of a row's value; rows ascend from call to call. False when it has none. */
static inline bool ht_row_walk_find(
        struct ht_row_walk *walk, uint32_t i_column, uint32_t row, uint64_t *ret_at)
{
	const struct ht_arg_column *column = &walk->trace->arg_columns[i_column];
	uint64_t at = walk->at[i_column];
	while (at < column->n && ht_arg_row(walk->trace, column, at) < row)
		at++;
	walk->at[i_column] = at;
	*ret_at = at;
	return at < column->n && ht_arg_row(walk->trace, column, at) == row;
}

#endif
