/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached_trace.c - traces that join a trace: recorded while graphs were captured, or of the same code run eagerly.
 */
#include "attach/kind.h"
#include "model/origin/find_origins.h"
#include "model/origin/tape.h"

#include <string.h>

/* "capture_8_FULL (51 launches), ..." or "eager run (302 GPU activities)". */
static const char *describe(struct ht_run *run, const struct ht_vec *tapes)
{
	const struct ht_tape *list = tapes->data;
	const char *text = "";
	for (size_t i = 0; i < tapes->n && text && i < 8; i++)
		text = ht_arena_printf(run->scratch, "%s%s%s (%zu %s)", text, i ? ", " : "",
		        !list[i].is_capture ? "eager run"
		        : *list[i].label    ? list[i].label
		                            : "capture",
		        list[i].n, list[i].is_capture ? "launches" : "GPU activities");
	if (text && tapes->n > 8)
		text = ht_arena_printf(run->scratch, "%s and %zu more", text, tapes->n - 8);
	return text && !*text ? "no captures and no GPU activities of operators" : text;
}

static enum ht_status judge(
        struct ht_run *run, const struct ht_attachment *attachment, struct ht_attach_use *ret_use)
{
	struct ht_origins origins;
	struct ht_vec tapes = { 0 };
	const void *trace;
	HT_TRY(ht_attachment_load(run->ctx, attachment, &trace));
	HT_TRY(ht_origins_make(run, false, &origins));
	enum ht_status status = ht_tapes_of(run, trace, attachment, &tapes);
	const char *text = status == HT_OK ? describe(run, &tapes) : NULL;
	ht_vec_free(run->ctx->mem, &tapes, sizeof(struct ht_tape));
	HT_TRY(status);
	uint64_t matched = origins.n_matched[attachment->i];
	const char *why = !origins.n_of_graphs ? "the trace launches no graphs"
	                  : matched            ? NULL
	                                       : origins.why[attachment->i];
	if (text && why)
		text = ht_arena_printf(run->scratch, "%s; %s", text, why);
	for (size_t i = 0; text && i < origins.n_graphs; i++)
		if (origins.graphs[i].note && !strcmp(origins.graphs[i].from, attachment->path) &&
		        !strstr(text, origins.graphs[i].note))
			text = ht_arena_printf(
			        run->scratch, "%s; warning: %s", text, origins.graphs[i].note);
	*ret_use = (struct ht_attach_use){
		.text = text,
		.matched = matched,
		.n = origins.n_of_graphs,
		.things = "GPU activities of graph launches",
		.is_refused = origins.n_of_graphs && !matched && why,
	};
	return text ? HT_OK : ht_fail_nomem(run->ctx);
}

const struct ht_attach_kind ht_attach_kind_trace = {
	.name = "trace",
	.what = "a trace of the capture of graphs, or of the same code run eagerly",
	.use = "kernels of graphs get the operators that it has for them",
	.patterns = "capture_traces|graph_capture_rank*.json*|*bs_*_rank*.json*",
	.sniff = ht_attach_is_trace,
	.load = ht_attach_load_trace,
	.free = ht_attach_free_trace,
	.judge = judge,
};
