/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrapper.c - see wrapper.h.
 */
#include "model/origin/wrapper.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "model/origin/compiled_graph.h"
#include "model/origin/call_lines.h"
#include "model/origin/stack_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a call; what is fused from more has the first ones. */
#define MAX_NODES 32

/* What the comments before a call say. */
struct comment {
	const char *ops, *nodes;
	size_t n_ops, n_nodes;
};

/* The list behind a mark, without its brackets; NULL: there is none. */
static const char *find_list(const char *line, size_t n, const char *mark, size_t *ret_n)
{
	const char *at = memmem(line, n, mark, strlen(mark));
	if (!at)
		return NULL;
	at += strlen(mark);
	const char *end = memchr(at, ']', n - (size_t)(at - line));
	*ret_n = end ? (size_t)(end - at) : 0;
	return end ? at : NULL;
}

static void read_nodes(const char *line, size_t n, struct comment *comment)
{
	*comment = (struct comment){ 0 };
	comment->ops = find_list(line, n, "Original ATen: [", &comment->n_ops);
	comment->nodes = find_list(line, n, "Source Nodes: [", &comment->n_nodes);
}

/* name:handle; -1 without one. */
static int64_t split_handle(const char *text, size_t n, size_t *ret_n_name)
{
	int64_t handle = 0;
	size_t i = n;
	while (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9')
		i--;
	*ret_n_name = n;
	if (i == n || n - i > 9 || i < 2 || text[i - 1] != ':')
		return -1;
	for (size_t k = i; k < n; k++)
		handle = handle * 10 + (text[k] - '0');
	*ret_n_name = i - 1;
	return handle;
}

static enum ht_status push_call(ht_ctx *ctx, struct ht_arena *arena, const char *name, size_t n,
        int64_t handle, const char *code, const struct comment *comment, struct ht_vec *calls)
{
	struct ht_compiled_call call = {
		.name = ht_arena_strndup(arena, name, n), .code = code, .handle = handle
	};
	if (comment->ops)
		call.ops = ht_arena_strndup(arena, comment->ops, comment->n_ops);
	if (comment->n_nodes)
		call.nodes = ht_arena_strndup(arena, comment->nodes, comment->n_nodes);
	if (!call.name || (comment->ops && !call.ops) || (comment->n_nodes && !call.nodes) ||
	        !HT_VEC_PUSH(ctx->mem, calls, struct ht_compiled_call, call))
		return ht_fail_nomem(ctx);
	return HT_OK;
}

/* The name in a line that calls something and has no handle: "triton_poi_fused_0.run(", "extern_kernels.mm(",
 * "buf2 = torch.ops.aten.topk.default(". NULL: none. */
static const char *called_name(const char *line, size_t n, size_t *ret_n)
{
	static const char run[] = ".run(", ops[] = "torch.ops.";
	const char *end = memmem(line, n, run, sizeof run - 1), *name = NULL;
	if (ht_text_starts(line, "triton_") && end) {
		*ret_n = (size_t)(end - line);
		return line;
	}
	if (ht_text_starts(line, "extern_kernels."))
		name = line;
	else if (*line != '#' && (name = memmem(line, n, ops, sizeof ops - 1)) && name != line &&
	         name[-1] != ' ')
		name = NULL;
	if (name && !(end = memchr(name, '(', n - (size_t)(name - line))))
		return NULL;
	*ret_n = name ? (size_t)(end - name) : 0;
	return name;
}

enum ht_status ht_wrapper_read(
        ht_ctx *ctx, struct ht_arena *arena, const char *code, struct ht_vec *calls)
{
	static const char handles[] = "# [Provenance debug handles] ";
	static const char nodes[] = "# Topologically Sorted Source Nodes:";
	struct comment comment = { 0 };
	bool has_handle = false;
	/* definitions of kernels have the first comment too, but neither handles nor calls */
	const char *at = code;
	while (*at) {
		at += strspn(at, " \t\n");
		size_t n = strcspn(at, "\n"), n_name;
		const char *called;
		if (ht_text_starts(at, nodes)) {
			read_nodes(at, n, &comment);
			has_handle = false;
		} else if (ht_text_starts(at, handles)) {
			const char *name = at + sizeof handles - 1;
			size_t n_text = strcspn(name, " \n");
			int64_t handle = split_handle(name, n_text, &n_name);
			HT_TRY(push_call(
			        ctx, arena, name, n_name, handle, at + n, &comment, calls));
			has_handle = true;
		} else if (!has_handle && comment.ops && (called = called_name(at, n, &n_name))) {
			HT_TRY(push_call(ctx, arena, called, n_name, -1, at, &comment, calls));
			comment = (struct comment){ 0 };
		}
		at += n;
	}
	return HT_OK;
}

const char *ht_wrapper_kernels(struct ht_arena *arena, const char *code)
{
	static const char mark[] = "# kernel path: ";
	size_t n = 0;
	for (const char *at = code; (at = strstr(at, mark)); at += strcspn(at, "\n"))
		n += strcspn(at, "\n") + 1;
	char *text = ht_arena_room(arena, n + 1), *to = text;
	for (const char *at = code; text && (at = strstr(at, mark)); at += strcspn(at, "\n")) {
		const char *path = at + sizeof mark - 1, *name = path;
		size_t n_path = strcspn(path, "\n");
		for (size_t i = 0; i < n_path; i++)
			name = path[i] == '/' ? path + i + 1 : name;
		size_t n_name = n_path - (size_t)(name - path);
		memcpy(to, name, n_name);
		to += n_name;
		*to++ = '\n';
	}
	if (text)
		*to = '\0';
	return text;
}

/* ---- lines ---- */

/* By handle and name. */
static int compare_call(
        const struct ht_compiled_call *a, int64_t handle, const char *name, size_t n)
{
	int order = strncmp(a->name, name, n);
	order = order ? order : a->name[n] != '\0';
	return a->handle != handle ? (a->handle > handle) - (a->handle < handle) : order;
}

/* The same ones in the order of the wrapper. */
static int compare_calls(const void *left, const void *right)
{
	const struct ht_compiled_call *a = *(struct ht_compiled_call *const *)left;
	const struct ht_compiled_call *b = *(struct ht_compiled_call *const *)right;
	int order = compare_call(a, b->handle, b->name, strlen(b->name));
	return order ? order : (a > b) - (a < b);
}

enum ht_status ht_call_index_make(
        ht_ctx *ctx, struct ht_compiled_call *calls, size_t n, struct ht_call_index *ret_index)
{
	struct ht_compiled_call **sorted = ht_mem_alloc(ctx->mem, (n + 1) * sizeof *sorted);
	if (!sorted)
		return ht_fail_nomem(ctx);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &calls[i];
	ht_sort_items(ctx->mem, sorted, n, sizeof *sorted, compare_calls);
	*ret_index = (struct ht_call_index){ sorted, n };
	return HT_OK;
}

void ht_call_index_done(ht_ctx *ctx, struct ht_call_index *index)
{
	ht_mem_free(ctx->mem, index->sorted, (index->n + 1) * sizeof *index->sorted);
}

/* The call of a "name:handle", the first of several; NULL: none. */
static struct ht_compiled_call *find_call(
        const struct ht_call_index *index, const struct ht_json_value *key)
{
	size_t n_name;
	int64_t handle = split_handle(key->text, key->n, &n_name);
	size_t i = HT_LOWER_BOUND(
	        at, index->n, compare_call(index->sorted[at], handle, key->text, n_name) < 0);
	return i < index->n && !compare_call(index->sorted[i], handle, key->text, n_name)
	               ? index->sorted[i]
	               : NULL;
}

enum ht_status ht_wrapper_add_stacks(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_call_index *calls, const struct ht_json_value *key,
        const struct ht_json_value *stacks)
{
	struct ht_compiled_call *call = find_call(calls, key);
	struct ht_json_value stack;
	if (!call || stacks->type != HT_JSON_ARRAY)
		return HT_OK;
	struct ht_json reader = ht_json_enter(stacks);
	while (ht_json_element(&reader, &stack)) {
		if (stack.type != HT_JSON_STRING)
			continue;
		size_t bad;
		char *text = ht_arena_room(arena, 3 * stack.n); /* escapes that are none grow */
		if (!text)
			return ht_fail_nomem(ctx);
		text[ht_json_decode(stack.text + 1, stack.n - 2, text, &bad)] = '\0';
		const char *frame = ht_stack_line(arena, text);
		const char *modules = frame ? ht_stack_modules(arena, text) : NULL;
		if (!frame)
			continue;
		call->modules = modules && call->modules
		                        ? ht_stack_common(arena, call->modules, modules)
		                        : modules;
		if (!call->modules)
			return ht_fail_nomem(ctx);
		HT_TRY(ht_call_line_add(
		        ctx, arena, call, (struct ht_piece){ frame, (int)strlen(frame) }));
	}
	return HT_OK;
}

enum ht_status ht_wrapper_add_nodes(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_call_index *calls, const struct ht_json_value *key,
        const struct ht_json_value *nodes)
{
	size_t n_nodes = 0;
	struct ht_compiled_call *call = find_call(calls, key);
	struct ht_json_value node;
	if (!call || call->nodes || nodes->type != HT_JSON_ARRAY)
		return HT_OK;
	struct ht_json reader = ht_json_enter(nodes);
	while (n_nodes < MAX_NODES && ht_json_element(&reader, &node)) {
		if (node.type != HT_JSON_STRING)
			continue;
		call->nodes = ht_arena_printf(arena, "%s%s%.*s", call->nodes ? call->nodes : "",
		        n_nodes++ ? ", " : "", (int)node.n - 2, node.text + 1);
		if (!call->nodes)
			return ht_fail_nomem(ctx);
	}
	return HT_OK;
}
