/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_index.h - rows by the value of an integer argument: correlation, External id, Python id.
 */
#ifndef HT_STORE_ROW_INDEX_H
#define HT_STORE_ROW_INDEX_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;

/* Sorted by value; rows of one value ascend. Ids are mostly counted through: where the values lie close enough,
 * first tells for each of them where its rows begin, and nothing is searched; else there are keys. */
struct ht_row_index {
	uint32_t *rows;
	size_t n;
	uint64_t *keys; /* ht_sort_key_i64 of the values; NULL: first tells */
	uint32_t *
	        first; /* for keys min .. min + n_first - 2, and the end; NULL: values lie too far apart */
	size_t n_first;
	uint64_t min;
	size_t hint; /* where the last value was found: the next is mostly near */
};

#define HT_KIND_BIT(kind) ((uint32_t)1 << (kind))
#define HT_ALL_KINDS      (HT_KIND_BIT(HT_N_KINDS) - 1)
/* A bit that is no kind: rows whose time was refused, too. */
#define HT_WITH_REFUSED HT_KIND_BIT(31)

/* Index the rows of the kinds in the mask that have the argument, in any spelling. Rows that were left out of
 * timelines for their time are not found, as nothing is linked to them, unless the mask says so. */
enum ht_status ht_row_index_make(ht_ctx *ctx, const struct ht_trace *trace, const char *key,
        uint32_t kinds, struct ht_arena *arena, struct ht_row_index *ret_index) HT_MUST_USE;

/* The least and the greatest of every so many values of an argument, column after column: a walk over the values, in
 * a tenth of the time that an index takes. As ids are mostly counted through, few of them hold a value. */
struct ht_row_bounds {
	struct ht_row_bound {
		int64_t low, high; /* low above high: there are none */
	} * bounds;
	size_t n;
};
enum ht_status ht_row_bounds_make(ht_ctx *ctx, const struct ht_trace *trace, const char *key,
        struct ht_arena *arena, struct ht_row_bounds *ret_bounds) HT_MUST_USE;
/* The rows with that value without an index, in the order of one. In the arena. */
enum ht_status ht_row_bounds_scan(ht_ctx *ctx, const struct ht_trace *trace, const char *key,
        const struct ht_row_bounds *bounds, uint32_t kinds, int64_t value, struct ht_arena *arena,
        const uint32_t **ret_rows, size_t *ret_n) HT_MUST_USE;

/* The next value that has rows: all of them. Start with *at 0; false after the last. */
bool ht_row_index_next(
        const struct ht_row_index *index, size_t *at, const uint32_t **ret_rows, size_t *ret_n);
/* Values have places, in order, which are what *at counts: so many, and the first from a place on where a value begins.
 * For those who share the walk. */
size_t ht_row_index_places(const struct ht_row_index *index);
size_t ht_row_index_from(const struct ht_row_index *index, size_t place);
/* The rows with that value, the first max of them. Threads that look up at the same time copy the index, as it keeps
 * where the last value was. */
const uint32_t *ht_row_index_find(
        struct ht_row_index *index, int64_t value, size_t max, size_t *ret_n);

#endif
