/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_lines.h - the lines of source that nodes of a printed FX graph come from.
 *
 *     # File: /home/me/model.py:42 in forward, code: x = self.emb(t)
 *     x: "f32[16, 256, 512]" = torch.nn.functional.embedding(...)
 *
 * A log has such graphs of every compilation, also where the code was in a cache and no stack of a call was kept: as Dynamo captured it, and
 * as it was after the passes over gradients. Comments have no contract: what is not understood is passed over.
 */
#ifndef HT_MODEL_ORIGIN_GRAPH_LINES_H
#define HT_MODEL_ORIGIN_GRAPH_LINES_H

#include "base/status.h"

struct ht_compiled_call;

struct ht_graph_lines {
	struct ht_vec nodes; /* by name, once read */
};

/* Those of one graph instead of what is in it. Texts point into the graph's. */
enum ht_status ht_graph_lines_read(
        ht_ctx *ctx, const char *graph, struct ht_graph_lines *lines) HT_MUST_USE;
void ht_graph_lines_done(ht_ctx *ctx, struct ht_graph_lines *lines);

/* Give a call the lines of its nodes: the user's own, else those of libraries. */
enum ht_status ht_graph_lines_add(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_graph_lines *lines, struct ht_compiled_call *call) HT_MUST_USE;

/* How many bytes the nodes at each line of a call compute, where all of them are known. Each is looked for in two graphs, the
 * second of which may be NULL. */
enum ht_status ht_graph_lines_weigh(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_graph_lines *const *graphs, struct ht_compiled_call *call) HT_MUST_USE;

#endif
