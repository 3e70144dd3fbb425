/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worst_op.c - see worst_op.h.
 */
#include "model/utilisation/worst_op.h"

#include "base/checked.h"
#include "base/sort.h"
#include "model/efficiency/cost_groups.h"
#include "store/columns.h"

#include <string.h>

static bool counts(const struct ht_run *run, const struct ht_op_call *call)
{
	return call->op != HT_NONE && call->op_trace == run->trace && call->excess_ns > 0 &&
	       !ht_op_call_is_misaligned(call);
}

/* Calls of one name. */
static struct ht_worst_op sum_of(const struct ht_op_calls *calls, const uint32_t *order, size_t n)
{
	struct ht_worst_op sum = { .call = &calls->list[order[0]] };
	for (size_t i = 0; i < n; i++) {
		const struct ht_op_call *call = &calls->list[order[i]];
		ht_sum(&sum.excess_ns, call->excess_ns);
		ht_sum(&sum.gpu_ns, call->gpu_ns);
		ht_sum(&sum.ideal_ns, call->ideal_ns);
		if (call->excess_ns > sum.call->excess_ns)
			sum.call = call;
	}
	return sum;
}

static bool is_worse(const struct ht_worst_op *a, const struct ht_worst_op *b)
{
	if (!b->call || a->excess_ns != b->excess_ns)
		return !b->call || a->excess_ns > b->excess_ns;
	return strcmp(ht_op_call_name(a->call), ht_op_call_name(b->call)) < 0;
}

enum ht_status ht_worst_op_find(
        struct ht_run *run, const struct ht_op_calls *calls, struct ht_worst_op *ret)
{
	size_t n = 0;
	uint64_t *keys = ht_arena_room(run->scratch, (calls->n + 1) * sizeof *keys);
	uint32_t *order = ht_arena_room(run->scratch, (calls->n + 1) * sizeof *order);
	if (!keys || !order)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0; i < calls->n; i++)
		if (counts(run, &calls->list[i])) {
			keys[n] = run->trace->name[calls->list[i].op];
			order[n++] = (uint32_t)i;
		}
	if (!ht_sort_keys(run->ctx->mem, keys, order, n))
		return ht_fail_nomem(run->ctx);
	*ret = (struct ht_worst_op){ 0 };
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && keys[end] == keys[first];)
			end++;
		struct ht_worst_op sum = sum_of(calls, order + first, end - first);
		if (is_worse(&sum, ret))
			*ret = sum;
	}
	return HT_OK;
}
