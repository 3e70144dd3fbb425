/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - pieces of a table as JSON, which json and ndjson have in common.
 */
#ifndef HT_TABLE_JSON_H
#define HT_TABLE_JSON_H

#include "table/render.h"

/* The shape of what is written (docs/envelope.schema.json): within a number there are only additions. */
#define HT_ENVELOPE "holotrace/1"

/* "key":"text"; NULL is null. */
void ht_out_member(struct ht_out *out, const char *key, const char *text);
/* "columns":[...] */
void ht_json_columns(struct ht_out *out, const ht_table *table);
/* One cell; null where it is. Of ht_render_for_page what doubles would round is a text. */
void ht_json_cell(struct ht_out *out, const ht_table *table, size_t column, size_t row);
/* "notes":[...],"findings":[...] */
void ht_json_notes(struct ht_out *out, const ht_table *table);
/* Who asked what of which files: "schema" to "inputs", null or empty where nobody did. */
void ht_json_envelope(struct ht_out *out, const ht_table *table);
/* "n_hidden" to "next": what is left out, what the check says, and what to ask next. */
void ht_json_rest(struct ht_out *out, const ht_table *table);

#endif
