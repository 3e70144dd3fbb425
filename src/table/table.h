/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the result type: typed columns, appended cell by cell by an analysis, rendered elsewhere.
 *
 *   columns:  name type role sentence unit          notes: lines under the table
 *   storage:  one typed array per column + validity bytes; strings are ids into the table's own pool,
 *             so a table outlives the trace it came from
 *
 * Row order is what the analysis appended; an analysis appends in a total, documented order.
 */
#ifndef HT_TABLE_TABLE_H
#define HT_TABLE_TABLE_H

#include "base/checked.h"
#include "base/status.h"

/* The caller owns the table. title and method are copied. */
enum ht_status ht_table_new(ht_ctx *ctx, const char *title, const struct ht_column *columns,
        size_t n_columns, ht_table **ret_table) HT_MUST_USE;
/* A further column, only before the first row; strings are copied. */
enum ht_status ht_table_add_column(ht_table *table, const struct ht_column *column) HT_MUST_USE;
/* One line under the title that says how the numbers are made; copied. */
enum ht_status ht_table_set_method(ht_table *table, const char *method) HT_MUST_USE;
/* A line under the table; copied. Shown by text, md and html, carried by json. What concludes something is a finding
 * (model/finding/finding.h), which has its values beside its sentence. */
enum ht_status ht_table_add_note(ht_table *table, const char *format, ...)
        __attribute__((format(printf, 2, 3))) HT_MUST_USE;
/* The same, of an answer of which part is missing or not to be relied on. */
enum ht_status ht_table_add_warning(ht_table *table, const char *format, ...)
        __attribute__((format(printf, 2, 3))) HT_MUST_USE;
/* A note as data; copied. line is made of the rest. */
enum ht_status ht_table_put_note(ht_table *table, const struct ht_note *note) HT_MUST_USE;
/* The check whose answer the table is has failed. */
void ht_table_set_check_failed(ht_table *table);
/* Column to draw as bar of shares in a terminal, and as chart elsewhere. One that is not there, or has no ratios, is a fault
 * of the analysis, as a put out of place is. */
void ht_table_set_bar(ht_table *table, size_t column);
/* Rows are sentences: the first column is a label and the second what is said, both texts. */
void ht_table_set_prose(ht_table *table);

/* All texts of its cells are ours, none is of a trace; those of a table of sentences are. */
void ht_table_set_own_words(ht_table *table);
/* A word and what another vendor calls the same. */
struct ht_reword {
	const char *from, *to;
};
/* The words of sentences: in title, method, notes and what columns say of themselves, and in cells with our own words. A new word is no
 * longer than the old one. Names of columns and of things stay. After the last row and note. */
void ht_table_reword(ht_table *table, const struct ht_reword *words, size_t n);
/* The words of headings, parts of names between underscores; of any length. */
void ht_table_reword_labels(ht_table *table, const struct ht_reword *words, size_t n);

/* The columns of a table are one list, which gives both their schema and the numbers that puts and readers name:
 *
 *     #define COLUMNS(COLUMN)                                                       \
 *             COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)   \
 *             COLUMN(COL_BUSY, "busy_ns", HT_DURATION, HT_MEASURE, "time with work", NULL)
 *     HT_COLUMNS(columns, COLUMNS);
 *     ...
 *     ht_table_row(table);
 *     ht_table_put_i64(table, COL_RANK, rank);
 *     ht_table_put_i64(table, COL_BUSY, busy_ns);
 *
 * HT_COLUMNS is for one file; a list in a header has the enum with it, HT_COLUMN_NUMBERS, and the array in one file. */
#define HT_COLUMN_NUMBER(number, ...) number,
#define HT_COLUMN_ENTRY(number, ...)  { __VA_ARGS__ },
#define HT_COLUMN_NUMBERS(list, n)    enum { list(HT_COLUMN_NUMBER) n }
#define HT_COLUMN_ENTRIES(list)                                                                    \
	{                                                                                          \
		list(HT_COLUMN_ENTRY)                                                              \
	}
#define HT_COLUMNS(array, list)                                                                    \
	enum { list(HT_COLUMN_NUMBER) };                                                           \
	static const struct ht_column array[] = { list(HT_COLUMN_ENTRY) }

/* Begin a row. Its cells are put from left to right, each once, and each put names its column: one that is not the next
 * column or is of another type, a row with cells missing when the next begins or the table is finished, is a fault of
 * the analysis, and the table fails with HT_INTERNAL that names them. There is no conversion. Text that is not UTF-8
 * gets U+FFFD where it is not, as does a NUL inside.
 * Errors (this, or out of memory) stick: appends after one are ignored, and ht_table_finish tells. So analyses append
 * without checks and check once. */
