/*
 * attached_log.c - structured logs of torch.compile that join a trace.
 */
#include "attach/kind.h"
#include "model/origin/compiled.h"

#define MAX_BYTES ((size_t)1 << 30)

static bool sniff(const struct ht_attach_head *head)
{
	return ht_compile_log_sniff(head->text, head->n);
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	struct ht_compile_log *log = NULL;
	struct ht_vec text = { 0 };
	HT_TRY(ht_attachment_text(ctx, attachment, 0, MAX_BYTES, &text));
	enum ht_status status = ht_compile_log_read(ctx, text.data, text.n, &log);
	ht_vec_free(ctx->mem, &text, 1);
	*ret_data = log;
	return status;
}

static void let_go(void *data)
{
	ht_compile_log_free(data);
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	const void *data;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	const struct ht_compile_log *log = data;
	struct ht_compiled compiled;
	HT_TRY(ht_compiled_find(run, &compiled));
	size_t n_calls = 0, n_with_line = 0;
	const struct ht_compiled_graph *graphs = log->graphs.data;
	for (size_t i = 0; i < log->graphs.n; i++)
		for (size_t k = 0; k < graphs[i].n; k++) {
			n_calls++;
			n_with_line += graphs[i].calls[k].source != NULL;
		}
	const char *text = ht_arena_printf(run->scratch,
	        "%zu graphs, %zu of %zu calls with lines, %zu recompilations%s", log->graphs.n,
	        n_with_line, n_calls, log->recompiles.n,
	        compiled.n_activities ? "" : "; the trace calls no compiled graph");
	*ret_use = (struct ht_attach_use){
		.text = text,
		.matched = compiled.n_found,
		.n = compiled.n_activities,
		.things = "GPU activities of compiled graphs",
		.is_refused = compiled.n_activities && !compiled.n_found,
	};
	return text ? HT_OK : ht_fail_nomem(run->ctx);
}

const struct ht_attach_kind ht_attach_kind_compile_log = {
	.name = "compile-log",
	.what = "a structured log of torch.compile (TORCH_TRACE)",
	.use = "generated kernels get operators and source lines, recompilations their reason",
	.beside = "dedicated_log_torch_trace*|../dedicated_log_torch_trace*",
	.sniff = sniff,
	.load = load,
	.free = let_go,
	.judge = judge,
};
