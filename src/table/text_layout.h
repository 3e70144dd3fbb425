/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_layout.h - which columns a text table shows, and how wide each is.
 *
 *   text column    |label     |          left-aligned, may be shortened
 *   number column  |int|.frac| unit|    aligned at the decimal point
 *
 * Columns without a value in any row are left out. What does not fit is handled in this order: detail columns that
 * nobody asked for go from the right; the longest text columns shrink, down to MIN_TEXT or FAIR_TEXT cells each; if
 * even that is too wide, details that were asked for and then measures go from the right. The first column stays.
 * Where all of it is shown, a column whose few long texts would make blanks of nearly all of the output is padded to
 * twice the mean of its texts, and the long ones stand out.
 */
#ifndef HT_TABLE_TEXT_LAYOUT_H
#define HT_TABLE_TEXT_LAYOUT_H

#include "table/storage.h"

#define HT_LAYOUT_GAP      2
#define HT_LAYOUT_MIN_TEXT 16
/* ... and where there is room for it. */
#define HT_LAYOUT_FAIR_TEXT 24

struct ht_layout_column {
	size_t column; /* in the table */
	bool shown, is_text, may_shrink;
	bool is_empty;                /* no row has a value: not shown */
	size_t width;                 /* cells, label included */
	size_t whole;                 /* what it would be wide, were there room */
	bool overflows;               /* some texts are wider, and whole all the same */
	size_t n_int, n_frac, n_unit; /* widest parts of a number; unit counts its space */
};

struct ht_layout {
	struct ht_layout_column *columns;
	size_t n_columns;
	size_t min_text;   /* cells that a text column keeps */
	size_t n_left_out; /* for want of room */
	size_t n_empty;
	size_t width; /* of a row */
};

/* Splits "41.2 ms" into widths of "41", ".2" and " ms". */
void ht_layout_split(
        const char *text, size_t n, size_t *ret_int, size_t *ret_frac, size_t *ret_unit);
/* Lays the table out for so many cells, SIZE_MAX for all it needs. Memory is the arena's. */
enum ht_status ht_layout_make(ht_ctx *ctx, const ht_table *table, size_t width,
        struct ht_arena *arena, struct ht_layout *ret_layout) HT_MUST_USE;

#endif
