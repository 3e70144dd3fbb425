/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.h - the calls of a generated wrapper, by its comments, and the lines they come from.
 *
 *     # Topologically Sorted Source Nodes: [embedding, x], Original ATen: [aten.embedding, aten.add]
 *     # [Provenance debug handles] triton_per_fused_add_embedding_1:2
 *     triton_per_fused_add_embedding_1.run(...)
 *
 * Handles go on over the graphs of a process, so that a graph's own begin where its wrapper's do.
 */
#ifndef HT_MODEL_ORIGIN_WRAPPER_H
#define HT_MODEL_ORIGIN_WRAPPER_H

#include "base/status.h"
#include "json/json_text.h"

struct ht_compiled_call;

/* Append struct ht_compiled_call for every call of the code. */
enum ht_status ht_wrapper_read(
        ht_ctx *ctx, struct ht_arena *arena, const char *code, struct ht_vec *calls) HT_MUST_USE;
/* The files of its kernels, as ht_compiled_graph has them; NULL without memory. */
const char *ht_wrapper_kernels(struct ht_arena *arena, const char *code);
/* Calls by name and handle; they must stay where they are. */
struct ht_call_index {
	struct ht_compiled_call **sorted;
	size_t n;
};
enum ht_status ht_call_index_make(ht_ctx *ctx, struct ht_compiled_call *calls, size_t n,
        struct ht_call_index *ret_index) HT_MUST_USE;
void ht_call_index_done(ht_ctx *ctx, struct ht_call_index *index);
/* Add the nodes of a "name:handle" to its call, where its comment has none. */
enum ht_status ht_wrapper_add_nodes(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_call_index *calls, const struct ht_json_value *key,
        const struct ht_json_value *nodes) HT_MUST_USE;
/* Add the stacks of a "name:handle" to its call; those of no call are older graphs'. key is without quotes. */
enum ht_status ht_wrapper_add_stacks(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_call_index *calls, const struct ht_json_value *key,
        const struct ht_json_value *stacks) HT_MUST_USE;

#endif
