/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile_log.h - the structured log of torch.compile (TORCH_TRACE): which code each graph became, from which lines, and why it was
 * compiled again.
 *
 *     V0521 11:50:39.474000 3054118 path/file.py:1864] {"frame_id": 0, ..., "artifact": {...}, "has_payload": "md5"}
 *     <TAB>payload, line by line
 *
 * Of a graph the log has, one after the other, the generated wrapper (inductor_output_code), the stack of every call in it
 * (inductor_provenance_tracking_kernel_stack_traces, with INDUCTOR_PROVENANCE=1) and its key (fx_graph_cache_hit, _miss or
 * _bypass), the one that the trace has in "## Call CompiledFxGraph <key> ##". A call is known by its handle: its place
 * among the calls of the wrapper. Code that was in a cache has no stacks: lines are those of its nodes in the graphs
 * (graph_lines.h). Comments of wrappers have no contract: what is not understood is passed over.
 */
#ifndef HT_MODEL_ORIGIN_COMPILE_LOG_H
#define HT_MODEL_ORIGIN_COMPILE_LOG_H

#include "base/status.h"
#include "model/origin/compiled_graph.h"

struct ht_attach_use;
struct ht_run;

struct ht_recompile {
	const char *compile_id, *reason;
};

/* By name, then by place: one of graphs, or of recompiles. */
struct ht_log_name {
	const char *name;
	uint32_t place;
};

struct ht_compile_log {
	struct ht_mem *mem;
	struct ht_arena arena;
	struct ht_vec graphs;           /* struct ht_compiled_graph */
	struct ht_vec recompiles;       /* struct ht_recompile */
	struct ht_log_name *keys, *ids; /* of graphs, of recompiles; in the arena */
	struct ht_vec spans;            /* struct ht_compile_span, in Unix time */
	size_t n_records,
	        n_bad; /* lines of no form, and payloads that are no JSON where they should be */
	size_t n_changed; /* payloads that are not what their checksum was made of: used all the same */
	size_t n_lost; /* files about calls that no wrapper is beside */
};

/* An empty one, which the caller frees. */
enum ht_status ht_compile_log_new(ht_ctx *ctx, struct ht_compile_log **ret_log) HT_MUST_USE;
/* What a log, or files of code, are good for, with the rank of the run in hand. */
enum ht_status ht_compile_log_judge(struct ht_run *run, const struct ht_compile_log *log,
        struct ht_attach_use *ret_use) HT_MUST_USE;
/* Whether the first bytes are those of such a log. */
bool ht_compile_log_sniff(const char *text, size_t n);
/* Read a text that ends in NUL; it is changed meanwhile. The caller frees the log. */
enum ht_status ht_compile_log_read(
        ht_ctx *ctx, char *text, size_t n, struct ht_compile_log **ret_log) HT_MUST_USE;
void ht_compile_log_free(struct ht_compile_log *log);
/* The graph of a key, the last one when several have it; NULL: none. */
const struct ht_compiled_graph *ht_compile_log_graph(
        const struct ht_compile_log *log, const char *key);
/* Why a compile id was compiled again, the last reason when there are several; NULL: the log does not say. */
const char *ht_compile_log_reason(const struct ht_compile_log *log, const char *compile_id);

#endif
