/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_fusion.h - the metrics of npu_facts.h about work that is cut too small: cores that blocks leave idle, kernels and
 * operators that could be one.
 */
#ifndef HT_MODEL_ADVICE_NPU_FUSION_H
#define HT_MODEL_ADVICE_NPU_FUSION_H

#include "model/advice/rule_facts.h"

/* Of the rank in hand: BLOCKS, SEQUENCES, AFFINITY. */
enum ht_status ht_npu_blocks_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;
enum ht_status ht_npu_sequences_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;
enum ht_status ht_npu_affinity_put(
        struct ht_run *run, const struct ht_bounds *bounds, ht_table *table) HT_MUST_USE;

#endif
