/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_names.h - words for GPU work: its type, its short name, the kind of a copy.
 */
#ifndef HT_MODEL_ROWS_WORK_NAMES_H
#define HT_MODEL_ROWS_WORK_NAMES_H

#include "model/run.h"

enum ht_work_type { HT_WORK_COMPUTE, HT_WORK_COMM, HT_WORK_MEMORY, HT_WORK_OTHER, HT_WORK_N_TYPES };

/* Copies and sets are memory, waits are other. */
enum ht_work_type ht_work_type_of_class(enum ht_class class_);
/* "compute", "communication", "memory", "other", or the words of the run's policy. */
const char *ht_work_type_word(const struct ht_run *run, enum ht_work_type type);

/* Copies and sets by their names. */
bool ht_name_is_memory(const char *name);
/* Kind of a copy or set: "Memset", "Memcpy DtoH", ..., "Memcpy Unknown". Static or copied to the arena; NULL
 * when out of memory. */
const char *ht_copy_kind(struct ht_arena *arena, const char *name);
/* Template arguments, parameters and the return type taken off: "at::native::k". Names of memory work stay, and
 * those of which nothing would be left. The name itself, or a copy in the run's scratch; NULL when out of memory. */
const char *ht_name_shorten(const struct ht_run *run, const char *name);
/* What is the same from call to call and from run to run: "hcom_allReduce__" of Ascend's "hcom_allReduce__586_0_1", which
 * has the number of its group and of the call behind it. The name itself, or a copy in the arena; NULL when out of
 * memory. */
const char *ht_name_common(struct ht_arena *arena, const char *name);

#endif
