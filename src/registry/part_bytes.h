/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_bytes.h - the tables of a part as bytes, checked when they are read: who wrote them may lie.
 */
#ifndef HT_REGISTRY_PART_BYTES_H
#define HT_REGISTRY_PART_BYTES_H

#include "analysis/analysis.h"
#include "base/bytes.h"

/* Some of the tables, or all. */
struct ht_facts_range {
	size_t first, end;
};
#define HT_ALL_FACTS ((struct ht_facts_range){ 0, HT_PART_TABLES })

void ht_part_pack(
        const struct ht_part *part, struct ht_facts_range range, struct ht_bytes_out *out);
/* Into a part whose rank is set. HT_FORMAT without a text when they are not what the analysis would have made of that
 * rank; what was read until then is in the part. Whether all tables hold together is the caller's to ask, when they are
 * there (is_sound of the analysis). */
enum ht_status ht_part_unpack(ht_ctx *ctx, struct ht_bytes_in *in, struct ht_facts_range range,
        const struct ht_analysis *analysis, struct ht_part *part) HT_MUST_USE;

#endif
