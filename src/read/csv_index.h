/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_index.h - where the cells of a text end, found 64 bytes at a time.
 *
 *     a,"b,c",d\n1,2,3\n      stops: 1 7 9 11 13 15      lines: 2 5 (which of the stops end a row)
 *
 * Commas and line ends between quotes are none. Quotes stand where RFC 4180 has them: the first of a cell right behind
 * a stop, the last right before one. Where they do not the index ends, and somebody else must say what that means; what
 * it has up to there is right.
 */
#ifndef HT_READ_CSV_INDEX_H
#define HT_READ_CSV_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Text indexed at once: stops and text stay in the nearest caches. */
#define HT_CSV_WINDOW 65536

struct ht_csv_index {
	size_t n_stops, n_lines;
	/* some more than there can be: many are written at a time. The one before the first is the end of a row before the
	 * text, which is -1 */
	uint32_t before, stops[HT_CSV_WINDOW + 80], lines[HT_CSV_WINDOW + 2];
};

/* Index n bytes, at most HT_CSV_WINDOW, that start with a row; 64 bytes behind them can be read, too. */
typedef void (*ht_csv_index_fn)(const char *text, size_t n, struct ht_csv_index *ret_index);
void ht_csv_index_base(const char *text, size_t n, struct ht_csv_index *ret_index);
void ht_csv_index_avx2(const char *text, size_t n, struct ht_csv_index *ret_index);
/* The best one for this CPU. They agree. */
ht_csv_index_fn ht_csv_index_best(void);

#endif
