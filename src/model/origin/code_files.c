/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_files.c - see code_files.h: reading the files. Which graph is which: code_match.c.
 */
#include "model/origin/code_files.h"

#include "attach/kind.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/search.h"
#include "base/text_compare.h"
#include "json/json_text.h"
#include "model/origin/wrapper.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)256 << 20)

/* ---- which file is what ---- */

enum role { NOTHING, CODE, CALLS, NODES };

static bool has(const char *text, size_t n, const char *mark)
{
	return memmem(text, n, mark, strlen(mark)) != NULL;
}

/* "triton_poi_fused_add_0:1", "extern_kernels.mm:2", "torch.ops.aten.topk.default:3" */
static bool is_call_key(const char *text, size_t n)
{
	static const char *const starts[] = { "triton_", "extern_kernels.", "torch.ops.",
		"cpp_fused_" };
	for (size_t i = 0; i < HT_COUNT(starts); i++)
		if (n > strlen(starts[i]) && ht_text_starts(text, starts[i]))
			return true;
	return false;
}

static enum role role_of(const char *text, size_t n)
{
	size_t at = 0;
	while (at < n && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	if (at < n && text[at] == '{') {
		if (has(text, n, "\"cppCodeToPost\"") || has(text, n, "\"preToPost\""))
			return NODES;
		for (at++; at < n && text[at] && strchr(" \t\r\n", text[at]);)
			at++;
		bool is_calls = at + 1 < n && text[at] == '"' &&
		                is_call_key(text + at + 1, n - at - 1) &&
		                (has(text, n, "  File \\\"") || has(text, n, "\"stack_traces\""));
		return is_calls ? CALLS : NOTHING;
	}
	bool is_code = has(text, n, "# AOT ID: [") ||
	               has(text, n, "from torch._inductor.async_compile import AsyncCompile");
	return is_code && memchr(text, '\0', n) == NULL ? CODE : NOTHING;
}

bool ht_code_file_sniff(const char *text, size_t n)
{
	return role_of(text, n) != NOTHING;
}

/* ---- reading ---- */

struct reading {
	ht_ctx *ctx;
	struct ht_compile_log *log;
	const struct ht_attachment *attachment;
	/* struct place, by hash: in which wrappers of a folder a call is, and which wrappers are in it */
	struct ht_vec places;
	struct ht_vec calls; /* struct ht_call_index, of each wrapper */
};

struct place {
	uint64_t hash;
	size_t graph;
};

static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

static bool same_folder(const char *a, const char *b)
{
	size_t n = folder_bytes(a);
	return n == folder_bytes(b) && !memcmp(a, b, n);
}

static enum ht_status read_code(struct reading *r, const char *path, const char *text)
{
	struct ht_compile_log *log = r->log;
	struct ht_vec calls = { 0 };
	struct ht_compiled_graph graph = { .key = "", .compile_id = "", .file = path };
	enum ht_status status = ht_wrapper_read(r->ctx, &log->arena, text, &calls);
	graph.kernels = ht_wrapper_kernels(&log->arena, text);
	graph.calls = ht_arena_alloc(&log->arena, (calls.n + 1) * sizeof *graph.calls);
	if (status == HT_OK && (!graph.calls || !graph.kernels))
		status = ht_fail_nomem(r->ctx);
	if (status == HT_OK && calls.n)
		memcpy(graph.calls, calls.data, calls.n * sizeof *graph.calls);
	graph.n = calls.n;
	ht_vec_free(r->ctx->mem, &calls, sizeof(struct ht_compiled_call));
	/* code without calls is that of a kernel alone */
	if (status == HT_OK && graph.n &&
	        !HT_VEC_PUSH(log->mem, &log->graphs, struct ht_compiled_graph, graph))
		status = ht_fail_nomem(r->ctx);
	return status;
}

/* ---- which calls are where: files about calls may have as many as there are wrappers beside them ---- */

static uint64_t hash_folder(const char *path)
{
	return ht_hash(path, folder_bytes(path));
}

/* The same for a call and for all keys that may mean it, "name:handle" or a name alone. */
static uint64_t hash_call(const char *name, size_t n, int64_t handle)
{
	size_t n_name = n;
	uint64_t number = (uint64_t)handle;
	if (handle < 0) {
		while (n_name && ht_is_digit(name[n_name - 1]))
			n_name--;
		number = 0;
		for (size_t i = n_name; i < n; i++)
			number = number * 10 + (uint64_t)(name[i] - '0');
		bool has_handle = n_name && name[n_name - 1] == ':';
		n_name = has_handle ? n_name - 1 : n;
		number = has_handle ? number : 0;
	}
	return ht_hash_mix(ht_hash(name, n_name), number);
}

static int by_hash(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	return a->hash != b->hash ? (a->hash > b->hash) - (a->hash < b->hash)
	                          : (a->graph > b->graph) - (a->graph < b->graph);
}

static enum ht_status find_places(struct reading *r)
{
	const struct ht_compiled_graph *graphs = r->log->graphs.data;
	bool ok = true;
	for (size_t i = 0; ok && i < r->log->graphs.n; i++) {
		struct ht_call_index calls;
		HT_TRY(ht_call_index_make(r->ctx, graphs[i].calls, graphs[i].n, &calls));
		if (!HT_VEC_PUSH(r->ctx->mem, &r->calls, struct ht_call_index, calls)) {
			ht_call_index_done(r->ctx, &calls);
			return ht_fail_nomem(r->ctx);
		}
		struct place place = { hash_folder(graphs[i].file), i };
		uint64_t folder = place.hash;
		ok = HT_VEC_PUSH(r->ctx->mem, &r->places, struct place, place);
		for (size_t k = 0; ok && k < graphs[i].n; k++) {
			const struct ht_compiled_call *call = &graphs[i].calls[k];
			place.hash = ht_hash_mix(
			        folder, hash_call(call->name, strlen(call->name), call->handle));
			ok = HT_VEC_PUSH(r->ctx->mem, &r->places, struct place, place);
		}
	}
	if (r->places.n)
		qsort(r->places.data, r->places.n, sizeof(struct place), by_hash);
	return ok ? HT_OK : ht_fail_nomem(r->ctx);
}

static void forget_places(struct reading *r)
{
	for (size_t i = 0; i < r->calls.n; i++)
		ht_call_index_done(r->ctx, (struct ht_call_index *)r->calls.data + i);
	ht_vec_free(r->ctx->mem, &r->calls, sizeof(struct ht_call_index));
	ht_vec_free(r->ctx->mem, &r->places, sizeof(struct place));
}

/* The next wrapper in the folder of a path that has the hash, from *at on, which moves past it; NULL: no more. */
static const struct ht_compiled_graph *next_place(
        struct reading *r, uint64_t hash, const char *path, size_t *at)
{
	const struct place *list = r->places.data;
	while (*at < r->places.n && list[*at].hash == hash) {
		size_t i = list[(*at)++].graph;
		/* a call that a wrapper has twice */
		while (*at < r->places.n && list[*at].hash == hash && list[*at].graph == i)
			++*at;
		const struct ht_compiled_graph *graph =
		        (const struct ht_compiled_graph *)r->log->graphs.data + i;
		if (same_folder(graph->file, path))
			return graph;
	}
	return NULL;
}

static size_t first_place(const struct reading *r, uint64_t hash)
{
	const struct place *list = r->places.data;
	return HT_LOWER_BOUND(i, r->places.n, list[i].hash < hash);
}

/* ---- what files say of calls ---- */

/* To the wrappers in the folder of path. */
static enum ht_status add_member(struct reading *r, enum role role, const char *path,
        const struct ht_json_value *key, struct ht_json_value value)
{
	uint64_t hash = ht_hash_mix(hash_folder(path), hash_call(key->text, key->n, -1));
	struct ht_arena *arena = &r->log->arena;
	const struct ht_compiled_graph *graph, *graphs = r->log->graphs.data;
	if (role == CALLS && value.type == HT_JSON_OBJECT)
		value = ht_json_get(&value, "stack_traces");
	for (size_t at = first_place(r, hash); (graph = next_place(r, hash, path, &at));) {
		const struct ht_call_index *calls =
		        (const struct ht_call_index *)r->calls.data + (graph - graphs);
		HT_TRY(role == NODES ? ht_wrapper_add_nodes(r->ctx, arena, calls, key, &value)
		                     : ht_wrapper_add_stacks(r->ctx, arena, calls, key, &value));
	}
	return HT_OK;
}

/* What a file says of calls, to the wrappers that it is for. */
static enum ht_status read_json(
        struct reading *r, enum role role, const char *path, const char *text, size_t n)
{
	const struct ht_compiled_graph *graphs = r->log->graphs.data;
	struct ht_json reader = { text };
	struct ht_json_value key, value;
	if (!ht_json_valid(text, n)) {
		r->log->n_bad++;
		return HT_OK;
	}
	struct ht_json_value all = ht_json_next(&reader);
	if (all.type != HT_JSON_OBJECT)
		return HT_OK;
	size_t at = first_place(r, hash_folder(path));
	if (!next_place(r, hash_folder(path), path, &at)) {
		if (r->log->graphs.n != 1) {
			r->log->n_lost++;
			return HT_OK;
		}
		path = graphs[0].file;
	}
	if (role == NODES)
		all = ht_json_get(&all, "cppCodeToPost");
	if (all.type != HT_JSON_OBJECT)
		return HT_OK;
	reader = ht_json_enter(&all);
	while (ht_json_member(&reader, &key, &value))
		HT_TRY(add_member(r, role, path, &key, value));
	return HT_OK;
}

/* Wrappers first, as the others are about them. */
static enum ht_status read_files(struct reading *r)
{
	enum ht_status status = HT_OK;
	for (int code = 1; status == HT_OK && code >= 0; code--) {
		if (!code)
			status = find_places(r);
		for (size_t i = 0; status == HT_OK && i < r->attachment->n_files; i++) {
			const char *path = r->attachment->files[i];
			struct ht_vec text = { 0 };
			HT_TRY(ht_attachment_text(r->ctx, r->attachment, i, MAX_BYTES, &text));
			enum role role = role_of(text.data, text.n);
			if (role == CODE && code)
				status = read_code(r, path, text.data);
			else if (role != CODE && role != NOTHING && !code)
				status = read_json(r, role, path, text.data, text.n);
			r->log->n_records += role != NOTHING && (role == CODE) == code;
			ht_vec_free(r->ctx->mem, &text, 1);
		}
	}
	return status;
}

/* ---- the kind ---- */

static bool sniff(const struct ht_attach_head *head)
{
	return ht_code_file_sniff(head->text, head->n);
}

static enum ht_status load(ht_ctx *ctx, const struct ht_attachment *attachment, void **ret_data)
{
	struct ht_compile_log *log = NULL;
	HT_TRY(ht_compile_log_new(ctx, &log));
	struct reading r = { .ctx = ctx, .log = log, .attachment = attachment };
	enum ht_status status = read_files(&r);
	forget_places(&r);
	if (status != HT_OK) {
		ht_compile_log_free(log);
		return status;
	}
	*ret_data = log;
	return HT_OK;
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
	return ht_compile_log_judge(run, data, ret_use);
}

const struct ht_attach_kind ht_attach_kind_inductor_code = {
	.name = "inductor-code",
	.what = "code that Inductor generated, or its provenance",
	.use = "generated kernels get operators, and source lines where provenance is beside the code",
	.patterns = "torch_compile_debug|torchinductor_*|inductor_cache",
	.gathers = true,
	.sniff = sniff,
	.load = load,
	.free = let_go,
	.judge = judge,
};
