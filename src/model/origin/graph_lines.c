/*
 * graph_lines.c - see graph_lines.h.
 */
#include "model/origin/graph_lines.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/origin/compile_log.h"
#include "model/origin/stack_frames.h"
#include "model/origin/wrapper.h"

#include <string.h>

struct node {
	struct ht_piece name;
	struct ht_piece file, line, function;
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

/* As the frame of a stack, which knows whose files are whose. */
static enum ht_status add_line(ht_ctx *ctx, struct ht_arena *arena, const struct node *node,
        bool is_library, struct ht_compiled_call *call)
{
	struct ht_stack_frame frame;
	const char *text = ht_arena_printf(arena, "  File \"%.*s\", line %.*s, in %.*s\n",
	        node->file.n, node->file.text, node->line.n, node->line.text, node->function.n,
	        node->function.text);
	const char *at = text;
	if (!text)
		return ht_fail_nomem(ctx);
	if (!ht_stack_frame_next(&at, &frame) || frame.is_library != is_library)
		return HT_OK;
	return ht_wrapper_add_line(ctx, arena, call, ht_stack_line(arena, text));
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
