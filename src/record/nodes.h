/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - the execution trace of a recording: nodes with ids in order of their begin, as PyTorch
 * numbers them (a node, then the tensors and memory it meets first), written in order of their end.
 */
#ifndef HT_RECORD_NODES_H
#define HT_RECORD_NODES_H

#include "record/replay.h"
#include "record/values.h"

struct ht_nodes {
	ht_ctx *ctx;
	const struct ht_image *image;
	struct ht_emit *out;
	struct ht_vec
	        large; /* char; the node in hand, when it is longer than the output's buffer */
	struct ht_values values;
	struct ht_ids ids;
};

void ht_nodes_init(struct ht_nodes *nodes, const struct ht_image *image, struct ht_emit *out);
void ht_nodes_done(struct ht_nodes *nodes);
struct ht_replay_sink ht_nodes_sink(struct ht_nodes *nodes);
/* What stands before the nodes, and after them. finish_ns: of the recorder's clock. */
void ht_nodes_head(struct ht_nodes *nodes);
enum ht_status ht_nodes_tail(struct ht_nodes *nodes, int64_t finish_ns) HT_MUST_USE;

#endif
