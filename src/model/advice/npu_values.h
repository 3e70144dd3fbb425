/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_values.h - args of rows that ascend: cells of the exporter's tables, whatever type they have.
 *
 *     struct ht_npu_values blocks = ht_npu_values_open(trace, "Block Dim");
 *     for rows in ascending order: double n = ht_npu_number(&blocks, row);
 */
#ifndef HT_MODEL_ADVICE_NPU_VALUES_H
#define HT_MODEL_ADVICE_NPU_VALUES_H

#include "base/status.h"
#include "store/event.h"

struct ht_trace;
struct ht_arg_column;

/* The values of a key. */
struct ht_npu_values {
	const struct ht_trace *t;
	const struct ht_arg_column *columns[3];
	uint64_t at[3];
};

struct ht_npu_values ht_npu_values_open(const struct ht_trace *t, const char *key);
/* Has any row one? */
bool ht_npu_values_any(const struct ht_npu_values *values);
/* Of a row, which is not before that of the last call: NAN when it has none. */
double ht_npu_number(struct ht_npu_values *values, uint32_t row);
/* "" when it has none, or N/A. */
const char *ht_npu_text(struct ht_npu_values *values, uint32_t row);

#endif
