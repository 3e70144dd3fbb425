/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stats.h - counters of what reading met: repairs, losses, oddities (import_stats.def).
 */
#ifndef HT_STORE_IMPORT_STATS_H
#define HT_STORE_IMPORT_STATS_H

#include <stdint.h>

/* From HT_REPAIR on, something was not stored as it is written. */
enum ht_severity { HT_INFO, HT_NOTICE, HT_REPAIR, HT_DATA_LOSS, HT_SEVERE };
struct ht_stat_info {
	const char *name, *sentence, *weakens;
	enum ht_severity severity;
};
enum ht_stat_code {
#define STAT(name, severity, sentence, weakens) HT_STAT_##name,
#include "store/import_stats.def"
#undef STAT
	HT_N_STATS
};
/* A counter of import_stats.def that is not zero. */
struct ht_stat {
	uint32_t code; /* enum ht_stat_code */
	uint32_t pad;
	uint64_t count;
	int64_t first_offset; /* byte offset in the decompressed file, -1: not tied to one */
};

const struct ht_stat_info *ht_stat_info(enum ht_stat_code code);

#endif
