/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmatched_calls.h - the communication calls of all ranks, before it is known which belong together.
 *
 * Calls come as tables, one per rank (comm_calls.h). Reading them is a task per rank; what texts are called is
 * decided in the order of ranks, so that numbers are the same whatever the number of threads.
 */
#ifndef HT_MODEL_COMMUNICATION_UNMATCHED_CALLS_H
#define HT_MODEL_COMMUNICATION_UNMATCHED_CALLS_H

#include "model/communication/comm_call.h"
#include "model/communication/comm_calls.h"

#define HT_NO_TEXT UINT32_MAX

struct ht_unmatched_call {
	struct ht_comm_call call;
	uint32_t family; /* id of the group; of the name where there is none */
	uint32_t group, name, dtype;
	enum ht_comm_kind kind;
	int64_t size, seq, order_ns, elements;
	int64_t nth; /* HT_NO_I64: matches nothing */
	bool mismatched;
};

struct ht_unmatched_calls {
	struct ht_unmatched_call *list; /* in scratch */
	size_t n;
	uint32_t *order;    /* indexes into list: by rank, moment and row; in scratch */
	const char **texts; /* by id; in the arena */
};

/* parts has the calls as facts[0]. */
enum ht_status ht_unmatched_collect(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *parts,
        struct ht_unmatched_calls *ret_calls) HT_MUST_USE;

#endif
