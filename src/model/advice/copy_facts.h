/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_facts.h - which kind of memcpy takes most time ("Memcpy HtoD (Pinned -> Device)"), how much it moves, and what its link could.
 */
#ifndef HT_MODEL_ADVICE_COPY_FACTS_H
#define HT_MODEL_ADVICE_COPY_FACTS_H

#include "model/advice/rule_sum.h"

#include <stddef.h>

struct ht_gpu;
struct ht_trace;

/* There are fewer kinds; what comes after these is not told apart. */
#define HT_MOST_COPY_KINDS 16

struct ht_copy_kind {
	uint32_t name, row; /* of the longest */
	int64_t ns, row_ns, bytes, device;
};

struct ht_copy_kinds {
	struct ht_copy_kind list[HT_MOST_COPY_KINDS];
	size_t n;
};

/* One more copy; bytes 0: not recorded. */
void ht_copy_kinds_add(struct ht_copy_kinds *kinds, const struct ht_trace *trace,
        const struct ht_gpu *gpu, int64_t bytes);
/* The kind with most time, into a sum whose part and whole stand: row, count 1, aux: its bytes, its time, and the link's
 * bytes per second (host_link.h), 0 where it is no transfer between CPU and device or not known. */
void ht_copy_kinds_tell(
        const struct ht_copy_kinds *kinds, const struct ht_trace *trace, struct ht_rule_sum *sum);

#endif
