/*
 * memory_timeline.c - memory timelines that join a trace: `memory-timeline` shows them in place of the trace's own, and
 * `memory-snapshot` has categories from them.
 */
#include "attach/kind.h"

#include "read/sniff.h"

static bool sniff(const struct ht_attach_head *head)
{
	return ht_sniff_trace(head->text, head->n, head->is_all).kind == HT_SNIFF_MEMORY_TIMELINE;
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	struct ht_trace *trace;
	HT_TRY(ht_attachment_trace(ctx, attachment, &trace));
	*ret_data = trace;
	return HT_OK;
}

static void let_go(void *data)
{
	ht_trace_release(data);
}

const struct ht_attach_kind ht_attach_kind_memory_timeline = {
	.name = "memory-timeline",
	.what = "a memory timeline",
	.use = "memory-timeline shows it; memory-snapshot has categories of memory from its raw form",
	.sniff = sniff,
	.load = load,
	.free = let_go,
};
