/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_bytes.h - a finished table as bytes and back.
 */
#ifndef HT_TABLE_TABLE_BYTES_H
#define HT_TABLE_TABLE_BYTES_H

#include "base/bytes.h"
#include "table/table.h"

void ht_table_pack(const ht_table *table, struct ht_bytes_out *out);
/* The caller frees the table. Bytes that are none make in fail: HT_FORMAT without a text. */
enum ht_status ht_table_unpack(
        ht_ctx *ctx, struct ht_bytes_in *in, ht_table **ret_table) HT_MUST_USE;

#endif
