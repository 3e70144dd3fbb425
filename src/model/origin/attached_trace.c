/*
 * attached_trace.c - traces that join a trace: recorded while graphs were captured, or of the same code run eagerly.
 */
#include "attach/kind.h"
#include "model/run.h"

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

const struct ht_attach_kind ht_attach_kind_trace = {
	.name = "trace",
	.what = "a trace of the capture of graphs, or of the same code run eagerly",
	.use = "kernels of graphs get the operators that it has for them",
	.beside = "capture_traces|graph_capture_rank*.json*|*bs_*_rank*.json*",
	.sniff = ht_attach_is_trace,
	.load = load,
	.free = let_go,
};
