/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled.c - see compiled.h.
 */
#include "model/origin/compiled.h"

#include "attach/kind.h"
#include "base/hash.h"
#include "base/text_compare.h"
#include "model/origin/call_names.h"
#include "model/origin/tape.h"
#include "model/rows/around.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

const char *ht_compiled_key(const char *name, size_t *ret_n)
{
	static const char start[] = "## Call CompiledFxGraph ";
	if (!ht_text_starts(name, start))
		return NULL;
	name += sizeof start - 1;
	*ret_n = strcspn(name, " ");
	return *ret_n ? name : NULL;
}

bool ht_is_compiled_call(const void *trace, uint32_t row)
{
	const struct ht_trace *t = trace;
	size_t n;
	return t->kind[row] == HT_KIND_ANNOTATION &&
	       ht_compiled_key(ht_str(t, t->name[row]), &n) != NULL;
}

/* ---- logs ---- */

static enum ht_status next_log(
        struct ht_run *run, size_t *at, const struct ht_compile_log **ret_log)
{
	const struct ht_attachment *a =
	        ht_attached_next(run->attached, &ht_attach_kind_compile_log, run->rank, at);
	const void *data = NULL;
	if (a)
		HT_TRY(ht_attachment_load(run->ctx, a, &data));
	*ret_log = data;
	return HT_OK;
}

enum ht_status ht_compiled_graph(struct ht_run *run, struct ht_last_calls *calls, const char *key,
        const struct ht_compiled_graph **ret_graph)
{
	const struct ht_compile_log *log;
	size_t at = 0;
	*ret_graph = NULL;
	do {
		HT_TRY(next_log(run, &at, &log));
		if (log && !*ret_graph)
			*ret_graph = ht_compile_log_graph(log, key);
	} while (log);
	return *ret_graph ? HT_OK : ht_code_graph(run, calls, key, ret_graph);
}

bool ht_compiled_joins(const struct ht_run *run)
{
	size_t at_log = 0, at_code = 0;
	return ht_attached_next(run->attached, &ht_attach_kind_compile_log, run->rank, &at_log) ||
	       ht_attached_next(run->attached, &ht_attach_kind_inductor_code, run->rank, &at_code);
}

enum ht_status ht_recompile_reason(
        struct ht_run *run, const char *compile_id, const char **ret_reason)
{
	const struct ht_compile_log *log;
	size_t at = 0;
	*ret_reason = NULL;
	do {
		HT_TRY(next_log(run, &at, &log));
		const char *reason = log ? ht_compile_log_reason(log, compile_id) : NULL;
		if (reason)
			*ret_reason = reason;
	} while (log);
	return HT_OK;
}

/* ---- launches ---- */

/* A GPU activity inside a compiled graph. */
struct inside {
	uint32_t around; /* the graph's annotation */
	uint32_t op;     /* outermost operator in it */
	uint32_t gpu;
	int64_t ts_ns; /* of the operator */
};

static int by_call(const void *left, const void *right)
{
	const struct inside *a = left, *b = right;
	if (a->around != b->around)
		return a->around < b->around ? -1 : 1;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

static enum ht_status find_inside(struct ht_run *run, struct inside **ret_list, size_t *ret_n)
{
	const struct ht_trace *t = run->trace;
	struct inside *list = ht_arena_room(run->scratch, (t->n_gpu + 1) * sizeof *list);
	struct ht_around calls, ops;
	size_t n = 0;
	if (!list)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_around_init(run, t, ht_is_compiled_call, t, &calls));
	HT_TRY(ht_around_init(run, t, ht_is_op, t, &ops));
	ops.is_end = ht_is_compiled_call;
	for (size_t i = 0; i < t->n_gpu; i++) {
		uint32_t launch = t->gpu[i].launch;
		if (launch == HT_NONE || ht_is_graph_launch_name(ht_str(t, t->name[launch])))
			continue;
		uint32_t around = ht_around_find(&calls, launch);
		uint32_t op = around == HT_NONE ? HT_NONE : ht_around_outermost(&ops, launch);
		if (around != HT_NONE)
			list[n++] = (struct inside){ around, op, (uint32_t)i,
				op == HT_NONE ? t->ts_ns[launch] : t->ts_ns[op] };
	}
	qsort(list, n, sizeof *list, by_call);
	*ret_list = list;
	*ret_n = n;
	return HT_OK;
}

