/*
 * hta_names.h - what HTA concludes from names alone.
 *
 * Our own classes come from categories (enum ht_class). These rules exist for columns that show HTA's
 * type and for hta_compat, where HTA's tables must come out cell by cell.
 */
#ifndef HT_HTA_HTA_NAMES_H
#define HT_HTA_HTA_NAMES_H

#include "store/trace.h"

enum ht_hta_type {
	HT_HTA_COMPUTATION,
	HT_HTA_COMMUNICATION,
	HT_HTA_MEMORY,
	HT_HTA_OTHER,
	HT_HTA_N_TYPES
};

/* By name, case-sensitive. */
enum ht_hta_type ht_hta_type(const char *name);
/* "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER". */
const char *ht_hta_type_name(enum ht_hta_type type);
/* In our words: compute, communication, memory, other; or in HTA's. */
const char *ht_type_word(enum ht_hta_type type, bool hta);
/* The same words for our class: copies and sets are MEMORY, sync is OTHER. */
enum ht_hta_type ht_hta_type_of_class(enum ht_class class_);

/* Kind of a copy or set for bandwidth: "Memset", "Memcpy DtoH", ..., "Memcpy Unknown". Static or
 * copied to the arena; NULL when out of memory. */
const char *ht_hta_memory_kind(struct ht_arena *arena, const char *name);

/* Template arguments, parameters and the return type taken off: "at::native::k". Names of memory
 * work stay. The name itself, or a copy in the arena; NULL when out of memory. */
const char *ht_hta_shorten_name(struct ht_arena *arena, const char *name);

/* The launch calls that HTA knows (its launch mask, 5). */
bool ht_hta_is_launch(const char *name);
/* What its launch statistics count (9.7). */
bool ht_hta_is_stats_launch(const char *name, bool memory);
/* "Event Sync" and "Context Sync" stand with the GPU rows although they have no stream. */
bool ht_hta_is_gpu_sync(const char *name);

#endif
