/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_facts.h - what is found out about one rank, for findings.h.
 */
#ifndef HT_VERDICT_RANK_FACTS_H
#define HT_VERDICT_RANK_FACTS_H

#include "verdict/findings.h"

/* Of HT_FINDINGS_FACTS, as the common facts of an analysis. */
extern const struct ht_common_facts ht_findings_common;
/* Which of them stragglers are found by. */
extern const struct ht_straggler_facts ht_found_straggler_facts;

/* Whether those of a part that was read hold together. */
bool ht_findings_are_sound(const struct ht_part *part);

#endif