/* Graphs that were asked for, and the names of their calls. */
struct graphs {
	struct ht_call_names *
	        *by_name;  /* by id of the annotation's name, NULL: not known, or not asked for */
	uint8_t *is_asked; /* by id */
	struct ht_call_names *
	        *places; /* open addressing, by graph: annotations may name one in several ways */
	size_t n_places; /* a power of two */
	struct ht_last_calls calls;
};

static enum ht_status init_graphs(struct ht_run *run, size_t n_most, struct graphs *ret_graphs)
{
	size_t n_ids = run->trace->n_string_offsets + 1;
	struct graphs graphs = { .n_places = 2 };
	while (graphs.n_places < 2 * n_most)
		graphs.n_places *= 2;
	graphs.by_name = ht_arena_alloc(run->scratch, n_ids * sizeof(struct ht_call_names *));
	graphs.is_asked = ht_arena_alloc(run->scratch, n_ids);
	graphs.places =
	        ht_arena_alloc(run->scratch, graphs.n_places * sizeof(struct ht_call_names *));
	*ret_graphs = graphs;
	return graphs.by_name && graphs.is_asked && graphs.places ? HT_OK : ht_fail_nomem(run->ctx);
}

/* NULL: nobody has it. */
static enum ht_status find_graph(
        struct ht_run *run, uint32_t name, struct graphs *graphs, struct ht_call_names **ret_names)
{
	const struct ht_compiled_graph *graph;
	size_t n_key = 0;
	*ret_names = graphs->by_name[name];
	if (graphs->is_asked[name])
		return HT_OK;
	const char *key = ht_compiled_key(ht_str(run->trace, name), &n_key);
	char *text = key ? ht_arena_strndup(run->scratch, key, n_key) : NULL;
	if (!text)
		return ht_fail_nomem(run->ctx);
	HT_TRY(ht_compiled_graph(run, &graphs->calls, text, &graph));
	graphs->is_asked[name] = 1;
	if (!graph)
		return HT_OK;
	struct ht_call_names **place =
	        &graphs->places[HT_PROBE(at, graphs->n_places, (uintptr_t)graph,
	                !graphs->places[at] || ht_call_names_graph(graphs->places[at]) == graph)];
	if (!*place)
		HT_TRY(ht_call_names_new(run, graph, place));
	*ret_names = graphs->by_name[name] = *place;
	return HT_OK;
}

/* The activities of one call of a graph. */
static enum ht_status join_call(struct ht_run *run, const struct inside *list, size_t n,
        struct ht_call_names *names, struct ht_compiled *compiled)
{
	const struct ht_trace *t = run->trace;
	const struct ht_compiled_call *call = NULL;
	ht_call_names_restart(names);
	for (size_t i = 0; i < n; i++) {
		if (!i || list[i].op != list[i - 1].op) {
			call = NULL;
			if (list[i].op != HT_NONE)
				HT_TRY(ht_call_names_take(
				        run, names, ht_str(t, t->name[list[i].op]), &call));
		}
		compiled->call[list[i].gpu] = call;
		compiled->n_found += call != NULL;
	}
	return HT_OK;
}

enum ht_status ht_compiled_find(struct ht_run *run, struct ht_compiled *ret_compiled)
{
	const struct ht_trace *t = run->trace;
	struct ht_compiled compiled = { 0 };
	struct inside *list = NULL;
	struct graphs graphs;
	size_t n = 0;
	*ret_compiled = compiled;
	if (!ht_compiled_joins(run))
		return HT_OK;
	HT_TRY(find_inside(run, &list, &n));
	HT_TRY(init_graphs(run, n, &graphs));
	compiled.n_activities = n;
	compiled.call = ht_arena_alloc(run->scratch, (t->n_gpu + 1) * sizeof *compiled.call);
	if (!compiled.call)
		return ht_fail_nomem(run->ctx);
	for (size_t i = 0, end; i < n; i = end) {
		struct ht_call_names *names;
		for (end = i; end < n && list[end].around == list[i].around;)
			end++;
		HT_TRY(find_graph(run, t->name[list[i].around], &graphs, &names));
		if (names)
			HT_TRY(join_call(run, list + i, end - i, names, &compiled));
	}
	*ret_compiled = compiled;
	return HT_OK;
}