void ht_table_row(ht_table *table);
/* I64, U64, BOOL (0 or not), TIME, DURATION, BYTES, EVENT. */
void ht_table_put_i64(ht_table *table, size_t column, int64_t value);
/* The same, or null when it is what stands for unknown. */
void ht_table_put_known(ht_table *table, size_t column, int64_t value, int64_t unknown);
/* F64, DURATION_F64, RATIO; NaN and inf become null. */
void ht_table_put_f64(ht_table *table, size_t column, double value);
/* STR; NULL becomes null, and text of a known length need not end in NUL. */
void ht_table_put_str(ht_table *table, size_t column, const char *text);
void ht_table_put_strn(ht_table *table, size_t column, const char *text, size_t n);
/* Any type: one column; those from first to before end; all from first on. */
void ht_table_put_null(ht_table *table, size_t column);
void ht_table_put_nulls(ht_table *table, size_t first, size_t end);
void ht_table_put_nulls_to_end(ht_table *table, size_t first);
/* A cell of the rows so far was made of what lacks its value: as a put out of place; what says the rest of a sentence. */
void ht_table_fail_cell(ht_table *table, size_t column, const char *what);
/* The cell of another finished table, whose column has a type that fits. */
void ht_table_put_cell(
        ht_table *table, size_t column, const ht_table *source, size_t row, size_t from);
/* Times of this column are not moved when its rows are appended to another table. */
void ht_table_keep_clock(ht_table *table, size_t column);
/* A further column that all rows so far lack. */
enum ht_status ht_table_add_null_column(
        ht_table *table, const struct ht_column *column) HT_MUST_USE;
/* Change a column of integers to one of doubles, or any column to one of texts, between rows; a column of nulls to
 * anything. False when out of memory. */
bool ht_table_widen(ht_table *table, size_t column, enum ht_type type) HT_MUST_USE;
/* From one clock to another: t becomes t + shift_ns + (t - pivot_ns) * drift_ppt / 10^12. */
struct ht_time_move {
	int64_t shift_ns;
	int64_t pivot_ns, drift_ppt; /* drift 0: only shifted */
};

/* (t - pivot_ns) * drift_ppt / 10^12, towards zero. With drifts that clocks have, and times of up to a century, the
 * product has fewer than 93 bits, and is divided by 4096 and 5^12 in words: a fit asks a million times. */
static inline __int128 ht_time_drift(int64_t drift_ppt, __int128 dt)
{
	const uint64_t rest = 244140625, low = UINT32_MAX;
	unsigned __int128 n = dt < 0 ? -(unsigned __int128)dt : (unsigned __int128)dt;
	uint64_t drift = drift_ppt < 0 ? -(uint64_t)drift_ppt : (uint64_t)drift_ppt;
	if (drift > low || n >> 62)
		return dt * drift_ppt / 1000000000000;
	n = n * drift >> 12;
	uint64_t high = (uint64_t)(n >> 32);
	uint64_t lower = (high % rest << 32 | ((uint64_t)n & low)) / rest;
	__int128 drifted = (__int128)((unsigned __int128)(high / rest) << 32 | lower);
	return (dt < 0) != (drift_ppt < 0) ? -drifted : drifted;
}

static inline int64_t ht_time_moved(const struct ht_time_move *move, int64_t t)
{
	int64_t moved = ht_add_sat(t, move->shift_ns);
	if (!move->drift_ppt)
		return moved;
	__int128 drift = ht_time_drift(move->drift_ppt, (__int128)t - move->pivot_ns);
	return drift > INT64_MAX || drift < INT64_MIN ? moved : ht_add_sat(moved, (int64_t)drift);
}

/* Append the rows and notes of a finished table; cells of type HT_TIME are moved (NULL: not). Columns are matched by name:
 * what one of the two lacks is null, and a column that they have with different types gets the type that can
 * show both. */
enum ht_status ht_table_append(
        ht_table *table, const ht_table *source, const struct ht_time_move *move) HT_MUST_USE;
/* The same, and the source has no rows afterwards, unless others refer to it: a table without rows gets its columns as
 * they are, without a copy. */
enum ht_status ht_table_take(
        ht_table *table, ht_table *source, const struct ht_time_move *move) HT_MUST_USE;
/* Let go of the rows of a table that nobody else refers to. */
void ht_table_drop_rows(ht_table *table);
/* Status of all appends so far; sets the context's error. Call once, at the end. */
enum ht_status ht_table_finish(ht_ctx *ctx, ht_table *table) HT_MUST_USE;

/* In place, in the order where, sort, top, columns. Unknown columns and bad expressions are
 * HT_USAGE with the list of what exists. Sorting is stable; nulls come last. */
enum ht_status ht_table_apply_view(
        ht_ctx *ctx, ht_table *table, const struct ht_view *view) HT_MUST_USE;

/* Order the rows so far as a view's sort does: "-sum_ns,name". */
enum ht_status ht_table_sort(ht_ctx *ctx, ht_table *table, const char *sort) HT_MUST_USE;

/* The names that a view mentions anywhere, for analyses whose columns depend on the request. Strings
 * live in the arena. */
enum ht_status ht_view_columns(ht_ctx *ctx, const struct ht_view *view, struct ht_arena *arena,
        const char *const **ret_names, size_t *ret_n) HT_MUST_USE;

/* A reference more; ht_table_free drops one. */
ht_table *ht_table_retain(ht_table *table);

#endif
