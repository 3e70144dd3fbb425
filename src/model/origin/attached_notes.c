/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_notes.c - annotations of graph nodes that join a trace.
 */
#include "attach/kind.h"
#include "model/origin/find_origins.h"
#include "model/origin/node_notes.h"
#include "store/columns.h"

#define MAX_BYTES    ((size_t)1 << 30)
#define WORTH_ASKING 0.9 /* of the activities of graphs */

static bool sniff(const struct ht_attach_head *head)
{
	return ht_node_notes_sniff(head->text, head->n);
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	struct ht_node_notes *notes = NULL;
	struct ht_vec text = { 0 };
	HT_TRY(ht_attachment_text(ctx, attachment, 0, MAX_BYTES, &text));
	enum ht_status status =
	        ht_node_notes_read(ctx, attachment->files[0], text.data, text.n, &notes);
	ht_vec_free(ctx->mem, &text, 1);
	*ret_data = notes;
	return status;
}

static void let_go(void *data)
{
	ht_node_notes_free(data);
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	struct ht_origins origins;
	const void *data;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	HT_TRY(ht_origins_make(run, false, &origins));
	const struct ht_node_notes *notes = data;
	uint64_t matched = origins.n_matched[attachment->i];
	bool has_ids = ht_str_find(run->trace, "graph node id") != HT_NO_STR;
	const char *why =
	        !has_ids ? "; the trace has no graph node ids: a profiler since 2026 records them"
	        : (double)matched < WORTH_ASKING * (double)origins.n_of_graphs
	                ? "; was the graph captured again since?"
	                : "";
	const char *text = ht_arena_printf(run->scratch, "annotations of %zu node%s%s",
	        notes->list.n, notes->list.n == 1 ? "" : "s", why);
	*ret_use = (struct ht_attach_use){ .text = text,
		.matched = matched,
		.n = origins.n_of_graphs,
		.things = "GPU activities of graph launches",
		.is_refused = origins.n_of_graphs && !matched };
	return text ? HT_OK : ht_fail_nomem(run->ctx);
}

const struct ht_attach_kind ht_attach_kind_kernel_annotations = {
	.name = "kernel-annotations",
	.what = "annotations of graph nodes (kernel_annotations_rank*.json)",
	.use = "kernels of graphs get the module and the name that their node is annotated with",
	.patterns = "kernel_annotations_rank*.json*|../kernel_annotations_rank*.json*",
	.sniff = sniff,
	.load = load,
	.free = let_go,
	.judge = judge,
};
