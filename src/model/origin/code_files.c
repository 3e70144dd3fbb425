/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_files.c - see code_files.h: reading the files. Which graph is which: code_match.c.
 */
#include "model/origin/code_files.h"

#include "attach/kind.h"
#include "base/text_compare.h"
#include "json/json_text.h"
#include "model/origin/wrapper.h"

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

static enum ht_status add_calls(
        struct reading *r, const struct ht_json_value *all, struct ht_compiled_graph *graph)
{
	struct ht_json reader = ht_json_enter(all);
	struct ht_json_value key, value;
	struct ht_call_index calls;
	enum ht_status status = HT_OK;
	HT_TRY(ht_call_index_make(r->ctx, graph->calls, graph->n, &calls));
	while (status == HT_OK && ht_json_member(&reader, &key, &value)) {
		if (value.type == HT_JSON_OBJECT)
			value = ht_json_get(&value, "stack_traces");
		status = ht_wrapper_add_stacks(r->ctx, &r->log->arena, &calls, &key, &value);
	}
	ht_call_index_done(r->ctx, &calls);
	return status;
}

static enum ht_status add_nodes(
        struct reading *r, const struct ht_json_value *all, struct ht_compiled_graph *graph)
{
	struct ht_json_value of = ht_json_get(all, "cppCodeToPost"), key, value;
	struct ht_call_index calls;
	enum ht_status status = HT_OK;
	if (of.type != HT_JSON_OBJECT)
		return HT_OK;
	struct ht_json reader = ht_json_enter(&of);
	HT_TRY(ht_call_index_make(r->ctx, graph->calls, graph->n, &calls));
	while (status == HT_OK && ht_json_member(&reader, &key, &value))
		status = ht_wrapper_add_nodes(r->ctx, &r->log->arena, &calls, &key, &value);
	ht_call_index_done(r->ctx, &calls);
	return status;
}

/* What a file says of calls, to the wrappers that it is for. */
static enum ht_status read_json(
        struct reading *r, enum role role, const char *path, const char *text, size_t n)
{
	struct ht_compiled_graph *graphs = r->log->graphs.data;
	struct ht_json reader = { text };
	size_t n_beside = 0;
	if (!ht_json_valid(text, n)) {
		r->log->n_bad++;
		return HT_OK;
	}
	struct ht_json_value all = ht_json_next(&reader);
	if (all.type != HT_JSON_OBJECT)
		return HT_OK;
	for (size_t i = 0; i < r->log->graphs.n; i++)
		n_beside += same_folder(graphs[i].file, path);
	for (size_t i = 0; i < r->log->graphs.n; i++) {
		if (n_beside ? !same_folder(graphs[i].file, path) : r->log->graphs.n > 1)
			continue;
		HT_TRY(role == NODES ? add_nodes(r, &all, &graphs[i])
		                     : add_calls(r, &all, &graphs[i]));
	}
	r->log->n_lost += !n_beside && r->log->graphs.n != 1;
	return HT_OK;
}

/* Wrappers first, as the others are about them. */
static enum ht_status read_files(struct reading *r)
{
	enum ht_status status = HT_OK;
	for (int code = 1; code >= 0; code--)
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
	struct reading r = { ctx, log, attachment };
	enum ht_status status = read_files(&r);
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
