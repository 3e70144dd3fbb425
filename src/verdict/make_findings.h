/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_findings.h - findings (findings.h) from the facts of all ranks.
 */
#ifndef HT_VERDICT_MAKE_FINDINGS_H
#define HT_VERDICT_MAKE_FINDINGS_H

#include "verdict/findings.h"

/* Brought together. Memory in scratch; names are those of the parts. */
enum ht_status ht_findings_make(
        struct ht_run *run, const struct ht_parts *parts, struct ht_findings *ret) HT_MUST_USE;

#endif
