/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_match.c - see code_files.h: which wrapper a graph of the trace is.
 */
#include "attach/kind.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "model/origin/code_files.h"
#include "model/origin/compiled.h"
#include "store/args.h"

#include <stdlib.h>
#include <string.h>

/* A generated kernel of a graph, as the trace has it. */
struct generated {
	int64_t ts_ns;
	uint32_t row;
	const char *name, *hash; /* hash NULL: not said */
};

struct graph_run {
	struct generated *list;
	size_t n;
};

static bool is_generated(const char *name)
{
	return ht_text_starts(name, "triton_");
}

static bool has_key(const struct ht_trace *t, uint32_t row, const char *key)
{
	size_t n;
	const char *found = t->kind[row] == HT_KIND_ANNOTATION && ht_is_span(t, row)
	                            ? ht_compiled_key(ht_str(t, t->name[row]), &n)
	                            : NULL;
	return found && strlen(key) == n && !memcmp(found, key, n);
}

static int by_time(const void *left, const void *right)
{
	const struct generated *a = left, *b = right;
	int order = ht_order_i64(a->ts_ns, b->ts_ns);
	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* The operators of generated kernels in the last call of the graph; of a CUDA graph, its kernels. */
static enum ht_status find_run(struct ht_run *run, const char *key, struct graph_run *ret)
{
	const struct ht_trace *t = run->trace;
	uint32_t call = HT_NONE;
	size_t n = 0, n_ops = 0;
	for (uint32_t row = 0; row < ht_n_events(t); row++)
		if (has_key(t, row, key))
			call = row;
	struct generated *list = ht_arena_room(
	        run->scratch, (ht_n_of_kind(t, HT_KIND_CPU_OP) + t->n_gpu + 1) * sizeof *list);
	if (!list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; call != HT_NONE && row < ht_n_events(t); row++) {
		const char *name = t->kind[row] == HT_KIND_CPU_OP ? ht_str(t, t->name[row]) : "";
		if (is_generated(name) && ht_compiled_around(t, row) == call)
			list[n_ops++] = (struct generated){ t->ts_ns[row], row, name,
				ht_arg_str(t, "kernel_hash", row) };
	}
	for (size_t i = 0; call != HT_NONE && !n_ops && i < t->n_gpu; i++) {
		uint32_t row = t->gpu[i].row, launch = t->gpu[i].launch;
		const char *name = ht_str(t, t->name[row]);
		if (launch != HT_NONE && is_generated(name) &&
		        ht_compiled_around(t, launch) == call)
			list[n++] = (struct generated){ t->ts_ns[row], row, name, NULL };
	}
	*ret = (struct graph_run){ list, n_ops ? n_ops : n };
	qsort(list, ret->n, sizeof *list, by_time);
	return HT_OK;
}

static bool fits(const struct graph_run *run, const struct ht_compiled_graph *graph)
{
	size_t k = 0;
	for (size_t i = 0; i < graph->n; i++) {
		if (!is_generated(graph->calls[i].name))
			continue;
		if (k == run->n || strcmp(graph->calls[i].name, run->list[k].name) != 0)
			return false;
		const char *hash = run->list[k++].hash;
		if (hash && *graph->kernels && !strstr(graph->kernels, hash))
			return false;
	}
	return k == run->n && k > 0;
}

/* Whether two wrappers say the same of their calls. */
static bool same_calls(const struct ht_compiled_graph *a, const struct ht_compiled_graph *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->calls[i].name, b->calls[i].name) != 0 ||
		        !ht_text_same(a->calls[i].ops, b->calls[i].ops) ||
		        !ht_text_same(a->calls[i].source, b->calls[i].source))
			return false;
	return true;
}

enum ht_status ht_code_graph(
        struct ht_run *run, const char *key, const struct ht_compiled_graph **ret_graph)
{
	struct graph_run found = { 0 };
	const struct ht_compiled_graph *best = NULL;
	const struct ht_attachment *a;
	bool has_run = false, is_ambiguous = false;
	size_t at = 0;
	while ((a = ht_attached_next(
	                run->attached, &ht_attach_kind_inductor_code, run->rank, &at))) {
		const void *data;
		HT_TRY(ht_attachment_load(run->ctx, a, &data));
		if (!has_run)
			HT_TRY(find_run(run, key, &found));
		has_run = true;
		const struct ht_compile_log *files = data;
		const struct ht_compiled_graph *graphs = files->graphs.data;
		for (size_t i = 0; i < files->graphs.n; i++) {
			if (!fits(&found, &graphs[i]))
				continue;
			is_ambiguous |= best && !same_calls(best, &graphs[i]);
			best = best ? best : &graphs[i];
		}
	}
	*ret_graph = is_ambiguous ? NULL : best;
	return HT_OK;
}
