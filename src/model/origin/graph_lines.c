/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_lines.c - see graph_lines.h.
 */
#include "model/origin/graph_lines.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/text_compare.h"
#include "model/origin/compiled_graph.h"
#include "model/origin/call_lines.h"
#include "model/origin/stack_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct ht_piece name;
	struct ht_piece file, line, function;
	int64_t bytes; /* of the value that it computes; -1: unknown */
};

static int compare_pieces(const struct ht_piece *a, const struct ht_piece *b)
{
	int order = memcmp(a->text, b->text, (size_t)(a->n < b->n ? a->n : b->n));
	return order ? order : (a->n > b->n) - (a->n < b->n);
}

static int compare_nodes(const void *left, const void *right)
{
	const struct node *a = left, *b = right;
	return compare_pieces(&a->name, &b->name);
}

/* "# File: PATH:LINE in FUNCTION, code: ..." */
static bool read_comment(const char *line, size_t n, struct node *node)
{
	static const char mark[] = "# File: ";
	const char *end = memmem(line, n, ", code:", 7);
	const char *path = line + sizeof mark - 1;
	*node = (struct node){ 0 };
	if (!ht_text_starts(line, mark) || !end || end < path)
		return false;
	const char *in = memmem(path, (size_t)(end - path), " in ", 4), *colon = in;
	while (colon && colon > path && colon[-1] != ':')
		colon--;
	if (!colon || colon <= path + 1)
		return false;
	node->file = (struct ht_piece){ path, (int)(colon - 1 - path) };
	node->line = (struct ht_piece){ colon, (int)(in - colon) };
	node->function = (struct ht_piece){ in + 4, (int)(end - in - 4) };
	return true;
}

/* The name that a statement gives its value; 0 bytes: it is no statement. */
static int name_of(const char *line, size_t n)
{
	size_t n_name =
	        strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	bool is_given = n_name < n && (line[n_name] == ':' || ht_text_starts(line + n_name, " ="));
	return is_given && memmem(line, n, " = ", 3) ? (int)n_name : 0;
}

/* Bytes of an element by how a printed graph writes its type: bf16, f8e4m3fn, i64, b8; 0: unknown. */
static int64_t element_bytes(const char *type)
{
	bool is_brain = ht_text_starts(type, "bf");
	const char *digits = type + 1 + is_brain;
	if (!*type || !strchr("fiubc", *type) || *digits < '0' || *digits > '9')
		return 0;
	long bits = strtol(digits, NULL, 10);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / 8 : 0;
}

/* Whether a statement only looks at a value in another way: x.view(...), torch.ops.aten.permute.default(...), x[0]. */
static bool is_view(const char *statement, size_t n)
{
	static const char *const views[] = { "view", "reshape", "permute", "transpose", "t",
		"select", "slice", "expand", "unsqueeze", "squeeze", "unbind", "split", "chunk",
		"alias", "detach", "flatten", "as_strided" };
	const char *at = memmem(statement, n, " = ", 3);
	size_t n_left = at ? n - (size_t)(at + 3 - statement) : 0;
	const char *end = at ? memchr(at + 3, '(', n_left) : NULL;
	const char *dot = NULL;
	if (!end)
		return at && memchr(at + 3, '[', n_left);
	for (const char *p = at + 3; p < end; p++)
		if (*p == '.' && strncmp(p, ".default(", 9) != 0 && strncmp(p, ".int(", 5) != 0 &&
		        strncmp(p, ".Tensor(", 8) != 0)
			dot = p;
	for (size_t i = 0; dot && i < HT_COUNT(views); i++)
		if (ht_text_starts(dot + 1, views[i]) && strchr("(.", dot[1 + strlen(views[i])]))
			return true;
	return false;
}

/* The size of a value "x: "f32[16, 256]..." = ..."; -1 where a size is a name, or there are several values. */
static int64_t bytes_of(const char *type)
{
	static const char start[] = ": \"";
	if (!ht_text_starts(type, start))
		return -1;
	type += sizeof start - 1;
	int64_t bytes = element_bytes(type);
	type += strcspn(type, "[\n");
	while (bytes && (*type == '[' || *type == ',')) {
		char *end;
		type += 1 + (type[1] == ' ');
		if (*type == ']')
			break; /* one element */
		long long n = *type >= '0' && *type <= '9' ? strtoll(type, &end, 10) : -1;
		if (n < 0 || (n && bytes > INT64_MAX / n))
			return -1;
		bytes *= n;
		type = end;
	}
	return bytes && *type == ']' ? bytes : -1;
}

