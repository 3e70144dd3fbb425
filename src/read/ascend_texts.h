/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_texts.h - texts of a large table's cells as ids, quickly because almost all of them came before.
 *
 *     struct ht_ascend_texts *texts = ht_ascend_texts_make(rows, arena, first, n_columns);
 *     for each batch: ht_ascend_texts_find(texts, &batch, ids)     ids[row][column - first]
 *     ht_ascend_texts_done(texts);
 *
 * Columns of texts that stand side by side are looked at as one: what an operator's type, core, shapes and formats are comes
 * together again and again, and mostly in the same order, one operator behind the other. So the whole stretch of
 * bytes is compared with what came behind the last one before; then it is looked up; and only a stretch that is new is cut
 * into cells.
 */
#ifndef HT_READ_ASCEND_TEXTS_H
#define HT_READ_ASCEND_TEXTS_H

#include "read/csv_rows.h"
#include "read/rows.h"

/* Texts that were seen in one column, by their first and last bytes; NULL when out of memory. It dies with the arena. */
struct ht_known_texts;
struct ht_known_texts *ht_known_texts_make(struct ht_arena *arena);
/* The id of a text that is not empty; eight bytes before and behind it can be read. */
uint32_t ht_known_text(
        struct ht_known_texts *known, struct ht_rows *rows, const struct ht_csv_cell *cell);

struct ht_ascend_texts;
/* Of n_columns from the first on; NULL when out of memory. It dies with the arena, but for what done frees. */
struct ht_ascend_texts *ht_ascend_texts_make(
        struct ht_rows *rows, struct ht_arena *arena, size_t first, size_t n_columns);
void ht_ascend_texts_done(struct ht_ascend_texts *texts);
/* Of every row the ids of its cells, HT_NO_STR of those that are empty; they live until the next batch. */
void ht_ascend_texts_find(struct ht_ascend_texts *texts, struct ht_csv_rows *batch,
        const uint32_t *ret_ids[HT_CSV_ROWS]);

#endif
