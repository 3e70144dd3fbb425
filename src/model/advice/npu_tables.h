/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_tables.h - the metrics of npu_facts.h that tables of the exporter and the recording's headers tell.
 */
#ifndef HT_MODEL_ADVICE_NPU_TABLES_H
#define HT_MODEL_ADVICE_NPU_TABLES_H

#include "model/advice/rule_facts.h"

/* Of the rank in hand. When it has no events its steps, and how much of them is exposed communication, are the
 * exporter's. */
enum ht_status ht_npu_tables_put(struct ht_run *run, bool is_empty, ht_table *table) HT_MUST_USE;

#endif
