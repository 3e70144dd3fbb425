/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hta_names.h - what HTA concludes from names alone.
 *
 * Our own types come from categories (enum ht_class); with these rules HTA's tables come out cell by cell.
 */
#ifndef HT_HTA_HTA_NAMES_H
#define HT_HTA_HTA_NAMES_H

#include "model/rows/work_names.h"

/* By name, case-sensitive. */
enum ht_work_type ht_hta_type(const char *name);
/* "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER". */
extern const char *const ht_hta_type_words[HT_WORK_N_TYPES];

/* The launch calls that HTA knows (its launch mask, 5). */
bool ht_hta_is_launch(const char *name);
/* What its launch statistics count (9.7). */
bool ht_hta_is_stats_launch(const char *name, bool memory);
/* Calls that wait for the GPU, in its critical path. */
bool ht_hta_is_wait(const char *name);
/* "Event Sync" and "Context Sync" stand with the GPU rows although they have no stream. */
bool ht_hta_is_gpu_sync(const char *name);

#endif
