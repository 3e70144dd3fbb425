/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_match.h - the same collective on several ranks.
 *
 * A collective is one call on every rank of a process group. Calls of different ranks belong together when they
 * are in the same group (name and members) and have the same
 *   sequence number, where the profiler wrote it ("Seq"), else
 *   step and position: the n-th call of the group launched in that step (in the recording, without steps).
 * A send belongs to the receive of the same position between the same two ranks, which its arguments say, or a group of two
 * members. Where kernels carry no
 * collective arguments, calls are counted by the kernel's name, and its group is as large as the exporter says, else the
 * job (group_size.h), else all ranks that are there.
 *
 * Calls that should be the same are checked: name, element type, and elements where ranks must agree about them.
 * By sequence a collective that differs is not matched; by position neither is what follows it in the step, nor
 * any call of a step in which ranks have different numbers of them. The first mismatch is put into words.
 * Not matched: kernels whose launch was not recorded, as their position is unknown, and sends without a peer.
 */
#ifndef HT_MODEL_COMMUNICATION_COLLECTIVE_MATCH_H
#define HT_MODEL_COMMUNICATION_COLLECTIVE_MATCH_H

#include "model/communication/comm_call.h"
#include "model/communication/comm_calls.h"

struct ht_collective {
	const char *group; /* "0 [0, 1, 2, 3]", "0->1" for a send, "" when unknown */
	const char *name;  /* "allreduce", or the kernel's short name */
	const char *dtype; /* NULL when unknown */
	enum ht_comm_kind kind;
	int64_t step;            /* of its launch on the first rank, HT_NO_I64 outside steps */
	int64_t nth;             /* sequence number, or position from 0; HT_NO_I64: not matched */
	int64_t elements, bytes; /* the largest of its ranks, HT_NO_I64 when unknown */
	int64_t size;            /* ranks of the group, HT_NO_I64 when unknown */
	struct ht_comm_call *calls; /* ascending by i_rank, one per rank */
	size_t n;
	bool complete;   /* all ranks of its group are there */
	bool mismatched; /* alone, because ranks disagree about it */
};

/* A call and the collective that it belongs to. */
struct ht_call_place {
	int64_t row;
	const struct ht_collective *collective;
	const struct ht_comm_call *call;
};

/* Every call is in one collective; those without a match are alone in theirs. */
struct ht_matches {
	struct ht_collective *collectives;
	size_t n;
	struct ht_call_place **places; /* by rank of the roster, ascending by row */
	size_t *n_places;
	size_t n_calls, n_unmatched;
	size_t n_mismatches;
	const char *first_mismatch; /* in words; NULL: none */
};

/* parts has the calls of the ranks of the roster as facts[0]. The answer lies in the arena, in no order and
 * without places. O(n log n). */
enum ht_status ht_collectives_match(ht_ctx *ctx, struct ht_arena *arena, struct ht_arena *scratch,
        const struct ht_roster *roster, const struct ht_parts *parts,
        struct ht_matches *ret_matches) HT_MUST_USE;

/* When times are final: order by start on the first rank, and fill places. */
enum ht_status ht_matches_order(ht_ctx *ctx, struct ht_arena *arena, size_t n_ranks,
        struct ht_matches *matches) HT_MUST_USE;

/* Whether somebody else took part; alone, a call says nothing about other ranks. */
static inline bool ht_collective_is_matched(const struct ht_collective *collective)
{
	return collective->n > 1 || (collective->complete && collective->nth != HT_NO_I64);
}

/* The place of a kernel, NULL when it is no call. */
const struct ht_call_place *ht_matches_find(
        const struct ht_matches *matches, size_t i_rank, int64_t row);

#endif
