/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_sum.h - a sum over events with the largest of them, for facts of rules.
 */
#ifndef HT_MODEL_ADVICE_RULE_SUM_H
#define HT_MODEL_ADVICE_RULE_SUM_H

#include "store/event.h"

enum { HT_N_FACT_AUX = 4 };

struct ht_rule_sum {
	int64_t part, whole; /* whole HT_NO_I64: none */
	int64_t count, row_ns;
	uint32_t row;               /* HT_NONE: none */
	const char *name;           /* NULL: that of the row */
	const char *more, *place;   /* NULL: none */
	int64_t aux[HT_N_FACT_AUX]; /* 0 where the metric has none */
};
/* Zero, of nothing. */
#define HT_RULE_SUM ((struct ht_rule_sum){ .whole = HT_NO_I64, .row = HT_NONE })
/* One more event. */
void ht_rule_sum_add(struct ht_rule_sum *sum, int64_t part, uint32_t row, int64_t row_ns);

#endif
