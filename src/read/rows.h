/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - add events to a trace one by one, for readers that do not scan JSON events.
 *
 *     struct ht_rows rows;
 *     ht_rows_init(&rows, builder);
 *     uint32_t bytes = ht_rows_column(&rows, "Bytes", 5, HT_ARG_I64);
 *     for (...) {
 *             ht_row_begin(&rows, 'i', category, name);
 *             ht_row_time(&rows, ts_ns);
 *             ht_row_put(&rows, bytes, (uint64_t)n);
 *             HT_TRY(ht_row_end(&rows, offset));
 *     }
 *     ht_rows_done(&rows);
 *
 * Memory that runs out is remembered and told by ht_row_end. Times are those of the trace's clock; a file of
 * several processes gives each its pid.
 */
#ifndef HT_READ_ROWS_H
#define HT_READ_ROWS_H

#include "read/event_worker.h"
#include "store/arg_table.h"

struct ht_rows {
	struct ht_builder *builder;
	struct ht_worker worker;
	uint32_t n_old_items;
	uint32_t extended;    /* row in hand when it is an old one, else HT_NONE */
	struct ht_vec row_of; /* uint32_t by column: the last row that got it, numbered by turn */
	uint32_t turn;        /* of the row in hand */
};

void ht_rows_init(struct ht_rows *rows, struct ht_builder *builder);
void ht_rows_done(struct ht_rows *rows);

/* Ids of texts, and of the column of an arg; both are kept by readers. HT_NO_STR and UINT32_MAX when out of
 * memory; the latter also when there are too many columns, and then what is put there is left out. A text that is no
 * UTF-8 is repaired. */
uint32_t ht_rows_text(struct ht_rows *rows, const char *text, size_t n);
uint32_t ht_rows_column(struct ht_rows *rows, const char *key, size_t n_key, enum ht_arg_type type);
/* The same by the id of its key; top_level: a key of the event itself. */
uint32_t ht_rows_column_of(
        struct ht_rows *rows, uint32_t key, enum ht_arg_type type, bool top_level);
/* A column of the table's own (store/arg_table.h); UINT32_MAX as above. */
uint32_t ht_rows_table_column(
        struct ht_rows *rows, const char *key, size_t n_key, const struct ht_arg_table *table);
/* The text of an id; it does not move while the builder lives. */
const char *ht_rows_text_at(struct ht_rows *rows, uint32_t id, size_t *ret_n);

/* One event: begin, then what it has, args last, then end. */
void ht_row_begin(struct ht_rows *rows, char ph, uint32_t category, uint32_t name);
void ht_row_process(struct ht_rows *rows, int64_t pid, int64_t tid);
void ht_row_time(struct ht_rows *rows, int64_t ts_ns);
void ht_row_duration(struct ht_rows *rows, int64_t dur_ns);
/* All of that of one of some spans. */
void ht_row_begin_span(struct ht_rows *rows, const struct ht_spans *spans, size_t i);
/* Integers as they are, doubles as their bits, texts as ids; the column has the type. What a row has already it keeps: a file can
 * name one thing twice. */
void ht_row_put(struct ht_rows *rows, uint32_t column, uint64_t value);
/* Add args to a row that is stored already; they come behind those that it has. Ended by ht_row_end, too. Rows may be
 * extended in any order. */
void ht_row_extend(struct ht_rows *rows, uint32_t row);
/* Store it with the args that the table has of it: see ht_arg_table_end. */
enum ht_status ht_row_end_of_table(struct ht_rows *rows, struct ht_arg_table *table,
        const uint8_t *has, int64_t offset) HT_MUST_USE;
/* The same of n spans at once, from the first on, without begin and with no args but those of the table, which are of the
 * same columns in all; their times are plain. */
enum ht_status ht_rows_end_of_table(struct ht_rows *rows, const struct ht_spans *spans,
        size_t first, size_t n, struct ht_arg_table *table, const uint8_t *has,
        int64_t offset) HT_MUST_USE;
/* Store it. offset is where it stands in the file, for counters. */
enum ht_status ht_row_end(struct ht_rows *rows, int64_t offset) HT_MUST_USE;

#endif
