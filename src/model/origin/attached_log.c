/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_log.c - structured logs of torch.compile that join a trace.
 */
#include "attach/kind.h"
#include "model/origin/compiled.h"
#include "model/origin/find_origins.h"
#include "model/rows/around.h"
#include "store/columns.h"

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

/* Activities of compiled graphs that are replayed. */
static enum ht_status add_replays(struct ht_run *run, struct ht_compiled *compiled)
{
	const struct ht_trace *t = run->trace;
	struct ht_origins origins;
	struct ht_around calls;
	HT_TRY(ht_origins_make(run, false, &origins));
	HT_TRY(ht_around_init(run, t, ht_is_compiled_call, t, &calls));
	for (size_t i = 0; origins.of_graph && i < t->n_gpu; i++) {
		const struct ht_origin *site = ht_origin_in_graph(&origins, i);
		uint32_t launch = t->gpu[i].launch;
		if (!origins.of_graph[i] || launch == HT_NONE ||
		        ht_around_find(&calls, launch) == HT_NONE)
			continue;
		compiled->n_activities++;
		compiled->n_found += site && site->method == HT_ORIGIN_INDUCTOR;
	}
	return HT_OK;
}

/* What of the log is not as it was written. */
static const char *describe_damage(struct ht_run *run, const struct ht_compile_log *log)
{
	const char *text = "";
	if (log->n_changed)
		text = ht_arena_printf(run->scratch,
		        "; warning: %zu of %zu records differ from their md5", log->n_changed,
		        log->n_records);
	if (text && log->n_bad)
		text = ht_arena_printf(run->scratch, "%s; warning: %zu record%s cannot be read",
		        text, log->n_bad, log->n_bad == 1 ? "" : "s");
	return text ? text : "";
}

enum ht_status ht_compile_log_judge(
        struct ht_run *run, const struct ht_compile_log *log, struct ht_attach_use *ret_use)
{
	struct ht_compiled compiled;
	HT_TRY(ht_compiled_find(run, &compiled));
	HT_TRY(add_replays(run, &compiled));
	size_t n_calls = 0, n_with_line = 0;
	const struct ht_compiled_graph *graphs = log->graphs.data;
	for (size_t i = 0; i < log->graphs.n; i++)
		for (size_t k = 0; k < graphs[i].n; k++) {
			n_calls++;
			n_with_line += graphs[i].calls[k].source != NULL;
		}
	const char *text = ht_arena_printf(run->scratch,
	        "%zu graph%s, %zu of %zu calls with lines, %zu recompilation%s%s%s%s",
	        log->graphs.n, log->graphs.n == 1 ? "" : "s", n_with_line, n_calls,
	        log->recompiles.n, log->recompiles.n == 1 ? "" : "s", describe_damage(run, log),
	        log->n_lost ? "; provenance without the code beside it is not used" : "",
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

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	const void *data;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &data));
	return ht_compile_log_judge(run, data, ret_use);
}

const struct ht_attach_kind ht_attach_kind_compile_log = {
	.name = "compile-log",
	.what = "a structured log of torch.compile (TORCH_TRACE)",
	.use = "generated kernels get operators and source lines, recompilations their reason",
	.patterns = "dedicated_log_torch_trace*|../dedicated_log_torch_trace*",
	.sniff = sniff,
	.load = load,
	.free = let_go,
	.judge = judge,
};