enum ht_status ht_graph_lines_read(ht_ctx *ctx, const char *graph, struct ht_graph_lines *lines)
{
	struct node now = { 0 };
	lines->nodes.n = 0;
	for (const char *at = graph; *at;) {
		at += strspn(at, " \t\n");
		size_t n = strcspn(at, "\n");
		int n_name = *at == '#' ? 0 : name_of(at, n);
		if (*at == '#')
			read_comment(at, n, &now);
		now.name = (struct ht_piece){ at, n_name };
		now.bytes = is_view(at, n) ? 0 : bytes_of(at + n_name);
		if (n_name && now.file.n && !HT_VEC_PUSH(ctx->mem, &lines->nodes, struct node, now))
			return ht_fail_nomem(ctx);
		at += n;
	}
	ht_sort_items(
	        ctx->mem, lines->nodes.data, lines->nodes.n, sizeof(struct node), compare_nodes);
	return HT_OK;
}

void ht_graph_lines_done(ht_ctx *ctx, struct ht_graph_lines *lines)
{
	ht_vec_free(ctx->mem, &lines->nodes, sizeof(struct node));
}

static const struct node *find(const struct ht_graph_lines *lines, struct ht_piece name)
{
	const struct node *nodes = lines->nodes.data;
	size_t low = HT_LOWER_BOUND(at, lines->nodes.n, compare_pieces(&nodes[at].name, &name) < 0);
	return low < lines->nodes.n && !compare_pieces(&nodes[low].name, &name) ? &nodes[low]
	                                                                        : NULL;
}

/* "a.py(3): f"; of no bytes where it is longer than any. */
static struct ht_piece spell_line(const struct node *node, char line[HT_CALL_LINE_BYTES + 1])
{
	if (node->file.n + node->line.n + node->function.n > HT_CALL_LINE_BYTES - 4)
		return (struct ht_piece){ 0 };
	int n = snprintf(line, HT_CALL_LINE_BYTES + 1, "%.*s(%.*s): %.*s", node->file.n,
	        node->file.text, node->line.n, node->line.text, node->function.n,
	        node->function.text);
	return (struct ht_piece){ line, n };
}

static enum ht_status add_line(ht_ctx *ctx, struct ht_arena *arena, const struct node *node,
        bool is_library, struct ht_compiled_call *call)
{
	char line[HT_CALL_LINE_BYTES + 1];
	struct ht_piece found = spell_line(node, line);
	return found.n && ht_is_library_file(node->file) == is_library
	               ? ht_call_line_add(ctx, arena, call, found)
	               : HT_OK;
}

enum ht_status ht_graph_lines_add(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_graph_lines *lines, struct ht_compiled_call *call)
{
	for (int is_library = 0; is_library < 2 && !call->source; is_library++) {
		const char *at = call->nodes ? call->nodes : "";
		while (*at) {
			at += strspn(at, ", ");
			struct ht_piece name = { at, (int)strcspn(at, ", ") };
			const struct node *node = find(lines, name);
			if (node)
				HT_TRY(add_line(ctx, arena, node, is_library, call));
			at += name.n;
		}
	}
	return HT_OK;
}

/* Which of the lines of a call a node is at; SIZE_MAX: none of them. */
static size_t line_of(const struct node *node, const char *source)
{
	char line[HT_CALL_LINE_BYTES + 1];
	struct ht_piece found = spell_line(node, line);
	return found.n ? ht_call_line_find(source, found) : SIZE_MAX;
}

/* Add what the nodes of a call compute to their lines; false: one of them is unknown. */
static bool add_nodes(const struct ht_graph_lines *const *graphs,
        const struct ht_compiled_call *call, int64_t *bytes)
{
	for (const char *at = call->nodes; *at;) {
		at += strspn(at, ", ");
		struct ht_piece name = { at, (int)strcspn(at, ", ") };
		const struct node *node = find(graphs[0], name);
		node = node || !graphs[1] ? node : find(graphs[1], name);
		size_t line = node ? line_of(node, call->source) : SIZE_MAX;
		at += name.n;
		if (!name.n)
			continue;
		if (line >= call->n_sources || node->bytes < 0 ||
		        node->bytes > INT64_MAX / 2 - bytes[line])
			return false;
		bytes[line] += node->bytes;
	}
	return true;
}

enum ht_status ht_graph_lines_weigh(ht_ctx *ctx, struct ht_arena *arena,
        const struct ht_graph_lines *const *graphs, struct ht_compiled_call *call)
{
	bool is_any = false;
	/* a library's kernel computes one thing, whatever its inputs were looked at as */
	if (!call->nodes || !call->source || call->n_sources < 2 ||
	        !ht_text_starts(call->name, "triton_"))
		return HT_OK;
	int64_t *bytes = ht_arena_alloc(arena, call->n_sources * sizeof *bytes);
	if (!bytes)
		return ht_fail_nomem(ctx);
	bool is_known = add_nodes(graphs, call, bytes);
	for (size_t i = 0; i < call->n_sources; i++)
		is_any |= bytes[i] > 0;
	call->line_bytes = is_known && is_any ? bytes : NULL;
	return HT_OK;
}
