/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_findings.h - what memory snapshots tell, as findings: from rows of memory-snapshot's summary (mem_columns.h), so that
 * no sentence differs from the view that shows its numbers.
 *
 *   peak           who holds most at the peak
 *   ranks          ranks whose peak is far from the others': by more than 5 % of the median, and five times the median distance
 *   oom            why the first request that failed did so
 *   leak           the line whose blocks pile up most from step to step
 *   fragmentation  a segment was taken while much was free in pieces
 *   pools          private pools that keep memory idle
 */
#ifndef HT_MODEL_SNAPSHOT_MEM_FINDINGS_H
#define HT_MODEL_SNAPSHOT_MEM_FINDINGS_H

#include "model/finding/finding.h"
#include "model/part.h"

/* What is wrong comes first. */
enum ht_mem_topic {
	HT_MEM_TOPIC_OOM,
	HT_MEM_TOPIC_LEAK,
	HT_MEM_TOPIC_FRAGMENTATION,
	HT_MEM_TOPIC_POOLS,
	HT_MEM_TOPIC_PEAK,
	HT_MEM_N_TOPICS
};

extern const struct ht_column ht_mem_summary_columns[];

/* Of a row of the summary. A place is named when there are several ranks, or several devices. */
struct ht_finding ht_mem_finding(
        const ht_table *rows, size_t row, enum ht_mem_topic topic, bool names_place);
/* Of the rank and device that have most of it, where facts[k] of parts are rows of the summary; unknown without
 * snapshots. ret_part: where it is, SIZE_MAX. */
struct ht_finding ht_mem_finding_worst(
        const struct ht_parts *parts, size_t k, enum ht_mem_topic topic, size_t *ret_part);
/* Ranks whose peak is unlike the others'; unknown below three ranks with snapshots. Memory in scratch. */
enum ht_status ht_mem_finding_ranks(struct ht_run *run, const struct ht_parts *parts, size_t k,
        struct ht_finding *ret) HT_MUST_USE;
/* Whether any rank has a snapshot. */
bool ht_mem_findings_any(const struct ht_parts *parts, size_t k);

#endif
