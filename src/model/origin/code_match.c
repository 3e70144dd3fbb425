/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_match.c - see code_files.h: which wrapper a graph of the trace is.
 */
#include "attach/kind.h"
#include "base/search.h"
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

static bool is_generated(const char *name)
{
	return ht_text_starts(name, "triton_");
}

static int by_time(const void *left, const void *right)
{
	const struct generated *a = left, *b = right;
	int order = ht_order_i64(a->ts_ns, b->ts_ns);
	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* ---- the last call of a graph ---- */

struct ht_last_call {
	const char *key; /* inside the name */
	size_t n;
	uint32_t row;
};

static int compare_keys(const char *a, size_t n_a, const char *b, size_t n_b)
{
	int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
	return order ? order : (n_a > n_b) - (n_a < n_b);
}

/* By key, the last call first: annotations may name a graph in several ways. */
static int by_key(const void *left, const void *right)
{
	const struct ht_last_call *a = left, *b = right;
	int order = compare_keys(a->key, a->n, b->key, b->n);
	return order ? order : (a->row < b->row) - (a->row > b->row);
}

/* Of each name the last call, in one walk over the rows. */
static enum ht_status find_last_calls(struct ht_run *run, struct ht_last_calls *calls)
{
	const struct ht_trace *t = run->trace;
	size_t n_names = t->n_string_offsets + 1, n = 0;
	uint32_t *last = ht_arena_alloc(run->scratch, n_names * sizeof *last);
	if (!last)
		return ht_fail_nomem(run->ctx);
	for (uint32_t row = 0; row < ht_n_events(t); row++) {
		if (!ht_is_compiled_call(t, row) || !ht_is_span(t, row))
			continue;
		n += !last[t->name[row]];
		last[t->name[row]] = row + 1;
	}
	calls->list = ht_arena_room(run->scratch, (n + 1) * sizeof *calls->list);
	if (!calls->list)
		return ht_fail_nomem(run->ctx);
	for (uint32_t name = 0; name < n_names; name++) {
		if (!last[name])
			continue;
		struct ht_last_call *call = &calls->list[calls->n++];
		call->key = ht_compiled_key(ht_str(t, name), &call->n);
		call->row = last[name] - 1;
	}
	qsort(calls->list, calls->n, sizeof *calls->list, by_key);
	return HT_OK;
}

static enum ht_status find_last_call(
        struct ht_run *run, struct ht_last_calls *calls, const char *key, uint32_t *ret_row)
{
	size_t n = strlen(key);
	if (!calls->list)
		HT_TRY(find_last_calls(run, calls));
	const struct ht_last_call *list = calls->list;
	size_t i = HT_LOWER_BOUND(at, calls->n, compare_keys(list[at].key, list[at].n, key, n) < 0);
	bool is_there = i < calls->n && !compare_keys(list[i].key, list[i].n, key, n);
	*ret_row = is_there ? list[i].row : HT_NONE;
	return HT_OK;
}

/* ---- what is in it ---- */

/* Where the rows of a thread begin that a call may be around. */
static const uint32_t *rows_from(
        const struct ht_trace *t, uint32_t call, const uint32_t **ret_track_end)
{
	const struct ht_track *track = &t->tracks[t->track[call]];
	const uint32_t *rows = t->track_rows + track->first;
	*ret_track_end = rows + track->n;
	return rows + HT_LOWER_BOUND(i, track->n, t->ts_ns[rows[i]] < t->ts_ns[call]);
}

static bool push(struct ht_run *run, uint32_t row, struct ht_vec *list)
{
	const struct ht_trace *t = run->trace;
	struct generated g = { t->ts_ns[row], row, ht_str(t, t->name[row]), NULL };
	if (!is_generated(g.name))
		return true;
	if (t->kind[row] == HT_KIND_CPU_OP)
		g.hash = ht_arg_str(t, "kernel_hash", row);
	return HT_VEC_PUSH(run->ctx->mem, list, struct generated, g);
}

/* The kernels that a row launched. */
static bool push_launched(struct ht_run *run, uint32_t row, struct ht_vec *list)
{
	const uint32_t *gpus;
	size_t n;
	bool ok = true;
	ht_launch_gpus(run->trace, row, &gpus, &n);
	for (size_t i = 0; ok && i < n; i++)
		ok = push(run, run->trace->gpu[gpus[i]].row, list);
	return ok;
}

/* Whether no other call is between a row and a call around it. */
static bool is_directly_inside(const struct ht_trace *t, uint32_t row, uint32_t call)
{
	while (row != HT_NONE && row != call && !ht_is_compiled_call(t, row))
		row = t->parent[row];
	return row == call;
}

/* Append struct generated: the operators of generated kernels in the last call of the graph; of a CUDA graph, its kernels. What is inside
 * of a call lies behind it on its thread, so that of a trace with many graphs each looks at its own rows. */
static enum ht_status find_run(struct ht_run *run, uint32_t call, struct ht_vec *list)
{
	const struct ht_trace *t = run->trace;
	const uint32_t *end;
	for (int ops = 1; ops >= 0 && !list->n; ops--)
		for (const uint32_t *at = rows_from(t, call, &end);
		        at < end && t->ts_ns[*at] <= ht_end_ns(t, call); at++) {
			if ((ops && t->kind[*at] != HT_KIND_CPU_OP) ||
			        !is_directly_inside(t, *at, call))
				continue;
			if (!(ops ? push(run, *at, list) : push_launched(run, *at, list)))
				return ht_fail_nomem(run->ctx);
		}
	if (list->n)
		qsort(list->data, list->n, sizeof(struct generated), by_time);
	return HT_OK;
}

/* ---- which wrapper it is ---- */

static bool fits(const struct ht_vec *run, const struct ht_compiled_graph *graph)
{
	const struct generated *list = run->data;
	size_t k = 0;
	for (size_t i = 0; i < graph->n; i++) {
		if (!is_generated(graph->calls[i].name))
			continue;
		if (k == run->n || strcmp(graph->calls[i].name, list[k].name) != 0)
			return false;
		const char *hash = list[k++].hash;
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

static enum ht_status choose(
        struct ht_run *run, const struct ht_vec *found, const struct ht_compiled_graph **ret_graph)
{
	const struct ht_compiled_graph *best = NULL;
	const struct ht_attachment *a;
	bool is_ambiguous = false;
	size_t at = 0;
	while ((a = ht_attached_next(
	                run->attached, &ht_attach_kind_inductor_code, run->rank, &at))) {
		const void *data;
		HT_TRY(ht_attachment_load(run->ctx, a, &data));
		const struct ht_compile_log *files = data;
		const struct ht_compiled_graph *graphs = files->graphs.data;
		for (size_t i = 0; i < files->graphs.n; i++) {
			if (!fits(found, &graphs[i]))
				continue;
			is_ambiguous |= best && !same_calls(best, &graphs[i]);
			best = best ? best : &graphs[i];
		}
	}
	*ret_graph = is_ambiguous ? NULL : best;
	return HT_OK;
}

enum ht_status ht_code_graph(struct ht_run *run, struct ht_last_calls *calls, const char *key,
        const struct ht_compiled_graph **ret_graph)
{
	struct ht_vec found = { 0 };
	uint32_t call;
	size_t at = 0;
	*ret_graph = NULL;
	if (!ht_attached_next(run->attached, &ht_attach_kind_inductor_code, run->rank, &at))
		return HT_OK;
	HT_TRY(find_last_call(run, calls, key, &call));
	if (call == HT_NONE)
		return HT_OK;
	enum ht_status status = find_run(run, call, &found);
	if (status == HT_OK)
		status = choose(run, &found, ret_graph);
	ht_vec_free(run->ctx->mem, &found, sizeof(struct generated));
	return status;
}
