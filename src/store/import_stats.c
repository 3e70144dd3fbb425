/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stats.c - see import_stats.h.
 */
#include "store/import_stats.h"

#include <stddef.h>

const struct ht_stat_info *ht_stat_info(enum ht_stat_code code)
{
#define STAT_SEVERITY_INFO      HT_INFO
#define STAT_SEVERITY_NOTICE    HT_NOTICE
#define STAT_SEVERITY_REPAIR    HT_REPAIR
#define STAT_SEVERITY_DATA_LOSS HT_DATA_LOSS
	static const struct ht_stat_info infos[] = {
#define STAT(name, severity, sentence, weakens)                                                    \
	{ #name, sentence, weakens, STAT_SEVERITY_##severity },
#include "store/import_stats.def"
#undef STAT
	};
	return &infos[code];
}
