/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_sum.c - see rule_sum.h.
 */
#include "model/advice/rule_sum.h"

#include "base/checked.h"

void ht_rule_sum_add(struct ht_rule_sum *sum, int64_t part, uint32_t row, int64_t row_ns)
{
	ht_sum(&sum->part, part);
	sum->count++;
	if (row_ns > sum->row_ns || sum->row == HT_NONE) {
		sum->row = row;
		sum->row_ns = row_ns;
	}
}
