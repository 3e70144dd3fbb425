/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_origin.h - where a table comes from: the question, the selection and the files, for the envelope of JSON.
 *
 * Plain data that the registry fills in when a table is made; a table that nobody asked for has none. It says nothing
 * about rows, and views of a table keep it.
 */
#ifndef HT_TABLE_TABLE_ORIGIN_H
#define HT_TABLE_TABLE_ORIGIN_H

#include "table/table.h"

/* One trace that was looked at. */
struct ht_table_origin_input {
	size_t side; /* which set of a comparison, from 0 */
	int64_t rank;
	const char *path;
	uint64_t n_events;
	uint64_t hash; /* of what reading found in it; the same for a file and a compressed copy */
};

/* What was chosen of one set. */
struct ht_table_origin_side {
	const char *steps; /* in words, as titles have it; NULL: nothing is known */
	const int64_t *ranks;
	size_t n_ranks;
};

struct ht_table_origin {
	const char *verb;
	const struct ht_arg *params; /* value NULL: neither given nor by default */
	size_t n_params;
	const struct ht_table_origin_side *sides;
	size_t n_sides;
	const struct ht_table_origin_input *inputs;
	size_t n_inputs;
};

/* Copied, in place of an earlier one. */
enum ht_status ht_table_set_origin(
        ht_table *table, const struct ht_table_origin *origin) HT_MUST_USE;

#endif
