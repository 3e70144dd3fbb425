/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - a side table while it is being read; see side_table.h.
 *
 *     uint32_t table = ht_draft_table(builder, "step_trace_time");
 *     uint32_t step = ht_draft_column(builder, table, "Step");
 *     ht_draft_row(builder, table);
 *     ok = ht_draft_put_i64(builder, table, step, 5);
 *
 * A column's type is that of its values: integers, doubles when there is one among them, texts when there is
 * one. A table may come in several files of the same name; columns are found by name.
 */
#ifndef HT_STORE_DRAFT_H
#define HT_STORE_DRAFT_H

#include "store/builder.h"

/* The table or column of a name, made when new; UINT32_MAX when out of memory. */
uint32_t ht_draft_table(struct ht_builder *builder, const char *name);
uint32_t ht_draft_column(struct ht_builder *builder, uint32_t table, const char *key, size_t n_key);
/* Start a row, all of whose cells are empty. */
void ht_draft_row(struct ht_builder *builder, uint32_t table);
/* A cell of the last row. False when out of memory. */
bool ht_draft_put_i64(struct ht_builder *builder, uint32_t table, uint32_t column, int64_t value);
bool ht_draft_put_f64(struct ht_builder *builder, uint32_t table, uint32_t column, double value);
bool ht_draft_put_str(
        struct ht_builder *builder, uint32_t table, uint32_t column, const char *text, size_t n);

/* Make the sections of all drafts. */
enum ht_status ht_drafts_assemble(struct ht_builder *builder, struct ht_trace *trace) HT_MUST_USE;
void ht_drafts_done(struct ht_builder *builder);

#endif
